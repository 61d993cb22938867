package toolkit

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dossier/kb"
	"dossier/tool"
)

var documents = map[string]string{
	"bridge.md": "# Keldra Bridge\n\nThe Keldra Bridge was opened to traffic on 14 June 1931 after four years of building. It was designed by Ingrid Vaelmont.\n\n## Length\n\nThe Keldra Bridge is 412 metres long and 18 metres wide.\n",
	"мост.md":   "# Мост Ольховка\n\nМост Ольховка открыт 3 мая 1962 года. Его построил инженер Пётр Лядов.\n",
	"蜜蜂.md":     "# 蜜蜂\n\n养蜂人李明在山谷里养了四十箱蜜蜂。蜂蜜在八月出售。\n",
}

func read[T any](t *testing.T, raw []byte) T {
	t.Helper()
	var v T
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return v
}

type hits struct {
	Route   string       `json:"route"`
	Note    string       `json:"note"`
	Hits    []libraryHit `json:"hits"`
	Missing []string     `json:"missing"`
}

// The whole way: route, plan, search, rerank, compose, verify.
func TestDocumentsFromPlanToContext(t *testing.T) {
	w := newWorld(t)
	dir := w.overFiles(documents)
	w.state.Sources = []tool.Source{{Number: 1, URL: "https://one.example/"}}
	question := "When was the Keldra Bridge opened? Who designed the Quernel server?"
	d := w.do(
		call{tool: RouterSelect, args: args(map[string]any{"query": "Keldra Bridge opened"})},
		call{tool: QueryPlan, args: args(map[string]any{"query": question, "filters": map[string]any{"paths": []string{"bridge.md"}}})},
		call{tool: Search, args: `{"query":"When was the Keldra Bridge opened?","hybrid_top_bm25":100}`},
		call{tool: Search, args: `{"query":"Who designed the Quernel server?"}`},
		call{tool: Rerank, args: `{"query":"When was the Keldra Bridge opened?","top_k":1,"hit_ids":["1.0","2.0","3.0","9.9"]}`},
		call{tool: ComposeContext, args: `{}`},
	)
	for i, o := range d.outcomes {
		if o.Failed {
			t.Fatalf("%d: %s", i, o.Text)
		}
	}
	route := read[struct{ Route, Reason string }](t, d.outcomes[0].Data)
	if route.Route != "bm25" || !strings.Contains(route.Reason, "no embedder") {
		t.Errorf("%+v", route)
	}
	p := read[plan](t, d.outcomes[1].Data)
	if len(p.Facets) != 2 || len(p.Facets[0].Queries) == 0 || p.Filters == nil {
		t.Errorf("%+v", p)
	}
	found := read[hits](t, d.outcomes[2].Data)
	if found.Route != "bm25" || len(found.Hits) == 0 || found.Hits[0].Title != "Keldra Bridge" || !strings.Contains(found.Hits[0].Text, "14 June 1931") {
		t.Errorf("%+v", found)
	}
	for _, h := range found.Hits {
		if h.Title != "Keldra Bridge" {
			t.Errorf("the plan's filter did not hold: %+v", h)
		}
	}
	best := read[hits](t, d.outcomes[4].Data)
	if len(best.Hits) != 1 || best.Hits[0].Title != "Keldra Bridge" || strings.Join(best.Missing, "") != "9.9" {
		t.Errorf("%+v", best)
	}
	o := read[composed](t, d.outcomes[5].Data)
	if o.Coverage != 0.5 || len(o.Uncovered) != 1 || o.Uncovered[0] != p.Facets[1].Question || len(o.Citations) != 1 || o.Citations[0].Number != 2 {
		t.Errorf("%+v", o)
	}
	if !strings.HasPrefix(d.last().Text, "[2] Keldra Bridge\n") || !strings.Contains(d.last().Text, "\n\nContext coverage: 0.50\nNot covered: ") {
		t.Errorf("%s", d.last().Text)
	}
	s := d.state.Sources
	if len(s) != 2 || s[1].URL != filepath.Join(realDir(t, dir), "bridge.md") || s[1].Text == "" || string(d.state.Custom[KeyCoverage]) != "0.5" {
		t.Errorf("%+v %s", s, d.state.Custom[KeyCoverage])
	}
	if d.kinds() != "source.found source.read coverage" {
		t.Error(d.kinds())
	}
}

func realDir(t *testing.T, dir string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestDocumentsInThreeLanguages(t *testing.T) {
	w := newWorld(t)
	w.overFiles(documents)
	for query, want := range map[string]string{"когда открыли мост Ольховка": "3 мая 1962", "李明养了多少箱蜜蜂": "四十箱", "length of the Keldra Bridge": "412 metres"} {
		d := w.do(call{tool: Search, args: args(map[string]any{"query": query, "limit": 1})})
		if h := read[hits](t, d.last().Data).Hits; len(h) != 1 || !strings.Contains(h[0].Text, want) {
			t.Errorf("%s: %s", query, d.last().Text)
		}
	}
}

func TestVerify(t *testing.T) {
	w := newWorld(t)
	w.overFiles(documents)
	d := w.do(call{tool: Verify, args: args(map[string]any{"claims": []string{
		"The Keldra Bridge was opened to traffic on 14 June 1931.", "The Keldra Bridge was opened to traffic in 1877.", "Мост Ольховка построил инженер Пётр Лядов.",
	}})})
	got := read[struct {
		Confidence float64
		Claims     []verified
	}](t, d.last().Data)
	if len(got.Claims) != 3 || got.Claims[0].Verdict != "supported" || got.Claims[1].Verdict == "supported" || got.Claims[2].Verdict != "supported" || got.Claims[0].Confidence <= got.Claims[1].Confidence {
		t.Errorf("%s", d.last().Text)
	}
	if got.Claims[0].Evidence == nil || !strings.Contains(got.Claims[0].Evidence.Text, "1931") || got.Confidence <= 0 || got.Confidence >= 1 {
		t.Errorf("%s", d.last().Text)
	}
	if d.kinds() != "citation.verified citation.verified citation.verified" {
		t.Error(d.kinds())
	}
}

func TestFetchDocs(t *testing.T) {
	w := newWorld(t)
	w.overFiles(map[string]string{"a.md": documents["bridge.md"]})
	d := w.do(call{tool: FetchDocs, args: `{"ids":["1","1.0","7","x"]}`})
	got := read[struct {
		Documents []libraryHit
		Missing   []string
	}](t, d.last().Data)
	if len(got.Documents) != 2 || !strings.Contains(got.Documents[0].Text, "412 metres") || strings.Join(got.Missing, ",") != "7,x" {
		t.Errorf("%s", d.last().Text)
	}
}

func TestDocumentsThatAreNotThere(t *testing.T) {
	w := newWorld(t)
	fails := func(want string, c call) {
		t.Helper()
		if o := w.do(c).last(); !o.Failed || !strings.Contains(o.Text, want) {
			t.Errorf("%s: %+v", c.tool, o)
		}
	}
	fails("there are no documents to look in", call{tool: Search, args: `{"query":"x"}`})
	dir := w.overFiles(documents)
	fails("no such collection", call{tool: Search, args: `{"query":"x"}`, config: `{"collection":"other"}`})
	fails("cannot search by meaning", call{tool: Search, args: `{"query":"x","route":"dense"}`})
	fails("Call search first", call{tool: ComposeContext, args: `{}`})
	fails("none of the ids", call{tool: Rerank, args: `{"query":"x","hit_ids":["99.1"]}`})
	fails("query is empty", call{tool: QueryPlan, args: `{"query":" "}`})
	w.parts.Active = func(context.Context) (string, error) { return "", nil }
	fails("no collection of documents is in use", call{tool: RouterSelect, args: `{"query":"x"}`})
	w.parts.Active = func(context.Context) (string, error) { return "", errors.New("broken") }
	fails("broken", call{tool: FetchDocs, args: `{"ids":["1"]}`})

	// Documents that go under a run are missed, not invented.
	w.parts.Active = func(context.Context) (string, error) { return "files", nil }
	if err := os.Remove(filepath.Join(dir, "bridge.md")); err != nil {
		t.Fatal(err)
	}
	w.state.Custom = map[string]json.RawMessage{KeySearches: json.RawMessage(`[{"query":"Keldra Bridge","ids":["1.0","2.0","3.0"]}]`)}
	if _, err := w.parts.Library.Sync(t.Context(), "files", kb.SyncOptions{}); err != nil {
		t.Fatal(err)
	}
	d := w.do(call{tool: ComposeContext, args: `{}`})
	if o := read[composed](t, d.last().Data); len(o.Missing) != 1 || o.Coverage != 0 {
		t.Errorf("%s", d.last().Text)
	}
}

func TestRoutes(t *testing.T) {
	for query, want := range map[string]kb.Route{
		`what does "zero copy" mean`: kb.BM25,
		"error E1234 of the gauge":   kb.BM25,
		"the flag max_results":       kb.BM25,
		"opening of the bridge":      kb.Hybrid,
		"мост через реку":            kb.Hybrid,
		"养蜂人养了多少蜜蜂":                  kb.Hybrid,
		"why do people who move to another town after a long illness so often feel better": kb.Dense,
	} {
		if got, why := chooseRoute(query); got != want {
			t.Errorf("%s: %s (%s), not %s", query, got, why, want)
		}
	}
}

type backwards struct{ err error }

func (b backwards) Rerank(_ context.Context, _ string, texts []string) ([]float64, error) {
	out := make([]float64, len(texts))
	for i := range out {
		out[i] = float64(i)
	}
	return out, b.err
}

func TestRerankerIsAsked(t *testing.T) {
	w := newWorld(t)
	w.overFiles(documents)
	w.parts.Reranker = backwards{}
	c := call{tool: Rerank, args: `{"query":"x","hit_ids":["1.0","2.0","3.0"]}`}
	if h := read[hits](t, w.do(c).last().Data).Hits; len(h) != 3 || h[0].ID != "3.0" {
		t.Errorf("%+v", h)
	}
	w.parts.Reranker = backwards{errors.New("down")}
	if o := w.do(c).last(); !o.Failed || !strings.Contains(o.Text, "could not be ranked: down") {
		t.Errorf("%+v", o)
	}
}
