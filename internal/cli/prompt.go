package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"dossier/internal/base/term"
	"dossier/run"
)

// prompt asks the user what a run asks, and reads one line.
func (a *app) prompt(ctx context.Context, q run.Question) (string, error) {
	for _, text := range q.Questions {
		fmt.Fprintln(a.proc.Stderr, term.Clean(text))
	}
	for i, o := range q.Options {
		fmt.Fprintf(a.proc.Stderr, "  %d. %s\n", i+1, term.Line(o))
	}
	for {
		fmt.Fprint(a.proc.Stderr, "> ")
		line, err := a.readLine(ctx)
		if err != nil {
			return "", err
		}
		line = strings.TrimSpace(line)
		if n, err := strconv.Atoi(line); err == nil && n >= 1 && n <= len(q.Options) {
			return q.Options[n-1], nil
		}
		if line != "" {
			return line, nil
		}
	}
}

// line is what a read of standard input gave.
type line struct {
	text string
	err  error
}

// readLine reads a line of standard input. It returns early when ctx ends; the
// line that comes after that goes to the next call.
func (a *app) readLine(ctx context.Context) (string, error) {
	if a.unread == nil {
		if a.stdin == nil {
			a.stdin = bufio.NewReader(a.proc.Stdin)
		}
		got := make(chan line, 1)
		a.unread = got
		go func() {
			text, err := a.stdin.ReadString('\n')
			if errors.Is(err, io.EOF) && text != "" {
				err = nil
			}
			got <- line{text, err}
		}()
	}
	select {
	case l := <-a.unread:
		a.unread = nil
		return l.text, l.err
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}
