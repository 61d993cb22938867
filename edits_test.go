package dossier

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"dossier/cite"
	"dossier/event"
	"dossier/internal/store/memory"
	"dossier/report"
	"dossier/report/evidence"
	"dossier/run"
)

// researched is an engine with a finished deep research.
func researched(t *testing.T) (*Engine, run.Record) {
	t.Helper()
	s := townScholar
	e, _ := startLoop(t, &s)
	log := follow(t, e, onTheWeb("deep_research", oststrandQuestion))
	rec, err := e.Get(t.Context(), log[0].Run)
	if err != nil || rec.Status != run.Done {
		t.Fatalf("%s: %v", rec.Status, err)
	}
	return e, rec
}

func bundleOf(t *testing.T, e *Engine, id string) []byte {
	t.Helper()
	r, err := e.Report(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	texts, err := e.Snapshots(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	all, err := e.Export(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	data, err := evidence.Pack(evidence.Content{Report: r, Snapshots: texts, Run: all.Run, Events: all.Events})
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// A finished report is edited, checked and put back as it was; the log keeps all of
// it, the run still replays, and every form of the report tells the truth.
func TestReportsAreEdited(t *testing.T) {
	e, rec := researched(t)
	r, err := e.Report(t.Context(), rec.ID)
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(r.Claims, func(c cite.Checked) bool {
		return c.Verified && strings.Contains(r.Sections[0].Text, strings.TrimSuffix(c.Text, "."))
	})
	if at < 0 {
		t.Fatalf("no sentence of %q is borne out", r.Sections[0].Text)
	}
	sentence := strings.TrimSuffix(r.Claims[at].Text, ".")
	covered := r.Coverage.Claims.Covered
	made, err := e.EditReport(t.Context(), rec.ID, ReportChange{Part: "1", Before: sentence, After: "They say that " + sentence})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(made.Unchecked()); n != 1 || made.Coverage.Claims.Covered != covered-1 {
		t.Errorf("%d unchecked, %d of %d covered", n, made.Coverage.Claims.Covered, covered)
	}
	for _, f := range []Format{Markdown, HTML, JSON} {
		out, err := Render(made, f, nil)
		if err != nil || !bytes.Contains(out.Data, []byte("They say that ")) || !bytes.Contains(out.Data, []byte("[?]")) {
			t.Errorf("%s does not show what was edited: %v", f, err)
		}
	}
	for _, f := range []Format{DOCX, PDF} {
		if out, err := Render(made, f, nil); err != nil || len(out.Data) == 0 {
			t.Errorf("%s: %v", f, err)
		}
	}
	found, err := evidence.Verify(bundleOf(t, e, rec.ID))
	if err != nil || !found.OK() || len(found.Edited) != 1 || !strings.HasPrefix(found.Edited[0], "They say that ") || found.Claims != covered-1 {
		t.Errorf("a bundle with an edited sentence: %v %+v", err, found)
	}
	// The log tells of it behind the end, and a replay passes over it.
	log, err := e.Log(t.Context(), rec.ID, rec.LastSeq)
	if err != nil || len(log) != 1 {
		t.Fatalf("%v %+v", err, log)
	}
	if d, ok := log[0].Data.(event.ReportEdited); !ok || d.Change != "edit" || d.Unchecked != 1 || !strings.Contains(d.Answer, "They say that ") || len(d.Citations) == 0 {
		t.Errorf("%+v", log[0])
	}
	if _, err := e.Replay(t.Context(), rec.ID); err != nil {
		t.Error(err)
	}
	var seen []event.Event
	for ev, err := range e.Events(t.Context(), rec.ID, rec.LastSeq) {
		if err != nil {
			t.Fatal(err)
		}
		seen = append(seen, ev)
	}
	if len(seen) != 1 {
		t.Errorf("a follower sees %d events behind the end", len(seen))
	}
	// Checked, it is borne out again or said not to be; undone twice, all is as it was.
	if made, err = e.CheckReport(t.Context(), rec.ID); err != nil || len(made.Unchecked()) != 0 {
		t.Errorf("%v, %q", err, made.Unchecked())
	}
	for range 2 {
		if made, err = e.UndoEdit(t.Context(), rec.ID); err != nil {
			t.Fatal(err)
		}
	}
	if report.Markdown(made) != report.Markdown(r) {
		t.Errorf("undone, it is\n%s", report.Markdown(made))
	}
	if _, err := e.UndoEdit(t.Context(), rec.ID); err == nil {
		t.Error("there is nothing left to undo")
	}
	if _, err := e.EditReport(t.Context(), rec.ID, ReportChange{Part: "1", Before: "not there at all", After: "x"}); err == nil {
		t.Error("what is not there can't be changed")
	}
}

// What one installation has bundled another one takes in as a run to be read. A bundle
// with a changed byte it does not take, and it says why.
func TestBundlesAreImported(t *testing.T) {
	e, rec := researched(t)
	data := bundleOf(t, e, rec.ID)
	other := engine(t, memory.New(memory.Options{}), nil)
	changed := bytes.Clone(data)
	changed[len(changed)/2] ^= 1
	for name, bad := range map[string][]byte{"a changed byte": changed, "no bundle": []byte("hello"), "nothing": nil} {
		if _, err := other.Import(t.Context(), bad, "ann"); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
	if list, err := other.List(t.Context(), Filter{}); err != nil || len(list) > 0 {
		t.Fatalf("what was refused has left %v %v", list, err)
	}
	in, err := other.Import(t.Context(), data, "ann")
	if err != nil {
		t.Fatal(err)
	}
	if in.ID == rec.ID || in.User != "ann" || in.Status != run.Done || in.Mode != rec.Mode || in.Title != rec.Title || time.Since(in.Created) > time.Hour {
		t.Errorf("%+v", in)
	}
	r, err := e.Report(t.Context(), rec.ID)
	if err != nil {
		t.Fatal(err)
	}
	again, err := other.Report(t.Context(), in.ID)
	if err != nil || report.Markdown(again) != report.Markdown(r) {
		t.Errorf("%v: the report is another", err)
	}
	if found, err := evidence.Verify(bundleOf(t, other, in.ID)); err != nil || !found.OK() {
		t.Errorf("bundled again: %v %+v", err, found)
	}
	if list, err := other.List(t.Context(), Filter{Text: "Oststrand", User: "ann"}); err != nil || len(list) != 1 {
		t.Errorf("it is not found: %v %v", list, err)
	}
	// It is evidence: nobody carries it out.
	if err := other.Resume(t.Context(), in.ID, ResumeOptions{}); err == nil || !strings.Contains(err.Error(), "imported") {
		t.Errorf("resumed: %v", err)
	}
	if _, err := other.Replay(t.Context(), in.ID); err == nil {
		t.Error("replayed")
	}
	if changes, err := other.Compare(t.Context(), in.ID, in.ID); err != nil || !changes.Changes.None() {
		t.Errorf("against itself: %v %+v", err, changes)
	}
	if err := other.Delete(t.Context(), in.ID); err != nil {
		t.Error(err)
	}
}

func TestTags(t *testing.T) {
	e := engine(t, memory.New(memory.Options{}), nil)
	rec, err := e.Start(t.Context(), ask("x"))
	if err != nil {
		t.Fatal(err)
	}
	if now, err := e.Tag(t.Context(), rec.ID, []string{" new  bridges ", "a", "a"}); err != nil || !slices.Equal(now, []string{"a", "new bridges"}) {
		t.Errorf("%q %v", now, err)
	}
	for _, bad := range [][]string{{""}, {"\x00"}, {strings.Repeat("x", 60)}, strings.Split(strings.Repeat("x ", 30)+"y", "")} {
		if _, err := e.Tag(t.Context(), rec.ID, bad); err == nil {
			t.Errorf("%q are taken", bad)
		}
	}
	if list, err := e.List(t.Context(), Filter{Tag: "new bridges"}); err != nil || len(list) != 1 || len(list[0].Tags) != 2 {
		t.Errorf("%v %v", list, err)
	}
}

// Whoever stays with a run that is over hears of each change when it is made, once;
// whoever comes later and knows the first hears of the second.
func TestEditsReachThoseWhoStay(t *testing.T) {
	e, rec := researched(t)
	r, err := e.Report(t.Context(), rec.ID)
	if err != nil {
		t.Fatal(err)
	}
	heard := func(after int64, over func(event.Event)) (said []string, last int64) {
		t.Helper()
		for ev, err := range e.Stay(t.Context(), rec.ID, after) {
			if err != nil {
				t.Fatal(err)
			}
			if last != 0 && ev.Seq != last+1 {
				t.Errorf("%d comes after %d", ev.Seq, last)
			}
			last = ev.Seq
			if d, ok := ev.Data.(event.ReportEdited); ok {
				said = append(said, d.Change)
				if len(said) == 2 || after > 0 {
					return said, last
				}
			}
			over(ev)
		}
		return said, last
	}
	said, last := heard(0, func(ev event.Event) {
		if ev.Seq == rec.LastSeq {
			if _, err := e.EditReport(t.Context(), rec.ID, ReportChange{Part: "summary", Before: r.Summary, After: "It is made of cheese."}); err != nil {
				t.Fatal(err)
			}
			if _, err := e.UndoEdit(t.Context(), rec.ID); err != nil {
				t.Fatal(err)
			}
		}
	})
	if !slices.Equal(said, []string{edited, undone}) {
		t.Errorf("%q", said)
	}
	if said, again := heard(last-1, func(event.Event) {}); !slices.Equal(said, []string{undone}) || again != last {
		t.Errorf("%q at %d", said, again)
	}
}
