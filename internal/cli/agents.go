package cli

import (
	"cmp"
	"fmt"
	"io"
	"strconv"
	"strings"

	"dossier"
	"dossier/internal/base/term"
	"dossier/lang"
	"dossier/mode"
	"dossier/mode/agents"
	"dossier/tool"
)

type agentsCmd struct {
	List   agentsList   `cmd:"" default:"withargs" help:"List the agents, those of the configuration and the templates."`
	Search agentsSearch `cmd:"" help:"Find the agents for a task."`
	Show   agentsShow   `cmd:"" help:"Show what an agent is made of."`
	Run    agentsRun    `cmd:"" help:"Have an agent work on a question."`
}

func (agentsCmd) Help() string {
	return `An agent is a loop in which a model chooses tools until it has an answer. Some
agents are built in; your own stand in the configuration file or are kept as
templates ("dossier templates").

` + examples("dossier agents list", "dossier agents show sgr_tool_calling_agent", `dossier agents run research_sgr_agent "what is known about X?"`)
}

type agentsList struct{}

func (agentsList) Help() string {
	return examples("dossier agents list", "dossier agents list --json | jq -r .name")
}

func (agentsList) Run(a *app) error {
	return a.with(a.ctx, func(l *link) error {
		list, err := l.Agents(a.ctx)
		if err != nil {
			return err
		}
		return a.printAgents(list)
	})
}

type agentsSearch struct {
	Words []string `arg:"" help:"What has to be done."`
	K     int      `short:"k" default:"5" placeholder:"N" help:"How many (default 5)."`
}

func (agentsSearch) Help() string {
	return examples(`dossier agents search "research in my documents"`, `dossier agents search reports -k 3 --json`)
}

func (c agentsSearch) Run(a *app) error {
	if c.K <= 0 {
		return &failure{code: exitUsage, message: "-k has to be more than 0"}
	}
	return a.with(a.ctx, func(l *link) error {
		found, err := l.SearchAgents(a.ctx, strings.Join(c.Words, " "), c.K)
		if err != nil {
			return err
		}
		if len(found) == 0 {
			a.notef("nothing found; `dossier agents list` shows all")
			return exitWith(exitNotEnough)
		}
		return a.printAgents(found)
	})
}

// printAgents prints agents of the directory.
func (a *app) printAgents(list []dossier.AgentEntry) error {
	if a.JSON {
		for _, e := range list {
			printJSON(a.proc.Stdout, e)
		}
		return nil
	}
	rows := make([][]string, len(list))
	for i, e := range list {
		about := cmp.Or(e.Description, strings.Join(e.Tools, ", "))
		if e.Trouble != "" {
			about = "can't work: " + e.Trouble
		}
		rows[i] = []string{e.Name, origin(e.Kind, e.Version), e.Decider, about}
	}
	return a.printRows(rows)
}

// origin is where an agent comes from, in a word.
func origin(kind string, version int) string {
	if version > 0 {
		return fmt.Sprintf("%s v%d", kind, version)
	}
	return kind
}

type agentsShow struct {
	Name string `arg:"" help:"The agent; for a version of a template, NAME@VERSION."`
}

func (agentsShow) Help() string {
	return examples("dossier agents show iron_agent", "dossier agents show careful@2", "dossier agents show careful --json | jq .agent.prompts")
}

func (c agentsShow) Run(a *app) error {
	return a.with(a.ctx, func(l *link) error {
		m, err := l.Agent(a.ctx, c.Name)
		if err != nil {
			return err
		}
		if a.JSON {
			printJSON(a.proc.Stdout, m)
			return nil
		}
		_, err = io.WriteString(a.proc.Stdout, agentText(m))
		return err
	})
}

func agentText(m agents.Member) string {
	var s sheet
	d := m.Agent
	s.row("agent", d.Name)
	from := "the configuration (`dossier config explain --agent " + d.Name + "`)"
	if m.Template != "" {
		from = fmt.Sprintf("template %s, version %d", m.Template, m.Version)
	}
	s.row("from", from)
	s.row("description", d.Description)
	s.row("capabilities", strings.Join(d.Capabilities, ", "))
	decides := string(d.Decider)
	if d.Research {
		decides += ", with the limits and the report of research"
	}
	s.row("decides", decides)
	s.row("model", cmp.Or(d.Model, "the configured one"))
	names := make([]string, len(d.Tools))
	for i, t := range d.Tools {
		names[i] = t.Name
	}
	s.row("tools", strings.Join(names, ", "))
	if d.Search.OnDemand {
		s.row("finds tools", fmt.Sprintf("the best %d for its task, and more when it asks", cmp.Or(d.Search.K, 10)))
	}
	s.row("calls agents", strings.Join(d.Agents, ", "))
	limits := d.Limits.Full()
	s.row("limits", fmt.Sprintf("%d iterations, %d searches, %d questions to you", limits.Iterations, limits.Searches, limits.Clarifications))
	for _, r := range d.Rules {
		s.row("rule", ruleText(r))
	}
	var own []string
	for _, p := range []struct{ name, text string }{{"system", d.Prompts.System}, {"initial", d.Prompts.Initial}, {"clarification", d.Prompts.Clarification}} {
		if p.text != "" {
			own = append(own, p.name)
		}
	}
	s.row("own prompts", strings.Join(own, ", "))
	return s.String()
}

func ruleText(r tool.Rule) string {
	text := "at " + strconv.Itoa(r.AtLeast) + " " + r.Counter
	if len(r.Drop) > 0 {
		return text + " without " + strings.Join(r.Drop, ", ")
	}
	return text + " only " + strings.Join(r.Only, ", ")
}

// agentFlags are what every command has that sets an agent to work.
type agentFlags struct {
	In       string `placeholder:"DIR|NAME" help:"For kb_agent and its kind: the folder, file or collection to look in (default: the collection in use)."`
	Session  string `placeholder:"ID" xor:"session" help:"Continue this conversation."`
	Continue bool   `xor:"session" help:"Continue the last conversation."`
	Output   string `short:"o" placeholder:"FILE" help:"Write the answer to a file."`

	reportFlags  `embed:""`
	searchBudget `embed:""`
}

const agentRunHelp = `The answer goes to standard output; what the agent thinks, which tools it calls
and what comes of it to standard error, shortened unless -v is given. What is
piped in is material for the question.

When the agent asks something, you are asked; where nobody can be, the run is
left waiting (exit code 4) and "dossier runs answer" goes on. With --no-input it
makes assumptions instead. Without a model, rules search, read and quote. Exit
code 4 also says that the agent found no answer. Ctrl-C finishes with what there
is, a second one cancels.`

type agentsRun struct {
	Name     string   `arg:"" help:"The agent; for a version of a template, NAME@VERSION."`
	Question []string `arg:"" optional:"" help:"What you want; - or nothing reads it from standard input."`
	Instance string   `placeholder:"ID" help:"Have this instance do it, which has to be one of NAME."`

	agentFlags `embed:""`
}

func (agentsRun) Help() string {
	return agentRunHelp + "\n\n" + examples(
		`dossier agents run sgr_tool_calling_agent "what changed in Go 1.26?"`,
		`dossier agents run careful@2 "compare A and B" -o answer.md --max-cost 0.10`,
		`cat notes.txt | dossier agents run iron_agent "what is still to do?"`,
		`dossier agents run dialog_agent --continue "and the second one?"`,
		`dossier agents run kb_agent "how long is the warranty?" --in ~/contracts`,
	)
}

func (c *agentsRun) Run(a *app) error {
	return c.work(a, c.Name, c.Instance, c.Question)
}

// work has an agent, or an instance of one, work on a question. At least one of
// the two is named.
func (f *agentFlags) work(a *app, name, instance string, words []string) error {
	settings, err := a.settings()
	if err != nil {
		return err
	}
	question, material, err := a.question(strings.Join(words, " "))
	if err != nil {
		return err
	}
	if strings.TrimSpace(question) == "" {
		code := a.locale()
		command := "dossier agents run " + quoted(name)
		if name == "" {
			command = "dossier instances run " + quoted(instance)
		}
		text := lang.Text(code, "question.empty", "example", command+` "`+lang.Text(code, "question.example")+`"`)
		return &failure{code: exitUsage, message: text, hint: "`dossier agents run --help` shows what is possible"}
	}
	if err := a.writable(f.Output); err != nil {
		return err
	}
	in, err := a.place(f.In)
	if err != nil {
		return err
	}
	code := a.languageOf(question)
	req := dossier.Request{Mode: agents.Name, Session: f.Session, Request: mode.Request{
		Question: question, Context: material, In: in, Lang: string(code), Agent: name, Instance: instance, Model: a.Model,
		NoInput: a.NoInput, Limits: f.limits(settings),
	}}
	return a.with(a.ctx, func(l *link) error {
		if err := a.chooseSession(a.ctx, l, &req, f.Continue); err != nil {
			return err
		}
		if name != "" && instance != "" {
			if err := a.instanceOf(l, instance, name); err != nil {
				return err
			}
		}
		rec, err := a.start(a.ctx, l, req)
		if err != nil {
			return err
		}
		return a.follow(a.ctx, l, rec, code, f.extent(a), f.Output)
	})
}

// instanceOf refuses an instance that is made from something else.
func (a *app) instanceOf(l *link, instance, name string) error {
	s, err := l.Instance(a.ctx, instance)
	if err != nil {
		return err
	}
	template, _, pinned := strings.Cut(name, "@")
	switch {
	case s.Template != template:
		return &failure{code: exitUsage, message: fmt.Sprintf("instance %s is one of %s, not of %s", term.Line(s.Name), term.Line(s.Template), term.Line(template)), hint: "`dossier instances list --template " + quoted(template) + "` shows those there are"}
	case pinned:
		return &failure{code: exitUsage, message: "an instance has a version of its own", hint: "leave the version out, or change it with `dossier instances upgrade`"}
	}
	return nil
}
