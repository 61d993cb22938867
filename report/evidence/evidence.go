// Package evidence puts a report and all that it rests on into one file, and
// checks such a file without anything else: a zip with the report, the texts
// that were read, where in them each quote stands, the events of the run, and
// the hashes of it all. The comment of the archive is a seal over every byte.
//
// It shows that nothing was changed by accident and that quotes stand where the
// report says. Who makes all of it anew can seal that too: it is no signature.
package evidence

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"dossier/cite"
	"dossier/lang"
	"dossier/report"
	"dossier/run"
)

// Version of the file format.
const Version = 1

// format names the file format in a manifest.
const format = "dossier-evidence"

// Content is what a bundle is made of.
type Content struct {
	Report    *report.Report
	Snapshots map[string]string // texts by hash
	Run       run.Record
	Events    []run.PlacedEvent
}

// Manifest lists the files of a bundle.
type Manifest struct {
	Format  string    `json:"format"`
	Version int       `json:"version"`
	Run     string    `json:"run"`
	Created time.Time `json:"created,omitzero"`
	Files   []File    `json:"files"`
}

// File is one in a bundle.
type File struct {
	Name   string `json:"name"`
	SHA256 string `json:"sha256"`
	Bytes  int    `json:"bytes"`
}

// Span is where a quote of the report stands.
type Span struct {
	Source   int    `json:"source"`
	Snapshot string `json:"snapshot"` // a file of the bundle
	Start    int    `json:"start"`    // in bytes
	End      int    `json:"end"`
	SHA256   string `json:"sha256"` // of the bytes there
}

const (
	manifestName = "manifest.json"
	reportName   = "report.json"
	eventsName   = "events.ndjson"
	spansName    = "spans.json"
	runName      = "run.json"
	snapshotDir  = "snapshots/"
)

func snapshotName(hash string) string { return snapshotDir + hash + ".txt" }

// Pack returns the bundle as a file. The same content gives the same bytes.
func Pack(c Content) ([]byte, error) {
	raw, err := report.JSON(c.Report)
	if err != nil {
		return nil, err
	}
	record, err := json.MarshalIndent(c.Run, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("evidence: %w", err)
	}
	spans, err := json.MarshalIndent(spansOf(c.Report), "", "  ")
	if err != nil {
		return nil, fmt.Errorf("evidence: %w", err)
	}
	var events bytes.Buffer
	for _, e := range c.Events {
		line, err := json.Marshal(e)
		if err != nil {
			return nil, fmt.Errorf("evidence: %w", err)
		}
		events.Write(append(line, '\n'))
	}
	type named struct {
		name string
		data []byte
	}
	files := []named{
		{"README.txt", []byte(lang.Text(c.Report.Lang, "bundle.readme") + "\n")},
		{reportName, raw},
		{"report.md", []byte(report.Markdown(c.Report))},
		{"report.html", []byte(report.HTML(c.Report))},
		{"sources.bib", []byte(report.BibTeX(c.Report))},
		{spansName, append(spans, '\n')},
		{runName, append(record, '\n')},
		{eventsName, events.Bytes()},
	}
	hashes := make([]string, 0, len(c.Snapshots))
	for hash := range c.Snapshots {
		hashes = append(hashes, hash)
	}
	slices.Sort(hashes)
	for _, hash := range hashes {
		files = append(files, named{snapshotName(hash), []byte(c.Snapshots[hash])})
	}
	m := Manifest{Format: format, Version: Version, Run: c.Report.Run, Created: c.Report.Created}
	for _, f := range files {
		m.Files = append(m.Files, File{Name: f.name, SHA256: hashOf(f.data), Bytes: len(f.data)})
	}
	list, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("evidence: %w", err)
	}
	var out bytes.Buffer
	archive := zip.NewWriter(&out)
	for _, f := range append([]named{{manifestName, append(list, '\n')}}, files...) {
		w, err := archive.CreateHeader(&zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)})
		if err == nil {
			_, err = w.Write(f.data)
		}
		if err != nil {
			return nil, fmt.Errorf("evidence: %w", err)
		}
	}
	if err := archive.SetComment(unsealed); err != nil {
		return nil, fmt.Errorf("evidence: %w", err)
	}
	if err := archive.Close(); err != nil {
		return nil, fmt.Errorf("evidence: %w", err)
	}
	return seal(out.Bytes()), nil
}

// The seal is the hash of the file as it is without a seal.
const sealSign = "dossier-evidence sha256-"

var unsealed = sealSign + strings.Repeat("0", sha256.Size*2)

func seal(data []byte) []byte {
	sum := hashOf(data)
	copy(data[len(data)-len(sum):], sum)
	return data
}

// sealed reports whether the seal of a file is that of its bytes.
func sealed(data []byte) bool {
	if len(data) < len(unsealed) || !bytes.HasPrefix(data[len(data)-len(unsealed):], []byte(sealSign)) {
		return false
	}
	at := len(data) - sha256.Size*2
	bare := slices.Concat(data[:at], bytes.Repeat([]byte("0"), sha256.Size*2))
	return hashOf(bare) == string(data[at:])
}

func hashOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// spansOf lists where the quotes of a report stand.
func spansOf(r *report.Report) []Span {
	out := []Span{}
	seen := map[Span]bool{}
	add := func(text string, p cite.Passage) {
		s := r.Source(p.Source)
		if s == nil {
			return
		}
		span := Span{p.Source, snapshotName(s.Snapshot), p.Start, p.End, hashOf([]byte(text))}
		if !seen[span] {
			seen[span] = true
			out = append(out, span)
		}
	}
	for _, q := range quotes(r) {
		add(q.Text, q.Passage)
	}
	for _, c := range r.Conflicts {
		add(c.A.Quote, c.A.Passage)
		add(c.B.Quote, c.B.Passage)
	}
	return out
}

// quotes returns all that a report quotes.
func quotes(r *report.Report) []report.Quote {
	var out []report.Quote
	for _, s := range r.Sections {
		out = append(out, s.Quotes...)
	}
	out = append(out, r.Nearest...)
	for _, s := range r.Sources {
		out = append(out, s.Passages...)
	}
	return out
}
