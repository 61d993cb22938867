package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"dossier/event"
	"dossier/internal/store"
	"dossier/internal/store/sqlite"
	"dossier/run"
)

// verdict is what the check of a finished database found.
type verdict struct {
	runs, steps, calls int

	lost, duplicated, repeated, gaps int
	unequal                          []string
}

func (v *verdict) ok() bool { return v.stored() && v.repeated == 0 }

// stored says whether what the database holds is right, whatever was called.
func (v *verdict) stored() bool {
	return v.lost == 0 && v.duplicated == 0 && v.gaps == 0 && len(v.unequal) == 0
}

// check holds a database against the server's call log and against the answers
// of undisturbed runs.
func check(ctx context.Context, dir string, want map[string]string) (*verdict, error) {
	s, err := sqlite.Open(filepath.Join(dir, "dossier.db"), sqlite.Options{})
	if err != nil {
		return nil, err
	}
	defer s.Close()
	if err := s.Check(ctx); err != nil {
		return nil, err
	}
	calls, err := readCalls(filepath.Join(dir, "calls.jsonl"))
	if err != nil {
		return nil, err
	}
	all, err := s.List(ctx, store.Filter{Limit: 1 << 20})
	if err != nil {
		return nil, err
	}
	v := &verdict{runs: len(all), calls: len(calls)}
	recorded := make(map[string]time.Time) // run and step → when it was recorded
	for _, rec := range all {
		h, err := s.History(ctx, rec.ID)
		if err != nil {
			return nil, err
		}
		seen := make(map[string]int)
		for _, e := range h.Entries {
			seen[string(e.Kind)+" "+e.Key]++
			if e.Kind == run.EntryStep {
				v.steps++
				recorded[rec.ID+" "+e.Key] = e.Time
			}
		}
		for _, n := range seen {
			v.duplicated += n - 1
		}
		for _, key := range steps() {
			if seen[string(run.EntryStep)+" "+key] == 0 {
				v.lost++
			}
		}
		if err := v.checkEvents(ctx, s, rec, want); err != nil {
			return nil, err
		}
	}
	for _, c := range calls {
		if at, ok := recorded[c.Model]; ok && c.Time.After(at) {
			v.repeated++
		}
	}
	return v, nil
}

func (v *verdict) checkEvents(ctx context.Context, s *sqlite.Store, rec run.Record, want map[string]string) error {
	events, err := s.Events(ctx, rec.ID, 0, 0)
	if err != nil {
		return err
	}
	answer := ""
	for i, e := range events {
		if e.Seq != int64(i+1) {
			v.gaps++
		}
		if m, ok := e.Data.(event.Message); ok {
			answer = m.Text
		}
	}
	if rec.LastSeq != int64(len(events)) {
		v.gaps++
	}
	if rec.Status != run.Done || answer == "" || want != nil && want[rec.ID] != answer {
		v.unequal = append(v.unequal, fmt.Sprintf("%s is %s and answers %q, undisturbed %q", rec.ID, rec.Status, answer, want[rec.ID]))
	}
	return nil
}

// answers returns the final answer of each run of a database.
func answers(ctx context.Context, dir string) (map[string]string, error) {
	s, err := sqlite.Open(filepath.Join(dir, "dossier.db"), sqlite.Options{})
	if err != nil {
		return nil, err
	}
	defer s.Close()
	all, err := s.List(ctx, store.Filter{Limit: 1 << 20})
	if err != nil {
		return nil, err
	}
	out := make(map[string]string, len(all))
	for _, rec := range all {
		events, err := s.Events(ctx, rec.ID, 0, 0)
		if err != nil {
			return nil, err
		}
		for _, e := range events {
			if m, ok := e.Data.(event.Message); ok {
				out[rec.ID] = m.Text
			}
		}
	}
	return out, nil
}

// unfinished counts the runs that are not over.
func unfinished(ctx context.Context, dir string) (open, total int, err error) {
	s, err := sqlite.Open(filepath.Join(dir, "dossier.db"), sqlite.Options{})
	if err != nil {
		return 0, 0, err
	}
	defer s.Close()
	all, err := s.List(ctx, store.Filter{Limit: 1 << 20})
	for _, rec := range all {
		if !rec.Status.Ended() {
			open++
		}
	}
	return open, len(all), err
}

// received is a line of the server's call log.
type received struct {
	Time  time.Time `json:"time"`
	Model string    `json:"model"`
}

func readCalls(path string) ([]received, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var out []received
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var c received
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if strings.HasPrefix(c.Model, "run-") {
			out = append(out, c)
		}
	}
	return out, lines.Err()
}
