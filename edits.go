package dossier

import (
	"context"
	"errors"
	"fmt"
	"time"

	"dossier/cite"
	"dossier/event"
	"dossier/report"
	"dossier/run"
)

// ReportChange is what a person changes in the text of a finished report: a
// paragraph or a sentence, in Markdown with [n] for source n.
type ReportChange struct {
	// Part is text, summary, conclusion, or the number of a section from 1.
	Part string `json:"part"`
	// Before is the stretch as it is, After what it is to be; empty takes it out.
	Before string `json:"before"`
	After  string `json:"after"`
}

// The changes that event.ReportEdited tells of.
const (
	edited  = "edit"
	checked = "check"
	undone  = "undo"
)

// EditReport changes the text of a run's report. Sentences that are new in it are
// marked as unchecked until CheckReport; what the report was before stays in the log.
func (e *Engine) EditReport(ctx context.Context, id string, c ReportChange) (*report.Report, error) {
	told := event.ReportEdited{Change: edited, Part: c.Part, Before: c.Before, After: c.After}
	return e.revise(ctx, id, told, func(r *report.Report, from *report.Evidence) error {
		err := r.Edit(ctx, from, report.Edit{Part: c.Part, Before: c.Before, After: c.After, Made: time.Now().UTC().Truncate(time.Second)})
		if errors.Is(err, report.ErrNotThere) {
			return &UsageError{Message: err.Error(), Hint: "it may have been changed meanwhile: look at the report again, and name the text as it is there"}
		}
		if err != nil && ctx.Err() == nil {
			return &UsageError{Message: err.Error()}
		}
		return err
	})
}

// CheckReport holds the sentences that people wrote into a report against its stored
// evidence, as the sentences of the run were. Those that a passage bears out get
// their marks.
func (e *Engine) CheckReport(ctx context.Context, id string) (*report.Report, error) {
	return e.revise(ctx, id, event.ReportEdited{Change: checked}, func(r *report.Report, from *report.Evidence) error {
		return r.Recheck(ctx, from)
	})
}

// UndoEdit takes the last change of a report back; again and again, until it is as
// the run left it.
func (e *Engine) UndoEdit(ctx context.Context, id string) (*report.Report, error) {
	return e.revise(ctx, id, event.ReportEdited{Change: undone}, nil)
}

// revise makes another version of a report and tells of it in the log; without a
// change it is the one before the last.
func (e *Engine) revise(ctx context.Context, id string, told event.ReportEdited, change func(*report.Report, *report.Evidence) error) (*report.Report, error) {
	for {
		rec, err := e.Get(ctx, id)
		if err != nil {
			return nil, err
		}
		if !rec.Status.Ended() {
			return nil, &UsageError{Message: fmt.Sprintf("run %s is %s: its report can be changed when it is over", rec.ID, rec.Status)}
		}
		versions, err := e.versions(ctx, rec.ID)
		if err != nil {
			return nil, err
		}
		now := versions[len(versions)-1]
		if change == nil {
			if len(versions) == 1 {
				return nil, &UsageError{Message: fmt.Sprintf("the report of run %s is as the run left it", rec.ID)}
			}
			now = versions[len(versions)-2]
		}
		r, err := e.reportIn(ctx, rec.ID, now)
		if err != nil {
			return nil, err
		}
		if change != nil {
			from, err := e.evidenceOf(ctx, rec.ID, versions[0])
			if err == nil {
				err = change(r, from)
			}
			if err != nil {
				return nil, err
			}
		}
		raw, err := report.JSON(r)
		if err != nil {
			return nil, err
		}
		if told.Hash, err = e.store.PutBlob(ctx, raw); err != nil {
			return nil, err
		}
		told.Bytes, told.Edits, told.Unchecked = int64(len(raw)), len(r.Edits), len(r.Unchecked())
		told.Answer, told.Citations = report.Plain(r)
		word := run.Afterword(&rec, "edit", told)
		switch err = e.store.Append(ctx, rec.ID, word); {
		case errors.Is(err, run.ErrChanged): // somebody else was faster
			continue
		case err == nil:
			e.work.Tell(word.Event)
		}
		return r, err
	}
}

// evidenceOf is what the report with that hash was made from.
func (e *Engine) evidenceOf(ctx context.Context, id, hash string) (*report.Evidence, error) {
	r, err := e.reportIn(ctx, id, hash)
	if err != nil {
		return nil, err
	}
	texts, err := e.textsOf(ctx, r)
	if err != nil {
		return nil, err
	}
	from := &report.Evidence{Sources: r.Sources, Snapshots: cite.Snapshots{}}
	for _, text := range texts {
		from.Snapshots.Add(text)
	}
	return from, nil
}

// versions are the hashes of a run's report from what the run left to what it is now.
// It fails with ErrNoReport.
func (e *Engine) versions(ctx context.Context, id string) ([]string, error) {
	log, err := e.store.Events(ctx, id, 0, 0)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, ev := range log {
		switch d := ev.Data.(type) {
		case event.ExportReady:
			if d.Format == "json" {
				out = []string{d.Hash}
			}
		case event.ReportEdited:
			if d.Change == undone && len(out) > 1 {
				out = out[:len(out)-1]
			} else if d.Change != undone {
				out = append(out, d.Hash)
			}
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%w: %s", ErrNoReport, id)
	}
	return out, nil
}

// Compare says what is different between the reports of two runs.
func (e *Engine) Compare(ctx context.Context, before, after string) (Comparison, error) {
	old, err := e.Report(ctx, before)
	if err != nil {
		return Comparison{}, err
	}
	rec, err := e.Get(ctx, after)
	if err != nil {
		return Comparison{}, err
	}
	r, err := e.reportOf(ctx, rec.ID)
	if err != nil {
		return Comparison{}, err
	}
	r.Changes = report.Compare(old, r)
	return Comparison{Run: rec.ID, Made: r.Created, Changes: r.Changes, Told: r.Told()}, nil
}
