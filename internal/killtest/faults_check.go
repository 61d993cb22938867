package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"dossier/event"
	"dossier/internal/store"
	"dossier/run"
)

// failingVerdict is a verdict on runs that failed and were resumed.
type failingVerdict struct {
	verdict
	trouble []string

	reopened, raised, replayed       int
	beside                           int // steps that were done, and void by what failed in other branches
	effects, retried, skipped, twice int
	effectsRepeated                  int
}

// sayf notes what is behind a number of the verdict.
func (v *failingVerdict) sayf(count *int, format string, a ...any) {
	*count++
	v.trouble = append(v.trouble, fmt.Sprintf(format, a...))
}

// success is a step that was recorded: from when to when that held.
type success struct{ from, until time.Time }

// checkFailing holds a database against the logs of the world and the answers
// of undisturbed runs.
func checkFailing(ctx context.Context, dir string, want map[string]string) (*failingVerdict, error) {
	s, err := openStore(dir)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	if err := s.Check(ctx); err != nil {
		return nil, err
	}
	calls, err := readLog(dir, callLog)
	if err != nil {
		return nil, err
	}
	fired, err := readLog(dir, effectLog)
	if err != nil {
		return nil, err
	}
	all, err := s.List(ctx, store.Filter{Limit: 1 << 20})
	if err != nil {
		return nil, err
	}
	v := &failingVerdict{verdict: verdict{runs: len(all), calls: len(calls)}}
	v.effects = len(fired)
	if len(want) != len(all) {
		v.sayf(&v.lost, "%d runs, undisturbed %d", len(all), len(want))
	}
	successes := make(map[string][]success) // by run and step
	for _, rec := range all {
		log, err := s.Events(ctx, rec.ID, 0, 0)
		if err != nil {
			return nil, err
		}
		h, err := replayed(ctx, s, rec.ID, (&errands{}).program)
		if err != nil {
			v.unequal = append(v.unequal, rec.ID)
			v.trouble = append(v.trouble, fmt.Sprintf("%s: %v", rec.ID, err))
			if h, err = s.History(ctx, rec.ID); err != nil {
				return nil, err
			}
		} else {
			v.replayed++
		}
		l := v.readRun(h, log)
		for step, list := range l.successes {
			successes[rec.ID+" "+step] = list
		}
		v.judge(h, l, want[rec.ID])
		v.judgeEffects(rec.ID, l, fired)
	}
	for _, c := range calls {
		for _, done := range successes[c.Model] {
			if c.Time.After(done.from) && (done.until.IsZero() || c.Time.Before(done.until)) {
				v.sayf(&v.repeated, "%s was called again", c.Model)
			}
		}
	}
	return v, nil
}

// lived is what the log of a run tells.
type lived struct {
	successes map[string][]success
	lasting   map[string]bool // steps whose success holds still
	answers   []string
	retries   []time.Time // answers that let an effect be tried again
	skipped   bool
}

// readRun reads the log of a run: the sequence has no holes, no place is there
// twice, and what is void is what the reopenings named.
func (v *failingVerdict) readRun(h *run.History, log []run.PlacedEvent) *lived {
	l := &lived{successes: make(map[string][]success), lasting: make(map[string]bool)}
	reopened := make(map[string]event.RunReopened) // by epoch
	when := make(map[string]time.Time)
	named := make(map[int64]string) // sequences that are void, by the epoch that made them so
	for _, p := range log {
		if told, ok := p.Data.(event.RunReopened); ok {
			epoch := strings.TrimPrefix(p.Place, "@reopen/")
			reopened[epoch], when[epoch] = told, p.Time
			v.reopened++
			if len(told.Raised) > 0 {
				v.raised++
			}
			for _, r := range told.Void {
				for seq := r[0]; seq <= r[1]; seq++ {
					named[seq] = epoch
				}
			}
		}
	}
	places := make(map[string]bool)
	for i, p := range log {
		if p.Seq != int64(i+1) {
			v.sayf(&v.gaps, "%s: event %d has the sequence %d", h.Record.ID, i+1, p.Seq)
		}
		if places[p.Place] {
			v.sayf(&v.duplicated, "%s: two events at %s", h.Record.ID, p.Place)
		}
		places[p.Place] = true
		place, epoch := p.Place, ""
		if rest, void := strings.CutPrefix(p.Place, "@void/"); void {
			epoch, place, _ = strings.Cut(rest, "/")
		}
		if named[p.Seq] != epoch {
			v.sayf(&v.gaps, "%s: event %d at %s, and the log names epoch %q for it", h.Record.ID, p.Seq, p.Place, named[p.Seq])
		}
		step, _, _ := strings.Cut(place, "#")
		switch d := p.Data.(type) {
		case event.Usage:
			l.successes[step] = append(l.successes[step], success{p.Time, when[epoch]})
			if epoch == "" {
				l.lasting[step] = true
			} else if told := reopened[epoch]; len(told.Raised) == 0 && beside(step, told) {
				v.beside++
			}
		case event.Message:
			if epoch == "" {
				l.answers = append(l.answers, d.Text)
			}
		case event.ClarifyAnswered:
			if !strings.Contains(d.ID, "publish@") {
				break
			}
			if d.Answer == "retry" {
				l.retries = append(l.retries, p.Time)
			} else {
				l.skipped = true
			}
		}
	}
	if h.Record.LastSeq != int64(len(log)) {
		v.sayf(&v.gaps, "%s has %d events and counts %d", h.Record.ID, len(log), h.Record.LastSeq)
	}
	return l
}

// beside says whether a step lies in a branch in which nothing was to be done
// again.
func beside(step string, told event.RunReopened) bool {
	branch, _, inBranch := strings.Cut(step, "/")
	return inBranch && !slices.ContainsFunc(told.Steps, func(again string) bool {
		return !strings.Contains(again, "/") || strings.HasPrefix(again, branch+"/")
	})
}

// judge holds the end of a run against what an undisturbed one came to.
func (v *failingVerdict) judge(h *run.History, l *lived, want string) {
	id := h.Record.ID
	if h.Record.Status != run.Done {
		v.sayf(&v.lost, "%s is %s: %+v", id, h.Record.Status, h.Record.Failure)
	}
	if len(l.answers) != 1 || l.answers[0] != want || want == "" {
		v.unequal = append(v.unequal, id)
		v.trouble = append(v.trouble, fmt.Sprintf("%s answers %q, undisturbed %q", id, l.answers, want))
	}
	seen := make(map[string]int)
	for _, e := range h.Entries {
		seen[string(e.Kind)+" "+e.Key]++
		if e.Kind == run.EntryStep {
			v.steps++
		}
	}
	for key, n := range seen {
		if n > 1 {
			v.sayf(&v.duplicated, "%s has recorded %s %d times", id, key, n)
		}
	}
	recorded := func(key string) bool {
		return seen[string(run.EntryStep)+" "+key]+seen[string(run.EntryFault)+" "+key] > 0
	}
	for step := range l.lasting {
		if !recorded(step) {
			v.sayf(&v.lost, "%s: %s was done and is not in the journal", id, step)
		}
	}
	var q errandRequest
	if err := json.Unmarshal(h.Record.Request, &q); err != nil {
		v.sayf(&v.lost, "%s: %v", id, err)
	}
	for _, step := range errandSteps(q) {
		if !recorded(step) {
			v.sayf(&v.lost, "%s: %s is not in the journal", id, step)
		}
	}
}

// judgeEffects looks at when the effects of a run took place: each but the first
// after an answer that let it.
func (v *failingVerdict) judgeEffects(id string, l *lived, fired []received) {
	var last time.Time
	again := 0
	for _, f := range fired {
		if f.Model != id {
			continue
		}
		if !last.IsZero() {
			allowed := slices.ContainsFunc(l.retries, func(at time.Time) bool { return !at.Before(last) && !at.After(f.Time) })
			if !allowed {
				v.sayf(&v.effectsRepeated, "the effect of %s took place at %s and again at %s, and nobody said so", id, last.Format(time.StampMicro), f.Time.Format(time.StampMicro))
			}
			if again++; again == 2 {
				v.twice++
			}
		}
		last = f.Time
	}
	v.retried += again
	if l.skipped {
		v.skipped++
	}
}
