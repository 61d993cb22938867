package evidence

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"dossier/cite"
	"dossier/event"
	"dossier/extract"
	"dossier/lang"
	"dossier/run"
	"dossier/search"
	"dossier/sources"
	"dossier/study"
)

// gather retrieves and reads for all sections that have queries, in parallel, and
// enters what was found in the order of the sections. It returns how many sources
// are new. That no section could be searched at all is an error in the first
// iteration only.
func (w *work) gather(ctx context.Context, s *run.Scope, n int, queries [][]string) (fresh int, err error) {
	found := make([]*sources.Evidence, len(w.plan.Sections))
	failed := make([]error, len(w.plan.Sections))
	var tasks []*run.Task
	for i, sec := range w.plan.Sections {
		if len(queries[i]) == 0 {
			continue
		}
		job := w.job(n, sec, queries[i])
		tasks = append(tasks, run.Go(ctx, s, fmt.Sprintf("section-%d", i+1), func(ctx context.Context, s *run.Scope) error {
			found[i], failed[i] = sources.Gather(ctx, s, job)
			if err := failed[i]; err != nil && !forgiven(err) {
				return err
			}
			return nil
		}))
	}
	if err := run.All(ctx, tasks...); err != nil {
		return 0, err
	}
	searched := false
	for i, e := range found {
		if err := failed[i]; err != nil {
			w.book.Note(lang.Text(w.brief.Language, "study.not-searched", "section", w.plan.Sections[i].Title, "why", err.Error()))
		}
		if e == nil {
			continue
		}
		searched = true
		w.stopped = w.stopped || e.CutShort()
		entered, err := w.enter(s, n, i, e)
		if err != nil {
			return 0, err
		}
		fresh += entered
	}
	if i := slices.IndexFunc(failed, func(err error) bool { return err != nil }); !searched && n == 1 && i >= 0 {
		return 0, failed[i]
	}
	return fresh, nil
}

// job is what is gathered for a section in an iteration.
func (w *work) job(n int, sec study.PlanSection, queries []string) sources.Job {
	for _, q := range queries {
		w.asked[compared(q)] = true
		w.queries = append(w.queries, q)
	}
	w.asked[compared(sec.Description)] = true // as far as there is room
	tuning := w.set.Tuning
	tuning.PerRound = 0
	if w.open.Web {
		tuning.PerRound = tuning.Queries
	}
	tiers, all := tiersFor(strings.Join(append([]string{w.brief.Refined, sec.Title, sec.Description}, queries...), " "), w.engines())
	seen := maps.Clone(w.visited)
	facets := []sources.Facet{{Title: sec.Description, Queries: slices.Clone(queries)}}
	if n > 1 && !w.noModel { // what a model misses is asked for by itself; rules only ask in other words
		facets = nil
		for _, q := range queries {
			facets = append(facets, sources.Facet{Title: q, Queries: []string{q}})
		}
	}
	trail := 0
	if w.noModel && n == 1 && slices.Contains(extract.Facets(w.brief.Refined), sec.Description) {
		trail = w.set.Trail
	}
	return sources.Job{
		Models: w.Models, Model: w.req.Model, Blobs: w.Blobs, Rerankers: w.Rerankers, Known: w.known, Corpus: sources.Without(w.open.Corpus, min(len(seen), tuning.MaxResults), func(l sources.Lead) bool { return seen[l.ID] }),
		Question: sec.Description, Language: w.brief.Language, Where: w.open.Where, Tuning: tuning, Tiers: tiers, Wide: n > 1 || all,
		Private: w.earlier.Private(), Trail: trail,
		Planned: &sources.Planned{
			Plan:    sources.Plan{Question: sec.Description, Facets: facets},
			NoModel: w.noModel, ByRules: w.byRules && n == 1,
		},
	}
}

// engines are those of the run, the preferred first.
func (w *work) engines() []search.Info {
	if choice, ok := w.open.Corpus.(sources.Choice); ok {
		return choice.Engines()
	}
	return nil
}

// tiersFor puts engines in the order in which they are asked: papers; then what
// people write about them in blogs, code and discussions; then the open web, of
// whose engines Bocha is the last. Of the first two only those that the text
// speaks of; where it speaks of no such thing, all are asked at once.
func tiersFor(text string, engines []search.Info) (tiers [][]string, atOnce bool) {
	chosen := sources.EnginesFor(text, engines)
	atOnce = len(chosen) == 0
	tiers = make([][]string, 3)
	for _, e := range engines {
		if t := tierOf(e); t == openWeb || atOnce || slices.Contains(chosen, e.Name) {
			tiers[t] = append(tiers[t], e.Name)
		}
	}
	slices.SortStableFunc(tiers[openWeb], func(a, b string) int { return last(a) - last(b) })
	return slices.DeleteFunc(tiers, func(t []string) bool { return len(t) == 0 }), atOnce
}

// last puts the engine behind the others that is asked when none of them has
// anything.
func last(engine string) int {
	if engine == "bocha" {
		return 1
	}
	return 0
}

const (
	papers = iota
	written
	openWeb
)

// tierOf is the tier of an engine.
func tierOf(e search.Info) int {
	switch {
	case slices.Contains(e.Topics, search.General), slices.Contains(e.Topics, search.Encyclopedia):
		return openWeb
	case slices.Contains(e.Topics, search.Papers):
		return papers
	}
	return written
}

// enter takes what was found for a section into the book and tells it. It returns
// how many sources are new.
func (w *work) enter(s *run.Scope, n, i int, e *sources.Evidence) (fresh int, err error) {
	before := len(w.book.Ledger.Sources())
	sec := w.plan.Sections[i]
	for _, p := range e.Passages {
		w.visited[leadOf(p.ID)] = true
	}
	f := study.Finding{By: fmt.Sprintf("iteration-%d", n), Task: sec.Title, Text: textOf(e)}
	known := slices.ContainsFunc(w.book.Findings, func(f study.Finding) bool { return f.Task == sec.Title })
	for _, facet := range e.Facets {
		// What is added to something has to be surer than what comes first.
		if facet.Answered && (!known || facet.Confidence >= extract.Sure) {
			f.Passages = append(f.Passages, facet.Quotes...)
		}
	}
	covered := len(f.Passages) > 0 || len(e.Notes) > 0
	item := ""
	if i < len(w.plan.Rubric) && w.plan.Rubric[i].Kind == study.SubQuestion {
		item = w.plan.Rubric[i].ID
		f.Items = []string{item}
	}
	if !covered {
		w.book.Pass(e)
		return 0, nil // what was read says nothing about it
	}
	f = w.book.Add(e, f)
	w.plan.Cover(item, f.ID)
	return len(w.book.Ledger.Sources()) - before, w.tell(s, f, before)
}

// tell tells a finding and the sources that came with it, after so many.
func (w *work) tell(s *run.Scope, f study.Finding, before int) error {
	for _, src := range w.book.Ledger.Sources()[before:] {
		w.state.VisitedSources = append(w.state.VisitedSources, src.URI)
		found := event.SourceFound{Number: src.Number, Title: src.Title, URL: src.URI}
		if w.set.FollowUps > 0 {
			found.Hash = src.Snapshot
		}
		if err := s.Emit(found); err != nil {
			return err
		}
	}
	return s.Emit(event.NoteAdded{ID: f.ID, Text: f.Text, Sources: f.Sources()})
}

// textOf is what a gathering found out, with its own numbers: what each document
// says, or, where no model noted it, the sentences that answer.
func textOf(e *sources.Evidence) string {
	var out []string
	for _, n := range e.Notes {
		out = append(out, strings.TrimSpace(n.Summary)+" "+cite.Marker([]int{n.Source}))
	}
	if len(out) > 0 {
		return strings.Join(out, "\n")
	}
	for _, f := range e.Facets {
		if !f.Answered {
			continue
		}
		for _, q := range f.Quotes {
			src, ok := e.Ledger.Source(q.Source)
			if !ok {
				continue
			}
			if text, err := q.Quote(e.Snapshots[src.Snapshot]); err == nil {
				out = append(out, strings.Join(strings.Fields(cite.Sanitize(text)), " ")+" "+cite.Marker([]int{q.Source}))
			}
		}
	}
	return strings.Join(out, "\n")
}

// compress tells how much of what was found says something of its own, and keeps
// that.
func (w *work) compress(s *run.Scope) error {
	kept := w.book.Compressed()
	w.state.GatheredInfo = nil
	for _, f := range kept {
		w.state.GatheredInfo = append(w.state.GatheredInfo, f.Text)
	}
	if len(w.book.Findings) == 0 {
		return nil
	}
	return s.Emit(event.FindingCompressed{Before: len(w.book.Findings), After: len(kept)})
}

// leadOf is the lead that a passage was read for: the address of a page, or the
// passage of a document.
func leadOf(id string) string {
	if at := strings.LastIndexByte(id, '#'); at > 0 && strings.Contains(id[:at], "://") {
		return id[:at]
	}
	return id
}
