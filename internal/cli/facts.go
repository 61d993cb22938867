package cli

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"dossier/event"
	"dossier/internal/base/term"
	"dossier/lang"
)

// facts are what a board knows of a run: what can be read off its events at
// any moment.
type facts struct {
	lang lang.Code

	plan     []event.PlanStep
	searches int
	search   event.SearchResults // the last one that came back
	engines  []event.EngineReply // as each of them answered last
	dropped  map[string]int      // results that are not used, by the reason
	found    int
	read     int
	failed   int
	source   string // the last one read
	works    []event.Progress
	coverage []event.Coverage // by what it is of
	notes    int
	calls    map[string]bool // of tools, each by its id
	badCalls int
	tokens   int
	cost     float64
	budget   int // percent of the limit that is nearest
	team     *teamFacts
}

// observe takes an event in. It reports whether the board shows the event by
// itself, so that it needs no line of its own.
func (f *facts) observe(ev event.Event) bool {
	if f.observeTeam(ev) {
		return true
	}
	switch d := ev.Data.(type) {
	case event.PlanUpdated:
		f.plan, f.works = d.Steps, nil // what came before the plan is done
	case event.SearchStarted:
		f.searches++
		return false
	case event.SearchResults:
		f.results(d)
	case event.SourceFound:
		f.found = max(f.found, d.Number)
	case event.SourceRead:
		f.read++
		f.source = sourceName(d.Title, d.URL)
	case event.SourceFailed:
		f.failed += 1 + d.Others
		f.source = sourceName("", d.URL)
	case event.Progress:
		f.progress(d)
	case event.Coverage:
		f.cover(d)
	case event.NoteAdded:
		f.notes++
	case event.AgentAction:
		f.call(ev.Agent, d)
		return false
	case event.Usage:
		f.tokens += d.Input + d.Output
		f.cost += d.Cost
		return false
	case event.BudgetWarning:
		if d.Limit > 0 {
			f.budget = max(f.budget, int(100*d.Spent/d.Limit))
		}
		return false
	default:
		return false
	}
	return true
}

// now is what a run does after an event that the board shows by itself, as far
// as that can be told.
func (f *facts) now(ev event.Event) string {
	var key string
	switch d := ev.Data.(type) {
	case event.Progress:
		key = d.What
	case event.SearchResults:
		key = "choosing"
	case event.SourceRead, event.SourceFailed:
		key = "sources"
	case event.NoteAdded:
		key = "notes"
	case event.Coverage:
		if key = "writing"; d.Of == "claims" {
			key = "checking"
		}
	default:
		return ""
	}
	return inWords(f.lang, "now", key)
}

func (f *facts) results(r event.SearchResults) {
	f.search = r
	for _, reply := range r.Engines {
		if i := slices.IndexFunc(f.engines, func(e event.EngineReply) bool { return e.Engine == reply.Engine }); i >= 0 {
			f.engines[i] = reply
		} else {
			f.engines = append(f.engines, reply)
		}
	}
	if f.dropped == nil {
		f.dropped = make(map[string]int)
	}
	for _, d := range r.Dropped {
		f.dropped[d.Reason]++
	}
}

// progress keeps the pieces of work that are not done, the latest last.
func (f *facts) progress(p event.Progress) {
	kept := f.works[:0]
	for _, w := range f.works {
		if w.What != p.What {
			kept = append(kept, w)
		}
	}
	f.works = kept
	if p.Total == 0 || p.Done < p.Total {
		f.works = append(f.works, p)
	}
}

// call counts tool calls. Each has two events, the second with what came of it.
func (f *facts) call(agent string, a event.AgentAction) {
	if f.calls == nil {
		f.calls = make(map[string]bool)
	}
	f.calls[agent+"\x00"+a.CallID] = true
	if a.Failed {
		f.badCalls++
	}
}

// called says how many tool calls there were, and how many of them failed.
func (f *facts) called() []string {
	if len(f.calls) == 0 {
		return nil
	}
	out := []string{lang.Text(f.lang, "calls.count", "n", len(f.calls))}
	if f.badCalls > 0 {
		out[0] += " (" + lang.Text(f.lang, "board.unread", "n", f.badCalls) + ")"
	}
	return out
}

func (f *facts) cover(c event.Coverage) {
	for i := range f.coverage {
		if f.coverage[i].Of == c.Of {
			f.coverage[i] = c
			return
		}
	}
	f.coverage = append(f.coverage, c)
}

// sourceName is a source in few words: its title, else the end of its address.
func sourceName(title, address string) string {
	if title = term.Line(title); title != "" {
		return title
	}
	address = term.Line(strings.ReplaceAll(address, `\`, "/"))
	if base := path.Base(strings.TrimRight(address, "/")); base != "." && base != "/" && !strings.Contains(address, "://") {
		return base
	}
	_, rest, found := strings.Cut(address, "://")
	if found {
		return rest
	}
	return address
}

const (
	maxSteps = 4  // of the plan that are shown
	maxWorks = 2  // pieces of work in progress that are shown
	maxBar   = 30 // columns of a bar
	leastBar = 8
	// leastQuery is how many columns a query keeps where there is no room for
	// it and its result.
	leastQuery = 8
)

// lines are the facts in few lines of at most width columns; none while there
// is nothing to tell.
func (f *facts) lines(width int) []string {
	var out []string
	add := func(text string) { out = append(out, term.Fit("  "+text, width)) }
	steps := f.planLines
	if f.team != nil {
		steps = f.teamLines
	}
	for _, l := range steps() {
		add(l)
	}
	if f.searches > 0 || f.search.Query != "" {
		text := lang.Text(f.lang, "searches.count", "n", f.searches)
		if f.search.Query != "" {
			result := lang.Text(f.lang, "board.found", "found", f.search.Found, "new", f.search.New)
			if f.search.Error != "" {
				result = lang.Text(f.lang, "board.failed", "reason", term.Line(f.search.Error))
			}
			text += " · " + term.Fit(term.Line(f.search.Query), max(leastQuery, width-term.Width(text+result)-8)) + " → " + result
		}
		add(text)
	}
	if len(f.engines) > 0 {
		add(strings.Join(f.health(), " · "))
	}
	if len(f.dropped) > 0 {
		add(drops(f.lang, f.dropped))
	}
	if f.found > 0 || f.read > 0 || f.failed > 0 {
		parts := f.sources()
		if f.source != "" {
			parts = append(parts, f.source)
		}
		add(strings.Join(parts, " · "))
	}
	for _, w := range f.works[max(0, len(f.works)-maxWorks):] {
		add(bar(f.lang, w, width-2))
	}
	if totals := f.totals(); len(totals) > 0 {
		add(strings.Join(totals, " · "))
	}
	return out
}

// health is how each engine does, those that failed first: there may be no room
// for all.
func (f *facts) health() []string {
	var failed, well []string
	for _, e := range f.engines {
		key, to := "board.engine", &well
		switch {
		case e.Error != "":
			key, to = key+"-failed", &failed
		case e.Cached:
			key += "-cached"
		}
		reason, _, _ := strings.Cut(e.Error, ": ") // without what the engine said
		*to = append(*to, lang.Text(f.lang, key, "engine", term.Line(e.Engine), "reason", term.Line(inWords(f.lang, "engine", reason))))
	}
	return append(failed, well...)
}

// drops says how many results are not used and why, the most frequent reason
// first.
func drops(code lang.Code, dropped map[string]int) string {
	reasons := slices.SortedFunc(maps.Keys(dropped), func(a, b string) int {
		return cmp.Or(dropped[b]-dropped[a], cmp.Compare(a, b))
	})
	all := 0
	for i, r := range reasons {
		all += dropped[r]
		reasons[i] = lang.Text(code, "board.drop", "n", dropped[r], "reason", term.Line(inWords(code, "drop", r)))
	}
	return lang.Text(code, "board.dropped", "n", all, "reasons", strings.Join(reasons, ", "))
}

// inWords is a reason in a language, where it has one.
func inWords(code lang.Code, of, reason string) string {
	key := of + "." + strings.ReplaceAll(reason, " ", "-")
	if text := lang.Text(code, key); text != key {
		return text
	}
	return reason
}

// planLines are the steps of the plan; of a long one, what is still to do.
func (f *facts) planLines() []string {
	shown, done := f.plan, 0
	for _, s := range f.plan {
		if s.State == "done" || s.State == "dropped" {
			done++
		}
	}
	var out []string
	if len(f.plan) > maxSteps {
		out = append(out, "✓ "+lang.Text(f.lang, "board.steps", "done", done, "total", len(f.plan)))
		shown = nil
		for _, state := range []string{"active", "pending", ""} {
			for _, s := range f.plan {
				if s.State == state {
					shown = append(shown, s)
				}
			}
		}
	}
	for i, s := range shown {
		if len(out) == maxSteps-1 && len(shown)-i > 1 {
			return append(out, "… "+lang.Text(f.lang, "board.more", "n", len(shown)-i))
		}
		out = append(out, stepMark(s.State)+" "+term.Line(s.Title))
	}
	return out
}

func stepMark(state string) string {
	switch state {
	case "done":
		return "✓"
	case "active":
		return "▸"
	case "dropped":
		return "–"
	}
	return "○"
}

// sources counts what was found and read.
func (f *facts) sources() []string {
	var out []string
	if f.found > 0 {
		out = append(out, lang.Text(f.lang, "sources.count", "n", f.found))
	}
	if f.read > 0 {
		out = append(out, lang.Text(f.lang, "board.read", "n", f.read))
	}
	if f.failed > 0 {
		out = append(out, lang.Text(f.lang, "board.unread", "n", f.failed))
	}
	return out
}

func (f *facts) covered() []string {
	var out []string
	for _, c := range f.coverage {
		key := "board.facets"
		if c.Of == "claims" || c.Of == "rubric" {
			key = "board." + c.Of
		}
		out = append(out, lang.Text(f.lang, key, "covered", c.Covered, "total", c.Total))
	}
	return out
}

func (f *facts) totals() []string {
	out := f.covered()
	if f.notes > 0 {
		out = append(out, lang.Text(f.lang, "notes.count", "n", f.notes))
	}
	out = append(out, f.called()...)
	if f.tokens > 0 {
		out = append(out, lang.Text(f.lang, "tokens.count", "n", f.tokens))
	}
	if f.cost > 0 {
		out = append(out, fmt.Sprintf("$%.4f", f.cost))
	}
	if f.budget > 0 {
		out = append(out, lang.Text(f.lang, "board.budget", "percent", f.budget))
	}
	return out
}

// summary is what is left of the facts when a run is over, without what the
// last line says anyway.
func (f *facts) summary() string {
	var out []string
	if f.searches > 0 {
		out = append(out, lang.Text(f.lang, "searches.count", "n", f.searches))
	}
	out = append(out, f.sources()...)
	all := 0
	for _, n := range f.dropped {
		all += n
	}
	if all > 0 {
		out = append(out, lang.Text(f.lang, "board.dropped-count", "n", all))
	}
	return strings.Join(slices.Concat(out, f.covered(), f.called()), " · ")
}

// bar is a piece of work with how far it is, in at most width columns.
func bar(code lang.Code, p event.Progress, width int) string {
	count := fmt.Sprint(p.Done)
	if p.Total > 0 {
		count += "/" + fmt.Sprint(p.Total)
	}
	what := term.Line(work(code, p.What))
	note := term.Line(p.Note)
	size := min(maxBar, width/3)
	if p.Total <= 0 || size < leastBar {
		return strings.TrimSpace(what + " " + count + " " + note)
	}
	full := int(float64(size) * min(1, float64(max(0, p.Done))/float64(p.Total)))
	return strings.TrimSpace(what + " " + strings.Repeat("█", full) + strings.Repeat("░", size-full) + " " + count + " " + note)
}
