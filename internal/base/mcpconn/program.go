package mcpconn

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// endTime is how long a program may take to end before it is told more plainly.
const endTime = 2 * time.Second

// lastWords is how long what a program that ended wrote last is waited for.
const lastWords = time.Second

// inherited are the variables without which programs don't run. Everything else
// of our environment, keys among it, is not for a server to see.
var inherited = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "XDG_CACHE_HOME", "XDG_DATA_HOME",
	"SystemRoot", "SystemDrive", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "TEMP", "TMP", "PATHEXT", "ProgramFiles",
}

// program is the transport to a server that is started. It is used once.
type program struct {
	life   context.Context
	server Server

	in, out, errs *os.File
	command       *exec.Cmd
	done          chan struct{} // closed when the program is gone
	heard         chan struct{} // closed when all was read that it wrote to its standard error
	ended         atomic.Bool   // it says no more
	closing       sync.Once
	tail          tail
	line          int         // bytes since the last line break
	idle          bool        // these are no message
	long          atomic.Bool // it said more at once than it may
}

// Connect starts the program.
func (p *program) Connect(ctx context.Context) (mcp.Connection, error) {
	p.command = exec.Command(p.server.Command, p.server.Args...)
	p.command.Env = []string{}
	for _, name := range inherited {
		if value, ok := os.LookupEnv(name); ok {
			p.command.Env = append(p.command.Env, name+"="+value)
		}
	}
	for name, value := range p.server.Env {
		p.command.Env = append(p.command.Env, name+"="+value)
	}
	ownGroup(p.command)
	if err := p.start(); err != nil {
		p.command = nil
		return nil, err
	}
	killed := context.AfterFunc(p.life, func() { killGroup(p.command.Process) })
	p.heard = make(chan struct{})
	go func() {
		defer close(p.heard)
		_, _ = io.Copy(&p.tail, p.errs)
	}()
	go func() {
		_ = p.command.Wait()
		killed()
		// Children that hold its pipes would keep us from seeing its end.
		killGroup(p.command.Process)
		close(p.done)
	}()
	return (&mcp.IOTransport{Reader: reader{p}, Writer: writer{p}, MaxLineLength: -1}).Connect(ctx)
}

// start connects the pipes and runs the command. They are pipes of our own, so
// that waiting for the program is not waiting for whoever else holds them.
func (p *program) start() error {
	var theirs [3]*os.File
	defer func() {
		for _, f := range theirs {
			_ = f.Close()
		}
	}()
	var err error
	theirs[0], p.in, err = os.Pipe()
	if err == nil {
		p.out, theirs[1], err = os.Pipe()
	}
	if err == nil {
		p.errs, theirs[2], err = os.Pipe()
	}
	if err == nil {
		p.command.Stdin, p.command.Stdout, p.command.Stderr = theirs[0], theirs[1], theirs[2]
		err = p.command.Start()
	}
	if err != nil {
		p.release()
	}
	return err
}

func (p *program) release() {
	_ = p.in.Close()
	_ = p.out.Close()
	_ = p.errs.Close()
}

// close ends the program: by the end of its input, by a signal, by force. It
// returns when the program is gone.
func (p *program) close() {
	if p == nil || p.command == nil {
		return
	}
	p.closing.Do(func() {
		_ = p.in.Close()
		if !p.gone() {
			endGroup(p.command.Process)
		}
		if !p.gone() {
			killGroup(p.command.Process)
		}
		<-p.done
		p.hear()
		p.release()
	})
}

func (p *program) gone() bool {
	patience := time.NewTimer(endTime)
	defer patience.Stop()
	select {
	case <-p.done:
		return true
	case <-p.life.Done():
		return false
	case <-patience.C:
		return false
	}
}

func (p *program) said() string {
	if p == nil {
		return ""
	}
	if p.ended.Load() {
		p.hear()
	}
	return p.tail.String()
}

// hear waits for the last words of a program that ended, which may be on their way.
func (p *program) hear() {
	select {
	case <-p.heard:
	case <-time.After(lastWords):
	}
}

// ErrTooLong is what breaks a connection whose server says more than MostReply
// at once.
var ErrTooLong = errors.New("the reply is too long")

// reader is what a program says. Lines that can't be messages, such as greetings
// meant for a person, are kept with its errors: the SDK would break off.
type reader struct{ *program }

func (r reader) Read(b []byte) (int, error) {
	for {
		n, err := r.out.Read(b)
		kept := r.sift(b[:n])
		if err != nil {
			r.ended.Store(true)
		}
		if r.line > MostReply {
			r.long.Store(true)
			return 0, ErrTooLong
		}
		if kept > 0 || err != nil {
			return kept, err
		}
	}
}

// sift moves what belongs to messages to the front, and returns how much that is.
func (r reader) sift(b []byte) int {
	kept := 0
	rest := b
	for len(rest) > 0 {
		if r.line == 0 {
			rest = bytes.TrimLeft(rest, " \t\r\n")
			if len(rest) == 0 {
				break
			}
			r.idle = rest[0] != '{' && rest[0] != '['
		}
		line, after, ended := bytes.Cut(rest, []byte("\n"))
		if ended {
			line = rest[:len(line)+1]
		}
		if r.line += len(line); r.idle {
			_, _ = r.tail.Write(line)
		} else {
			kept += copy(b[kept:], line)
		}
		if ended {
			r.line = 0
		}
		rest = after
	}
	return kept
}

func (reader) Close() error { return nil }

type writer struct{ *program }

func (w writer) Write(b []byte) (int, error) {
	n, err := w.in.Write(b)
	if err != nil { // a program that ended before it heard anything
		w.ended.Store(true)
	}
	return n, err
}

func (w writer) Close() error {
	w.close()
	return nil
}

// tail keeps the end of what is written to it.
type tail struct {
	mu   sync.Mutex
	text []byte
}

const mostTail = 2 << 10

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, b...)
	if len(t.text) > 2*mostTail {
		t.text = append(t.text[:0], t.text[len(t.text)-mostTail:]...)
	}
	return len(b), nil
}

// String is the last lines, whole ones if there are any.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := bytes.TrimSpace(t.text)
	if len(text) > mostTail {
		text = text[len(text)-mostTail:]
		if _, rest, ok := bytes.Cut(text, []byte("\n")); ok {
			text = rest
		}
	}
	return string(text)
}
