package cli

import (
	"strings"
	"testing"

	"dossier/internal/base/term"
)

func TestInColumns(t *testing.T) {
	rows := func() [][]string {
		return [][]string{{"iron", "definition", "names its next\ntool in plain text"}, {"имя", "x", ""}, {"\x1b[31mred", "y", strings.Repeat("long ", 30)}}
	}
	for width, want := range map[int]string{
		60: "iron  definition  names its next tool in plain text\nимя   x\nred   y           long long long long long long long long l…\n",
		30: "iron  definition\n    names its next tool in pl…\nимя   x\nred   y\n    long long long long long …\n",
	} {
		got := inColumns(rows(), width)
		if got != want {
			t.Errorf("%d columns: got\n%q\nwant\n%q", width, got, want)
		}
		for l := range strings.Lines(got) {
			if term.Width(strings.TrimSuffix(l, "\n")) > width {
				t.Errorf("%d columns: %q is too long", width, l)
			}
		}
	}
}
