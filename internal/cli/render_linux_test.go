package cli_test

import (
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"dossier/internal/base/term"
	"dossier/llm/llmtest"
)

var colours = regexp.MustCompile("\x1b\\[[0-9;]*m|\x1b]8;")

// A report on a terminal is rendered: no sign of Markdown is left, nothing is
// wider than the terminal, and places can be opened.
func TestAReportIsRenderedOnATerminal(t *testing.T) {
	home := t.TempDir()
	files(t, home, lighthouse)
	for _, columns := range []int{80, 120, 40} {
		c := startTTY(t, home, columns, 60, nil, "research", "How do I report a broken lamp?", "--in", "cape")
		if code := c.end(); code != 0 {
			t.Errorf("exit code %d", code)
		}
		got := c.screen.String()
		for _, want := range []string{"│ [1] cape/tower.md:7 · The building", "submit@bugs.example.org", "git://git.example.org/lamp.git", "Sources", "• [1]"} {
			if !strings.Contains(got, want) {
				t.Errorf("%q is missing at %d columns:\n%s", want, columns, got)
			}
		}
		for _, sign := range []string{"**", "\n> ", "\n# ", "\n## ", `\@`, `\:`, "*Made"} {
			if strings.Contains(got, sign) {
				t.Errorf("%q at %d columns:\n%s", sign, columns, got)
			}
		}
		if raw := c.written(); !strings.Contains(raw, "\x1b]8;;file:///") || !strings.Contains(raw, "\x1b[1") {
			t.Errorf("no links or no bold: %q", raw)
		}
	}
	c := startTTY(t, home, 40, 60, nil, "research", "成人门票多少钱？", "--in", "cape")
	c.end()
	for l := range strings.Lines(c.screen.String()) {
		if strings.HasPrefix(l, "│") && term.Width(strings.TrimSuffix(l, "\n")) > 40 {
			t.Errorf("%q is too wide", l)
		}
	}
	if got := c.screen.String(); !strings.Contains(strings.ReplaceAll(got, "\n│ ", ""), "成人门票为八欧元，") {
		t.Errorf("the answer is missing:\n%s", got)
	}
}

func TestNoColor(t *testing.T) {
	home := t.TempDir()
	files(t, home, lighthouse)
	for _, env := range []string{"NO_COLOR=1", "TERM=dumb"} {
		c := startTTY(t, home, 80, 60, []string{env}, "research", "How many steps lead to the lamp?", "--in", "cape")
		c.end()
		if got := c.written(); colours.MatchString(got) || !strings.Contains(got, "│ [1]") {
			t.Errorf("%s: %q", env, got)
		}
		if got := c.written(); env == "TERM=dumb" && strings.Contains(got, "\x1b") {
			t.Errorf("a terminal that knows no escapes got %q", got)
		}
	}
}

func TestALongReportGoesToThePager(t *testing.T) {
	home := t.TempDir()
	files(t, home, lighthouse)
	pager := []string{`PAGER=sed s/^/paged:/`}
	for rows, want := range map[int]bool{10: true, 60: false} {
		c := startTTY(t, home, 80, rows, pager, "research", "How many steps lead to the lamp?", "--in", "cape")
		if code := c.end(); code != 0 {
			t.Errorf("exit code %d", code)
		}
		if got := strings.Contains(c.written(), "paged:"); got != want || !strings.Contains(c.screen.String(), "187 steps") {
			t.Errorf("%d rows: paged %v\n%s", rows, got, c.screen)
		}
	}
	c := startTTY(t, home, 80, 10, pager, "runs", "report", "last")
	if c.end(); !strings.Contains(c.written(), "paged:") {
		t.Errorf("runs report: %s", c.screen)
	}
	c = startTTY(t, home, 80, 10, []string{"PAGER=there-is-no-such-pager"}, "runs", "report", "last")
	if c.end(); !strings.Contains(c.screen.String(), "187 steps") {
		t.Errorf("without a pager: %s", c.screen)
	}
}

// scripted starts a model that answers by rules, and returns the environment of
// programs that use it.
func scripted(t *testing.T, rules ...llmtest.Rule) []string {
	t.Helper()
	srv := llmtest.New(llmtest.Script{Models: []string{"gpt-4o-mini"}, Rules: rules})
	h := httptest.NewServer(srv)
	t.Cleanup(func() { srv.Close(); h.Close() })
	return []string{"OPENAI_API_KEY=" + secret, "OPENAI_BASE_URL=" + h.URL + "/v1"}
}

func TestAnAnswerIsRenderedAsItIsWritten(t *testing.T) {
	env := scripted(t, llmtest.Rule{Contains: "sky", Reply: llmtest.JSON(map[string]any{
		"reasoning": "none", "answer": "It is **scattering** of light by the air, which takes the short waves first.\n\n- blue\n- `violet`\n", "key_points": []string{"short waves"},
	})})
	c := startTTY(t, t.TempDir(), 40, 30, env, "ask", "why is the sky blue?")
	if code := c.end(); code != 0 {
		t.Errorf("exit code %d\n%s", code, c.screen)
	}
	const want = "It is scattering of light by the air,\nwhich takes the short waves first.\n\n• blue\n• violet\n"
	if got := c.screen.String(); strings.Count(got, want) != 1 || strings.Contains(got, "**") || strings.Count(got, "scattering") != 1 {
		t.Errorf("shown:\n%s", got)
	}
}
