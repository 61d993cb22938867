package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"

	"dossier"
	"dossier/event"
	"dossier/internal/base/logs"
	"dossier/internal/base/term"
	"dossier/internal/config"
	"dossier/internal/server"
	"dossier/internal/wire"
	"dossier/lang"
	"dossier/mode"
	"dossier/mode/console"
	"dossier/run"
)

type consoleCmd struct {
	Session  string `placeholder:"ID" xor:"session" help:"Continue this conversation."`
	Continue bool   `xor:"session" help:"Continue the last conversation."`
	budget   `embed:""`
}

func (consoleCmd) Help() string {
	return `An agent with two tools: it answers questions from the collection in use, or the
only one there is, and writes haiku. Each line is a request; the agent says whether it is one for it,
which tool it takes, with what, and what came of it. It speaks Russian unless
--lang says otherwise.

  /help, help, ?                       what it can do
  /exit, /quit, /q, exit, quit, q      leave (also Ctrl-D)

Ctrl-C stops the request under way. Questions may have 30 characters and themes 20
(console.param_question_maxlen, console.param_theme_maxlen). When the model fails,
the program ends (console.exit_on_llm_error). Without a model rules choose the
tool. The log (logs/dossier.log in the data directory) tells every step, and with
--set log.verbose=true what was sent to the model and what came back.

` + examples("dossier kb add ~/handbook && dossier console", "dossier console --continue", "dossier console --lang en --set console.param_question_maxlen=200",
		"printf 'Напиши хайку про осень\\n' | dossier console")
}

func (c *consoleCmd) Run(a *app) error {
	cfg, err := a.settings()
	if err != nil {
		return err
	}
	a.logEverything(cfg)
	set := wire.ConsoleSettings(cfg)
	t := &consoleTalk{
		app: a, set: set, log: logs.WithStep(a.log, console.StepMain),
		req: dossier.Request{Mode: console.Name, Session: c.Session, Request: mode.Request{Model: a.Model, NoInput: true, Limits: c.limits(cfg)}},
	}
	if a.newPaper(a.proc.Stdout) != nil && !a.dumb() && getenv(a.proc.Env, "NO_COLOR") == "" {
		t.colours = lineColours
	}
	return a.with(a.ctx, func(l *link) error {
		t.link = l
		if c.Continue {
			list, err := l.List(a.ctx, dossier.Filter{Mode: console.Name, Limit: 1})
			if err != nil {
				return err
			}
			if len(list) > 0 {
				t.req.Session = list[0].Session
			}
		}
		if err := t.chooseSession(a.ctx, l, &t.req, c.Continue && t.req.Session == ""); err != nil {
			return err
		}
		t.begin(!cfg.Model(config.RoleChat).Configured())
		if cfg.Console.RAGURL == "" {
			t.lookForDocuments()
		}
		return t.converse()
	})
}

// logEverything has the log tell the steps of the agent, unless the user said how
// much it is to tell.
func (a *app) logEverything(cfg *config.Config) {
	said, err := cfg.ExplainKey("log.level")
	if err == nil && len(said) == 1 && said[0].Layer == "default" {
		a.level.Set(slog.LevelDebug)
	}
}

// consoleTalk is a session of the console agent.
type consoleTalk struct {
	*app
	link    *link
	req     dossier.Request
	set     console.Settings
	log     *slog.Logger
	colours map[string]string // by the role of a line; none where there are no colours
}

// lineColours are those of lines on a terminal.
var lineColours = map[string]string{"status": "\x1b[2m", "reply": "\x1b[1m", "note": "\x1b[36m", "error": "\x1b[31m"}

// begin greets whoever is new.
func (t *consoleTalk) begin(withoutModel bool) {
	if t.req.Session != "" {
		t.log.Debug("AgentRestart")
		return
	}
	t.help()
	if withoutModel {
		t.say("note", lang.Text(t.set.Lang, "console.no-model"))
	}
	t.log.Debug("AgentStart")
}

// lookForDocuments says how to get some where there are none.
func (t *consoleTalk) lookForDocuments() {
	list, err := t.link.Collections(t.ctx)
	if err != nil {
		return // that is told when they are asked
	}
	if _, ok := console.Choose(list.Collections, list.Active); !ok {
		t.notef("%s", lang.Text(t.set.Lang, "console.no-documents"))
	}
}

func (t *consoleTalk) help() { t.say("help", console.Help(t.set.Lang, t.set)) }

// say shows a line. With --json only events are shown.
func (t *consoleTalk) say(role, text string) {
	if t.JSON {
		return
	}
	text = term.Clean(text)
	if c := t.colours[role]; c != "" {
		text = c + text + "\x1b[0m"
	}
	_, _ = io.WriteString(t.proc.Stdout, text+"\n") // the stream remembers what could not be written
}

// converse is the first step of the agent, again and again.
func (t *consoleTalk) converse() error {
	for {
		text, err := t.readMessage(t.ctx)
		ended := errors.Is(err, io.EOF)
		if err != nil && !ended {
			return err
		}
		text = strings.TrimSpace(term.Clean(strings.ToValidUTF8(text, "")))
		switch word := strings.ToLower(text); {
		case ended || slices.Contains(t.set.ExitCommands, word):
			t.say("reply", lang.Text(t.set.Lang, "console.bye"))
			t.log.Debug("AgentEnd")
			return nil
		case text == "":
			continue
		case slices.Contains(t.set.HelpCommands, word):
			t.help()
			t.log.Debug("AgentHelp")
			continue
		}
		if err := t.turn(text); err != nil {
			return err
		}
		t.log.Debug("AgentRestart")
	}
}

// turn has one request carried out. It fails where the program has to end.
func (t *consoleTalk) turn(text string) error {
	req := t.req
	req.Question = text
	rec, err := t.start(t.ctx, t.link, req)
	if err != nil {
		return t.trouble(err)
	}
	t.req.Session = rec.Session
	stops := 0
	leaving, leave := context.WithCancelCause(t.ctx)
	defer leave(nil)
	restore := t.onInterrupt(func() {
		if stops++; stops > 1 || t.link.Cancel(leaving, rec.ID) != nil {
			leave(errInterrupted)
		}
	})
	defer restore()
	for ev, err := range t.link.Events(leaving, rec.ID, 0) {
		if err != nil {
			return t.trouble(err)
		}
		if t.JSON {
			printJSON(t.proc.Stdout, ev)
		}
		if line, ok := ev.Data.(event.ConsoleLine); ok {
			t.say(line.Role, line.Text)
		}
	}
	if err := context.Cause(leaving); err != nil {
		t.notef("the run goes on later: dossier runs resume %s", rec.ID)
		return err
	}
	return t.ended(rec.ID)
}

// ended looks how a turn has ended.
func (t *consoleTalk) ended(id string) error {
	rec, err := t.link.Get(context.Background(), id)
	if err != nil {
		return err
	}
	switch {
	case rec.Status == run.Cancelled:
		t.say("status", lang.Text(t.set.Lang, "console.cancelled"))
		if !t.interactive() {
			return errInterrupted
		}
	case rec.Status == run.Failed && rec.Failure != nil:
		failed := explain(&server.Problem{Code: rec.Failure.Code, Message: rec.Failure.Message, Hint: rec.Failure.Hint})
		byModel := rec.Failure.Code == console.CodeLLMError || rec.Failure.Code == console.CodeLLMReply
		if byModel && !t.set.ExitOnLLMError {
			return nil // the agent has said so
		}
		if byModel {
			return failed
		}
		return t.trouble(failed)
	case rec.Status != run.Done:
		return t.trouble(fmt.Errorf("the run is %s", rec.Status))
	}
	return nil
}

// trouble is no reason to leave for somebody at a terminal; a script wants to know.
func (t *consoleTalk) trouble(err error) error {
	if !t.interactive() || t.ctx.Err() != nil {
		return err
	}
	t.fail(err)
	return nil
}
