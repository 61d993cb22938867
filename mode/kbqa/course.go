package kbqa

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"dossier/agent"
	"dossier/cite"
	"dossier/event"
	"dossier/kb"
	"dossier/lang"
	"dossier/llm"
	"dossier/mode"
	"dossier/run"
	"dossier/sources"
	"dossier/tool"
	"dossier/toolkit"
)

// AgentState is how far the agent is with a question.
type AgentState struct {
	Coverage        float64 `json:"coverage"` // context_coverage
	RefinementCount int     `json:"refinement_count"`
	MaxRefinements  int     `json:"max_refinements"`
}

// shouldRefine says whether another search is made because what was found covers
// too little.
func (s AgentState) shouldRefine(threshold float64) bool {
	return s.Coverage < threshold && s.RefinementCount < s.MaxRefinements
}

// course is the agent's work on one question. It belongs to the run's goroutine.
type course struct {
	mode     *Mode
	set      Settings
	req      mode.Request
	language lang.Code
	history  []llm.Message
	ready    sources.Prepared
	models   *llm.Models

	state    AgentState
	missing  []string // parts of the question that the context does not cover
	question string   // as it stands by itself
	plan     []sources.Facet
	found    *sources.Collected
	seen     map[string]bool // passages, by id
	ids      []string        // of passages, in the order in which they were found
	wide     bool            // the searches that follow look further
	rounds   int             // of searches

	checks  int
	checked *cite.Result      // of the answer that counts, nil without
	basis   *sources.Evidence // of checked, or of the answer by rules
	mended  bool              // the model was told what does not hold
	noneIn  bool              // the model says that the documents have no answer
	qa      *asked            // in place of a model's steps
}

// step is one step of the agent: the first is always the same, then the model
// decides.
func (c *course) step(ctx context.Context, w *agent.Work) error {
	if w.State.Iteration == 1 {
		return c.prologue(ctx, w)
	}
	if err := w.Scope.Budget().Check(); err != nil {
		if !sources.Spent(err) {
			return err
		}
		w.WithoutModel(err)
	}
	taken := w.State.Iteration - 1
	switch {
	case w.ByRules():
		return c.byRules(ctx, w, taken)
	case taken > c.set.KB.MaxSteps && (!c.mended || taken > c.set.KB.MaxSteps+1): // a rewrite it may finish
		if c.checked != nil { // an answer there is, with marks on what does not hold
			w.Finish(tool.Answer{Text: c.checked.Text, Status: tool.Completed})
			return nil
		}
		return c.oneShot(ctx, w)
	}
	return w.Step(ctx)
}

// planned is what query_plan leaves for the other tools.
type planned struct {
	Facets []struct {
		Question string   `json:"question"`
		Queries  []string `json:"queries"`
	} `json:"facets"`
}

// collect begins to take in what is found.
func (c *course) collect(s *run.Scope, p *planned) {
	if c.question == "" {
		c.question = sources.StandAlone(c.req.Question, c.history)
	}
	var facets []sources.Facet
	if p != nil {
		for _, f := range p.Facets {
			facets = append(facets, sources.Facet{Title: f.Question, Queries: f.Queries})
		}
	}
	if len(facets) == 0 {
		facets = []sources.Facet{{Title: c.question, Queries: []string{c.question}}}
	}
	c.found = sources.Collect(s, sources.Job{
		Blobs: c.mode.parts.Blobs, Corpus: c.mode.parts.Local.Corpus(c.ready), Question: c.question, Language: c.language, Where: c.ready.Where, Tuning: c.set.KB.Sources,
	}, sources.Plan{Question: c.question, Facets: facets})
	c.plan = c.found.Facets()
}

// prologue is router_select, query_plan, search and compose_context, whoever
// decides afterwards.
func (c *course) prologue(ctx context.Context, w *agent.Work) error {
	c.question = sources.StandAlone(c.req.Question, c.history)
	thought := lang.Text(c.language, "kbqa.thought-begin")
	if err := tell(w, thought); err != nil {
		return err
	}
	var actions []agent.Action
	for _, name := range []string{toolkit.RouterSelect, toolkit.QueryPlan} {
		a, err := c.carry(ctx, w, name, map[string]any{"query": c.question})
		if err != nil {
			return err
		}
		actions = append(actions, a)
	}
	var p planned
	_ = json.Unmarshal(w.State.Custom[toolkit.KeyPlan], &p) // without one the question is searched for as it is
	c.collect(w.Scope, &p)
	var first asking
	for i, f := range c.plan {
		first.add(i, f.Queries[:min(len(f.Queries), c.set.KB.Sources.Queries)]...)
	}
	for _, q := range first {
		a, err := c.search(ctx, w, q.text, true, q.facets...)
		if err != nil {
			return err
		}
		actions = append(actions, a)
	}
	c.rounds = c.found.Round()
	composed, err := c.compose(ctx, w)
	if err != nil {
		return err
	}
	c.record(w, thought, append(actions, composed)...)
	return c.reflect(ctx, w)
}

// asking is what to search for, each query once.
type asking []wantedQuery

// wantedQuery is a query with the parts of the question that want it.
type wantedQuery struct {
	text   string
	facets []int
}

// add has a part want some queries.
func (a *asking) add(facet int, queries ...string) {
	for _, text := range queries {
		i := slices.IndexFunc(*a, func(q wantedQuery) bool { return strings.EqualFold(q.text, text) })
		if i < 0 {
			i, *a = len(*a), append(*a, wantedQuery{text: text})
		}
		if q := &(*a)[i]; !slices.Contains(q.facets, facet) {
			q.facets = append(q.facets, facet)
		}
	}
}

// carry has a tool called that the model did not choose.
func (c *course) carry(ctx context.Context, w *agent.Work, name string, args map[string]any) (agent.Action, error) {
	raw, err := json.Marshal(args)
	if err != nil {
		return agent.Action{}, err
	}
	a, err := w.Carry(ctx, agent.Input{Tools: w.Agent.Tools.All()}, llm.ToolCall{Name: name, Arguments: string(raw)})
	if err == nil {
		c.look(a, false)
	}
	return a, err
}

// search has the collection searched for some of the parts of the question.
func (c *course) search(ctx context.Context, w *agent.Work, query string, first bool, facets ...int) (agent.Action, error) {
	args := map[string]any{"query": query, "limit": c.limit(), "hybrid_top_bm25": c.set.KB.TopBM25, "hybrid_top_dense": c.set.KB.TopDense}
	if c.wide {
		args["hybrid_top_bm25"], args["hybrid_top_dense"] = wider(c.set.KB.TopBM25), wider(c.set.KB.TopDense)
		args["route"] = kb.Hybrid // whichever was chosen
	}
	raw, err := json.Marshal(args)
	if err != nil {
		return agent.Action{}, err
	}
	a, err := w.Carry(ctx, agent.Input{Tools: w.Agent.Tools.All()}, llm.ToolCall{Name: toolkit.Search, Arguments: string(raw)})
	if err == nil {
		c.take(query, a, first, facets...)
	}
	return a, err
}

// limit is how many passages a search brings.
func (c *course) limit() int {
	const most = 50 // of the tool
	limit := c.set.KB.Sources.MaxResults
	if c.wide {
		limit *= 2
	}
	return min(limit, most)
}

// wider is how much a refinement looks at where a search looks at n.
func wider(n int) int {
	const most = 1000 // of the tool
	return min(2*n, most)
}

// take keeps what a search found, for the facets that it was made for.
func (c *course) take(query string, a agent.Action, first bool, facets ...int) {
	var got struct {
		Hits []kb.Hit `json:"hits"`
	}
	if a.Outcome.Failed || json.Unmarshal(a.Outcome.Data, &got) != nil {
		return
	}
	leads := make([]sources.Lead, 0, len(got.Hits))
	for _, h := range got.Hits {
		leads = append(leads, sources.LeadOf(h))
		if c.seen == nil {
			c.seen = make(map[string]bool)
		}
		if !c.seen[h.ID] {
			c.seen[h.ID] = true
			c.ids = append(c.ids, h.ID)
		}
	}
	c.found.Take(query, leads, first, facets...)
}

// look keeps what matters of a call, whoever made it.
func (c *course) look(a agent.Action, chosen bool) {
	switch a.Call.Name {
	case toolkit.Search:
		var in struct {
			Query string `json:"query"`
		}
		if chosen && json.Unmarshal([]byte(a.Call.Arguments), &in) == nil && in.Query != "" {
			c.take(in.Query, a, false, c.facetsFor(in.Query)...)
		}
	case toolkit.ComposeContext:
		var got struct {
			Coverage  float64  `json:"context_coverage"`
			Uncovered []string `json:"uncovered"`
		}
		if !a.Outcome.Failed && json.Unmarshal(a.Outcome.Data, &got) == nil {
			c.state.Coverage, c.missing = got.Coverage, got.Uncovered
		}
	}
}

// facetsFor are the parts of the question that a query was written for; none if
// it is of its own.
func (c *course) facetsFor(query string) []int {
	var out []int
	for i, f := range c.plan {
		if strings.EqualFold(query, f.Title) || slices.ContainsFunc(f.Queries, func(q string) bool { return strings.EqualFold(q, query) }) {
			out = append(out, i)
		}
	}
	return out
}

// compose puts what was found together. Where nothing was, nothing is covered.
func (c *course) compose(ctx context.Context, w *agent.Work) (agent.Action, error) {
	const most = 200 // ids that the tool takes
	c.state.Coverage, c.missing = 0, nil
	for _, f := range c.plan {
		c.missing = append(c.missing, f.Title)
	}
	return c.carry(ctx, w, toolkit.ComposeContext, map[string]any{"hit_ids": c.ids[:min(len(c.ids), most)]})
}

// record shows the model what was done without it, one action after the other, as
// it is to work itself.
func (c *course) record(w *agent.Work, thought string, actions ...agent.Action) {
	if w.ByRules() {
		return
	}
	for i := range actions {
		w.Record(agent.Thought{Text: thought}, agent.Choice{}, actions[i:i+1])
		thought = ""
	}
}

// reflect searches again, wider, as long as what was found covers too little and
// a refinement is left.
func (c *course) reflect(ctx context.Context, w *agent.Work) error {
	for composedIn(w) && c.state.shouldRefine(c.set.KB.Threshold) {
		if err := c.refine(ctx, w); err != nil {
			return err
		}
	}
	return nil
}

// composedIn says whether a context was put together by now.
func composedIn(w *agent.Work) bool { return w.State.Calls[toolkit.ComposeContext] > 0 }

// refine is one more round with wider parameters.
func (c *course) refine(ctx context.Context, w *agent.Work) error {
	c.state.RefinementCount++
	c.wide = true
	told := event.AgentRefined{
		Round: c.state.RefinementCount, Coverage: c.state.Coverage, Threshold: c.set.KB.Threshold, Missing: c.missing,
		TopBM25: wider(c.set.KB.TopBM25), Limit: c.limit(), Iteration: w.State.Iteration,
	}
	if err := w.Scope.Emit(told); err != nil {
		return err
	}
	thought := lang.Text(c.language, "kbqa.thought-refine", "coverage", share(c.state.Coverage), "threshold", share(c.set.KB.Threshold))
	if err := tell(w, thought); err != nil {
		return err
	}
	next, err := c.found.Next(ctx, w.Scope.Child("refine-"+strconv.Itoa(c.state.RefinementCount)))
	if err != nil {
		return err
	}
	var wanted asking
	for i, f := range c.plan {
		if !slices.Contains(c.missing, f.Title) {
			continue
		}
		wanted.add(i, f.Title)
		for _, n := range next {
			if n.Facet == i {
				wanted.add(i, n.Queries...)
			}
		}
	}
	var actions []agent.Action
	for _, q := range wanted {
		a, err := c.search(ctx, w, q.text, false, q.facets...)
		if err != nil {
			return err
		}
		actions = append(actions, a)
	}
	c.rounds = c.found.Round()
	c.wide = false
	composed, err := c.compose(ctx, w)
	if err != nil {
		return err
	}
	c.record(w, thought, append(actions, composed)...)
	return nil
}

// byRules is a step without a model: what leads on is searched for, and when
// nothing does the answer are sentences of what was found.
func (c *course) byRules(ctx context.Context, w *agent.Work, taken int) error {
	before := len(c.seen)
	if taken <= c.set.KB.MaxSteps && c.rounds < c.set.KB.Sources.Iterations {
		further, err := c.further(ctx, w)
		if err != nil || further && len(c.seen) > before {
			return err
		}
	}
	var err error
	if c.basis, err = c.evidence(ctx, w.Scope.Child("answer"), w.State); err != nil {
		return err
	}
	c.checked = nil
	status := tool.Completed
	if c.basis.Covered() == 0 {
		status = tool.Failed
	}
	w.Finish(tool.Answer{Text: c.quotes(), Status: status})
	return nil
}

// further searches for what was found to lead on to, and says whether there was
// anything to search for.
func (c *course) further(ctx context.Context, w *agent.Work) (bool, error) {
	if err := w.Scope.Budget().Check(); err != nil {
		if sources.Spent(err) {
			return false, nil
		}
		return false, err
	}
	next, err := c.found.Next(ctx, w.Scope.Child("next-"+strconv.Itoa(w.State.Iteration)))
	if err != nil {
		return false, err
	}
	next = slices.DeleteFunc(next, func(n sources.Next) bool { return len(n.Queries) == 0 })
	if len(next) == 0 {
		return false, nil
	}
	var parts []string
	for _, n := range next {
		parts = append(parts, n.Title)
	}
	if err := tell(w, lang.Text(c.language, "kbqa.thought-further", "parts", strings.Join(parts, "; "))); err != nil {
		return false, err
	}
	var wanted asking
	for _, n := range next {
		wanted.add(n.Facet, n.Queries...)
	}
	for _, q := range wanted {
		if _, err := c.search(ctx, w, q.text, false, q.facets...); err != nil {
			return false, err
		}
	}
	c.rounds = c.found.Round()
	_, err = c.compose(ctx, w)
	return true, err
}

// share is a share of 1 for people.
func share(f float64) string { return fmt.Sprintf("%.0f%%", 100*f) }
