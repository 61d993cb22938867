package cli

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"dossier/event"
)

func TestBold(t *testing.T) {
	for in, want := range map[string]string{
		"plain *one*":                    "plain *one*",
		"> One. **Two is it.** Three.\n": "> One. ⟨Two is it.⟩ Three.\n",
		"**`ls`** and **b**":             "⟨`ls`⟩ and ⟨b⟩",
		`\**a** b`:                       `**a** b`,
		`4 \| finished \\ C:\dir \_x`:    `4 | finished \ C:\dir _x`,
		"`a \\| b` \\| c":                "`a \\| b` | c",
		"2 ** 3 ** 4":                    "2 ** 3 ** 4",
		"`a ** b` **c**":                 "`a ** b` ⟨c⟩",
		"**open\n**closed**":             "**open\n⟨closed⟩",
		"```\n**code**\n```\n**b**":      "```\n**code**\n```\n⟨b⟩",
		"> \\- **零下 25 度工作**。":           "> - ⟨零下 25 度工作⟩。",
		"***a***":                        "***a***",
		"`open **b**":                    "`open ⟨b⟩",
	} {
		if got := bold(in); got != strings.NewReplacer("⟨", boldOn, "⟩", boldOff).Replace(want) {
			t.Errorf("%q: %q", in, got)
		}
	}
}

// Bold takes nothing away but signs, and what it turns on it turns off.
func TestBoldLeavesTheText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := strings.Join(rapid.SliceOf(rapid.SampledFrom([]string{"**", "*", "`", "``", "```", "\\", "a", "中", " ", "\n", "> ", "~~~"})).Draw(t, "text"), "")
		out := bold(in)
		if strings.Count(out, boldOn) != strings.Count(out, boldOff) {
			t.Fatalf("%q: %q", in, out)
		}
		for line := range strings.Lines(out) {
			if strings.Count(line, boldOn) != strings.Count(line, boldOff) {
				t.Fatalf("%q: %q", in, line)
			}
		}
		if got := strings.NewReplacer(boldOn, "**", boldOff, "**").Replace(out); strings.ReplaceAll(got, `\`, "") != strings.ReplaceAll(in, `\`, "") {
			t.Fatalf("%q became %q", in, got)
		}
	})
}

func TestAnswerIsBoldOnATerminal(t *testing.T) {
	answer := event.Message{Role: "assistant", Text: "> One. **Two\x1b[31m.** Three."}
	if got, want := screen(true, answer), "> One. "+boldOn+"Two."+boldOff+" Three.\n"; got != want {
		t.Errorf("on a terminal %q", got)
	}
	if got, want := screen(false, answer), "> One. **Two.** Three.\n"; got != want {
		t.Errorf("in a pipe %q", got)
	}
}
