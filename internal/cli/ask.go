package cli

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"dossier"
	"dossier/internal/base/term"
	"dossier/internal/config"
	"dossier/lang"
	"dossier/mode"
	"dossier/run"
)

// budget are the flags that bound a run.
type budget struct {
	MaxTokens int           `placeholder:"N" help:"Most tokens, in and out."`
	MaxCost   float64       `placeholder:"USD" help:"Most money."`
	MaxTime   time.Duration `placeholder:"5m" help:"Most working time."`
}

// searchBudget are the flags that bound a run which searches.
type searchBudget struct {
	budget      `embed:""`
	MaxSearches int `placeholder:"N" help:"Most search queries."`
	MaxPages    int `placeholder:"N" help:"Most documents read."`
}

// limits are the configured ones with those of the flags.
func (b searchBudget) limits(c *config.Config) run.Limits {
	l := b.budget.limits(c)
	if b.MaxSearches > 0 {
		l.Searches = b.MaxSearches
	}
	if b.MaxPages > 0 {
		l.Pages = b.MaxPages
	}
	return l
}

// limits are the configured ones with those of the flags.
func (b budget) limits(c *config.Config) run.Limits {
	l := run.Limits{
		Tokens: int(c.Limits.Tokens), Cost: c.Limits.Cost, Time: c.Limits.Time,
		Searches: c.Limits.Searches, Pages: c.Limits.Pages,
	}
	if b.MaxTokens > 0 {
		l.Tokens = b.MaxTokens
	}
	if b.MaxCost > 0 {
		l.Cost = b.MaxCost
	}
	if b.MaxTime > 0 {
		l.Time = b.MaxTime
	}
	return l
}

type askCmd struct {
	Question []string `arg:"" optional:"" help:"What you want to know; - or nothing reads it from standard input."`
	Session  string   `placeholder:"ID" xor:"session" help:"Continue this conversation."`
	Continue bool     `xor:"session" help:"Continue the last conversation."`
	Mode     string   `placeholder:"NAME" help:"How the question is worked on: chat, web_search, deep_search, quality or deep_research (default: chat, with --search web_search)."`
	Output   string   `short:"o" placeholder:"FILE" help:"Write the answer to a file."`

	reportFlags  `embed:""`
	webFlags     `embed:""`
	searchBudget `embed:""`
}

func (askCmd) Help() string {
	return `What is piped in is the material for the question. The answer goes to standard
output and progress to standard error. Ctrl-C finishes with what there is; a
second Ctrl-C cancels. Whatever happens, the run is kept: "dossier runs list".

Without --search the model answers from what it knows. With it the web is
searched and read, and each sentence of the answer is traced to its source:
exit code 4 says that nothing answers the question, 3 that no search engine is
set up or none answered. --mode deep_search and quality search longer,
deep_research writes a whole report.

` + webHelp + `

` + examples(
		`dossier ask "why is the sky blue?"`,
		`dossier ask --search "what changed in Go 1.26?"`,
		`dossier ask "who maintains curl?" --search=wikipedia,github`,
		`dossier ask "new results on sparse attention" --search=arxiv --since 3m --mode deep`,
		`dossier ask "what does the law say about returns?" --site gov.uk --block example.com`,
		`cat notes.txt | dossier ask "what is still to do?"`,
		`dossier ask --continue "and at sunset?"`,
		`dossier ask "summarise this" -o summary.md --max-cost 0.05 < paper.txt`,
		`dossier ask "hello" --json | jq -r .kind`,
	)
}

// maxStdin bounds what is read from a pipe; the engine refuses what is longer.
const maxStdin = 9 << 20

func (c *askCmd) Run(a *app) error {
	settings, err := a.settings()
	if err != nil {
		return err
	}
	if err := a.writable(c.Output); err != nil {
		return err
	}
	choice, words, err := c.choose(c.Question, settings.Search.MCPServers, time.Now())
	if err != nil {
		return err
	}
	if err := c.chooseMode(choice); err != nil {
		return err
	}
	question, material, err := a.question(strings.Join(words, " "))
	if err != nil {
		return err
	}
	if strings.TrimSpace(question) == "" {
		code := a.locale()
		text := lang.Text(code, "question.empty", "example", `dossier ask "`+lang.Text(code, "question.example")+`"`)
		return &failure{code: exitUsage, message: text, hint: "`dossier ask --help` shows what is possible"}
	}
	code := a.languageOf(question)
	req := dossier.Request{Mode: c.Mode, Session: c.Session, Request: mode.Request{
		Question: question, Context: material, Model: a.Model, NoInput: !a.interactive(), Limits: c.limits(settings),
	}}
	if settings.Lang != "auto" {
		req.Lang = settings.Lang
	}
	found := searches(c.Mode)
	if found {
		req.In.Base, req.Lang = a.dir(), string(code)
	}
	return a.with(a.ctx, func(l *link) error {
		if err := a.chooseSession(a.ctx, l, &req, c.Continue); err != nil {
			return err
		}
		if found {
			if err := choice.into(a, l, &req.In); err != nil {
				return err
			}
		}
		rec, err := a.start(a.ctx, l, req)
		if err != nil {
			return err
		}
		return a.follow(a.ctx, l, rec, code, c.extent(a), c.Output)
	})
}

// chooseMode makes the question one that is searched for, if the web is to be
// asked.
func (c *askCmd) chooseMode(choice webChoice) error {
	switch {
	case choice.scope == nil || choice.none || searches(c.Mode):
	case c.Mode == "":
		c.Mode = "web_search"
	default:
		return &failure{code: exitUsage, message: fmt.Sprintf("the mode %s does not search", term.Line(c.Mode)), hint: "leave --mode out, or choose web_search, deep_search or quality"}
	}
	return nil
}

// chooseSession checks the session that a request names, which may be short,
// or takes the last one.
func (a *app) chooseSession(ctx context.Context, l *link, req *dossier.Request, last bool) error {
	switch {
	case last:
		list, err := l.List(ctx, dossier.Filter{Limit: 1})
		if err != nil {
			return err
		}
		if len(list) == 0 {
			return &failure{code: exitUsage, message: "there is no conversation to continue", hint: "leave --continue out"}
		}
		req.Session = list[0].Session
	case req.Session != "":
		// A session bears the id of its first run.
		if rec, err := l.Get(ctx, req.Session); err == nil {
			req.Session = rec.Session
			return nil
		}
		list, err := l.List(ctx, dossier.Filter{Session: req.Session, Limit: 1})
		if err != nil {
			return err
		}
		if len(list) == 0 {
			return &failure{code: exitUsage, message: fmt.Sprintf("there is no conversation %q", req.Session), hint: "`dossier runs list` shows them; --continue takes the last one"}
		}
	}
	return nil
}

// start starts a run.
func (a *app) start(ctx context.Context, l *link, req dossier.Request) (run.Record, error) {
	rec, err := l.Start(ctx, req)
	if err == nil {
		a.log.Info("run started", "run", rec.ID, "session", rec.Session, "mode", rec.Mode)
	}
	return rec, err
}

// question returns what was asked and what was piped in with it.
func (a *app) question(words string) (question, material string, err error) {
	_, terminal := a.terminal(a.proc.Stdin)
	fromInput := words == "-" || words == ""
	if terminal && !fromInput {
		return words, "", nil
	}
	if terminal && words == "" {
		return "", "", nil
	}
	slow := time.AfterFunc(time.Second, func() { a.notef("reading standard input … (if nothing is to come, run it with </dev/null)") })
	defer slow.Stop()
	raw, err := io.ReadAll(io.LimitReader(a.proc.Stdin, maxStdin))
	if err != nil {
		return "", "", fmt.Errorf("standard input: %w", err)
	}
	if fromInput {
		return string(raw), "", nil
	}
	return words, string(raw), nil
}
