package cite_test

import (
	"strings"
	"testing"

	"dossier/cite"
)

// TestStream passes answers on in pieces of every length: what is shown in the
// end is the answer without addresses, and no address was ever shown.
func TestStream(t *testing.T) {
	for _, text := range []string{
		"One [1]. Two is more [2]! And the rest",
		"See [the page. It](https://evil.example/?q=secret) says so. Next.",
		"An address https://evil.example/?q=a.b stands here. ![x](http://evil.example/y.png) Done.",
		"第一句。第二句！见 https://evil.example/秘密。最后",
		"# Heading\n\nA line.\n- a list\n\nSources:\n- [1] https://evil.example/a\n",
		"",
	} {
		for size := 1; size < 12; size++ {
			shown, deltas := "", 0
			s := &cite.Stream{Pass: func(text string, again bool) {
				if again {
					shown = ""
				}
				shown += text
				deltas++
				if strings.Contains(shown, "evil") {
					t.Errorf("shown: %q", shown)
				}
			}}
			for rest := []rune(text); len(rest) > 0; {
				n := min(size, len(rest))
				s.Write(string(rest[:n]))
				rest = rest[n:]
			}
			s.End()
			if shown != cite.Sanitize(text) {
				t.Errorf("pieces of %d: %q, not %q", size, shown, cite.Sanitize(text))
			}
			if text != "" && deltas < 2 {
				t.Errorf("%q came in %d pieces", text, deltas)
			}
		}
	}
	shown := ""
	s := &cite.Stream{Pass: func(text string, again bool) {
		if again {
			shown = ""
		}
		shown += text
	}}
	s.Write("Wrong. ")
	s.Reset()
	shown = ""
	s.Write("Right.")
	s.End()
	if shown != "Right." {
		t.Errorf("after it started over: %q", shown)
	}
}

// BenchmarkStream is an answer of two thousand words in small pieces.
func BenchmarkStream(b *testing.B) {
	text := strings.Repeat("The bridge was opened in 1934 and carries six lanes [1]. Its towers are 120 m high (see [2]).\n\n", 110)
	for b.Loop() {
		n := 0
		s := &cite.Stream{Pass: func(text string, _ bool) { n += len(text) }}
		for i := 0; i < len(text); i += 6 {
			s.Write(text[i:min(i+6, len(text))])
		}
		s.End()
		if n < len(text)-2 {
			b.Fatal(n)
		}
	}
}
