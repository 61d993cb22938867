package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"dossier/event"
	"dossier/internal/base/term"
	"dossier/internal/base/term/markdown"
	"dossier/lang"
	"dossier/report"
	"dossier/run"
	"dossier/sources"
)

// view shows a run as it happens.
type view interface {
	show(ev event.Event)
	// pause makes room for something else on the screen until the next event.
	pause()
	close()
}

// jsonView prints each event as a line of JSON.
type jsonView struct{ out io.Writer }

func (v jsonView) pause() {}
func (v jsonView) close() {}

func (v jsonView) show(ev event.Event) { printJSON(v.out, ev) }

// printJSON writes a value as one line. Characters that a terminal would act
// upon are escaped, which changes nothing for a program.
func printJSON(w io.Writer, value any) {
	raw, err := json.Marshal(value)
	if err != nil {
		return // what was stored as JSON encodes
	}
	_, _ = io.WriteString(w, safeJSON(raw)+"\n") // a reader that left doesn't need it
}

// safeJSON is JSON without characters that a terminal would act upon.
func safeJSON(raw []byte) string {
	var b strings.Builder
	b.Grow(len(raw))
	for len(raw) > 0 {
		r, n := utf8.DecodeRune(raw)
		if r >= utf8.RuneSelf && term.Clean(string(r)) == "" {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.Write(raw[:n])
		}
		raw = raw[n:]
	}
	return b.String()
}

// textView writes the answer to out and what happens meanwhile to the board.
type textView struct {
	out   io.Writer
	paper *paper // the terminal that out is, nil if it is none: show the answer while it is written
	board board
	lang  lang.Code
	// verbose shows a model's reasoning and what it cost, and shortens nothing.
	verbose bool
	// dir is where the command was given: paths are shown from there.
	dir string
	// echo shows the user's own messages, for those who only watch.
	echo bool
	// since is when the run began whose past is another one's.
	since time.Time
	// first is what the run does at first, where that is shown.
	first string

	// reports gets the report of a run, of which extent is shown, and page shows
	// lines in a pager if there is one. They may be nil.
	reports func(id string) (*report.Report, error)
	extent  report.Extent
	page    func(lines []string) bool

	reported bool     // there is a report
	long     []string // an answer for the pager, once the run is over
	strip    term.Stripper
	streamed strings.Builder
	began    time.Time
	tokens   int
	cost     float64
	told     map[string]int64 // tenths of work in progress that had a line
	planned  []string         // steps of the plan that had a line
	called   map[string]bool  // tool calls that had a line, and whose result is to come
	failing  map[string]bool  // what is the matter with models, as far as it had a line
	team     facts            // of who works together, for lines
}

func (v *textView) pause() { v.board.hide() }

// close leaves what came of it, and shows an answer that is longer than the
// screen.
func (v *textView) close() {
	v.board.close()
	if v.long != nil && (v.page == nil || !v.page(v.long)) {
		_, _ = io.WriteString(v.out, strings.Join(v.long, "\n")+"\n")
	}
}

func (v *textView) show(ev event.Event) {
	if s, ok := ev.Data.(event.RunStatus); v.began.IsZero() || ok && s.Status == string(run.Running) {
		v.began = ev.Time // of this stretch of work
	}
	if _, spent := ev.Data.(event.Usage); spent && ev.Time.Before(v.since) {
		return // by the run that this is a fork of
	}
	switch d := ev.Data.(type) {
	case event.AnswerDelta:
		if ev.Agent == "" && !d.Ready { // else it is not the run's answer, or that follows whole
			v.delta(d)
		}
		return
	case event.Message:
		v.message(ev.Run, d)
		return
	case event.ExportReady:
		v.reported = true
	case event.ReportReset:
		if v.writing() && ev.Agent == "" { // what was shown does not hold: what does is to come
			v.delta(event.AnswerDelta{Reset: true})
		}
	case event.Usage:
		v.tokens += d.Input + d.Output
		v.cost += d.Cost
	}
	if v.board.observe(ev) {
		return
	}
	line := v.line(ev)
	if line == "" || v.paper != nil && v.writing() && !interrupts(ev) {
		return // the board must not tear a line of the answer
	}
	v.breakLine()
	v.board.line(line)
}

// say leaves a line on the screen while the run goes on.
func (v *textView) say(text string) {
	v.breakLine()
	v.board.say(text)
}

// writing says whether a part of the answer is on the screen.
func (v *textView) writing() bool { return v.streamed.Len() > 0 }

// interrupts says whether an event ends what was being written.
func interrupts(ev event.Event) bool {
	s, ok := ev.Data.(event.RunStatus)
	return ok && s.Status != string(run.Running)
}

// delta shows a piece of the answer on a terminal. Elsewhere the whole text is
// waited for: what a pipe has read can't be taken back.
func (v *textView) delta(d event.AnswerDelta) {
	if v.paper == nil || v.paper.still {
		return
	}
	v.board.hide()
	if d.Reset {
		v.streamed.Reset()
		v.strip = term.Stripper{}
	}
	v.streamed.WriteString(v.strip.Clean(d.Text))
	v.paper.show(markdown.Lines(v.streamed.String(), v.paper.look(nil)))
}

// breakLine ends the answer that is being written: what comes is not its rest.
func (v *textView) breakLine() {
	if v.paper != nil {
		v.paper.end()
	}
	v.streamed.Reset()
	v.strip = term.Stripper{}
}

func (v *textView) message(id string, m event.Message) {
	if m.Role != "assistant" {
		if v.echo {
			v.board.hide()
			v.board.line("> " + term.Line(m.Text))
		}
		return
	}
	v.board.hide()
	if v.verbose && m.Reasoning != "" {
		v.breakLine()
		v.board.line("reasoning: " + term.Line(m.Reasoning))
	}
	text := strings.TrimRight(term.Clean(m.Text), " \n\t")
	var r *report.Report
	if v.reported && v.reports != nil {
		var err error
		if r, err = v.reports(id); err == nil {
			text = strings.TrimRight(report.Form{Extent: v.extent, Linked: v.paper != nil}.Markdown(r), "\n")
		}
	}
	if v.paper == nil {
		_, _ = io.WriteString(v.out, text+"\n"+afterAnswer(m, v.lang))
		return
	}
	lines := markdown.Lines(text+keyPoints(m.KeyPoints, v.lang), v.paper.look(r))
	if !v.writing() && v.paper.long(lines) {
		v.long = lines
		return
	}
	v.paper.show(lines)
	v.breakLine()
}

// afterAnswer is what belongs to an answer beside its text.
func afterAnswer(m event.Message, code lang.Code) string {
	var b strings.Builder
	if len(m.KeyPoints) > 0 {
		fmt.Fprintf(&b, "\n%s:\n", lang.Text(code, "heading.key-points"))
		for _, p := range m.KeyPoints {
			fmt.Fprintf(&b, "- %s\n", term.Line(p))
		}
	}
	return b.String()
}

// line is an event in one short line, or "" when it is not worth one.
func (v *textView) line(ev event.Event) string {
	told := v.team.observeTeam(ev)
	who := v.who(ev.Agent)
	if d, ok := introduces(ev); ok {
		return term.Line(lang.Text(v.lang, "line.member", "name", d.Name, "role", d.Role))
	}
	text := ""
	switch d := ev.Data.(type) {
	case event.RunStatus:
		text = v.status(ev, d)
	case event.RunReopened:
		if len(d.Steps) > 0 {
			text = lang.Text(v.lang, "line.reopened", "steps", strings.Join(d.Steps, ", "))
		}
	case event.RunError:
		if !d.Fatal { // a fatal one is the command's own error
			text = lang.Text(v.lang, "line.trouble", "text", d.Message)
		}
	case event.ModelWaiting:
		text = v.waiting(d)
	case event.ModelFailed:
		text = v.modelFailed(d)
	case event.BudgetWarning:
		if d.Hit {
			text = lang.Text(v.lang, "budget.hit", "used", amount(d.What, d.Spent), "limit", amount(d.What, d.Limit))
		} else {
			text = lang.Text(v.lang, "budget.near", "percent", int(100*d.Spent/d.Limit), "used", amount(d.What, d.Spent), "limit", amount(d.What, d.Limit))
		}
	case event.Circumstances:
		text = lang.Text(v.lang, "line.changed", "changes", v.changes(d.Changes))
	case event.Progress:
		text = v.progress(d)
	case event.PlanUpdated:
		if !told {
			text = v.plan(d)
		}
	case event.AgentStarted:
		if !told {
			text = lang.Text(v.lang, "line.agent", "name", d.Name, "text", v.brief(d.Task))
		}
	case event.AgentFinished:
		if !told {
			text = lang.Text(v.lang, "line.agent", "name", d.Name, "text", inWords(v.lang, "outcome", d.Outcome))
		}
	case event.TodoUpdated:
		text = lang.Text(v.lang, "line.todo-"+d.State, "agent", d.Agent, "title", v.brief(d.Title))
	case event.NoteAdded:
		if v.team.team != nil && ev.Agent == "" {
			text = lang.Text(v.lang, "line.note", "text", v.brief(d.Text))
		}
	case event.AgentAction:
		text = v.action(ev.Agent, d)
	case event.AgentReasoning:
		text = lang.Text(v.lang, "line.thinks", "text", v.brief(d.Text))
	case event.AgentReflected:
		if text = lang.Text(v.lang, "line.reflects", "text", v.brief(d.Text)); d.Score > 0 {
			text = lang.Text(v.lang, "line.reflected", "score", d.Score, "text", v.brief(d.Text))
		}
	case event.AgentRefined:
		text = lang.Text(v.lang, "line.refines", "coverage", percent(&d.Coverage), "missing", v.brief(strings.Join(d.Missing, "; ")))
	case event.AgentAnswered:
		text = lang.Text(v.lang, "line.answered-"+d.By, "coverage", percent(&d.Coverage), "cited", percent(&d.CitationCoverage), "confidence", percent(&d.Confidence))
	case event.SupervisorDecision:
		if text = lang.Text(v.lang, "line.decides", "text", d.Decision); d.Reason != "" {
			text = lang.Text(v.lang, "line.decides-why", "decision", inWords(v.lang, "decision", d.Decision), "reason", v.brief(d.Reason))
		}
	case event.SearchStarted:
		text = lang.Text(v.lang, "line.searches", "query", d.Query)
		if d.Engine != "" && d.Engine != sources.LocalName {
			text = lang.Text(v.lang, "line.searches-in", "engines", d.Engine, "query", d.Query)
		}
	case event.SearchResults:
		text = v.results(d)
	case event.SearchRound:
		text = lang.Text(v.lang, "line.round-"+d.Decision, "round", d.Round, "reason", v.brief(d.Reason))
	case event.SourceRead:
		if text = lang.Text(v.lang, "line.read", "number", d.Number, "place", v.place(d.URL)); d.Number == 0 {
			text = lang.Text(v.lang, "line.read-only", "place", v.place(d.URL))
		}
	case event.SourceFailed:
		text = lang.Text(v.lang, "line.unread", "place", v.place(d.URL), "reason", d.Reason)
	case event.ReportSection:
		text = lang.Text(v.lang, "line.wrote", "title", d.Title)
	case event.Coverage:
		if told {
			return ""
		}
		text = lang.Text(v.lang, "line."+d.Of, "covered", d.Covered, "total", d.Total)
	case event.Usage:
		if v.verbose {
			text = fmt.Sprintf("%s: %d tokens in, %d out", d.Model, d.Input, d.Output)
		}
	case event.ClarifyAnswered:
		if v.echo {
			text = "answered: " + d.Answer
		}
	}
	if text == "" {
		return ""
	}
	return who + term.Line(text)
}

// who is the part of the run in which something happened: of a team, who did it.
func (v *textView) who(path string) string {
	if path == "" {
		return ""
	}
	if v.team.team != nil {
		path, _, _ = strings.Cut(path, "/")
	}
	return "[" + term.Line(path) + "] "
}

// changes says what is no longer as it was.
func (v *textView) changes(list []event.Change) string {
	named := func(name string) string { return cmp.Or(name, lang.Text(v.lang, "changed.none")) }
	var out []string
	for _, c := range list {
		key := "changed." + c.What
		if text := lang.Text(v.lang, key, "of", c.Of, "was", named(c.Was), "now", named(c.Now)); text != key {
			out = append(out, text) // others are of a later program
		}
	}
	return strings.Join(out, "; ")
}

// results is a line about what came back from a search: how much, from which
// engines, and what is not used of it.
func (v *textView) results(r event.SearchResults) string {
	parts := []string{lang.Text(v.lang, "line.found", "found", r.Found, "new", r.New, "query", r.Query)}
	if r.Error != "" {
		parts[0] = lang.Text(v.lang, "line.search-failed", "reason", r.Error)
	}
	replies := make([]string, len(r.Engines))
	for i, e := range r.Engines {
		key := "line.engine"
		switch {
		case e.Error != "":
			key += "-failed"
		case e.Cached:
			key += "-cached"
		}
		replies[i] = lang.Text(v.lang, key, "engine", e.Engine, "found", e.Found, "reason", e.Error)
	}
	if len(replies) > 0 {
		parts = append(parts, strings.Join(replies, ", "))
	}
	if len(r.Dropped) > 0 {
		dropped := make(map[string]int)
		for _, d := range r.Dropped {
			dropped[d.Reason]++
		}
		parts = append(parts, drops(v.lang, dropped))
	}
	return strings.Join(parts, " · ")
}

func (v *textView) status(ev event.Event, d event.RunStatus) string {
	switch s := run.Status(d.Status); s {
	case run.Running:
		text := "run " + ev.Run
		if d.Reason != "" {
			text += ": " + d.Reason
		}
		if v.first != "" {
			text = v.first + " · " + text
		}
		return text
	case run.Done:
		text := lang.Text(v.lang, "status.done") + " · " + took(ev.Time.Sub(v.began))
		if v.tokens > 0 {
			text += " · " + lang.Text(v.lang, "tokens.count", "n", v.tokens)
		}
		if v.cost > 0 {
			text += fmt.Sprintf(" · $%.4f", v.cost)
		}
		return text
	case run.Cancelled:
		return lang.Text(v.lang, "run.cancelled")
	case run.Paused:
		return lang.Text(v.lang, "status.paused")
	}
	return ""
}

// plan is a line for a plan that has other steps than before.
func (v *textView) plan(p event.PlanUpdated) string {
	titles := make([]string, len(p.Steps))
	for i, s := range p.Steps {
		titles[i] = s.Title
	}
	if slices.Equal(titles, v.planned) {
		return ""
	}
	v.planned = titles
	return lang.Text(v.lang, "line.plan", "n", len(titles))
}

// progress is a line for every tenth of a piece of work.
func (v *textView) progress(p event.Progress) string {
	if p.Total <= 0 {
		return ""
	}
	tenth, before := 10*p.Done/p.Total, v.told[p.What]
	if v.told == nil {
		v.told = map[string]int64{}
	}
	v.told[p.What] = tenth
	if tenth <= before { // it may have begun anew
		return ""
	}
	return lang.Text(v.lang, "line.progress", "what", work(v.lang, p.What), "done", p.Done, "total", p.Total)
}

// work is the name of a piece of work in a language, where it has one.
func work(code lang.Code, what string) string {
	key := "work." + what
	if name := lang.Text(code, key); name != key {
		return name
	}
	return what
}

// place is an address, or a path as somebody would write it here.
func (v *textView) place(address string) string {
	if !filepath.IsAbs(address) || v.dir == "" {
		return address
	}
	if rel, err := filepath.Rel(v.dir, address); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return address
}

// took is a duration as a person reads it.
func took(d time.Duration) string {
	if d < time.Second {
		return d.Round(time.Millisecond).String()
	}
	return d.Round(100 * time.Millisecond).String()
}

// amount is a number of a budget with its unit.
func amount(what string, n float64) string {
	switch what {
	case "cost":
		return fmt.Sprintf("$%.4g", n)
	case "time":
		return (time.Duration(n * float64(time.Second))).Round(100 * time.Millisecond).String()
	}
	return fmt.Sprintf("%.0f %s", n, what)
}
