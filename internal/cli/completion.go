package cli

import (
	"embed"
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"dossier/internal/base/term"
)

type completionCmd struct {
	Shell string   `arg:"" enum:"bash,zsh,fish,names,words" help:"bash, zsh or fish; the scripts call words, with a command line as far as it is written, and get what may follow."`
	Rest  []string `arg:"" optional:"" passthrough:"" name:"rest" help:"Of names: collections, runs, agents, templates, instances, schedules, modes or engines. Of words: the command line."`
}

func (completionCmd) Help() string {
	return examples(
		"dossier completion bash >> ~/.bashrc",
		`dossier completion zsh > "${fpath[1]}/_dossier"`,
		"dossier completion fish > ~/.config/fish/completions/dossier.fish",
		"dossier completion names collections",
	)
}

// The scripts know nothing themselves: they ask the program.
//
//go:embed completion/dossier.bash completion/_dossier completion/dossier.fish
var completionScripts embed.FS

func (c completionCmd) Run(a *app) error {
	var lines []string
	switch c.Shell {
	case "names":
		kind := ""
		if len(c.Rest) > 0 {
			kind = c.Rest[0]
		}
		names, err := a.names(kind)
		if err != nil {
			return err
		}
		lines = names
	case "words":
		follows := a.complete(c.Rest)
		for _, w := range follows.words {
			lines = append(lines, term.Line(w.text)+"\t"+term.Line(w.help))
		}
		if follows.files {
			lines = append(lines, ":files")
		}
	default:
		name := map[string]string{"bash": "dossier.bash", "zsh": "_dossier", "fish": "dossier.fish"}[c.Shell]
		script, err := completionScripts.ReadFile("completion/" + name)
		if err != nil {
			return err
		}
		lines = []string{strings.TrimSuffix(string(script), "\n")}
	}
	for _, line := range lines {
		if _, err := io.WriteString(a.proc.Stdout, line+"\n"); err != nil {
			return err
		}
	}
	return nil
}

// following is what may stand at a place of a command line.
type following struct {
	words []completionWord
	files bool // also any file or folder
}

type completionWord struct{ text, help string }

// complete returns what may stand for the last of the words, which begins it.
func (a *app) complete(words []string) following {
	words = joined(words)
	if len(words) == 0 {
		words = []string{""}
	}
	begun, last := words[:len(words)-1], words[len(words)-1]
	at, flag, arguments := a.walk(begun)
	var f following
	switch name, value, assigned := strings.Cut(last, "="); {
	case flag != nil:
		f = a.values(flag)
	case assigned && strings.HasPrefix(name, "-"):
		// What precedes the value is no part of the word in the shells.
		if flag = flagNamed(at, name); flag != nil {
			f, last = a.values(flag), value
		}
	case strings.HasPrefix(last, "-"):
		for _, group := range at.AllFlags(true) {
			for _, flag := range group {
				f.words = append(f.words, completionWord{"--" + flag.Name, flag.Help})
			}
		}
	default:
		f = a.arguments(at, arguments)
	}
	f.words = slices.DeleteFunc(f.words, func(w completionWord) bool { return !strings.HasPrefix(w.text, last) })
	return f
}

// joined puts together what bash takes for three words: --in, =, notes.
func joined(words []string) []string {
	var out []string
	for i := 0; i < len(words); i++ {
		n := len(out) - 1
		if words[i] == "=" && n >= 0 && strings.HasPrefix(out[n], "--") {
			out[n] += "="
			if i+1 < len(words) {
				i++
				out[n] += words[i]
			}
			continue
		}
		out = append(out, words[i])
	}
	return out
}

// walk goes through whole words: to the command that they name, the flag that
// waits for its value, and the number of arguments there are.
func (a *app) walk(words []string) (at *kong.Node, waits *kong.Flag, arguments int) {
	at = a.parser.Model.Node
	for _, w := range words {
		if waits != nil {
			a.heed(waits, w)
			waits = nil
			continue
		}
		if name, value, assigned := strings.Cut(w, "="); strings.HasPrefix(w, "-") {
			if flag := flagNamed(at, name); flag != nil && assigned {
				a.heed(flag, value)
			} else if flag != nil && !flag.IsBool() {
				waits = flag
			}
			continue
		}
		if i := slices.IndexFunc(at.Children, func(n *kong.Node) bool { return n.Name == w || slices.Contains(n.Aliases, w) }); i >= 0 && arguments == 0 {
			at = at.Children[i]
			continue
		}
		arguments++
	}
	return at, waits, arguments
}

// heed keeps to the flags that say where names are kept.
func (a *app) heed(flag *kong.Flag, value string) {
	switch flag.Name {
	case "data":
		a.Data = value
	case "config":
		a.Config = value
	}
}

// flagNamed is the flag of a command, or one that all have, as it is written.
func flagNamed(at *kong.Node, written string) *kong.Flag {
	for _, group := range at.AllFlags(false) {
		for _, flag := range group {
			if written == "--"+flag.Name || flag.Short != 0 && written == "-"+string(flag.Short) {
				return flag
			}
		}
	}
	return nil
}

// values are what a flag may be set to.
func (a *app) values(flag *kong.Flag) following {
	f := following{files: flag.Name == "in" || slices.Contains([]string{"FILE", "DIR", "PATH"}, flag.PlaceHolder)}
	for _, v := range flag.EnumSlice() {
		if v != "" {
			f.words = append(f.words, completionWord{text: v})
		}
	}
	if len(f.words) > 0 {
		return f
	}
	return a.withNames(f, flagKinds[flag.Name])
}

// arguments are what may be the n-th argument of a command, from 0: a command
// below it, one of its words, the name of something, or a file.
func (a *app) arguments(at *kong.Node, n int) following {
	var f following
	if n == 0 {
		for _, c := range at.Children {
			if !c.Hidden {
				f.words = append(f.words, completionWord{c.Name, c.Help})
			}
		}
	}
	if n >= len(at.Positional) && (len(at.Positional) == 0 || !at.Positional[len(at.Positional)-1].IsSlice()) {
		return f
	}
	arg := at.Positional[min(n, len(at.Positional)-1)]
	for _, v := range arg.EnumSlice() {
		if v != "" && v != "words" {
			f.words = append(f.words, completionWord{text: v})
		}
	}
	path := commandPath(at)
	f.files = slices.Contains(fileArguments, strings.Join(path, " "))
	if n == 0 {
		f = a.withNames(f, argumentKind(path))
	}
	return f
}

// fileArguments are the commands whose arguments are files or folders.
var fileArguments = []string{"kb add", "dict add", "templates save"}

// withNames adds the names of a kind; none where they can't be had.
func (a *app) withNames(f following, kind string) following {
	if kind == "" {
		return f
	}
	names, err := a.names(kind)
	if err != nil {
		return f
	}
	for _, n := range names {
		f.words = append(f.words, completionWord{text: n})
	}
	return f
}

// commandPath is a command's name in words, without the program's.
func commandPath(n *kong.Node) []string {
	var path []string
	for ; n != nil && n.Parent != nil; n = n.Parent {
		path = slices.Insert(path, 0, n.Name)
	}
	return path
}
