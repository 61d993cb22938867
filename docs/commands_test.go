package docs

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"dossier/internal/cli"
)

// help is what `dossier words… --help` prints.
func help(t *testing.T, words ...string) string {
	t.Helper()
	var out, errs strings.Builder
	code := cli.Main(cli.Process{
		Args: append(words, "--help"), Env: []string{}, Dir: t.TempDir(), Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs,
		Terminal: func(any) (int, int, bool) { return 0, 0, false }, Terminate: context.Background(),
	})
	if code != 0 {
		t.Fatalf("dossier %s --help exits with %d: %s", strings.Join(words, " "), code, errs.String())
	}
	return out.String()
}

// A command of the program, as its help describes it.
type command struct {
	path  string // "", "ask", "runs show"
	help  string // its first line
	flags []string
}

var (
	flagName = regexp.MustCompile(`(?m)^ +(?:(-\w), )?(--[a-z-]+)`)
	rowName  = regexp.MustCompile(`(?m)^  ([a-z]+)(?: [A-Z\[\]]+)*  `)
)

// commands is the whole grammar, found through the help.
func commands(t *testing.T) []command {
	t.Helper()
	root := help(t)
	all := []command{{flags: flagsIn(root)}}
	for _, name := range namesIn(root, "Ask:", "Documents:", "Agents:", "Runs:", "Server:", "Set up:") {
		text := help(t, name)
		all = append(all, describe(name, text))
		for _, child := range namesIn(text, "Commands:") {
			all = append(all, describe(name+" "+child, help(t, name, child)))
		}
	}
	return all
}

func describe(path, text string) command {
	first, _, _ := strings.Cut(text, "\n")
	return command{path: path, help: first, flags: flagsIn(text)}
}

func flagsIn(text string) []string {
	var flags []string
	for _, m := range flagName.FindAllStringSubmatch(text, -1) {
		flags = append(flags, m[2])
		if m[1] != "" {
			flags = append(flags, m[1])
		}
	}
	return flags
}

// namesIn are the first words of the rows below the given headings.
func namesIn(text string, headings ...string) []string {
	var names []string
	for part := range strings.SplitSeq(text, "\n\n") {
		title, rows, _ := strings.Cut(part, "\n")
		if slices.Contains(headings, title) {
			for _, m := range rowName.FindAllStringSubmatch(rows, -1) {
				names = append(names, m[1])
			}
		}
	}
	return names
}

func TestCommandsExist(t *testing.T) {
	all := commands(t)
	call := regexp.MustCompile(`(?:^|\$ |\| |&& )(?:go run \./cmd/|bin/)?dossier((?: +(?:"[^"]*"|'[^']*'|[^\s|&;<>"']+))+)`)
	word := regexp.MustCompile(`"[^"]*"|'[^']*'|[^\s]+`)
	checked := 0
	for name, doc := range documents(t) {
		spans, lines := code(doc)
		for _, s := range slices.Concat(spans, lines) {
			m := call.FindStringSubmatch(s)
			if m == nil {
				continue
			}
			checked++
			if wrong := misuse(all, word.FindAllString(m[1], -1)); wrong != "" {
				t.Errorf("%s: %q: %s", name, s, wrong)
			}
		}
	}
	if checked == 0 {
		t.Error("the documents mention no command")
	}
}

// misuse says what is wrong with the words after "dossier".
func misuse(all []command, words []string) string {
	at := all[0]
	known := slices.Clone(at.flags)
	descending := true
	for _, w := range words {
		if strings.HasPrefix(w, "-") && len(w) > 1 {
			option, _, _ := strings.Cut(w, "=")
			if !slices.Contains(known, option) {
				return fmt.Sprintf("%q has no flag %s", strings.TrimSpace("dossier "+at.path), option)
			}
			continue
		}
		descending = descending && w != strings.ToUpper(w) // else a placeholder
		if !descending {
			continue
		}
		path := strings.TrimSpace(at.path + " " + w)
		i := slices.IndexFunc(all, func(c command) bool { return c.path == path })
		if i < 0 {
			if at.path == "" {
				return fmt.Sprintf("there is no command %s", w)
			}
			if slices.ContainsFunc(all, func(c command) bool { return strings.HasPrefix(c.path, at.path+" ") }) {
				return fmt.Sprintf("dossier %s has no command %s", at.path, w)
			}
			descending = false
			continue
		}
		at = all[i]
		known = append(known, at.flags...)
	}
	return ""
}

func TestMisuse(t *testing.T) {
	all := []command{{flags: []string{"--json"}}, {path: "ask", flags: []string{"-o"}}, {path: "runs"}, {path: "runs show", flags: []string{"--steps"}}}
	for line, ok := range map[string]bool{
		"ask x -o f --json": true, "runs show last --steps": true, "--json ask": true,
		"aks": false, "ask --nope": false, "runs nope": false, "runs show --other": false,
	} {
		if wrong := misuse(all, strings.Fields(line)); (wrong == "") != ok {
			t.Errorf("%s: %q", line, wrong)
		}
	}
}

// TestCommandTable makes the table of commands from the help.
func TestCommandTable(t *testing.T) {
	var b strings.Builder
	b.WriteString("| command | what it does |\n| --- | --- |\n")
	for _, c := range commands(t)[1:] {
		fmt.Fprintf(&b, "| `dossier %s` | %s |\n", c.path, c.help)
	}
	generated(t, "docs/cli.md", "commands", b.String())
}

// TestExitCodes holds the exit codes of docs/cli.md to those of the help.
func TestExitCodes(t *testing.T) {
	_, text, found := strings.Cut(help(t), "Exit codes:\n")
	if !found {
		t.Fatal("the help lists no exit codes")
	}
	text, _, _ = strings.Cut(text, "\n\n")
	doc := documents(t)["docs/cli.md"]
	codes := regexp.MustCompile(`(?:^|\s{2,})(\d+) `).FindAllStringSubmatch(text, -1)
	if len(codes) < 5 {
		t.Fatalf("exit codes: %q", codes)
	}
	for _, m := range codes {
		if !strings.Contains(doc, "\n| "+m[1]+" | ") {
			t.Errorf("docs/cli.md does not explain exit code %s", m[1])
		}
	}
}
