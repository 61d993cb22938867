package dossier

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"dossier/cite"
	"dossier/event"
	"dossier/internal/store"
	"dossier/internal/store/memory"
	"dossier/llm/llmtest"
	"dossier/mode"
	"dossier/reader"
	"dossier/report"
	"dossier/sources"
)

// TestMain makes the test binary the reader's child too.
func TestMain(m *testing.M) {
	reader.WorkerMain()
	os.Exit(m.Run())
}

// library is a copy of testdata/library, so that its path is not this
// machine's.
func library(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "library")
	if err := os.CopyFS(dir, os.DirFS("testdata/library")); err != nil {
		t.Fatal(err)
	}
	return dir
}

func research(question, dir string) Request {
	return Request{Mode: "web_search", Request: mode.Request{Question: question, In: sources.Target{Paths: []string{dir}, Base: filepath.Dir(dir)}}}
}

// reportOf returns the report of the last run and checks each of its quotes
// against the text that was stored.
func reportOf(t *testing.T, e *Engine) *report.Report {
	t.Helper()
	r, err := e.Report(t.Context(), "last")
	if err != nil {
		t.Fatal(err)
	}
	checkQuotes(t, e.store, r)
	return r
}

func checkQuotes(t *testing.T, s store.Blobs, r *report.Report) {
	t.Helper()
	snapshots := make(cite.Snapshots)
	for _, src := range r.Sources {
		raw, err := s.Blob(t.Context(), src.Snapshot)
		if err != nil {
			t.Fatalf("source %d: %v", src.Number, err)
		}
		snapshots.Add(string(raw))
	}
	if err := r.Check(snapshots); err != nil {
		t.Error(err)
	}
}

// quotes are the texts that a report quotes as its answer.
func quotes(r *report.Report) string {
	var out []string
	for _, s := range r.Sections {
		for _, q := range s.Quotes {
			out = append(out, q.Text)
		}
	}
	return strings.Join(out, "\n")
}

func TestResearchWithoutAModel(t *testing.T) {
	dir := library(t)
	e := engine(t, memory.New(memory.Options{}), nil)
	for _, c := range []struct{ question, want, frame string }{
		{"Who built the lighthouse of Cape Kestrel?", "Maria Lindqvist", "Sources"},
		{"How many steps lead up to the lamp?", "187 steps", "Sources"},
		{"How much does a ticket cost for adults?", "8 euros", "Sources"},
		{"Кто был последним смотрителем маяка?", "Олаф Брандт", "Источники"},
		{"成人门票多少钱？", "八欧元", "来源"},
	} {
		events := follow(t, e, research(c.question, dir))
		m, _ := answerOf(events)
		r := reportOf(t, e)
		if !m.Extractive || r.Outcome != report.Answered || !strings.Contains(quotes(r), c.want) {
			t.Errorf("%s: %s\n%s", c.question, r.Outcome, m.Text)
		}
		if !strings.Contains(m.Text, "\n## "+c.frame+"\n") {
			t.Errorf("%s: the frame is not in the language of the question:\n%s", c.question, m.Text)
		}
		if r.Coverage.Claims.Of() != 1 {
			t.Errorf("%s: coverage %+v", c.question, r.Coverage)
		}
		if strings.Contains(m.Text, dir) {
			t.Errorf("%s: paths are not shown from the base:\n%s", c.question, m.Text)
		}
	}
}

func TestResearchFindsNothing(t *testing.T) {
	e := engine(t, memory.New(memory.Options{}), nil)
	dir := library(t)
	for _, question := range []string{"What is the boiling point of tungsten?", "Когда умер композитор Чайковский?", "量子计算机的纠错阈值是多少？"} {
		m, _ := answerOf(follow(t, e, research(question, dir)))
		if r := reportOf(t, e); r.Outcome != report.Nothing || len(r.Sections) > 0 || r.Text != "" {
			t.Errorf("%s: %s\n%s", question, r.Outcome, m.Text)
		}
	}
	empty := t.TempDir()
	m, _ := answerOf(follow(t, e, research("Who built the lighthouse?", empty)))
	if r := reportOf(t, e); r.Outcome != report.Nothing || !strings.Contains(m.Text, "There is nothing to read in") {
		t.Errorf("an empty folder: %s\n%s", r.Outcome, m.Text)
	}
}

func TestResearchShowsDisagreement(t *testing.T) {
	e := engine(t, memory.New(memory.Options{}), nil)
	follow(t, e, research("How high is the tower of the lighthouse?", library(t)))
	r := reportOf(t, e)
	if len(r.Conflicts) == 0 {
		t.Fatalf("no conflict between 41 and 43 metres:\n%s", report.Markdown(r))
	}
	values := r.Conflicts[0].A.Value + " " + r.Conflicts[0].B.Value
	if !strings.Contains(values, "41") || !strings.Contains(values, "43") {
		t.Errorf("conflict of %s", values)
	}
}

// writer is a model that plans, notes and answers as told.
func writer(answer string) []llmtest.Rule {
	return []llmtest.Rule{
		{Schema: "plan", Reply: llmtest.JSON(map[string]any{"question": "Who built the lighthouse, and when?", "facets": []any{
			map[string]any{"title": "Who built the lighthouse of Cape Kestrel?", "queries": []string{"lighthouse built engineer"}},
			map[string]any{"title": "When was it automated?", "queries": []string{"light automatic keeper left"}},
		}})},
		{Schema: "note", Reply: llmtest.JSON(map[string]any{"relevant": true, "summary": "Lindqvist built it in 1874.", "quotes": []string{
			"was built in 1874 by the engineer Maria Lindqvist", "these words stand nowhere at all",
		}})},
		{Schema: "synthesized_answer", Reply: llmtest.JSON(map[string]any{"reasoning": "The passages say it.", "answer": answer, "key_points": []string{"Built in 1874 [1]", "see http://evil.example [77]"}, "unanswered": false})},
	}
}

func TestResearchWithAModel(t *testing.T) {
	answer := "The lighthouse of Cape Kestrel was built in 1874 by the engineer Maria Lindqvist [1]. " +
		"More is at [the site](http://evil.example/x) ![x](http://evil.example/y.png). " +
		"The tower is made of pure gold and was painted by Rembrandt [1]. It was sold in 1990 [42]."
	rules := append(writer(answer),
		llmtest.Rule{Schema: "judgements", Reply: llmtest.JSON(map[string]any{"judgements": []any{}})},
		llmtest.Rule{Schema: "rewritten", Reply: llmtest.JSON(map[string]any{"answer": answer})},
	)
	srv := llmtest.Start(t, llmtest.Script{Rules: rules})
	e := engine(t, memory.New(memory.Options{}), connected(srv))
	events := follow(t, e, research("who built it, and when was it automated?", library(t)))
	m, _ := answerOf(events)
	r := reportOf(t, e)
	if r.Outcome != report.Answered || m.Extractive || m.Model == "" {
		t.Errorf("outcome %s, message %+v", r.Outcome, m)
	}
	for _, bad := range []string{"evil.example", "[42]", "[77]"} {
		if strings.Contains(m.Text+strings.Join(m.KeyPoints, ""), bad) {
			t.Errorf("%s was delivered:\n%s", bad, m.Text)
		}
	}
	if !strings.Contains(r.Text, "Maria Lindqvist [1]") || !strings.Contains(r.Text, "Rembrandt [1] [?]") {
		t.Errorf("the answer: %s", r.Text)
	}
	if c := r.Coverage.Claims; c.Covered == 0 || c.Covered == c.Total {
		t.Errorf("coverage %+v", c)
	}
	if _, err := e.Replay(t.Context(), r.Run); err != nil {
		t.Error(err)
	}
}

// TestResearchEventLog freezes what is told and recorded.
func TestResearchEventLog(t *testing.T) {
	dir := library(t)
	srv := llmtest.Start(t, llmtest.Script{Rules: writer("The lighthouse of Cape Kestrel was built in 1874 by the engineer Maria Lindqvist [1]. The light became automatic in 1978 [1].")})
	for name, flags := range map[string]map[string]string{"research-quotes.golden": nil, "research-model.golden": connected(srv)} {
		e := engine(t, memory.New(memory.Options{}), flags)
		events := follow(t, e, research("Who built the lighthouse of Cape Kestrel?", dir))
		var out bytes.Buffer
		var aside []string
		for _, ev := range events {
			if ev.Transient() {
				continue
			}
			data, err := event.EncodeData(ev.Data)
			if err != nil {
				t.Fatal(err)
			}
			if ev.Kind() == event.KindUsage { // of parallel steps: their order is open
				aside = append(aside, fmt.Sprintf("  usage %s\n", data))
				continue
			}
			fmt.Fprintf(&out, "%s %s\n", ev.Kind(), data)
		}
		d, err := e.Show(t.Context(), "last")
		if err != nil {
			t.Fatal(err)
		}
		for _, entry := range d.Steps {
			aside = append(aside, fmt.Sprintf("  %s %s\n", entry.Kind, entry.Key))
		}
		slices.Sort(aside)
		out.WriteString(strings.Join(aside, ""))
		text := strings.ReplaceAll(out.String(), filepath.Dir(dir), "/home")
		text = strings.ReplaceAll(text, d.Record.ID, "RUN")
		text = regexp.MustCompile(`\d{4}-\d\d-\d\d · run`).ReplaceAllString(text, "DATE · run")
		text = regexp.MustCompile(`"hash":"sha256-[0-9a-f]+","bytes":\d+`).ReplaceAllString(text, `"hash":"HASH","bytes":0`)
		golden(t, name, []byte(text))
	}
}

// TestResearchOutlivesItsModel lets the model fail at each of its decisions:
// the rules take that one over, the answer comes, and it says so.
func TestResearchOutlivesItsModel(t *testing.T) {
	dir := library(t)
	for _, schema := range []string{"plan", "note", "synthesized_answer", "judgements", "rewritten", "follow_up_list"} {
		for _, fault := range []llmtest.FaultKind{llmtest.Status, llmtest.WrongSchema, llmtest.Empty} {
			t.Run(schema+"/"+string(fault), func(t *testing.T) {
				rules := append([]llmtest.Rule{{Schema: schema, Fault: &llmtest.Fault{Kind: fault}}},
					writer("The lighthouse of Cape Kestrel was built in 1874 by the engineer Maria Lindqvist [1]. The moon is made of cheese [1].")...)
				srv := llmtest.Start(t, llmtest.Script{Rules: rules})
				flags := connected(srv)
				flags["governor.retries"], flags["structured.max_retries"] = "0", "0"
				e := engine(t, memory.New(memory.Options{}), flags)
				follow(t, e, research("Who built the lighthouse of Cape Kestrel?", dir))
				r := reportOf(t, e)
				if r.Outcome == report.Nothing || !strings.Contains(report.Markdown(r), "Lindqvist") {
					t.Errorf("%s\n%s", r.Outcome, report.Markdown(r))
				}
				if (schema == "plan" || schema == "note") && !strings.Contains(strings.Join(r.Notes, "\n"), "rules instead") {
					t.Errorf("notes %q", r.Notes)
				}
				// An answer that only lacks what is beside it is one.
				if schema == "synthesized_answer" && r.Extractive == (fault == llmtest.WrongSchema) {
					t.Error("the answer is not labelled as made without a model")
				}
			})
		}
	}
}

func TestResearchWithinABudget(t *testing.T) {
	dir := library(t)
	e := engine(t, memory.New(memory.Options{}), nil)
	req := research("Who built the lighthouse of Cape Kestrel? What does a ticket cost?", dir)
	req.Limits.Searches, req.Limits.Pages = 1, 1
	events := follow(t, e, req)
	m, _ := answerOf(events)
	if m.Text == "" {
		t.Fatal("no answer at the limit")
	}
	if r := reportOf(t, e); len(r.Sources) > 1 {
		t.Errorf("%d sources with a limit of one page", len(r.Sources))
	}
}

func TestActiveCollection(t *testing.T) {
	dir := library(t)
	e := engine(t, memory.New(memory.Options{}), nil)
	follow(t, e, Request{Mode: "ingest", Request: mode.Request{Question: "add", In: sources.Target{Paths: []string{dir}, Collection: "cape"}}})
	ask := research("How many steps lead up to the lamp?", dir)
	ask.In = sources.Target{}
	events := follow(t, e, ask)
	if m, _ := answerOf(events); m.Text != "" {
		t.Errorf("without a collection there is an answer: %s", m.Text)
	}
	if _, err := e.UseCollection(t.Context(), "cape"); err != nil {
		t.Fatal(err)
	}
	follow(t, e, ask)
	if r := reportOf(t, e); !strings.Contains(quotes(r), "187 steps") {
		t.Errorf("%s", report.Markdown(r))
	}
	if err := e.DeleteCollection(t.Context(), "cape"); err != nil {
		t.Fatal(err)
	}
	if list, err := e.Collections(t.Context()); err != nil || list.Active != "" || len(list.Collections) > 0 {
		t.Errorf("after the deletion: %+v, %v", list, err)
	}
	// What was cited is still there for who reads the report.
	reportOf(t, e)
}

func TestReportRoundTrip(t *testing.T) {
	e := engine(t, memory.New(memory.Options{}), nil)
	follow(t, e, research("Who built the lighthouse of Cape Kestrel?", library(t)))
	r := reportOf(t, e)
	raw, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	again, err := report.Parse(raw)
	if err != nil || report.Markdown(again) != report.Markdown(r) {
		t.Errorf("a report changed on its way through JSON: %v", err)
	}
}
