package cli

import (
	"cmp"
	"fmt"
	"slices"

	"dossier"
	"dossier/internal/fleet"
)

// flagKinds are the kinds of names that the values of flags have.
var flagKinds = map[string]string{"in": "collections", "mode": "modes", "search": "engines", "session": "runs"}

// argumentKind is the kind of names that the arguments of a command have.
func argumentKind(path []string) string {
	if len(path) != 2 {
		return ""
	}
	switch group, command := path[0], path[1]; {
	case group == "kb" && slices.Contains([]string{"list", "search", "use", "rm"}, command):
		return "collections"
	case group == "runs" && command != "list":
		return "runs"
	case group == "agents" && slices.Contains([]string{"show", "run"}, command):
		return "agents"
	case group == "templates" && !slices.Contains([]string{"list", "save"}, command):
		return "templates"
	case group == "instances" && command == "add":
		return "templates"
	case group == "instances" && command != "list":
		return "instances"
	case group == "schedules" && command != "list" && command != "add":
		return "schedules"
	}
	return ""
}

// manyRuns is how many runs are offered, the newest.
const manyRuns = 50

// names of what exists, of a kind.
func (a *app) names(kind string) (names []string, err error) {
	switch kind {
	case "modes":
		return []string{"web_search", "deep_search", "quality", deepResearchMode}, nil
	case "engines":
		return append(slices.Clone(engineNames), automatic[0], noWeb), nil
	case "collections", "runs", "agents", "templates", "instances", "schedules":
		if none, err := a.empty(); err != nil || none && kind != "agents" {
			return nil, err
		}
		err = a.with(a.ctx, func(l *link) (err error) { names, err = a.stored(l, kind); return err })
		return names, err
	}
	return nil, &failure{code: exitUsage, message: fmt.Sprintf("there are no names of %q", kind), hint: "`dossier completion --help` shows what is possible"}
}

// stored are the names of what is kept in the data directory.
func (a *app) stored(l *link, kind string) (names []string, err error) {
	switch kind {
	case "collections":
		list, err := l.Collections(a.ctx)
		for _, c := range list.Collections {
			names = append(names, c.Name)
		}
		return names, err
	case "runs":
		list, err := l.List(a.ctx, dossier.Filter{Limit: manyRuns})
		names = append(names, "last")
		for _, r := range list {
			names = append(names, r.ID)
		}
		return names, err
	case "agents":
		list, err := l.Agents(a.ctx)
		for _, e := range list {
			names = append(names, e.Name)
		}
		return names, err
	case "templates":
		list, err := l.Templates(a.ctx)
		for _, t := range list {
			names = append(names, t.Name)
		}
		return names, err
	}
	if kind == "schedules" {
		list, err := l.Schedules(a.ctx, "")
		for _, s := range list {
			names = append(names, cmp.Or(s.Name, s.ID))
		}
		return names, err
	}
	list, err := l.Instances(a.ctx, fleet.Filter{})
	for _, i := range list {
		names = append(names, i.Name)
	}
	return names, err
}
