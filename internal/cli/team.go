package cli

import (
	"strings"

	"dossier/event"
	"dossier/internal/base/term"
	"dossier/lang"
)

// teamFacts are those of a team at work, as its events tell them.
type teamFacts struct {
	members  []member
	tasks    map[string]string // state of each, by its id
	decision event.SupervisorDecision
}

// member of a team.
type member struct {
	name, role string
	task       string // that it works on, "" while it has none
	does       string // the tool that it called last
}

// introduces says whether an event makes somebody known as a member of a team: the
// run itself says who it is, before there is a task.
func introduces(ev event.Event) (event.AgentStarted, bool) {
	d, ok := ev.Data.(event.AgentStarted)
	return d, ok && ev.Agent == "" && d.Role != "" && d.Task == ""
}

// memberOf is the member of a team in whose part of the run something happened.
func (t *teamFacts) memberOf(path string) *member {
	if t == nil {
		return nil
	}
	name, _, _ := strings.Cut(path, "/")
	for i := range t.members {
		if t.members[i].name == name {
			return &t.members[i]
		}
	}
	return nil
}

// observeTeam takes in what a team does, and says whether that is all that there
// is to an event.
func (f *facts) observeTeam(ev event.Event) bool {
	if d, ok := introduces(ev); ok {
		if f.team == nil {
			f.team = &teamFacts{tasks: make(map[string]string)}
			f.coverage = nil // that of the search before
		}
		f.team.members = append(f.team.members, member{name: d.Name, role: d.Role})
		return true
	}
	if f.team == nil {
		return false
	}
	switch d := ev.Data.(type) {
	case event.TodoUpdated:
		f.team.tasks[d.ID] = d.State
		if m := f.team.memberOf(d.Agent); m != nil && d.State == "active" {
			m.task, m.does = d.Title, ""
		} else if m != nil && m.task == d.Title {
			m.task = ""
		}
		return true
	case event.AgentAction:
		if m := f.team.memberOf(ev.Agent); m != nil && d.Result == "" && !d.Failed {
			m.does = d.Tool
		}
	case event.AgentStarted, event.AgentFinished:
		return f.team.memberOf(ev.Agent) != nil // their tasks tell it
	case event.AgentReflected:
		return true
	case event.Coverage:
		return d.Of == "facets" // of one task
	case event.SupervisorDecision:
		f.team.decision = d
	case event.PlanUpdated:
		if strings.HasPrefix(ev.Agent, "write") { // the report's outline: the team is through
			f.team = nil
			return false
		}
		f.works = nil
		return true
	}
	return false
}

// teamLines are who works on what, and how far it is.
func (f *facts) teamLines() []string {
	var out []string
	for _, m := range f.team.members {
		line := stepMark("pending") + " " + term.Line(m.name) + " · " + term.Line(m.role)
		if m.task != "" {
			line = stepMark("active") + " " + term.Line(m.name)
			if m.does != "" {
				line += " · " + term.Line(m.does)
			}
			line += " · " + term.Line(m.task)
		}
		out = append(out, line)
	}
	done := 0
	for _, state := range f.team.tasks {
		if state == "done" || state == "dropped" {
			done++
		}
	}
	last := "✓ " + lang.Text(f.lang, "board.steps", "done", done, "total", len(f.team.tasks))
	if d := f.team.decision; d.Decision != "" {
		last += " · " + lang.Text(f.lang, "line.decides-why", "decision", inWords(f.lang, "decision", d.Decision), "reason", term.Line(d.Reason))
	}
	return append(out, last)
}
