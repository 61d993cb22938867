package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"dossier"
	"dossier/event"
	"dossier/internal/base/term"
	"dossier/internal/base/term/markdown"
	"dossier/lang"
	"dossier/mode"
	"dossier/mode/toolcall"
	"dossier/run"
)

type runsCmd struct {
	List   runsList   `cmd:"" default:"withargs" help:"List runs, the newest first."`
	Show   runsShow   `cmd:"" help:"Show a run: what was asked and answered, its steps and cost."`
	Watch  runsWatch  `cmd:"" help:"Follow a run as it happens."`
	Answer runsAnswer `cmd:"" help:"Answer what a run asks; it goes on."`
	Pause  runsPause  `cmd:"" help:"Let a run finish its step and rest."`
	Resume runsResume `cmd:"" help:"Go on with a run that was paused, interrupted, cancelled or failed."`
	Cancel runsCancel `cmd:"" help:"End a run at once."`
	Finish runsFinish `cmd:"" help:"End a run now with what there is."`
	Steer  runsSteer  `cmd:"" help:"Tell a run something to consider."`
	Fork   runsFork   `cmd:"" help:"Do a run anew from one of its steps on."`
	Replay runsReplay `cmd:"" help:"Run again from the journal alone and check that the same comes out."`
	Report runsReport `cmd:"" help:"Print or write the report of a run in another format."`
	Export runsExport `cmd:"" help:"Write a run to a file: its report with the evidence, or all that is recorded."`
	Import runsImport `cmd:"" help:"Make a bundle of evidence a run that can be read here."`

	Compare runsCompare `cmd:"" help:"Say what is different between the reports of two runs."`
	Tag     runsTag     `cmd:"" help:"Give a run tags to find it by, or take all of them away."`
	Rm      runsRm      `cmd:"" help:"Delete runs."`
}

func (runsCmd) Help() string {
	return `ID is the id of a run, any unique beginning or end of it (four characters or
more), or "last".

` + examples("dossier runs list", "dossier runs show last", "dossier runs resume 06f3")
}

// one is the argument of the commands about one run.
type one struct {
	ID string `arg:"" help:"The run: its id, a unique part of it, or last."`
}

// on connects and finds the run. Nothing is made where there is nothing yet.
func (o one) on(a *app, do func(l *link, rec run.Record) error) error {
	if none, err := a.empty(); err != nil {
		return err
	} else if none {
		return fmt.Errorf("%w: %q", run.ErrUnknownRun, o.ID)
	}
	return a.with(a.ctx, func(l *link) error {
		rec, err := l.Get(a.ctx, o.ID)
		if err != nil {
			return err
		}
		return named(do(l, rec), rec.ID)
	})
}

// named puts the id of the run into the hint of an error.
func named(err error, id string) error {
	if err == nil {
		return nil
	}
	f := *explain(err)
	f.hint = strings.NewReplacer(" ID ", " "+id+" ", " ID`", " "+id+"`").Replace(f.hint)
	return &f
}

type runsList struct {
	Session string `placeholder:"ID" help:"Only runs of this conversation."`
	Status  string `placeholder:"STATUS" enum:",queued,running,waiting,paused,done,failed,cancelled" default:"" help:"Only runs that are queued, running, waiting, paused, done, failed or cancelled."`
	Tag     string `placeholder:"TAG" help:"Only runs that have this tag."`
	Limit   int    `short:"n" default:"20" placeholder:"N" help:"How many (default 20)."`
}

func (runsList) Help() string {
	return examples("dossier runs list", "dossier runs list --status waiting", "dossier runs list --json -n 100")
}

func (c runsList) Run(a *app) error {
	if c.Limit <= 0 {
		return &failure{code: exitUsage, message: "--limit has to be more than 0"}
	}
	none, err := a.empty()
	if err != nil {
		return err
	}
	if none {
		return c.print(a, nil)
	}
	return a.with(a.ctx, func(l *link) error {
		list, err := l.List(a.ctx, dossier.Filter{Session: c.Session, Status: run.Status(c.Status), Tag: c.Tag, Limit: c.Limit})
		if err != nil {
			return err
		}
		return c.print(a, list)
	})
}

func (c runsList) print(a *app, list []run.Record) error {
	if a.JSON {
		for _, rec := range list {
			printJSON(a.proc.Stdout, rec)
		}
		return nil
	}
	if len(list) == 0 {
		a.notef("no runs; `dossier ask QUESTION` starts one")
		return nil
	}
	width := 100
	if w, ok := a.terminal(a.proc.Stdout); ok {
		width = w
	}
	var b strings.Builder
	for _, rec := range list {
		head := fmt.Sprintf("%-16s  %-9s  %s  %-8s  ", rec.ID, rec.Status, rec.Created.Local().Format("2006-01-02 15:04"), modeShown(rec.Mode))
		b.WriteString(head + term.Fit(term.Line(rec.Title), max(20, width-len(head))) + "\n")
	}
	if _, err := io.WriteString(a.proc.Stdout, b.String()); err != nil {
		return err
	}
	if i := slices.IndexFunc(list, abandoned); i >= 0 {
		a.notef("the process of %s is gone; to go on: dossier runs resume %s", list[i].ID, list[i].ID)
	}
	return nil
}

// abandoned says that a run is to go on and nobody works on it: its process was
// killed, and only one that stays takes up the runs of others by itself.
func abandoned(rec run.Record) bool { return rec.Status == run.Queued && !elsewhere(rec) }

type runsShow struct {
	one
	Steps bool `help:"Also list the steps of the journal."`
}

func (runsShow) Help() string {
	return examples("dossier runs show last", "dossier runs show 06f3 --steps", "dossier runs show last --json")
}

func (c runsShow) Run(a *app) error {
	return c.on(a, func(l *link, rec run.Record) error {
		d, err := l.Show(a.ctx, rec.ID)
		if err != nil {
			return err
		}
		if a.JSON {
			printJSON(a.proc.Stdout, d)
			return nil
		}
		log, err := l.Log(a.ctx, rec.ID, 0)
		if err != nil {
			return err
		}
		_, err = io.WriteString(a.proc.Stdout, c.text(a, d, log))
		return err
	})
}

func (c runsShow) text(a *app, d dossier.Detail, log []event.Event) string {
	code, paper := a.locale(), a.newPaper(a.proc.Stdout)
	var b strings.Builder
	rec := d.Record
	row := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%-9s %s\n", name, term.Line(value))
		}
	}
	row("run", rec.ID)
	row("session", rec.Session)
	row("mode", modeShown(rec.Mode))
	var req mode.Request
	if json.Unmarshal(rec.Request, &req) == nil {
		who := "agent"
		if rec.Mode == toolcall.Name {
			who = "tool"
		}
		row(who, req.Agent)
		row("instance", req.Instance)
	}
	row("status", lang.Text(code, "status."+string(rec.Status)))
	if abandoned(rec) {
		row("hint", "its process is gone; to go on: dossier runs resume "+rec.ID)
	}
	row("tags", strings.Join(rec.Tags, ", "))
	row("created", rec.Created.Local().Format(time.DateTime))
	if rec.ForkOf != "" {
		row("fork of", rec.ForkOf+" at "+rec.ForkAt)
	}
	row("worked", rec.Active.Round(10*time.Millisecond).String())
	spent := rec.Spent
	cost := fmt.Sprintf("%d model calls, %d tokens in, %d out", spent.Calls, spent.InputTokens, spent.OutputTokens)
	if spent.Cost > 0 {
		cost += fmt.Sprintf(", $%.4f", spent.Cost)
	}
	row("spent", cost)
	if f := rec.Failure; f != nil {
		row("failed", f.Message)
		row("hint", f.Hint)
	}
	if c.Steps {
		b.WriteString("\n")
		for _, s := range d.Steps {
			fmt.Fprintf(&b, "%4d  %-8s %s\n", s.Ord, s.Kind, term.Line(s.Key))
		}
	}
	for _, ev := range log {
		if m, ok := ev.Data.(event.Message); ok {
			text := strings.TrimSpace(term.Clean(m.Text))
			switch {
			case m.Role == "assistant" && paper != nil:
				b.WriteString("\n" + strings.Join(markdown.Lines(text+keyPoints(m.KeyPoints, code), paper.look(nil)), "\n") + "\n")
			case m.Role == "assistant":
				fmt.Fprintf(&b, "\n%s\n%s", text, afterAnswer(m, code))
			default:
				fmt.Fprintf(&b, "\n> %s\n", strings.ReplaceAll(text, "\n", "\n> "))
			}
		}
	}
	for _, ask := range d.Asks {
		for _, q := range ask.Questions {
			fmt.Fprintf(&b, "\n? %s\n", term.Clean(q))
		}
		if len(ask.Options) > 0 {
			fmt.Fprintf(&b, "  %s\n", term.Line(strings.Join(ask.Options, ", ")))
		}
	}
	return b.String()
}

type runsWatch struct {
	one
	After int64 `placeholder:"SEQ" help:"Only events after this one."`
}

func (runsWatch) Help() string {
	return `Ctrl-C stops watching and leaves the run alone.

` + examples("dossier runs watch last", "dossier runs watch 06f3 --json --after 12")
}

func (c runsWatch) Run(a *app) error {
	return c.on(a, func(l *link, rec run.Record) error {
		f := &follower{app: a, link: l, rec: rec, lang: a.locale(), view: a.watchView(l, rec), watching: true, last: c.After}
		if elsewhere(rec) || rec.Status.Ended() {
			return f.run(a.ctx)
		}
		// Nobody works on it: what there is can be shown, and nothing more
		// will come.
		defer f.view.close()
		log, err := l.Log(a.ctx, rec.ID, c.After)
		if err != nil {
			return err
		}
		for _, ev := range log {
			f.view.show(ev)
		}
		f.view.pause()
		verb := "resume " + rec.ID
		if rec.Status == run.Waiting {
			verb = "answer " + rec.ID + " TEXT"
		}
		a.notef("the run is %s and nobody works on it; to go on: dossier runs %s", rec.Status, verb)
		return nil
	})
}

type runsReplay struct{ one }

func (runsReplay) Help() string {
	return examples("dossier runs replay last", "dossier runs replay last --json > again.ndjson")
}

func (c runsReplay) Run(a *app) error {
	return c.on(a, func(l *link, rec run.Record) error {
		events, err := l.Replay(a.ctx, rec.ID)
		if err != nil {
			return err
		}
		if a.JSON {
			for _, ev := range events {
				printJSON(a.proc.Stdout, ev)
			}
			return nil
		}
		_, err = fmt.Fprintf(a.proc.Stdout, "run %s: %d events, identical\n", rec.ID, len(events))
		return err
	})
}

type runsExport struct {
	one
	Output string `short:"o" placeholder:"FILE" help:"File to write (default: standard output)."`
}

func (runsExport) Help() string {
	return `A file that ends in .zip gets the report with its evidence: the texts that were
read, where each quote stands in them, the events, and the hashes of it all;
"dossier verify" checks it anywhere. Any other gets what is recorded of the run,
as JSON.

` + examples("dossier runs export last -o evidence.zip && dossier verify evidence.zip", "dossier runs export last -o run.json")
}

func (c runsExport) Run(a *app) error {
	return c.on(a, func(l *link, rec run.Record) error {
		if strings.EqualFold(filepath.Ext(c.Output), ".zip") {
			return a.writeBundle(l, rec, c.Output)
		}
		bundle, err := l.Export(a.ctx, rec.ID)
		if err != nil {
			return err
		}
		if c.Output == "" || c.Output == "-" {
			printJSON(a.proc.Stdout, bundle)
			return nil
		}
		raw, err := json.MarshalIndent(bundle, "", "  ")
		if err != nil {
			return err
		}
		if err := writeFile(c.Output, append(raw, '\n')); err != nil {
			return fmt.Errorf("writing the bundle: %w", err)
		}
		a.notef("written to %s", c.Output)
		return nil
	})
}

type runsRm struct {
	IDs []string `arg:"" name:"id" help:"The runs: ids, or unique parts of them."`
}

func (runsRm) Help() string { return examples("dossier runs rm 06f3 07aa") }

func (c runsRm) Run(a *app) error {
	for _, id := range c.IDs {
		err := one{id}.on(a, func(l *link, rec run.Record) error {
			if err := l.Delete(a.ctx, rec.ID); err != nil {
				return err
			}
			a.notef("deleted %s", rec.ID)
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
