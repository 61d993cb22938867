package fleet_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"dossier/agent"
	"dossier/internal/fleet"
	"dossier/internal/store/memory"
)

// clock is a moment that moves by a second with each look.
type clock struct{ t time.Time }

func (c *clock) now() time.Time {
	c.t = c.t.Add(time.Second)
	return c.t
}

var dawn = time.Date(2026, 5, 1, 6, 0, 0, 0, time.UTC)

// check stands for the configuration: a document is the name of a tool.
func check(name string, document []byte) (agent.Definition, error) {
	text := string(document)
	if tool, ok := strings.CutPrefix(text, "tool: "); ok && strings.TrimSpace(tool) == "missing" {
		return agent.Definition{}, errors.New("there is no tool missing: did you mean mission?")
	}
	return agent.Definition{Name: name, Decider: agent.SGR, Description: text}, nil
}

// newFleet returns a fleet over a store in memory.
func newFleet(t interface {
	Helper()
	Fatal(args ...any)
}, s fleet.Store) *fleet.Fleet {
	t.Helper()
	c, n := clock{dawn}, 0
	f, err := fleet.New(fleet.Options{Store: s, Check: check, Now: c.now, NewID: func() string { n++; return fmt.Sprintf("i%04d", n) }})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func newStore() fleet.Store { return memory.New(memory.Options{}) }

// says fails the test unless err contains all words.
func says(t testing.TB, err error, words ...string) {
	t.Helper()
	for _, w := range words {
		if err == nil || !strings.Contains(err.Error(), w) {
			t.Fatalf("error is %v, want %q in it", err, w)
		}
	}
}

func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// leave has a run leave and returns who may start then.
func leave(t testing.TB, f *fleet.Fleet, run string) []string {
	t.Helper()
	start, err := f.Leave(t.Context(), run)
	ok(t, err)
	return start
}

func TestNewNeedsItsParts(t *testing.T) {
	_, err := fleet.New(fleet.Options{})
	says(t, err, "store", "check")
}
