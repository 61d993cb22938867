package study

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"dossier/cite"
	"dossier/internal/store/memory"
	"dossier/lang"
	"dossier/llm"
	"dossier/report"
	"dossier/run"
	"dossier/sources"
)

// Without a model rules suggest what a report leaves open, in its language: what
// nothing was found for, what sources disagree on, what may have changed, what one
// source says alone, who else is spoken of.
func TestFollowUpsByRules(t *testing.T) {
	for _, c := range []struct {
		code       lang.Code
		question   string
		old, other string
		open       string
		want       []string
	}{
		{
			code: "en", question: "How long is the bridge?", open: "Who paid for it?",
			old:   "The Keldra Bridge over the river is 412 metres long between its towers.",
			other: "The Keldra Bridge over the river is 428 metres long between its towers.",
			want:  []string{"Who paid for it?", "Which is right: “The Keldra Bridge over the river is 412 metres long between its towers” or “The Keldra Bridge over the river is 428 metres long between its towers”?", "What is new since 2011: How long is the bridge?"},
		},
		{
			code: "ru", question: "Какова длина моста?", open: "Кто за него заплатил?",
			old:   "Мост Келдра через реку имеет длину 412 метров между башнями.",
			other: "Мост Келдра через реку имеет длину 428 метров между башнями.",
			want:  []string{"Кто за него заплатил?", "Что верно: «Мост Келдра через реку имеет длину 412 метров между башнями» или «Мост Келдра через реку имеет длину 428 метров между башнями»?", "Что нового с 2011 года: Какова длина моста?"},
		},
		{
			code: "zh", question: "这座桥有多长？", open: "谁为它付款？",
			old:   "云汀桥跨越河流，两座桥塔之间的长度是412米。",
			other: "云汀桥跨越河流，两座桥塔之间的长度是428米。",
			want:  []string{"谁为它付款？", "“云汀桥跨越河流，两座桥塔之间的长度是412米”与“云汀桥跨越河流，两座桥塔之间的长度是428米”，哪一个正确？", "2011 年以来有什么新进展：这座桥有多长？"},
		},
	} {
		e := evidenceOf(c.question, [2]string{"https://a.example/1", c.old}, [2]string{"https://b.example/2", c.other})
		for n := range 2 {
			src, _ := e.Ledger.Source(n + 1)
			src.Date = "2011-05"
			e.Ledger.Add(src)
		}
		w := Work{
			Brief: Brief{Question: c.question, Refined: c.question, Language: c.code}, Book: NewBook(), Lengths: TeamLengths, FollowUps: FollowUps,
			Plan: Plan{Title: c.question, Rubric: []Item{{ID: "r1", Question: c.question, State: Covered}, {ID: "r2", Question: c.open, State: Missing}}},
		}
		f := w.Book.Add(e, Finding{Task: c.question, Text: c.old + " [1]", Passages: e.Facets[0].Quotes})
		w.Plan.Cover("r1", f.ID)
		r, _ := writeUp(t, nil, w)
		if !slices.Equal(r.FollowUps, c.want) {
			t.Errorf("%s: %q", c.code, r.FollowUps)
		}
	}
}

// What a model suggests is held to what may be suggested, and rules fill up.
func TestFollowUpsByAModel(t *testing.T) {
	w := workOn(5, "engine")
	w.FollowUps = FollowUps
	w.Plan.Rubric = []Item{{ID: "r1", Question: "What is the engine made of?", Kind: SubQuestion, State: Covered, Findings: []string{"f1"}}}
	a := &author{reply: func(schema, _, _ string) any {
		if schema != "suggested" {
			return map[string]any{"none": true}
		}
		return map[string]any{"questions": []string{
			"What are these things made of?", "What is the engine made of?", "Кто построил двигатель?", strings.Repeat("long ", 100) + "?",
			"Who made the engine? Read https://evil.example/x", "who made the engine?",
		}}
	}}
	r, _ := writeUp(t, a, w)
	if len(r.FollowUps) == 0 || r.FollowUps[0] != "Who made the engine?" {
		t.Fatalf("%q", r.FollowUps)
	}
	for _, q := range r.FollowUps[1:] {
		if strings.Contains(q, "двигател") || strings.Contains(q, "evil") || strings.EqualFold(q, r.FollowUps[0]) || len(q) > 200 {
			t.Errorf("%q", q)
		}
	}
	// A report without evidence suggests nothing.
	empty := Work{Brief: w.Brief, Plan: w.Plan, Book: NewBook(), Lengths: TeamLengths, FollowUps: FollowUps}
	if r, _ := writeUp(t, a, empty); len(r.FollowUps) > 0 {
		t.Errorf("%q", r.FollowUps)
	}
}

// inRun does something as a run of a session.
func inRun(t *testing.T, s *memory.Store, session string, do func(ctx context.Context, sc *run.Scope) error) {
	t.Helper()
	if err := s.Create(t.Context(), run.Record{ID: "r", Session: session, Status: run.Queued, Created: time.Date(2026, 11, 15, 0, 0, 0, 0, time.UTC)}, nil, nil); err != nil {
		t.Fatal(err)
	}
	x := run.NewExecutor(run.ExecutorConfig{Journal: s, Owner: "w", Program: func(run.Record) (run.Func, run.Limits, error) { return do, run.Limits{}, nil }})
	defer x.Close()
	if _, err := x.Execute(t.Context(), "r"); err != nil {
		t.Fatal(err)
	}
}

// A question stands by itself as a model says, in its language and at its length;
// as rules say otherwise.
func TestStandAlone(t *testing.T) {
	history := []llm.Message{{Role: llm.RoleUser, Content: "How long is the Keldra Bridge?"}, {Role: llm.RoleAssistant, Content: "412 metres."}}
	for reply, want := range map[string]string{
		"Who built the Keldra Bridge?  See https://evil.example/": "Who built the Keldra Bridge? See",
		"Кто построил мост Келдра?":                               "Keldra Bridge: Who built it?",
		strings.Repeat("word ", 200):                              "Keldra Bridge: Who built it?",
		"":                                                        "Keldra Bridge: Who built it?",
	} {
		a := &author{reply: func(string, string, string) any { return map[string]any{"question": reply} }}
		models := &llm.Models{MaxObjectRetries: -1, Roles: map[llm.RoleName]llm.Setting{llm.ForDefault: {Model: a, Name: "m"}}}
		inRun(t, memory.New(memory.Options{}), "s", func(ctx context.Context, sc *run.Scope) error {
			got, _, err := StandAlone(ctx, sc, Continuation{Models: models, Question: "Who built it?", History: history, Language: "en"})
			if got != want {
				t.Errorf("%q became %q", reply, got)
			}
			return err
		})
	}
}

// What earlier runs have read is used where it is asked of: pages where the web is,
// documents where the same ones are, and these not where engines see queries that
// saw none before.
func TestRecallKeepsToItsPlace(t *testing.T) {
	const page, paper = "The Keldra Bridge is 412 metres long.", "Our note: the Keldra Bridge is 428 metres long."
	web, docs := &sources.WebScope{}, sources.Target{Paths: []string{"/docs"}}
	both := docs
	both.Web = web
	for _, c := range []struct {
		name   string
		was    sources.Target
		is     sources.Target
		online bool
		want   []string
	}{
		{"the web again", sources.Target{Web: web}, sources.Target{Web: web}, true, []string{"https://a.example/1"}},
		{"documents after the web", sources.Target{Web: web}, docs, false, nil},
		{"the same documents", docs, docs, false, []string{"/docs/note.md"}},
		{"other documents", docs, sources.Target{Paths: []string{"/others"}}, false, nil},
		{"the web after documents", docs, sources.Target{Web: web}, true, nil},
		{"documents and now the web", docs, both, true, nil},
		{"both again", both, both, true, []string{"https://a.example/1", "/docs/note.md"}},
	} {
		s := memory.New(memory.Options{})
		done := Finished{Run: "old", In: c.was, Report: &report.Report{Title: "Bridges"}}
		for n, src := range []cite.Source{{URI: "https://a.example/1", Kind: cite.Web}, {URI: "/docs/note.md", Kind: cite.File}} {
			if src.Kind == cite.Web && c.was.Web == nil || src.Kind == cite.File && len(c.was.Paths) == 0 {
				continue
			}
			text := []string{page, paper}[n]
			hash, err := s.PutBlob(t.Context(), []byte(text))
			if err != nil {
				t.Fatal(err)
			}
			src.Number, src.Snapshot = n+1, hash
			done.Report.Sources = append(done.Report.Sources, report.Source{Source: src, Passages: []report.Quote{{Passage: cite.Passage{Source: n + 1, End: len(text)}}}})
		}
		past := func(context.Context, string, string) ([]Finished, error) { return []Finished{done}, nil }
		inRun(t, s, "s", func(ctx context.Context, sc *run.Scope) error {
			got, err := Recall(ctx, sc, Recollection{Past: past, Blobs: s, Question: "How long is the Keldra Bridge?", In: c.is, Web: c.online})
			if err != nil {
				return err
			}
			var uris []string
			if got.Any() {
				for _, src := range got.evidence.Ledger.Sources() {
					uris = append(uris, src.URI)
				}
			}
			if !slices.Equal(uris, c.want) {
				t.Errorf("%s: %q", c.name, uris)
			}
			if private := got.Private(); (len(private) > 0) != slices.Contains(c.want, "/docs/note.md") {
				t.Errorf("%s: private is %q", c.name, private)
			}
			return nil
		})
	}
}

// A text that is gone is no evidence, and neither is that of a first question.
func TestRecallOfNothing(t *testing.T) {
	s := memory.New(memory.Options{})
	gone := Finished{Report: &report.Report{Book: "sha256-00", Sources: []report.Source{{Source: cite.Source{Number: 1, URI: "https://a.example/", Kind: cite.Web, Snapshot: "sha256-00"}}}}}
	inRun(t, s, "s", func(ctx context.Context, sc *run.Scope) error {
		got, err := Recall(ctx, sc, Recollection{Past: func(context.Context, string, string) ([]Finished, error) { return []Finished{gone}, nil }, Blobs: s, Question: "q?", Web: true})
		if got.Any() {
			t.Error("something")
		}
		found, aerr := got.Answers(ctx, sc, "answers", []string{"q?"})
		if len(found) > 0 {
			t.Error("answered")
		}
		return errors.Join(err, aerr)
	})
	inRun(t, memory.New(memory.Options{}), "r", func(ctx context.Context, sc *run.Scope) error {
		_, err := Recall(ctx, sc, Recollection{Past: func(context.Context, string, string) ([]Finished, error) {
			t.Error("there is no conversation")
			return nil, nil
		}, Question: "q?"})
		return err
	})
}

// A page that has changed since an earlier run read it is cited twice: as it was,
// and as it is.
func TestAPageThatHasChangedSince(t *testing.T) {
	const at = "https://a.example/1"
	b := NewBook()
	old := evidenceOf("How long?", [2]string{at, "The bridge is 412 metres long."})
	now := evidenceOf("How long now?", [2]string{at, "The bridge is closed since Monday."})
	first := b.Remember(Remembered{Question: "How long?", evidence: old}, "How long?")
	second := b.Add(now, Finding{Text: "It is closed [1].", Passages: now.Facets[0].Quotes})
	third := b.Remember(Remembered{Question: "How long?", evidence: old}, "Again?")
	if !first.FromEarlier() || second.FromEarlier() || !slices.Equal(first.Sources(), []int{1}) || !slices.Equal(second.Sources(), []int{2}) || !slices.Equal(third.Sources(), []int{1}) {
		t.Errorf("%+v\n%+v\n%+v", first, second, third)
	}
	var none Recalled
	if told := none.Told(b, "en"); !strings.Contains(told, "1 source ") {
		t.Errorf("%q", told)
	}
}
