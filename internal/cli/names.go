package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"dossier"
	"dossier/internal/base/term"
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
	}
	return ""
}

// bashNames is the part of a script that asks for the names of what exists.
func bashNames(points []point) string {
	var b strings.Builder
	ask := func(kind string) string { return `names="$(dossier completion names ` + kind + ` 2>/dev/null)"` }
	b.WriteString("\tcase \"$path\" in\n")
	for _, p := range points {
		if kind := argumentKind(p.path); kind != "" {
			fmt.Fprintf(&b, "\t\" %s\") %s ;;\n", strings.Join(p.path, " "), ask(kind))
		}
	}
	b.WriteString("\tesac\n\t[[ $prev == \"=\" ]] && prev=\"${COMP_WORDS[COMP_CWORD-2]}\"\n\t[[ $cur == \"=\" ]] && cur=\"\" && prev=\"${COMP_WORDS[COMP_CWORD-1]}\"\n\tcase \"$prev\" in\n")
	for _, flag := range []string{"in", "mode", "search", "session"} {
		files := ""
		if flag == "in" {
			files = `; mapfile -t files < <(compgen -f -- "$cur")`
		}
		fmt.Fprintf(&b, "\t--%s) words=\"\"; %s%s ;;\n", flag, ask(flagKinds[flag]), files)
	}
	b.WriteString("\tesac\n")
	return b.String()
}

// manyRuns is how many runs are offered, the newest.
const manyRuns = 50

// printNames prints the names of what exists, a line each.
func (a *app) printNames(kind string) error {
	var names []string
	switch kind {
	case "modes":
		names = []string{"chat", "web_search", "deep_search", "quality", deepResearchMode, "search", "deep"}
	case "engines":
		names = append(slices.Clone(engineNames), automatic[0], noWeb)
	case "collections", "runs", "agents", "templates", "instances":
		if none, err := a.empty(); err != nil || none && kind != "agents" {
			return err
		}
		if err := a.with(a.ctx, func(l *link) (err error) { names, err = a.stored(l, kind); return err }); err != nil {
			return err
		}
	default:
		return &failure{code: exitUsage, message: fmt.Sprintf("there are no names of %q", kind), hint: "`dossier completion --help` shows what is possible"}
	}
	for _, n := range names {
		if _, err := io.WriteString(a.proc.Stdout, term.Line(n)+"\n"); err != nil {
			return err
		}
	}
	return nil
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
	list, err := l.Instances(a.ctx, fleet.Filter{})
	for _, i := range list {
		names = append(names, i.Name)
	}
	return names, err
}
