package cli

import (
	"context"
	"fmt"
	"strings"

	"dossier"
	"dossier/event"
	"dossier/internal/server"
	"dossier/run"
)

type runsAnswer struct {
	one
	Text []string `arg:"" help:"The answer."`
	Ask  string   `placeholder:"KEY" help:"Which question, when several are open; runs show --json lists them."`
}

func (runsAnswer) Help() string {
	return examples(`dossier runs answer last "the second one"`)
}

func (c runsAnswer) Run(a *app) error {
	return c.on(a, func(l *link, rec run.Record) error {
		if err := l.Answer(a.ctx, rec.ID, c.Ask, strings.Join(c.Text, " ")); err != nil {
			return err
		}
		return a.goOn(l, rec)
	})
}

// goOn follows a run that was set going again, from where it was.
func (a *app) goOn(l *link, rec run.Record) error {
	f := &follower{
		app: a, link: l, rec: rec, lang: a.languageOf(rec.Title), last: rec.LastSeq,
		view: a.newView(l, rec, a.proc.Stdout, a.languageOf(rec.Title), reportFlags{}.extent(a)),
	}
	return f.run(a.ctx)
}

type runsResume struct {
	one
	From string `placeholder:"STEP" help:"Do this step anew, and what came of it (runs show --steps lists them)."`

	searchBudget `embed:""`
}

func (runsResume) Help() string {
	return `Steps that are recorded are not done, or paid for, again, save those that
failed and what came of them. A run that ended with what there was goes on when
the limit that it reached is raised, or when it was told to finish. Limits count
from the run's beginning.

` + examples(
		"dossier runs resume last",
		"dossier runs resume last --max-tokens 200000",
		"dossier runs resume 1m7enjj7 --from answer",
	)
}

func (c runsResume) Run(a *app) error {
	return c.on(a, func(l *link, rec run.Record) error {
		o := dossier.ResumeOptions{From: c.From, Limits: run.Limits{
			Tokens: c.MaxTokens, Cost: c.MaxCost, Time: c.MaxTime, Searches: c.MaxSearches, Pages: c.MaxPages,
		}}
		if rec.Status == run.Waiting && o == (dossier.ResumeOptions{}) {
			return &failure{code: exitNotEnough, message: "the run waits for an answer", hint: "`dossier runs show " + rec.ID + "` shows the question, `dossier runs answer " + rec.ID + " TEXT` answers it"}
		}
		if err := l.Resume(a.ctx, rec.ID, o); err != nil {
			return err
		}
		return a.goOn(l, rec)
	})
}

// signal tells a run something and reports how it stands afterwards.
func (o one) signal(a *app, send func(server.Runs, context.Context, string) error, doing string) error {
	return o.on(a, func(l *link, rec run.Record) error {
		if rec.Status.Ended() {
			return fmt.Errorf("run %s: %w", rec.ID, run.ErrEnded)
		}
		if err := send(l, a.ctx, rec.ID); err != nil {
			return err
		}
		if elsewhere(rec) {
			a.notef("%s %s", doing, rec.ID)
			return nil
		}
		return a.settle(l, rec)
	})
}

// settle waits until a run that nobody else works on has taken a signal in.
func (a *app) settle(l *link, rec run.Record) error {
	for ev, err := range l.Events(a.ctx, rec.ID, rec.LastSeq) {
		if err != nil {
			return err
		}
		s, ok := ev.Data.(event.RunStatus)
		if ok && s.Status != string(run.Running) {
			a.notef("run %s is %s", rec.ID, s.Status)
			return nil
		}
	}
	return nil
}

type runsPause struct{ one }

func (runsPause) Help() string { return examples("dossier runs pause last") }

func (c runsPause) Run(a *app) error { return c.signal(a, server.Runs.Pause, "pausing") }

type runsCancel struct{ one }

func (runsCancel) Help() string { return examples("dossier runs cancel last") }

func (c runsCancel) Run(a *app) error { return c.signal(a, server.Runs.Cancel, "cancelling") }

type runsFinish struct{ one }

func (runsFinish) Help() string { return examples("dossier runs finish last") }

func (c runsFinish) Run(a *app) error { return c.signal(a, server.Runs.Finish, "finishing") }

type runsSteer struct {
	one
	Text []string `arg:"" help:"What the run should consider."`
}

func (runsSteer) Help() string {
	return examples(`dossier runs steer last "only sources since 2024"`)
}

func (c runsSteer) Run(a *app) error {
	return c.on(a, func(l *link, rec run.Record) error {
		if rec.Status.Ended() {
			return fmt.Errorf("run %s: %w", rec.ID, run.ErrEnded)
		}
		return l.Steer(a.ctx, rec.ID, strings.Join(c.Text, " "))
	})
}

type runsFork struct {
	one
	At       string `required:"" placeholder:"STEP" help:"The step to do anew, with all that follows; runs show --steps lists them."`
	Question string `placeholder:"TEXT" help:"Another question."`
}

func (runsFork) Help() string {
	return `The steps before STEP are taken over and not paid for again. --model does the
rest with another model.

` + examples("dossier runs show last --steps", "dossier runs fork last --at answer --model other-model")
}

func (c runsFork) Run(a *app) error {
	return c.on(a, func(l *link, rec run.Record) error {
		fork, err := l.Fork(a.ctx, rec.ID, c.At, dossier.ForkOptions{Model: a.Model, Question: c.Question})
		if err != nil {
			return err
		}
		return a.goOn(l, fork)
	})
}
