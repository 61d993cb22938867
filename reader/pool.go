package reader

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Config bounds reading. A field that is 0 has the default that it names.
type Config struct {
	Workers  int           // documents read at once in child processes; 2
	Memory   int64         // bytes that a child may take; 1 GiB
	CPU      time.Duration // processor time for one document; 30 s
	Timeout  time.Duration // for one document on a busy machine; 3 min
	Idle     time.Duration // after which an unused child is ended; 1 min
	MaxInput int           // bytes of a document; 64 MiB
	MaxText  int           // bytes of text kept of one; 4 MiB
	MaxRows  int           // of a table or of data; 10,000
	MaxPages int           // of a PDF; 2,000
	// CacheDir is a private directory in which the PDF parser's machine code
	// is kept between runs: without it each child compiles it anew, which
	// takes seconds.
	CacheDir string
}

func (c Config) withDefaults() Config {
	c.Workers = cmp.Or(c.Workers, 2)
	c.Memory = cmp.Or(c.Memory, 1<<30)
	c.CPU = cmp.Or(c.CPU, 30*time.Second)
	c.Timeout = cmp.Or(c.Timeout, 3*time.Minute)
	c.Idle = cmp.Or(c.Idle, time.Minute)
	c.MaxInput = cmp.Or(c.MaxInput, 64<<20)
	c.MaxText = cmp.Or(c.MaxText, 4<<20)
	c.MaxRows = cmp.Or(c.MaxRows, 10_000)
	c.MaxPages = cmp.Or(c.MaxPages, 2_000)
	return c
}

// Reader reads documents. It is safe for concurrent use; Close ends its
// children.
type Reader struct {
	conf  Config
	slots chan struct{}

	mu     sync.Mutex
	idle   []*child
	closed bool
}

// New makes a reader. No child is started before one is needed.
func New(conf Config) *Reader {
	conf = conf.withDefaults()
	return &Reader{conf: conf, slots: make(chan struct{}, conf.Workers)}
}

// Close ends the children that wait for work.
func (r *Reader) Close() {
	r.mu.Lock()
	idle := r.idle
	r.idle, r.closed = nil, true
	r.mu.Unlock()
	for _, c := range idle {
		c.end()
	}
}

// harmless is the size up to which texts are read in this process: they are
// read by loops, in time and space that grow with them.
const harmless = 1 << 20

// Read reads a document. An error about the document is an *Error.
func (r *Reader) Read(ctx context.Context, d Document) (*Page, error) {
	if len(d.Body) > r.conf.MaxInput {
		return nil, &Error{Reason: TooLarge, Why: fmt.Sprintf("%d bytes, more than the %d that are read", len(d.Body), r.conf.MaxInput)}
	}
	format, err := sniff(&d)
	if err != nil {
		return nil, err
	}
	l := limits{Text: r.conf.MaxText, Rows: r.conf.MaxRows, Pages: r.conf.MaxPages, Compiled: r.conf.CacheDir}
	switch format {
	case Text, Man, Markdown, RST, ASCIIDoc, CSV, JSON:
		if len(d.Body) <= harmless {
			return parse(&d, format, l)
		}
	}
	select {
	case r.slots <- struct{}{}:
		defer func() { <-r.slots }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	j := job{URL: d.URL, ContentType: d.ContentType, Format: format, Limits: l, CPU: max(1, int(r.conf.CPU/time.Second)), Size: len(d.Body)}
	for {
		c, fresh, err := r.child()
		if err != nil {
			return nil, err
		}
		page, err := r.ask(ctx, c, &j, d.Body)
		if errors.Is(err, errGone) && !fresh {
			continue // what an earlier document left in it may be to blame
		}
		if errors.Is(err, errGone) {
			err = &Error{Reason: TooCostly, Format: format, Why: c.epitaph()}
		}
		return page, err
	}
}

// child takes a waiting child or starts one.
func (r *Reader) child() (c *child, fresh bool, err error) {
	r.mu.Lock()
	if n := len(r.idle); n > 0 {
		c = r.idle[n-1]
		r.idle = r.idle[:n-1]
	}
	r.mu.Unlock()
	if c != nil {
		return c, false, nil
	}
	c, err = startChild(r.conf.Memory)
	return c, true, err
}

// keep lets a child wait for more work.
func (r *Reader) keep(c *child) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		c.end()
		return
	}
	r.idle = append(r.idle, c)
	c.used = time.Now()
	time.AfterFunc(r.conf.Idle, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		for i, other := range r.idle {
			if other == c && time.Since(c.used) >= r.conf.Idle {
				r.idle = append(r.idle[:i], r.idle[i+1:]...)
				c.end()
				return
			}
		}
	})
}

// errGone says that a child ended instead of answering.
var errGone = errors.New("the worker is gone")

// ask has a child read one document. The child is kept if it answered, else
// it is gone when ask returns.
func (r *Reader) ask(ctx context.Context, c *child, j *job, body []byte) (*Page, error) {
	type result struct {
		reply
		err error
	}
	done := make(chan result, 1)
	go func() {
		var got result
		if got.err = c.send(j, body); got.err == nil {
			// The text is there twice, quoted, and there are the blocks.
			got.err = readFrame(c.out, &got.reply, 6*r.conf.MaxText+(1<<20))
		}
		done <- got
	}()
	timer := time.NewTimer(r.conf.Timeout)
	defer timer.Stop()
	var got result
	select {
	case got = <-done:
	case <-ctx.Done():
		c.kill()
		<-done
		return nil, context.Cause(ctx)
	case <-timer.C:
		c.kill()
		<-done
		return nil, &Error{Reason: TooCostly, Format: j.Format, Why: fmt.Sprintf("reading took longer than %s", r.conf.Timeout)}
	}
	switch {
	case errors.Is(got.err, errFrame):
		c.kill()
		return nil, &Error{Reason: TooLarge, Format: j.Format, Why: "what comes out of it is too large"}
	case got.err != nil:
		c.kill()
		return nil, errGone
	}
	r.keep(c)
	switch {
	case got.Error != nil:
		return nil, got.Error
	case got.Fault != "":
		return nil, fmt.Errorf("read %s: %s", j.Format, got.Fault)
	case got.Page == nil:
		return nil, fmt.Errorf("read %s: the worker gave no answer", j.Format)
	}
	return got.Page, nil
}

// child is a worker process.
type child struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
	last *tail
	once sync.Once
	used time.Time
}

var errNoWorkerMain = errors.New("this program can't read documents in a process of its own: it must call reader.WorkerMain first thing")

func startChild(memory int64) (*child, error) {
	if os.Getenv(workerEnv) != "" {
		// It was started to be one: its program lacks the call, and would start
		// itself without end.
		return nil, errNoWorkerMain
	}
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("start a reading process: %w", err)
	}
	c := &child{cmd: exec.Command(self), last: &tail{}}
	// Nothing of this process's environment, which may hold keys.
	c.cmd.Env = []string{workerEnv + "=" + strconv.FormatInt(memory, 10), "GOMAXPROCS=2", "GOTRACEBACK=none"}
	c.cmd.Stderr = c.last
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		return nil, fmt.Errorf("start a reading process: %w", err)
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start a reading process: %w", err)
	}
	c.out = bufio.NewReader(out)
	if err := c.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start a reading process: %w", err)
	}
	return c, nil
}

func (c *child) send(j *job, body []byte) error {
	w := bufio.NewWriter(c.in)
	if err := writeFrame(w, j); err != nil {
		return err
	}
	if _, err := w.Write(body); err != nil {
		return err
	}
	return w.Flush()
}

// end lets a child go and waits until it is gone.
func (c *child) end() {
	c.in.Close()
	c.kill()
}

// kill ends a child and waits until it is gone.
func (c *child) kill() {
	c.once.Do(func() {
		_ = c.cmd.Process.Kill() // it may be gone already
		_ = c.cmd.Wait()
	})
}

// epitaph says what a child died of.
func (c *child) epitaph() string {
	last := c.last.String()
	switch {
	case strings.Contains(last, "out of memory"), strings.Contains(last, "cannot allocate"):
		return "reading it took more memory than allowed"
	case strings.Contains(last, "cpu limit"):
		return "reading it took more processor time than allowed"
	case strings.Contains(last, "stack"):
		return "it is nested too deeply"
	}
	return "the parser died of it"
}

// tail keeps the first bytes that a child wrote to its standard error.
type tail struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if room := 4096 - t.b.Len(); room > 0 {
		t.b.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.b.String()
}
