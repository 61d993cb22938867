package study

import (
	"fmt"
	"slices"

	"dossier/cite"
	"dossier/sources"
)

// Finding is what somebody found out, with where it stands.
type Finding struct {
	ID   string `json:"id"`
	By   string `json:"by,omitempty"`   // who found it
	Task string `json:"task,omitempty"` // what for: the title of a section or of a task
	// Items of the rubric that it is about, by their IDs.
	Items []string `json:"items,omitempty"`
	// Text is Markdown with [n] for source n of the Book.
	Text string `json:"text"`
	// Passages are those that it rests on; the best first.
	Passages []cite.Passage `json:"passages,omitempty"`
}

// Sources are the numbers of the sources that a finding rests on, in order of
// their first use.
func (f Finding) Sources() []int {
	var out []int
	add := func(n int) {
		if !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	for _, c := range cite.Split(f.Text) {
		for _, n := range c.Sources {
			add(n)
		}
	}
	for _, p := range f.Passages {
		add(p.Source)
	}
	return out
}

// Book is everything that a run found: one ledger over all who searched. Those
// who search in parallel have ledgers of their own; Add takes over what they
// found in the order of the calls, so that a resumed run, which calls it in the
// recorded order, numbers alike. It belongs to one goroutine while it is written.
type Book struct {
	Ledger    *cite.Ledger
	Snapshots cite.Snapshots
	Findings  []Finding
	// Trouble is what went wrong on the way, each once, for people.
	Trouble []string
	// Asked says that a model was asked on the way.
	Asked bool

	read map[string]*reading // by finding
	// earlier are the numbers of sources that an earlier run had read.
	earlier map[int]bool

	passed []*sources.Evidence
}

// reading is what was read for a finding, under the Book's numbers.
type reading struct {
	passages []sources.Passage
	facets   []sources.FacetEvidence
}

// NewBook returns a book without findings.
func NewBook() *Book {
	return &Book{Ledger: cite.NewLedger(), Snapshots: make(cite.Snapshots), read: make(map[string]*reading), earlier: make(map[int]bool)}
}

// Add takes over what was gathered, and a finding made of it whose text and
// passages have the numbers of e.Ledger; e is nil where they are the Book's
// already. It returns the finding as the Book has it: with an ID, if it had
// none, and the Book's numbers. A source whose text is not the one that the Book
// has of that address is left out with all that rests on it.
func (b *Book) Add(e *sources.Evidence, f Finding) Finding { return b.add(e, f, false) }

// add is Add; earlier says that e is what an earlier run had read.
func (b *Book) add(e *sources.Evidence, f Finding, earlier bool) Finding {
	if f.ID == "" {
		f.ID = fmt.Sprintf("f%d", len(b.Findings)+1)
	}
	f.Passages, f.Items = slices.Clone(f.Passages), slices.Clone(f.Items)
	if e != nil {
		to := b.takeSources(e, earlier)
		number := func(n int) (int, bool) { m, ok := to[n]; return m, ok }
		f.Text = cite.Renumber(f.Text, number)
		f.Passages = renumbered(f.Passages, to)
		b.read[f.ID] = readingOf(e, to)
		b.Asked = b.Asked || e.Asked
		for _, t := range e.Trouble {
			b.Note(t)
		}
	}
	b.Findings = append(b.Findings, f)
	return f
}

// Pass keeps what was read in vain: nothing of it is an answer, and some of it is
// shown where no answer is found at all.
func (b *Book) Pass(e *sources.Evidence) {
	b.passed = append(b.passed, e)
	b.Asked = b.Asked || e.Asked
	for _, t := range e.Trouble {
		b.Note(t)
	}
}

// nearest are the best passages of what was read in vain, at most so many.
func (b *Book) nearest(most int) []cite.Passage {
	var out []cite.Passage
	for _, e := range b.passed {
		to := b.takeSources(e, false)
		for _, f := range e.Facets {
			for _, q := range renumbered(f.Quotes, to) {
				same := func(p cite.Passage) bool { return p.Source == q.Source && p.Start == q.Start }
				if len(out) < most && !slices.ContainsFunc(out, same) {
					out = append(out, q)
				}
			}
		}
	}
	return out
}

// Note keeps what went wrong, once.
func (b *Book) Note(trouble string) {
	if !slices.Contains(b.Trouble, trouble) {
		b.Trouble = append(b.Trouble, trouble)
	}
}

// takeSources enters the sources of e that were read and returns the Book's
// numbers for them.
func (b *Book) takeSources(e *sources.Evidence, earlier bool) map[int]int {
	to := make(map[int]int)
	for _, src := range e.Ledger.Sources() {
		snap := e.Snapshots[src.Snapshot]
		if snap == nil {
			continue
		}
		if n, ok := b.takeSource(src, snap, earlier); ok {
			to[src.Number] = n
		}
	}
	return to
}

// takeSource enters a source and returns its number. Of two texts under one
// address the first counts, unless one of them was read by an earlier run: then
// each is a source of its own.
func (b *Book) takeSource(src cite.Source, snap *cite.Snapshot, earlier bool) (number int, ok bool) {
	enter := b.Ledger.Add
	if known, has := b.Ledger.Lookup(src.URI); has && known.Snapshot != "" {
		if known.Snapshot == snap.Hash {
			return b.Ledger.Add(src).Number, true // which may know more of it
		}
		for _, other := range b.Ledger.Sources() {
			if other.Snapshot == snap.Hash && cite.Canonical(other.URI) == cite.Canonical(src.URI) {
				return other.Number, true
			}
		}
		if !earlier && !b.earlier[known.Number] {
			return 0, false
		}
		enter = b.Ledger.Anew
	}
	entered := enter(src)
	b.Snapshots[snap.Hash] = snap
	if _, err := b.Ledger.Read(entered.Number, snap); err != nil {
		return 0, false
	}
	if earlier {
		b.earlier[entered.Number] = true
	}
	return entered.Number, true
}

// renumbered are passages under other numbers, without those that have none.
func renumbered(passages []cite.Passage, to map[int]int) []cite.Passage {
	var out []cite.Passage
	for _, p := range passages {
		if n, ok := to[p.Source]; ok {
			p.Source = n
			out = append(out, p)
		}
	}
	return out
}

// readingOf is what e has read under the Book's numbers.
func readingOf(e *sources.Evidence, to map[int]int) *reading {
	r := &reading{}
	place := make(map[int]int) // of a passage of e among those of r
	for i, p := range e.Passages {
		if n, ok := to[p.Source]; ok {
			p.Source = n
			place[i] = len(r.passages)
			r.passages = append(r.passages, p)
		}
	}
	for _, f := range e.Facets {
		own := sources.FacetEvidence{Title: f.Title, Answered: f.Answered, Confidence: f.Confidence, Quotes: renumbered(f.Quotes, to)}
		own.Answered = own.Answered && len(own.Quotes) > 0
		for _, i := range f.Passages {
			if n, ok := place[i]; ok {
				own.Passages = append(own.Passages, n)
			}
		}
		r.facets = append(r.facets, own)
	}
	return r
}

// Finding returns the finding with an ID.
func (b *Book) Finding(id string) (Finding, bool) {
	i := slices.IndexFunc(b.Findings, func(f Finding) bool { return f.ID == id })
	if i < 0 {
		return Finding{}, false
	}
	return b.Findings[i], true
}

// Evidence is what some findings rest on, for sources' quoting and checking: a
// facet for each finding and each of what was looked for, with the passages of
// these findings and no others, each once.
func (b *Book) Evidence(question string, ids ...string) *sources.Evidence {
	e := &sources.Evidence{Question: question, Ledger: b.Ledger, Snapshots: b.Snapshots, Asked: b.Asked}
	at := make(map[spot]int)
	enter := func(p sources.Passage) int {
		key := spot{p.Source, p.Start, p.End}
		i, ok := at[key]
		if !ok {
			i = len(e.Passages)
			at[key] = i
			e.Passages = append(e.Passages, p)
		}
		return i
	}
	for _, id := range ids {
		f, ok := b.Finding(id)
		if !ok {
			continue
		}
		own := sources.FacetEvidence{Title: f.Task, Quotes: f.Passages, Answered: len(f.Passages) > 0, Confidence: 1}
		for _, p := range f.Passages {
			if made, ok := b.passage(p); ok {
				own.Passages = append(own.Passages, enter(made))
			}
		}
		if r := b.read[id]; r != nil {
			for _, facet := range r.facets {
				places := make([]int, len(facet.Passages))
				for i, n := range facet.Passages {
					places[i] = enter(r.passages[n])
				}
				facet.Passages = places
				e.Facets = append(e.Facets, facet)
			}
		}
		if len(own.Passages) > 0 && b.read[id] == nil {
			e.Facets = append(e.Facets, own)
		}
	}
	return e
}

// spot is where a passage stands.
type spot struct{ source, start, end int }

// passage is a span of a source of the Book with its words.
func (b *Book) passage(p cite.Passage) (sources.Passage, bool) {
	src, ok := b.Ledger.Source(p.Source)
	if !ok {
		return sources.Passage{}, false
	}
	snap := b.Snapshots[src.Snapshot]
	if snap == nil {
		return sources.Passage{}, false
	}
	text, err := p.Quote(snap)
	if err != nil {
		return sources.Passage{}, false
	}
	return sources.Passage{ID: fmt.Sprintf("%s#%d-%d", src.URI, p.Start, p.End), Passage: p, Title: src.Title, Date: src.Date, Text: text}, true
}
