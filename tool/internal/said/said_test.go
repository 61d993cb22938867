package said

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func FuzzVisible(f *testing.F) {
	f.Add("a\u200b\x1b[31mb\xff\U000E0041")
	f.Fuzz(func(t *testing.T, s string) {
		out := Visible(s)
		if !utf8.ValidString(out) || strings.ContainsAny(out, "\x00\x1b\x7f\u202e\u200b") {
			t.Errorf("%q", out)
		}
		if Visible(out) != out {
			t.Errorf("%q is cleaned again", out)
		}
	})
}

func TestText(t *testing.T) {
	var c Cleaner
	c.Add("hunter2hunter2")
	if got := c.Line(" a\n\x1b[1mb\x1b[0m hunter2hunter2 "+strings.Repeat("x", 100), 20); got != "a b [redacted] xxxxx [cut: 95 more characters]" {
		t.Errorf("%q", got)
	}
}

func TestName(t *testing.T) {
	for in, want := range map[string]string{
		"get_story": "get_story", "a.b/c d": "a_b_c_d", "поиск": "", "": "", "x é": "x__",
		strings.Repeat("n", 100): strings.Repeat("n", MostName),
	} {
		if got := Name(in); got != want {
			t.Errorf("%q is %q, not %q", in, got, want)
		}
	}
}
