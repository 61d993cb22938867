package cli_test

import (
	"strings"
	"testing"
)

// In a conversation on a terminal lines are edited in any script, and documents
// are chosen on the way.
func TestChatOnATerminal(t *testing.T) {
	home := t.TempDir()
	files(t, home, lighthouse)
	c := startTTY(t, home, 80, 40, nil, "chat")
	// asked waits until the next line is read after something was said.
	asked := func(said string) {
		c.until("a prompt after "+said, func() bool {
			_, after, found := strings.Cut(c.raw.String(), said)
			return found && strings.Contains(after, "\r> ")
		})
	}
	asked("/exit")
	c.send("/in кape\x1b[D\x1b[D\x1b[D\x7fc\r")
	asked("answering from " + home + "/cape")
	c.send("ненужное\x15成人门票多少钱\r")
	c.wait("成人门票为八欧元")
	asked("已读 1 · 要点 1 / 1 · 论断 1 / 1\r\n")
	c.send("\x04")
	if code := c.end(); code != 0 {
		t.Errorf("exit code %d\n%s", code, c.screen)
	}
	c = startTTY(t, home, 80, 40, nil, "runs", "list")
	c.end()
	if got := c.screen.String(); !strings.Contains(got, "search    成人门票多少钱") {
		t.Errorf("%s", got)
	}
}
