package sources

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"dossier/event"
	"dossier/reader"
	"dossier/run"
	"dossier/search"
)

// fakeEngine finds the pages that share a word with the query.
type fakeEngine struct {
	info  search.Info
	pages map[string]string // by URL
	err   error
	opens map[string]string

	mu    sync.Mutex
	asked []string
}

func (e *fakeEngine) Info() search.Info { return e.info }

func (e *fakeEngine) Search(_ context.Context, q search.Query) ([]search.Hit, error) {
	e.mu.Lock()
	e.asked = append(e.asked, q.Text)
	e.mu.Unlock()
	if e.err != nil {
		return nil, e.err
	}
	type scored struct {
		hit   search.Hit
		score int
	}
	var all []scored
	for at, text := range e.pages {
		score := 0
		for w := range words(q.Text) {
			if words(text)[w] {
				score++
			}
		}
		if score > 0 {
			all = append(all, scored{search.Hit{URL: at, Title: at, Snippet: cut(text, 60), Engine: e.info.Name}, score})
		}
	}
	slices.SortFunc(all, func(a, b scored) int {
		if a.score != b.score {
			return b.score - a.score
		}
		return strings.Compare(a.hit.URL, b.hit.URL)
	})
	var hits []search.Hit
	for _, s := range all {
		hits = append(hits, s.hit)
	}
	return hits, nil
}

func (e *fakeEngine) Open(_ context.Context, at string) (search.Hit, error) {
	if text, ok := e.opens[at]; ok {
		return search.Hit{URL: at, Title: "kept", Text: text}, nil
	}
	return search.Hit{}, search.ErrNotMine
}

// fakePages are pages by URL; a page that is not there is dead.
type fakePages struct {
	texts map[string]string
	moved map[string]string

	mu    sync.Mutex
	reads []string
}

func (p *fakePages) Fetch(_ context.Context, at string) (*reader.Fetched, error) {
	p.mu.Lock()
	p.reads = append(p.reads, at)
	p.mu.Unlock()
	if to := p.moved[at]; to != "" {
		at = to
	}
	text, ok := p.texts[at]
	if !ok {
		return nil, errors.New("the site answers 404")
	}
	return &reader.Fetched{URL: at, Page: &reader.Page{Text: text, Lang: "en"}}, nil
}

const (
	hiveURL   = "https://a.example/hive"
	marketURL = "https://b.example/market"
	deadURL   = "https://c.example/dead"
)

var smallWeb = map[string]string{
	hiveURL:   "Ingrid keeps the bees behind the old chapel. She has eleven hives there and no helper.",
	marketURL: "The honey of the chapel bees is sold in August at the harbour market. A jar costs four crowns.",
	deadURL:   "Ingrid keeps bees, chapel, honey and market: everything about Ingrid.",
}

func general(name string) search.Info {
	return search.Info{Name: name, Topics: []search.Topic{search.General}}
}

func webOf(engines ...search.Engine) (*Web, *fakePages) {
	alive := map[string]string{hiveURL: smallWeb[hiveURL], marketURL: smallWeb[marketURL]}
	pages := &fakePages{texts: alive, moved: map[string]string{}}
	for i, e := range engines {
		engines[i] = search.Polite(e, search.Manners{})
	}
	return &Web{Engines: engines, Pages: pages, Allowed: func(string) error { return nil }, Missing: map[string]string{"brave": "a key"}}, pages
}

func corpusOf(t *testing.T, w *Web, scope WebScope, secret ...string) Corpus {
	t.Helper()
	c, err := w.Corpus(scope, "en", secret...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

var webTuning = Tuning{Queries: 3, Iterations: 2, MaxResults: 8, TopK: 6, ReadTop: 4, PerRound: 3}

// A question is answered from pages; the one that is dead is told of.
func TestWebWithoutAModel(t *testing.T) {
	w, pages := webOf(&fakeEngine{info: general("g"), pages: smallWeb})
	pages.moved[marketURL] = hiveURL + "?from=market"
	pages.texts[hiveURL+"?from=market"] = smallWeb[marketURL]
	e, d := gather(t, Job{Corpus: corpusOf(t, w, WebScope{}), Question: "Where does Ingrid keep the bees?", Tuning: webTuning}, run.Limits{})
	if d.rec.Status != run.Done || len(e.Ledger.Sources()) != 2 || !e.Facets[0].Answered {
		t.Fatalf("%s, sources %+v, %+v", d.rec.Status, e.Ledger.Sources(), e.Facets)
	}
	var uris []string
	for _, s := range e.Ledger.Sources() {
		uris = append(uris, s.URI)
	}
	if !slices.Contains(uris, hiveURL+"?from=market") {
		t.Errorf("the page that moved is cited as %q", uris)
	}
	failed := slices.ContainsFunc(d.log, func(data event.Data) bool {
		f, ok := data.(event.SourceFailed)
		return ok && f.URL == deadURL && strings.Contains(f.Reason, "404")
	})
	if !failed {
		t.Error("the dead page is not told of")
	}
	if q := e.Facets[0].Quotes; len(q) == 0 || !strings.Contains(smallWeb[hiveURL], "behind the old chapel") {
		t.Errorf("quotes %+v", q)
	}
	for _, round := range d.rounds() {
		if len(round) > 3 {
			t.Errorf("%d queries in a round: %q", len(round), round)
		}
	}
}

// A page that can't be read is replaced by the next one.
func TestDeadPagesAreReplaced(t *testing.T) {
	w, pages := webOf(&fakeEngine{info: general("g"), pages: smallWeb})
	tuning := webTuning
	tuning.ReadTop = 1
	e, _ := gather(t, Job{Corpus: corpusOf(t, w, WebScope{}), Question: "Ingrid keeps bees chapel honey market?", Tuning: tuning}, run.Limits{})
	if pages.reads[0] != deadURL || len(e.Ledger.Sources()) != 1 {
		t.Errorf("read %q, sources %+v", pages.reads, e.Ledger.Sources())
	}
}

func TestKeptCopies(t *testing.T) {
	g := &fakeEngine{info: general("g"), pages: smallWeb, opens: map[string]string{deadURL: "Ingrid sold the chapel bees in March, says the copy."}}
	w, _ := webOf(g)
	d, err := corpusOf(t, w, WebScope{}).Read(t.Context(), Lead{Ref: deadURL})
	if err != nil || !strings.Contains(d.Text, "in March") || len(d.Passages) == 0 || len(d.Notes) != 1 {
		t.Errorf("%+v, %v", d, err)
	}
	g.opens = nil
	d, err = corpusOf(t, w, WebScope{}).Read(t.Context(), Lead{Ref: deadURL, Title: "T", Copy: "What the engine has of it."})
	if err != nil || d.Text != "What the engine has of it." || d.Title != "T" {
		t.Errorf("%+v, %v", d, err)
	}
	if _, err = corpusOf(t, w, WebScope{}).Read(t.Context(), Lead{Ref: deadURL}); err == nil || !strings.Contains(err.Error(), "404") {
		t.Error(err)
	}
}

func TestEngineNames(t *testing.T) {
	w, _ := webOf(&fakeEngine{info: general("g")})
	var place *TargetError
	if _, err := w.Corpus(WebScope{Engines: []string{"gg"}}, "en"); !errors.As(err, &place) || !strings.Contains(place.Hint, "g, local") {
		t.Errorf("%v", err)
	}
	var setup *EngineError
	if _, err := w.Corpus(WebScope{Engines: []string{"brave"}}, "en"); !errors.As(err, &setup) || !strings.Contains(setup.Message, "a key") {
		t.Errorf("%v", err)
	}
	if _, err := (&Web{}).Corpus(WebScope{}, "en"); !errors.As(err, &setup) {
		t.Errorf("%v", err)
	}
}

// Who is asked: those named; else those chosen, the open web when they have too
// little, and all from the second round on.
func TestWhoIsAsked(t *testing.T) {
	ask := func(scope WebScope, q Query) (names []string) {
		other := &fakeEngine{info: search.Info{Name: "en_settled", Topics: []search.Topic{search.Documents}}, pages: smallWeb}
		papers := &fakeEngine{info: search.Info{Name: "papers", Topics: []search.Topic{search.Papers}}, pages: smallWeb}
		first := &fakeEngine{info: general("first"), pages: smallWeb}
		second := &fakeEngine{info: general("second"), pages: smallWeb}
		settled := &fakeEngine{info: search.Info{Name: "settled", Topics: []search.Topic{search.Encyclopedia}}, pages: smallWeb}
		w, _ := webOf(first, papers, second, settled, other)
		q.Text = "bees chapel"
		if _, err := corpusOf(t, w, scope).Find(t.Context(), q); err != nil {
			t.Fatal(err)
		}
		for _, e := range []*fakeEngine{papers, first, second, settled, other} {
			if len(e.asked) > 0 {
				names = append(names, e.info.Name)
			}
		}
		return names
	}
	for name, c := range map[string]struct {
		scope WebScope
		q     Query
		want  string
	}{
		"nothing chosen":    {WebScope{}, Query{Limit: 2}, "first"},
		"papers":            {WebScope{}, Query{Limit: 2, Engines: []string{"papers"}}, "papers"},
		"too few":           {WebScope{}, Query{Limit: 20, Engines: []string{"papers"}}, "papers first"},
		"widely":            {WebScope{}, Query{Limit: 2, Engines: []string{"papers"}, Wide: true}, "papers first"},
		"another first":     {WebScope{}, Query{Limit: 2, Engines: []string{"second"}}, "second"},
		"with encyclopedia": {WebScope{}, Query{Limit: 2, Engines: []string{"settled"}}, "first settled"},
		"named":             {WebScope{Engines: []string{"papers", "second"}}, Query{Limit: 20}, "papers second"},
		"by a topic":        {WebScope{Engines: []string{"web", "second"}}, Query{Limit: 20}, "first second"},
		"by a beginning":    {WebScope{Engines: []string{"en"}}, Query{Limit: 20}, "en_settled"},
	} {
		if got := strings.Join(ask(c.scope, c.q), " "); got != c.want {
			t.Errorf("%s: asked %s, not %s", name, got, c.want)
		}
	}
}

// That one engine fails is told; that all fail is an error which says so.
func TestEnginesThatFail(t *testing.T) {
	down := &search.Error{Engine: "down", Reason: search.Blocked, Detail: "a captcha"}
	w, _ := webOf(&fakeEngine{info: general("down"), err: down}, &fakeEngine{info: general("up"), pages: smallWeb})
	e, d := gather(t, Job{Corpus: corpusOf(t, w, WebScope{}), Question: "Where does Ingrid keep the bees?", Tuning: webTuning}, run.Limits{})
	if d.rec.Status != run.Done || !slices.ContainsFunc(e.Trouble, func(s string) bool { return strings.Contains(s, "down") && strings.Contains(s, "captcha") }) {
		t.Errorf("%s, trouble %q", d.rec.Status, e.Trouble)
	}
	w, _ = webOf(&fakeEngine{info: general("down"), err: down})
	_, d = gather(t, Job{Corpus: corpusOf(t, w, WebScope{}), Question: "Where does Ingrid keep the bees?", Tuning: webTuning}, run.Limits{})
	if f := d.rec.Failure; d.rec.Status != run.Failed || f == nil || f.Code != "search_unavailable" || !strings.Contains(f.Message, "captcha") {
		t.Errorf("%s, %+v", d.rec.Status, d.rec.Failure)
	}
}

func TestSecretsInAddresses(t *testing.T) {
	said := "The merger with Harbour Foods closes on the ninth of May, keep it quiet."
	w, pages := webOf(&fakeEngine{info: general("g")})
	c := corpusOf(t, w, WebScope{}, said, "run_01HZY3")
	b64 := base64.RawURLEncoding.EncodeToString([]byte(said))
	for at, refused := range map[string]bool{
		"https://x.example/?d=" + url.QueryEscape(said[:40]):                     true,
		"https://x.example/" + url.PathEscape(url.PathEscape(said)):              true,
		"https://x.example/" + strings.ReplaceAll(said[:44], " ", "-"):           true,
		"https://x.example/?d=" + b64:                                            true,
		"https://x.example/?d=" + fmt.Sprintf("%x", said):                        true,
		"https://x.example/?run=run_01HZY3":                                      true,
		"https://x.example/harbour-foods-merger":                                 false,
		"https://x.example/?q=" + url.QueryEscape("merger harbour foods closes"): false,
	} {
		pages.reads = nil
		_, err := c.Read(t.Context(), Lead{Ref: at})
		if got := len(pages.reads) == 0; got != refused {
			t.Errorf("%s: refused %v, %v", at, got, err)
		}
	}
}

// The sources of an earlier answer can be read again; what was said around them
// is still not to be carried away, not to their sites either.
func TestSourcesOfAnEarlierAnswer(t *testing.T) {
	const source = "https://www.paper.example/2024/05/harbour-foods-to-merge-on-the-ninth-of-may/"
	said := "Harbour Foods merges on the ninth of May [1].\n\n- [1] Harbour Foods to merge on the ninth of May\n  <" + source + "#:~:text=merges%20on>\n"
	w, pages := webOf(&fakeEngine{info: general("g")})
	c := corpusOf(t, w, WebScope{}, said)
	for at, refused := range map[string]bool{
		source: false,
		"http://paper.example/2024/05/harbour-foods-to-merge-on-the-ninth-of-may":           false,
		"https://www.paper.example/?q=harbour-foods-merges-on-the-ninth-of-may":             true,
		"https://evil.example/2024/05/harbour-foods-to-merge-on-the-ninth-of-may":           true,
		"https://evil.example/www.paper.example/harbour-foods-to-merge-on-the-ninth-of-may": true,
	} {
		pages.reads = nil
		_, err := c.Read(t.Context(), Lead{Ref: at})
		if got := len(pages.reads) == 0; got != refused {
			t.Errorf("%s: refused %v, %v", at, got, err)
		}
	}
}

func TestChooseEngines(t *testing.T) {
	engines := []search.Info{
		general("web"), {Name: "arxiv", Topics: []search.Topic{search.Papers}}, {Name: "hf_papers", Topics: []search.Topic{search.Papers, search.Blogs}},
		{Name: "github", Topics: []search.Topic{search.Code}}, {Name: "hackernews", Topics: []search.Topic{search.Discussion}},
		{Name: "wikipedia", Topics: []search.Topic{search.Encyclopedia}},
	}
	for question, want := range map[string]string{
		"Which papers compare retrieval methods?":    "arxiv hf_papers",
		"Какие исследования сравнивают эти методы?":  "arxiv hf_papers",
		"RAG 技术的最新论文有哪些？":                            "arxiv hf_papers",
		"Which repository has the parser library?":   "github",
		"What is the opinion of the community on Go": "hackernews",
		"北京的人口是多少？":                                  "wikipedia",
		"Where can I buy a used bicycle?":            "",
		"Сколько стоит билет на паром?":              "",
	} {
		if got := strings.Join(chooseEngines(question, engines), " "); got != want {
			t.Errorf("%s: %q, not %q", question, got, want)
		}
	}
	if got := known([]string{" ArXiv", "arxiv", "google"}, engines); len(got) != 1 || got[0] != "arxiv" {
		t.Errorf("%q", got)
	}
}

// ranker scores texts by a word that they have.
type ranker struct {
	word string
	err  error
}

func (r ranker) Rerank(_ context.Context, _ string, texts []string) ([]float64, error) {
	scores := make([]float64, len(texts))
	for i, t := range texts {
		scores[i] = float64(strings.Count(t, r.word))
	}
	return scores, r.err
}

func TestReranking(t *testing.T) {
	run1 := func(by string, ranked bool, r ranker, m *script) (string, *Evidence, done) {
		info := general("g")
		info.Ranked = ranked
		w, _ := webOf(&fakeEngine{info: info, pages: smallWeb})
		w.Pages.(*fakePages).texts = smallWeb
		tuning := webTuning
		tuning.ReadTop, tuning.Iterations, tuning.Rerank = 1, 1, by
		e, d := gather(t, Job{
			Models: m.models(), Corpus: corpusOf(t, w, WebScope{}), Question: "Ingrid keeps bees chapel honey market?", Tuning: tuning,
			Rerankers: map[string]search.Reranker{"endpoint": r},
		}, run.Limits{})
		return e.Ledger.Sources()[0].URI, e, d
	}
	if got, _, _ := run1("", false, ranker{}, nil); got != deadURL {
		t.Errorf("by words: %s", got)
	}
	if got, _, _ := run1("endpoint", false, ranker{word: "August"}, nil); got != marketURL {
		t.Errorf("by an endpoint: %s", got)
	}
	if got, _, _ := run1("endpoint", true, ranker{word: "August"}, nil); got != deadURL {
		t.Errorf("ranked again although the engine does: %s", got)
	}
	if got, e, _ := run1("endpoint", false, ranker{err: &search.Error{Engine: "rerank", Reason: search.TooSlow}}, nil); got != deadURL || len(e.Trouble) == 0 {
		t.Errorf("an endpoint that fails: %s, %q", got, e.Trouble)
	}
	m := scripted(map[string]any{
		"plan":   planOf("q", "Ingrid keeps bees chapel honey market?"),
		"rerank": rankedList{Parts: []rankedResult{{Part: 1, Results: []int{99, 2, 2, -1}}, {Part: 7}}},
		"note":   noNote,
	})
	if got, _, _ := run1(ByModel, false, ranker{}, m); got == deadURL || m.calls["rerank"] != 1 || !strings.Contains(m.prompts["rerank"], `<result number="2"`) {
		t.Errorf("by a model: %s, %v", got, m.calls)
	}
	delete(m.replies, "rerank")
	if got, e, _ := run1(ByModel, false, ranker{}, m); got != deadURL || !slices.ContainsFunc(e.Trouble, func(s string) bool { return strings.Contains(s, "rules") }) {
		t.Errorf("a model that fails: %s, %q", got, e.Trouble)
	}
}

// A page that somebody names is opened unless something speaks against it.
func TestOpenAPage(t *testing.T) {
	w, pages := webOf(&fakeEngine{info: general("g"), opens: map[string]string{deadURL: "kept text"}})
	w.Rules = search.Rules{BlockedDomains: []string{"blocked.example"}}
	w.Allowed = func(at string) error {
		if strings.Contains(at, "private") {
			return errors.New("it is private")
		}
		return nil
	}
	if d, err := w.Open(t.Context(), hiveURL+"#part"); err != nil || d.Text != smallWeb[hiveURL] {
		t.Errorf("%+v, %v", d, err)
	}
	if d, err := w.Open(t.Context(), deadURL); err != nil || d.Text != "kept text" || len(d.Notes) == 0 {
		t.Errorf("%+v, %v", d, err)
	}
	read := len(pages.reads)
	for at, want := range map[string]string{
		"https://blocked.example/x": "blocked-domain", "https://private.example/": "it is private", "ftp://a.example/": "can't be opened",
		"https://a.example/?q=runkey12345": "carries data of this run",
	} {
		if _, err := w.Open(t.Context(), at, "runkey12345"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", at, err)
		}
	}
	if len(pages.reads) != read {
		t.Errorf("%v", pages.reads)
	}
	if h, err := w.Kept(t.Context(), "g", deadURL); err != nil || h.Text != "kept text" {
		t.Errorf("%+v, %v", h, err)
	}
	if _, err := w.Kept(t.Context(), "brave", deadURL); err == nil || !strings.Contains(err.Error(), "a key") {
		t.Error(err)
	}
}

func TestWordsRank(t *testing.T) {
	scores, err := Words{}.Rerank(t.Context(), "honey market", []string{"rain", "the honey market", "honey"})
	if err != nil || !(scores[1] > scores[2] && scores[2] > scores[0]) {
		t.Errorf("%v, %v", scores, err)
	}
}
