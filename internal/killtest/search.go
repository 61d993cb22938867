package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"dossier/agent"
	"dossier/event"
	"dossier/internal/agenttest"
	"dossier/internal/store"
	"dossier/internal/store/sqlite"
	"dossier/internal/webtest"
	"dossier/llm/llmtest"
	"dossier/run"
)

// A search of the web: a question in two parts, of which one has no answer, so
// that there is a second round, and an answer with a sentence that no source
// bears out, so that it is judged and rewritten.
const (
	searchQuestion = "How many years does an Aune spotted newt live, and who is the mayor of Veyholm?"
	searchAnswer   = "An Aune spotted newt lives for up to 11 years [1]. The newts of the Aune speak Latin with each other [1]."
)

func searchScript() llmtest.Script {
	facet := func(title string, queries ...string) any { return map[string]any{"title": title, "queries": queries} }
	followUp := func(query string) any { return map[string]any{"facet": 2, "query": query} }
	return llmtest.Script{Rules: []llmtest.Rule{
		{Schema: "plan", Reply: llmtest.JSON(map[string]any{"question": searchQuestion, "facets": []any{
			facet("How many years does an Aune spotted newt live?", "Aune spotted newt age"),
			facet("Who is the mayor of Veyholm?", "mayor of Veyholm"),
		}})},
		{Schema: "ranked_list", Reply: llmtest.JSON(map[string]any{"parts": []any{}})},
		{Schema: "follow_up_list", Reply: llmtest.JSON(map[string]any{"reason": "The mayor is not named.", "enough": false, "queries": []any{followUp("Veyholm council"), followUp("Veyholm island"), followUp("Aune newt pools")}})},
		{Schema: "note", Reply: llmtest.JSON(map[string]any{"relevant": true, "summary": "It is about newts.", "quotes": []string{}})},
		{Schema: "synthesized_answer", Reply: llmtest.JSON(map[string]any{"reasoning": "", "answer": searchAnswer, "key_points": []string{}, "unanswered": false})},
		{Schema: "judgements", Reply: llmtest.JSON(map[string]any{"judgements": []any{map[string]any{"claim": 1, "verdict": "unsupported", "passage": 0}}})},
		{Schema: "rewritten", Reply: llmtest.JSON(map[string]any{"answer": searchAnswer + " Its pools lie on the river Aune [1]."})},
	}}
}

// schemaOf is what the model is asked for in the steps that ask it.
var schemaOf = map[string]string{
	"plan": "plan", "rerank": "ranked_list", "followups": "follow_up_list", "note": "note",
	"answer": "synthesized_answer", "judge": "judgements", "rewrite": "rewritten",
}

// errand is what children are killed at.
type errand struct {
	name string // of its folders
	searching
	script func() llmtest.Script
	// asks are the kinds of calls that the model has to get; call and step tell
	// of a call, and of a recorded step, which kind it is of, "" for none.
	asks []string
	call func(c llmtest.Call) string
	step func(name string) string
}

// searches are the modes that search the web.
func searches() []errand {
	var out []errand
	for _, mode := range []string{"web_search", "deep_search"} {
		out = append(out, errand{
			name: mode, searching: searching{Mode: mode, Question: searchQuestion}, script: searchScript,
			asks: slices.Sorted(maps.Values(schemaOf)),
			call: func(c llmtest.Call) string { return c.Schema },
			step: func(name string) string { return schemaOf[name] },
		})
	}
	return out
}

// agentsAtWork is a piece of research by an agent with each of the deciders.
func agentsAtWork() []errand {
	var out []errand
	for name, decider := range map[string]agent.DeciderName{
		"research_sgr_agent": agent.SGR, "research_tool_calling_agent": agent.Native, "research_sgr_tool_calling_agent": agent.Hybrid,
		"research_iron_agent": agent.Iron, "research_react_agent": agent.ReAct,
	} {
		out = append(out, errand{
			name: string(decider), searching: searching{Mode: "agent", Agent: name, Question: agenttest.Task, Reply: agenttest.Reply},
			script: func() llmtest.Script { return agenttest.Script(decider) },
			asks:   []string{"model"},
			call:   func(llmtest.Call) string { return "model" },
			step: func(name string) string {
				if decision.MatchString(name) {
					return "model"
				}
				return ""
			},
		})
	}
	slices.SortFunc(out, func(a, b errand) int { return strings.Compare(a.name, b.name) })
	return out
}

// decision is a step in which an agent asks its model.
var decision = regexp.MustCompile(`^(?:reason|select|generate)-\d+$|^(?:judge|rewrite)$`)

// outside is the web and the model of one child after the other. Each child has
// a model of its own: calls of a killed one may arrive late.
type outside struct {
	errand
	web   *webtest.Web
	at    int           // the call at which to stop; 0 is none
	there chan struct{} // closed when it has come
	gone  chan struct{} // closed when the child is dead

	mu    sync.Mutex
	calls int
}

func newOutside(e errand, at int) (*outside, error) {
	o := &outside{errand: e, at: at, there: make(chan struct{}), gone: make(chan struct{})}
	var err error
	o.web, err = webtest.Start(webtest.Options{Loopback: true, Watch: func(webtest.Visit) { o.called() }})
	return o, err
}

// called counts a call and holds the one at which the child is to die.
func (o *outside) called() {
	o.mu.Lock()
	o.calls++
	here := o.calls == o.at
	o.mu.Unlock()
	if here {
		close(o.there)
		<-o.gone
	}
}

func (o *outside) count() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.calls
}

// model starts a scripted model.
func (o *outside) model() (*llmtest.Server, *httptest.Server) {
	srv := llmtest.New(o.script())
	return srv, httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			o.called()
		}
		srv.ServeHTTP(w, r)
	}))
}

// order is what a child is told: nothing that it has found or read is kept
// beside the journal, so that a repetition would be seen.
func (o *outside) order(dir, model string) order {
	u, err := url.Parse(o.web.Searx())
	if err != nil {
		panic(err) // it listens there
	}
	told := o.searching
	told.Set = map[string]string{
		"models.default.base_url": model + "/v1", "models.default.model": "scripted",
		"search.engines": "searxng", "search.searxng.base_url": o.web.Searx(), "search.cache_ttl": "0s", "search.browser": "false",
		"search.allow_networks": "127.0.0.0/8", "search.allow_ports": u.Port(), "search.page_delay": "0s", "search.pages_per_site": "16",
	}
	return order{Dir: dir, Search: &told}
}

// searched is what a run of a database and those it asked have to say.
type searched struct {
	told    string              // its events, the answer among them, as they would be on any day at any port
	calls   map[string]int      // of the last child's model, by kind
	queries map[string]int      // how often each was put to the engine
	pages   map[string]int      // how often each was asked for
	byStep  map[string]string   // query of a step
	readBy  map[string][]string // pages of a step
}

// search has children carry out each errand and kills each child at another of
// its calls: the first at its first, and so on to the last. Another child goes
// on.
func (t *test) search(ctx context.Context, errands []errand) (bool, error) {
	planned, kills, repeats, unequal := 0, 0, 0, 0
	for _, e := range errands {
		mode := e.name
		calm, total, err := t.searchInPeace(ctx, e)
		if err != nil {
			return false, fmt.Errorf("%s: %w", mode, err)
		}
		for i, v := range t.searchesKilled(ctx, e, total, calm) {
			if v.err != nil {
				return false, fmt.Errorf("%s killed at call %d: %w", mode, i+1, v.err)
			}
			if v.other != "" {
				unequal++
				fmt.Fprintf(t.out, "%s killed at call %d, the run says otherwise: %s\n", mode, i+1, v.other)
			}
			for _, line := range v.again {
				fmt.Fprintf(t.out, "%s killed at call %d: %s\n", mode, i+1, line)
			}
			planned, repeats = planned+1, repeats+len(v.again)
			if !v.late {
				kills++
			}
		}
		fmt.Fprintf(t.out, "%s: %d calls of the model, %d of the engine, %d of pages, killed at each\n", mode, sum(calm.calls), sum(calm.queries), sum(calm.pages))
	}
	fmt.Fprintf(t.out, "kills=%d repeated=%d answers_equal=%t\n", kills, repeats, unequal == 0)
	// The undisturbed run of a busy machine repeats calls that were answered too
	// late, so the last kills may come after the end; most must not.
	return repeats == 0 && unequal == 0 && kills > 0 && kills*10 >= planned*8, nil
}

// searchVerdict is what came of one kill: what was done again although it had
// been recorded, and the first thing that the run says otherwise than the calm
// one.
type searchVerdict struct {
	again []string
	other string
	late  bool // the child had ended before
	err   error
}

// searchesKilled kills a child at each of so many calls, a few at a time.
func (t *test) searchesKilled(ctx context.Context, e errand, calls int, calm *searched) []searchVerdict {
	errs := t.errs
	t.errs = &locked{w: errs}
	defer func() { t.errs = errs }()
	out := make([]searchVerdict, calls)
	next := make(chan int)
	var wg sync.WaitGroup
	for range concurrent {
		wg.Go(func() {
			for n := range next {
				v := &out[n-1]
				*v = t.searchKilledAt(ctx, e, n, calm)
			}
		})
	}
	for n := range calls {
		next <- n + 1
	}
	close(next)
	wg.Wait()
	return out
}

// locked is a writer for several children at once.
type locked struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *locked) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}

func sum(counts map[string]int) int {
	n := 0
	for _, c := range counts {
		n += c
	}
	return n
}

// searchInPeace returns what an undisturbed run says, and how many calls it
// makes.
func (t *test) searchInPeace(ctx context.Context, e errand) (*searched, int, error) {
	o, err := newOutside(e, 0)
	if err != nil {
		return nil, 0, err
	}
	defer o.web.Close()
	srv, http := o.model()
	defer http.Close()
	dir := filepath.Join(t.dir, e.name+"-calm")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, 0, err
	}
	if err := t.finish(ctx, o.order(dir, http.URL)); err != nil {
		return nil, 0, err
	}
	calm, err := look(ctx, dir, o, srv)
	if err != nil {
		return nil, 0, err
	}
	for _, kind := range e.asks {
		if calm.calls[kind] == 0 {
			return nil, 0, fmt.Errorf("the run does not ask its model for a %s", kind)
		}
	}
	return calm, o.count(), nil
}

// searchKilledAt kills a child at its n-th call and has another go on.
func (t *test) searchKilledAt(ctx context.Context, e errand, n int, calm *searched) (v searchVerdict) {
	failed := func(err error) searchVerdict { return searchVerdict{err: err} }
	o, err := newOutside(e, n)
	if err != nil {
		return failed(err)
	}
	defer o.web.Close()
	_, first := o.model()
	defer first.Close()
	dir := filepath.Join(t.dir, fmt.Sprintf("%s-%d", e.name, n))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return failed(err)
	}
	cmd, said, err := t.start(ctx, o.order(dir, first.URL))
	if err != nil {
		return failed(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for range said {
		}
	}()
	select {
	case <-o.there:
	case <-ended:
		close(o.gone)
		if err := cmd.Wait(); err != nil {
			return failed(fmt.Errorf("the child ended by itself: %w", err))
		}
		return searchVerdict{late: true}
	}
	if err := kill(cmd); err != nil {
		return failed(err)
	}
	close(o.gone)
	recorded, err := entries(ctx, dir)
	if err != nil {
		return failed(err)
	}
	srv, later := o.model()
	defer later.Close()
	if err := t.finish(ctx, o.order(dir, later.URL)); err != nil {
		return failed(err)
	}
	got, err := look(ctx, dir, o, srv)
	if err != nil {
		return failed(err)
	}
	return searchVerdict{again: repeated(e, recorded, got, calm), other: differs(got.told, calm.told)}
}

// differs is the first line of a text that another has not in its place.
func differs(got, want string) string {
	there := strings.Split(want, "\n")
	for i, line := range strings.Split(got, "\n") {
		if i >= len(there) || line != there[i] {
			return line
		}
	}
	if len(got) < len(want) {
		return "it ends early"
	}
	return ""
}

// entries are those of the run of a directory.
func entries(ctx context.Context, dir string) ([]run.Entry, error) {
	var out []run.Entry
	err := within(ctx, dir, func(s *sqlite.Store, rec run.Record) error {
		h, err := s.History(ctx, rec.ID)
		if err == nil {
			out = h.Entries
		}
		return err
	})
	return out, err
}

// within opens the database of a directory with one run.
func within(ctx context.Context, dir string, do func(s *sqlite.Store, rec run.Record) error) error {
	s, err := sqlite.Open(filepath.Join(dir, "dossier.db"), sqlite.Options{})
	if err != nil {
		return err
	}
	defer s.Close()
	all, err := s.List(ctx, store.Filter{Limit: 2})
	if err != nil {
		return err
	}
	if len(all) != 1 {
		return fmt.Errorf("%d runs in the database, not 1", len(all))
	}
	return do(s, all[0])
}

var (
	snapshot = regexp.MustCompile(`sha256-[0-9a-f]{64}`)
	callID   = regexp.MustCompile(`call_[0-9a-f]{16,}`)                           // of the scripted model: a hash of the request
	agentID  = regexp.MustCompile(`_[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}`) // of the run
	moment   = regexp.MustCompile(`\d{8}_\d{6}_|\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d:\d\d(?:\.\d+)?Z?)?`)
)

// spoken is an event as it would be on any day at any port.
func spoken(e event.Event, normal *strings.Replacer) (string, error) {
	data, err := event.EncodeData(e.Data)
	if err != nil {
		return "", err
	}
	// Pages name addresses of this web, and so its port.
	line := snapshot.ReplaceAllString(normal.Replace(fmt.Sprintf("%s %s\n", e.Kind(), data)), "HASH")
	line = agentID.ReplaceAllString(callID.ReplaceAllString(line, "CALL"), "_UUID")
	return moment.ReplaceAllString(line, "TIME"), nil
}

// look reads what became of a run.
func look(ctx context.Context, dir string, o *outside, srv *llmtest.Server) (*searched, error) {
	u, err := url.Parse(o.web.Searx())
	if err != nil {
		return nil, err
	}
	g := &searched{calls: make(map[string]int), queries: make(map[string]int), pages: make(map[string]int), byStep: make(map[string]string), readBy: make(map[string][]string)}
	for _, c := range srv.Calls() {
		g.calls[o.call(c)]++
	}
	for _, q := range o.web.Searches() {
		g.queries[q]++
	}
	for at, n := range o.web.Fetches() {
		g.pages[strings.TrimPrefix(at, o.web.Searx())] = n
	}
	err = within(ctx, dir, func(s *sqlite.Store, rec run.Record) error {
		if rec.Status != run.Done {
			return fmt.Errorf("the run is %s: %+v", rec.Status, rec.Failure)
		}
		events, err := s.Events(ctx, rec.ID, 0, 0)
		if err != nil {
			return err
		}
		normal := strings.NewReplacer(rec.ID, "RUN", ":"+u.Port(), ":PORT", "%3A"+u.Port(), "%3APORT", dir, "DATA")
		inRound := make(map[int]int)
		for _, e := range events {
			switch d := e.Data.(type) {
			case event.RunStatus, event.RunError, event.Usage, event.ExportReady:
				continue // of its fate, and of who was faster
			case event.SearchStarted:
				inRound[d.Round]++
				step := fmt.Sprintf("round-%d/search-%d/find", d.Round, inRound[d.Round])
				if d.Round == 0 {
					step, _, _ = strings.Cut(e.Place, "#")
				}
				g.byStep[step] = d.Query
			case event.SourceRead:
				step, _, _ := strings.Cut(e.Place, "#")
				if page, err := url.Parse(d.URL); err == nil && step != "" {
					g.readBy[step] = append(g.readBy[step], page.RequestURI())
				}
			}
			line, err := spoken(e.Event, normal)
			if err != nil {
				return err
			}
			g.told += line
		}
		return nil
	})
	return g, err
}

// repeated is what was done again although it had been recorded. The calls to
// the model are those of who went on; engine and pages were asked by both, and
// only what the kill kept from being recorded may have been asked for twice.
func repeated(r errand, recorded []run.Entry, got, calm *searched) []string {
	var out []string
	due := maps.Clone(calm.calls)
	for _, e := range recorded {
		if e.Kind != run.EntryStep {
			continue
		}
		due[r.step(filepath.Base(e.Key))]--
		if q := calm.byStep[e.Key]; got.queries[q] != calm.queries[q] {
			out = append(out, fmt.Sprintf("the engine was asked %d times for %q", got.queries[q], q))
		}
		for _, at := range append(pagesOf(e), calm.readBy[e.Key]...) {
			if got.pages[at] != calm.pages[at] {
				out = append(out, fmt.Sprintf("%s was asked for %d times", at, got.pages[at]))
			}
		}
	}
	for _, schema := range slices.Sorted(maps.Keys(got.calls)) {
		if n := got.calls[schema]; n != due[schema] {
			out = append(out, fmt.Sprintf("%d calls for %s, %d were left to do", n, schema, due[schema]))
		}
	}
	return out
}

// pagesOf is the place in the web that a step has read, none for other steps.
func pagesOf(e run.Entry) []string {
	var got struct{ URI string }
	if filepath.Base(e.Key) != "read" || json.Unmarshal(e.Value, &got) != nil || got.URI == "" {
		return nil
	}
	u, err := url.Parse(got.URI)
	if err != nil {
		return nil
	}
	return []string{u.RequestURI()}
}
