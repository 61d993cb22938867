package sources

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"dossier/cite"
	"dossier/event"
	"dossier/extract"
	"dossier/lang"
	"dossier/llm"
	"dossier/prompt"
	"dossier/run"
)

// Earlier says that the run was created by a program whose rounds a rule ended
// and whose answers came whole.
func (t Tuning) Earlier() bool { return t.MinIterations == 0 }

// search does the rounds.
func (g *gathering) search(ctx context.Context) error {
	queries := g.inEnglish(g.firstQueries())
	idle := 0 // rounds in a row, after the first, that found nothing new
	for n := 1; len(queries) > 0; n++ {
		round := g.scope.Child(fmt.Sprintf("round-%d", n))
		fresh, err := g.round(ctx, round, n, queries)
		if err != nil {
			return err
		}
		if g.rounds = n; n == 1 {
			for f := range g.searches {
				g.firstAsked = append(g.firstAsked, len(g.searches[f]))
			}
		}
		if idle++; n == 1 || fresh > 0 {
			idle = 0
		}
		if err := g.rerank(ctx, round, fresh); err != nil {
			return err
		}
		if err := g.sift(ctx, round); err != nil {
			return err
		}
		next, err := g.decide(ctx, round, n, idle)
		if err != nil {
			return err
		}
		if err := g.tellRound(n, next); err != nil {
			return err
		}
		queries = next.queries
	}
	return nil
}

// outlook is what comes after a round: queries, or the end; and why.
type outlook struct {
	queries []FollowUp
	reason  string
	model   bool // a model says so
}

// patience is how many rounds in a row may find nothing new before a model's
// further queries are not tried.
const patience = 2

// decide says what comes after round n. Where there is a model it is asked
// whether something is missing and what to search for; a rule ends the rounds
// where there is none, and where what was found are the passages themselves and
// not what an engine shows of them. Nobody does before the least number of
// rounds.
func (g *gathering) decide(ctx context.Context, s *run.Scope, n, idle int) (outlook, error) {
	byRules := g.Tuning.Earlier() || g.noModel
	most := patience
	if byRules {
		most = 1
	}
	switch {
	case g.evidence.CutShort():
		return g.over("round.spent"), nil
	case n >= max(g.Tuning.Iterations, g.Trail):
		return g.over("round.last", "n", n), nil
	case idle >= most && n >= g.Tuning.MinIterations:
		return g.over("round.nothing-new"), nil
	case (byRules || g.inFull()) && n >= g.Tuning.MinIterations && !slices.Contains(g.unsettled, true):
		return g.over("round.enough"), nil
	}
	if err := g.scope.Budget().Check(run.Searches); err != nil {
		if !Spent(err) {
			return outlook{}, err
		}
		g.evidence.Stopped = err
		return g.over("round.spent"), nil
	}
	return g.followUp(ctx, s, n, byRules || g.inFull())
}

// over is the end of the rounds, by a rule.
func (g *gathering) over(key string, args ...any) outlook {
	return outlook{reason: lang.Text(g.Language, key, args...)}
}

// inFull says whether the searches gave the passages themselves.
func (g *gathering) inFull() bool {
	for _, l := range g.leads {
		if l.Spot.End == 0 {
			return false
		}
	}
	return len(g.leads) > 0
}

// tellRound tells what comes after a round.
func (g *gathering) tellRound(n int, next outlook) error {
	if g.Tuning.Earlier() || g.Planned != nil { // the larger work tells what comes next
		return nil
	}
	told := event.SearchRound{Round: n, Decision: "finish", Reason: next.reason, Rules: !next.model}
	for _, q := range next.queries {
		told.Decision = "continue"
		if !slices.Contains(told.Queries, q.Query) {
			told.Queries = append(told.Queries, q.Query)
		}
	}
	return g.scope.Emit(told)
}

// FollowUp is a query for a facet that has nothing yet.
type FollowUp struct {
	Facet int    `json:"facet" jsonschema:"number of the part"`
	Query string `json:"query" jsonschema:"the words to search for"`
}

// followUpList is what the model is asked for.
type followUpList struct {
	Reason  string     `json:"reason" jsonschema:"what is answered by what was found, and what is missing"`
	Enough  bool       `json:"enough,omitempty" jsonschema:"true when nothing is missing"`
	Queries []FollowUp `json:"queries" jsonschema:"further queries; empty when nothing is missing"`
}

// Validate implements the check of llm.Object.
func (l *followUpList) Validate() error {
	if l.Enough && strings.TrimSpace(l.Reason) == "" {
		return fmt.Errorf("the field reason is empty: say why nothing is missing")
	}
	return nil
}

type openFacet struct {
	Number int
	Title  string
	Found  bool // something that was found may answer it
}

type followUpInput struct {
	Question string
	Where    string
	Language string
	Queries  int
	Open     []openFacet
	Asked    []string
	Found    []Excerpt
	rules    func() followUpList
}

var followUps = &prompt.Task[followUpInput, followUpList]{
	Name:     "followups",
	Role:     llm.ForSummarizer,
	Template: prompt.Parse(files, "followups.md"),
	Fallback: func(in followUpInput) (followUpList, error) { return in.rules(), nil },
}

// longestReason is how many characters are told of why a model goes on, or not.
const longestReason = 500

// foundShown is how many of the passages found a model sees when it writes
// follow-up queries.
const foundShown = 8

// followUp asks whether something is missing and for more queries: for all
// facets or, where a rule knows which are answered, for the others.
func (g *gathering) followUp(ctx context.Context, s *run.Scope, n int, ruled bool) (outlook, error) {
	in := followUpInput{Question: g.evidence.Question, Where: g.Where, Language: g.Language.Name(), Queries: g.Tuning.Queries, Asked: g.asked}
	settled := !slices.Contains(g.unsettled, true)
	for i, f := range g.evidence.Facets {
		if ruled && !settled && !g.unsettled[i] {
			continue
		}
		in.Open = append(in.Open, openFacet{i + 1, f.Title, !g.unsettled[i]})
		for _, l := range first(g.ranked(i), 3) {
			if len(in.Found) < foundShown {
				in.Found = append(in.Found, Excerpt{Title: l.Title, Place: placeOf(l.Title, l.Spot.Headings, l.Spot.Page), Text: l.Text})
			}
		}
	}
	in.rules = func() followUpList {
		out := followUpList{Enough: settled}
		for _, f := range in.Open {
			queries := g.next[f.Number-1]
			if f.Found { // what leads on from it is of other things
				queries = append(extract.Queries(f.Title), queries...)
			}
			for _, q := range queries {
				out.Queries = append(out.Queries, FollowUp{f.Number, q})
			}
		}
		return out
	}
	made, err := followUps.Do(ctx, s, g.Models, in, prompt.Options[followUpList]{Model: g.Model})
	if err != nil {
		return outlook{}, err
	}
	g.overruled(made.Overruled(), made.Why)
	said := made.Value
	out := outlook{reason: cut(cite.Sanitize(said.Reason), longestReason), model: !made.Extractive}
	if !out.model || out.reason == "" {
		out.reason = g.reasonByRules()
	}
	if said.Enough && !g.Tuning.Earlier() && n >= g.Tuning.MinIterations {
		return out, nil
	}
	if out.model && !g.Tuning.Earlier() {
		sense := g.senseOf(in)
		said.Queries = slices.DeleteFunc(slices.Clone(said.Queries), func(f FollowUp) bool {
			return sense.parrots(f.Query) || sense.strays(f.Query) && g.Tuning.PerRound == 0
		})
	}
	out.queries = g.fresh(said.Queries)
	if len(out.queries) == 0 && out.model && n <= 1 && !g.Tuning.Earlier() {
		out.queries = g.fresh(in.rules().Queries) // a second round there is: with what rules would search for
	}
	if len(out.queries) == 0 {
		out.reason = strings.TrimSpace(out.reason + " " + lang.Text(g.Language, "round.no-queries"))
	}
	return out, nil
}

// reasonByRules says which facets have something by now.
func (g *gathering) reasonByRules() string {
	var open []string
	for i, f := range g.evidence.Facets {
		if g.unsettled[i] {
			open = append(open, f.Title)
		}
	}
	if len(open) == 0 {
		return lang.Text(g.Language, "round.enough")
	}
	return lang.Text(g.Language, "round.open", "parts", strings.Join(open, "; "))
}

// fresh returns the queries that were not asked yet, as far as a round has room.
func (g *gathering) fresh(queries []FollowUp) []FollowUp {
	var fresh []FollowUp
	perFacet := make(map[int]int)
	for _, f := range queries {
		q := Searchable(f.Query)
		if g.full(fresh) {
			break
		}
		if f.Facet < 1 || f.Facet > len(g.planned) || q == "" || perFacet[f.Facet] == g.Tuning.Queries || !g.ask(q) {
			continue
		}
		perFacet[f.Facet]++
		fresh = append(fresh, FollowUp{f.Facet, q})
	}
	return fresh
}
