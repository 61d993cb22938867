package cli_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"dossier/internal/cli"
)

// tty is the real program on a real pseudo-terminal.
type tty struct {
	t      *testing.T
	master *os.File
	cmd    *exec.Cmd

	mu     sync.Mutex
	more   *sync.Cond
	raw    strings.Builder
	screen *cli.Glass
	closed bool
}

// startTTY runs dossier on a terminal of a size, in a folder of its own that is
// its home as well.
func startTTY(t *testing.T, home string, columns, rows int, env []string, args ...string) *tty {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip("no pseudo-terminals here: ", err)
	}
	fd := int(master.Fd())
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: uint16(rows), Col: uint16(columns)})
	}
	if err != nil {
		t.Fatal(err)
	}
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = slave.Close() }()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := &tty{t: t, master: master, screen: cli.NewGlass(columns)}
	c.more = sync.NewCond(&c.mu)
	c.cmd = &exec.Cmd{
		Path: exe, Args: append([]string{"dossier"}, args...), Dir: home, Stdin: slave, Stdout: slave, Stderr: slave,
		Env: append([]string{
			"HOME=" + home, "PATH=" + os.Getenv("PATH"), "TERM=xterm-256color", "LANG=en_US.UTF-8", "DOSSIER_CONFIG=none", "DOSSIER_SEARCH_ENGINES=none",
		}, env...),
		SysProcAttr: &syscall.SysProcAttr{Setsid: true, Setctty: true},
	}
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go c.read()
	late := time.AfterFunc(stuck, func() { // wakes whoever waits
		_ = c.cmd.Process.Kill()
		c.mu.Lock()
		c.closed = true
		c.mu.Unlock()
		c.more.Broadcast()
	})
	t.Cleanup(func() {
		late.Stop()
		_ = c.cmd.Process.Kill()
		_ = c.master.Close()
	})
	return c
}

func (c *tty) read() {
	buf := make([]byte, 32<<10)
	held := "" // the beginning of a character or an escape
	for {
		n, err := c.master.Read(buf)
		c.mu.Lock()
		c.raw.Write(buf[:n])
		text := held + string(buf[:n])
		whole := complete(text)
		held = text[whole:]
		_, _ = c.screen.Write([]byte(text[:whole]))
		c.closed = c.closed || err != nil
		c.mu.Unlock()
		c.more.Broadcast()
		if err != nil {
			return
		}
	}
}

// complete is how much of a text ends with a whole character and a whole escape.
func complete(text string) int {
	end := len(text)
	for end > 0 && len(text)-end < 4 && text[end-1] >= 0x80 {
		end--
	}
	if strings.ToValidUTF8(text[end:], "") == text[end:] {
		end = len(text)
	}
	if at := strings.LastIndexByte(text[:end], 0x1b); at >= 0 && end-at < 200 {
		tail := text[at:end]
		if len(tail) < 3 && !strings.HasPrefix(tail, "\x1b\\") || strings.HasPrefix(tail, "\x1b[") && strings.IndexFunc(tail[2:], func(r rune) bool { return r >= 0x40 }) < 0 || strings.HasPrefix(tail, "\x1b]") {
			return at
		}
	}
	return end
}

// wait waits until something is on the screen, or was.
func (c *tty) wait(text string) {
	c.t.Helper()
	c.until(fmt.Sprintf("%q", text), func() bool { return strings.Contains(c.raw.String(), text) })
}

// until waits for what was written to be as it should.
func (c *tty) until(what string, ok func() bool) {
	c.t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	for !ok() {
		if c.closed {
			c.t.Fatalf("%s never came:\n%s", what, c.raw.String())
		}
		c.more.Wait()
	}
}

func (c *tty) send(text string) {
	if _, err := c.master.WriteString(text); err != nil {
		c.t.Error(err)
	}
}

// end waits for the program to end, and returns its exit code.
func (c *tty) end() int {
	err := c.cmd.Wait()
	c.until("the end", func() bool { return c.closed })
	if e, ok := errors.AsType[*exec.ExitError](err); ok {
		return e.ExitCode()
	}
	return 0
}

// written is all that was written, with the escapes.
func (c *tty) written() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.raw.String()
}

// files writes files into a folder.
func files(t *testing.T, dir string, texts map[string]string) {
	t.Helper()
	for name, text := range texts {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

var lighthouse = map[string]string{
	"cape/tower.md": "# The lighthouse\n\n## The building\n\nThe tower is 41 metres high. It stands on granite, and 187 steps lead up to the lamp.\n\n" +
		"To report a broken lamp write to submit@bugs.example.org or push to git://git.example.org/lamp.git with the subject of the steps.\n",
	"cape/dengta.md": "# 灯塔\n\n灯塔每年五月至九月开放。成人门票为八欧元，十二岁以下儿童免费。\n",
}
