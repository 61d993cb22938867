// Package report is what a run delivers: an answer with its sources, quotes
// and coverage. A [Report] is stored as the run's result and rendered later in
// any format: [Markdown], [HTML] and [JSON].
//
// What stands in a report came from pages, files and models, so every renderer
// treats it as text: nothing in it becomes markup, a script or a link. Links
// lead only to the sources that were read. The frame around it (headings,
// labels) is in the report's language, quotes stay in their source's.
package report

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"dossier/cite"
	"dossier/cite/series"
	"dossier/lang"
)

// Version of the JSON form. A change that an existing reader could
// misunderstand raises it; new optional fields don't.
const Version = 1

// Outcome says how far a report answers its question.
type Outcome string

// The outcomes.
const (
	Answered Outcome = "answered"
	Partial  Outcome = "partial" // some facets of the question have nothing
	Nothing  Outcome = "nothing" // no passage answers the question
)

// Kind is what kind of work a report is the result of.
type Kind string

// The kinds.
const (
	Answer   Kind = ""         // of one question, as far as it goes
	Research Kind = "research" // deep research: a whole text with a summary and sections
)

// Report is an answer with what it rests on.
type Report struct {
	Version  int       `json:"version"`
	Run      string    `json:"run,omitempty"`
	Created  time.Time `json:"created,omitzero"`
	Question string    `json:"question"`
	Title    string    `json:"title,omitempty"` // the question, if empty
	Lang     lang.Code `json:"lang"`            // of the frame
	Outcome  Outcome   `json:"outcome"`
	// Kind says what kind of work it is the result of.
	Kind Kind `json:"kind,omitempty"`
	// Extractive says that no model wrote any of it: it consists of quotes.
	Extractive bool `json:"extractive,omitempty"`
	// Assisted says that a model was asked on the way, be it only for what to
	// look for.
	Assisted bool   `json:"assisted,omitempty"`
	Model    string `json:"model,omitempty"`
	// Text is the answer of a model in Markdown, with [n] for source n. It is
	// empty where the sections are the answer.
	Text string `json:"text,omitempty"`
	// Summary stands before the sections and Conclusion after them, both in
	// Markdown with [n], as Text. A report that is an answer has neither.
	Summary    string    `json:"summary,omitempty"`
	Sections   []Section `json:"sections,omitempty"`
	Conclusion string    `json:"conclusion,omitempty"`
	// Outlook says that the conclusion also tells what comes next and what is
	// open.
	Outlook bool `json:"outlook,omitempty"`
	// Nearest are passages that come near without being an answer.
	Nearest []Quote `json:"nearest,omitempty"`
	// Sources are those that the report uses, by number.
	Sources   []Source        `json:"sources,omitempty"`
	Claims    []cite.Checked  `json:"claims,omitempty"`
	Coverage  Coverage        `json:"coverage"`
	Conflicts []cite.Conflict `json:"conflicts,omitempty"`
	// Edits are what people changed in it afterwards, in order.
	Edits []Edit `json:"edits,omitempty"`
	// Notes say what went wrong or was left out, for people.
	Notes []string `json:"notes,omitempty"`
	// Changes are those since an earlier report of the same question, of a report
	// that was compared with one.
	Changes *Changes `json:"changes,omitempty"`
	// FollowUps are questions that the reader may want to ask next.
	FollowUps []string `json:"follow_ups,omitempty"`
	// Book names the blob in which everything is that was read for it, for the
	// questions that follow.
	Book string `json:"book,omitempty"`
	// Base is the folder against which the paths of files are shown.
	Base string `json:"base,omitempty"`
}

// Section is a part of the answer under what it answers.
type Section struct {
	Title  string  `json:"title,omitempty"`
	Text   string  `json:"text,omitempty"` // Markdown with [n], as Report.Text
	Quotes []Quote `json:"quotes,omitempty"`
	// Plots are series of numbers in what the section cites.
	Plots []series.Plot `json:"plots,omitempty"`
}

// Quote is a passage with its text as it stands in the source.
type Quote struct {
	Text    string       `json:"text"`
	Passage cite.Passage `json:"passage"`
	// Link is where a reader finds it: "path:line" in a file that is text, the
	// path of another file, or the URL with a text fragment.
	Link string `json:"link,omitempty"`
	// Before counts the cells of its row that stand before it, where it begins
	// within a row of a table.
	Before int `json:"before,omitempty"`
	// Lang is the language of the quote if the question is in another; Gather
	// sets it.
	Lang lang.Code `json:"lang,omitempty"`
}

// Source is a source that the report uses, with the passages that it was used
// for, in the order in which they stand there.
type Source struct {
	cite.Source
	Passages []Quote `json:"passages,omitempty"`
	// Used are the parts of a report of research that cite it: numbers of
	// sections from 1, or headings.
	Used []string `json:"used,omitempty"`
}

// Coverage says how much of the question and of the answer has evidence.
type Coverage struct {
	// Claims are the sentences of the answer, covered when a passage bears
	// them out.
	Claims Share `json:"claims"`
	// Facets are the parts of the question, covered when something was found.
	Facets Share `json:"facets"`
	// Missing are the facets without anything.
	Missing []string `json:"missing,omitempty"`
	// Unsure are the covered facets of which it is not sure that their quotes answer
	// them.
	Unsure []string `json:"unsure,omitempty"`
	// Independent counts the sources behind the answer, copies of one article
	// once.
	Independent int `json:"independent"`
}

// Share is a number of things of which some are covered.
type Share struct {
	Covered int `json:"covered"`
	Total   int `json:"total"`
}

// Of returns the share as a number from 0 to 1: 0 where there is nothing to
// cover.
func (s Share) Of() float64 {
	if s.Total == 0 {
		return 0
	}
	return float64(s.Covered) / float64(s.Total)
}

// QuoteAt returns the quote of a passage of a source.
func QuoteAt(source cite.Source, snap *cite.Snapshot, p cite.Passage) (Quote, error) {
	text, err := p.Quote(snap)
	if err != nil {
		return Quote{}, err
	}
	if p.Line == 0 {
		p.Line = snap.Line(p.Start)
	}
	p.Source = source.Number
	link := source.URI
	if source.Kind == cite.Web || hasLines(&source) {
		link = source.Link(p, snap)
	}
	return Quote{Text: text, Passage: p, Link: link, Before: cellsBefore(snap.Text, p.Start)}, nil
}

// Gather fills Sources with what the rest of the report uses: the sources of
// its quotes, of its conflicts, of its claims with the passages that bear them
// out, and of the markers in its text. A quote or claim whose source or span
// does not exist is an error.
func (r *Report) Gather(ledger *cite.Ledger, snapshots cite.Snapshots) error {
	used := map[int]*Source{}
	use := func(number int) (*Source, error) {
		if s := used[number]; s != nil {
			return s, nil
		}
		s, ok := ledger.Source(number)
		if !ok {
			return nil, fmt.Errorf("report: source %d is not in the ledger", number)
		}
		used[number] = &Source{Source: s}
		return used[number], nil
	}
	type place struct{ source, start, end int }
	links := map[place]Quote{} // several claims may rest on one passage
	for _, p := range r.passages() {
		s, err := use(p.Source)
		if err != nil {
			return err
		}
		snap := snapshots[s.Snapshot]
		if snap == nil {
			return fmt.Errorf("report: source %d has no snapshot", p.Source)
		}
		q, known := links[place{p.Source, p.Start, p.End}]
		if known {
			if p.Line == 0 {
				p.Line = snap.Line(p.Start)
			}
			q.Passage = p
		} else if q, err = QuoteAt(s.Source, snap, p); err != nil {
			return fmt.Errorf("report: %w", err)
		}
		links[place{p.Source, p.Start, p.End}] = q
		at, found := slices.BinarySearchFunc(s.Passages, q, byPlace)
		switch {
		case !found:
			s.Passages = slices.Insert(s.Passages, at, q)
		case len(s.Passages[at].Passage.HeadingPath) == 0 && s.Passages[at].Passage.Page == 0:
			if was := s.Passages[at].Passage; q.Passage.MarkEnd == 0 {
				q.Passage.MarkStart, q.Passage.MarkEnd = was.MarkStart, was.MarkEnd
			}
			s.Passages[at] = q // it may know its place better
		}
	}
	for _, c := range r.Claims {
		for _, n := range c.Sources {
			if _, err := use(n); err != nil {
				return err
			}
		}
	}
	for _, p := range r.points() {
		if _, err := use(p.Passage.Source); err != nil {
			return err
		}
	}
	for _, text := range r.texts() {
		for _, c := range cite.Split(text) {
			for _, n := range c.Sources {
				_, _ = use(n) // a number that no source has stays a number
			}
		}
	}
	r.Sources = nil
	for _, s := range used {
		if r.written() {
			s.Passages = outermost(s.Passages)
		}
		r.Sources = append(r.Sources, *s)
	}
	slices.SortFunc(r.Sources, func(a, b Source) int { return a.Number - b.Number })
	if r.Kind == Research {
		r.use()
	}
	r.languages()
	return nil
}

// texts returns what was written with markers, in the order in which it is
// read.
func (r *Report) texts() []string {
	out := []string{r.Text, r.Summary}
	for _, s := range r.Sections {
		out = append(out, s.Text)
	}
	return append(out, r.Conclusion)
}

// points are those of all plots.
func (r *Report) points() []series.Point {
	var out []series.Point
	for _, s := range r.Sections {
		for _, p := range s.Plots {
			for _, l := range p.Lines {
				out = append(out, l.Points...)
			}
		}
	}
	return out
}

// passages returns the spans that the report shows or leans on.
func (r *Report) passages() []cite.Passage {
	var out []cite.Passage
	for _, s := range r.Sections {
		for _, q := range s.Quotes {
			out = append(out, q.Passage)
		}
	}
	for _, q := range r.Nearest {
		out = append(out, q.Passage)
	}
	for _, c := range r.Conflicts {
		out = append(out, c.A.Passage, c.B.Passage)
	}
	for _, c := range r.Claims {
		if c.Verified {
			out = append(out, c.Passages...)
		}
	}
	return out
}

// outermost leaves out, of passages in order, those that lie within another.
func outermost(passages []Quote) []Quote {
	return slices.DeleteFunc(slices.Clone(passages), func(q Quote) bool {
		return slices.ContainsFunc(passages, func(o Quote) bool {
			return o.Passage.Start <= q.Passage.Start && q.Passage.End <= o.Passage.End && byPlace(o, q) != 0
		})
	})
}

func byPlace(a, b Quote) int {
	return cmp.Or(a.Passage.Start-b.Passage.Start, a.Passage.End-b.Passage.End)
}

// Source returns the source with that number, nil if the report has none.
func (r *Report) Source(number int) *Source {
	for i := range r.Sources {
		if r.Sources[i].Number == number {
			return &r.Sources[i]
		}
	}
	return nil
}

// Check verifies that every quote of the report, every point of its plots, and
// every quotation inside a claim that counts as verified, stands in the snapshot
// of its source. The
// error names all that don't.
func (r *Report) Check(snapshots cite.Snapshots) error {
	var errs []error
	snapshot := func(number int) *cite.Snapshot {
		if s := r.Source(number); s != nil {
			return snapshots[s.Snapshot]
		}
		return nil
	}
	check := func(text string, p cite.Passage) {
		if err := checkQuote(snapshot(p.Source), text, p); err != nil {
			errs = append(errs, err)
		}
	}
	for _, s := range r.Sections {
		for _, q := range s.Quotes {
			check(q.Text, q.Passage)
		}
	}
	for _, q := range r.Nearest {
		check(q.Text, q.Passage)
	}
	for _, s := range r.Sources {
		for _, q := range s.Passages {
			check(q.Text, q.Passage)
		}
	}
	for _, c := range r.Conflicts {
		check(c.A.Quote, c.A.Passage)
		check(c.B.Quote, c.B.Passage)
	}
	for _, p := range r.points() {
		if !p.Stands(snapshot(p.Passage.Source)) {
			errs = append(errs, fmt.Errorf("report: the point %q of a plot, %q, does not stand in source %d", p.Label, p.Written, p.Passage.Source))
		}
	}
	for _, c := range r.Claims {
		if !c.Verified {
			continue
		}
		for _, quote := range c.Quotes {
			if !stands(quote, c.Sources, snapshot) {
				errs = append(errs, fmt.Errorf("report: the quotation %q stands in none of the sources %v", quote, c.Sources))
			}
		}
	}
	return errors.Join(errs...)
}

// checkQuote compares a quote with what stands at its place in a snapshot, nil
// where there is none.
func checkQuote(snap *cite.Snapshot, text string, p cite.Passage) error {
	if snap == nil {
		return fmt.Errorf("report: the quote %q: source %d has no snapshot", text, p.Source)
	}
	stands, err := p.Quote(snap)
	if err != nil {
		return fmt.Errorf("report: the quote %q: %w", text, err)
	}
	if _, found := snap.Find(text); stands != text || !found {
		return fmt.Errorf("report: the quote %q of source %d is not what stands there: %q", text, p.Source, stands)
	}
	return nil
}

// JSON returns the stored form of a report, indented, with a final line break.
func JSON(r *Report) ([]byte, error) {
	out, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	return append(out, '\n'), nil
}

// Parse reads the JSON form of any version up to Version.
func Parse(data []byte) (*Report, error) {
	var r Report
	if err := json.Unmarshal(data, &r); err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	if r.Version > Version {
		return nil, fmt.Errorf("report: version %d is newer than this program understands (%d): upgrade dossier", r.Version, Version)
	}
	return &r, nil
}
