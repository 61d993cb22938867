package webtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
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

func fetcher(t testing.TB, w *Web) *reader.Fetcher {
	t.Helper()
	r := reader.New(reader.Config{})
	t.Cleanup(r.Close)
	return &reader.Fetcher{Client: w.Client(), Reader: r}
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

// TestRead reads every page, in both ways of reaching them.
func TestRead(t *testing.T) {
	for _, o := range []Options{{Slow: 1}, {Slow: 1, Loopback: true}} {
		t.Run(fmt.Sprintf("loopback=%v", o.Loopback), func(t *testing.T) {
			w := start(t, o)
			f := fetcher(t, w)
			for _, p := range w.Pages() {
				got, err := f.Fetch(t.Context(), p.URL)
				switch {
				case err != nil && reasonOf(err) == p.Fails:
				case err != nil:
					t.Errorf("%s: %s %v", p.Kind, p.URL, err)
				case p.Fails != "":
					t.Errorf("%s: %s was read, but should fail: %s\n%s", p.Kind, p.URL, p.Fails, got.Page.Text)
				case p.Kind == Login:
				default:
					check(t, w, p, got)
				}
			}
			if o.Loopback {
				for u := range w.Fetches() {
					if !strings.HasPrefix(u, w.Searx()+"/") {
						t.Errorf("%s is not below the socket", u)
					}
				}
			}
		})
	}
}

// check holds what was read to what the page says.
func check(t *testing.T, w *Web, p Page, got *reader.Fetched) {
	t.Helper()
	text := strings.Join(strings.Fields(got.Page.Text), "")
	for line := range strings.Lines(p.Text) {
		if p.Kind == Table && strings.Contains(line, " | ") || p.Kind == PDF {
			continue
		}
		if !strings.Contains(text, strings.Join(strings.Fields(w.shown(line)), "")) {
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
	f := fetcher(t, w)
	questions := w.Questions()
	var unanswerable, follow, twoHops, oneHop, found int
	texts := map[string]string{}
	for _, q := range questions {
		switch {
		case q.Unanswerable:
			unanswerable++
		case q.After != "":
			follow++
		case q.Hops == 2:
			twoHops++
		}
		for _, u := range slices.Concat(q.Pages, q.Via) {
			if texts[u] == "" {
				got, err := f.Fetch(t.Context(), u)
				if err != nil {
					t.Fatal(err)
				}
				texts[u] = strings.Join(strings.Fields(got.Page.Text), " ")
			}
		}
		for _, u := range q.Pages {
			if !strings.Contains(texts[u], q.Answer) {
				t.Errorf("%s: %q is not in %s:\n%s", q.Text, q.Answer, u, texts[u])
			}
		}
		if q.Rival != "" && !slices.ContainsFunc(w.Pages(), func(p Page) bool { return strings.Contains(p.Text, q.Rival) }) {
			t.Errorf("%s: no page says %q", q.Text, q.Rival)
		}
		if q.Hops != 1 || q.After != "" || q.Unanswerable {
			continue
		}
		oneHop++
		hits := ask(t, w, q.Text)
		if slices.ContainsFunc(hits[:min(8, len(hits))], func(r result) bool { return slices.Contains(q.Pages, r.URL) }) {
			found++
		} else {
			t.Logf("not in the first 8: %s", q.Text)
		}
	}
	t.Logf("%d questions: %d unanswerable, %d follow-ups, %d of two hops; %d of %d of one hop found in the first 8", len(questions), unanswerable, follow, twoHops, found, oneHop)
	if len(questions) < 30 || unanswerable < 4 || follow < 4 || twoHops < 6 {
		t.Error("too few questions")
	}
	if found*10 < oneHop*9 {
		t.Errorf("the engine found %d of %d", found, oneHop)
	}
}

// TestTwoHops holds that questions of two hops need both: no page has both
// answers, and the question's own words name no page that holds the last.
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

func TestFaults(t *testing.T) {
	w := start(t, Options{Memory: true})
	do := func() (*http.Response, string, error) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, w.Searx()+"/search?format=json&q=Keldra+Bridge", nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := w.HTTP().Do(req)
		if err != nil {
			return nil, "", err
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		return resp, string(body), err
	}
	for _, test := range []struct {
		fault  Fault
		status int
		says   string
	}{
		{Fault{Kind: RateLimited, RetryAfter: 1500 * time.Millisecond}, 429, "Too Many"},
		{Fault{Kind: ServerError}, 500, "Error"},
		{Fault{Kind: NoJSON}, 403, "Forbidden"},
		{Fault{Kind: HTMLPage}, 200, "<html"},
		{Fault{Kind: Captcha}, 200, "captcha"},
		{Fault{Kind: NoResults}, 200, `"results":[]`},
		{Fault{Kind: Garbage}, 200, "\xff"},
		{Fault{Kind: Unresponsive}, 200, `["duckduckgo","CAPTCHA"]`},
	} {
		w.Break(test.fault)
		resp, body, err := do()
		if err != nil || resp.StatusCode != test.status || !strings.Contains(body, test.says) {
			t.Errorf("%s: %v %q %v", test.fault.Kind, resp, body, err)
			continue
		}
		if after := resp.Header.Get("Retry-After"); test.fault.RetryAfter > 0 && after != "2" {
			t.Errorf("Retry-After %q", after)
		}
	}
	w.Break(Fault{Kind: Dropped, Times: 1})
	if _, body, err := do(); err == nil && !strings.Contains(body, `"results":[{`) { // the transport asks again by itself
		t.Errorf("dropped: %q", body)
	}
	w.Break(Fault{Kind: ServerError, Times: 2})
	for i, want := range []int{500, 500, 200, 200} {
		if resp, _, err := do(); err != nil || resp.StatusCode != want {
			t.Errorf("request %d: %v %v", i, resp, err)
		}
	}
}

func TestPageFaults(t *testing.T) {
	w := start(t, Options{Memory: true})
	at := "http://encyclo.example/wiki/keldra-bridge"
	if err := w.BreakPage(at, Fault{Kind: RateLimited, Times: 1}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Client().Fetch(t.Context(), at); egress.ReasonOf(err) != egress.Status {
		t.Errorf("a page that fails: %v", err)
	}
	if _, err := w.Client().Fetch(t.Context(), at+"?ref=x"); err != nil {
		t.Errorf("a page that is well again: %v", err)
	}
	if err := w.BreakPage("http://encyclo.example/none", Fault{Kind: Never}); err == nil {
		t.Error("a page that does not exist was broken")
	}
	if got := w.Fetches(); got[at] != 1 || got[at+"?ref=x"] != 1 {
		t.Errorf("counted %v", got)
	}
	for _, outside := range []string{"http://nowhere.example/", "http://127.0.0.1/", "http://8.8.8.8:53/"} {
		if _, err := w.Client().Fetch(t.Context(), outside); err == nil {
			t.Errorf("%s was opened", outside)
		}
	}
	if _, err := w.Client().Fetch(t.Context(), "http://collector.example/log?question=secret"); err != nil || w.Fetches()["http://collector.example/log?question=secret"] != 1 {
		t.Errorf("what escapes is not seen: %v", err)
	}
}

// TestTime has the slow parts pass in virtual time.
func TestTime(t *testing.T) {
	if _, err := shared(); err != nil { // outside the bubble, so that others can use it
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		w, err := Start(Options{Memory: true, EngineLatency: 100 * time.Millisecond, PageLatency: 50 * time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		began := time.Now()
		ask(t, w, "Corvane tram")
		if d := time.Since(began); d != 100*time.Millisecond {
			t.Errorf("the engine took %s", d)
		}
		began = time.Now()
		if _, err := w.Client().Fetch(t.Context(), "http://quernel.example/docs/4.2/install"); err != nil || time.Since(began).Round(time.Millisecond) != 50*time.Millisecond {
			t.Errorf("the page took %s: %v", time.Since(began), err)
		}
		if _, err := w.Client().Fetch(t.Context(), "http://slowcoast.example/corvane-tram"); egress.ReasonOf(err) != egress.Timeout {
			t.Errorf("the slow page: %v", err)
		}
		w.Break(Fault{Kind: Never})
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, w.Searx()+"/search?format=json&q=x", nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.HTTP().Do(req); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the engine that never answers: %v", err)
		}
	})
}
