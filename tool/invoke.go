package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"dossier/llm"
	"dossier/run"
)

// Outcome is a result, or why there is none, as the loop records it.
type Outcome struct {
	Result
	// Failed says that the text tells what went wrong.
	Failed bool `json:"failed,omitempty"`
}

// AppendJSON implements run.JSONAppender.
func (o *Outcome) AppendJSON(buf []byte) ([]byte, error) {
	buf = slices.Grow(buf, 32+len(o.Text)+len(o.Text)/8+len(o.Data))
	buf = llm.AppendString(append(buf, `{"text":`...), o.Text)
	if o.Data != nil {
		buf = append(append(buf, `,"data":`...), o.Data...)
	}
	if !o.Change.IsZero() {
		change, err := json.Marshal(&o.Change)
		if err != nil {
			return nil, err
		}
		buf = append(append(buf, `,"change":`...), change...)
	}
	if o.Failed {
		buf = append(buf, `,"failed":true`...)
	}
	return append(buf, '}'), nil
}

// Guard bounds what a call may do.
type Guard struct {
	// Timeout replaces that of the tool where it is shorter; 0 leaves it.
	Timeout time.Duration
	// MostText bounds the text of a result, in characters; 0 is MostText.
	MostText int
}

const (
	// MostText is how long the text of a result may be, in characters.
	MostText = 200_000
	// mostData bounds the data of a result, in bytes: it is recorded.
	mostData = 4 << 20
)

// ArgumentError says what is wrong with the arguments of a call, for a model.
type ArgumentError struct {
	Tool string
	Err  error
}

func (e *ArgumentError) Error() string {
	return fmt.Sprintf("the arguments of %s don't fit: %v. Call it again with arguments that fit its schema.", e.Tool, e.Err)
}

func (e *ArgumentError) Unwrap() error { return e.Err }

// Invoke calls a tool and turns whatever it does into an outcome: an error, a
// panic, no answer in time, too much text or text that is none. An error is
// returned only when the run itself has to stop.
//
// A tool that does not heed its context is left behind when its time is up.
func Invoke(ctx context.Context, t Tool, c *Call, g Guard) (Outcome, error) {
	spec := t.Spec()
	timeout := spec.Timeout
	if timeout == 0 {
		timeout = DefaultTimeout
	}
	if g.Timeout > 0 && g.Timeout < timeout {
		timeout = g.Timeout
	}
	if e, ok := t.(early); ok {
		e.readArgs(c)
	}
	work, cancel := context.WithTimeoutCause(ctx, timeout, errTooSlow)
	defer cancel()
	done := make(chan answer)
	go func() {
		var a answer
		defer func() {
			if p := recover(); p != nil {
				a.err = &run.PanicError{Value: p, Stack: debug.Stack()}
			}
			select {
			case done <- a:
			case <-work.Done(): // nobody waits any more
			}
		}()
		a.result, a.err = t.Call(work, c)
	}()
	select {
	case a := <-done:
		return settle(ctx, spec, a, timeout, g)
	case <-work.Done():
		return settle(ctx, spec, answer{err: context.Cause(work)}, timeout, g)
	}
}

type answer struct {
	result Result
	err    error
}

var errTooSlow = errors.New("the tool took too long")

// settle turns an answer into an outcome.
func settle(ctx context.Context, spec *Spec, a answer, timeout time.Duration, g Guard) (Outcome, error) {
	if a.err == nil {
		return Outcome{Result: bound(a.result, g)}, nil
	}
	if ctx.Err() != nil {
		return Outcome{}, context.Cause(ctx)
	}
	if run.Stopped(a.err) {
		return Outcome{}, a.err
	}
	return Failure(explain(spec, a.err, timeout)), nil
}

func explain(spec *Spec, err error, timeout time.Duration) error {
	if p, ok := errors.AsType[*run.PanicError](err); ok {
		return fmt.Errorf("%s broke down (%v). Do without it or call it differently", spec.Name, p.Value)
	}
	if errors.Is(err, errTooSlow) || errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("%s gave no answer in %s. Ask it for less, or do without it", spec.Name, timeout)
	}
	return err
}

// Failure is the outcome of a call that came to nothing.
func Failure(err error) Outcome {
	text := "Error: " + err.Error()
	return Outcome{Result: bound(Result{Text: text}, Guard{MostText: 4000}), Failed: true}
}

// Success is the outcome of a call that came to a result, within the bounds of
// what can be recorded and read.
func Success(r Result) Outcome { return Outcome{Result: bound(r, Guard{})} }

// bound makes a result that can be recorded and read.
func bound(r Result, g Guard) Result {
	most := g.MostText
	if most <= 0 {
		most = MostText
	}
	if !utf8.ValidString(r.Text) {
		r.Text = strings.ToValidUTF8(r.Text, "\uFFFD")
	}
	r.Text = Cut(r.Text, most)
	if len(r.Data) > mostData || r.Data != nil && !json.Valid(r.Data) {
		r.Data = nil
	}
	return r
}

// Cut shortens a text to so many characters and says how much is missing.
func Cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	n, end := 0, len(text)
	for i := range text {
		if n == most {
			end = i
			break
		}
		n++
	}
	if end == len(text) {
		return text
	}
	return text[:end] + fmt.Sprintf("\n[cut: %d more characters]", utf8.RuneCountInString(text[end:]))
}
