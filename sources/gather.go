package sources

import (
	"context"
	"errors"
	"slices"
	"strings"

	"dossier/cite"
	"dossier/event"
	"dossier/extract"
	"dossier/index"
	"dossier/lang"
	"dossier/llm"
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
