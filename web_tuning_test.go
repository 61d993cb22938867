package dossier

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"dossier/event"
	"dossier/internal/store/memory"
	"dossier/internal/webtest"
	"dossier/lang"
	"dossier/llm/llmtest"
)

// effort is how much was done for a question, as the log tells it.
type effort struct {
	rounds  [][]string // queries
	found   []int      // by engine and query, before what is dropped
	fresh   []int      // by round
	read    []string
	failed  []string
	outcome string
}

func effortOf(log []event.Event) effort {
	var e effort
	at := make(map[string]int)
	for _, ev := range log {
		switch d := ev.Data.(type) {
		case event.SearchStarted:
			for len(e.rounds) < d.Round {
				e.rounds, e.fresh = append(e.rounds, nil), append(e.fresh, 0)
			}
			at[d.Query] = d.Round - 1
			e.rounds[d.Round-1] = append(e.rounds[d.Round-1], d.Query)
		case event.SearchResults:
			for _, by := range d.Engines {
				e.found = append(e.found, by.Found)
			}
			e.fresh[at[d.Query]] += d.New
		case event.SourceRead:
			e.read = append(e.read, d.URL)
		case event.SourceFailed:
			e.failed = append(e.failed, d.URL)
		case event.RunStatus:
			e.outcome = d.Status
		}
	}
	return e
}

// queries is the most queries of a round, and results the most of a query.
func (e effort) queries() int {
	most := 0
	for _, r := range e.rounds {
		most = max(most, len(r))
	}
	return most
}

func (e effort) results() int { return slices.Max(e.found) }

// A question that nothing answers, and a model that never runs out of queries
// which find something new: how long the search goes on is up to the limits.
const unanswerable = "What is the telephone number of the keeper of the Skarrow windmill?"

// restless plans that question in one part or in two, and has follow-ups for
// as long as there are pages that it has not seen.
func restless(w *webtest.Web, parts int) *scribe {
	s := &scribe{Facets: []facet{{Title: unanswerable, Queries: []string{"Skarrow windmill keeper", "Skarrow windmill telephone", "windmill keeper number", "Skarrow"}}}}
	if parts > 1 {
		s.Facets = append(s.Facets, facet{Title: "How long does the ferry from Oststrand to Veyholm take?", Queries: []string{"ferry Oststrand Veyholm"}})
	}
	for _, p := range w.Pages() {
		if p.Lang == lang.English && p.Kind != webtest.PDF && p.Kind != webtest.Redirect && !slices.Contains(s.FollowUps, p.Title) && !strings.Contains(p.Title, "Keldra") {
			s.FollowUps = append(s.FollowUps, p.Title)
		}
	}
	return s
}

// TestWebDoesWhatTheSeedSays holds each mode to its numbers: those that it has
// by itself, and those that its settings give it by the names they were asked
// for with.
func TestWebDoesWhatTheSeedSays(t *testing.T) {
	type limits struct{ queries, rounds, results, read int }
	for _, c := range []struct {
		mode  string
		set   map[string]string
		parts int
		want  limits
	}{
		{"web_search", nil, 1, limits{3, 2, 8, 4}},
		{"deep_search", nil, 2, limits{3, 6, 8, 8}},
		// With all its results a query would have seen the whole web too soon;
		// of one result a query not every part keeps enough to read.
		{"quality", map[string]string{"deep_search_max_results": "1"}, 2, limits{3, 25, 1, 0}},
		{"web_search", map[string]string{"deep_search_queries": "2"}, 1, limits{2, 2, 8, 4}},
		{"web_search", map[string]string{"deep_search_queries": "5"}, 1, limits{5, 2, 8, 4}},
		{"web_search", map[string]string{"deep_search_max_results": "3"}, 1, limits{3, 2, 3, 4}},
		{"web_search", map[string]string{"deep_search_rerank_top_k": "3", "speed_max_iterations": "1"}, 1, limits{3, 1, 8, 3}},
		{"deep_search", nil, 1, limits{3, 6, 8, 8}},
		{"web_search", map[string]string{"deep_search_scrape_top_n": "2"}, 1, limits{3, 2, 8, 2}},
		{"deep_search", map[string]string{"deep_search_scrape_top_n": "5"}, 2, limits{3, 6, 8, 5}},
		{"deep_search", map[string]string{"deep_search.scrape_top_n": "5", "web_search.scrape_top_n": "2"}, 2, limits{3, 6, 8, 5}},
		{"web_search", map[string]string{"deep_search.scrape_top_n": "5", "web_search.scrape_top_n": "2"}, 1, limits{3, 2, 8, 2}},
		{"quality", map[string]string{"quality.scrape_top_n": "3", "quality_max_iterations": "2", "quality.queries": "2"}, 2, limits{2, 2, 8, 3}},
		{"web_search", map[string]string{"speed_max_iterations": "1"}, 1, limits{3, 1, 8, 4}},
		{"web_search", map[string]string{"speed_max_iterations": "4"}, 1, limits{3, 4, 8, 4}},
		{"deep_search", map[string]string{"balanced_max_iterations": "3"}, 2, limits{3, 3, 8, 8}},
		{"quality", map[string]string{"quality_max_iterations": "4"}, 2, limits{3, 4, 8, 8}},
	} {
		t.Run(fmt.Sprint(c.mode, c.set), func(t *testing.T) {
			w := startWeb(t, webtest.Options{})
			e := engine(t, memory.New(memory.Options{}), onWeb(t, w, modelled(t, restless(w, c.parts)), c.set))
			got := effortOf(follow(t, e, onTheWeb(c.mode, unanswerable)))
			is := limits{got.queries(), len(got.rounds), got.results(), len(got.read)}
			if c.want.read == 0 {
				is.read = 0
			}
			if got.outcome != "done" || is != c.want {
				t.Errorf("%s: %+v, not %+v\nnew in each round %v, not read %v", got.outcome, is, c.want, got.fresh, got.failed)
			}
			// An engine with too few results on a page is asked for the next.
			told, made := slices.Concat(got.rounds...), w.Searches()
			slices.Sort(told)
			slices.Sort(made)
			if made = slices.Compact(made); !slices.Equal(told, made) {
				t.Errorf("told of\n%q\nmade\n%q", told, made)
			}
		})
	}
}

// After two rounds in a row that find nothing new there is no other, however many
// are allowed.
func TestWebStopsWhenNothingNewIsFound(t *testing.T) {
	for _, name := range []string{"web_search", "deep_search", "quality"} {
		w := startWeb(t, webtest.Options{})
		s := restless(w, 1)
		s.FollowUps = nil
		for i := range 90 { // the same words find the same pages
			s.FollowUps = append(s.FollowUps, strings.TrimSpace(strings.Repeat("Skarrow ", i%9+2)+strings.Repeat("windmill ", i/9+2)))
		}
		e := engine(t, memory.New(memory.Options{}), onWeb(t, w, modelled(t, s)))
		got := effortOf(follow(t, e, onTheWeb(name, unanswerable)))
		if want := map[string]int{"web_search": 2, "deep_search": 3, "quality": 3}[name]; len(got.fresh) != want || got.fresh[0] == 0 || slices.Max(got.fresh[1:]) > 0 {
			t.Errorf("%s: new in each round %v", name, got.fresh)
		}
	}
}

// The model's order of the results is that in which pages are read, and the
// results that it leaves out come last.
func TestWebReadsWhatTheModelRanksFirst(t *testing.T) {
	w := startWeb(t, webtest.Options{})
	var shown []string
	s := &scribe{}
	rules := append([]llmtest.Rule{{Schema: "ranked_list", Reply: llmtest.Do(func(q *llmtest.Request) *llmtest.Reply {
		shown = nil
		for _, m := range resultTitle.FindAllStringSubmatch(q.Question(), -1) {
			shown = append(shown, m[1])
		}
		return llmtest.JSON(map[string]any{"parts": []any{map[string]any{"part": 1, "results": []int{len(shown), len(shown) - 1}}}})
	})}}, s.Rules()...)
	e := engine(t, memory.New(memory.Options{}), onWeb(t, w, connected(llmtest.Start(t, llmtest.Script{Rules: rules}))))
	var read []string
	for _, ev := range follow(t, e, onTheWeb("web_search", "When was the Morrow Polytechnic founded?")) {
		if d, ok := ev.Data.(event.SourceRead); ok {
			read = append(read, d.Title)
		}
	}
	last := len(shown) - 1
	if want := []string{shown[last], shown[last-1], shown[0], shown[1]}; !slices.Equal(read, want) {
		t.Errorf("read %q, not %q", read, want)
	}
}

var resultTitle = regexp.MustCompile(`<result number="\d+" title="([^"]*)"`)

// TestWebAnswersAreAsLongAsAsked has the model write as many words as it was
// asked for: what is delivered has as many.
func TestWebAnswersAreAsLongAsAsked(t *testing.T) {
	for _, c := range []struct {
		mode, asked string
		words       int
	}{
		{"web_search", "Write 400 to 600 words", 400},
		{"web_search", "Write 400 to 600 words", 600},
		{"deep_search", "Write 800 to 1200 words", 800},
		{"deep_search", "Write 800 to 1200 words", 1200},
		{"quality", "Write 800 to 1200 words", 1000},
	} {
		w := startWeb(t, webtest.Options{})
		s := &scribe{Answer: func(shown []passage) string { return ofWords(shown, c.words) }}
		srv := llmtest.Start(t, llmtest.Script{Rules: s.Rules()})
		e := engine(t, memory.New(memory.Options{}), onWeb(t, w, connected(srv)))
		follow(t, e, onTheWeb(c.mode, "How many inhabitants does Oststrand have?"))
		r := reportOf(t, e)
		markers := strings.Count(r.Text, "[")
		if got := lang.Words(r.Text) - markers; got != c.words || markers < c.words/40 {
			t.Errorf("%s: %d words and %d citations, not %d words", c.mode, got, markers, c.words)
		}
		if r.Coverage.Claims.Of() != 1 {
			t.Errorf("%s: coverage %+v", c.mode, r.Coverage.Claims)
		}
		calls := srv.CallsFor("", "synthesized_answer")
		if len(calls) != 1 || !strings.Contains(calls[0].Request.Messages[0].Content, c.asked) {
			t.Errorf("%s: the prompt does not say %q", c.mode, c.asked)
		}
	}
}

// ofWords is an answer of so many words, made of the sentences of passages.
func ofWords(shown []passage, words int) string {
	var out []string
	for left := words; left > 0; {
		for _, p := range shown {
			for _, sentence := range plainSentences(p.Text) {
				fields := strings.Fields(sentence)
				if n := lang.Words(sentence); left-n == 0 || left-n >= 12 {
					out, left = append(out, cited(sentence, p.Source)), left-n
				} else if part := strings.Join(fields[:min(max(left, 0), len(fields))], " "); left > 0 && lang.Words(part) == left {
					out, left = append(out, cited(strings.TrimRight(part, ",.")+".", p.Source)), 0
				}
			}
		}
	}
	return strings.Join(out, " ")
}
