package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

const description = "Dossier answers questions from your documents, the web and a language model, and loses no run."

// groups of commands in the order in which they are shown.
var groups = []struct{ key, title string }{
	{"work", "Ask"},
	{"docs", "Documents"},
	{"agents", "Agents"},
	{"runs", "Runs"},
	{"server", "Server"},
	{"setup", "Set up"},
}

const firstSteps = `Try first:
  dossier research "what does it say about returns?" --in ~/contracts
  dossier research "how do heat pumps work in cold climates?" --search
  dossier ask "why is the sky blue?"
  dossier runs list
`

const exitCodeHelp = `Exit codes:
  0 ok    1 failure    2 wrong usage
  3 no model or search engine configured, or none reachable
  4 finished without enough, or waiting for an answer    5 budget used up
  130 cancelled
`

// examples is the part of a command's help that teaches.
func examples(lines ...string) string {
	return "Examples:\n  " + strings.Join(lines, "\n  ")
}

// printHelp shows the help of the program or of a command.
func printHelp(_ kong.HelpOptions, ctx *kong.Context) error {
	var b strings.Builder
	if node := ctx.Selected(); node != nil {
		commandHelp(&b, node)
	} else {
		appHelp(&b, ctx.Model.Node)
	}
	_, err := ctx.Stdout.Write([]byte(b.String()))
	return err
}

func appHelp(b *strings.Builder, root *kong.Node) {
	fmt.Fprintf(b, "%s\n\nUsage: dossier COMMAND [flags]\n\n%s", description, firstSteps)
	for _, g := range groups {
		fmt.Fprintf(b, "\n%s:\n", g.title)
		var rows [][2]string
		for _, c := range root.Children {
			if c.Group != nil && c.Group.Key == g.key {
				rows = append(rows, [2]string{c.Name, c.Help})
			}
		}
		table(b, rows)
	}
	b.WriteString("\nFlags of every command:\n")
	table(b, flagRows(root.Flags))
	b.WriteString("\n" + exitCodeHelp + "\n`dossier COMMAND --help` shows more of a command, with examples.\n")
}

func commandHelp(b *strings.Builder, node *kong.Node) {
	fmt.Fprintf(b, "%s\n\nUsage: dossier %s", node.Help, usagePath(node))
	if len(node.Children) > 0 {
		b.WriteString(" COMMAND")
	}
	for _, p := range node.Positional {
		b.WriteString(" " + argument(p))
	}
	b.WriteString(" [flags]\n")
	if len(node.Children) > 0 {
		b.WriteString("\nCommands:\n")
		rows := make([][2]string, 0, len(node.Children))
		for _, c := range node.Children {
			words := []string{c.Name}
			for _, p := range c.Positional {
				words = append(words, argument(p))
			}
			rows = append(rows, [2]string{strings.Join(words, " "), c.Help})
		}
		table(b, rows)
	}
	if len(node.Positional) > 0 {
		b.WriteString("\nArguments:\n")
		rows := make([][2]string, 0, len(node.Positional))
		for _, p := range node.Positional {
			rows = append(rows, [2]string{argument(p), p.Help})
		}
		table(b, rows)
	}
	if len(node.Flags) > 0 {
		b.WriteString("\nFlags:\n")
		table(b, flagRows(node.Flags))
	}
	if node.Detail != "" {
		b.WriteString("\n" + node.Detail + "\n")
	}
	b.WriteString("\n`dossier --help` lists the flags of every command.\n")
}

// usagePath is the words of a command without its arguments.
func usagePath(node *kong.Node) string {
	var words []string
	for n := node; n != nil && n.Type != kong.ApplicationNode; n = n.Parent {
		words = append(words, n.Name)
	}
	slices.Reverse(words)
	return strings.Join(words, " ")
}

func argument(p *kong.Positional) string {
	name := strings.ToUpper(p.Name)
	if !p.Required {
		return "[" + name + "]"
	}
	return name
}

func flagRows(flags []*kong.Flag) [][2]string {
	rows := make([][2]string, 0, len(flags))
	for _, f := range flags {
		if f.Hidden {
			continue
		}
		name := "    --" + f.Name
		if f.Short != 0 {
			name = fmt.Sprintf("-%c, --%s", f.Short, f.Name)
		}
		switch value := f.FormatPlaceHolder(); {
		case f.IsBool():
		case strings.HasPrefix(value, "[="): // it may be left out
			name += value
		default:
			name += " " + value
		}
		rows = append(rows, [2]string{name, f.Help})
	}
	return rows
}

// table writes two columns, the second one wrapped.
func table(b *strings.Builder, rows [][2]string) {
	const most, line = 34, 100
	left := 0
	for _, r := range rows {
		if len(r[0]) <= most {
			left = max(left, len(r[0]))
		}
	}
	for _, r := range rows {
		fmt.Fprintf(b, "  %-*s  ", left, r[0])
		if len(r[0]) > left {
			fmt.Fprintf(b, "\n%*s", left+4, "")
		}
		column := left + 4
		for i, word := range strings.Fields(r[1]) {
			if i > 0 && column+1+len(word) > line {
				fmt.Fprintf(b, "\n%*s", left+4, "")
				column = left + 4
			} else if i > 0 {
				b.WriteByte(' ')
				column++
			}
			b.WriteString(word)
			column += len(word)
		}
		b.WriteByte('\n')
	}
}

// suggest adds the nearest command to a complaint about an argument that a
// default command got, when it was meant as a command.
func suggest(message string, parent *kong.Node) string {
	word, ok := strings.CutPrefix(message, "unexpected argument ")
	if !ok || parent == nil || strings.Contains(word, " ") {
		return message
	}
	names := make([]string, len(parent.Children))
	for i, c := range parent.Children {
		names[i] = c.Name
	}
	best := nearest(word, names)
	if best == "" {
		return message
	}
	return fmt.Sprintf("%s, did you mean %q?", message, best)
}

// meant is the subcommand of a command that a word was probably meant to be, ""
// if it is like none.
func (a *app) meant(command, word string) string {
	for _, c := range a.parser.Model.Children {
		if c.Name != command {
			continue
		}
		names := make([]string, len(c.Children))
		for i, sub := range c.Children {
			names[i] = sub.Name
		}
		return nearest(word, names)
	}
	return ""
}

// nearest is the name that a word was probably meant to be, "" if there is none.
func nearest(word string, names []string) string {
	best, least := "", max(2, len(word)/3)+1
	for _, n := range names {
		if d := distance(word, n); d < least {
			best, least = n, d
		}
	}
	return best
}

// distance is how many letters have to be changed, added or left out.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
