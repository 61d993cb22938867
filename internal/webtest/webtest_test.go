package webtest

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/url"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"dossier/egress"
	"dossier/lang"
	"dossier/reader"
)

func TestMain(m *testing.M) {
	reader.WorkerMain()
	os.Exit(m.Run())
}

func start(t testing.TB, o Options) *Web {
	t.Helper()
	w, err := Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	return w
}

// ask sends a query with parameters to the engine.
func ask(t testing.TB, w *Web, query string, params ...string) []result {
	t.Helper()
	v := url.Values{"q": {query}, "format": {"json"}}
	for i := 0; i < len(params); i += 2 {
		v.Set(params[i], params[i+1])
	}
	var a reply
	if err := json.Unmarshal(get(t, w, v), &a); err != nil {
		t.Fatal(err)
	}
	return a.Results
}

func get(t testing.TB, w *Web, v url.Values) []byte {
	t.Helper()
	resp, err := w.HTTP().Get(w.Searx() + "/search?" + v.Encode())
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// reasonOf is why a page could not be read.
func reasonOf(err error) string {
	if about, ok := errors.AsType[*reader.Error](err); ok {
		return string(about.Reason)
	}
	return string(egress.ReasonOf(err))
}

func TestPages(t *testing.T) {
	w := start(t, Options{})
	pages := w.Pages()
	if len(pages) < 200 {
		t.Errorf("%d pages, fewer than 200", len(pages))
	}
	kinds, langs := map[Kind]int{}, map[lang.Code]int{}
	for _, p := range pages {
		kinds[p.Kind]++
		langs[p.Lang]++
		if host := hostOf(p.URL); !strings.HasSuffix(host, ".example") {
			t.Errorf("%s is not on a host of ours", p.URL)
		}
		if p.Title == "" || p.Text == "" || p.Date > Today.Format(time.DateOnly) {
			t.Errorf("%s lacks something: %q, %q", p.URL, p.Title, p.Date)
		}
	}
	for _, k := range []Kind{Article, News, FAQ, Forum, Guide, List, Table, Text, PDF, Charset, Foreign, Copy, Mirror, Outdated, Updated,
		Contradiction, Injection, Spam, Login, Dead, Unresolved, Redirect, Loop, Private, Slow, Paywall, Empty, Script, Robots, Enormous} {
		if kinds[k] == 0 {
			t.Errorf("no page of kind %s", k)
		}
	}
	for code, share := range map[lang.Code]float64{lang.English: 0.5, lang.Russian: 0.25, lang.Chinese: 0.25} {
		if got := float64(langs[code]) / float64(len(pages)); got < share-0.06 || got > share+0.06 {
			t.Errorf("%.2f of the pages are in %s, not %.2f", got, code, share)
		}
	}
	t.Logf("%d pages: %v, %v", len(pages), langs, kinds)
}

// outcome is how the reading of a page ended.
type outcome struct {
	got *reader.Fetched
	err error
}

// read reads every page, once for all tests.
var read = sync.OnceValues(func() (map[string]outcome, error) {
	w, err := Start(Options{Slow: 1})
	if err != nil {
		return nil, err
	}
	defer w.Close()
	r := reader.New(reader.Config{})
	defer r.Close()
	f := &reader.Fetcher{Client: w.Client(), Reader: r}
	all := map[string]outcome{}
	for _, p := range w.Pages() {
		got, err := f.Fetch(context.Background(), p.URL)
		all[p.URL] = outcome{got, err}
	}
	return all, nil
})

func TestRead(t *testing.T) {
	all, err := read()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range start(t, Options{Slow: 1}).Pages() {
		got, err := all[p.URL].got, all[p.URL].err
		switch {
		case err != nil && reasonOf(err) == p.Fails:
		case err != nil:
			t.Errorf("%s: %s %v", p.Kind, p.URL, err)
		case p.Fails != "":
			t.Errorf("%s: %s was read, but should fail: %s\n%s", p.Kind, p.URL, p.Fails, got.Page.Text)
		case p.Kind == Login:
		default:
			check(t, p, got)
		}
	}
}

// TestLoopback gets every page over the socket, with a client that knows
// nothing of the web but that loopback and the port are open to it.
func TestLoopback(t *testing.T) {
	w := start(t, Options{Slow: 1, Loopback: true})
	conf := w.Guard()
	conf.Dial, conf.Resolver = nil, nil
	c := egress.Guarded(conf)
	defer c.Close()
	plain := start(t, Options{Slow: 1})
	for i, p := range w.Pages() {
		got, err := c.Fetch(t.Context(), p.URL)
		reason := string(egress.ReasonOf(err))
		if reason == "" && err != nil || reason != p.Fails && p.Fails != string(reader.NoText) {
			t.Errorf("%s: %s: %v", p.Kind, p.URL, err)
			continue
		}
		if !strings.HasPrefix(p.URL, w.Searx()+"/") {
			t.Errorf("%s is not below the socket", p.URL)
		}
		if err != nil || p.Kind == PDF {
			continue
		}
		other, err := plain.Client().Fetch(t.Context(), plain.Pages()[i].URL)
		if err != nil || w.shown(string(other.Body)) != string(got.Body) {
			t.Errorf("%s differs from what is read in the other way: %v", p.URL, err)
		}
	}
}

// check holds what was read to what the page says.
func check(t *testing.T, p Page, got *reader.Fetched) {
	t.Helper()
	text := strings.Join(strings.Fields(got.Page.Text), "")
	for line := range strings.Lines(p.Text) {
		if p.Kind == Table && strings.Contains(line, " | ") || p.Kind == PDF {
			continue
		}
		if !strings.Contains(text, strings.Join(strings.Fields(line), "")) {
			t.Errorf("%s: %s lost %q in\n%s", p.Kind, p.URL, line, got.Page.Text)
			return
		}
	}
	if got.Page.Lang != string(p.Lang) && p.Kind != Spam {
		t.Errorf("%s: %s is in %s, was read as %s", p.Kind, p.URL, p.Lang, got.Page.Lang)
	}
	if p.Kind != Redirect && p.Kind != Text && p.Kind != PDF && got.Page.Date != p.Date {
		t.Errorf("%s: %s is of %s, was read as of %s", p.Kind, p.URL, p.Date, got.Page.Date)
	}
}

func TestQuestions(t *testing.T) {
	w := start(t, Options{Slow: 1})
	all, err := read()
	if err != nil {
		t.Fatal(err)
	}
	questions := w.Questions()
	var unanswerable, follow, twoHops, direct, oneHop, found int
	for _, q := range questions {
		switch {
		case q.Unanswerable:
			unanswerable++
		case q.After != "":
			follow++
		case q.Hops == 2:
			twoHops++
		}
		for _, u := range q.Pages {
			if r := all[u]; r.err != nil || !strings.Contains(r.got.Page.Text, q.Answer) {
				t.Errorf("%s: %q is not in %s", q.Text, q.Answer, u)
			}
		}
		if q.Rival != "" && !slices.ContainsFunc(w.Pages(), func(p Page) bool { return strings.Contains(p.Text, q.Rival) }) {
			t.Errorf("%s: no page says %q", q.Text, q.Rival)
		}
		if q.After != "" || q.Unanswerable {
			continue
		}
		hits := ask(t, w, q.Text)
		among := func(urls []string) bool {
			return slices.ContainsFunc(hits[:min(8, len(hits))], func(r result) bool { return slices.Contains(urls, r.URL) })
		}
		hit := among(q.Pages)
		if q.Hops == 2 && !among(q.Via) {
			t.Errorf("the first hop is not in the first 8: %s", q.Text)
		}
		switch {
		case q.Hops == 2 && hit:
			direct++
			t.Logf("one search is enough: %s", q.Text)
		case q.Hops == 1 && hit:
			oneHop, found = oneHop+1, found+1
		case q.Hops == 1:
			oneHop++
			t.Logf("not in the first 8: %s", q.Text)
		}
	}
	t.Logf("%d questions: %d unanswerable, %d follow-ups, %d of two hops, of which one search finds %d; %d of %d of one hop found in the first 8", len(questions), unanswerable, follow, twoHops, direct, found, oneHop)
	if len(questions) < 30 || unanswerable < 4 || follow < 4 || twoHops < 6 {
		t.Error("too few questions")
	}
	if found*10 < oneHop*9 {
		t.Errorf("the engine found %d of %d", found, oneHop)
	}
	if direct*2 > twoHops {
		t.Errorf("one search is enough for %d of %d questions of two hops", direct, twoHops)
	}
}

// TestTwoHops holds that no page alone answers a question of two hops.
func TestTwoHops(t *testing.T) {
	w := start(t, Options{})
	for _, q := range w.Questions() {
		for _, u := range q.Pages {
			if q.Hops == 2 && slices.Contains(q.Via, u) {
				t.Errorf("%s: %s answers it alone", q.Text, u)
			}
		}
	}
}

// TestManyAtOnce counts what many ask for at the same time.
func TestManyAtOnce(t *testing.T) {
	w := start(t, Options{Memory: true})
	const each, many = 20, 16
	var group sync.WaitGroup
	for range many {
		group.Go(func() {
			for range each {
				ask(t, w, "Keldra Bridge")
				if _, err := w.Client().Fetch(t.Context(), "http://encyclo.example/wiki/oststrand"); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	if n, m := len(w.Searches()), w.Fetches()["http://encyclo.example/wiki/oststrand"]; n != each*many || m != each*many {
		t.Errorf("counted %d searches and %d fetches", n, m)
	}
}

func TestSameOnEveryStart(t *testing.T) {
	one, err := newSite()
	if err != nil {
		t.Fatal(err)
	}
	two, err := newSite()
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range one.pages {
		if q := two.pages[i]; !reflect.DeepEqual(p, q) || one.html(p) != two.html(q) {
			t.Errorf("%s differs", p.URL)
		}
	}
	if !reflect.DeepEqual(one.questions, two.questions) {
		t.Error("the questions differ")
	}
	a, b := start(t, Options{}), start(t, Options{Memory: true})
	for _, q := range a.Questions() {
		v := url.Values{"q": {q.Text}, "format": {"json"}}
		if x, y := get(t, a, v), get(t, b, v); string(x) != string(y) {
			t.Errorf("%s:\n%s\n%s", q.Text, x, y)
		}
	}
}

func TestEngine(t *testing.T) {
	w := start(t, Options{Memory: true})
	for _, r := range ask(t, w, "Keldra Bridge мост 云汀桥", "language", "ru-RU") {
		if p := w.site.byURL[r.URL]; p.Lang != lang.Russian {
			t.Errorf("asked for Russian: %s", r.URL)
		}
	}
	for _, r := range ask(t, w, "Keldra Bridge", "time_range", "year") {
		if *r.PublishedDate < "2025-06" {
			t.Errorf("asked for a year: %s of %s", r.URL, *r.PublishedDate)
		}
	}
	first, second := ask(t, w, "Keldra Bridge"), ask(t, w, "Keldra Bridge", "pageno", "2")
	if len(first) != perPage || len(second) == 0 || first[0].URL == second[0].URL {
		t.Errorf("%d and %d results", len(first), len(second))
	}
	for _, r := range ask(t, w, "site:spam.example Oststrand") {
		if !strings.HasSuffix(hostOf(r.URL), "spam.example") {
			t.Errorf("asked for one site: %s", r.URL)
		}
	}
	if got := ask(t, w, "zzzyx qqwv"); len(got) != 0 {
		t.Errorf("found %d for nothing", len(got))
	}
	if page := string(get(t, w, url.Values{"q": {"Keldra"}})); !strings.HasPrefix(page, "<!DOCTYPE html>") {
		t.Errorf("without a format: %s", page)
	}
	if got := w.Searches(); len(got) != 7 || got[5] != "zzzyx qqwv" {
		t.Errorf("remembered %q", got)
	}
}

// Who watches hears of a visit once it is counted and before it is answered.
func TestWatch(t *testing.T) {
	var w *Web
	var seen []Visit
	w = start(t, Options{Memory: true, Watch: func(v Visit) {
		if v.Query != "" && len(w.Searches()) != 1 || v.URL != "" && w.Fetches()[v.URL] != 1 {
			t.Errorf("%+v is not counted yet", v)
		}
		seen = append(seen, v)
	}})
	for _, at := range []string{w.Searx() + "/search?q=newt&format=json", "http://encyclo.example/wiki/oststrand", "http://encyclo.example/robots.txt"} {
		resp, err := w.HTTP().Get(at)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
	}
	if want := []Visit{{Query: "newt"}, {URL: "http://encyclo.example/wiki/oststrand"}}; !slices.Equal(seen, want) {
		t.Errorf("saw %+v, not %+v", seen, want)
	}
}
