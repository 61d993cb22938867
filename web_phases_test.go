package dossier

import (
	"context"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"dossier/event"
	"dossier/internal/store/memory"
	"dossier/internal/webtest"
	"dossier/run"
)

// letters stand for what a log tells, so that its order can be read.
func letters(log []event.Event) string {
	var b strings.Builder
	for _, ev := range log {
		switch d := ev.Data.(type) {
		case event.RunStatus:
			b.WriteString(map[string]string{"running": "(", "done": ")"}[d.Status])
		case event.Message:
			b.WriteString(map[string]string{"user": "Q", "assistant": "A"}[d.Role])
		case event.PlanUpdated:
			b.WriteByte('P')
		case event.SearchStarted:
			b.WriteByte('s')
		case event.SearchResults:
			b.WriteByte('f')
		case event.SearchRound:
			b.WriteByte('d')
		case event.ReportReset:
			b.WriteByte('w')
		case event.AnswerDelta:
		case event.SourceFound:
			b.WriteByte('n')
		case event.SourceRead:
			b.WriteByte('r')
		case event.SourceFailed:
			b.WriteByte('x')
		case event.NoteAdded:
			b.WriteByte('o')
		case event.CitationVerified:
			b.WriteByte('v')
		case event.Coverage:
			b.WriteString(map[string]string{"facets": "F", "claims": "C"}[d.Of])
		case event.ExportReady:
			b.WriteByte('E')
		case event.Usage:
		default:
			b.WriteByte('?')
		}
	}
	return b.String()
}

// TestWebPhasesComeInOrder reads the order of the phases off the logs: plan,
// rounds in which all queries are out before the first result is looked at,
// reading, the plan with what became of it, claims, coverage, answer. The
// decisions that have no event of their own stand in the journal.
func TestWebPhasesComeInOrder(t *testing.T) {
	const (
		byModel = `^\(QP(s{1,3}f{1,3}d)+((nr|x)o?)+PF(w?)v+CEA\)$`
		byRules = `^\(QPs{1,4}f{1,4}d(s{1,3}f{1,3}d)*(nr|x)+PFC?EA\)$` // one more query in the first round may be in English
		rounds  = `^plan (translate )?(round-\d+/search-\d+/find )+(round-1/rerank )?round-1/sift (round-\d+/(search-\d+/find|rerank|sift|followups) )*`
		written = `(read-\d+/(read|note) )+quote answer check/words (check/judge check/verdict )?(rewrite recheck/words (recheck/judge recheck/verdict )?)?report $`
		quoted  = `(read-\d+/read )+quote answer report $`
	)
	for _, c := range webLogs {
		t.Run(c.name, func(t *testing.T) {
			w := startWeb(t, webtest.Options{})
			e := engine(t, memory.New(memory.Options{}), onWeb(t, w, modelled(t, c.model)))
			id := follow(t, e, onTheWeb(c.mode, c.question))[0].Run
			log, err := e.Log(t.Context(), id, 0)
			if err != nil {
				t.Fatal(err)
			}
			wantLog, wantSteps := byRules, rounds+quoted
			if c.model != nil {
				wantLog, wantSteps = byModel, rounds+written
			}
			if got := letters(log); !regexp.MustCompile(wantLog).MatchString(got) {
				t.Errorf("the log is %s", got)
			}
			steps := stepsOf(t, e, id)
			if !regexp.MustCompile(wantSteps).MatchString(steps) {
				t.Errorf("the steps are %s", steps)
			}
			checkRounds(t, steps)
		})
	}
}

// stepsOf are the keys of a run's steps in the order in which they were
// recorded, each followed by a space.
func stepsOf(t *testing.T, e *Engine, id string) string {
	t.Helper()
	d, err := e.Show(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, entry := range d.Steps {
		if entry.Kind == run.EntryStep {
			b.WriteString(entry.Key + " ")
		}
	}
	return b.String()
}

var roundStep = regexp.MustCompile(`round-(\d+)/(search|rerank|sift|followups)`)

// checkRounds looks at the order within the rounds, and of the rounds.
func checkRounds(t *testing.T, steps string) {
	t.Helper()
	order := map[string]int{"search": 0, "rerank": 1, "sift": 2, "followups": 3}
	round, at := 1, 0
	for _, m := range roundStep.FindAllStringSubmatch(steps, -1) {
		if n := number(m[1]); n != round {
			if n != round+1 || at != order["followups"] || m[2] != "search" {
				t.Errorf("%s comes after round %d had got to %d: %s", m[0], round, at, steps)
			}
			round, at = n, 0
		}
		if order[m[2]] < at {
			t.Errorf("%s comes late in its round: %s", m[0], steps)
		}
		at = order[m[2]]
	}
}

// TestWebWorksInParallel holds every answer of a round, and every page of a
// reading, until all of them are asked for.
func TestWebWorksInParallel(t *testing.T) {
	const queries, pages = 3, 4
	first := barrier(t, queries)
	read := barrier(t, pages)
	w := startWeb(t, webtest.Options{Watch: func(v webtest.Visit) {
		if v.Query != "" {
			first()
		} else {
			read()
		}
	}})
	s := &scribe{Facets: []facet{{Title: "How many inhabitants does Oststrand have?", Queries: []string{"Oststrand inhabitants", "Oststrand census", "population of Oststrand"}}}}
	e := engine(t, memory.New(memory.Options{}), onWeb(t, w, modelled(t, s)))
	log := follow(t, e, onTheWeb("web_search", "How many inhabitants does Oststrand have?"))
	if got := letters(log); !strings.HasPrefix(got, "(QPsssfff") || strings.Count(got, "nr") != pages {
		t.Errorf("the log is %s", got)
	}
}

// barrier returns a function that waits until n have called it. That they never
// do is the failure of the test.
func barrier(t *testing.T, n int) func() {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	var mu sync.Mutex
	come, all := 0, make(chan struct{})
	return func() {
		mu.Lock()
		if come++; come == n {
			close(all)
		}
		mu.Unlock()
		select {
		case <-all:
		case <-ctx.Done():
			t.Errorf("%d came at once, not %d", come, n)
		}
	}
}
