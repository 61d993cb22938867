package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	xterm "golang.org/x/term"

	"dossier"
	"dossier/internal/base/term"
	"dossier/lang"
	"dossier/mode"
	"dossier/sources"
)

type chatCmd struct {
	Session  string   `placeholder:"ID" xor:"session" help:"Continue this conversation."`
	Continue bool     `xor:"session" help:"Continue the last conversation."`
	In       []string `placeholder:"DIR|NAME" sep:"none" help:"Answer from this folder, file or collection; may be repeated."`
	webFlags `embed:""`
	budget   `embed:""`
}

const chatCommands = `/help         this list
/new          start a new conversation
/model NAME   use another model from now on; /model alone goes back
/in DIR ...   answer from these folders or collections; /in alone from none
/search       answer from the web; /search ENGINE,... by these; /search off
/exit         leave (also /quit, /q, exit, quit, q, Ctrl-D)`

func (chatCmd) Help() string {
	return "Each line is a message; the conversation is kept. In it:\n\n  " +
		strings.ReplaceAll(chatCommands, "\n", "\n  ") + "\n\n" +
		examples("dossier chat", "dossier chat --continue", "dossier chat --in ~/handbook", "dossier chat --search=wikipedia", "dossier chat --model other-model")
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
	talk := &talk{app: a, req: req, servers: settings.Search.MCPServers}
	return a.with(a.ctx, func(l *link) error {
		talk.link = l
		if err := a.chooseSession(a.ctx, l, &talk.req, c.Continue); err != nil {
			return err
		}
		if err := talk.documents(c.In); err != nil {
			return err
		}
		if err := talk.web(c.webFlags); err != nil {
			return err
		}
		if a.interactive() {
			a.notef("%s\n", chatCommands)
		}
		return talk.converse()
	})
}

// talk is a conversation and what it answers from.
type talk struct {
	*app
	link    *link
	req     dossier.Request
	servers []string // that are search engines
	in      sources.Target
	asked   webChoice
}

// documents chooses the documents to answer from.
func (t *talk) documents(names []string) error {
	in, err := t.places(names)
	if err == nil {
		t.in = in
	}
	return err
}

// web chooses the part of the web to answer from.
func (t *talk) web(flags webFlags) error {
	choice, words, err := flags.choose(nil, t.servers, time.Now())
	if err == nil && len(words) > 0 {
		err = &failure{code: exitUsage, message: fmt.Sprintf("%q is no search engine", words[0]), hint: "`dossier doctor` lists them"}
	}
	if err == nil {
		t.asked = choice
	}
	return err
}

// command carries out a line that is none to be answered.
func (t *talk) command(name, rest string) error {
	switch name {
	case "/new":
		t.req.Session = ""
		t.notef("a new conversation")
		return nil
	case "/model":
		t.req.Model = rest
		t.notef("model: %s", orDefault(t.req.Model))
		return nil
	case "/in":
		if err := t.documents(strings.Fields(rest)); err != nil {
			return err
		}
	case "/search":
		flags := webFlags{Search: engineFlag{given: rest != "off" && rest != noWeb, names: engineList(rest)}}
		if !flags.Search.given {
			flags.Search.names = nil
		}
		if err := t.web(flags); err != nil {
			return err
		}
	default:
		t.notef("there is no command %s; /help lists them", name)
		return nil
	}
	t.notef("%s", lang.Text(t.locale(), "chat.from", "places", t.from()))
	return nil
}

// from is what is answered from, in words.
func (t *talk) from() string {
	out := documentsOf(t.in)
	if t.asked.scope != nil && !t.asked.none {
		out = append(out, strings.Join(append([]string{lang.Text(t.locale(), "chat.web")}, t.asked.scope.Engines...), " "))
	}
	if len(out) == 0 {
		return lang.Text(t.locale(), "chat.model")
	}
	return term.Line(strings.Join(out, ", "))
}

// documentsOf are the names of the documents that something is asked of.
func documentsOf(in sources.Target) []string {
	var out []string
	for _, d := range append([]sources.Documents{{Paths: in.Paths, Collection: in.Collection}}, in.Also...) {
		out = append(out, d.Paths...)
		if d.Collection != "" {
			out = append(out, d.Collection)
		}
	}
	return out
}

// converse reads messages and has them answered until the user leaves. On a
// terminal a failed answer is no reason to leave; a script wants to know.
func (t *talk) converse() error {
	var last error
	for {
		text, err := t.readMessage(t.ctx)
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
			continue
		case slices.Contains(exitWords, word):
			return last
		case slices.Contains(helpWords, word):
			t.notef("%s", chatCommands)
			continue
		case strings.HasPrefix(text, "/"):
			last = t.command(strings.ToLower(name), strings.TrimSpace(rest))
		default:
			last = t.turn(text)
		}
		if last != nil && explain(last).code == exitProvider && !t.interactive() {
			return last
		}
		if last != nil && t.interactive() {
			t.fail(last)
			last = nil
		}
		if err := context.Cause(t.ctx); err != nil {
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
func (t *talk) turn(text string) error {
	req := t.req
	req.Question = text
	code := lang.ForAnswer(text, t.locale())
	if req.Lang != "" {
		code = lang.Code(req.Lang)
	}
	in := t.in
	if err := t.asked.into(t.app, t.link, &in); err != nil {
		return err
	}
	if len(in.Paths) > 0 || in.Collection != "" || in.Web != nil {
		req.Mode, req.In, req.Lang = "web_search", in, string(code)
	}
	rec, err := t.start(t.ctx, t.link, req)
	if err != nil {
		return err
	}
	t.req.Session = rec.Session
	return t.follow(t.ctx, t.link, rec, code, reportFlags{}.extent(t.app), "")
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
		a.editor = &editor{in: bufio.NewReader(in), out: a.proc.Stderr, prompt: "> ", width: func() int {
			width, _ := a.terminal(a.proc.Stderr)
			return width
		}}
	}
	return a.editor.read()
}
