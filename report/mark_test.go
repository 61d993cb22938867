package report

import (
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
	"golang.org/x/net/html"
	"pgregory.net/rapid"

	"dossier/cite"
	"dossier/lang"
)

// TestDisplay shows which lines of a source are lines of a quote.
func TestDisplay(t *testing.T) {
	for name, tc := range map[string]struct {
		in   string
		want []string
	}{
		"a wrapped paragraph": {
			"is 128MB. The amount of memory\n   the server uses for shared memory buffers is set here, and the\n   value has to be higher than the least that is allowed. It can only\n   be set at start.",
			[]string{"is 128MB. The amount of memory the server uses for shared memory buffers is set here, and the value has to be higher than the least that is allowed. It can only be set at start."},
		},
		"a paragraph that a person wrapped": {
			"While it works, what it thinks is shown; nothing is shortened. When it\nasks something, you are asked. Where nobody can be asked, the run\nis left waiting, and the command that answers it, which is explained below,\ngoes on.",
			[]string{"While it works, what it thinks is shown; nothing is shortened. When it asks something, you are asked. Where nobody can be asked, the run is left waiting, and the command that answers it, which is explained below, goes on."},
		},
		"a sentence per line": {
			"The first sentence is here.\nThe second one is a good deal longer than that.\nShort ones join, too, all of them.\nThat is all there is to say about it.",
			[]string{"The first sentence is here. The second one is a good deal longer than that. Short ones join, too, all of them. That is all there is to say about it."},
		},
		"a term with its definition": {
			"shared_buffers (integer)\nSets the amount of memory that the server uses for buffers which are shared.\nThe default is 128 megabytes.",
			[]string{"shared_buffers (integer)", "Sets the amount of memory that the server uses for buffers which are shared. The default is 128 megabytes."},
		},
		"a sentence that begins within a line": {
			"The default of the\nPostgreSQL server is found here, and it is not changed by anybody who\nknows what it is for.",
			[]string{"The default of the PostgreSQL server is found here, and it is not changed by anybody who knows what it is for."},
		},
		"paragraphs": {"one\n\ntwo", []string{"one", "two"}},
		"a list with its lead-in": {
			"The tools are:\n\n- a hammer, which is used for the nails\n  that hold the frame\n- a saw",
			[]string{"The tools are:", "- a hammer, which is used for the nails that hold the frame", "- a saw"},
		},
		"lines without signs": {
			"Supported systems\n\nDebian 12 and later\nFedora\nArch Linux, without the graphical installer\nAlpine",
			[]string{"Supported systems", "Debian 12 and later", "Fedora", "Arch Linux, without the graphical installer", "Alpine"},
		},
		"commands": {
			"Run the following commands:\n\n    sudo apt update\n    sudo apt install --no-install-recommends nginx-full\n    sudo systemctl enable nginx",
			[]string{"Run the following commands:", "sudo apt update", "sudo apt install --no-install-recommends nginx-full", "sudo systemctl enable nginx"},
		},
		"a block of code": {
			"Run this:\n```sh\nif true; then\n\techo yes\n\nfi\n```\nand wait.",
			[]string{"Run this:", "|if true; then", "|    echo yes", "|fi", "and wait."},
		},
		"the end of a block of code": {"echo yes\n```\nand wait.", []string{"|echo yes", "and wait."}},
		"a table":                    {"| a | b |\n|---|---|\n| 1 | 2 |\nafter", []string{"| a | b |", "|---|---|", "| 1 | 2 |", "after"}},
		"headings":                   {"## Exit codes\nThe code says how it went.\n\nTitle\n=====\ntext", []string{"## Exit codes", "The code says how it went.", "Title", "=====", "text"}},
		"Chinese":                    {"热泵把室外的\n热量搬进屋里，即使在严寒的冬天也能正常工作，而且比电暖器省\n电得多，噪音也很小。", []string{"热泵把室外的热量搬进屋里，即使在严寒的冬天也能正常工作，而且比电暖器省电得多，噪音也很小。"}},
		"a hyphen":                   {"It is an end-\nto-end test that looks at what are both pre-\nand post-conditions", []string{"It is an end-to-end test that looks at what are both pre- and post-conditions"}},
		"nothing":                    {" \n\u00a0\n\t", nil},
	} {
		var got []string
		for _, l := range display(tc.in) {
			if l.verbatim {
				l.text = "|" + l.text
			}
			got = append(got, l.text)
		}
		if !slices.Equal(got, tc.want) {
			t.Errorf("%s: %q\nwant %q", name, got, tc.want)
		}
	}
}

// markedQuote is a quote in which what stands between « and » is marked.
func markedQuote(with string) *Quote {
	before, rest, _ := strings.Cut(with, "«")
	mark, after, _ := strings.Cut(rest, "»")
	const at = 100 // of the snapshot
	text := before + mark + after
	return &Quote{Text: text, Passage: cite.Passage{
		Source: 1, Start: at, End: at + len(text), MarkStart: at + len(before), MarkEnd: at + len(before) + len(mark),
	}}
}

func TestMark(t *testing.T) {
	for _, tc := range []struct{ quote, markdown, html string }{
		{"One. «Two is it.» Three.", "One. **Two is it.** Three.", "One. <mark>Two is it.</mark> Three."},
		{"«All of it.»", "All of it.", "All of it."},
		{"- «All of it.»", `\- All of it.`, "- All of it."},
		{"Nothing is marked.", "Nothing is marked.", "Nothing is marked."},
		{"一。«二是它。»三。", "一。**二是它**。三。", "一。<mark>二是它。</mark>三。"},
		{"他说«“是”»了", "他说“**是**”了", "他说<mark>“是”</mark>了"},
		{"- one\n«- two\n- three»\n- four", "\\- one  \n\\- **two**  \n\\- **three**  \n\\- four", "- one<br>\n- <mark>two</mark><br>\n- <mark>three</mark><br>\n- four"},
		{"| a | b |\n| «1 | 2» |", "a: 1  \nb: 2", "a: 1<br>\nb: 2"},
		{"| a | b |\n| 1 | «2» |", "a: 1  \nb: **2**", "a: 1<br>\nb: <mark>2</mark>"},
		{"ls | «wc -l» counts.", "ls | **wc -l** counts.", "ls | <mark>wc -l</mark> counts."},
		{"Run:\n```\n  a | b\n«c»\n```", "Run:  \n`  a | b`  \n**`c`**", "Run:<br>\n<code>  a | b</code><br>\n<mark><code>c</code></mark>"},
		{"Say `ls -l «or` so.» Yes.", "Say **`ls -l or` so.** Yes.", "Say <mark><code>ls -l or</code> so.</mark> Yes."},
		{"**Note** it is «**very** cold.» **So.**", "Note it is **very cold.** So.", "Note it is <mark>very cold.</mark> So."},
		{"2 * 3 «is *six* \\» and <b>", `2 \* 3 **is \*six\* \\** and \<b>`, `2 * 3 <mark>is *six* \</mark> and &lt;b&gt;`},
		{"A wrapped line of a paragraph that «goes on\nto the next» one.", "A wrapped line of a paragraph that **goes on to the next** one.", "A wrapped line of a paragraph that <mark>goes on to the next</mark> one."},
		{"Red «\x1b[31mis\x1b[0m» it.", "Red **is** it.", "Red <mark>is</mark> it."},
	} {
		q := markedQuote(tc.quote)
		if got := strings.Join(markdownBlock(q.displayed()), "\n"); got != tc.markdown {
			t.Errorf("%q is in Markdown\n%s\nwant\n%s", tc.quote, got, tc.markdown)
		}
		if got := inHTML(q); got != tc.html {
			t.Errorf("%q is in HTML\n%s\nwant\n%s", tc.quote, got, tc.html)
		}
	}
}

func inHTML(q *Quote) string {
	w := page{Report: &Report{}}
	w.words(q.displayed(), nil)
	return strings.TrimSuffix(strings.TrimPrefix(w.String(), `<p dir="auto">`), "</p>\n")
}

// A mark that is no part of its quote, or cuts a character, is as if there were
// none; any other changes no word of the quote, and leads nowhere.
func TestAnyMark(t *testing.T) {
	fragments := append(slices.Clone(attacks), "\n", "\n\n", " ", "`", "``", "*", "**", "_", "[", "]", "(", "<", "&", "\\", "|", "!", "a", "中", "。", "“", "~~", "-", "#", "@b.c", "```\n", "- ", "word", " | ", "|---|", "-|-", " \\| ", "**bold**", "`code`", ". ", "é", "\xff")
	rapid.Check(t, func(rt *rapid.T) {
		quote := strings.Join(rapid.SliceOfN(rapid.SampledFrom(fragments), 1, 8).Draw(rt, "text"), "")
		p := cite.Passage{Source: 1, Start: rapid.IntRange(-2, 5).Draw(rt, "start"), Line: 1}
		p.End = p.Start + len(quote)
		place := rapid.OneOf(rapid.IntRange(p.Start-3, p.End+3), rapid.Int())
		p.MarkStart, p.MarkEnd = place.Draw(rt, "from"), place.Draw(rt, "to")
		p.HeadingPath = rapid.SampledFrom([][]string{nil, {"Signs"}, {"Signs", "Lamp | Meaning"}, {"[a](b) | <b> | c"}}).Draw(rt, "headings")
		q := &Quote{Text: quote, Passage: p}

		bare := *q
		bare.Passage.MarkStart, bare.Passage.MarkEnd = 0, 0
		fits := p.Start >= 0 && p.Start <= p.MarkStart && p.MarkStart < p.MarkEnd && p.MarkEnd <= p.End
		markdown, page := strings.Join(markdownBlock(q.displayed()), "\n"), inHTML(q)
		if !fits && (markdown != strings.Join(markdownBlock(bare.displayed()), "\n") || page != inHTML(&bare)) {
			rt.Fatalf("%q is marked where it is not: %s", quote, markdown)
		}
		words := func(lines []shown) string { return letters(together(lines)) }
		if got, want := words(q.displayed()), words(bare.displayed()); got != want {
			rt.Fatalf("%q lost its words: %q, not %q", quote, got, want)
		}
		// What is strong in Markdown is what is marked.
		want := ""
		for _, l := range q.displayed() {
			if m := l.stressable(); !l.verbatim {
				want += letters(m.In(l.text))
			} else if l.mark.Start < l.mark.End && !strings.Contains(l.text, "@") {
				want += letters(l.text)
			}
		}
		if got := letters(strongIn(markdown)); want != "" && got != want {
			rt.Fatalf("%q: %q is strong, not %q, in\n%s", quote, got, want, markdown)
		}
		r := hostile(&fixture{snapshots: cite.Snapshots{}}, quote, false)
		for _, to := range []*Quote{&r.Sections[0].Quotes[0], &r.Sections[0].Quotes[1], &r.Nearest[0]} {
			to.Passage.Start, to.Passage.End, to.Passage.MarkStart, to.Passage.MarkEnd = p.Start, p.End, p.MarkStart, p.MarkEnd
			to.Passage.HeadingPath = p.HeadingPath
		}
		checkHTML(rt, r, HTML(r))
		checkMarkdown(rt, r, Markdown(r))
	})
}

// A mark that begins or ends within an address is not shown there: what is strong is
// what is marked, or nothing.
func TestMarksWithinAddresses(t *testing.T) {
	for _, text := range []string{"me@evil.example", " me@evil.example", "write to me@evil.example now", "*me@evil.example"} {
		for from := range len(text) {
			for to := from + 1; to <= len(text); to++ {
				q := &Quote{Text: text, Passage: cite.Passage{Source: 1, End: len(text), Line: 1, MarkStart: from, MarkEnd: to}}
				want := ""
				for _, l := range q.displayed() {
					if !l.verbatim {
						want += letters(l.stressable().In(l.text))
					}
				}
				if got := letters(strongIn(strings.Join(markdownBlock(q.displayed()), "\n"))); want != "" && got != want {
					t.Errorf("%q from %d to %d: %q is strong, not %q", text, from, to, got, want)
				}
			}
		}
	}
}

// letters are what is to be read of a text.
func letters(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, text)
}

// strongIn returns what a reader of Markdown finds strong.
func strongIn(markdown string) string {
	source := []byte(markdown)
	var b strings.Builder
	_ = ast.Walk(strict().Parse(text.NewReader(source)), func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if mail, ok := n.(*ast.AutoLink); ok && entering {
			for up := n.Parent(); up != nil; up = up.Parent() {
				if e, ok := up.(*ast.Emphasis); ok && e.Level == 2 {
					b.Write(mail.Label(source))
					break
				}
			}
		}
		if t, ok := n.(*ast.Text); ok && entering {
			for up := n.Parent(); up != nil; up = up.Parent() {
				if e, ok := up.(*ast.Emphasis); ok && e.Level == 2 {
					value := string(t.Value(source))
					if n.Parent().Kind() != ast.KindCodeSpan {
						value = unescape(value)
					}
					b.WriteString(value)
					break
				}
			}
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}

func TestMarkedPageHasTheMark(t *testing.T) {
	for _, w := range inLanguages {
		f := newFixture(t, w)
		r := f.report(t, "quotes")
		root, err := html.Parse(strings.NewReader(HTML(r)))
		if err != nil {
			t.Fatal(err)
		}
		var marks []string
		for n := range root.Descendants() {
			if n.Data == "mark" {
				var b strings.Builder
				for c := range n.Descendants() {
					if c.Type == html.TextNode {
						b.WriteString(c.Data)
					}
				}
				marks = append(marks, b.String())
			}
		}
		if want := []string{strings.ReplaceAll(f.quote0(), "`", "")}; !slices.Equal(marks, want) {
			t.Errorf("%s: %q, want %q", w.code, marks, want)
		}
		if got, want := letters(strongIn(Markdown(r))), letters(f.quote0()); got != want {
			t.Errorf("%s: %q, want %q", w.code, got, want)
		}
		data, err := JSON(r)
		if err != nil || !strings.Contains(string(data), `"mark_start": `) {
			t.Errorf("%v\n%s", err, data)
		}
	}
}

// A passage that a claim leans on too keeps the mark of the quote.
func TestGatherKeepsMarks(t *testing.T) {
	f := newFixture(t, inLanguages[0])
	q := f.marked(t)
	q.Passage.HeadingPath = nil
	again := q.Passage
	again.MarkStart, again.MarkEnd = 0, 0
	r := &Report{Lang: lang.English, Nearest: []Quote{q, {Passage: again}}}
	if err := r.Gather(f.ledger, f.snapshots); err != nil {
		t.Fatal(err)
	}
	if p := r.Sources[0].Passages; len(p) != 1 || p[0].Passage.MarkEnd != q.Passage.MarkEnd {
		t.Errorf("%+v", p)
	}
}
