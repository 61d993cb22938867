package cli

import (
	"io"
	"strings"

	"dossier/internal/base/term"
	"dossier/internal/base/term/markdown"
	"dossier/lang"
	"dossier/report"
)

// paper is a terminal on which an answer is written. What it shows of it may
// change while more comes: the end of a line, or the look of a paragraph whose
// last sign was missing.
type paper struct {
	out io.Writer
	// size is that of the terminal now.
	size func() (columns, rows int)
	// plain leaves out colours, bold and links.
	plain bool
	// still is a terminal that can't move its cursor: it gets whole texts.
	still bool

	shown []string // lines of the answer that are on the screen, the cursor at the end of the last
}

// look is how Markdown appears on the paper. Links of a report are ours.
func (p *paper) look(r *report.Report) markdown.Look {
	columns, _ := p.size()
	look := markdown.Look{Width: columns, Plain: p.plain}
	if r != nil {
		look.Own, look.Source = true, r.Address
	}
	return look
}

// show makes the lines the answer: those that are there and the same stay.
func (p *paper) show(lines []string) {
	same := 0
	for same < len(lines) && same < len(p.shown) && lines[same] == p.shown[same] {
		same++
	}
	var b strings.Builder
	switch {
	case len(p.shown) == 0:
		b.WriteString(strings.Join(lines, "\n"))
	case same == len(p.shown):
		for _, l := range lines[same:] {
			b.WriteString("\n" + l)
		}
	case same == len(p.shown)-1 && same < len(lines) && strings.HasPrefix(lines[same], p.shown[same]):
		b.WriteString(strings.Join(lines[same:], "\n")[len(p.shown[same]):])
	default:
		columns, rows := p.size()
		for same < len(p.shown)-1 && rowsOf(p.shown[same:], columns) > rows {
			same++ // what has left the screen can't be changed
		}
		b.WriteString(home(p.shown[same:], columns) + "\x1b[J")
		b.WriteString(strings.Join(lines[min(same, len(lines)):], "\n"))
	}
	_, _ = io.WriteString(p.out, b.String())
	p.shown = lines
}

// end goes to the next line, if something is on the paper: what comes is not the
// rest of it.
func (p *paper) end() {
	if len(p.shown) > 0 {
		_, _ = io.WriteString(p.out, "\n")
	}
	p.shown = nil
}

// long reports whether lines don't fit on the screen.
func (p *paper) long(lines []string) bool {
	columns, rows := p.size()
	return rowsOf(lines, columns) >= rows
}

// rowsOf is how many rows of a terminal lines take.
func rowsOf(lines []string, width int) int {
	n := 0
	for _, l := range lines {
		n += max(1, (term.Width(term.Clean(l))+width-1)/width)
	}
	return n
}

// newPaper is the terminal of an output, nil if it is none.
func (a *app) newPaper(out io.Writer) *paper {
	if _, _, ok := a.screen(out); !ok {
		return nil
	}
	return &paper{
		out: out, plain: a.dumb() || getenv(a.proc.Env, "NO_COLOR") != "", still: a.dumb(),
		size: func() (int, int) {
			columns, rows, _ := a.screen(out)
			return max(columns, 20), max(rows, 5)
		},
	}
}

// dumb says whether the terminal knows no escapes.
func (a *app) dumb() bool { return getenv(a.proc.Env, "TERM") == "dumb" }

// print writes Markdown to standard output: as it is, or rendered where that is
// a terminal, through a pager if it is longer than the screen. r is the report
// that the text is of, if it is of one.
func (a *app) print(text string, r *report.Report) error {
	p := a.newPaper(a.proc.Stdout)
	if p == nil {
		_, err := io.WriteString(a.proc.Stdout, strings.TrimRight(text, "\n")+"\n")
		return err
	}
	lines := markdown.Lines(text, p.look(r))
	if p.long(lines) && a.page(lines) {
		return nil
	}
	_, err := io.WriteString(a.proc.Stdout, strings.Join(lines, "\n")+"\n")
	return err
}

// reportFlags say how much of a report is shown.
type reportFlags struct {
	Full  bool `xor:"extent" help:"Show all of the report: coverage, notes, and every source with its passages."`
	Brief bool `xor:"extent" help:"Show the answer and where it stands, nothing else."`
}

func (f reportFlags) extent(a *app) report.Extent {
	switch {
	case f.Brief:
		return report.Brief
	case f.Full || a.Verbose:
		return report.Full
	}
	return report.Short
}

// keyPoints is what belongs to an answer beside its text, as Markdown.
func keyPoints(points []string, code lang.Code) string {
	if len(points) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("\n\n**" + lang.Text(code, "heading.key-points") + "**\n\n")
	for _, p := range points {
		b.WriteString("- " + term.Line(p) + "\n")
	}
	return b.String()
}
