package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"dossier"
	"dossier/event"
	"dossier/internal/base/logs"
	"dossier/internal/base/term"
	"dossier/internal/server"
	"dossier/internal/store"
	"dossier/lang"
	"dossier/mode/ingest"
	"dossier/mode/toolcall"
	"dossier/prompt"
	"dossier/report"
	"dossier/run"
)

// follower watches a run to its end, or to where it needs somebody.
type follower struct {
	*app
	link *link
	rec  run.Record
	view view
	lang lang.Code
	// watching only looks: an interrupt leaves the run alone.
	watching bool

	last     int64
	course   course
	recalled bool // course holds what was before last

	mu     sync.Mutex         // guards what follows
	asking context.CancelFunc // ends the question that the user is asked now
	stops  int                // how often the user pressed Ctrl-C
}

// errInterrupted is the cause of a context that Ctrl-C ended.
var errInterrupted = errors.New("interrupted")

// newView chooses how a run is shown. Answers go to out; reports on standard
// output are shown to the extent given.
func (a *app) newView(l *link, rec run.Record, out io.Writer, code lang.Code, extent report.Extent) view {
	if a.JSON {
		return jsonView{a.proc.Stdout}
	}
	v := &textView{out: out, paper: a.newPaper(out), board: a.newBoard(code), lang: code, verbose: a.Verbose, dir: a.dir()}
	if rec.ForkOf != "" {
		v.since = rec.Created
	}
	if _, drawn := v.board.(*panel); drawn {
		v.first = firstOf(rec.Mode, code)
	}
	if out == a.proc.Stdout {
		v.extent, v.page = extent, a.page
		v.reports = func(id string) (*report.Report, error) { return l.Report(context.Background(), id) }
	}
	return v
}

// watchView is for those who only watch: it shows the user's own messages too.
func (a *app) watchView(l *link, rec run.Record) view {
	v := a.newView(l, rec, a.proc.Stdout, a.locale(), reportFlags{}.extent(a))
	if text, ok := v.(*textView); ok {
		text.echo = true
	}
	return v
}

// firstOf is what a run of a mode does until it tells more.
func firstOf(mode string, code lang.Code) string {
	switch {
	case mode == ingest.Name:
		return lang.Text(code, "now.files")
	case searches(mode):
		return lang.Text(code, "now.planning")
	case mode == toolcall.Name:
		return ""
	}
	return lang.Text(code, "now.thinking")
}

// follow shows a run until it is over or waits, and returns how the command
// ends. With a file the answer is written there, and all of it.
func (a *app) follow(ctx context.Context, l *link, rec run.Record, code lang.Code, extent report.Extent, file string) error {
	var answer bytes.Buffer
	out := a.proc.Stdout
	if file != "" {
		out = &answer
	}
	f := &follower{app: a, link: l, rec: rec, lang: code, view: a.newView(l, rec, out, code, extent)}
	err := f.run(ctx)
	if said := f.course.answer(); file != "" && said.Text != "" {
		if a.JSON {
			answer.WriteString(strings.TrimRight(said.Text, "\n") + "\n" + afterAnswer(said, code))
		}
		if werr := writeFile(file, answer.Bytes()); werr != nil {
			return &failure{code: exitFailure, message: "writing the answer: " + werr.Error(), hint: "the answer is kept: `dossier runs show " + rec.ID + "` prints it"}
		}
		a.notef("written to %s", file)
	}
	return err
}

// writable says why a file could not be written, before the work that is to be
// written there.
func (a *app) writable(file string) error {
	if file == "" {
		return nil
	}
	path, err := a.path(file)
	if err != nil {
		return err
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return &failure{code: exitUsage, message: fmt.Sprintf("-o %s is a folder", term.Line(file)), hint: "name a file in it"}
	}
	probe, err := os.CreateTemp(filepath.Dir(path), ".dossier-*")
	if err != nil {
		return &failure{code: exitUsage, message: fmt.Sprintf("-o %s can't be written: %v", term.Line(file), pathError(err)), hint: "name a file in a folder that exists and is yours to write to"}
	}
	return errors.Join(probe.Close(), os.Remove(probe.Name()))
}

// run follows the run, whoever works on it.
func (f *follower) run(ctx context.Context) error {
	defer f.view.close()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer f.onInterrupt(f.interrupted(ctx, cancel))()
	end, err := f.stream(ctx)
	switch {
	case err == nil && end != nil:
		return end.err
	case err == nil:
		return f.result()
	case ctx.Err() != nil:
		f.view.pause()
		f.left()
		return context.Cause(ctx)
	}
	return err
}

// left tells how to come back to a run.
func (f *follower) left() {
	if !f.watching {
		f.notef("the run goes on later: dossier runs resume %s", f.rec.ID)
	}
}

// interrupted returns what Ctrl-C does: finish, then cancel, then leave.
func (f *follower) interrupted(ctx context.Context, leave context.CancelCauseFunc) func() {
	return func() {
		f.mu.Lock()
		f.stops++
		count := f.stops
		f.mu.Unlock()
		var err error
		switch {
		case f.watching || count > 2:
			leave(errInterrupted)
			return
		case count == 1:
			f.say(lang.Text(f.lang, "interrupt.finish"))
			err = f.link.Finish(ctx, f.rec.ID)
		default:
			f.say(lang.Text(f.lang, "interrupt.cancel"))
			err = f.link.Cancel(ctx, f.rec.ID)
		}
		if err != nil {
			f.log.Error("interrupt", "run", f.rec.ID, "error", err)
			leave(errInterrupted)
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.asking != nil {
			f.asking()
		}
	}
}

// say tells the user something while the run goes on.
func (f *follower) say(text string) {
	if v, ok := f.view.(*textView); ok {
		v.say(text)
		return
	}
	f.notef("%s", text)
}

// ending is how a command ends before its run does.
type ending struct{ err error }

// stream shows the events from the last one seen. It returns an ending when
// the run rests and the command does not wait for it.
func (f *follower) stream(ctx context.Context) (*ending, error) {
	if err := f.recall(ctx); err != nil {
		return nil, err
	}
	for ev, err := range f.link.Events(ctx, f.rec.ID, f.last) {
		if err != nil {
			return nil, err
		}
		if ev.Seq > 0 {
			f.last = ev.Seq
			f.record(ev)
			f.course.see(ev)
		}
		f.view.show(ev)
		if asked, ok := ev.Data.(event.ClarifyAsked); ok && !f.watching {
			if err := f.answerInTime(ctx, asked.ID); err != nil {
				return nil, err
			}
		}
		d, ok := ev.Data.(event.RunStatus)
		if !ok || f.watching {
			continue
		}
		switch run.Status(d.Status) {
		case run.Waiting:
			if end := f.answer(ctx); end != nil {
				return end, nil
			}
		case run.Paused:
			f.view.pause()
			f.notef("to go on: dossier runs resume %s", f.rec.ID)
			return &ending{exitWith(exitNotEnough)}, nil
		}
	}
	return nil, nil
}

// recall looks through what happened before the first event that is shown: it
// decides about the end as well.
func (f *follower) recall(ctx context.Context) error {
	if f.recalled || f.watching || f.last == 0 {
		return nil
	}
	log, err := f.link.Log(ctx, f.rec.ID, 0)
	if err != nil {
		return err
	}
	for _, ev := range log {
		if ev.Seq <= f.last {
			f.course.see(ev)
		}
	}
	f.recalled = true
	return nil
}

// record writes an event to the log file, with the kind as its step. What went
// wrong is written by whoever works on the run.
func (f *follower) record(ev event.Event) {
	switch ev.Data.(type) {
	case event.RunError, event.ModelFailed, event.SourceFailed:
		return
	}
	if !f.log.Enabled(context.Background(), slog.LevelInfo) {
		return
	}
	const most = 2000
	raw, err := event.EncodeData(ev.Data)
	if err != nil {
		return
	}
	text := string(raw)
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	logs.WithStep(f.log, string(ev.Kind())).Info(text, "run", ev.Run, "seq", ev.Seq, "agent", ev.Agent)
}

// answer gets the answers that the run waits for from the user. Without a user
// the run is left waiting.
func (f *follower) answer(ctx context.Context) *ending {
	f.view.pause()
	detail, err := f.link.Show(ctx, f.rec.ID)
	if err != nil {
		return &ending{err}
	}
	if detail.Record.Status != run.Waiting || len(detail.Asks) == 0 {
		return nil // somebody else was quicker
	}
	if !f.interactive() {
		for _, ask := range detail.Asks {
			for _, q := range ask.Questions {
				f.notef("the run asks: %s", term.Line(q))
			}
			if len(ask.Options) > 0 {
				f.notef("  possible answers: %s", term.Line(strings.Join(ask.Options, ", ")))
			}
		}
		f.notef("to answer: dossier runs answer %s TEXT", f.rec.ID)
		return &ending{exitWith(exitNotEnough)}
	}
	asking, stop := context.WithCancel(ctx)
	defer stop()
	f.asks(stop)
	for _, ask := range detail.Asks {
		text, err := f.prompt(asking, ask.Question)
		if err != nil && asking.Err() != nil && ctx.Err() == nil {
			return nil // the run was told to finish instead
		}
		if err != nil {
			return &ending{err}
		}
		if err := f.link.Answer(ctx, f.rec.ID, ask.ID, text); err != nil && !errors.Is(err, store.ErrAnswered) && !errors.Is(err, store.ErrNotWaiting) {
			return &ending{err}
		}
	}
	return nil
}

// asks says how Ctrl-C ends what the user is asked; nil where nothing is.
func (f *follower) asks(stop context.CancelFunc) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asking = stop
}

// answerInTime gets the answer to a question for which a run waits only a while,
// and is not parked meanwhile.
func (f *follower) answerInTime(ctx context.Context, id string) error {
	if f.config == nil || f.config.DeepResearch.ClarifyWait <= 0 || f.rec.Mode != deepResearchMode || !f.interactive() {
		return nil
	}
	detail, err := f.link.Show(ctx, f.rec.ID)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(detail.Asks, func(a dossier.Ask) bool { return a.ID == id })
	if i < 0 {
		return nil // it was answered
	}
	f.view.pause()
	asking, stop := context.WithTimeout(ctx, f.config.DeepResearch.ClarifyWait)
	defer stop()
	f.asks(stop)
	defer f.asks(nil)
	text, err := f.prompt(asking, detail.Asks[i].Question)
	if err != nil {
		return context.Cause(ctx) // time passed, or the input has ended: the run goes on
	}
	if err := f.link.Answer(ctx, f.rec.ID, id, text); err != nil && !errors.Is(err, store.ErrAnswered) && !errors.Is(err, store.ErrNotWaiting) {
		return err
	}
	return nil
}

// result is how the command ends once the run is over.
func (f *follower) result() error {
	rec, err := f.link.Get(context.Background(), f.rec.ID)
	if err != nil {
		return err
	}
	f.log.Info("run ended", "run", rec.ID, "status", rec.Status)
	if rec.Status == run.Done && f.watching {
		return nil
	}
	var r *report.Report
	if rec.Status == run.Done && searches(rec.Mode) {
		if r, err = f.link.Report(context.Background(), rec.ID); err != nil && !errors.Is(err, dossier.ErrNoReport) {
			return err
		}
	}
	v := judge(rec, f.course, r)
	if rec.Status == run.Failed {
		return f.failed(rec, v)
	}
	if v.note != "" {
		f.notef("%s", v.note)
	}
	if v.hint != "" {
		f.notef("hint: %s", term.Line(v.hint))
	}
	return exitWith(v.code)
}

// failed explains why a run failed and how to go on.
func (f *follower) failed(rec run.Record, v verdict) error {
	if rec.Failure == nil {
		return &failure{code: v.code, message: "the run failed", hint: "`dossier runs show " + rec.ID + "` shows how far it came"}
	}
	out := explain(&server.Problem{Code: rec.Failure.Code, Message: rec.Failure.Message, Hint: rec.Failure.Hint})
	resume := "dossier runs resume " + rec.ID
	if rec.Failure.Code == prompt.CodeNoModel {
		f.view.pause()
		fmt.Fprintf(f.proc.Stderr, "%s\n\n%s\n\n%s\n\n%s\n",
			lang.Text(f.lang, "no-model.title"), lang.Text(f.lang, "no-model.can"), lang.Text(f.lang, "no-model.connect"),
			lang.Text(f.lang, "run.resume", "command", resume))
		return exitWith(v.code)
	}
	out.code = v.code
	f.mu.Lock()
	if f.stops > 0 { // there was nothing to finish with
		out.code = exitCancelled
	}
	f.mu.Unlock()
	out.hint = strings.ReplaceAll(out.hint, "runs resume ID", "runs resume "+rec.ID)
	// What was asked wrongly stays so, and a tool is tried again by calling it.
	if !strings.Contains(out.hint, resume) && out.code != exitUsage && rec.Mode != toolcall.Name {
		out.hint = strings.TrimPrefix(out.hint+"; `"+resume+"` goes on where it stopped", "; ")
	}
	return out
}
