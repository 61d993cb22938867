package websearch

import (
	"strings"
	"testing"

	"dossier/cite"
	"dossier/event"
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
			s := &stream{emit: func(d event.AnswerDelta) {
				if d.Reset {
					shown = ""
				}
				shown += d.Text
				deltas++
				if strings.Contains(shown, "evil") {
					t.Errorf("shown: %q", shown)
				}
			}}
			for rest := []rune(text); len(rest) > 0; {
				n := min(size, len(rest))
				s.write(string(rest[:n]))
				rest = rest[n:]
			}
			s.end()
			if shown != cite.Sanitize(text) {
				t.Errorf("pieces of %d: %q, not %q", size, shown, cite.Sanitize(text))
			}
			if text != "" && deltas < 2 {
				t.Errorf("%q came in %d pieces", text, deltas)
			}
		}
	}
	shown := ""
	s := &stream{emit: func(d event.AnswerDelta) {
		if d.Reset {
			shown = ""
		}
		shown += d.Text
	}}
	s.write("Wrong. ")
	s.reset()
	s.write("Right.")
	s.end()
	if shown != "Right." {
		t.Errorf("after it started over: %q", shown)
	}
}
