package cli_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"dossier/llm/llmtest"
)

// ticks counts the different pictures of the wheel on a terminal.
func ticks(raw string) int {
	seen := map[rune]bool{}
	for _, r := range raw {
		if r >= 0x2800 && r <= 0x28ff {
			seen[r] = true
		}
	}
	return len(seen)
}

// While the model thinks the screen says so, and moves.
func TestAskShowsThatTheModelThinks(t *testing.T) {
	release := make(chan struct{})
	env := scripted(t, llmtest.Rule{Contains: "sky", Reply: llmtest.Do(func(*llmtest.Request) *llmtest.Reply {
		<-release
		return llmtest.JSON(map[string]any{"reasoning": "none", "answer": "It scatters.", "key_points": []string{}})
	})})
	c := startTTY(t, t.TempDir(), 80, 24, env, "ask", "why is the sky blue?")
	c.wait("the model is thinking")
	c.until("a wheel that turns", func() bool {
		return ticks(c.raw.String()) > 3 && strings.Contains(c.screen.String(), "the model is thinking")
	})
	close(release)
	if code := c.end(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if got := c.screen.String(); !strings.HasPrefix(got, "It scatters.\n") || strings.Contains(got, "thinking") {
		t.Errorf("left on the screen:\n%s", got)
	}
}

// Reading a folder shows how many files of how many are read.
func TestKBAddCounts(t *testing.T) {
	home := t.TempDir()
	texts := map[string]string{}
	for i := range 2000 {
		texts[fmt.Sprintf("notes/%04d.md", i)] = fmt.Sprintf("# Note %d\n\nThe lamp number %d burns with oil.\n", i, i)
	}
	files(t, home, texts)
	c := startTTY(t, home, 100, 24, nil, "kb", "add", "notes")
	counted := regexp.MustCompile(`⠋ \d+s · reading the documents|\d+/2000 notes/\d+\.md`)
	c.until("a count", func() bool { return counted.MatchString(c.raw.String()) })
	if code := c.end(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	raw := c.written()
	if !strings.Contains(raw, "reading the documents") || !regexp.MustCompile(`\d+/2000 notes/\d+\.md`).MatchString(raw) {
		t.Errorf("no counts: %q", raw)
	}
	if got := c.screen.String(); !strings.Contains(got, "2000 documents") || strings.Contains(got, "░") {
		t.Errorf("left on the screen:\n%s", got)
	}
}

// Research says what it does now.
func TestResearchSaysWhatItDoes(t *testing.T) {
	home := t.TempDir()
	files(t, home, lighthouse)
	c := startTTY(t, home, 80, 60, nil, "research", "How many steps lead to the lamp?", "--in", "cape")
	c.end()
	for _, want := range []string{"working out what to look for", "reading the documents", "searches: ", "choosing what to read", "reading sources", "writing the answer"} {
		if !strings.Contains(c.written(), want) {
			t.Errorf("%q was never shown", want)
		}
	}
	// In another language, the same.
	c = startTTY(t, home, 80, 60, nil, "research", "Сколько ступеней ведёт к лампе маяка?", "--in", "cape")
	c.end()
	if got := c.written(); !strings.Contains(got, "решает, что искать") || strings.Contains(got, "reading sources") {
		t.Errorf("%q", got)
	}
}

// After Ctrl-C the screen still says what happens.
func TestInterruptKeepsTheBoard(t *testing.T) {
	release := make(chan struct{})
	env := scripted(t, llmtest.Rule{Contains: "sky", Reply: llmtest.Do(func(*llmtest.Request) *llmtest.Reply {
		<-release
		return llmtest.JSON(map[string]any{"reasoning": "none", "answer": "It scatters.", "key_points": []string{}})
	})})
	defer close(release)
	c := startTTY(t, t.TempDir(), 80, 24, env, "ask", "why is the sky blue?")
	c.wait("the model is thinking")
	c.send("\x03")
	c.wait("finishing with what there is")
	c.send("\x03")
	if code := c.end(); code != 130 && code != 0 {
		t.Errorf("exit code %d", code)
	}
}
