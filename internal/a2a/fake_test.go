package a2a

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync"
)

// fake is agents whose work depends on the text: "ask" asks, "fail" fails,
// "wait" works until it is cancelled, "secret" breaks, "steps" shows how it goes
// on, and anything else is answered.
type fake struct {
	mu   sync.Mutex
	work map[string]*work
}

type work struct {
	Progress

	changed chan struct{}
}

func newFake() *fake { return &fake{work: make(map[string]*work)} }

func (f *fake) Cards(context.Context) ([]Card, error) {
	return []Card{
		{Name: "researcher", Title: "Researcher", Description: "Finds things out.", Version: "3", Skills: []Skill{
			{ID: "web", Name: "Web search", Description: "Reads the web.", Tags: []string{"web", "news"}, Examples: []string{"What is new?"}},
			{ID: "kb", Name: "Documents", Description: "Reads documents."},
		}},
		{Name: "writer", Description: "Writes."},
	}, nil
}

func (f *fake) set(id string, change func(*Progress)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	w := f.work[id]
	change(&w.Progress)
	close(w.changed)
	w.changed = make(chan struct{})
}

func (f *fake) Start(_ context.Context, agent, session, text string) (string, error) {
	if text == "secret" {
		return "", errors.New("the database at /var/secret is gone")
	}
	if session != "" && !strings.HasPrefix(session, "session-") {
		return "", ErrUnknown
	}
	f.mu.Lock()
	id := fmt.Sprintf("run-%d", len(f.work)+1)
	if session == "" {
		session = "session-" + id
	}
	w := &work{Progress: Progress{Agent: agent, Session: session, State: Working}, changed: make(chan struct{})}
	f.work[id] = w
	f.mu.Unlock()
	switch text {
	case "ask":
		f.set(id, func(p *Progress) { p.State, p.Question = Asking, "Which city?" })
	case "fail":
		f.set(id, func(p *Progress) { p.State, p.Text = Failed, "no sources" })
	case "wait":
	case "panic":
		panic("a mistake of ours")
	default:
		go func() {
			f.set(id, func(p *Progress) { p.Text = "reading" })
			f.set(id, func(p *Progress) { p.State, p.Text = Done, "answer to "+text+" in "+session })
		}()
	}
	return id, nil
}

func (f *fake) Follow(ctx context.Context, id string) iter.Seq2[Progress, error] {
	return func(yield func(Progress, error) bool) {
		for {
			f.mu.Lock()
			w, ok := f.work[id]
			if !ok {
				f.mu.Unlock()
				yield(Progress{}, ErrUnknown)
				return
			}
			p, changed := w.Progress, w.changed
			f.mu.Unlock()
			if !yield(p, nil) || p.over() || p.State == Asking {
				return
			}
			select {
			case <-changed:
			case <-ctx.Done():
				yield(p, ctx.Err())
				return
			}
		}
	}
}

func (f *fake) Answer(_ context.Context, id, text string) error {
	f.set(id, func(p *Progress) { p.State, p.Question, p.Text = Working, "", "" })
	go f.set(id, func(p *Progress) { p.State, p.Text = Done, "so it is "+text })
	return nil
}

func (f *fake) Cancel(_ context.Context, id string) error {
	f.set(id, func(p *Progress) { p.State = Cancelled })
	return nil
}
