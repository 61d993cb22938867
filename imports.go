package dossier

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"dossier/event"
	"dossier/mode"
	"dossier/report"
	"dossier/report/evidence"
	"dossier/run"
)

// MostImported is how large a bundle may be that is imported, in bytes, and
// mostUnpacked what may come out of it.
const (
	MostImported = 64 << 20
	mostUnpacked = 256 << 20
)

var errImported = errors.New("the run was imported")

// importedError says that a run is there to be read only.
func importedError(id string) error {
	return &UsageError{Message: fmt.Sprintf("run %s was imported: it is evidence of what was done elsewhere, and can't be carried out here", id), Hint: "ask its question again", Err: errImported}
}

// Import makes a bundle of evidence a run of a user's, with the report, the texts and
// the log that it has. A bundle with anything wrong is refused, with what that is. The
// run is there to be read: it is never carried out, and its report can be changed as
// that of any other.
func (e *Engine) Import(ctx context.Context, bundle []byte, user string) (run.Record, error) {
	if len(bundle) > MostImported {
		return run.Record{}, &UsageError{Message: fmt.Sprintf("the bundle has %d bytes, more than the %d that are taken", len(bundle), MostImported)}
	}
	c, found, err := evidence.Unpack(bundle, mostUnpacked)
	switch {
	case err != nil:
		return run.Record{}, &UsageError{Message: "this is not a bundle of evidence", Hint: "`dossier runs export ID -o FILE.zip` makes one", Err: err}
	case !found.OK():
		return run.Record{}, &UsageError{Message: "the bundle is not as it was when it was made: " + wrongs(found.Problems), Hint: "ask for it again where it comes from"}
	}
	rec, log, err := imported(c, user)
	if err != nil {
		return run.Record{}, &UsageError{Message: "the bundle can't be taken: " + err.Error()}
	}
	for _, text := range c.Snapshots {
		if _, err := e.store.PutBlob(ctx, []byte(text)); err != nil {
			return run.Record{}, err
		}
	}
	// What else was read stayed where it was.
	c.Report.Book = ""
	raw, err := report.JSON(c.Report)
	if err != nil {
		return run.Record{}, err
	}
	hash, err := e.store.PutBlob(ctx, raw)
	if err != nil {
		return run.Record{}, err
	}
	log = append(log, run.Afterword(&run.Record{LastSeq: int64(len(log))}, "import", event.ExportReady{Format: "json", Hash: hash, Bytes: int64(len(raw))}))
	if err := e.store.Create(ctx, rec, nil, log); err != nil {
		return run.Record{}, fmt.Errorf("importing the run: %w", err)
	}
	return e.store.Run(ctx, rec.ID)
}

// imported is the record and the log of a run that a bundle tells of.
func imported(c *evidence.Content, user string) (run.Record, []run.PlacedEvent, error) {
	now := time.Now()
	was := &c.Run
	rec := run.Record{
		ID: newID(now), User: user, Mode: was.Mode, Title: title(c.Report.Question), Status: was.Status, Failure: was.Failure,
		Created: now, Active: was.Active, Spent: was.Spent,
	}
	rec.Session = rec.ID
	if !rec.Status.Ended() {
		rec.Status = run.Cancelled // it went on there, and does not here
	}
	if len(rec.Mode) > 100 {
		return rec, nil, errors.New("its mode has no name")
	}
	places := map[string]bool{}
	for i := range c.Events {
		e := &c.Events[i]
		if e.Data == nil || e.Transient() || e.Place == "" || places[e.Place] {
			return rec, nil, fmt.Errorf("event %d does not fit into a log", e.Seq)
		}
		places[e.Place] = true
	}
	var err error
	rec.Request, err = json.Marshal(mode.Request{Question: c.Report.Question, Imported: was.ID, Settings: json.RawMessage("{}")})
	return rec, c.Events, err
}

// wrongs tells what is wrong with a bundle, the first few things of it.
func wrongs(problems []evidence.Problem) string {
	const most = 3
	var out []string
	for _, p := range problems[:min(len(problems), most)] {
		text := strings.TrimSpace(p.File + " " + string(p.Wrong))
		if p.Detail != "" {
			text += ": " + p.Detail
		}
		out = append(out, text)
	}
	if more := len(problems) - most; more > 0 {
		out = append(out, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(out, "; ")
}
