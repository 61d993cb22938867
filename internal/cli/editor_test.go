package cli

import (
	"bufio"
	"errors"
	"io"
	"strings"
	"testing"
)

// What is typed is what is read and what is on the screen, in any script.
func TestEditor(t *testing.T) {
	const left, right, up, down, toStart, ctrlU, ctrlK, ctrlW, back = "\x1b[D", "\x1b[C", "\x1b[A", "\x1b[B", "\x01", "\x15", "\x0b", "\x17", "\x7f"
	for name, tc := range map[string]struct{ typed, want string }{
		"plain":                       {"hello\r", "hello"},
		"Cyrillic, changed within":    {"превет" + left + left + left + back + "и" + "\r", "привет"},
		"Chinese, changed within":     {"你们好" + left + back + "\r", "你好"},
		"Chinese, from the start":     {"好" + toStart + "你" + right + "吗\r", "你好吗"},
		"Ctrl-U takes what is before": {"пароль root" + left + left + left + left + ctrlU + "\r", "root"},
		"Ctrl-U of a whole line":      {"日本語" + ctrlU + "ok\r", "ok"},
		"Ctrl-K and Ctrl-W":           {"одно два три" + ctrlW + left + ctrlK + "\r", "одно два"},
		"an unknown key":              {"a\x1b[15~b\x1bOPc\r", "abc"},
		"history":                     {"первый\rвторой\r" + up + up + "!\r", "первый!"},
		"history and back":            {"первый\rновый" + up + down + "?\r", "новый?"},
	} {
		g := &glass{columns: 10}
		e := &editor{in: bufio.NewReaderSize(strings.NewReader(tc.typed), 16), out: g, prompt: "> ", width: g.width}
		got := ""
		for {
			line, err := e.read()
			if errors.Is(err, io.EOF) {
				break
			}
			got = line
		}
		if got != tc.want {
			t.Errorf("%s: read %q, want %q", name, got, tc.want)
		}
		screen := strings.ReplaceAll(strings.TrimSuffix(g.String(), "\n> \n"), "\n", "")
		if !strings.Contains(strings.ReplaceAll(screen, " ", ""), strings.ReplaceAll(tc.want, " ", "")) || g.strange != "" {
			t.Errorf("%s: the screen shows %q (%s)", name, screen, g.strange)
		}
	}
}
