package markdown

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"dossier/internal/base/term"
)

// named writes the escapes of a look as words.
var named = strings.NewReplacer(
	"\x1b[1m", "⟨b⟩", "\x1b[1;4m", "⟨title⟩", "\x1b[3m", "⟨i⟩", "\x1b[9m", "⟨s⟩", "\x1b[36m", "⟨code⟩", "\x1b[1;36m", "⟨b code⟩", "\x1b[32m", "⟨place⟩", "\x1b[31m", "⟨doubt⟩",
	"\x1b[2m", "⟨dim⟩", "\x1b[0m", "⟨/⟩", "\x1b]8;;\x1b\\", "⟨/a⟩", "\x1b]8;;", "⟨a ", "\x1b\\", "⟩",
)

func TestLines(t *testing.T) {
	source := func(n int) string {
		if n == 1 {
			return "file:///d/a.md"
		}
		return ""
	}
	for name, tc := range map[string]struct {
		in   string
		look Look
		want string
	}{
		"words":    {"One **two three** four `five` *six*.", Look{Width: 20}, "One ⟨b⟩two three⟨/⟩ four\n⟨code⟩five⟨/⟩ ⟨i⟩six⟨/⟩."},
		"plain":    {"# Head\n\nOne **two** [x](http://a.b).", Look{Width: 40, Plain: true}, "Head\n\nOne two x (http://a.b)."},
		"headings": {"# One\n\n## Two", Look{Width: 40}, "⟨title⟩One⟨/⟩\n\n⟨b⟩Two⟨/⟩"},
		"quotations have bars": {
			"> [1] a.md:3  \n> The lamp stands on granite and shines.\n>\n> - one\n> - two", Look{Width: 24, Plain: true},
			"│ [1] a.md:3\n│ The lamp stands on\n│ granite and shines.\n│\n│ • one\n│ • two",
		},
		"lists":               {"1. one two three four five\n2. b\n   - c", Look{Width: 20, Plain: true}, "1. one two three\n   four five\n2. b\n   • c"},
		"escapes of Markdown": {`submit\@bugs.debian.org git\://x \*y\* a\_b &amp; &#42;`, Look{Width: 80}, "submit@bugs.debian.org git://x *y* a_b & *"},
		"Chinese is broken between characters, not before a full stop": {"灯塔每年五月至九月开放。成人门票为八欧元。", Look{Width: 22, Plain: true}, "灯塔每年五月至九月开\n放。成人门票为八欧元。"},
		"lines of a paragraph are joined":                              {"one\ntwo", Look{Width: 40, Plain: true}, "one two"},
		"a long word":                                                  {"see https://example.org/a/long/path/to/it", Look{Width: 24, Plain: true}, "see\nhttps://example.org/a/\nlong/path/to/it"},
		"code":                                                         {"```\nif a {\n\tb := \"a line that is longer than the terminal\"\n}\n```", Look{Width: 24, Plain: true}, "  if a {\n      b := \"a line that is longer than the terminal\"\n  }"},
		"a table":                                                      {"| a | b |\n|---|---|\n| one | **two** |", Look{Width: 40, Plain: true}, "a    b\n────────\none  two"},
		"a table that is too wide":                                     {"| name | what it is |\n|---|---|\n| one | two three four five |", Look{Width: 22, Plain: true}, "name: one\nwhat it is: two three\nfour five"},
		"sources are linked by their number":                           {"It is so [1][2], not `[1]` [?].", Look{Width: 60, Source: source}, "It is so ⟨a file:///d/a.md⟩⟨place⟩[1]⟨/⟩⟨/a⟩[2], not ⟨code⟩[1]⟨/⟩ ⟨doubt⟩[?]⟨/⟩."},
		"links of ours":                                                {"[a.md:3](<file:///d/a.md>)", Look{Width: 60, Own: true}, "⟨a file:///d/a.md⟩⟨place⟩a.md:3⟨/⟩⟨/a⟩"},
		"links of others":                                              {"[home](http://evil.example)", Look{Width: 60}, "home (⟨a http://evil.example⟩⟨place⟩http://evil.example⟨/⟩⟨/a⟩)"},
		"what speaks to the terminal":                                  {"a\x1b[31mb\x1b]0;t\x07 &#27;[2J &#x9b;2J", Look{Width: 60}, "ab [2J"},
	} {
		if got := named.Replace(strings.Join(Lines(tc.in, tc.look), "\n")); got != tc.want {
			t.Errorf("%s:\ngot  %q\nwant %q", name, got, tc.want)
		}
	}
}

var own = regexp.MustCompile("\x1b\\[[0-9;]+m|\x1b]8;;[!-~]*\x1b\\\\")

// No line is wider than the terminal, nothing but our own escapes is in them,
// and no letter is lost.
func TestLinesProperties(t *testing.T) {
	pieces := []string{"**", "*", "`", "> ", "- ", "1. ", "\n", "\n\n", " ", " ", "word", "длинное-слово", "中文字符", "。", "[1]", "[x](http://a.b/c)", "\\@", "# ", "| a | b |\n|---|---|\n| c | d |\n", "---\n", "\x1b[31m", "&#27;", "http://example.org/a/very/long/path", "e\u0301", "🙂", "~~"}
	rapid.Check(t, func(t *rapid.T) {
		in := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 30).Draw(t, "text"), "")
		look := Look{Width: rapid.IntRange(1, 100).Draw(t, "width"), Plain: rapid.Bool().Draw(t, "plain"), Source: func(int) string { return "file:///x" }}
		var letters strings.Builder
		deep := strings.Count(in, "> ") + strings.Count(in, "- ") + strings.Count(in, "1. ")
		for _, l := range Lines(in, look) {
			bare := own.ReplaceAllString(l, "")
			if look.Plain && bare != l || term.Clean(bare) != bare || strings.Contains(bare, "\n") {
				t.Fatalf("%q: %q", in, l)
			}
			if w := max(look.Width, least); term.Width(bare) > w+3*deep && !strings.HasPrefix(bare, "  ") {
				t.Fatalf("%q: %q is wider than %d", in, bare, w)
			}
			letters.WriteString(bare)
		}
		count := func(s string) (n int) {
			for _, r := range s {
				if unicode.Is(unicode.Han, r) || unicode.Is(unicode.Cyrillic, r) {
					n++
				}
			}
			return n
		}
		if got, want := count(letters.String()), count(in); got != want {
			t.Fatalf("%q: %d letters became %d: %q", in, want, got, letters.String())
		}
	})
}

func ExampleLines() {
	for _, l := range Lines("## Answer\n\n> [1] notes.md:7  \n> It opens **in May**.", Look{Width: 40, Plain: true}) {
		fmt.Println(l)
	}
	// Output:
	// Answer
	//
	// │ [1] notes.md:7
	// │ It opens in May.
}
