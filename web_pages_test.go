package dossier

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"dossier/event"
	"dossier/internal/store/memory"
	"dossier/internal/webtest"
	"dossier/lang"
	"dossier/llm/llmtest"
	"dossier/report"
	"dossier/search"
)

// TestWebDropsHostileResults has an engine give addresses of all sorts. Those
// that are broken, hostile, unwanted or there already are dropped with their
// reason and never opened; what is left answers.
func TestWebDropsHostileResults(t *testing.T) {
	w := startWeb(t, webtest.Options{})
	good, news := pageOn(t, w, oststrandPage), pageOn(t, w, oststrandNews)
	others := []struct {
		url    string
		reason search.DropReason
	}{
		{"javascript:alert(1)", search.BrokenURL},
		{"data:text/html,<p>18,240", search.BrokenURL},
		{"file:///etc/passwd", search.BrokenURL},
		{"ftp://files.example/oststrand", search.BrokenURL},
		{"http://", search.BrokenURL},
		{"http://[::1", search.BrokenURL},
		{"nowhere", search.BrokenURL},
		{"http://user:secret@127.0.0.1/encyclo.example/wiki/oststrand", search.BrokenURL},
		{"http://10.0.0.1/oststrand", search.RefusedURL},
		{"http://169.254.169.254/latest/meta-data/", search.RefusedURL},
		{"http://[::1]/oststrand", search.RefusedURL},
		{"http://0x0a000002/oststrand", search.RefusedURL},
		{"http://192.168.1.1:8080/oststrand", search.RefusedURL},
		{"http://127.0.0.1:22/oststrand", search.RefusedURL},
		{good.URL + "#history", search.SameURL},
		{good.URL + "?utm_source=mail", search.SameURL},
		{"http://blocked.example/oststrand", search.BlockedDomain},
		{"http://deep.blocked.example/oststrand", search.BlockedDomain},
		{"http://shop.example/casino-bonus", search.BlockedKeyword},
	}
	hits := []search.Hit{good, news}
	for i, o := range others {
		hits = append(hits, search.Hit{URL: o.url, Title: fmt.Sprintf("Oststrand %d", i), Snippet: fmt.Sprintf("Statement number %d about the inhabitants of Oststrand, unlike any other one.", i*i)})
	}
	hits = append(hits, search.Hit{URL: w.Searx() + "/m.encyclo.example/wiki/oststrand", Title: good.Title, Snippet: good.Snippet})
	b := startBrave(t, hits...)
	e := engine(t, memory.New(memory.Options{}), onWeb(t, w, b.alone(), map[string]string{
		"search.blocked_domains": "blocked.example", "search.blocked_keywords": "casino", "deep_search_max_results": "40",
	}))
	events := follow(t, e, onTheWeb("web_search", aboutOststrand))
	r := reportOf(t, e)
	if r.Outcome != report.Answered || !strings.Contains(quotes(r), "18,240") || len(r.Notes) > 0 {
		t.Errorf("%s", report.Markdown(r))
	}
	for at := range w.Fetches() {
		if at != good.URL && at != news.URL {
			t.Errorf("%s was opened", at)
		}
	}
	told := resultsIn(events)[0]
	if told.Found != 2 || len(told.Dropped) != len(others)+1 {
		t.Errorf("%d found, %d dropped: %+v", told.Found, len(told.Dropped), told.Dropped)
	}
	for _, o := range others {
		is := slices.IndexFunc(told.Dropped, func(d event.DroppedResult) bool {
			return d.Reason == string(o.reason) && (d.URL == o.url || strings.Contains(o.url, "secret") && !strings.Contains(d.URL, "secret"))
		})
		if is < 0 {
			t.Errorf("%s is not told to be dropped as %s: %+v", o.url, o.reason, told.Dropped)
		}
	}
	if !slices.ContainsFunc(told.Dropped, func(d event.DroppedResult) bool { return d.Reason == string(search.SameText) && d.Detail == good.URL }) {
		t.Errorf("the copy is not told of: %+v", told.Dropped)
	}
}

// badKinds are pages that can't be read, and what is said of each.
var badKinds = map[webtest.Kind]string{
	webtest.Dead: "the site answered", webtest.Paywall: "the site answered 40", webtest.Unresolved: "no reply", webtest.Loop: "redirect",
	webtest.Private: "is link-local", webtest.Robots: "robots.txt", webtest.Enormous: "more than 16777216 bytes", webtest.Empty: "no text", webtest.Script: "script",
}

// TestWebReplacesPagesThatCannotBeRead has an engine find bad pages before good
// ones. Each of them is told, and the good ones are read in their place.
func TestWebReplacesPagesThatCannotBeRead(t *testing.T) {
	for kind, says := range badKinds {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			w := startWeb(t, webtest.Options{})
			checkReplaced(t, w, nil, says, pageOfKind(t, w, kind))
		})
	}
	t.Run("slow", func(t *testing.T) {
		t.Parallel()
		w := startWeb(t, webtest.Options{})
		checkReplaced(t, w, nil, "too long", pageOfKind(t, w, webtest.Slow))
	})
	for _, fault := range []webtest.FaultKind{webtest.RateLimited, webtest.ServerError, webtest.NoResults} {
		t.Run("a good page with "+string(fault), func(t *testing.T) {
			t.Parallel()
			w := startWeb(t, webtest.Options{})
			p := pageOn(t, w, "/northwire.example/story/oststrand")
			if err := w.BreakPage(p.URL, webtest.Fault{Kind: fault}); err != nil {
				t.Fatal(err)
			}
			checkReplaced(t, w, nil, map[webtest.FaultKind]string{webtest.RateLimited: "429", webtest.ServerError: "500", webtest.NoResults: "the document is empty"}[fault], p)
		})
	}
}

func pageOfKind(t *testing.T, w *webtest.Web, kind webtest.Kind) search.Hit {
	t.Helper()
	for _, p := range w.Pages() {
		if p.Kind == kind {
			return search.Hit{URL: p.URL}
		}
	}
	t.Fatalf("there is no page of the kind %s", kind)
	return search.Hit{}
}

// checkReplaced lets one page be read, of which the first can't be.
func checkReplaced(t *testing.T, w *webtest.Web, set map[string]string, says string, bad search.Hit) {
	t.Helper()
	bad.Title, bad.Snippet = aboutOststrand, aboutOststrand+" The inhabitants of Oststrand, all there is to know."
	b := startBrave(t, bad, pageOn(t, w, oststrandPage), pageOn(t, w, oststrandNews))
	e := engine(t, memory.New(memory.Options{}), onWeb(t, w, b.alone(), set, map[string]string{"deep_search_scrape_top_n": "1"}))
	events := follow(t, e, onTheWeb("web_search", aboutOststrand))
	got, r := effortOf(events), reportOf(t, e)
	if !slices.Equal(got.failed, []string{bad.URL}) || len(got.read) != 1 {
		t.Errorf("not read %q, read %q", got.failed, got.read)
	}
	if r.Outcome != report.Answered || !strings.Contains(quotes(r), "18,240") {
		t.Errorf("%s", report.Markdown(r))
	}
	notes := strings.Join(r.Notes, "\n")
	if !strings.Contains(notes, bad.URL+" could not be read") || !strings.Contains(notes, says) {
		t.Errorf("the answer does not say %q: %q", says, r.Notes)
	}
	for _, s := range r.Sources {
		if s.URI == bad.URL {
			t.Error("it is a source all the same")
		}
	}
}

// Where no page can be read there is no answer, and it says why.
func TestWebWithoutAPageToRead(t *testing.T) {
	w := startWeb(t, webtest.Options{})
	dead := pageOfKind(t, w, webtest.Dead)
	dead.Title, dead.Snippet = aboutOststrand, "Oststrand has 18,240 inhabitants."
	e := engine(t, memory.New(memory.Options{}), onWeb(t, w, startBrave(t, dead).alone()))
	follow(t, e, onTheWeb("web_search", aboutOststrand))
	if r := reportOf(t, e); r.Outcome != report.Nothing || len(r.Sources) > 0 || !strings.Contains(strings.Join(r.Notes, "\n"), dead.URL) {
		t.Errorf("%s", report.Markdown(r))
	}
}

// A page in another language is read, quoted as it stands, and told to be in
// that language; a model's answer from it is in the language of the question.
func TestWebReadsPagesInAnotherLanguage(t *testing.T) {
	const question = "How high are the pylons of the Keldra Bridge (мост Келдра)?"
	w := startWeb(t, webtest.Options{})
	var foreign search.Hit
	for _, p := range w.Pages() {
		if p.Kind == webtest.Foreign && p.Lang == lang.Russian && strings.Contains(p.Text, "74 метра") {
			foreign = search.Hit{URL: p.URL, Title: p.Title, Snippet: p.Text}
		}
	}
	b := startBrave(t, foreign)
	e := engine(t, memory.New(memory.Options{}), onWeb(t, w, b.alone()))
	m, _ := answerOf(follow(t, e, onTheWeb("web_search", question)))
	r := reportOf(t, e)
	if len(r.Sources) != 1 || r.Sources[0].Lang != lang.Russian || r.Lang != lang.English || !strings.Contains(m.Text, "74 метра") {
		t.Errorf("%s", m.Text)
	}
	s := scribe{Answer: func(shown []passage) string {
		return fmt.Sprintf("The pylons are 74 metres high [%d].", shown[0].Source)
	}}
	rules := append([]llmtest.Rule{{Schema: "judgements", Reply: llmtest.JSON(map[string]any{"judgements": []any{map[string]any{"claim": 1, "verdict": "supported", "passage": 1}}})}}, s.Rules()...)
	srv := llmtest.Start(t, llmtest.Script{Rules: rules})
	e = engine(t, memory.New(memory.Options{}), onWeb(t, w, b.alone(), connected(srv)))
	follow(t, e, onTheWeb("web_search", question))
	if r := reportOf(t, e); r.Text != "The pylons are 74 metres high [1]." || r.Coverage.Claims.Of() != 1 {
		t.Errorf("%s", report.Markdown(r))
	}
}

// Many a site answers 200 with nothing but a form: it is read, and is no answer.
func TestWebDoesNotQuoteAForm(t *testing.T) {
	w := startWeb(t, webtest.Options{})
	form := pageOfKind(t, w, webtest.Login)
	form.Title, form.Snippet = aboutOststrand, "The inhabitants of Oststrand, all there is to know."
	e := engine(t, memory.New(memory.Options{}), onWeb(t, w, startBrave(t, form, pageOn(t, w, oststrandPage)).alone()))
	follow(t, e, onTheWeb("web_search", aboutOststrand))
	if r := reportOf(t, e); !strings.Contains(quotes(r), "18,240") || strings.Contains(quotes(r), "sign in") {
		t.Errorf("%s", report.Markdown(r))
	}
}
