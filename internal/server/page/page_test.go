package page_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"dossier"
	"dossier/internal/clienttest"
	"dossier/internal/server"
	"dossier/internal/server/internal/sitetest"
	"dossier/internal/server/page"
	"dossier/internal/studytest"
	"dossier/llm/llmtest"
	"dossier/mode"
	"dossier/mode/ingest"
	"dossier/reader"
	"dossier/reader/chromium"
	"dossier/run"
	"dossier/sources"
	"dossier/web"
)

func TestMain(m *testing.M) {
	reader.WorkerMain()
	os.Exit(m.Run())
}

type object = map[string]any

const teamQuestion = "What is known about Oststrand, its mayor, the Keldra Bridge and the Aune spotted newt?"

func served(*dossier.Engine) []server.Protocol { return []server.Protocol{page.Protocol()} }

// drive runs a script with a browser. With DOSSIER_SCREENSHOTS it leaves pictures
// of what it saw in that folder.
func drive(t *testing.T, script string, given object) {
	t.Helper()
	browser := chromium.Find()
	if browser == "" {
		t.Skip("no Chromium or Chrome is installed")
	}
	given["chromium"], given["shots"] = browser, os.Getenv("DOSSIER_SCREENSHOTS")
	raw, err := json.Marshal(given)
	if err != nil {
		t.Fatal(err)
	}
	clienttest.Node(t, filepath.Join("page", script), string(raw))
}

// Somebody asks, is asked back, changes the plan, watches the team, checks a
// sentence and takes the PDF along; a reload and a second tab show the same.
func TestMainPath(t *testing.T) {
	team := studytest.TheTeam
	team.Doubt = studytest.Doubt{Unclear: "Do you mean the town or the county?", Asks: 1}
	g := newGate(t)
	g.hold(&team)
	s := sitetest.Start(t, sitetest.Options{Script: llmtest.Script{Rules: team.Rules()}, Protocols: served, Open: true, Set: map[string]string{"deep_research.run_deep_search_first": "false"}})
	pdf := filepath.Join(t.TempDir(), "report.pdf")
	drive(t, "main.mjs", object{"url": s.URL, "gate": g.url, "question": teamQuestion, "task": "Who is the mayor of Oststrand now?", "pdf": pdf})
	saved, err := os.ReadFile(pdf)
	if err != nil || !bytes.Contains(saved, []byte("%%EOF")) {
		t.Errorf("the PDF is not whole: %v", err)
	}
}

// gate holds up whoever is at work until a script has seen that. A
// script opens it with a request to /open, closes it with one to /close, and has the
// server restarted with one to /restart, or ended before that with one to /leave.
type gate struct {
	url            string
	restart, leave func() error
	over           context.Context // that of the test

	mu   sync.Mutex
	open chan struct{}
}

func newGate(t *testing.T) *gate {
	t.Helper()
	g := &gate{open: make(chan struct{}), over: t.Context()}
	srv := httptest.NewServer(g)
	t.Cleanup(srv.Close)
	t.Cleanup(func() { g.set(true) })
	g.url = srv.URL
	return g
}

// hold has the researchers of a team wait at the gate.
func (g *gate) hold(team *studytest.Team) {
	research := *team
	team.Researcher = func(q *llmtest.Request) *llmtest.Reply {
		g.pass()
		return research.Research(q)
	}
}

// pass waits until the gate is open.
func (g *gate) pass() {
	g.mu.Lock()
	open := g.open
	g.mu.Unlock()
	select {
	case <-open:
	case <-g.over.Done():
	}
}

func (g *gate) set(open bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	select {
	case <-g.open:
		if !open {
			g.open = make(chan struct{})
		}
	default:
		if open {
			close(g.open)
		}
	}
}

func (g *gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch what := map[string]func() error{"/restart": g.restart, "/leave": g.leave}[r.URL.Path]; {
	case what != nil:
		if err := what(); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}
	default:
		g.set(r.URL.Path == "/open")
	}
}

// Models fail, the server goes away, a run has met its limits: the page says what is the
// matter and what to do, in its own language, and goes on by itself where that is possible.
func TestTroubles(t *testing.T) {
	team := studytest.TheTeam
	g := newGate(t)
	g.hold(&team)
	fails := func(words string, first int, f llmtest.Fault) llmtest.Rule {
		return llmtest.Rule{Contains: words, First: first, Fault: &f}
	}
	rules := []llmtest.Rule{
		fails("too often", 0, llmtest.Fault{Kind: llmtest.RateLimit, RetryAfter: 40 * time.Second}),
		fails("no key at all", 0, llmtest.Fault{Kind: llmtest.Auth}),
		fails("wrong key", 1, llmtest.Fault{Kind: llmtest.Auth}),
		{Contains: "wrong key", Reply: llmtest.JSON(object{"reasoning": "", "answer": "The key fits.", "key_points": []string{}})},
		{Contains: "point by point", Reply: llmtest.JSON(object{"reasoning": "From what **harbours** are.", "answer": "Ships rest in it.", "key_points": []string{"It is calm."}})},
	}
	s := sitetest.Start(t, sitetest.Options{
		Script: llmtest.Script{Rules: append(rules, team.Rules()...)}, Protocols: served, Open: true, Set: map[string]string{"deep_research.run_deep_search_first": "false"},
	})
	g.restart, g.leave = s.Restart, s.Leave
	drive(t, "troubles.mjs", object{"url": s.URL, "gate": g.url, "question": teamQuestion})
}

// Everything that can be chosen before a question is asked reaches the server.
func TestAsk(t *testing.T) {
	s := sitetest.Start(t, sitetest.Options{Protocols: served, Open: true, Set: map[string]string{"search.engines": "searxng,wikipedia"}})
	for name, tags := range map[string][]string{"papers": {"sea"}, "letters": {"sea", "old"}, "laws": nil} {
		if _, err := s.Engine.CreateCollection(t.Context(), dossier.NewCollection{Name: name, Tags: tags}); err != nil {
			t.Fatal(err)
		}
	}
	drive(t, "ask.mjs", object{"url": s.URL})
}

// Events that nobody knows, and answers of the server with nothing in them, do no harm.
func TestStrange(t *testing.T) {
	s := sitetest.Start(t, sitetest.Options{Protocols: served, Open: true})
	drive(t, "strange.mjs", object{"url": s.URL})
}

// A run is paused, resumed and told to finish from the page, and the server is
// restarted under it, with the engine: nothing is lost, and nothing is shown twice.
func TestControls(t *testing.T) {
	team := studytest.TheTeam
	g := newGate(t)
	g.hold(&team)
	s := sitetest.Start(t, sitetest.Options{Script: llmtest.Script{Rules: team.Rules()}, Protocols: served, Open: true, Set: map[string]string{"deep_research.run_deep_search_first": "false"}})
	g.restart = func() error { return s.Reopen(t.Context()) }
	rec, err := s.Engine.Start(t.Context(), dossier.Request{Mode: "deep_research", Request: mode.Request{Question: teamQuestion, NoInput: true, In: sources.Target{Web: &sources.WebScope{}}}})
	if err != nil {
		t.Fatal(err)
	}
	drive(t, "controls.mjs", object{"url": s.URL, "gate": g.url, "run": rec.ID, "question": teamQuestion})
}

// A finished report is tagged, edited, checked, bundled, taken in, asked again, forked
// and compared, and all of it is fit to be seen.
func TestLibrary(t *testing.T) {
	s, id := oststrand(t)
	drive(t, "library.mjs", object{"url": s.URL, "run": id})
}

func aboutOststrand() dossier.Request {
	return dossier.Request{Mode: "deep_research", Request: mode.Request{Question: studytest.TownQuestion, NoInput: true, In: sources.Target{Web: &sources.WebScope{}}}}
}

// oststrand is a site with a research that is done.
func oststrand(t *testing.T) (*sitetest.Site, string) {
	t.Helper()
	s := sitetest.Start(t, sitetest.Options{Script: llmtest.Script{Rules: studytest.TownScholar.Rules()}, Protocols: served, Open: true, Set: map[string]string{"deep_research.engine": "loop"}})
	rec, err := s.Engine.Start(t.Context(), aboutOststrand())
	if err != nil {
		t.Fatal(err)
	}
	until(t, s, rec.ID)
	return s, rec.ID
}

// What TestLibrary goes through is fit to be seen.
func TestLibraryLooks(t *testing.T) {
	s, first := oststrand(t)
	rep, err := s.Engine.Report(t.Context(), first)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Engine.EditReport(t.Context(), first, dossier.ReportChange{Part: "summary", Before: rep.Summary, After: rep.Summary + " The bridge is made of cheese."}); err != nil {
		t.Fatal(err)
	}
	again, err := s.Engine.Start(t.Context(), aboutOststrand())
	if err != nil {
		t.Fatal(err)
	}
	until(t, s, again.ID)
	if _, err := s.Engine.Tag(t.Context(), again.ID, []string{"bridges", "for the talk on harbours"}); err != nil {
		t.Fatal(err)
	}
	for _, code := range []string{"en", "ru", "zh"} {
		t.Run(code, func(t *testing.T) {
			drive(t, "library-looks.mjs", object{"url": s.URL, "run": first, "other": again.ID, "lang": code})
		})
	}
}

// Without a model the same path leads to quotations, and the page says so.
func TestWithoutModel(t *testing.T) {
	s := quoting(t)
	// Sources that disagree about what is asked; the report has what it read of them.
	done(t, s, dossier.Request{Mode: ingest.Name, Request: mode.Request{Question: "read", In: sources.Target{Paths: []string{"../../../testdata/library"}, Collection: "towers"}}})
	disputed := done(t, s, dossier.Request{Mode: "web_search", Request: mode.Request{Question: "How high is the tower of the lighthouse?", In: sources.Target{Collection: "towers"}}})
	if err := s.Engine.DeleteCollection(t.Context(), "towers"); err != nil {
		t.Fatal(err)
	}
	drive(t, "quotes.mjs", object{"url": s.URL, "disputed": disputed, "question": "Where is the lamp kept?", "collection": "papers", "words": "The lamp is kept in the tower by the old harbour."})
}

// Each screen is fit to be seen in all languages, colours and widths.
func TestLooks(t *testing.T) {
	s := quoting(t)
	asked := done(t, s, dossier.Request{Mode: "deep_search", Request: mode.Request{Question: "Where is the lamp kept?", In: sources.Target{Collection: "papers"}}})
	fleetOf(t, s)
	for _, lang := range []string{"en", "ru", "zh"} {
		for _, dark := range []bool{false, true} {
			drive(t, "looks.mjs", object{"url": s.URL, "run": asked, "lang": lang, "dark": dark})
		}
	}
}

// So are collections and lists.
func TestLooksOfLists(t *testing.T) {
	s := quoting(t)
	if _, err := s.Engine.TagCollection(t.Context(), "papers", []string{"sea", "право", "港口"}); err != nil {
		t.Fatal(err)
	}
	done(t, s, dossier.Request{Mode: "deep_search", Request: mode.Request{Question: "Where is the lamp kept?", In: sources.Target{Collection: "papers"}}})
	drive(t, "looks-lists.mjs", object{"url": s.URL})
}

// A conversation of three turns, with a question that is asked anew in a branch:
// what was said before goes along, and the conversation itself stays as it was.
func TestConversation(t *testing.T) {
	s := sitetest.Start(t, sitetest.Options{Protocols: served, Open: true})
	drive(t, "talk.mjs", object{"url": s.URL})
	calls := s.Model.Calls()
	heard := func(question string) string {
		t.Helper()
		for _, c := range calls {
			if c.Request != nil && c.Request.Question() == question {
				var all []string
				for _, m := range c.Request.Messages[1:] {
					all = append(all, m.Content)
				}
				return strings.Join(all, "\n")
			}
		}
		t.Fatalf("the model was never asked %q", question)
		return ""
	}
	if said := heard("third question"); !strings.Contains(said, "first question") || !strings.Contains(said, "second question") {
		t.Errorf("the third turn knows %q", said)
	}
	if said := heard("second, said better"); !strings.Contains(said, "first question") || strings.Contains(said, "third") {
		t.Errorf("the branch knows %q", said)
	}
	if said := heard("and in the branch?"); !strings.Contains(said, "first question") || !strings.Contains(said, "second, said better") {
		t.Errorf("the next turn of the branch knows %q", said)
	}
}

// Screens and languages are loaded when they are needed. One that does not come, or
// is of another build than the page, says what to do, and none is mixed in.
func TestParts(t *testing.T) {
	s := sitetest.Start(t, sitetest.Options{Protocols: served, Open: true})
	drive(t, "parts.mjs", object{"url": s.URL})
}

// Where a server asks for a token the page does too, and with it shows what is that
// user's and nothing else.
func TestToken(t *testing.T) {
	s := sitetest.Start(t, sitetest.Options{Protocols: served})
	drive(t, "token.mjs", object{"url": s.URL, "ann": s.Ann, "bob": s.Bob})
}

// Whatever models, pages, files and tools say: nothing of it runs, and nothing is
// asked of anybody.
func TestWordsOfOthersAreText(t *testing.T) {
	s := sitetest.Start(t, sitetest.Options{Protocols: served, Open: true})
	drive(t, "xss.mjs", object{"url": s.URL})
}

// quoting is a site without a model and with one collection.
func quoting(t *testing.T) *sitetest.Site {
	t.Helper()
	s := sitetest.Start(t, sitetest.Options{Protocols: served, Open: true, Set: map[string]string{"models.default.base_url": "", "models.default.model": ""}})
	dir := t.TempDir()
	note := "# The lamp\n\nMany ask about it.\n\nThe lamp is kept in the tower by the old harbour. It was lit in 1871 and weighs 40 kg.\n"
	if err := os.WriteFile(filepath.Join(dir, "lamp.md"), []byte(note), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "broken.pdf"), []byte("%PDF-1.7 and then nothing of one"), 0o600); err != nil {
		t.Fatal(err)
	}
	done(t, s, dossier.Request{Mode: ingest.Name, Request: mode.Request{Question: "read", In: sources.Target{Paths: []string{dir}, Collection: "papers"}}})
	return s
}

// done has a request worked on, and returns the run.
func done(t *testing.T, s *sitetest.Site, r dossier.Request) string {
	t.Helper()
	rec, err := s.Engine.Start(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	until(t, s, rec.ID)
	return rec.ID
}

// until waits for the end of a run.
func until(t *testing.T, s *sitetest.Site, id string) {
	t.Helper()
	for _, err := range s.Engine.Events(t.Context(), id, 0) {
		if err != nil {
			t.Fatal(err)
		}
	}
	if rec, err := s.Engine.Get(t.Context(), id); err != nil || rec.Status != run.Done {
		t.Fatalf("run %s is %s: %v", id, rec.Status, err)
	}
}

// The page is found at its own places, with a policy under which nothing but it
// runs; whatever else there is not stays a problem in JSON.
func TestServed(t *testing.T) {
	handler, closing := server.NewHandler(server.Options{Engine: (*dossier.Engine)(nil), Protocols: served(nil)})
	defer closing()
	srv := httptest.NewServer(handler)
	defer srv.Close()
	get := func(path string, header ...string) (*http.Response, string) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, srv.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i+1 < len(header); i += 2 {
			req.Header.Set(header[i], header[i+1])
		}
		resp, err := http.DefaultTransport.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp, string(body)
	}
	for _, path := range []string{"/", "/run/1m7en6c281wr45xt", "/run/x/source/3?at=1-2", "/library", "/settings"} {
		resp, body := get(path)
		policy := resp.Header.Get("Content-Security-Policy")
		if resp.StatusCode != http.StatusOK || !strings.Contains(body, "/page/app.js") || policy != web.Policy || strings.Contains(policy, "unsafe") {
			t.Errorf("%s: %s %s", path, resp.Status, policy)
		}
		if strings.Contains(body, "<style") || strings.Contains(body, " style=") || strings.Count(body, "<script") != 1 {
			t.Errorf("%s has something inline:\n%s", path, body)
		}
	}
	if web.Assets()["screens.js"] == nil || web.Assets()["zh.json"] == nil {
		t.Errorf("the page has only %v", slices.Sorted(maps.Keys(web.Assets())))
	}
	for name := range web.Assets() {
		resp, _ := get("/page/"+name, "Accept-Encoding", "gzip")
		tag := resp.Header.Get("ETag")
		if resp.StatusCode != http.StatusOK || tag == "" || resp.Header.Get("Content-Encoding") != "gzip" {
			t.Errorf("%s: %s %v", name, resp.Status, resp.Header)
		}
		if again, body := get("/page/"+name, "If-None-Match", tag); again.StatusCode != http.StatusNotModified || body != "" {
			t.Errorf("%s again: %s", name, again.Status)
		}
	}
	for _, path := range []string{"/nothing", "/api/nothing", "/page/nothing.js", "/page/"} {
		if resp, body := get(path); resp.StatusCode != http.StatusNotFound || !strings.Contains(body, "no_route") {
			t.Errorf("%s: %s %s", path, resp.Status, body)
		}
	}
}
