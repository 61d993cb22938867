package cite_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/txtar"

	"dossier/cite"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestSplit holds answers in three languages to their claims.
func TestSplit(t *testing.T) {
	files, err := filepath.Glob("testdata/claims/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no goldens: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			a, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			answer := string(a.Files[0].Data)
			clean := cite.Sanitize(answer)
			var got strings.Builder
			for _, c := range cite.Split(clean) {
				line, err := json.Marshal(struct {
					Text      string   `json:"text"`
					Sources   []int    `json:"sources,omitempty"`
					Inherited bool     `json:"inherited,omitempty"`
					Quotes    []string `json:"quotes,omitempty"`
				}{c.Text, c.Sources, c.Inherited, c.Quotes})
				if err != nil {
					t.Fatal(err)
				}
				got.Write(append(line, '\n'))
			}
			if *update {
				a.Files = []txtar.File{a.Files[0], {Name: "clean", Data: []byte(clean)}, {Name: "claims", Data: []byte(got.String())}}
				if err := os.WriteFile(file, txtar.Format(a), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if want := string(a.Files[1].Data); clean != want {
				t.Errorf("clean is\n%s\nwant\n%s", clean, want)
			}
			if want := string(a.Files[2].Data); got.String() != want {
				t.Errorf("claims are\n%s\nwant\n%s", got.String(), want)
			}
		})
	}
}

func TestSanitize(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"See [the page](https://evil.example/x?q=1) now.", "See the page now."},
		{"True [1](https://evil.example).", "True [1]."},
		{"Look ![pixel](http://evil.example/p.png?d=secret) here", "Look  here"},
		{"Read more at https://evil.example/a_(b)?q=1.", "Read more at."},
		{"Read <https://evil.example> and www.evil.example/x, please.", "Read  and, please."},
		{"Go to evil.com/path?x=1 or Node.js/Deno.", "Go to  or Node.js/Deno."},
		{"Go to //127.0.0.1:8080/x or 10.1.2.3/path?x=1 or localhost:80/, not to 10.1.0.0/16 at 127.0.0.1.", "Go to  or  or, not to 10.1.0.0/16 at 127.0.0.1."},
		{"Mail mailto:a@evil.example now", "Mail  now"},
		{"[a]: https://evil.example\nText [a].", "Text [a]."},
		{"<a href=\"https://evil.example\">click</a> it <img src=x onerror=y>", "click it "},
		{"[[x](http://a.example)](http://b.example)", "[x]"},
		{"подробнее (https://пример.рф/путь) здесь", "подробнее здесь"},
		{"详见https://evil.example/路径，谢谢", "详见，谢谢"},
		{"At 3:30 the ratio is 2:1; use C++ and a/b.", "At 3:30 the ratio is 2:1; use C++ and a/b."},
		{"data: 5 items, tel: none", "data: 5 items, tel: none"},
	} {
		if got := cite.Sanitize(c.in); got != c.want {
			t.Errorf("Sanitize(%q) = %q, want %q", c.in, got, c.want)
		}
	}
}

// pointer is what could be a link, an image, a tag or an address.
var pointer = regexp.MustCompile(`(?i)\]\(|<[a-z/!]|\b[a-z][a-z0-9+.-]*://|\bwww\.[^\s.,;:!?…*_` + "`" + `|]`)

func FuzzSplit(f *testing.F) {
	for _, s := range []string{"A b c [1]. D e f.[2,3] «Ж з и к л» 【4】", "| a | b |\n|---|---|\n| c [1] | d |", "```\n[1]\n", "> q\n> r [1-9]", "[a](b(c)d) <x:y> ![", "[1][2][999][^3]", "#\n=\n-\n* [1]"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, answer string) {
		clean := cite.Sanitize(answer)
		if found := pointer.FindString(clean); found != "" {
			t.Fatalf("Sanitize(%q) = %q, with %q", answer, clean, found)
		}
		if cite.Sanitize(clean) != clean {
			t.Fatalf("Sanitize(%q) = %q is not clean yet", answer, clean)
		}
		last := 0
		for _, c := range cite.Split(clean) {
			if c.Start < last || c.End < c.Start || c.End > len(clean) || !utf8.ValidString(c.Text) {
				t.Fatalf("claim %+v after %d of %q", c, last, clean)
			}
			last = c.Start
			for _, n := range c.Sources {
				if n < 0 || n > 999 {
					t.Fatalf("source %d of %q", n, clean)
				}
			}
		}
	})
}

func TestMarks(t *testing.T) {
	text := "Ä [1]. B [2][3]; c [4, 5] `x[6]`\n\n```\na[7]\n```\n【8】 [2024] [x]\n~~~\n[9]"
	var got []string
	for _, m := range cite.Marks(text) {
		got = append(got, fmt.Sprintf("%d %s", m.Number, m.In(text)))
	}
	want := []string{"1 [1]", "2 [2]", "3 [3]", "4 [4, 5]", "5 [4, 5]", "8 【8】"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestOnlyKnown(t *testing.T) {
	known := func(n int) bool { return n < 3 }
	for text, want := range map[string]string{
		"a [1]. b [7]. c [1, 9][2].":            "a [1]. b. c [1][2].",
		"x 【2】 y [5-6].":                        "x [2] y.",
		"`a[9]` and [9]\n```\nb[9]\n```\nc [9]": "`a[9]` and\n```\nb[9]\n```\nc",
	} {
		if got, _ := cite.OnlyKnown(text, known); got != want {
			t.Errorf("%q: %q, not %q", text, got, want)
		}
	}
	if _, gone := cite.OnlyKnown("[9] a [7, 1, 9]", known); len(gone) != 2 || gone[0] != 9 || gone[1] != 7 {
		t.Errorf("%v", gone)
	}
}
