package sources

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"dossier/cite"
	"dossier/event"
	"dossier/extract"
	"dossier/index"
	"dossier/lang"
	"dossier/llm"
	"dossier/prompt"
	"dossier/run"
	"dossier/search"
)

// Job is a question and what it is asked of.
type Job struct {
	Models *llm.Models
	Model  string // replaces the model of every role
	Blobs  Blobs
	Corpus Corpus
	// Question as the user put it, and the conversation before it.
	Question string
	History  []llm.Message
	Language lang.Code // in which notes are written
	Where    string    // the corpus in words, for prompts
	Tuning   Tuning
	// Planned is what to look for, where somebody has planned it already; nil has
	// the question planned.
	Planned *Planned
	// Tiers of engines for all queries, for a corpus that has a choice: those of
	// the next are asked when the ones before have too little, and all at once
	// with Wide. None leaves the choice to the plan.
	Tiers [][]string
	Wide  bool
	// Private are texts that whoever writes queries has seen and no address may
	// carry, beside what is found in documents.
	Private []string
	// Trail is how many rounds go where names in what was found lead, at least,
	// where no model says where to go; what is found on the way is quoted for its
	// names too. 0 leaves the rounds to Tuning, and quotes what answers.
	Trail int
	// Rerankers by their names in Tuning.Rerank.
	Rerankers map[string]search.Reranker
	// Known are the circumstances of the run; nil goes by what there is now.
	Known *Circumstances
}

// Tuning is how much is done for a question.
type Tuning struct {
	Queries    int `json:"queries"`     // for each facet, and follow-ups for one in a round
	Iterations int `json:"iterations"`  // rounds of searching, at most
	MaxResults int `json:"max_results"` // of one query
	TopK       int `json:"top_k"`       // passages kept for a facet
	ReadTop    int `json:"read_top"`    // documents read
	// MinIterations is how many rounds there are before somebody may say that
	// nothing is missing. Runs of earlier programs have 0: a rule ended their
	// rounds, nothing was told of it, and they go on as they began.
	MinIterations int `json:"min_iterations,omitempty"`
	// PerRound bounds the queries of one round, of all facets together; 0 is no
	// bound.
	PerRound int `json:"per_round,omitempty"`
	// Rerank is what puts leads in order that the search did not: ByModel, the
	// name of one of Job.Rerankers, or, if it is neither, words.
	Rerank string `json:"rerank,omitempty"`
}

// Evidence is what was gathered for a question.
type Evidence struct {
	Question string
	Facets   []FacetEvidence
	// Passages that were read, of all facets; each once.
	Passages  []Passage
	Ledger    *cite.Ledger
	Snapshots cite.Snapshots
	Notes     []Note
	// Asked says that there is a model and it was asked.
	Asked bool
	// Leads counts the passages that the searches found.
	Leads int
	// Trouble is what went wrong and was worked around, for people.
	Trouble []string
	// Stopped is why gathering ended before it was through: a spent budget or
	// the wish to finish.
	Stopped error

	byRules   bool // rules stood in for a model, and Trouble says so
	modelPlan bool // what was searched for is a model's plan
}

// FacetEvidence is what was found for a part of the question.
type FacetEvidence struct {
	Title string
	// Passages are places in Evidence.Passages, the best first.
	Passages []int
	// Quotes are the sentences that answer it best, in reading order; Answered
	// says whether they do.
	Quotes     []cite.Passage
	Answered   bool
	Confidence float64
}

// Passage is a piece of a source that was read.
type Passage struct {
	ID string
	cite.Passage
	Title string
	Date  string
	Text  string
}

// Covered counts the facets that are answered.
func (e *Evidence) Covered() int {
	n := 0
	for _, f := range e.Facets {
		if f.Answered {
			n++
		}
	}
	return n
}

// CutShort says whether gathering ended before it was through.
func (e *Evidence) CutShort() bool { return e.Stopped != nil }

// Unsure returns the titles of the facets that count as answered by quotes that
// more often than not do not answer.
func (e *Evidence) Unsure() []string {
	var out []string
	for _, f := range e.Facets {
		if f.Answered && f.Confidence < extract.Sure {
			out = append(out, f.Title)
		}
	}
	return out
}

// Missing returns the titles of the facets that are not answered.
func (e *Evidence) Missing() []string {
	var out []string
	for _, f := range e.Facets {
		if !f.Answered {
			out = append(out, f.Title)
		}
	}
	return out
}

// gathering is a Gather under way.
type gathering struct {
	Job
	scope      *run.Scope
	evidence   *Evidence
	planned    []Facet
	noModel    bool            // when the plan was made there was none
	told       bool            // sources that the ledger has were told by somebody else
	translated string          // the question in English, as a query; "" where it is asked in its own language only
	asked      []string        // queries, in order
	askedSet   map[string]bool // in lower case
	searched   int             // queries that were put to the corpus
	rounds     int             // that were made
	leads      map[string]Lead
	found      [][]index.Ranking // by facet, in order of the queries
	searches   [][]string        // by facet: the queries of found
	firstAsked []int             // by facet: how many of them are of the first round
	next       [][]string        // by facet: what rules would search for next
	unsettled  []bool            // by facet: another round is worth it
	meaning    bool              // order is by more than words
	order      [][]string        // by facet: leads as they were ranked again
	near       []nearness        // by facet: of leads that searches by meaning found for it
}

// Gather works on a question until there is evidence for all its parts or
// nothing else to try. Without any passage it returns evidence that is empty;
// it fails when the corpus can't be searched at all.
func Gather(ctx context.Context, s *run.Scope, j Job) (*Evidence, error) {
	g := newGathering(j, s, &Evidence{Ledger: cite.NewLedger(), Snapshots: make(cite.Snapshots)})
	if err := g.gather(ctx); err != nil {
		return nil, err
	}
	return g.evidence, g.tellCoverage()
}

func (g *gathering) tellCoverage() error {
	e := g.evidence
	if g.Planned != nil {
		return nil
	}
	return g.scope.Emit(event.Coverage{Of: "facets", Covered: e.Covered(), Total: len(e.Facets), Share: share(e.Covered(), len(e.Facets))})
}

func newGathering(j Job, s *run.Scope, e *Evidence) *gathering {
	return &gathering{Job: j, scope: s, askedSet: make(map[string]bool), leads: make(map[string]Lead), evidence: e}
}

func (g *gathering) gather(ctx context.Context) error {
	if err := g.plan(ctx); err != nil {
		return err
	}
	n := len(g.planned)
	g.found, g.order, g.searches, g.next, g.unsettled = make([][]index.Ranking, n), make([][]string, n), make([][]string, n), make([][]string, n), make([]bool, n)
	g.near = make([]nearness, n)
	if err := g.search(ctx); err != nil {
		return err
	}
	g.evidence.Leads = len(g.leads)
	if err := g.read(ctx); err != nil {
		return err
	}
	if err := g.quote(ctx); err != nil {
		return err
	}
	if !g.Tuning.Earlier() {
		g.uniteFacets()
	}
	return g.tellPlan("dropped")
}

// Instead is what rules find in documents where what a model planned found
// nothing that answers; e if they find nothing either.
func (e *Evidence) Instead(ctx context.Context, s *run.Scope, j Job) (*Evidence, error) {
	if j.Tuning.Earlier() || !e.modelPlan || e.Covered() > 0 || e.CutShort() || j.Tuning.PerRound > 0 {
		return e, nil
	}
	j.Models = nil
	again := newGathering(j, s.Child("by-rules"), &Evidence{Ledger: e.Ledger, Snapshots: e.Snapshots, Trouble: e.Trouble})
	if err := again.gather(ctx); err != nil {
		return nil, err
	}
	if again.evidence.Covered() == 0 {
		return e, nil
	}
	again.trouble("research.plan-by-rules")
	return again.evidence, again.tellCoverage()
}

func share(part, whole int) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

// overruled notes that rules stood in for a model that was there.
func (g *gathering) overruled(yes bool, why string) { g.evidence.overruled(g.Language, yes, why) }

func (e *Evidence) overruled(code lang.Code, yes bool, why string) {
	if yes && !e.byRules { // the first cause; the run's log has them all
		e.byRules = true
		e.trouble(code, "research.by-rules", "why", prompt.Told(code, why))
	}
}

// trouble keeps what went wrong, in the language of the answer.
func (g *gathering) trouble(key string, args ...any) { g.evidence.trouble(g.Language, key, args...) }

func (e *Evidence) trouble(code lang.Code, key string, args ...any) {
	if text := lang.Text(code, key, args...); !slices.Contains(e.Trouble, text) {
		e.Trouble = append(e.Trouble, text)
	}
}

// ask says whether a query is new, and remembers it.
func (g *gathering) ask(query string) bool {
	key := strings.ToLower(query)
	if !g.Tuning.Earlier() {
		key = sameQuery(query)
	}
	if g.askedSet[key] {
		return false
	}
	g.askedSet[key] = true
	g.asked = append(g.asked, query)
	return true
}

// firstQueries are those of the plan: the first of each facet, then the second
// of each, and so on, so that a limit leaves no facet without any.
func (g *gathering) firstQueries() []FollowUp {
	var out []FollowUp
	for place := 0; ; place++ {
		more := false
		for i, f := range g.planned {
			if place >= len(f.Queries) {
				continue
			}
			if g.full(out) {
				return out
			}
			more = true
			g.ask(f.Queries[place])
			out = append(out, FollowUp{i + 1, f.Queries[place]})
		}
		if !more {
			return out
		}
	}
}

// inEnglish adds the one query for all facets that is beyond what a round has.
func (g *gathering) inEnglish(queries []FollowUp) []FollowUp {
	if g.translated == "" || !g.ask(g.translated) {
		return queries
	}
	for i := range g.planned {
		queries = append(queries, FollowUp{i + 1, g.translated})
	}
	return queries
}

// full says whether a round has all the queries that it may have.
func (g *gathering) full(queries []FollowUp) bool {
	return g.Tuning.PerRound > 0 && len(queries) >= g.Tuning.PerRound
}

// Spent says whether an error means that the run may not spend any more, be it
// for a limit or for the wish to finish.
func Spent(err error) bool {
	var limit *run.BudgetError
	f, _ := run.FaultOf(err)
	return errors.Is(err, run.ErrFinish) || errors.As(err, &limit) || f.Code == "budget" || f.Code == "finished"
}

// faultOf is what went wrong in a step, as it is recorded.
func faultOf(err error) run.Fault {
	if f, ok := run.FaultOf(err); ok {
		return f
	}
	return run.Fault{Code: "failed", Message: err.Error()}
}

// query is one that a round puts to the corpus, for some of the facets.
type query struct {
	text   string
	facets []int
	found  Finding
	err    error
}

// queriesOf returns the queries of a round, each once however many facets ask
// it, as far as the limit of searches goes.
func (g *gathering) queriesOf(asked []FollowUp) (_ []*query, cut bool) {
	var out []*query
	byKey := make(map[string]*query)
	for _, f := range asked {
		key := strings.ToLower(f.Query)
		q := byKey[key]
		if q == nil {
			q = &query{text: f.Query}
			byKey[key] = q
			out = append(out, q)
		}
		q.facets = append(q.facets, f.Facet-1)
	}
	n := g.scope.Budget().Allot(run.Searches, g.searched, len(out))
	g.searched += n
	if n < len(out) {
		g.evidence.Stopped = &run.BudgetError{What: run.Searches, Limit: float64(g.searched), Spent: float64(g.searched)}
	}
	return out[:n], n < len(out)
}

// find is the step of a query. The first round takes place even when the run
// was told to finish or its time is up: without it there is nothing to finish
// with.
func (g *gathering) find(ctx context.Context, s *run.Scope, q *query, round int) (Finding, error) {
	return run.Step(ctx, s, "find", func(ctx context.Context, s *run.Scope) (Finding, error) {
		if err := s.Budget().Check(run.Searches); err != nil {
			if limit, ok := errors.AsType[*run.BudgetError](err); round > 1 || ok && limit.What == run.Searches {
				return Finding{}, err
			}
		}
		s.Charge(run.Spent{Searches: 1})
		asked := Query{Text: q.text, Limit: g.Tuning.MaxResults, Engines: g.enginesFor(q), Tiers: g.Tiers, Wide: g.Wide || round > 1}
		if q.text == g.translated {
			asked.Lang = lang.English
		}
		return g.Corpus.Find(ctx, asked)
	})
}

// round puts queries to the corpus, in parallel, and returns how many leads
// were new. Queries that fail are told; that all of them fail is an error.
func (g *gathering) round(ctx context.Context, s *run.Scope, n int, asked []FollowUp) (int, error) {
	queries, cut := g.queriesOf(asked)
	tasks := make([]*run.Task, len(queries))
	for i, q := range queries {
		if err := g.scope.Emit(event.SearchStarted{Query: q.text, Engine: g.asking(q), Round: n}); err != nil {
			return 0, err
		}
		tasks[i] = run.Go(ctx, s, fmt.Sprintf("search-%d", i+1), func(ctx context.Context, s *run.Scope) error {
			q.found, q.err = g.find(ctx, s, q, n)
			if run.Stopped(q.err) {
				return q.err
			}
			return nil
		})
	}
	if err := run.All(ctx, tasks...); err != nil {
		return 0, err
	}
	if cut {
		if err := g.scope.Budget().Short(run.Searches); err != nil {
			return 0, err
		}
	}
	fresh, failed := 0, 0
	for _, q := range queries {
		told := g.results(q)
		if q.err != nil {
			told.Error = faultOf(q.err).Message
			if Spent(q.err) {
				g.evidence.Stopped = q.err
			} else {
				failed++
				g.trouble("research.search-failed", "query", q.text, "why", told.Error)
			}
		}
		told.New = g.take(q)
		fresh += told.New
		if err := g.scope.Emit(told); err != nil {
			return 0, err
		}
	}
	if failed > 0 && failed == len(queries) && len(g.leads) == 0 {
		all := make([]error, len(queries))
		for i, q := range queries {
			all[i] = q.err
		}
		return 0, &SearchError{all}
	}
	return fresh, nil
}

// take adds what a query found to the rankings of its facets and returns how
// many leads are new.
func (g *gathering) take(q *query) int {
	fresh := 0
	ranking := index.Ranking{Weight: 1}
	for _, l := range q.found.Leads {
		if _, ok := g.leads[l.ID]; !ok {
			g.leads[l.ID] = l
			fresh++
		}
		ranking.Hits = append(ranking.Hits, index.Hit{ID: l.ID, Score: l.Ranking})
	}
	for _, f := range q.facets {
		g.near[f].add(q.found.Leads)
		ranking.Weight = 1
		if own := g.planned[f].Queries; len(own) > 0 && strings.EqualFold(q.text, own[0]) {
			ranking.Weight = ownWeight
		}
		g.found[f] = append(g.found[f], ranking)
		g.searches[f] = append(g.searches[f], q.text)
	}
	return fresh
}

// nearness is how near leads come to what was searched for by their meaning, by
// their IDs, as in extract.Passage.
type nearness map[string]float64

func (n *nearness) add(leads []Lead) {
	for _, l := range leads {
		if l.Near > (*n)[l.ID] {
			if *n == nil {
				*n = make(nearness)
			}
			(*n)[l.ID] = l.Near
		}
	}
}

// results tells what came back, and makes trouble of engines that did not
// answer while others did.
func (g *gathering) results(q *query) event.SearchResults {
	told := q.found.Event(q.text, g.Corpus.Name())
	for _, e := range told.Engines {
		if e.Error != "" {
			g.trouble("research.engine-failed", "engine", e.Engine, "why", e.Error)
		}
	}
	return told
}

// SearchError says that not one search came through.
type SearchError struct {
	failed []error // what became of each
}

func (e *SearchError) Error() string {
	return "nothing could be searched: " + faultOf(e.failed[0]).Message
}

// Unwrap returns the failures of all searches: a run that failed for them tries
// them again when it is resumed.
func (e *SearchError) Unwrap() []error { return e.failed }

// Fault tells the kernel how to record the error.
func (e *SearchError) Fault() (code, hint string) {
	f := faultOf(e.failed[0])
	return f.Code, f.Hint
}

const (
	// ownWeight is what the ranking for a facet in its own words counts beside
	// those for other queries.
	ownWeight = 3
	fuseK     = 60
)

// ranked returns the best of what was found for a facet.
func (g *gathering) ranked(facet int) []Lead { return g.best(g.inOrder(facet), g.Tuning.TopK) }

// readable returns what may be read for a facet: what is kept of a round, as
// many times as there were rounds.
func (g *gathering) readable(facet int) []Lead {
	return g.best(g.inOrder(facet), g.rounds*g.Tuning.TopK)
}

// inOrder names everything found for a facet: as it was ranked again, and then
// the rest as the searches had it.
func (g *gathering) inOrder(facet int) []string {
	order := slices.Clone(g.order[facet])
	if own := g.searchedAs(facet); own >= 0 && g.meaning && len(order) == 0 {
		for _, h := range g.found[facet][own].Hits {
			order = append(order, h.ID)
		}
	}
	for _, h := range index.Fuse(fuseK, g.found[facet]...) {
		order = append(order, h.ID)
	}
	return order
}

// searchedAs is which of a facet's searches was for the facet in its own words,
// -1 if none was.
func (g *gathering) searchedAs(facet int) int {
	return slices.IndexFunc(g.searches[facet], func(query string) bool { return strings.EqualFold(query, g.planned[facet].Title) })
}

// best returns the first of some leads, copies of a text left out. Of a lead
// whose text is not known nothing can be said to be a copy.
func (g *gathering) best(order []string, most int) []Lead {
	var out []Lead
	seen, texts := make(map[string]bool), make(map[string]bool)
	for _, id := range order {
		l := g.leads[id]
		text := strings.Join(strings.Fields(l.Text), " ")
		if text == "" && !g.Tuning.Earlier() {
			text = id
		}
		if !seen[id] && !texts[text] {
			seen[id], texts[text] = true, true
			out = append(out, l)
		}
		if len(out) == most {
			break
		}
	}
	return out
}

// passagesOf is leads of a facet as package extract sees them.
func (g *gathering) passagesOf(facet int, leads []Lead) []extract.Passage {
	out := make([]extract.Passage, len(leads))
	for i, l := range leads {
		out[i] = extract.Passage{ID: l.ID, Title: l.Title, Headings: l.Spot.Headings, Text: l.Text, Near: g.near[facet][l.ID]}
	}
	return out
}

// forgive turns the failure of a step that the run can do without into trouble.
func (g *gathering) forgive(err error) error {
	if run.Stopped(err) {
		return err
	}
	g.trouble("research.not-judged", "why", faultOf(err).Message)
	return nil
}
