package term

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestClean(t *testing.T) {
	for name, tc := range map[string]struct{ in, want string }{
		"plain":                {"héllo\n\tмир 世界 🙂", "héllo\n\tмир 世界 🙂"},
		"colour":               {"a\x1b[31mred\x1b[0mb", "aredb"},
		"private csi":          {"\x1b[?1049hx", "x"},
		"title ended by BEL":   {"a\x1b]0;evil\x07b", "ab"},
		"title ended by ST":    {"a\x1b]0;evil\x1b\\b", "ab"},
		"hyperlink":            {"\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"},
		"clipboard":            {"\x1b]52;c;ZXZpbA==\x07ok", "ok"},
		"device control":       {"\x1bP$qm\x1b\\ok", "ok"},
		"application command":  {"\x1b_Gf=100;AAAA\x1b\\ok", "ok"},
		"C1 csi":               {"a\u009b31mb", "ab"},
		"C1 osc":               {"a\u009d0;evil\u009cb", "ab"},
		"charset":              {"\x1b(0lqk\x1b(B", "lqk"},
		"reset":                {"a\x1bcb", "ab"},
		"carriage return":      {"safe\rrm -rf\r\n", "saferm -rf\n"},
		"bell and backspace":   {"a\a\bb\x7f", "ab"},
		"null":                 {"a\x00b", "ab"},
		"direction override":   {"a\u202etxt.exe\u202cb", "atxt.exeb"},
		"direction isolate":    {"a\u2066x\u2069b", "axb"},
		"broken off":           {"a\x1b[12", "a"},
		"string never closed":  {"a\x1b]0;title\nnext line", "a\nnext line"},
		"csi with a bad byte":  {"a\x1b[3éb", "aéb"},
		"escape inside string": {"a\x1b]0;x\x1b[31mb", "ab"},
		"escape twice":         {"a\x1b\x1b[31mb", "ab"},
		"invalid utf-8":        {"a\xff\x9b31mb", "a\ufffd\ufffd31mb"},
	} {
		if got := Clean(tc.in); got != tc.want {
			t.Errorf("%s: Clean(%q) = %q, want %q", name, tc.in, got, tc.want)
		}
	}
}

func TestUnclosedStringDoesNotSwallowTheText(t *testing.T) {
	got := Clean("\x1b]" + strings.Repeat("x", 2*maxCommand) + "end")
	if !strings.HasSuffix(got, "xend") {
		t.Errorf("the end of the text is missing: %q", got[max(0, len(got)-20):])
	}
}

// pieces generates text with many escapes, cut at any place.
func pieces() *rapid.Generator[[]string] {
	atom := rapid.OneOf(
		rapid.SampledFrom([]string{"\x1b", "[", "]", "\\", "P", "\x07", "\u009b", "\u009c", "\u009d", "31", "m", ";", "\n", "\r", "\u202e", "я", "世", "(", "\x7f"}),
		rapid.String(),
	)
	return rapid.SliceOf(atom)
}

func TestCleanProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := pieces().Draw(t, "pieces")
		whole := Clean(strings.Join(in, ""))
		checkSafe(t, whole)
		if again := Clean(whole); again != whole {
			t.Fatalf("cleaning %q again gives %q", whole, again)
		}
		var s Stripper
		var b strings.Builder
		for _, p := range in {
			b.WriteString(s.Clean(p))
		}
		if b.String() != whole {
			t.Fatalf("in pieces %q, at once %q", b.String(), whole)
		}
	})
}

type fataler interface {
	Fatalf(format string, args ...any)
}

func checkSafe(t fataler, s string) {
	if !utf8.ValidString(s) {
		t.Fatalf("not UTF-8: %q", s)
	}
	for _, r := range s {
		if hidden(r) {
			t.Fatalf("%U is left in %q", r, s)
		}
	}
}

func FuzzClean(f *testing.F) {
	f.Add("a\x1b[31mred", "\x1b]0;t\x07b")
	f.Add("\u009b", "31m")
	f.Add("\x1b", "[2J")
	f.Fuzz(func(t *testing.T, a, b string) {
		var s Stripper
		got := s.Clean(a) + s.Clean(b)
		checkSafe(t, got)
		if utf8.ValidString(a) && utf8.ValidString(b) && got != Clean(a+b) {
			t.Fatalf("in pieces %q, at once %q", got, Clean(a+b))
		}
	})
}

func TestFit(t *testing.T) {
	for _, tc := range []struct {
		in    string
		width int
		want  string
	}{
		{"short", 10, "short"},
		{"exactly ten", 11, "exactly ten"},
		{"a longer line", 8, "a longe…"},
		{"世界你好吗", 6, "世界…"},
		{"e\u0301a", 2, "e\u0301a"},
		{"x", 0, ""},
	} {
		if got := Fit(tc.in, tc.width); got != tc.want {
			t.Errorf("Fit(%q, %d) = %q, want %q", tc.in, tc.width, got, tc.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		s, width := rapid.String().Draw(t, "s"), rapid.IntRange(0, 40).Draw(t, "width")
		if got := Width(Fit(s, width)); got > width {
			t.Fatalf("%d columns, more than %d", got, width)
		}
		if got := Width(Pad(s, width)); got != width {
			t.Fatalf("padded to %d columns, not %d", got, width)
		}
	})
}

func TestLine(t *testing.T) {
	if got := Line(" a\n\tb \x1b[1mc\r\n"); got != "a b c" {
		t.Errorf("got %q", got)
	}
}
