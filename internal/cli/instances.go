package cli

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"dossier/internal/base/term"
	"dossier/internal/fleet"
	"dossier/internal/server"
)

type instancesCmd struct {
	List    instancesList    `cmd:"" default:"withargs" help:"List the instances by name."`
	Show    instancesShow    `cmd:"" help:"Show an instance and what it is doing."`
	Add     instancesAdd     `cmd:"" help:"Make an instance of a template."`
	Run     instancesRun     `cmd:"" help:"Have an instance work on a question."`
	Start   instancesStart   `cmd:"" help:"Let an instance take runs again."`
	Drain   instancesDrain   `cmd:"" help:"Let an instance end its runs and take no new ones."`
	Stop    instancesStop    `cmd:"" help:"Pause the runs of an instance and take no new ones."`
	Upgrade instancesUpgrade `cmd:"" help:"Make new runs of an instance from another version."`
	Rm      instancesRm      `cmd:"" help:"Forget instances that have no work."`
}

func (instancesCmd) Help() string {
	return `An instance is a long-lived agent made from a template. It serves many
conversations, so many runs at once as it has slots; more wait in its queue. It
costs nothing while it has no work. ID is its id or its name.

` + examples("dossier instances add careful --name desk", `dossier instances run desk "compare A and B"`, "dossier instances list")
}

// anInstance is the argument of the commands about one instance.
type anInstance struct {
	ID string `arg:"" help:"The instance: its id or its name."`
}

// on does something with an instance. Nothing is made where there is nothing yet.
func (i anInstance) on(a *app, do func(l *link) error) error {
	if none, err := a.empty(); err != nil {
		return err
	} else if none {
		return fmt.Errorf("instance %q: %w", i.ID, fleet.ErrNoInstance)
	}
	return a.with(a.ctx, do)
}

type instancesList struct {
	Template string `placeholder:"NAME" help:"Only instances of this template."`
	State    string `placeholder:"STATE" enum:",starting,ready,busy,draining,stopped" default:"" help:"Only those that are starting, ready, busy, draining or stopped."`
	Limit    int    `short:"n" default:"20" placeholder:"N" help:"How many (default 20)."`
	After    string `placeholder:"NAME" help:"Only names that come after this one, for the next page."`
}

func (instancesList) Help() string {
	return examples("dossier instances list", "dossier instances list --template careful --state busy", "dossier instances list -n 1000 --after desk-999 --json")
}

func (c instancesList) Run(a *app) error {
	if c.Limit <= 0 {
		return &failure{code: exitUsage, message: "--limit has to be more than 0"}
	}
	none, err := a.empty()
	if err != nil {
		return err
	}
	var list []fleet.Instance
	if !none {
		f := fleet.Filter{Template: c.Template, State: fleet.State(c.State), Limit: c.Limit, After: c.After}
		if err := a.with(a.ctx, func(l *link) error { list, err = l.Instances(a.ctx, f); return err }); err != nil {
			return err
		}
	}
	if a.JSON {
		for _, i := range list {
			printJSON(a.proc.Stdout, i)
		}
		return nil
	}
	if len(list) == 0 {
		a.notef("no instances; `dossier instances add TEMPLATE` makes one")
		return nil
	}
	rows := make([][]string, len(list))
	for n, i := range list {
		rows[n] = []string{i.Name, string(i.State), madeFrom(i), fmt.Sprintf("%d served", i.Served), lastUsed(i)}
	}
	if err := a.printRows(rows); err != nil {
		return err
	}
	if len(list) == c.Limit {
		a.notef("there may be more: dossier instances list --after %s", quoted(list[len(list)-1].Name))
	}
	return nil
}

// madeFrom is the template of an instance, with the version unless it follows
// the published one.
func madeFrom(i fleet.Instance) string {
	if i.Version == 0 {
		return i.Template
	}
	return i.Template + "@" + strconv.Itoa(i.Version)
}

func lastUsed(i fleet.Instance) string {
	if i.LastUsed.IsZero() {
		return "never used"
	}
	return "used " + day(i.LastUsed)
}

type instancesShow struct{ anInstance }

func (instancesShow) Help() string {
	return examples("dossier instances show desk", "dossier instances show desk --json | jq .running")
}

func (c instancesShow) Run(a *app) error {
	return c.on(a, func(l *link) error {
		s, err := l.Instance(a.ctx, c.ID)
		if err != nil {
			return err
		}
		if a.JSON {
			printJSON(a.proc.Stdout, s)
			return nil
		}
		_, err = io.WriteString(a.proc.Stdout, instanceText(s))
		return err
	})
}

func instanceText(s fleet.Status) string {
	var b sheet
	b.row("instance", s.Name)
	if s.ID != s.Name {
		b.row("id", s.ID)
	}
	b.row("state", string(s.State))
	from := s.Template + ", the published version"
	if s.Version > 0 {
		from = fmt.Sprintf("%s, version %d", s.Template, s.Version)
	}
	b.row("template", from)
	b.row("slots", fmt.Sprintf("%d of %d taken by runs", s.Running, s.Slots))
	b.row("queue", fmt.Sprintf("%d of %d waiting", s.Queued, max(0, s.Queue)))
	b.row("conversations", fmt.Sprintf("%d with a run at work or waiting", s.Sessions))
	b.row("served", fmt.Sprintf("%d runs, %s", s.Served, lastUsed(s.Instance)))
	b.row("labels", strings.Join(s.Labels, ", "))
	b.row("created", day(s.Created))
	return b.String()
}

type instancesAdd struct {
	Template string   `arg:"" help:"The template; to stay with a version instead of following the published one, NAME@VERSION."`
	Name     string   `placeholder:"NAME" help:"Its name, which no other one has (default: its id)."`
	Slots    int      `placeholder:"N" help:"How many runs work at once (default 4)."`
	Queue    *int     `placeholder:"N" help:"How many more may wait (default 100; 0 is none)."`
	Label    []string `placeholder:"WORD" help:"A word by which it is found; may be repeated."`
}

func (instancesAdd) Help() string {
	return examples("dossier instances add careful --name desk", "dossier instances add careful@2 --name night --slots 1 --queue 10 --label nightly")
}

func (c instancesAdd) Run(a *app) error {
	template, text, pinned := strings.Cut(c.Template, "@")
	version := 0
	if pinned {
		var err error
		if version, err = strconv.Atoi(text); err != nil || version < 1 {
			return &failure{code: exitUsage, message: fmt.Sprintf("%q is no version of a template", text), hint: "write it as " + template + "@3"}
		}
	}
	i := fleet.Instance{Name: c.Name, Template: template, Version: version, Slots: c.Slots, Labels: c.Label}
	if c.Queue != nil {
		if i.Queue = *c.Queue; i.Queue <= 0 {
			i.Queue = -1
		}
	}
	return aTemplate{template}.on(a, func(l *link) error {
		made, err := l.RegisterInstance(a.ctx, i)
		if err != nil {
			return err
		}
		if a.JSON {
			printJSON(a.proc.Stdout, made)
			return nil
		}
		a.notef("to use it: dossier instances run %s QUESTION", made.Name)
		_, err = fmt.Fprintf(a.proc.Stdout, "%s  %s  %s\n", made.Name, made.State, term.Line(madeFrom(made)))
		return err
	})
}

type instancesRun struct {
	ID       string   `arg:"" help:"The instance: its id or its name."`
	Question []string `arg:"" optional:"" help:"What you want; - or nothing reads it from standard input."`

	agentFlags `embed:""`
}

func (instancesRun) Help() string {
	return "A conversation stays with the instance that began it.\n\n" + agentRunHelp + "\n\n" +
		examples(`dossier instances run desk "compare A and B"`, `dossier instances run desk --session 06f3 "and C?"`)
}

func (c *instancesRun) Run(a *app) error { return c.work(a, "", c.ID, c.Question) }

// tell tells an instance something.
func (i anInstance) tell(a *app, send func(server.Fleet, context.Context, string) error) error {
	return i.on(a, func(l *link) error {
		if err := send(l, a.ctx, i.ID); err != nil {
			return err
		}
		s, err := l.Instance(a.ctx, i.ID)
		if err == nil {
			a.notef("%s is %s", s.Name, s.State)
		}
		return err
	})
}

type instancesStart struct{ anInstance }

func (instancesStart) Help() string { return examples("dossier instances start desk") }

func (c instancesStart) Run(a *app) error { return c.tell(a, server.Fleet.StartInstance) }

type instancesDrain struct{ anInstance }

func (instancesDrain) Help() string { return examples("dossier instances drain desk") }

func (c instancesDrain) Run(a *app) error { return c.tell(a, server.Fleet.DrainInstance) }

type instancesStop struct{ anInstance }

func (instancesStop) Help() string {
	return "Its runs are paused: start it, and \"dossier runs resume\" goes on with them.\n\n" + examples("dossier instances stop desk")
}

func (c instancesStop) Run(a *app) error { return c.tell(a, server.Fleet.StopInstance) }

type instancesUpgrade struct {
	anInstance
	Version int `arg:"" optional:"" help:"The version of its template (default: follow the published one)."`
}

func (instancesUpgrade) Help() string {
	return "Runs that are under way keep their version.\n\n" + examples("dossier instances upgrade desk", "dossier instances upgrade desk 3")
}

func (c instancesUpgrade) Run(a *app) error {
	return c.on(a, func(l *link) error {
		if err := l.UpgradeInstance(a.ctx, c.ID, c.Version); err != nil {
			return err
		}
		s, err := l.Instance(a.ctx, c.ID)
		if err != nil {
			return err
		}
		version := "the published version"
		if s.Version > 0 {
			version = fmt.Sprintf("version %d", s.Version)
		}
		a.notef("new runs of %s are made from %s of %s", s.Name, version, s.Template)
		return nil
	})
}

type instancesRm struct {
	IDs []string `arg:"" name:"id" help:"Instances: their ids or names."`
}

func (instancesRm) Help() string {
	return "Its conversations can go on with others then. Runs are kept.\n\n" + examples("dossier instances rm desk")
}

func (c instancesRm) Run(a *app) error {
	for _, id := range c.IDs {
		err := anInstance{id}.on(a, func(l *link) error { return l.RemoveInstance(a.ctx, id) })
		if err != nil {
			return err
		}
		a.notef("forgot %s", term.Line(id))
	}
	return nil
}
