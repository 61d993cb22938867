package evidence

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"dossier/cite"
	"dossier/report"
	"dossier/run"
)

// ErrNotABundle says that a file is no bundle of evidence.
var ErrNotABundle = errors.New("not a bundle of evidence")

// Wrong is what can be wrong with a bundle.
type Wrong string

// What can be wrong.
const (
	Archive  Wrong = "archive"  // what is around the files was changed
	Changed  Wrong = "changed"  // a file is not what the manifest says
	Missing  Wrong = "missing"  // a file that is listed is not there
	Unlisted Wrong = "unlisted" // a file is there that is not listed
	Broken   Wrong = "broken"   // a file can't be read for what it is
	Quote    Wrong = "quote"    // a quote does not stand where the report says
	Claim    Wrong = "claim"    // a sentence cites what is not there
	Gap      Wrong = "gap"      // events are missing
)

// Problem is one thing that is wrong, and in which file of the bundle.
type Problem struct {
	File   string `json:"file"`
	Wrong  Wrong  `json:"wrong"`
	Detail string `json:"detail,omitempty"`
}

// Findings are what the check of a bundle came to.
type Findings struct {
	Run      string `json:"run"`
	Question string `json:"question"`
	Files    int    `json:"files"`
	Sources  int    `json:"sources"`
	Quotes   int    `json:"quotes"`
	Claims   int    `json:"claims"` // sentences that are borne out by a passage
	Events   int    `json:"events"`
	// Edited are sentences that a person wrote afterwards and nobody has checked.
	Edited   []string  `json:"edited,omitempty"`
	Problems []Problem `json:"problems,omitempty"`
}

// OK reports whether nothing is wrong.
func (f *Findings) OK() bool { return len(f.Problems) == 0 }

// wrong notes what is wrong, once however often it is met.
func (f *Findings) wrong(file string, w Wrong, detail string) {
	if p := (Problem{file, w, detail}); !slices.Contains(f.Problems, p) {
		f.Problems = append(f.Problems, p)
	}
}

const (
	maxFile  = 256 << 20 // bytes of one file, unpacked
	maxWhole = 1 << 30   // and of all
	maxFiles = 100_000
)

// Verify checks a bundle: the hash of every file and the seal over all, every
// quote in its text at its place, what sentences cite, and that no event is
// missing. It fails with ErrNotABundle.
func Verify(data []byte) (Findings, error) {
	f, _, err := verify(data, maxWhole)
	return f, err
}

// Unpack is Verify of a bundle of so many bytes at most, unpacked, and returns what it
// is made of if nothing is wrong with it.
func Unpack(data []byte, most int64) (*Content, Findings, error) {
	f, files, err := verify(data, most)
	if err != nil || !f.OK() {
		return nil, f, err
	}
	c := &Content{Snapshots: map[string]string{}}
	if c.Report, err = report.Parse(files[reportName]); err == nil {
		err = json.Unmarshal(files[runName], &c.Run)
	}
	if err != nil {
		f.wrong(runName, Broken, err.Error())
		return nil, f, nil
	}
	for line := range bytes.Lines(files[eventsName]) {
		var e run.PlacedEvent
		_ = json.Unmarshal(line, &e) // it was read before
		c.Events = append(c.Events, e)
	}
	for i := range c.Report.Sources {
		if hash := c.Report.Sources[i].Snapshot; hash != "" {
			c.Snapshots[hash] = string(files[snapshotName(hash)])
		}
	}
	return c, f, nil
}

// verify checks a bundle of so many bytes at most, unpacked, and returns its files.
func verify(data []byte, most int64) (Findings, map[string][]byte, error) {
	var f Findings
	archive, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		if !bytes.HasPrefix(data, []byte("PK")) && !bytes.Contains(data, []byte(sealSign)) {
			return f, nil, fmt.Errorf("%w: %w", ErrNotABundle, err)
		}
		f.wrong("", Archive, err.Error())
		return f, nil, nil
	}
	if len(archive.File) > maxFiles || !slices.ContainsFunc(archive.File, func(file *zip.File) bool { return file.Name == manifestName }) && !strings.HasPrefix(archive.Comment, sealSign[:8]) {
		return f, nil, ErrNotABundle
	}
	files := f.unpack(archive, most)
	f.manifest(files)
	if f.OK() && !sealed(data) {
		f.wrong("", Archive, "")
	}
	f.files(files)
	return f, files, nil
}

// files checks what the files of a bundle say.
func (f *Findings) files(files map[string][]byte) {
	r := f.report(files[reportName])
	f.spans(files)
	f.events(files[eventsName])
	if r != nil {
		f.content(r, files)
	}
}

// unpack reads the files of the archive.
func (f *Findings) unpack(archive *zip.Reader, left int64) map[string][]byte {
	files := make(map[string][]byte, len(archive.File))
	for _, entry := range archive.File {
		if _, twice := files[entry.Name]; twice {
			f.wrong(entry.Name, Unlisted, "")
			continue
		}
		r, err := entry.Open()
		if err == nil {
			files[entry.Name], err = io.ReadAll(io.LimitReader(r, min(maxFile, left)))
			err = errors.Join(err, r.Close())
			left -= int64(len(files[entry.Name]))
		}
		if err != nil {
			f.wrong(entry.Name, Changed, err.Error())
			files[entry.Name] = nil
		}
	}
	return files
}

// manifest compares the files with what is listed.
func (f *Findings) manifest(files map[string][]byte) {
	f.Files = len(files)
	raw, ok := files[manifestName]
	if !ok {
		f.wrong(manifestName, Missing, "")
		return
	}
	if raw == nil {
		return // said already
	}
	var m Manifest
	if err := json.Unmarshal(raw, &m); err != nil {
		f.wrong(manifestName, Broken, err.Error())
		return
	}
	if m.Format != format || m.Version > Version {
		f.wrong(manifestName, Broken, fmt.Sprintf("%s %d", m.Format, m.Version))
		return
	}
	listed := map[string]bool{manifestName: true}
	for _, file := range m.Files {
		listed[file.Name] = true
		data, ok := files[file.Name]
		switch {
		case !ok:
			f.wrong(file.Name, Missing, "")
		case data == nil && file.Bytes > 0: // said already
		case hashOf(data) != file.SHA256:
			f.wrong(file.Name, Changed, "")
		}
	}
	for name := range files {
		if !listed[name] {
			f.wrong(name, Unlisted, "")
		}
	}
	slices.SortFunc(f.Problems, func(a, b Problem) int { return strings.Compare(a.File, b.File) })
}

func (f *Findings) report(raw []byte) *report.Report {
	if raw == nil {
		return nil
	}
	r, err := report.Parse(raw)
	if err != nil {
		f.wrong(reportName, Broken, err.Error())
		return nil
	}
	f.Run, f.Question, f.Sources = r.Run, r.Question, len(r.Sources)
	return r
}

// content checks what the report says against the texts.
func (f *Findings) content(r *report.Report, files map[string][]byte) {
	snapshots := cite.Snapshots{}
	for i := range r.Sources {
		s := &r.Sources[i]
		name := snapshotName(s.Snapshot)
		text, ok := files[name]
		switch {
		case s.Snapshot == "":
		case !ok:
			f.wrong(name, Missing, "")
		case cite.HashOf(string(text)) == s.Snapshot:
			snapshots.Add(string(text))
		case text != nil:
			f.wrong(name, Changed, "")
		}
	}
	f.Quotes, f.Edited = len(quotes(r)), r.Unchecked()
	if err := r.Check(snapshots); err != nil {
		for line := range strings.Lines(err.Error()) {
			f.wrong(reportName, Quote, strings.TrimPrefix(strings.TrimSpace(line), "report: "))
		}
	}
	for _, c := range r.Claims {
		if !c.Verified {
			continue
		}
		f.Claims++
		for _, n := range c.Sources {
			if r.Source(n) == nil {
				f.wrong(reportName, Claim, fmt.Sprintf("[%d] %s", n, c.Text))
			}
		}
		for _, p := range c.Passages {
			s := r.Source(p.Source)
			if s == nil || snapshots[s.Snapshot] == nil {
				f.wrong(reportName, Claim, fmt.Sprintf("[%d] %s", p.Source, c.Text))
			} else if _, err := p.Quote(snapshots[s.Snapshot]); err != nil {
				f.wrong(reportName, Claim, fmt.Sprintf("[%d] %s: %v", p.Source, c.Text, err))
			}
		}
	}
}

// spans checks the list of places against the texts.
func (f *Findings) spans(files map[string][]byte) {
	raw := files[spansName]
	if raw == nil {
		return
	}
	var list []Span
	if err := json.Unmarshal(raw, &list); err != nil {
		f.wrong(spansName, Broken, err.Error())
		return
	}
	for _, s := range list {
		text := files[s.Snapshot]
		if s.Start < 0 || s.End < s.Start || s.End > len(text) || hashOf(text[s.Start:s.End]) != s.SHA256 {
			f.wrong(spansName, Quote, fmt.Sprintf("[%d] %s %d–%d", s.Source, s.Snapshot, s.Start, s.End))
		}
	}
}

// events checks that the log has no gap.
func (f *Findings) events(raw []byte) {
	var last int64
	for line := range bytes.Lines(raw) {
		var e run.PlacedEvent
		if err := json.Unmarshal(line, &e); err != nil {
			f.wrong(eventsName, Broken, err.Error())
			return
		}
		f.Events++
		if e.Seq != last+1 {
			f.wrong(eventsName, Gap, fmt.Sprintf("%d → %d", last, e.Seq))
		}
		last = e.Seq
	}
}
