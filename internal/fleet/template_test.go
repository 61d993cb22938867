package fleet_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"dossier/internal/fleet"
	"dossier/run"
)

func TestTemplate(t *testing.T) {
	ctx := t.Context()
	f := newFleet(t, newStore())
	v, err := f.Create(ctx, "writer", fleet.Text{Document: "one", Note: "n", Author: "a"})
	ok(t, err)
	if v.N != 1 || v.State != fleet.Draft || v.Note != "n" || v.Author != "a" || v.Created.IsZero() {
		t.Fatalf("version: %+v", v)
	}
	_, err = f.Create(ctx, "writer", fleet.Text{Document: "one"})
	if !errors.Is(err, fleet.ErrExists) {
		t.Fatal(err)
	}
	says(t, err, "add a version")

	for _, text := range []string{"two", "three"} {
		_, added, err := f.AddVersion(ctx, "writer", fleet.Text{Document: text})
		if ok(t, err); !added {
			t.Fatal("not added")
		}
	}
	v, added, err := f.AddVersion(ctx, "writer", fleet.Text{Document: "three"})
	if ok(t, err); added || v.N != 3 {
		t.Fatalf("the same document: %v %+v", added, v)
	}

	published := func(want int) {
		t.Helper()
		_, v, err := f.Definition(ctx, "writer", 0)
		if ok(t, err); v.N != want {
			t.Fatalf("version %d is used, want %d", v.N, want)
		}
	}
	published(3)
	ok(t, f.Publish(ctx, "writer", 1))
	published(1)
	_, err = f.RollBack(ctx, "writer", 0)
	says(t, err, "no other version")
	ok(t, f.Publish(ctx, "writer", 2))
	_, err = f.RollBack(ctx, "writer", 2)
	says(t, err, "already")
	_, err = f.RollBack(ctx, "writer", 3)
	says(t, err, "never published")
	n, err := f.RollBack(ctx, "writer", 0)
	if ok(t, err); n != 1 {
		t.Fatalf("rolled back to %d", n)
	}
	published(1)
	n, err = f.RollBack(ctx, "writer", 2)
	if ok(t, err); n != 2 {
		t.Fatalf("rolled back to %d", n)
	}
	tm, err := f.Template(ctx, "writer")
	ok(t, err)
	var history []int
	for _, p := range tm.Publications {
		history = append(history, p.Version)
	}
	if want := []int{1, 2, 1, 2}; !reflect.DeepEqual(history, want) || len(tm.Versions) != 3 {
		t.Fatalf("publications %v, want %v; versions %+v", history, want, tm.Versions)
	}

	says(t, f.Deprecate(ctx, "writer", 2), "publish another first")
	ok(t, f.Deprecate(ctx, "writer", 1))
	ok(t, f.Deprecate(ctx, "writer", 0))
	_, err = f.Register(ctx, fleet.Instance{Template: "writer"})
	says(t, err, "deprecated", "publish")
	ok(t, f.Publish(ctx, "writer", 3))
	_, err = f.Register(ctx, fleet.Instance{Template: "writer", Version: 2})
	says(t, err, "version 2 is deprecated")
	i, err := f.Register(ctx, fleet.Instance{Template: "writer"})
	ok(t, err)
	err = f.Delete(ctx, "writer")
	if !errors.Is(err, fleet.ErrInUse) {
		t.Fatal(err)
	}
	says(t, err, "in use by an instance", "remove what uses it first")
	ok(t, f.Remove(ctx, i.ID))
	ok(t, f.Delete(ctx, "writer"))
}

func TestTemplateRefusals(t *testing.T) {
	ctx := t.Context()
	f := newFleet(t, newStore())
	_, err := f.Create(ctx, "writer", fleet.Text{Document: "one"})
	ok(t, err)
	for _, c := range []struct {
		name, document, want string
	}{
		{"", "x", "letters from a to z"},
		{"a b", "x", "letters from a to z"},
		{"привет", "x", "letters from a to z"},
		{"../x", "x", "letters from a to z"},
		{strings.Repeat("a", 65), "x", "1 to 64"},
		{"new", " \n", "empty"},
		{"new", "\xff\xfe", "UTF-8"},
		{"new", strings.Repeat("x", 1<<20+1), "bytes"},
		{"new", "tool: missing", "did you mean mission?"},
	} {
		_, err := f.Create(ctx, c.name, fleet.Text{Document: c.document})
		says(t, err, c.want)
	}
	_, _, err = f.AddVersion(ctx, "writer", fleet.Text{Document: "tool: missing"})
	says(t, err, "there is no tool")
	_, err = f.Version(ctx, "wirter", 0)
	if !errors.Is(err, fleet.ErrNoTemplate) {
		t.Fatal(err)
	}
	says(t, err, `did you mean "writer"?`)
	_, err = f.Version(ctx, "something-else", 0)
	if strings.Contains(err.Error(), "did you mean") {
		t.Fatal(err)
	}
	_, err = f.Version(ctx, "writer", 7)
	if !errors.Is(err, fleet.ErrNoVersion) {
		t.Fatal(err)
	}
	says(t, err, "1 to 1")
	says(t, f.Publish(ctx, "writer", 0), "which version")
	list, err := f.Templates(ctx)
	if ok(t, err); len(list) != 1 {
		t.Fatalf("templates: %+v", list)
	}
}

func TestDiff(t *testing.T) {
	ctx := t.Context()
	f := newFleet(t, newStore())
	_, err := f.Create(ctx, "writer", fleet.Text{Document: "name: w\nmodel: small\n"})
	ok(t, err)
	_, _, err = f.AddVersion(ctx, "writer", fleet.Text{Document: "name: w\nmodel: large\ntools: []"})
	ok(t, err)
	ok(t, f.Publish(ctx, "writer", 2))
	got, err := f.Diff(ctx, "writer", 1, 2)
	ok(t, err)
	want := `--- writer version 1 (draft)
+++ writer version 2 (published)
@@ -1,2 +1,3 @@
 name: w
-model: small
+model: large
+tools: []
\ No newline at end of file
`
	if got != want {
		t.Fatalf("got\n%s\nwant\n%s", got, want)
	}
	if got, err = f.Diff(ctx, "writer", 2, 2); err != nil || got != "" {
		t.Fatalf("%q %v", got, err)
	}
	_, err = f.Diff(ctx, "writer", 1, 3)
	says(t, err, "version 3")
}

func TestStats(t *testing.T) {
	ctx := t.Context()
	f := newFleet(t, newStore())
	_, err := f.Create(ctx, "writer", fleet.Text{Document: "one"})
	ok(t, err)
	stats, err := f.Stats(ctx, "writer")
	if ok(t, err); stats != nil {
		t.Fatalf("stats of no runs: %+v", stats)
	}
	half, full := 0.5, 1.0
	for _, o := range []fleet.Outcome{
		{Run: "a", Version: 2, Status: run.Done, Coverage: &half, Tokens: 100, Cost: 1, Time: time.Second, At: dawn},
		{Run: "b", Version: 2, Status: run.Failed, Tokens: 10, Cost: 0.25, Time: 3 * time.Second},
		{Run: "b", Version: 2, Status: run.Done, Coverage: &full, Tokens: 400, Cost: 2, Time: 2 * time.Second, At: dawn.Add(time.Hour)},
		{Run: "c", Version: 2, Status: run.Cancelled, Tokens: 40, Time: 9 * time.Second, At: dawn},
		{Run: "d", Version: 1, Status: run.Failed, At: dawn},
		{Run: "e", Version: 3, Status: run.Cancelled, At: dawn},
	} {
		o.Template = "writer"
		ok(t, f.Record(ctx, o))
	}
	stats, err = f.Stats(ctx, "writer")
	ok(t, err)
	zero, mean := 0.0, 0.75
	want := []fleet.VersionStats{
		{Version: 1, Runs: 1, Failed: 1, Success: &zero, Last: dawn},
		{
			Version: 2, Runs: 3, Done: 2, Cancelled: 1, Success: &full, Coverage: &mean, Covered: 2,
			Tokens: fleet.Spread[int]{Total: 540, Mean: 180, Median: 100},
			Cost:   fleet.Spread[float64]{Total: 3, Mean: 1, Median: 1},
			Time:   fleet.Spread[time.Duration]{Total: 12 * time.Second, Mean: 4 * time.Second, Median: 2 * time.Second},
			Last:   dawn.Add(time.Hour),
		},
		{Version: 3, Runs: 1, Cancelled: 1, Last: dawn},
	}
	if !reflect.DeepEqual(stats, want) {
		t.Fatalf("got\n%+v\nwant\n%+v", stats, want)
	}
	says(t, f.Record(ctx, fleet.Outcome{Run: "x", Template: "writer", Version: 1, Status: run.Waiting}), "waiting")
	says(t, f.Record(ctx, fleet.Outcome{Run: "x", Status: run.Done}), "needs")
	says(t, f.Record(ctx, fleet.Outcome{Run: "x", Template: "writers", Version: 1, Status: run.Done}), `did you mean "writer"?`)
	_, err = f.Stats(ctx, "writers")
	says(t, err, `did you mean "writer"?`)
}
