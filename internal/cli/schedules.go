package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"dossier"
	"dossier/internal/base/term"
	"dossier/internal/schedule"
	"dossier/lang"
	"dossier/mode"
)

type schedulesCmd struct {
	List   schedulesList   `cmd:"" default:"withargs" help:"List the schedules, and when each is due."`
	Add    schedulesAdd    `cmd:"" help:"Have a question researched again and again."`
	Show   schedulesShow   `cmd:"" help:"Show a schedule, its last runs, and what changed with the last report."`
	Change schedulesChange `cmd:"" help:"Change when a schedule is due, or its name."`
	Pause  schedulesPause  `cmd:"" help:"Let schedules rest."`
	Resume schedulesResume `cmd:"" help:"Let schedules that rest go on."`
	Run    schedulesRun    `cmd:"" help:"Carry a schedule out now."`
	Rm     schedulesRm     `cmd:"" aliases:"remove" help:"Remove schedules; their runs stay."`
}

func (schedulesCmd) Help() string {
	return `A schedule is research that is repeated, and tells what has changed since its
last report. dossier serve carries schedules out when they are due; a time that
came while no server was there is made up for once, when one is. Scheduled runs
never ask. While the last run of a schedule is not over, the next is skipped.

--cron has five fields: minute, hour, day of the month, month, day of the week;
each is *, a number, a range (1-5), a list (1,15) or a step (*/15), and months
and days have names (jan, mon). @hourly, @daily, @weekly, @monthly and @yearly
stand for the usual ones. ID is the id of a schedule, a unique part of it, or its
name.

` + examples(
		`dossier schedules add "what is new in heat pumps?" --cron "30 7 * * mon-fri" --search --since 7d`,
		`dossier schedules add "who approves travel?" --cron @daily --in ~/handbook --name travel`,
		"dossier schedules show travel", "dossier schedules run travel",
	)
}

// aSchedule is the argument of the commands about one schedule.
type aSchedule struct {
	ID string `arg:"" help:"The schedule: its id, a unique part of it, or its name."`
}

// findSchedule finds a schedule by what somebody wrote for it.
func (a *app) findSchedule(l *link, ref string) (dossier.Schedule, error) {
	list, err := l.Schedules(a.ctx, "")
	if err != nil {
		return dossier.Schedule{}, err
	}
	for _, fits := range []func(s dossier.Schedule) bool{
		func(s dossier.Schedule) bool { return s.ID == ref },
		func(s dossier.Schedule) bool { return s.Name != "" && s.Name == ref },
		func(s dossier.Schedule) bool {
			return len(ref) >= 4 && (strings.HasPrefix(s.ID, ref) || strings.HasSuffix(s.ID, ref))
		},
	} {
		found := slices.DeleteFunc(slices.Clone(list), func(s dossier.Schedule) bool { return !fits(s) })
		switch len(found) {
		case 0:
			continue
		case 1:
			return found[0], nil
		}
		return dossier.Schedule{}, &failure{code: exitUsage, message: fmt.Sprintf("%q fits %d schedules", term.Line(ref), len(found)), hint: "give the id, which `dossier schedules` shows"}
	}
	return dossier.Schedule{}, fmt.Errorf("%w: %q", dossier.ErrNoSchedule, ref)
}

// on connects and finds the schedule. Nothing is made where there is nothing yet.
func (s aSchedule) on(a *app, do func(l *link, s dossier.Schedule) error) error {
	if none, err := a.empty(); err != nil {
		return err
	} else if none {
		return fmt.Errorf("%w: %q", dossier.ErrNoSchedule, s.ID)
	}
	return a.with(a.ctx, func(l *link) error {
		found, err := a.findSchedule(l, s.ID)
		if err != nil {
			return err
		}
		return do(l, found)
	})
}

type schedulesList struct{}

func (schedulesList) Help() string {
	return examples("dossier schedules", "dossier schedules list --json")
}

func (schedulesList) Run(a *app) error {
	none, err := a.empty()
	if err != nil {
		return err
	}
	var list []dossier.Schedule
	if !none {
		if err := a.with(a.ctx, func(l *link) error { list, err = l.Schedules(a.ctx, ""); return err }); err != nil {
			return err
		}
	}
	if a.JSON {
		for _, s := range list {
			printJSON(a.proc.Stdout, s)
		}
		return nil
	}
	code := a.locale()
	if len(list) == 0 {
		a.notef("%s", lang.Text(code, "schedules.none"))
		return nil
	}
	rows := make([][]string, len(list))
	for i, s := range list {
		rows[i] = []string{s.ID, s.Cron, nextOf(code, s), lastOf(code, s), summaryOf(s)}
	}
	return a.printRows(rows)
}

// summaryOf is what a schedule is known by in a list.
func summaryOf(s dossier.Schedule) string {
	what := s.Request.Question
	if s.Name != "" {
		what = s.Name + ": " + what
	}
	if s.User != "" {
		what = "(" + s.User + ") " + what
	}
	return what
}

// nextOf says when a schedule is due.
func nextOf(code lang.Code, s dossier.Schedule) string {
	if s.Paused {
		return lang.Text(code, "schedules.paused")
	}
	return lang.Text(code, "schedules.next", "time", day(s.Next))
}

// lastOf says how it went the last time.
func lastOf(code lang.Code, s dossier.Schedule) string {
	if s.Last == nil {
		return lang.Text(code, "schedules.never")
	}
	return day(s.Last.At) + " " + lang.Text(code, "schedules.state."+string(s.Last.State))
}

type schedulesAdd struct {
	Question []string `arg:"" help:"What is asked each time."`
	Cron     string   `required:"" placeholder:"\"M H D M W\"" help:"When, as \"30 7 * * mon-fri\" or @daily."`
	Zone     string   `placeholder:"ZONE" help:"By the clocks of which time zone, as Europe/Moscow (default: those of the server)."`
	Name     string   `placeholder:"TEXT" help:"A name by which you know it."`
	Paused   bool     `help:"Let it rest until it is resumed."`
	In       []string `placeholder:"DIR|NAME" sep:"none" help:"Folder, file or collection to look in; may be repeated (default: the collection in use then, else the web)."`
	Mode     string   `placeholder:"NAME" default:"web_search" enum:"web_search,deep_search,quality,deep_research,search,web,deep" help:"How thoroughly: web_search, deep_search, quality or deep_research (default web_search)."`

	webFlags     `embed:""`
	searchBudget `embed:""`
}

func (schedulesAdd) Help() string {
	return `The question is asked in the mode and of the places that are named, with the
settings that count whenever it is due. --since 7d means the seven days before
each run.

` + webHelp + `

` + examples(
		`dossier schedules add "who approves travel?" --cron @daily --in ~/handbook`,
		`dossier schedules add "what is new in sparse attention?" --cron "0 8 * * mon" --zone Asia/Shanghai --search=arxiv --since 7d`,
		`dossier schedules add "compare our prices with others" --cron @monthly --mode deep_research --in prices --search`,
	)
}

func (c *schedulesAdd) Run(a *app) error {
	settings, err := a.settings()
	if err != nil {
		return err
	}
	if _, err := schedule.Clock(c.Cron, c.Zone); err != nil {
		return err
	}
	choice, words, err := c.choose(c.Question, settings.Search.MCPServers, time.Now())
	if err != nil {
		return err
	}
	if days := daysAgo(c.Since); days > 0 {
		choice.scope.Since, choice.scope.Days = time.Time{}, days
	}
	in, err := a.places(c.In)
	if err != nil {
		return err
	}
	question := strings.Join(words, " ")
	req := dossier.Request{Mode: dossier.ModeName(c.Mode), Request: mode.Request{
		Question: question, In: in, Lang: string(a.languageOf(question)), Model: a.Model, Limits: c.limits(settings),
	}}
	return a.with(a.ctx, func(l *link) error {
		if err := choice.into(a, l, &req.In); err != nil {
			return err
		}
		made, err := l.CreateSchedule(a.ctx, dossier.Schedule{Name: c.Name, Cron: c.Cron, Zone: c.Zone, Paused: c.Paused, Request: req})
		if err != nil {
			return err
		}
		if a.JSON {
			printJSON(a.proc.Stdout, made)
			return nil
		}
		code := a.locale()
		a.notef("%s", lang.Text(code, "schedules.added", "next", nextOf(code, made)))
		a.notef("%s", lang.Text(code, "schedules.serve"))
		_, err = fmt.Fprintln(a.proc.Stdout, made.ID)
		return err
	})
}

// daysAgo is how many days a text as 7d, 2w, 3m or 1y stands for, 0 for others.
func daysAgo(text string) int {
	text = strings.ToLower(strings.TrimSpace(text))
	if len(text) < 2 {
		return 0
	}
	n, err := strconv.ParseUint(text[:len(text)-1], 10, 16)
	if err != nil {
		return 0
	}
	return int(n) * map[byte]int{'d': 1, 'w': 7, 'm': 31, 'y': 366}[text[len(text)-1]]
}

type schedulesShow struct{ aSchedule }

func (schedulesShow) Help() string {
	return examples("dossier schedules show travel", "dossier schedules show 06f3 --json")
}

// fewFirings is how many of the last times are shown.
const fewFirings = 10

func (c schedulesShow) Run(a *app) error {
	return c.on(a, func(l *link, s dossier.Schedule) error {
		runs, err := l.ScheduleRuns(a.ctx, s.ID)
		if err != nil {
			return err
		}
		changes, err := l.ScheduleChanges(a.ctx, s.ID, fewFirings)
		if err != nil {
			return err
		}
		if a.JSON {
			printJSON(a.proc.Stdout, map[string]any{"schedule": s, "runs": runs, "changes": changes})
			return nil
		}
		_, err = io.WriteString(a.proc.Stdout, c.text(a.locale(), s, runs, changes))
		return err
	})
}

func (schedulesShow) text(code lang.Code, s dossier.Schedule, runs []dossier.ScheduledRun, changes []dossier.Comparison) string {
	var b strings.Builder
	row := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%s %s\n", term.Pad(lang.Text(code, "schedules.row."+name), 12), term.Line(value))
		}
	}
	row("id", s.ID)
	row("name", s.Name)
	row("user", s.User)
	row("question", s.Request.Question)
	row("mode", modeShown(s.Request.Mode))
	row("in", strings.Join(documentsOf(s.Request.In), ", "))
	row("cron", strings.TrimSpace(s.Cron+" "+s.Zone))
	row("next", strings.Join(comingTimes(s, 3), ", "))
	if s.Paused {
		row("next", lang.Text(code, "schedules.paused"))
	}
	if len(runs) > 0 {
		b.WriteString("\n" + lang.Text(code, "schedules.runs") + "\n")
		var rows [][]string
		for _, f := range runs[:min(len(runs), fewFirings)] {
			rows = append(rows, []string{"  " + day(f.At), f.Run, firingState(code, f), lateness(code, f)})
		}
		b.WriteString(inColumns(rows, 1<<20))
	}
	if len(changes) == 0 {
		return b.String()
	}
	told := func(heading string, c dossier.Comparison) {
		b.WriteString("\n" + heading + "\n")
		for _, sentence := range c.Told {
			b.WriteString("  - " + term.Line(sentence) + "\n")
		}
	}
	last := changes[0]
	if last.Changes != nil {
		told(lang.Text(code, "heading.changes"), last)
		differs := func(c dossier.Comparison) bool { return c.Changes != nil && !c.Changes.None() }
		if i := slices.IndexFunc(changes, differs); i > 0 {
			told(lang.Text(code, "schedules.changed", "time", day(changes[i].Made)), changes[i])
		}
	}
	b.WriteString("\n" + lang.Text(code, "schedules.report", "command", "dossier runs report "+last.Run) + "\n")
	return b.String()
}

// comingTimes are the next times of a schedule, by its own clocks.
func comingTimes(s dossier.Schedule, n int) []string {
	next, err := schedule.Clock(s.Cron, s.Zone)
	if err != nil || s.Paused {
		return nil
	}
	where := time.Local
	if s.Zone != "" {
		if where, err = time.LoadLocation(s.Zone); err != nil {
			return nil
		}
	}
	var out []string
	for t := s.Next; len(out) < n && !t.IsZero(); t = next(t) {
		out = append(out, t.In(where).Format("2006-01-02 15:04 MST"))
	}
	return out
}

// firingState says what became of a time that a schedule was due.
func firingState(code lang.Code, f dossier.ScheduledRun) string {
	switch {
	case f.State == schedule.Started && f.Status != "":
		return lang.Text(code, "status."+string(f.Status))
	case f.State == schedule.Started:
		return lang.Text(code, "schedules.deleted")
	case f.Error != "":
		return lang.Text(code, "schedules.state."+string(f.State)) + ": " + f.Error
	}
	return lang.Text(code, "schedules.state."+string(f.State))
}

// lateness says what is not as usual about when a schedule was carried out.
func lateness(code lang.Code, f dossier.ScheduledRun) string {
	switch {
	case f.ByHand:
		return lang.Text(code, "schedules.by-hand")
	case f.At.Sub(f.Due) >= time.Minute:
		return lang.Text(code, "schedules.late", "time", day(f.Due))
	}
	return ""
}

type schedulesChange struct {
	aSchedule
	Cron *string `placeholder:"\"M H D M W\"" help:"When, as \"30 7 * * mon-fri\" or @daily."`
	Zone *string `placeholder:"ZONE" help:"By the clocks of which time zone; empty for those of the server."`
	Name *string `placeholder:"TEXT" help:"Another name."`
}

func (schedulesChange) Help() string {
	return examples(`dossier schedules change travel --cron "0 6 * * *"`, "dossier schedules change 06f3 --zone UTC --name travel")
}

func (c schedulesChange) Run(a *app) error {
	if c.Cron == nil && c.Zone == nil && c.Name == nil {
		return &failure{code: exitUsage, message: "there is nothing to change", hint: "say --cron, --zone or --name"}
	}
	return c.on(a, func(l *link, s dossier.Schedule) error {
		return a.changeSchedule(l, s, dossier.ScheduleChange{Cron: c.Cron, Zone: c.Zone, Name: c.Name})
	})
}

// changeSchedule changes a schedule and says when it is due then.
func (a *app) changeSchedule(l *link, s dossier.Schedule, to dossier.ScheduleChange) error {
	made, err := l.ChangeSchedule(a.ctx, s.ID, to)
	if err != nil {
		return err
	}
	if a.JSON {
		printJSON(a.proc.Stdout, made)
		return nil
	}
	code := a.locale()
	a.notef("%s: %s", made.ID, nextOf(code, made))
	return nil
}

// theSchedules is the argument of the commands about several schedules.
type theSchedules struct {
	IDs []string `arg:"" name:"id" help:"The schedules: their ids, unique parts of these, or their names."`
}

func (s theSchedules) each(a *app, do func(l *link, s dossier.Schedule) error) error {
	for _, id := range s.IDs {
		if err := (aSchedule{id}).on(a, do); err != nil {
			return err
		}
	}
	return nil
}

type schedulesPause struct{ theSchedules }

func (schedulesPause) Help() string { return examples("dossier schedules pause travel") }

func (c schedulesPause) Run(a *app) error {
	paused := true
	return c.each(a, func(l *link, s dossier.Schedule) error {
		return a.changeSchedule(l, s, dossier.ScheduleChange{Paused: &paused})
	})
}

type schedulesResume struct{ theSchedules }

func (schedulesResume) Help() string {
	return "What came while it rested is not made up for.\n\n" + examples("dossier schedules resume travel")
}

func (c schedulesResume) Run(a *app) error {
	paused := false
	return c.each(a, func(l *link, s dossier.Schedule) error {
		return a.changeSchedule(l, s, dossier.ScheduleChange{Paused: &paused})
	})
}

type schedulesRun struct {
	aSchedule
	reportFlags `embed:""`
}

func (schedulesRun) Help() string {
	return "The report goes to standard output. When the schedule is due stays as it was.\n\n" + examples("dossier schedules run travel")
}

func (c schedulesRun) Run(a *app) error {
	return c.on(a, func(l *link, s dossier.Schedule) error {
		fired, err := l.FireSchedule(a.ctx, s.ID)
		if err != nil {
			return err
		}
		rec, err := l.Get(context.WithoutCancel(a.ctx), fired.Run)
		if err != nil {
			return err
		}
		code := a.languageOf(s.Request.Question)
		f := &follower{app: a, link: l, rec: rec, lang: code, view: a.newView(l, rec, a.proc.Stdout, code, c.extent(a))}
		return f.run(a.ctx)
	})
}

type schedulesRm struct{ theSchedules }

func (schedulesRm) Help() string { return examples("dossier schedules rm travel") }

func (c schedulesRm) Run(a *app) error {
	return c.each(a, func(l *link, s dossier.Schedule) error {
		if err := l.RemoveSchedule(a.ctx, s.ID); err != nil {
			return err
		}
		a.notef("%s", lang.Text(a.locale(), "schedules.removed", "id", s.ID))
		return nil
	})
}
