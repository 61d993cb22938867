package sources

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"dossier/cite"
	"dossier/event"
	"dossier/extract"
	"dossier/index"
	"dossier/lang/terms"
	"dossier/llm"
	"dossier/run"
	"dossier/search"
)

// Browsing is a question for which somebody else chooses, one after the other,
// what to search for and what to read: an agent. What it found stays in it, so
// that a page is read once however often it is wanted. It belongs to one
// goroutine at a time.
type Browsing struct {
	g     *gathering
	seen  []Lead              // in the order in which they were found
	pages map[string]*reading // that were read, by the lead's Ref
}

// Page is a document that somebody wanted to read.
type Page struct {
	Address string
	// Number of the source; 0 where it could not be read, and Failure says why.
	Number  int
	Failure string
	Title   string
	Date    string
	// Summary is what a model says that it has about the question.
	Summary string
	// Excerpts are its passages that say most about the question, in their order.
	Excerpts []Excerpt
	Snapshot string
}

// Browse begins to work on a question. Asked says that a model is to note what
// the documents say.
func Browse(s *run.Scope, j Job, asked bool) *Browsing {
	j.Planned = &Planned{NoModel: !asked} // it is a part of a larger work
	g := newGathering(j, s, &Evidence{Question: j.Question, Ledger: cite.NewLedger(), Snapshots: make(cite.Snapshots), Asked: asked})
	g.noModel = !asked
	own := Facet{Title: j.Question}
	if choice, ok := j.Corpus.(Choice); ok {
		own.Engines = chooseEngines(j.Question, choice.Engines())
	}
	g.planned, g.evidence.Facets = []Facet{own}, []FacetEvidence{{Title: own.Title}}
	g.found, g.order, g.searches, g.near = make([][]index.Ranking, 1), make([][]string, 1), make([][]string, 1), make([]nearness, 1)
	g.next, g.unsettled = make([][]string, 1), make([]bool, 1)
	return &Browsing{g: g, pages: make(map[string]*reading)}
}

// Search puts a query to the corpus, as steps of s, and returns what it found.
func (b *Browsing) Search(ctx context.Context, s *run.Scope, text string) (Finding, error) {
	g := b.g
	g.scope = s
	q := &query{text: Searchable(text), facets: []int{0}}
	if q.text == "" {
		return Finding{}, errors.New("the query has no words to search for")
	}
	if err := s.Budget().Check(run.Searches); err != nil {
		return Finding{}, b.stopped(err)
	}
	if err := s.Emit(event.SearchStarted{Query: q.text, Engine: g.asking(q)}); err != nil {
		return Finding{}, err
	}
	g.rounds++
	q.found, q.err = g.find(ctx, s, q, min(g.rounds, 2))
	if run.Stopped(q.err) {
		return Finding{}, q.err
	}
	told := g.results(q)
	if q.err != nil {
		told.Error = faultOf(q.err).Message
		if _ = b.stopped(q.err); !Spent(q.err) {
			g.trouble("research.search-failed", "query", q.text, "why", told.Error)
		}
	}
	for _, l := range q.found.Leads {
		if _, known := g.leads[l.ID]; !known {
			b.seen = append(b.seen, l)
		}
	}
	g.asked = append(g.asked, q.text)
	told.New = g.take(q)
	if err := s.Emit(told); err != nil {
		return Finding{}, err
	}
	return q.found, q.err
}

// Queries are those that were asked, in their order.
func (b *Browsing) Queries() []string { return b.g.asked }

// Found are the leads that were found, in their order.
func (b *Browsing) Found() []Lead { return b.seen }

// stopped notes that the run may not spend any more.
func (b *Browsing) stopped(err error) error {
	if Spent(err) {
		b.g.evidence.Stopped = err
	}
	return err
}

// Read reads the documents at addresses that searches found, in parallel and as
// steps of s. Those that were read before are not read again.
func (b *Browsing) Read(ctx context.Context, s *run.Scope, addresses []string) ([]Page, error) {
	g := b.g
	g.scope = s
	out := make([]Page, len(addresses))
	refs := make([]string, len(addresses))
	var fresh []*reading
	for i, at := range addresses {
		out[i].Address = at
		leads := b.leadsAt(at)
		if len(leads) == 0 {
			out[i].Failure = "no search has found it: search for it first"
			continue
		}
		refs[i] = leads[0].Ref
		if b.pages[refs[i]] == nil {
			r := &reading{lead: leads[0], leads: leads}
			b.pages[refs[i]] = r
			fresh = append(fresh, r)
		}
	}
	if len(fresh) > 0 {
		if err := s.Budget().Check(run.Pages); err != nil {
			for _, r := range fresh {
				delete(b.pages, r.lead.Ref)
			}
			return nil, b.stopped(err)
		}
		if _, err := g.readAll(withPrivate(ctx, g.private()), 0, fresh); err != nil {
			return nil, err
		}
	}
	for i, ref := range refs {
		switch r := b.pages[ref]; {
		case ref == "":
		case r.spent != nil:
			out[i].Failure = faultOf(r.spent).Message
		default:
			b.show(&out[i], r)
		}
	}
	for _, r := range fresh {
		if r.spent != nil {
			delete(b.pages, r.lead.Ref)
		}
	}
	return out, nil
}

// leadsAt are the leads to the document at an address, the best first.
func (b *Browsing) leadsAt(address string) []Lead {
	var out []Lead
	for _, l := range b.seen {
		if l.URI == address || l.Ref == address || len(out) > 0 && l.Ref == out[0].Ref {
			out = append(out, l)
		}
	}
	return out
}

// pageTokens bounds what is shown of a document.
const pageTokens = 900

// show fills in what was read.
func (b *Browsing) show(p *Page, r *reading) {
	if p.Failure = r.got.Failure; p.Failure != "" {
		return
	}
	e := b.g.evidence
	src, ok := e.Ledger.Lookup(firstOf(r.got.URI, r.lead.URI))
	if !ok || src.Snapshot != r.got.Snapshot {
		p.Failure = "it has changed since it was read under the same address"
		return
	}
	p.Number, p.Title, p.Date, p.Snapshot, p.Summary = src.Number, src.Title, src.Date, src.Snapshot, r.note.Value.Summary
	var all []extract.Passage
	for i, passage := range e.Passages {
		if passage.Source == src.Number {
			all = append(all, extract.Passage{ID: strconv.Itoa(i), Title: passage.Title, Headings: passage.HeadingPath, Text: passage.Text})
		}
	}
	left := pageTokens
	taken := make(map[int]bool)
	for _, best := range extract.Ordered(e.Question, all) {
		if left -= llm.EstimateTokens(best.Text); left < 0 && len(taken) > 0 {
			break
		}
		if n, err := strconv.Atoi(best.ID); err == nil {
			taken[n] = true
		}
	}
	p.Excerpts = e.excerpts(taken)
}

// Evidence chooses what to quote out of what was read, as a step of s, and
// returns all that was gathered.
func (b *Browsing) Evidence(ctx context.Context, s *run.Scope) (*Evidence, error) {
	g := b.g
	g.scope, g.rounds = s, max(1, g.rounds)
	g.firstAsked = []int{min(1, len(g.searches[0]))}
	g.evidence.Leads = len(g.leads)
	if len(g.evidence.Passages) == 0 {
		return g.evidence, nil
	}
	return g.evidence, g.quote(ctx)
}

// Answers chooses, out of passages that were read, the sentences that answer each
// of some questions, and says whether they do. It depends on its arguments alone.
func (e *Evidence) Answers(questions ...string) []FacetEvidence {
	all := make([]extract.Passage, len(e.Passages))
	for i, p := range e.Passages {
		all[i] = extract.Passage{ID: strconv.Itoa(i), Title: p.Title, Headings: p.HeadingPath, Text: p.Text}
	}
	shelf := extract.NewShelf(all)
	out := make([]FacetEvidence, len(questions))
	for i, question := range questions {
		var places []int
		for _, p := range first(shelf.Ordered(question), passagesKept) {
			if n, err := strconv.Atoi(p.ID); err == nil {
				places = append(places, n)
			}
		}
		got := e.choose(question, places, nil, nil, extract.Options{})
		out[i] = FacetEvidence{Title: question, Passages: places, Quotes: got.Quotes, Answered: got.Answered, Confidence: got.Confidence}
	}
	return out
}

// Quoted is what some passages say, each with the number of its source, as
// Markdown.
func (e *Evidence) Quoted(passages []cite.Passage) string {
	out := ""
	for _, p := range passages {
		src, ok := e.Ledger.Source(p.Source)
		if !ok || e.Snapshots[src.Snapshot] == nil {
			continue
		}
		text, err := p.Quote(e.Snapshots[src.Snapshot])
		if err != nil {
			continue
		}
		if out != "" {
			out += "\n\n"
		}
		out += fmt.Sprintf("%s %s", cut(cite.Sanitize(text), longestQuestion), cite.Marker([]int{p.Source}))
	}
	return out
}

// Restored is evidence that consists of sources that are known with what was
// quoted of them: those of a report that is finished. The texts are had from
// blobs; a source whose text is gone is left out.
func Restored(ctx context.Context, blobs Blobs, question string, read []cite.Source, quotes []cite.Passage) (*Evidence, error) {
	e := &Evidence{Question: question, Ledger: cite.NewLedger(), Snapshots: make(cite.Snapshots)}
	numbers := make(map[int]int)
	for _, src := range read {
		if src.Snapshot == "" {
			continue
		}
		text, err := blobs.Blob(ctx, src.Snapshot)
		if err != nil {
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			continue
		}
		was := src.Number
		src.CopyOf = 0
		entered := e.Ledger.Add(src)
		if _, err := e.Ledger.Read(entered.Number, e.Snapshots.Add(string(text))); err != nil {
			return nil, err
		}
		numbers[was] = entered.Number
	}
	facet := FacetEvidence{Title: question}
	for _, p := range quotes {
		n, ok := numbers[p.Source]
		if !ok {
			continue
		}
		p.Source = n
		src, _ := e.Ledger.Source(n)
		text, err := p.Quote(e.Snapshots[src.Snapshot])
		if err != nil {
			continue
		}
		facet.Passages = append(facet.Passages, len(e.Passages))
		facet.Quotes = append(facet.Quotes, p)
		e.Passages = append(e.Passages, Passage{ID: fmt.Sprintf("%s#%d", src.URI, p.Start), Passage: p, Title: src.Title, Date: src.Date, Text: text})
	}
	facet.Answered, facet.Confidence = len(facet.Quotes) > 0, 1
	e.Facets = []FacetEvidence{facet}
	return e, nil
}

// Part is the evidence for one facet: its passages, and their sources under
// numbers of their own.
func (e *Evidence) Part(f FacetEvidence) *Evidence {
	out := &Evidence{Question: f.Title, Ledger: cite.NewLedger(), Snapshots: make(cite.Snapshots), Asked: e.Asked}
	numbers := make(map[int]int)
	number := func(n int) int {
		if numbers[n] == 0 {
			src, _ := e.Ledger.Source(n)
			entered := out.Ledger.Add(src)
			if snap := e.Snapshots[src.Snapshot]; snap != nil {
				out.Snapshots[snap.Hash] = snap
				_, _ = out.Ledger.Read(entered.Number, snap) // it is there
			}
			numbers[n] = entered.Number
		}
		return numbers[n]
	}
	own := f
	own.Passages, own.Quotes = nil, slices.Clone(f.Quotes)
	for i := range own.Quotes {
		own.Quotes[i].Source = number(own.Quotes[i].Source)
	}
	for _, at := range f.Passages {
		p := e.Passages[at]
		p.Source = number(p.Source)
		own.Passages = append(own.Passages, len(out.Passages))
		out.Passages = append(out.Passages, p)
	}
	out.Facets = []FacetEvidence{own}
	return out
}

// PlannedByRules is the plan that rules make of a question, for a gathering that
// is a part of a larger work.
func PlannedByRules(question string, c Corpus, t Tuning) *Planned {
	in := planInput{Queries: t.Queries, MostFacets: mostFacets}
	if t.PerRound > 0 {
		in.MostFacets = min(mostFacets, t.PerRound)
	}
	if choice, ok := c.(Choice); ok {
		in.engines = choice.Engines()
	}
	p := planByRules(question, in)
	p.Facets = distinctFacets(p.Facets)
	return &Planned{Plan: p, NoModel: true, ByRules: true}
}

// Without is a corpus without some leads, which are known: others are in their
// place, up to so many more than asked for.
func Without(c Corpus, more int, known func(Lead) bool) Corpus {
	if more <= 0 {
		return c
	}
	return &without{c, more, known}
}

type without struct {
	Corpus
	more  int
	known func(Lead) bool
}

// Find implements Corpus. It asks for more only where too little is left: engines
// give a page of results at a time.
func (w *without) Find(ctx context.Context, q Query) (Finding, error) {
	wanted := q.Limit
	f, err := w.Corpus.Find(ctx, q)
	fresh := slices.DeleteFunc(slices.Clone(f.Leads), w.known)
	if err == nil && 2*len(fresh) < wanted && len(fresh) < len(f.Leads) {
		q.Limit += w.more
		if all, err := w.Corpus.Find(ctx, q); err == nil {
			f, fresh = all, slices.DeleteFunc(slices.Clone(all.Leads), w.known)
		}
	}
	f.Leads = first(fresh, wanted)
	return f, err
}

// Engines implements Choice.
func (w *without) Engines() []search.Info {
	if choice, ok := w.Corpus.(Choice); ok {
		return choice.Engines()
	}
	return nil
}

// Terms implements Bilingual.
func (w *without) Terms() *terms.Dictionary {
	if both, ok := w.Corpus.(Bilingual); ok {
		return both.Terms()
	}
	return nil
}
