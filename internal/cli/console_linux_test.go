package cli_test

import (
	"strings"
	"testing"
	"time"

	"dossier/llm/llmtest"
)

// On a terminal lines are edited and recalled in any script, statuses are dim, Ctrl-C
// stops the request under way and Ctrl-D leaves.
func TestConsoleOnATerminal(t *testing.T) {
	home := t.TempDir()
	model := llmtest.Start(t, llmtest.Script{Rules: []llmtest.Rule{
		{Contains: "долго", Latency: time.Hour, Reply: llmtest.Say(irrelevant)},
		{Reply: llmtest.Say(irrelevant)},
	}})
	env := []string{"OPENAI_BASE_URL=" + model.URL() + "/v1", "OPENAI_API_KEY=x", "DEFAULT_MODEL=scripted"}
	c := startTTY(t, home, 80, 40, env, "console")
	asked := func(said string) {
		c.until("prompt after "+said, func() bool {
			_, after, found := strings.Cut(c.raw.String(), said)
			return found && strings.Contains(after, "\r> ")
		})
	}
	asked("— выход.")
	c.send("привет 秋x\x7f\x1b[D\x1b[D天气\r") // x is erased, the cursor goes back over 秋 and a blank
	asked("\x1b[1mЗапрос не связан с функционалом агента.\x1b[0m\r\n")
	if raw := c.raw.String(); !strings.Contains(raw, "\x1b[2mАнализирую релевантность запроса..\x1b[0m") {
		t.Errorf("statuses are not dim: %q", raw)
	}
	c.send("\x1b[A\x1b[F!\r") // the last line again, with an end
	c.until("a prompt after the second call", func() bool {
		said := strings.Split(c.raw.String(), "Запрос не связан")
		return len(said) == 3 && strings.Contains(said[2], "\r> ")
	})
	c.send("долго\r")
	c.until("a third call", func() bool { return strings.Count(c.raw.String(), "Анализирую") == 3 })
	c.send("\x03")
	asked("Остановлено.")
	c.send("\x04")
	c.wait("До свидания!")
	if code := c.end(); code != 0 {
		t.Errorf("exit code %d\n%s", code, c.screen)
	}
	var said []string
	for _, call := range model.Calls() {
		said = append(said, call.Request.Messages[len(call.Request.Messages)-1].Content)
	}
	if len(said) < 2 || said[0] != "привет天气 秋" || said[1] != "привет天气 秋!" {
		t.Errorf("the model was asked %q", said)
	}
}

// Without colours, and left by Ctrl-C at the prompt.
func TestConsoleWithoutColours(t *testing.T) {
	home := t.TempDir()
	c := startTTY(t, home, 80, 40, []string{"NO_COLOR=1"}, "console")
	c.until("a prompt", func() bool { return strings.Contains(c.raw.String(), "\r> ") })
	c.send("хайку про снег\r")
	c.wait("Хайку собрано из списков слов")
	c.until("a prompt", func() bool {
		_, after, found := strings.Cut(c.raw.String(), "без модели.\r\n")
		return found && strings.Contains(after, "\r> ")
	})
	c.send("\x03")
	c.wait("До свидания!")
	if code := c.end(); code != 0 {
		t.Errorf("exit code %d\n%s", code, c.screen)
	}
	if raw := c.raw.String(); strings.Contains(raw, "\x1b[2m") || strings.Contains(raw, "\x1b[1m") {
		t.Errorf("%q", raw)
	}
}
