package dossier

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"dossier/event"
	"dossier/internal/store/memory"
	"dossier/mode"
	"dossier/run"
	"dossier/sources"
)

// TestNoRequestSeesTwoCollections switches the collection in use while requests
// come in and are worked on: each is answered from one collection alone, the one
// that it began with, also while collections are indexed anew.
func TestNoRequestSeesTwoCollections(t *testing.T) {
	const requests, waves = 100, 3
	e := engine(t, memory.New(memory.Options{}), nil)
	names := []string{"north", "south"}
	dirs := map[string]string{}
	fill := func(name string, n int) {
		t.Helper()
		for i := range n {
			text := fmt.Sprintf("# The harbour of the %[1]s, part %[2]d\n\nThe harbour master of the harbour is called %[1]s-%[2]d, and keeps the keys of quay %[2]d.\n", name, i)
			if err := os.WriteFile(filepath.Join(dirs[name], fmt.Sprintf("%s-%d.md", name, i)), []byte(text), 0o600); err != nil {
				t.Error(err)
			}
		}
		follow(t, e, Request{Mode: "ingest", Request: mode.Request{Question: "add", In: sources.Target{Paths: []string{dirs[name]}, Collection: name}}})
	}
	for _, name := range names {
		dirs[name] = t.TempDir()
		fill(name, 5)
	}
	for wave := range waves {
		var all sync.WaitGroup
		logs := make([][]event.Event, requests)
		for i := range requests {
			if _, err := e.UseCollection(t.Context(), names[i%2]); err != nil {
				t.Fatal(err)
			}
			rec, err := e.Start(t.Context(), byAgent("kb_agent", "What is the harbour master of the harbour called?"))
			if err != nil {
				t.Fatal(err)
			}
			all.Go(func() { logs[i] = followQuietly(t, e, rec.ID) })
		}
		all.Go(func() { fill(names[wave%2], 6+wave) })
		all.Wait()
		seen := map[string]int{}
		for i, log := range logs {
			in := map[string]bool{}
			for _, ev := range log {
				data, err := event.EncodeData(ev.Data)
				if err != nil {
					t.Fatal(err)
				}
				for _, name := range names {
					if strings.Contains(string(data), name) {
						in[name] = true
					}
				}
			}
			if len(in) != 1 {
				t.Errorf("request %d sees %d collections: %v", i, len(in), in)
			}
			if !in[names[i%2]] {
				t.Errorf("request %d was made while %s was in use, and sees %v", i, names[i%2], in)
			}
			for name := range in {
				seen[name]++
			}
		}
		if len(seen) != 2 {
			t.Errorf("nobody switched: %v", seen)
		}
	}
}

// followQuietly follows a run from a goroutine of a test.
func followQuietly(t *testing.T, e *Engine, id string) (events []event.Event) {
	for ev, err := range e.Events(t.Context(), id, 0) {
		if err != nil {
			t.Error(err)
			return events
		}
		events = append(events, ev)
	}
	if rec, err := e.Get(t.Context(), id); err != nil || rec.Status != run.Done {
		t.Errorf("%+v %v", rec, err)
	}
	return events
}
