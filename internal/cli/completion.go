package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish,names" help:"bash, zsh or fish; names is what the scripts call."`
	Kind  string `arg:"" optional:"" help:"Of what to print the names: collections, runs, agents, templates, instances, modes or engines."`
}

func (completionCmd) Help() string {
	return examples(
		"dossier completion bash >> ~/.bashrc",
		`dossier completion zsh > "${fpath[1]}/_dossier"`,
		"dossier completion fish > ~/.config/fish/completions/dossier.fish",
	)
}

// Run prints a script that knows the commands and flags of this version.
func (c completionCmd) Run(a *app) error {
	if c.Shell == "names" {
		return a.printNames(c.Kind)
	}
	points := completionPoints(a.parser.Model.Node)
	var b strings.Builder
	switch c.Shell {
	case "bash":
		bashCompletion(&b, points)
	case "zsh":
		// zsh understands bash's scripts.
		b.WriteString("#compdef dossier\nautoload -Uz +X compinit && compinit\nautoload -Uz +X bashcompinit && bashcompinit\n")
		bashCompletion(&b, points)
	case "fish":
		fishCompletion(&b, points)
	}
	_, err := a.proc.Stdout.Write([]byte(b.String()))
	return err
}

// point is a place in a command line where words can follow.
type point struct {
	path  []string
	words []completionWord
}

type completionWord struct{ text, help string }

func completionPoints(root *kong.Node) []point {
	var global []completionWord
	for _, f := range root.Flags {
		global = append(global, completionWord{"--" + f.Name, f.Help})
	}
	var points []point
	var walk func(node *kong.Node, path []string)
	walk = func(node *kong.Node, path []string) {
		p := point{path: path}
		for _, c := range node.Children {
			p.words = append(p.words, completionWord{c.Name, c.Help})
		}
		for _, arg := range node.Positional {
			for _, v := range arg.EnumSlice() {
				if v != "" {
					p.words = append(p.words, completionWord{v, arg.Help})
				}
			}
		}
		if node != root {
			for _, f := range node.Flags {
				p.words = append(p.words, completionWord{"--" + f.Name, f.Help})
			}
		}
		p.words = append(p.words, global...)
		points = append(points, p)
		for _, c := range node.Children {
			walk(c, append(slices.Clone(path), c.Name))
		}
	}
	walk(root, nil)
	return points
}

func bashCompletion(b *strings.Builder, points []point) {
	b.WriteString("_dossier() {\n\tlocal path=\"\" i names=\"\" files=() IFS=$' \\t\\n'\n\tlocal cur=\"${COMP_WORDS[COMP_CWORD]}\" prev=\"${COMP_WORDS[COMP_CWORD-1]}\"\n\tfor ((i = 1; i < COMP_CWORD; i++)); do\n\t\tcase \"$path ${COMP_WORDS[i]}\" in\n")
	for _, p := range points[1:] {
		fmt.Fprintf(b, "\t\t\" %s\") path=\" %s\" ;;\n", strings.Join(p.path, " "), strings.Join(p.path, " "))
	}
	b.WriteString("\t\tesac\n\tdone\n\tlocal words=\"\"\n\tcase \"$path\" in\n")
	for _, p := range points {
		words := make([]string, len(p.words))
		for i, w := range p.words {
			words[i] = w.text
		}
		path := ""
		if len(p.path) > 0 {
			path = " " + strings.Join(p.path, " ")
		}
		fmt.Fprintf(b, "\t\"%s\") words=\"%s\" ;;\n", path, strings.Join(words, " "))
	}
	b.WriteString("\tesac\n" + bashNames(points) + "\tCOMPREPLY=($(compgen -W \"$words\n$names\" -- \"$cur\") \"${files[@]}\")\n}\ncomplete -o default -F _dossier dossier\n")
}

func fishCompletion(b *strings.Builder, points []point) {
	quote := func(s string) string {
		return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s) + "'"
	}
	for _, p := range points {
		condition := "__fish_use_subcommand"
		if len(p.path) > 0 {
			parts := make([]string, len(p.path))
			for i, w := range p.path {
				parts[i] = "__fish_seen_subcommand_from " + w
			}
			condition = strings.Join(parts, "; and ")
		}
		if kind := argumentKind(p.path); kind != "" {
			fmt.Fprintf(b, "complete -c dossier -f -n %s -a %s\n", quote(condition), quote("(dossier completion names "+kind+" 2>/dev/null)"))
		}
		for _, w := range p.words {
			if name, isFlag := strings.CutPrefix(w.text, "--"); isFlag {
				kind := ""
				if k := flagKinds[name]; k != "" {
					kind = " -r -a " + quote("(dossier completion names "+k+" 2>/dev/null)")
				}
				fmt.Fprintf(b, "complete -c dossier -n %s -l %s%s -d %s\n", quote(condition), name, kind, quote(w.help))
			} else {
				fmt.Fprintf(b, "complete -c dossier -f -n %s -a %s -d %s\n", quote(condition), w.text, quote(w.help))
			}
		}
	}
}
