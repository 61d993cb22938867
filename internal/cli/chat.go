package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	xterm "golang.org/x/term"

	"dossier"
	"dossier/lang"
	"dossier/mode"
)

type chatCmd struct {
	Session  string `placeholder:"ID" xor:"session" help:"Continue this conversation."`
	Continue bool   `xor:"session" help:"Continue the last conversation."`
	budget   `embed:""`
}

const chatCommands = `/help         this list
/new          start a new conversation
/model NAME   use another model from now on; /model alone goes back
/exit         leave (also /quit, /q, exit, quit, q, Ctrl-D)`

func (chatCmd) Help() string {
	return "Each line is a message; the conversation is kept. In it:\n\n  " +
		strings.ReplaceAll(chatCommands, "\n", "\n  ") + "\n\n" +
		examples("dossier chat", "dossier chat --continue", "dossier chat --model other-model")
}

// What ends a conversation and what asks for help; compared with a whole line,
// trimmed and in lower case.
var (
	exitWords = []string{"/exit", "/quit", "/q", "exit", "quit", "q"}
	helpWords = []string{"/help", "help", "?"}
)

func (c *chatCmd) Run(a *app) error {
	settings, err := a.settings()
	if err != nil {
		return err
	}
	req := dossier.Request{Session: c.Session, Request: mode.Request{
		Model: a.Model, NoInput: !a.interactive(), Limits: c.limits(settings),
	}}
	if settings.Lang != "auto" {
		req.Lang = settings.Lang
	}
	return a.with(a.ctx, func(l *link) error {
		if err := a.chooseSession(a.ctx, l, &req, c.Continue); err != nil {
			return err
		}
		if a.interactive() {
			a.notef("%s\n", chatCommands)
		}
		return a.converse(l, &req)
	})
}

// converse reads messages and has them answered until the user leaves. On a
// terminal a failed answer is no reason to leave; a script wants to know.
func (a *app) converse(l *link, req *dossier.Request) error {
	var last error
	for {
		text, err := a.readMessage(a.ctx)
		if errors.Is(err, io.EOF) {
			return last
		}
		if err != nil {
			return err
		}
		text = strings.TrimSpace(text)
		name, rest, _ := strings.Cut(text, " ")
		switch word := strings.ToLower(text); {
		case text == "":
		case slices.Contains(exitWords, word):
			return last
		case slices.Contains(helpWords, word):
			a.notef("%s", chatCommands)
		case word == "/new":
			req.Session = ""
			a.notef("a new conversation")
		case strings.ToLower(name) == "/model":
			req.Model = strings.TrimSpace(rest)
			a.notef("model: %s", orDefault(req.Model))
		case strings.HasPrefix(text, "/"):
			a.notef("there is no command %s; /help lists them", name)
		default:
			last = a.turn(l, req, text)
			if last != nil && explain(last).code == exitProvider && !a.interactive() {
				return last
			}
			if last != nil && a.interactive() {
				a.fail(last)
				last = nil
			}
		}
		if err := context.Cause(a.ctx); err != nil {
			return err
		}
	}
}

func orDefault(model string) string {
	if model == "" {
		return "as configured"
	}
	return model
}

// turn has one message answered.
func (a *app) turn(l *link, req *dossier.Request, text string) error {
	req.Question = text
	code := lang.ForAnswer(text, a.locale())
	if req.Lang != "" {
		code = lang.Code(req.Lang)
	}
	rec, err := a.start(a.ctx, l, *req)
	if err != nil {
		return err
	}
	req.Session = rec.Session
	return a.follow(a.ctx, l, rec, code, reportFlags{}.extent(a), "")
}

// readMessage reads the next line of the user: with line editing and history
// on a terminal, plainly otherwise.
func (a *app) readMessage(ctx context.Context) (string, error) {
	in, ok := a.proc.Stdin.(*os.File)
	if !ok || !a.interactive() || a.unread != nil {
		if a.interactive() {
			fmt.Fprint(a.proc.Stderr, "> ")
		}
		return a.readLine(ctx)
	}
	before, err := xterm.MakeRaw(int(in.Fd()))
	if err != nil {
		return a.readLine(ctx)
	}
	defer func() { _ = xterm.Restore(int(in.Fd()), before) }()
	if a.editor == nil {
		a.editor = xterm.NewTerminal(struct {
			io.Reader
			io.Writer
		}{in, a.proc.Stderr}, "> ")
	}
	if width, ok := a.terminal(a.proc.Stderr); ok {
		_ = a.editor.SetSize(width, 24) // only the width matters
	}
	return a.editor.ReadLine()
}
