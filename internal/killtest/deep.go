package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"dossier/event"
	"dossier/internal/store/sqlite"
	"dossier/internal/studytest"
	"dossier/internal/webtest"
	"dossier/llm/llmtest"
	"dossier/run"
)

// inquiry is a deep research that is killed.
type inquiry struct {
	engine, question string
	// script is the model, as long as a child waits for it; turns are those of
	// the run, whichever child works on it.
	script func(turns *studytest.InTurn, left <-chan struct{}) llmtest.Script
}

// inquiries are one for each engine.
func inquiries() []inquiry {
	return []inquiry{
		{"supervisor", studytest.TeamQuestion, func(turns *studytest.InTurn, left <-chan struct{}) llmtest.Script {
			return llmtest.Script{Rules: turns.Team(studytest.TheTeam, left).Rules()}
		}},
		{"loop", studytest.TownQuestion, func(*studytest.InTurn, <-chan struct{}) llmtest.Script {
			return llmtest.Script{Rules: studytest.TownScholar.Rules()}
		}},
	}
}

// studied is what a run of a database has come to.
type studied struct {
	status  run.Status
	report  string
	told    string // its events, those of each branch together
	calls   int    // of the model that are recorded
	entries int
	spent   run.Spent
}

// deep has children research and kills them at random moments, one after the
// other at the same run, until it is done; then at another one. After each kill
// a copy of the run is finished in peace: its report has to be that of a run
// that nobody disturbed, and its model is asked as often as calls were not
// recorded yet, no more and no less.
func (t *test) deep(ctx context.Context) (bool, error) {
	fmt.Fprintf(t.out, "killing deep research %d times with each engine, seed %d\n", t.cycles, t.seed)
	good := true
	for n, q := range inquiries() {
		ok, err := t.inquire(ctx, q, rand.New(rand.NewPCG(t.seed, uint64(n))))
		if err != nil {
			return false, fmt.Errorf("%s: %w", q.engine, err)
		}
		good = good && ok
	}
	return good, nil
}

func (t *test) inquire(ctx context.Context, q inquiry, draw *rand.Rand) (bool, error) {
	web, err := webtest.Start(webtest.Options{Loopback: true, Slow: time.Millisecond})
	if err != nil {
		return false, err
	}
	defer web.Close()
	d := &deepTest{test: t, inquiry: q, web: web, draw: draw}
	if err := d.calmly(ctx); err != nil {
		return false, err
	}
	for d.kills < t.cycles {
		if d.runs > 4*t.cycles+20 {
			return false, errors.New("the children end before they can be killed")
		}
		if err := d.disturb(ctx); err != nil {
			return false, err
		}
	}
	fmt.Fprintf(t.out, "%s: %d model calls, %d searches, %d pages, a report of %d words; killed %d times at %d runs, with %d to %d of %d entries recorded; %d calls were cut off by a kill before they were recorded\n",
		q.engine, d.want.calls, d.want.spent.Searches, d.want.spent.Pages, len(strings.Fields(d.want.report)), d.kills, d.runs, d.least, d.most, d.want.entries, d.cut)
	fmt.Fprintf(t.out, "%s: kills=%d repeated_calls=%d reports_equal=%t logs_equal=%t\n", q.engine, d.kills, d.repeated, d.otherReports == 0, d.otherLogs == 0)
	return d.repeated == 0 && d.otherReports == 0 && d.otherLogs == 0, nil
}

// deepTest is the test of one engine.
type deepTest struct {
	*test
	inquiry
	web  *webtest.Web
	draw *rand.Rand

	want   studied       // undisturbed
	lasted time.Duration // how long that took

	runs, kills, cut                  int
	least, most                       int // entries that a kill left
	repeated, otherReports, otherLogs int
}

// model starts a scripted model for one child.
func (d *deepTest) model(turns *studytest.InTurn, left <-chan struct{}) (*llmtest.Server, *httptest.Server) {
	srv := llmtest.New(d.script(turns, left))
	return srv, httptest.NewServer(srv)
}

func (d *deepTest) order(dir, model string) order {
	o := &outside{errand: errand{searching: searching{Mode: "deep_research", Question: d.question}}, web: d.web}
	told := o.order(dir, model)
	told.Search.Set["deep_research.engine"] = d.engine
	return told
}

// calmly has a child research in peace.
func (d *deepTest) calmly(ctx context.Context) error {
	dir, err := d.folder("calm")
	if err != nil {
		return err
	}
	srv, http := d.model(new(studytest.InTurn), nil)
	defer http.Close()
	cmd, said, err := d.start(ctx, d.order(dir, http.URL))
	if err != nil {
		return err
	}
	var begun time.Time
	for line := range said {
		if line == sayWorking {
			begun = time.Now()
		}
	}
	d.lasted = time.Since(begun)
	if err := cmd.Wait(); err != nil {
		return err
	}
	d.want, err = outcome(ctx, dir)
	if err == nil && (d.want.status != run.Done || d.want.calls != len(srv.Calls()) || d.want.calls < 10 || d.want.report == "") {
		err = fmt.Errorf("undisturbed it is %s, with %d calls of which %d are recorded", d.want.status, len(srv.Calls()), d.want.calls)
	}
	return err
}

func (d *deepTest) folder(name string) (string, error) {
	dir := filepath.Join(d.dir, d.engine+"-"+name)
	return dir, os.MkdirAll(dir, 0o700)
}

// killsPerRun is how often one run is killed at most: the first time somewhere in
// all of its time, then again and again on its way from there.
const killsPerRun = 5

// disturb has children work on one run and kills them.
func (d *deepTest) disturb(ctx context.Context) error {
	d.runs++
	dir, err := d.folder(fmt.Sprintf("run-%d", d.runs))
	if err != nil {
		return err
	}
	turns := new(studytest.InTurn)
	recorded := 0
	for n := 0; n < killsPerRun && d.kills < d.cycles; n++ {
		longest := d.lasted
		if n > 0 {
			longest /= 2
		}
		patience := time.Duration(d.draw.Int64N(int64(longest)))
		ended, made, err := d.work(ctx, dir, turns, patience)
		if err != nil {
			return err
		}
		now, err := outcome(ctx, dir)
		if err != nil {
			return err
		}
		if ended {
			return d.check(fmt.Sprintf("run %d", d.runs), now, made, recorded)
		}
		if now.status.Ended() {
			return nil // killed when all was done
		}
		d.kills++
		d.cut += made - (now.calls - recorded)
		recorded = now.calls
		d.most = max(d.most, now.entries)
		if d.least == 0 || now.entries < d.least {
			d.least = now.entries
		}
		if err := d.finishCopy(ctx, dir, turns.Clone(), recorded); err != nil {
			return fmt.Errorf("after kill %d: %w", d.kills, err)
		}
		fmt.Fprintf(d.errs, "\r%s: %d kills", d.engine, d.kills)
		if d.kills == d.cycles {
			fmt.Fprintln(d.errs)
		}
	}
	return nil
}

// work has a child work on the run and kills it after a while, unless it has
// ended before. It returns how often the child called its model.
func (d *deepTest) work(ctx context.Context, dir string, turns *studytest.InTurn, patience time.Duration) (ended bool, calls int, err error) {
	left := make(chan struct{})
	srv, http := d.model(turns, left)
	defer http.Close()
	cmd, said, err := d.start(ctx, d.order(dir, http.URL))
	if err != nil {
		close(left)
		return false, 0, err
	}
	for line := range said {
		if line == sayWorking {
			break
		}
	}
	select {
	case _, more := <-said:
		ended = !more
	case <-time.After(patience): // the moment is what is random here
	}
	if ended {
		err = cmd.Wait()
	} else {
		err = kill(cmd)
		if cmd.ProcessState != nil && cmd.ProcessState.Success() { // at the same moment
			ended, err = true, nil
		}
	}
	close(left)
	return ended, len(srv.Calls()), err
}

// finishCopy has a child finish a copy of a run that was killed, and checks it.
func (d *deepTest) finishCopy(ctx context.Context, dir string, turns *studytest.InTurn, recorded int) error {
	whole := filepath.Join(d.dir, d.engine+"-copy")
	if err := errors.Join(os.RemoveAll(whole), copyFolder(whole, dir)); err != nil {
		return err
	}
	srv, http := d.model(turns, nil)
	defer http.Close()
	if err := d.finish(ctx, d.order(whole, http.URL)); err != nil {
		return err
	}
	got, err := outcome(ctx, whole)
	if err != nil {
		return err
	}
	return d.check(fmt.Sprintf("kill %d", d.kills), got, len(srv.Calls()), recorded)
}

// check holds a finished run against the undisturbed one. The last child has made
// so many calls, and so many were recorded before.
func (d *deepTest) check(name string, got studied, made, recorded int) error {
	if got.status != run.Done {
		return fmt.Errorf("%s: the run is %s", name, got.status)
	}
	if due := d.want.calls - recorded; made != due || got.calls != d.want.calls {
		d.repeated += max(1, made-due)
		fmt.Fprintf(d.out, "%s: %d calls, %d were left to do; %d are recorded, of %d\n", name, made, due, got.calls, d.want.calls)
	}
	if got.report != d.want.report {
		d.otherReports++
		fmt.Fprintf(d.out, "%s: the report says otherwise: %s\n", name, differs(got.report, d.want.report))
	}
	if got.told != d.want.told {
		d.otherLogs++
		fmt.Fprintf(d.out, "%s: the log says otherwise: %s\n", name, differs(got.told, d.want.told))
	}
	return nil
}

// outcome reads what a run has come to.
func outcome(ctx context.Context, dir string) (studied, error) {
	var got studied
	err := within(ctx, dir, func(s *sqlite.Store, rec run.Record) error {
		got.status, got.spent = rec.Status, rec.Spent
		h, err := s.History(ctx, rec.ID)
		if err != nil {
			return err
		}
		got.entries = len(h.Entries)
		for _, e := range h.Entries {
			got.calls += e.Spent.Calls
		}
		events, err := s.Events(ctx, rec.ID, 0, 0)
		if err != nil {
			return err
		}
		slices.SortStableFunc(events, func(a, b run.PlacedEvent) int { return strings.Compare(a.Agent, b.Agent) })
		normal := strings.NewReplacer(rec.ID, "RUN", dir, "DATA")
		var told strings.Builder
		for _, e := range events {
			switch d := e.Data.(type) {
			case event.RunStatus, event.RunError, event.Usage, event.ExportReady:
				continue // of its fate, and of who was faster
			case event.Message:
				got.report = normal.Replace(d.Text)
			}
			line, err := spoken(e.Event, normal)
			if err != nil {
				return err
			}
			told.WriteString(line)
		}
		got.told = told.String()
		return nil
	})
	return got, err
}

// copyFolder copies the files of a folder; sockets stay where they are.
func copyFolder(to, from string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		switch {
		case d.IsDir():
			return os.MkdirAll(filepath.Join(to, name), 0o700)
		case d.Type().IsRegular():
			raw, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(to, name), raw, 0o600)
		}
		return nil
	})
}
