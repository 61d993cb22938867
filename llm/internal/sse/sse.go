// Package sse reads server-sent events the way model providers send them: one
// data line per event mostly, and not always with the blank line after it.
package sse

import (
	"bytes"
	"errors"
	"io"
	"sync"
)

// Limits of a stream. Beyond them the other side is broken or hostile.
const (
	MaxLine  = 8 << 20
	MaxTotal = 64 << 20
	maxJoint = 1000 // lines of one event
)

// ErrTooLarge is the end of a stream that went over a limit.
var ErrTooLarge = errors.New("stream exceeds the size limit")

// Reader gives the data lines of a stream. Lines end with LF or CRLF;
// comments, ids and unknown fields are passed over.
type Reader struct {
	r     io.Reader
	buf   []byte
	i, n  int // buf[i:n] is unread
	total int
	err   error // what the last Read said, delivered after the bytes
	event []byte
	tail  bool
	joint []byte
	lines int // in joint
}

var pool = sync.Pool{New: func() any { return &Reader{buf: make([]byte, 8<<10)} }}

// NewReader returns a Reader over r from a pool; give it back with Release.
func NewReader(r io.Reader) *Reader {
	s := pool.Get().(*Reader)
	*s = Reader{r: r, buf: s.buf, event: s.event[:0], joint: s.joint[:0]}
	return s
}

// Release ends the use of the Reader and of everything that it returned.
func (s *Reader) Release() {
	s.r = nil
	if cap(s.buf) <= 64<<10 && cap(s.joint) <= 64<<10 {
		pool.Put(s)
	}
}

// Event is the name that the last event line gave, until the next blank line;
// mostly empty.
func (s *Reader) Event() []byte { return s.event }

// Tail says that the stream ended inside the last line: it may be cut.
func (s *Reader) Tail() bool { return s.tail }

var dataField = []byte("data:")

// Next returns the next data line without its field name. The bytes are valid
// until the next call. A clean end is io.EOF.
func (s *Reader) Next() ([]byte, error) {
	for {
		line, err := s.line()
		if err != nil {
			return nil, err
		}
		if data, ok := s.data(line); ok {
			return data, nil
		}
	}
}

// More extends a data line that was not complete by the next one of the same
// event, with a newline between them. Without a next one it returns io.EOF
// and leaves the stream after the event.
func (s *Reader) More(data []byte) ([]byte, error) {
	if len(s.joint) == 0 || &s.joint[0] != &data[0] {
		s.joint = append(s.joint[:0], data...)
		s.lines = 1
	}
	if s.lines++; s.lines > maxJoint {
		return nil, ErrTooLarge
	}
	for {
		line, err := s.line()
		if err != nil {
			return nil, err
		}
		if len(line) == 0 {
			return nil, io.EOF
		}
		if more, ok := s.data(line); ok {
			if len(s.joint)+len(more) > MaxLine {
				return nil, ErrTooLarge
			}
			s.joint = append(append(s.joint, '\n'), more...)
			return s.joint, nil
		}
	}
}

// data takes the data out of a line, and keeps an event's name.
func (s *Reader) data(line []byte) ([]byte, bool) {
	if bytes.HasPrefix(line, dataField) {
		line = line[len(dataField):]
		if len(line) > 0 && line[0] == ' ' {
			line = line[1:]
		}
		return line, len(line) > 0
	}
	if len(line) == 0 {
		s.event = s.event[:0]
	} else if name, ok := bytes.CutPrefix(line, []byte("event:")); ok {
		s.event = append(s.event[:0], bytes.TrimSpace(name)...)
	}
	return nil, false
}

// line returns the next line without its end.
func (s *Reader) line() ([]byte, error) {
	from := s.i
	for {
		if j := bytes.IndexByte(s.buf[from:s.n], '\n'); j >= 0 {
			line := s.buf[s.i : from+j]
			s.i = from + j + 1
			if n := len(line); n > 0 && line[n-1] == '\r' {
				line = line[:n-1]
			}
			return line, nil
		}
		if s.err != nil {
			if s.err == io.EOF && s.i < s.n {
				line := s.buf[s.i:s.n]
				s.i, s.tail = s.n, true
				return line, nil
			}
			return nil, s.err
		}
		from = s.n - s.i // what was searched already, once the rest moves to the front
		s.fill()
		from += s.i
	}
}

func (s *Reader) fill() {
	if s.i > 0 {
		copy(s.buf, s.buf[s.i:s.n])
		s.n -= s.i
		s.i = 0
	}
	if s.n == len(s.buf) {
		if s.n >= MaxLine {
			s.err = ErrTooLarge
			return
		}
		s.buf = append(s.buf, make([]byte, len(s.buf))...)
	}
	for range 100 {
		n, err := s.r.Read(s.buf[s.n:])
		s.n += n
		s.total += n
		if s.total > MaxTotal {
			err = ErrTooLarge
		}
		s.err = err
		if n > 0 || err != nil {
			return
		}
	}
	s.err = io.ErrNoProgress
}

// Peek returns the first byte of the stream that is neither white space nor a
// byte order mark, without consuming it; 0 when there is none.
func (s *Reader) Peek() byte {
	for {
		rest := bytes.TrimLeft(s.buf[s.i:s.n], " \t\r\n\ufeff")
		s.i = s.n - len(rest)
		if len(rest) > 0 {
			return rest[0]
		}
		if s.err != nil {
			return 0
		}
		s.fill()
	}
}

// Rest reads what is left of the stream.
func (s *Reader) Rest() ([]byte, error) { return s.UpTo(MaxTotal) }

// UpTo is Rest with a limit of its own.
func (s *Reader) UpTo(most int) ([]byte, error) {
	for s.err == nil {
		if s.n == len(s.buf) {
			s.buf = append(s.buf, make([]byte, len(s.buf))...)
		}
		n, err := s.r.Read(s.buf[s.n:])
		s.n += n
		s.total += n
		if s.total > most {
			err = ErrTooLarge
		}
		s.err = err
	}
	if s.err != io.EOF {
		return nil, s.err
	}
	rest := s.buf[s.i:s.n]
	s.i = s.n
	return rest, nil
}
