//go:build unix

package toolkit

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A command that takes too long is ended with all that it started: the pipe that
// its child holds open comes to its end.
func TestCommandIsStopped(t *testing.T) {
	w, dir := bench(t)
	w.settings.Commands.Unsafe = true
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	type end struct {
		said []byte
		err  error
	}
	ended := make(chan end, 1)
	go func() {
		f, err := os.Open(pipe)
		if err != nil {
			ended <- end{nil, err}
			return
		}
		defer f.Close()
		said, err := io.ReadAll(f)
		ended <- end{said, err}
	}()
	c := command(`sh -c 'echo begun; (echo child; exec sleep 3600) > pipe & sleep 3600'`)
	c.config = `{"mode":"unsafe","timeout_seconds":5}`
	if o := w.do(c).last(); !o.Failed || !strings.Contains(o.Text, "was stopped after 5s") || !strings.Contains(o.Text, "begun") {
		t.Errorf("%+v", o)
	}
	if e := <-ended; e.err != nil || string(e.said) != "child\n" {
		t.Errorf("%+v", e)
	}
}
