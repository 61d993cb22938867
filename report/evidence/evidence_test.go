package evidence

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"dossier/cite"
	"dossier/event"
	"dossier/lang"
	"dossier/report"
	"dossier/run"
)

func content(t testing.TB) Content {
	t.Helper()
	ledger, snapshots := cite.NewLedger(), cite.Snapshots{}
	texts := []string{"A heat pump works down to -25 °C. It is quiet.", "In the test it worked down to -15 °C only."}
	r := &report.Report{Version: report.Version, Run: "r7", Created: time.Date(2026, 11, 15, 5, 30, 0, 0, time.UTC), Question: "How cold?", Lang: lang.English, Kind: report.Research, Outcome: report.Answered, Summary: "Down to -25 °C [1]."}
	for i, text := range texts {
		s := ledger.Add(cite.Source{URI: "https://example.org/" + string(rune('a'+i)), Title: "Page", Kind: cite.Web})
		s, err := ledger.Read(s.Number, snapshots.Add(text))
		if err != nil {
			t.Fatal(err)
		}
		end := strings.Index(text, "°C") + len("°C")
		q, err := report.QuoteAt(s, snapshots[s.Snapshot], cite.Passage{Start: 0, End: end})
		if err != nil {
			t.Fatal(err)
		}
		r.Sections = append(r.Sections, report.Section{Title: "Part", Quotes: []report.Quote{q}})
		r.Claims = append(r.Claims, cite.Checked{Claim: cite.Claim{Text: "It does.", Sources: []int{s.Number}}, Verified: true, Passages: []cite.Passage{q.Passage}})
	}
	if err := r.Gather(ledger, snapshots); err != nil {
		t.Fatal(err)
	}
	c := Content{Report: r, Snapshots: map[string]string{}, Run: run.Record{ID: "r7"}}
	for hash, s := range snapshots {
		c.Snapshots[hash] = s.Text
	}
	for i, status := range []string{"running", "done"} {
		c.Events = append(c.Events, run.PlacedEvent{Place: "x", Event: event.Event{Run: "r7", Seq: int64(i + 1), Time: r.Created, Data: event.RunStatus{Status: status}}})
	}
	return c
}

func pack(t testing.TB, c Content) []byte {
	t.Helper()
	data, err := Pack(c)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestABundleIsAsItWas(t *testing.T) {
	data := pack(t, content(t))
	f, err := Verify(data)
	if err != nil || !f.OK() {
		t.Fatalf("%v %+v", err, f)
	}
	if f.Run != "r7" || f.Sources != 2 || f.Claims != 2 || f.Events != 2 || f.Quotes != 4 || f.Files != 11 {
		t.Errorf("%+v", f)
	}
	if !bytes.Equal(data, pack(t, content(t))) {
		t.Error("the same content gives two files")
	}
}

// One changed byte, wherever it is, is found; in a file, the file is named.
func TestOneChangedByte(t *testing.T) {
	data := pack(t, content(t))
	archive, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	within := func(at int) string {
		for _, f := range archive.File {
			start, err := f.DataOffset()
			if err != nil {
				t.Fatal(err)
			}
			if int64(at) >= start && int64(at) < start+int64(f.CompressedSize64) {
				return f.Name
			}
		}
		return ""
	}
	step := 3
	if testing.Short() {
		step = 17
	}
	named := 0
	for at := 0; at < len(data); at += step {
		changed := slices.Clone(data)
		changed[at] ^= 1
		f, err := Verify(changed)
		if err != nil && errors.Is(err, ErrNotABundle) && at > 0 {
			t.Errorf("byte %d: %v", at, err)
			continue
		}
		if f.OK() {
			t.Fatalf("byte %d (%q) was changed, and nothing is wrong", at, within(at))
		}
		for i, p := range f.Problems {
			if slices.Contains(f.Problems[:i], p) {
				t.Fatalf("byte %d: %+v is told twice", at, p)
			}
		}
		// What unpacks to the same text is a change of the archive.
		if name := within(at); name != "" && f.Problems[0].Wrong != Archive && !slices.ContainsFunc(f.Problems, func(p Problem) bool { return p.File == name }) {
			t.Errorf("byte %d of %s was changed, and %+v is wrong", at, name, f.Problems)
		} else if name != "" && f.Problems[0].Wrong != Archive {
			named++
		}
	}
	if named*step < len(data)/2 {
		t.Errorf("a file is named for %d bytes of %d", named*step, len(data))
	}
}

// Who packs anew what was changed is found out by what does not fit.
func TestWhatDoesNotFit(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(c *Content)
		want   Wrong
		file   string
	}{
		"a quote":           {func(c *Content) { c.Report.Sections[0].Quotes[0].Text = "A heat pump works down to -35 °C" }, Quote, reportName},
		"a span":            {func(c *Content) { c.Report.Sections[0].Quotes[0].Passage.Start = 2 }, Quote, reportName},
		"a citation":        {func(c *Content) { c.Report.Claims[0].Sources = []int{9} }, Claim, reportName},
		"a claim's passage": {func(c *Content) { c.Report.Claims[0].Passages[0].End = 999 }, Claim, reportName},
		"an event":          {func(c *Content) { c.Events = c.Events[1:] }, Gap, eventsName},
		"a text": {func(c *Content) {
			s := c.Report.Sources[0].Snapshot
			c.Snapshots[s] = strings.Replace(c.Snapshots[s], "25", "35", 1)
		}, Changed, ""},
		"no text": {func(c *Content) { delete(c.Snapshots, c.Report.Sources[0].Snapshot) }, Missing, ""},
	} {
		c := content(t)
		if tc.file == "" {
			tc.file = snapshotName(c.Report.Sources[0].Snapshot)
		}
		tc.change(&c)
		f, err := Verify(pack(t, c))
		if err != nil || !slices.ContainsFunc(f.Problems, func(p Problem) bool { return p.Wrong == tc.want && p.File == tc.file }) {
			t.Errorf("%s: %v %+v", name, err, f.Problems)
		}
	}
}

// repack changes the files of a bundle without sealing it.
func repack(t *testing.T, data []byte, change func(files map[string][]byte)) []byte {
	t.Helper()
	archive, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for _, f := range archive.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		if files[f.Name], err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
	}
	change(files)
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for name, text := range files {
		f, err := w.Create(name)
		if err == nil {
			_, err = f.Write(text)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestFilesAndManifest(t *testing.T) {
	data := pack(t, content(t))
	for name, tc := range map[string]struct {
		change func(files map[string][]byte)
		want   Problem
	}{
		"another file": {func(files map[string][]byte) { files["more.txt"] = []byte("x") }, Problem{File: "more.txt", Wrong: Unlisted}},
		"one less":     {func(files map[string][]byte) { delete(files, "report.md") }, Problem{File: "report.md", Wrong: Missing}},
		"another text": {func(files map[string][]byte) { files["report.md"] = []byte("x") }, Problem{File: "report.md", Wrong: Changed}},
		"no manifest":  {func(files map[string][]byte) { files[manifestName] = []byte("{") }, Problem{File: manifestName, Wrong: Broken, Detail: "unexpected end of JSON input"}},
		"no seal":      {func(map[string][]byte) {}, Problem{Wrong: Archive}},
	} {
		f, err := Verify(repack(t, data, tc.change))
		if err != nil || !slices.Contains(f.Problems, tc.want) {
			t.Errorf("%s: %v %+v", name, err, f.Problems)
		}
	}
	var m Manifest
	repack(t, data, func(files map[string][]byte) {
		if err := json.Unmarshal(files[manifestName], &m); err != nil || m.Run != "r7" || len(m.Files) != len(files)-1 {
			t.Errorf("%v %+v", err, m)
		}
	})
	for _, other := range []string{"", "text", "PK\x03\x04"} {
		if f, err := Verify([]byte(other)); err == nil && f.OK() {
			t.Errorf("%q was taken for a bundle", other)
		}
	}
	var plain bytes.Buffer
	w := zip.NewWriter(&plain)
	_, _ = w.Create("x")
	_ = w.Close()
	if _, err := Verify(plain.Bytes()); !errors.Is(err, ErrNotABundle) {
		t.Errorf("some zip: %v", err)
	}
}

func FuzzVerify(f *testing.F) {
	data := pack(f, content(f))
	f.Add(data)
	f.Add(data[:len(data)/2])
	f.Fuzz(func(_ *testing.T, data []byte) { _, _ = Verify(data) })
}

// FuzzFiles is FuzzVerify for bundles that were packed well: what lies in them is
// anything.
func FuzzFiles(f *testing.F) {
	data := pack(f, content(f))
	archive, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		f.Fatal(err)
	}
	files := new(Findings).unpack(archive, maxWhole)
	f.Add(files[reportName], files[spansName], files[eventsName])
	f.Fuzz(func(t *testing.T, report, spans, events []byte) {
		these := maps.Clone(files)
		these[reportName], these[spansName], these[eventsName] = report, spans, events
		var found Findings
		found.files(these)
		if found.OK() && found.Quotes > 0 && !bytes.Contains(report, []byte("quote")) && !bytes.Contains(report, []byte("passages")) {
			t.Errorf("%d quotes of a report without any", found.Quotes)
		}
	})
}
