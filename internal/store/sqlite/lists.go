package sqlite

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"dossier/kb"
)

// Lists are written as counts and lengths with bytes behind them: JSON cannot
// hold names of files and texts that are not UTF-8, and takes several times as
// long to read.

// A list begins with its format.
const listFormat = 1

// appendStrings writes a list; the count is one too high, so that 0 is nil.
func appendStrings(b []byte, list []string) []byte {
	if list == nil {
		return binary.AppendUvarint(b, 0)
	}
	b = binary.AppendUvarint(b, uint64(len(list))+1)
	for _, s := range list {
		b = binary.AppendUvarint(b, uint64(len(s)))
		b = append(b, s...)
	}
	return b
}

// encodeStrings returns a list as it is stored.
func encodeStrings(list []string) []byte { return appendStrings([]byte{listFormat}, list) }

// encodeChunks returns chunks as they are stored: places as distances from the
// chunk before, headings only where they differ from its.
func encodeChunks(chunks []kb.Chunk) []byte {
	b := make([]byte, 1, 16+8*len(chunks))
	b[0] = listFormat
	if chunks == nil {
		return binary.AppendUvarint(b, 0)
	}
	b = binary.AppendUvarint(b, uint64(len(chunks))+1)
	var last kb.Chunk
	for _, c := range chunks {
		b = binary.AppendVarint(b, int64(c.Start)-int64(last.End))
		b = binary.AppendVarint(b, int64(c.End)-int64(c.Start))
		b = binary.AppendVarint(b, int64(c.Page)-int64(last.Page))
		if slices.Equal(c.Headings, last.Headings) && (c.Headings == nil) == (last.Headings == nil) {
			b = append(b, 0)
		} else {
			b = appendStrings(append(b, 1), c.Headings)
		}
		last = c
	}
	return b
}

var errList = errors.New("a list is cut short or malformed")

// list reads what the functions above have written.
type list struct {
	b   []byte
	err error
}

func (l *list) fail(err error) {
	if l.err == nil {
		l.b, l.err = nil, err
	}
}

func (l *list) byte() byte {
	if len(l.b) == 0 {
		l.fail(errList)
		return 0
	}
	c := l.b[0]
	l.b = l.b[1:]
	return c
}

func (l *list) format() {
	if f := l.byte(); l.err == nil && f != listFormat {
		l.fail(fmt.Errorf("a list has the unknown format %d: it was written by a newer dossier, upgrade this one", f))
	}
}

// count reads a number that cannot be higher than what is left of the bytes.
func (l *list) count() int {
	v, n := binary.Uvarint(l.b)
	if n <= 0 || v > uint64(len(l.b)) {
		l.fail(errList)
		return 0
	}
	l.b = l.b[n:]
	return int(v)
}

func (l *list) int() int {
	v, n := binary.Varint(l.b)
	if n <= 0 {
		l.fail(errList)
		return 0
	}
	l.b = l.b[n:]
	return int(v)
}

func (l *list) strings() []string {
	n := l.count()
	if n == 0 {
		return nil
	}
	all := make([]string, 0, n-1)
	for range n - 1 {
		size := l.count()
		if size > len(l.b) {
			l.fail(errList)
		}
		if l.err != nil {
			return nil
		}
		all = append(all, string(l.b[:size]))
		l.b = l.b[size:]
	}
	return all
}

// end returns the error of the whole.
func (l *list) end() error {
	if l.err == nil && len(l.b) > 0 {
		return errList
	}
	return l.err
}

func decodeStrings(b []byte) ([]string, error) {
	l := list{b: b}
	l.format()
	all := l.strings()
	if err := l.end(); err != nil {
		return nil, err
	}
	return all, nil
}

// decodeChunks is the inverse of encodeChunks. Chunks under the same headings
// share them.
func decodeChunks(b []byte) ([]kb.Chunk, error) {
	l := list{b: b}
	l.format()
	var chunks []kb.Chunk
	if n := l.count(); n > 0 {
		chunks = make([]kb.Chunk, 0, n-1)
		var last kb.Chunk
		for range n - 1 {
			var c kb.Chunk
			c.Start = last.End + l.int()
			c.End = c.Start + l.int()
			c.Page = last.Page + l.int()
			c.Headings = last.Headings
			if l.byte() != 0 {
				c.Headings = l.strings()
			}
			if l.err != nil {
				break
			}
			chunks, last = append(chunks, c), c
		}
	}
	if err := l.end(); err != nil {
		return nil, err
	}
	return chunks, nil
}

// stringsOf scans a column that encodeStrings made.
type stringsOf struct{ dst *[]string }

// Scan implements sql.Scanner.
func (s stringsOf) Scan(src any) (err error) {
	b, ok := src.([]byte)
	if !ok {
		return fmt.Errorf("a list is stored as %T", src)
	}
	*s.dst, err = decodeStrings(b)
	return err
}

// chunksOf scans a column that encodeChunks and packBytes made.
type chunksOf struct{ dst *[]kb.Chunk }

// Scan implements sql.Scanner.
func (c chunksOf) Scan(src any) error {
	b, ok := src.([]byte)
	if !ok {
		return fmt.Errorf("chunks are stored as %T", src)
	}
	b, err := inflate(b)
	if err != nil {
		return err
	}
	*c.dst, err = decodeChunks(b)
	return err
}
