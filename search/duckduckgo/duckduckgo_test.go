package duckduckgo_test

import (
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"dossier/search"
	"dossier/search/duckduckgo"
	"dossier/search/searchtest"
)

func samples(n int) []search.Hit {
	hits := searchtest.Samples(n)
	for i := range hits {
		if i%2 == 1 {
			hits[i].Date = "2025-06-23"
		}
	}
	return hits
}

const (
	head = `<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Transitional//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml1-transitional.dtd">
<!--[if gt IE 8]><!--><html xmlns="http://www.w3.org/1999/xhtml"><!--<![endif]-->
<head><meta http-equiv="content-type" content="text/html; charset=UTF-8" /><title>bees at DuckDuckGo</title></head>
<body class="body--html"><form name="x" class="header__form" action="/html/" method="post"><input name="q" class="search__input" type="text" value="bees" />
<select name="kl"><option value="" >All Regions</option><option value="ru-ru" >Russia</option></select></form>
<!-- Web results are present -->
<div><div class="serp__results"><div id="links" class="results">
`
	advert = `<div class="result results_links results_links_deep result--ad "><div class="links_main links_deep result__body">
<h2 class="result__title"><a rel="nofollow" class="result__a" href="https://duckduckgo.com/y.js?ad_domain=shop.example&amp;ad_provider=bingv7aa">Buy honey</a></h2>
<a class="result__snippet" href="https://duckduckgo.com/y.js?ad_domain=shop.example">Cheap.</a></div></div>
`
	noResult = `<div class="result results_links results_links_deep web-result result--no-result"><div class="links_main links_deep result__body">
<h2 class="result__title"></h2><div class="no-results">No results.</div>
<div class="result__extras"><div class="result__extras__url"><span class="result__icon"></span><a class="result__url" href=""></a></div></div></div></div>
`
	foot = `<div class="nav-link"><form action="/html/" method="post"><input type="submit" class='btn btn--alt' value="Next" /><input type="hidden" name="vqd" value="4-123" /></form></div>
<div class=" feedback-btn"><a rel="nofollow" href="//duckduckgo.com/feedback.html" target="_new">Feedback</a></div></div></div></div></body></html>
`
)

// result is as the service writes one. Every other address is behind the one
// that counts clicks.
func result(i int, h search.Hit) string {
	href := h.URL
	if i%2 == 0 {
		href = "//duckduckgo.com/l/?uddg=" + url.QueryEscape(h.URL) + "&rut=5d83a9"
	}
	href = html.EscapeString(href)
	date := ""
	if h.Date != "" {
		date = "<span>&nbsp; &nbsp; " + h.Date + "T00:00:00.0000000</span>"
	}
	first, rest, _ := strings.Cut(h.Snippet, " ")
	return fmt.Sprintf(`<div class="result results_links results_links_deep web-result ">
          <div class="links_main links_deep result__body"> <!-- This is the visible part -->
          <h2 class="result__title">

            <a rel="nofollow" class="result__a" href="%s">%s</a>

          </h2>
            <div class="result__extras"><div class="result__extras__url">
                  <span class="result__icon"><a rel="nofollow" href="%s"><img class="result__icon__img" width="16" height="16" alt="" src="//external-content.duckduckgo.com/ip3/x.ico" name="i15" /></a></span>
                  <a class="result__url" href="%s">
                  site.example/path
                  </a>
                  %s
            </div></div>
            <a class="result__snippet" href="%s"><b>%s</b> %s</a>
            <div class="clear"></div></div></div>
`, href, html.EscapeString(h.Title), href, href, date, href, html.EscapeString(first), html.EscapeString(rest))
}

func page(hits []search.Hit) string {
	var out strings.Builder
	out.WriteString(head + advert)
	for i, h := range hits {
		out.WriteString(result(i, h))
	}
	if len(hits) == 0 {
		out.WriteString(noResult)
	}
	out.WriteString(foot)
	return out.String()
}

func TestEngine(t *testing.T) {
	searchtest.Run(t, searchtest.Spec{
		New: func(_ *testing.T, base string) search.Engine {
			return duckduckgo.New(http.DefaultClient, duckduckgo.Config{URL: base})
		},
		Serve: func(w http.ResponseWriter, r *http.Request, hits []search.Hit) {
			if r.Method != http.MethodPost || r.URL.Path != "/html/" {
				http.NotFound(w, r)
				return
			}
			w.Header().Set("Content-Type", "text/html; charset=UTF-8")
			fmt.Fprint(w, page(hits))
		},
		Query: func(r *http.Request) string { return r.PostFormValue("q") },
		Hits:  samples,
	})
}

func serve(t *testing.T, h http.HandlerFunc) *duckduckgo.Engine {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return duckduckgo.New(server.Client(), duckduckgo.Config{URL: server.URL})
}

func TestRequest(t *testing.T) {
	var got url.Values
	e := serve(t, func(w http.ResponseWriter, r *http.Request) {
		_ = r.ParseForm()
		got = r.PostForm
		fmt.Fprint(w, page(samples(1)))
	})
	for name, c := range map[string]struct {
		query search.Query
		want  url.Values
	}{
		"plain": {search.Query{Text: "bees"}, url.Values{"q": {"bees"}, "b": {""}, "kl": {""}}},
		"all": {
			search.Query{Text: "bees", Lang: "ru", Sites: []string{"a.example"}, Since: time.Now().Add(-20 * 24 * time.Hour), Until: time.Now()},
			url.Values{"q": {"bees site:a.example"}, "b": {""}, "kl": {"ru-ru"}, "df": {"m"}},
		},
		"Chinese":         {search.Query{Text: "蜂蜜", Lang: "zh"}, url.Values{"q": {"蜂蜜"}, "b": {""}, "kl": {"cn-zh"}}},
		"no other engine": {search.Query{Text: `!g bees \first wow!`}, url.Values{"q": {`"!g" bees "\first" wow!`}, "b": {""}, "kl": {""}}},
	} {
		if _, err := e.Search(t.Context(), c.query); err != nil || got.Encode() != c.want.Encode() {
			t.Errorf("%s: %v, not %v; %v", name, got, c.want, err)
		}
	}
	got = nil
	if _, err := e.Search(t.Context(), search.Query{Text: strings.Repeat("ж", 500)}); search.ReasonOf(err) != search.Rejected || got != nil {
		t.Error(err)
	}
}

const challenge = `<div class="anomaly-modal__mask"><div class="anomaly-modal__modal"><div class="anomaly-modal__title">Unfortunately, bots use DuckDuckGo too.</div>
<form id="challenge-form" action="//duckduckgo.com/anomaly.js?sv=html" method="POST"></form></div></div>`

func TestPages(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		body   string
		hits   int
		reason search.Reason
	}{
		"challenge":               {202, head + challenge + foot, 0, search.Blocked},
		"challenge, as a success": {200, head + challenge + foot, 0, search.Blocked},
		"nothing":                 {200, head + noResult + foot, 0, ""},
		"nothing more":            {200, head + result(0, search.Hit{URL: "http://www.google.com/search?hl=en&q=bees", Title: "EOF"}) + noResult + foot, 0, ""},
		"only adverts":            {200, head + advert + foot, 0, search.Malformed},
		"another markup":          {200, strings.ReplaceAll(page(samples(3)), "result__a", "result__link"), 0, search.Malformed},
		"the form alone":          {200, head + foot, 0, search.Malformed},
		// Results about robots are results.
		"talk of captchas": {200, page([]search.Hit{{URL: "https://a.example/", Title: "CAPTCHA", Snippet: "I am not a robot: unusual traffic"}}), 1, ""},
	} {
		e := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(c.status)
			fmt.Fprint(w, c.body)
		})
		hits, err := e.Search(t.Context(), search.Query{Text: "bees"})
		if len(hits) != c.hits || search.ReasonOf(err) != c.reason {
			t.Errorf("%s: %+v, %v", name, hits, err)
		}
	}
}

func TestAddresses(t *testing.T) {
	for href, want := range map[string]string{
		"https://a.example/?q=1": "https://a.example/?q=1",
		"//duckduckgo.com/l/?uddg=https%3A%2F%2Fa.example%2F%3Fq%3D1&rut=x":   "https://a.example/?q=1",
		"https://duckduckgo.com/l/?uddg=https%3A%2F%2Fa.example%2F":           "https://a.example/",
		"//duckduckgo.com/l/?kh=-1&uddg=https%3A%2F%2Fru.example%2F%D0%BC%5F": "https://ru.example/м_",
		"https://duckduckgo.com/about":                                        "https://duckduckgo.com/about",
		"https://duckduckgo.com.evil.example/l/?uddg=x":                       "https://duckduckgo.com.evil.example/l/?uddg=x",
		"https://duckduckgo.com/y.js?ad_domain=shop.example":                  "",
		"//duckduckgo.com/l/?rut=x":                                           "",
		"":                                                                    "",
	} {
		body := head + result(1, search.Hit{URL: href, Title: "A"}) + result(1, search.Hit{URL: "https://last.example/", Title: "B"}) + foot
		e := serve(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, body) })
		hits, err := e.Search(t.Context(), search.Query{Text: "bees"})
		if err != nil {
			t.Fatal(err)
		}
		if got := hits[0].URL; want == "" && len(hits) != 1 || want != "" && got != want {
			t.Errorf("%q is %q, not %q", href, got, want)
		}
	}
}

// reply answers every request with itself.
type reply string

func (body reply) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(string(body)))}, nil
}

func FuzzPage(f *testing.F) {
	f.Add(page(samples(3)))
	f.Add(page(nil))
	f.Add(head + challenge + foot)
	f.Add(`<span class=result__extras__url>`)
	f.Fuzz(func(t *testing.T, in string) {
		e := duckduckgo.New(&http.Client{Transport: reply(in)}, duckduckgo.Config{})
		hits, err := e.Search(t.Context(), search.Query{Text: "bees", Limit: 5})
		if len(hits) > 5 || err == nil && len(hits) == 0 && !strings.Contains(html.UnescapeString(in), "no-results") {
			t.Errorf("%d hits, %v", len(hits), err)
		}
		for _, h := range hits {
			if h.URL == "" {
				t.Errorf("%+v", h)
			}
		}
	})
}
