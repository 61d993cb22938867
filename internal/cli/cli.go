// Package cli is the command line: it parses arguments, finds or opens an
// engine, follows runs and shows them.
//
// The answer goes to standard output, everything else to standard error. What
// a model, a page or a user said is stripped of terminal escapes before it is
// shown.
package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/alecthomas/kong"
	xterm "golang.org/x/term"

	"dossier/internal/base/logs"
	"dossier/internal/config"
	"dossier/lang"
	"dossier/mode"
)

// Process is the world of a command.
type Process struct {
	Args []string // without the program's name
	Env  []string
	Dir  string // empty: the working directory

	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// Terminal says whether one of the streams is a terminal, and how large.
	Terminal func(stream any) (columns, rows int, ok bool)
	// Interrupts gets a value for each Ctrl-C.
	Interrupts <-chan os.Signal
	// Terminate ends when the process is asked to stop: runs go on later.
	Terminate context.Context
	// Modes are added to those of the engine.
	Modes []mode.Mode
}

// Terminal is Process.Terminal for the streams of an ordinary process.
func Terminal(stream any) (columns, rows int, ok bool) {
	f, isFile := stream.(*os.File)
	if !isFile || !xterm.IsTerminal(int(f.Fd())) {
		return 0, 0, false
	}
	columns, rows, err := xterm.GetSize(int(f.Fd()))
	if err != nil || columns <= 0 || rows <= 0 {
		columns, rows = 80, 24
	}
	return columns, rows, true
}

// globals are the flags of every command.
type globals struct {
	Data    string            `placeholder:"DIR" help:"Directory of everything that is kept (default: data_dir of the configuration)."`
	Config  string            `placeholder:"FILE" help:"Configuration file; none reads none."`
	Set     map[string]string `placeholder:"KEY=VALUE" mapsep:"none" help:"Set one setting, as in --set chat.history_limit=5; may be repeated."`
	Model   string            `placeholder:"NAME" help:"Model to use instead of the configured ones."`
	Lang    string            `placeholder:"CODE" help:"Language of answers and messages: ru, en, zh or auto."`
	JSON    bool              `name:"json" help:"Print the events, or whatever is shown, as lines of JSON."`
	NoInput bool              `help:"Never ask; a run that needs an answer is left waiting."`
	Verbose bool              `short:"v" help:"Show more of what happens."`
	Quiet   bool              `short:"q" help:"Show nothing but the answer and errors."`
	Version versionFlag       `help:"Print the version."`
}

type grammar struct {
	globals

	Research   researchCmd   `cmd:"" group:"work" help:"Answer a question from documents or the web, with quotes that can be checked."`
	Ask        askCmd        `cmd:"" group:"work" help:"Ask a question and get an answer."`
	Chat       chatCmd       `cmd:"" group:"work" help:"Talk in a conversation that is kept."`
	Console    consoleCmd    `cmd:"" group:"work" help:"Talk to an agent that answers from your documents and writes haiku."`
	Agents     agentsCmd     `cmd:"" group:"agents" help:"Agents that choose their tools themselves: list, show, run."`
	Templates  templatesCmd  `cmd:"" group:"agents" help:"Agents of your own, in versions: save, publish, compare, roll back."`
	Instances  instancesCmd  `cmd:"" group:"agents" help:"Long-lived agents made from templates."`
	Tools      toolsCmd      `cmd:"" group:"agents" help:"What agents can call: list, find, try."`
	MCP        mcpCmd        `cmd:"" name:"mcp" group:"agents" help:"Servers that bring more tools."`
	Runs       runsCmd       `cmd:"" group:"runs" help:"See and steer what is being worked on and what was."`
	Verify     verifyCmd     `cmd:"" group:"runs" help:"Check a report and its evidence that runs export wrote."`
	KB         kbCmd         `cmd:"" name:"kb" group:"docs" help:"Collections of your documents: add, list, search, use, remove."`
	Dict       dictCmd       `cmd:"" group:"docs" help:"Dictionaries that help to find documents in another language: add, list, remove."`
	Open       openCmd       `cmd:"" group:"server" help:"Open the page in a browser, and serve it if no server runs."`
	Serve      serveCmd      `cmd:"" group:"server" help:"Serve runs, documents and agents over HTTP."`
	Schedules  schedulesCmd  `cmd:"" group:"server" help:"Research that is repeated, with what changed: add, list, show, run."`
	Webhooks   webhooksCmd   `cmd:"" group:"server" help:"Addresses that are told when runs end: list, test, see what was sent."`
	Tokens     tokensCmd     `cmd:"" group:"server" help:"Tokens for users of the server: list, create, revoke."`
	Doctor     doctorCmd     `cmd:"" group:"setup" help:"Check that everything works, and say what to do where it doesn't."`
	Models     modelsCmd     `cmd:"" group:"setup" help:"Show, list and try the configured models."`
	Config     configCmd     `cmd:"" name:"config" group:"setup" help:"Show each setting and where its value comes from."`
	Completion completionCmd `cmd:"" group:"setup" help:"Print a completion script for a shell."`
	VersionCmd versionCmd    `cmd:"" name:"version" group:"setup" help:"Print the version."`
}

// app is a command on its way.
type app struct {
	*globals
	proc   Process
	parser *kong.Kong
	ctx    context.Context
	stdin  *bufio.Reader
	unread chan line // a line that nobody waits for any more
	editor *editor
	log    *slog.Logger
	logTo  *logFile
	level  slog.LevelVar
	redact *logs.Redactor

	mu          sync.Mutex
	interrupted func() // what Ctrl-C does now

	config *config.Config
}

// exit ends a command early and quietly, as --help does.
type exit int

// Main carries out one command and returns the exit code of the process.
func Main(p Process) (code int) {
	defer func() {
		if r := recover(); r != nil {
			c, ok := r.(exit)
			if !ok {
				panic(r)
			}
			code = int(c)
		}
	}()
	var g grammar
	out := &checked{to: p.Stdout}
	p.Stdout = out
	a := &app{globals: &g.globals, proc: p}
	parser, err := newParser(&g,
		kong.Writers(p.Stdout, p.Stderr), kong.Exit(func(c int) { panic(exit(c)) }), kong.Bind(a),
	)
	if err != nil {
		panic(err) // the grammar above is wrong, whatever the arguments are
	}
	a.parser = parser
	if len(p.Args) == 0 {
		p.Args = []string{"--help"}
	}
	a.openLog()
	defer func() { _ = a.logTo.Close() }()
	ctx, err := parser.Parse(questionFlag(p.Args))
	if err != nil {
		return a.fail(usage(err))
	}
	var leave context.CancelCauseFunc
	a.ctx, leave = context.WithCancelCause(p.Terminate)
	a.interrupted = func() { leave(errInterrupted) }
	over := make(chan struct{})
	defer close(over)
	go a.listen(over)
	if err := ctx.Run(); err != nil {
		return a.fail(err)
	}
	if out.err != nil {
		return a.fail(&failure{code: exitFailure, message: "writing the output: " + out.err.Error(), hint: "the run is kept: `dossier runs show last` prints it"})
	}
	return exitOK
}

// newParser makes the parser of the grammar.
func newParser(g *grammar, more ...kong.Option) (*kong.Kong, error) {
	engines := &engineMapper{}
	parser, err := kong.New(g, append(more,
		kong.Name("dossier"), kong.Description(description), kong.Help(printHelp), kong.TypeMapper(reflect.TypeFor[engineFlag](), engines),
	)...)
	if err == nil {
		engines.grammar = parser.Model.Node
	}
	return parser, err
}

// checked remembers that something could not be written, so that nobody takes
// half an answer for a whole one.
type checked struct {
	to  io.Writer
	err error
}

func (c *checked) Write(b []byte) (int, error) {
	n, err := c.to.Write(b)
	if err != nil && c.err == nil {
		c.err = err
	}
	return n, err
}

// terminal says whether a stream is a terminal, and how wide.
func (a *app) terminal(stream any) (width int, ok bool) {
	width, _, ok = a.screen(stream)
	return width, ok
}

// screen says whether a stream is a terminal, and how large.
func (a *app) screen(stream any) (columns, rows int, ok bool) {
	return a.proc.Terminal(a.stream(stream))
}

// stream is the stream of the process behind one of the command.
func (a *app) stream(stream any) any {
	if c, isOut := stream.(*checked); isOut {
		return c.to
	}
	return stream
}

// listen hands each Ctrl-C to whoever takes it now.
func (a *app) listen(over <-chan struct{}) {
	for {
		select {
		case <-a.proc.Interrupts:
			a.mu.Lock()
			do := a.interrupted
			a.mu.Unlock()
			do()
		case <-over:
			return
		}
	}
}

// onInterrupt changes what Ctrl-C does; the result changes it back.
func (a *app) onInterrupt(do func()) (restore func()) {
	swap := func(f func()) func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		before := a.interrupted
		a.interrupted = f
		return before
	}
	before := swap(do)
	return func() { swap(before) }
}

// usage turns a mistake in the arguments into an error with a hint.
func usage(err error) error {
	hint, message := "dossier --help", err.Error()
	if parse, ok := errors.AsType[*kong.ParseError](err); ok {
		if node := parse.Context.Selected(); node != nil {
			hint = "dossier " + usagePath(node) + " --help"
			message = suggest(message, node.Parent)
		}
	}
	return &failure{code: exitUsage, message: message, hint: "`" + hint + "` shows what is possible"}
}

// settings loads the configuration once.
func (a *app) settings() (*config.Config, error) {
	if a.config != nil {
		return a.config, nil
	}
	c, err := config.Load(config.Sources{Env: a.proc.Env, DotEnv: true, Dir: a.proc.Dir, File: a.Config, Flags: a.flags()})
	if err != nil {
		return nil, err
	}
	a.config = c
	a.proc.Env = c.Environ()
	a.configureLog(c)
	for _, note := range c.Notes() {
		a.notef("%s", note)
	}
	return c, nil
}

// flags are the settings that the command line gives.
func (a *app) flags() map[string]string {
	flags := make(map[string]string, len(a.Set)+3)
	maps.Copy(flags, a.Set)
	for name, v := range map[string]string{"model": a.Model, "lang": a.Lang, "data-dir": a.Data} {
		if v != "" {
			flags[name] = v
		}
	}
	return flags
}

// locale is the language of messages that answer no question: what is
// configured, else that of the environment.
func (a *app) locale() lang.Code {
	if c := a.config; c != nil && c.Lang != "auto" && c.Lang != "" {
		return lang.Code(c.Lang)
	}
	for _, name := range []string{"LC_ALL", "LC_MESSAGES", "LANG"} {
		if v := getenv(a.proc.Env, name); len(v) >= 2 {
			return lang.Catalogue(lang.Code(v[:2]))
		}
	}
	return lang.English
}

// languageOf is the language in which to answer a text.
func (a *app) languageOf(text string) lang.Code {
	if c := a.config; c != nil && c.Lang != "auto" && c.Lang != "" {
		return lang.Code(c.Lang)
	}
	return lang.ForAnswer(text, a.locale())
}

func getenv(env []string, name string) string {
	for _, entry := range slices.Backward(env) {
		if value, ok := strings.CutPrefix(entry, name+"="); ok {
			return value
		}
	}
	return ""
}

// notef tells the user something on standard error unless -q is given.
func (a *app) notef(format string, args ...any) {
	if !a.Quiet {
		fmt.Fprintf(a.proc.Stderr, format+"\n", args...)
	}
}

// interactive says whether the user can be asked.
func (a *app) interactive() bool {
	if a.NoInput || a.JSON {
		return false
	}
	_, in := a.terminal(a.proc.Stdin)
	_, out := a.terminal(a.proc.Stderr)
	return in && out
}
