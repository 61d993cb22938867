package fleet

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// patch carries out a comparison, so that it is known to be right.
func patch(t interface{ Fatalf(string, ...any) }, from, diff string) string {
	if diff == "" {
		return from
	}
	lines := strings.SplitAfter(from, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	var out strings.Builder
	at := 0
	text := strings.SplitAfter(diff, "\n")
	for i, line := range text {
		if i < 2 || line == "" || strings.HasPrefix(line, "\\") {
			continue
		}
		if i+1 < len(text) && strings.HasPrefix(text[i+1], "\\") {
			line = strings.TrimSuffix(line, "\n")
		}
		switch line[0] {
		case '@':
			var start, n, to, m int
			if _, err := fmt.Sscanf(line, "@@ -%d,%d +%d,%d @@", &start, &n, &to, &m); err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			if n > 0 {
				start--
			}
			for ; at < start; at++ {
				out.WriteString(lines[at])
			}
		case ' ', '-':
			if at >= len(lines) || lines[at] != line[1:] {
				t.Fatalf("line %d is not %q\n%s", at, line[1:], diff)
			}
			if line[0] == ' ' {
				out.WriteString(line[1:])
			}
			at++
		case '+':
			out.WriteString(line[1:])
		default:
			t.Fatalf("line %q", line)
		}
	}
	for ; at < len(lines); at++ {
		out.WriteString(lines[at])
	}
	return out.String()
}

func TestUnifiedIsAPatch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.Custom(func(t *rapid.T) string {
			lines := rapid.SliceOfN(rapid.SampledFrom([]string{"a\n", "b\n", "c\n", "\n", "longer line\n"}), 0, 30).Draw(t, "lines")
			return strings.Join(lines, "") + rapid.SampledFrom([]string{"", "end", "-", "+"}).Draw(t, "end")
		})
		from, to := text.Draw(t, "from"), text.Draw(t, "to")
		diff := unified("a", "b", from, to)
		if got := patch(t, from, diff); got != to {
			t.Fatalf("patched: %q, want %q\n%s", got, to, diff)
		}
		if (diff == "") != (from == to) {
			t.Fatalf("diff %q", diff)
		}
	})
}

func TestUnifiedLeavesOutWhatIsTheSame(t *testing.T) {
	var from, to strings.Builder
	for i := range 40 {
		fmt.Fprintf(&from, "line %d\n", i)
		switch i {
		case 10, 16, 30:
			fmt.Fprintf(&to, "LINE %d\n", i)
		default:
			fmt.Fprintf(&to, "line %d\n", i)
		}
	}
	diff := unified("a", "b", from.String(), to.String())
	if got := strings.Count(diff, "@@ -"); got != 2 {
		t.Errorf("%d hunks", got)
	}
	for _, place := range []string{"@@ -8,13 +8,13 @@", "@@ -28,7 +28,7 @@"} {
		if !strings.Contains(diff, place) {
			t.Errorf("no %s in\n%s", place, diff)
		}
	}
}

// A comparison of huge texts is coarse, and right.
func TestUnifiedOfHugeTexts(t *testing.T) {
	var from, to strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&from, "a%d\n", i)
		fmt.Fprintf(&to, "b%d\n", i)
	}
	if got := patch(t, from.String(), unified("a", "b", from.String(), to.String())); got != to.String() {
		t.Error("the patch is wrong")
	}
}

func TestMeant(t *testing.T) {
	names := []string{"researcher", "reader", "Writer-2"}
	for name, want := range map[string]string{
		"reseacher": "researcher", "READER": "reader", "writer2": "Writer-2", "xyz": "", "": "", "researchers-united": "",
	} {
		got := meant(name, names)
		if want != "" {
			want = fmt.Sprintf("; did you mean %q?", want)
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
}

func FuzzUnified(f *testing.F) {
	f.Add("a\nb\n", "a\nc")
	f.Fuzz(func(t *testing.T, from, to string) {
		if len(from)+len(to) > 4000 {
			return
		}
		if got := patch(t, from, unified("a", "b", from, to)); got != to {
			t.Fatalf("patched: %q, want %q", got, to)
		}
	})
}
