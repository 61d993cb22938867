package dossier

import (
	"maps"
	"net/url"
	"strings"
	"testing"
	"time"

	"dossier/internal/store/memory"
	"dossier/internal/webtest"
	"dossier/mode"
	"dossier/sources"
)

// onWeb are the settings for an engine whose only web is w.
func onWeb(t *testing.T, w *webtest.Web, more ...map[string]string) map[string]string {
	t.Helper()
	u, err := url.Parse(w.Searx())
	if err != nil {
		t.Fatal(err)
	}
	flags := map[string]string{
		"search.engines": "searxng", "search.searxng.base_url": w.Searx(), "search.allow_networks": "127.0.0.0/8",
		"search.allow_ports": u.Port(), "search.page_delay": "0s", "search.pages_per_site": "16", "search.browser": "false",
		"search.page_timeout": "5s", // some pages never come
	}
	for _, m := range more {
		maps.Copy(flags, m)
	}
	return flags
}

// startWeb starts the web of the tests.
func startWeb(t *testing.T, o webtest.Options) *webtest.Web {
	t.Helper()
	o.Loopback = true
	w, err := webtest.Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	return w
}

func onTheWeb(modeName, question string) Request {
	return Request{Mode: modeName, Request: mode.Request{Question: question, In: sources.Target{Web: &sources.WebScope{}}}}
}

// One-hop questions of the web are answered without a model, in three
// languages, with sentences that stand in the pages.
func TestWebWithoutAModel(t *testing.T) {
	w := startWeb(t, webtest.Options{Slow: time.Millisecond})
	e := engine(t, memory.New(memory.Options{}), onWeb(t, w))
	right, all := 0, 0
	for _, q := range w.Questions() {
		if q.After != "" || q.Hops != 1 || q.Unanswerable {
			continue
		}
		all++
		follow(t, e, onTheWeb("web_search", q.Text))
		if strings.Contains(quotes(reportOf(t, e)), q.Answer) {
			right++
		}
	}
	t.Logf("%d of %d answered", right, all)
	if right*10 < all*8 {
		t.Errorf("only %d of %d answered", right, all)
	}
}
