package cli_test

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"sync"
	"testing"

	"dossier/event"
	"dossier/internal/cli"
	"dossier/mode"
	"dossier/run"
)

// asking is a mode that does what its question says.
type asking struct{ entered chan struct{} }

func (asking) Name() string  { return "asking" }
func (asking) Settings() any { return nil }

func (m asking) Run(ctx context.Context, s *run.Scope, req mode.Request) (mode.Answer, error) {
	switch req.Question {
	case "stream":
		for _, piece := range []string{"void", "\x00reset", "one \x1b[3", "1mtwo\x1b]0;ti", "tle\x07 three"} {
			if piece == "\x00reset" {
				_ = s.Emit(event.AnswerDelta{Reset: true})
				continue
			}
			_ = s.Emit(event.AnswerDelta{Text: piece})
		}
		return mode.Answer{Text: "one \x1b[31mtwo\x1b]0;title\x07 three"}, nil
	case "hang":
		return run.Step(ctx, s, "hang", func(ctx context.Context, _ *run.Scope) (mode.Answer, error) {
			close(m.entered)
			<-ctx.Done()
			return mode.Answer{}, context.Cause(ctx)
		})
	}
	a, err := s.Ask(ctx, run.Question{Questions: []string{"which \x1b[1mone?"}, Options: []string{"first", "second"}})
	if err != nil {
		return mode.Answer{}, err
	}
	if a.Skipped {
		return mode.Answer{Text: "nobody said"}, nil
	}
	return mode.Answer{Text: "chosen: " + a.Text}, nil
}

// output is what a command writes; seen is closed when it contains want.
type output struct {
	mu   sync.Mutex
	text strings.Builder
	want string
	seen chan struct{}
}

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.text.Write(b)
	if o.want != "" && strings.Contains(o.text.String(), o.want) {
		o.want = ""
		close(o.seen)
	}
	return len(b), nil
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// desk is a terminal with a home directory.
type desk struct {
	home       string
	stdin      io.Reader
	out, err   *output
	terminal   bool
	interrupts chan os.Signal
	mode       asking
	modes      []mode.Mode
	env        []string
}

func newDesk(t *testing.T) *desk {
	return &desk{
		home: t.TempDir(), stdin: strings.NewReader(""), out: &output{}, err: &output{seen: make(chan struct{})}, terminal: true,
		interrupts: make(chan os.Signal), mode: asking{make(chan struct{})},
	}
}

func (d *desk) run(t *testing.T, args ...string) int {
	t.Helper()
	return cli.Main(cli.Process{
		Args: args, Env: append(d.env, "HOME="+d.home, "LANG=en_US.UTF-8", "DOSSIER_CONFIG=none", "DOSSIER_SEARCH_ENGINES=none"), Stdin: d.stdin, Stdout: d.out, Stderr: d.err,
		Terminal: func(any) (int, int, bool) { return 80, 24, d.terminal }, Interrupts: d.interrupts, Terminate: t.Context(),
		Modes: append(d.modes, d.mode),
	})
}

func TestARunAsksInPlace(t *testing.T) {
	d := newDesk(t)
	d.stdin = strings.NewReader("\n2\n")
	if code := d.run(t, "ask", "--mode", "asking", "choose"); code != 0 {
		t.Errorf("exit code %d\n%s", code, d.err)
	}
	if got := d.out.String(); got != "chosen: second\n" {
		t.Errorf("answered %q", got)
	}
	for _, want := range []string{"which one?\n", "  2. second\n> "} {
		if !strings.Contains(d.err.String(), want) {
			t.Errorf("%q is missing in %q", want, d.err)
		}
	}
}

func TestARunIsLeftWaiting(t *testing.T) {
	d := newDesk(t)
	if code := d.run(t, "ask", "--no-input", "--mode", "asking", "choose"); code != 4 {
		t.Errorf("exit code %d", code)
	}
	for _, want := range []string{"the run asks: which one?", "first, second", "to answer: dossier runs answer "} {
		if !strings.Contains(d.err.String(), want) {
			t.Errorf("%q is missing in %q", want, d.err)
		}
	}
	d.terminal = false
	if code := d.run(t, "runs", "resume", "last"); code != 4 {
		t.Errorf("resuming a run that waits: exit code %d", code)
	}
	if code := d.run(t, "runs", "show", "last"); code != 0 || !strings.Contains(d.out.String(), "? which one?") {
		t.Errorf("exit code %d, %q", code, d.out)
	}
	if code := d.run(t, "runs", "watch", "last"); code != 0 || !strings.Contains(d.err.String(), "waiting and nobody works on it") {
		t.Errorf("exit code %d, %q", code, d.err)
	}
	if code := d.run(t, "runs", "answer", "last", "the", "first"); code != 0 || !strings.Contains(d.out.String(), "chosen: the first\n") {
		t.Errorf("exit code %d, %q", code, d.out)
	}
}

func TestInterruptFinishesThenCancels(t *testing.T) {
	t.Run("once", func(t *testing.T) {
		d := newDesk(t)
		d.stdin, _ = io.Pipe() // nobody types
		d.err.want = "> "
		go func() {
			<-d.err.seen
			d.interrupts <- os.Interrupt
		}()
		if code := d.run(t, "ask", "--mode", "asking", "choose", "-q"); code != 0 {
			t.Errorf("exit code %d\n%s", code, d.err)
		}
		if got := d.out.String(); got != "nobody said\n" {
			t.Errorf("answered %q", got)
		}
	})
	t.Run("twice", func(t *testing.T) {
		d := newDesk(t)
		d.terminal = false
		d.err.want = "run " // the run is followed
		go func() {
			<-d.err.seen
			<-d.mode.entered
			d.interrupts <- os.Interrupt
			d.interrupts <- os.Interrupt
		}()
		if code := d.run(t, "ask", "--mode", "asking", "hang"); code != 130 {
			t.Errorf("exit code %d\n%s", code, d.err)
		}
		if !strings.Contains(d.err.String(), "Ctrl-C again cancels") {
			t.Errorf("said %q", d.err)
		}
		if code := d.run(t, "runs", "list", "--status", "cancelled"); code != 0 || !strings.Contains(d.out.String(), "hang") {
			t.Errorf("exit code %d, %q", code, d.out)
		}
	})
}

func TestATerminalShowsTheAnswerAsItIsWritten(t *testing.T) {
	d := newDesk(t)
	if code := d.run(t, "ask", "--mode", "asking", "-q", "stream"); code != 0 {
		t.Fatalf("exit code %d\n%s", code, d.err)
	}
	// Deltas may be missed by a slow reader; the whole text never is.
	if got := d.out.String(); !strings.HasSuffix(got, "one two three\n") || strings.Contains(got, "[31m") || strings.Contains(got, "title") {
		t.Errorf("shown %q", got)
	}
}

func TestTheBoardCleansUp(t *testing.T) {
	d := newDesk(t)
	if code := d.run(t, "ask", "--mode", "asking", "stream"); code != 0 {
		t.Fatalf("exit code %d", code)
	}
	got := d.err.String()
	if !strings.Contains(got, "\r\x1b[J") || !strings.Contains(got, "done · ") || !strings.HasSuffix(got, "\n") {
		t.Errorf("the board left %q", got)
	}
}

func TestTerminationLeavesTheRun(t *testing.T) {
	d := newDesk(t)
	d.terminal = false
	ctx, stop := context.WithCancelCause(t.Context())
	go func() {
		<-d.mode.entered
		stop(errors.New("terminated"))
	}()
	code := cli.Main(cli.Process{
		Args: []string{"ask", "--mode", "asking", "hang"}, Env: []string{"HOME=" + d.home, "DOSSIER_CONFIG=none", "DOSSIER_SEARCH_ENGINES=none"},
		Stdin: d.stdin, Stdout: d.out, Stderr: d.err, Terminal: func(any) (int, int, bool) { return 0, 0, false },
		Interrupts: d.interrupts, Terminate: ctx, Modes: []mode.Mode{d.mode},
	})
	if code == 0 || !strings.Contains(d.err.String(), "dossier runs resume ") {
		t.Errorf("exit code %d, said %q", code, d.err)
	}
	if code := d.run(t, "runs", "list", "--status", "queued"); code != 0 || !strings.Contains(d.out.String(), "hang") {
		t.Errorf("exit code %d, %q", code, d.out)
	}
}

// full is a disk without space.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

func TestOutputThatIsLostIsAnError(t *testing.T) {
	d := newDesk(t)
	code := cli.Main(cli.Process{
		Args: []string{"version"}, Env: []string{"HOME=" + d.home}, Stdin: d.stdin, Stdout: full{}, Stderr: d.err,
		Terminal: func(any) (int, int, bool) { return 0, 0, false }, Interrupts: d.interrupts, Terminate: t.Context(),
	})
	if code != 1 || !strings.Contains(d.err.String(), "no space left on device") {
		t.Errorf("exit code %d, %q", code, d.err)
	}
	code = cli.Main(cli.Process{
		Args: []string{"ask", "--mode", "asking", "stream"}, Env: []string{"HOME=" + d.home, "DOSSIER_CONFIG=none", "DOSSIER_SEARCH_ENGINES=none"}, Stdin: d.stdin, Stdout: full{}, Stderr: d.err,
		Terminal: func(any) (int, int, bool) { return 0, 0, false }, Interrupts: d.interrupts, Terminate: t.Context(), Modes: []mode.Mode{d.mode},
	})
	if code != 1 || !strings.Contains(d.err.String(), "dossier: writing the output: no space left on device") {
		t.Errorf("exit code %d, %q", code, d.err)
	}
}
