package sources

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"

	"dossier/cite"
	"dossier/event"
	"dossier/lang"
	"dossier/prompt"
	"dossier/run"
)

// reading is a document that is read for its leads.
type reading struct {
	lead  Lead // the best of them
	leads []Lead
	got   readResult
	note  prompt.Decision[Note]
	noted bool
	spent error // why it may not be read
}

// readResult is what the step of a reading records; the text itself is a blob.
type readResult struct {
	Snapshot string    `json:"snapshot,omitempty"`
	URI      string    `json:"uri,omitempty"` // where it was in the end, if elsewhere
	Title    string    `json:"title,omitempty"`
	Author   string    `json:"author,omitempty"`
	Date     string    `json:"date,omitempty"`
	Site     string    `json:"site,omitempty"`
	Lang     lang.Code `json:"lang,omitempty"`
	Words    int       `json:"words,omitempty"`
	Passages []Spot    `json:"passages,omitempty"`
	Notes    []string  `json:"notes,omitempty"`
	Failure  string    `json:"failure,omitempty"` // why it could not be read
}

// worthReading lists documents: the best of each facet, then the second best of
// each, and so on.
func (g *gathering) worthReading() []*reading {
	byRef := make(map[string]*reading)
	seen := make(map[string]bool) // leads
	var out []*reading
	ranked := make([][]Lead, len(g.planned))
	most := 0
	for i := range ranked {
		ranked[i] = g.readable(i)
		most = max(most, len(ranked[i]))
	}
	for place := range most {
		for _, leads := range ranked {
			if place >= len(leads) || seen[leads[place].ID] {
				continue
			}
			l := leads[place]
			seen[l.ID] = true
			r := byRef[l.Ref]
			if r == nil {
				r = &reading{lead: l}
				byRef[l.Ref] = r
				out = append(out, r)
			}
			r.leads = append(r.leads, l)
		}
	}
	return out
}

// read reads the documents that are most worth it, has each noted, and numbers
// them. For those that can't be read the next ones are.
func (g *gathering) read(ctx context.Context) error {
	wanted := max(g.Tuning.ReadTop, len(g.planned))
	if g.Trail > 0 {
		wanted = max(wanted, g.Tuning.TopK)
	}
	most := g.scope.Budget().Allot(run.Pages, 0, wanted)
	candidates := g.worthReading()
	ctx = withPrivate(ctx, g.private())
	begun, entered := 0, 0
	for begun < len(candidates) && entered < most {
		if begun > 0 { // more than what was planned is read only if there is leave to
			if err := g.scope.Budget().Check(run.Pages); err != nil {
				if !Spent(err) {
					return err
				}
				return nil
			}
		}
		wave := first(candidates[begun:], most-entered)
		n, err := g.readAll(ctx, begun, wave)
		if err != nil {
			return err
		}
		begun, entered = begun+len(wave), entered+n
	}
	if most < wanted && begun < len(candidates) {
		return g.scope.Budget().Short(run.Pages)
	}
	return nil
}

// private is what was found in the user's own documents: whoever wrote queries has
// seen it, and an engine that was asked could have made an address of it.
func (g *gathering) private() secrets {
	texts := slices.Clone(g.Private)
	for _, id := range slices.Sorted(maps.Keys(g.leads)) {
		if l := g.leads[id]; l.Kind != cite.Web {
			texts = append(texts, l.Text)
		}
	}
	return newSecrets(texts...)
}

// readAll reads documents in parallel and returns how many could be read. Their
// names in the run begin after those of the ones before.
func (g *gathering) readAll(ctx context.Context, before int, readings []*reading) (int, error) {
	var done atomic.Int64
	tasks := make([]*run.Task, len(readings))
	for i, r := range readings {
		tasks[i] = run.Go(ctx, g.scope, fmt.Sprintf("read-%d", before+i+1), func(ctx context.Context, s *run.Scope) error {
			err := g.readOne(ctx, s, r)
			if r.noted { // which takes time; what passes by has no place in the code
				_ = g.scope.Emit(event.Progress{What: "notes", Done: done.Add(1), Total: int64(len(readings))})
			}
			return err
		})
	}
	if err := run.All(ctx, tasks...); err != nil {
		return 0, err
	}
	entered := 0
	for _, r := range readings {
		if r.spent != nil {
			g.evidence.Stopped = r.spent
			continue
		}
		if r.got.Failure != "" {
			g.trouble("research.source-failed", "place", r.lead.URI, "why", r.got.Failure)
			if err := g.scope.Emit(event.SourceFailed{URL: r.lead.URI, Reason: r.got.Failure}); err != nil {
				return 0, err
			}
			continue
		}
		entered++
		if err := g.enter(ctx, r); err != nil {
			return 0, err
		}
	}
	return entered, nil
}

// readOne reads a document and notes what it says about the question.
func (g *gathering) readOne(ctx context.Context, s *run.Scope, r *reading) error {
	var err error
	r.got, err = run.Step(ctx, s, "read", func(ctx context.Context, s *run.Scope) (readResult, error) {
		if g.Planned != nil { // who reads alone has asked before; parts of a larger work share what is left
			release, err := s.Budget().Reserve(run.Pages)
			if err != nil {
				return readResult{}, err
			}
			defer release()
		}
		doc, failure := g.open(ctx, r.lead)
		if ctx.Err() != nil {
			return readResult{}, context.Cause(ctx)
		}
		if failure != "" {
			return readResult{Failure: failure}, nil
		}
		s.Charge(run.Spent{Pages: 1})
		hash, err := g.Blobs.PutBlob(ctx, []byte(doc.Text))
		if err != nil {
			return readResult{}, err
		}
		return readResult{
			Snapshot: hash, URI: doc.URI, Notes: doc.Notes, Title: doc.Title, Author: doc.Author, Date: doc.Date, Site: doc.Site, Lang: doc.Lang,
			Words: lang.Words(doc.Text), Passages: doc.Passages,
		}, nil
	})
	if Spent(err) {
		r.spent, err = err, nil
	}
	if err != nil || r.spent != nil || r.got.Failure != "" {
		return err
	}
	return g.takeNote(ctx, s, r)
}

// open returns a document, or why it can't be read.
func (g *gathering) open(ctx context.Context, lead Lead) (doc Document, failure string) {
	doc, err := g.Corpus.Read(ctx, lead)
	if err != nil {
		return doc, err.Error()
	}
	return doc, ""
}

// enter gives a document its number and its passages their places.
func (g *gathering) enter(ctx context.Context, r *reading) error {
	e := g.evidence
	snap, err := g.snapshot(ctx, r.got.Snapshot)
	if err != nil {
		return err
	}
	uri := firstOf(r.got.URI, r.lead.URI)
	known, listed := e.Ledger.Lookup(uri)
	if listed && known.Snapshot != snap.Hash {
		// Two texts under one address: what was read first is what is cited.
		g.trouble("research.source-changed", "place", uri)
		return nil
	}
	for _, n := range r.got.Notes {
		g.trouble("research.source-note", "place", uri, "why", n)
	}
	src := e.Ledger.Add(cite.Source{
		URI: uri, Kind: r.lead.Kind, Title: firstOf(r.got.Title, r.lead.Title), Author: firstOf(r.got.Author, r.lead.Author),
		Date: firstOf(r.got.Date, r.lead.Date), Site: firstOf(r.got.Site, r.lead.Site), Lang: r.got.Lang,
	})
	if _, err := e.Ledger.Read(src.Number, snap); err != nil {
		return err
	}
	if !g.told || !listed {
		if err := g.tellSource(src, r); err != nil {
			return err
		}
	}
	for _, p := range r.places(snap) {
		at := snap.PassageAt(src.Number, lang.Span{Start: p.Start, End: p.End})
		at.HeadingPath, at.Page = p.Headings, p.Page
		e.Passages = append(e.Passages, Passage{ID: p.id, Passage: at, Title: src.Title, Date: src.Date, Text: snap.Text[p.Start:p.End]})
	}
	if !r.noted {
		return nil
	}
	n := r.note.Value
	n.Source = src.Number
	g.overruled(r.note.Overruled(), r.note.Why)
	if !n.Relevant || n.Summary == "" {
		return nil
	}
	e.Notes = append(e.Notes, n)
	if g.Planned != nil {
		return nil
	}
	return g.scope.Emit(event.NoteAdded{Text: n.Summary, Sources: []int{src.Number}})
}

// tellSource tells of a document that has its number now.
func (g *gathering) tellSource(src cite.Source, r *reading) error {
	number := src.Number
	if g.Planned != nil {
		number = 0 // it gets its number in the larger work
	} else if err := g.scope.Emit(event.SourceFound{Number: src.Number, Title: src.Title, URL: src.URI, Snippet: short(r.lead.Text)}); err != nil {
		return err
	}
	return g.scope.Emit(event.SourceRead{Number: number, Title: src.Title, URL: src.URI, Hash: r.got.Snapshot, Words: r.got.Words})
}

// placed is a passage of a document with the lead that it was found by.
type placed struct {
	Spot
	id string
}

// places returns where the passages of a document stand: those of its leads,
// or all of them where the leads have no place.
func (r *reading) places(snap *cite.Snapshot) []placed {
	var out []placed
	for _, l := range r.leads {
		if l.Spot.End > l.Spot.Start && l.Spot.End <= len(snap.Text) {
			out = append(out, placed{l.Spot, l.ID})
		}
	}
	if len(out) > 0 {
		return out
	}
	for i, p := range r.got.Passages {
		if p.End > p.Start && p.End <= len(snap.Text) {
			out = append(out, placed{p, fmt.Sprintf("%s#%d", r.lead.Ref, i)})
		}
	}
	return out
}

// snapshot returns a text that was read, by its hash.
func (g *gathering) snapshot(ctx context.Context, hash string) (*cite.Snapshot, error) {
	if snap := g.evidence.Snapshots[hash]; snap != nil {
		return snap, nil
	}
	raw, err := g.Blobs.Blob(ctx, hash)
	if err != nil {
		return nil, fmt.Errorf("the text of a source that was read: %w", err)
	}
	return g.evidence.Snapshots.Add(string(raw)), nil
}

func firstOf(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}

// short is the beginning of a text, for the event log.
func short(text string) string {
	const most = 200
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return text
}
