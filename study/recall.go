package study

import (
	"context"
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"dossier/cite"
	"dossier/extract"
	"dossier/lang"
	"dossier/report"
	"dossier/run"
	"dossier/sources"
)

// Past finds the runs of a session that have a report and were finished before a
// run, the newest first.
type Past func(ctx context.Context, session, run string) ([]Finished, error)

// Finished is an earlier run of a conversation.
type Finished struct {
	Run    string
	In     sources.Target // what it was asked of
	Report *report.Report
}

// kept is a Book as it is stored for those who go on from it: what was read, and
// the passages of it.
type kept struct {
	Sources  []cite.Source  `json:"sources"`
	Passages []cite.Passage `json:"passages"`
}

// keep stores what the Book's findings rest on, as a step of s, and returns under
// which name.
func (b *Book) keep(ctx context.Context, s *run.Scope, blobs sources.Blobs) (string, error) {
	return run.Step(ctx, s, "book", func(ctx context.Context, _ *run.Scope) (string, error) {
		var ids []string
		for _, f := range b.Findings {
			ids = append(ids, f.ID)
		}
		k := kept{Sources: b.Ledger.Sources()}
		for _, p := range b.everything(ids) {
			p.Passage.Line, p.MarkStart, p.MarkEnd = 0, 0, 0 // they are of a question
			k.Passages = append(k.Passages, p.Passage)
		}
		raw, err := json.Marshal(k)
		if err != nil {
			return "", err
		}
		return blobs.PutBlob(ctx, raw)
	})
}

// everything are all passages that were read for findings, each once.
func (b *Book) everything(ids []string) []sources.Passage {
	var out []sources.Passage
	at := make(map[spot]bool)
	enter := func(p sources.Passage) {
		if key := (spot{p.Source, p.Start, p.End}); !at[key] {
			at[key] = true
			out = append(out, p)
		}
	}
	for _, id := range ids {
		if r := b.read[id]; r != nil {
			for _, p := range r.passages {
				enter(p)
			}
			continue
		}
		f, _ := b.Finding(id)
		for _, p := range f.Passages {
			if made, ok := b.passage(p); ok {
				enter(made)
			}
		}
	}
	return out
}

// Recollection is a question that stands by itself, and where to look for what
// was read before it was asked.
type Recollection struct {
	Past     Past
	Blobs    sources.Blobs
	Question string
	// In is what it is asked of, and Web says that engines are asked: what was
	// read elsewhere is left alone.
	In  sources.Target
	Web bool
}

// recalled is what the step of a Recall records. It names the texts, so that they
// are kept for as long as the run is.
type recalled struct {
	From     []string       `json:"from,omitempty"` // titles of reports
	Sources  []cite.Source  `json:"sources,omitempty"`
	Passages []cite.Passage `json:"passages,omitempty"`
}

// mostRecalled bounds the passages that are looked at again.
const mostRecalled = 150

// Recalled is what earlier runs of a conversation have read that may answer a
// question. The zero value is nothing.
type Recalled struct {
	evidence *sources.Evidence
	from     []string
}

// Any says whether there is something.
func (r *Recalled) Any() bool { return r.evidence != nil && len(r.evidence.Passages) > 0 }

// Private are the texts of it that stand in the user's own documents.
func (r *Recalled) Private() []string {
	if r.evidence == nil {
		return nil
	}
	var out []string
	for _, p := range r.evidence.Passages {
		if src, ok := r.evidence.Ledger.Source(p.Source); ok && src.Kind != cite.Web {
			out = append(out, p.Text)
		}
	}
	return out
}

// Recall looks in what the earlier runs of the session have read for what is
// nearest to a question.
func Recall(ctx context.Context, s *run.Scope, r Recollection) (Recalled, error) {
	rec := s.Record()
	if r.Past == nil || rec.Session == rec.ID {
		return Recalled{}, nil
	}
	found, err := run.Step(ctx, s, "recall", func(ctx context.Context, _ *run.Scope) (recalled, error) {
		done, err := r.Past(ctx, rec.Session, rec.ID)
		if err != nil {
			return recalled{}, err
		}
		return r.look(ctx, done)
	})
	if err != nil || len(found.Passages) == 0 {
		return Recalled{}, err
	}
	e, err := sources.Restored(ctx, r.Blobs, r.Question, found.Sources, found.Passages)
	return Recalled{e, found.From}, err
}

// look puts together what the runs have read and keeps what is nearest to the
// question. Of an address that several have read, the newest counts.
func (r *Recollection) look(ctx context.Context, done []Finished) (recalled, error) {
	var out recalled
	var all []cite.Passage
	var texts []extract.Passage
	numbers := make(map[string]int) // by address
	title := make(map[int]string)   // of the report that a source is known from
	for _, d := range done {
		k, err := r.readIn(ctx, d)
		if err != nil {
			return out, err
		}
		to := make(map[int]cite.Source)
		snaps := make(map[int]*cite.Snapshot)
		for _, src := range k.Sources {
			key := cite.Canonical(src.URI)
			if numbers[key] != 0 || src.Snapshot == "" || !r.asks(d, src) {
				continue
			}
			text, err := r.Blobs.Blob(ctx, src.Snapshot)
			if err != nil {
				if ctx.Err() != nil {
					return out, context.Cause(ctx)
				}
				continue // it is gone
			}
			was := src.Number
			src.Number, src.CopyOf = len(out.Sources)+1, 0
			numbers[key] = src.Number
			to[was], snaps[was], title[src.Number] = src, cite.NewSnapshot(string(text)), titleOf(d.Report)
			out.Sources = append(out.Sources, src)
		}
		for _, p := range k.Passages {
			src, ok := to[p.Source]
			if !ok {
				continue
			}
			text, err := p.Quote(snaps[p.Source])
			if err != nil {
				continue
			}
			p.Source = src.Number
			texts = append(texts, extract.Passage{ID: strconv.Itoa(len(all)), Title: src.Title, Headings: p.HeadingPath, Text: text})
			all = append(all, p)
		}
	}
	used := make(map[int]bool)
	for _, p := range extract.Ordered(r.Question, texts) {
		n, err := strconv.Atoi(p.ID)
		if err != nil || len(out.Passages) == mostRecalled {
			break
		}
		out.Passages = append(out.Passages, all[n])
		used[all[n].Source] = true
	}
	out.Sources = slices.DeleteFunc(out.Sources, func(s cite.Source) bool { return !used[s.Number] })
	for _, s := range out.Sources {
		if t := title[s.Number]; !slices.Contains(out.From, t) {
			out.From = append(out.From, t)
		}
	}
	return out, nil
}

func titleOf(r *report.Report) string {
	if r.Title != "" {
		return oneLine(r.Title)
	}
	return oneLine(r.Question)
}

// readIn is what a run has read: all of it where that was kept, and otherwise what
// its report quotes.
func (r *Recollection) readIn(ctx context.Context, d Finished) (kept, error) {
	var k kept
	if d.Report.Book != "" {
		raw, err := r.Blobs.Blob(ctx, d.Report.Book)
		if err == nil && json.Unmarshal(raw, &k) == nil {
			return k, nil
		}
		if ctx.Err() != nil {
			return k, context.Cause(ctx)
		}
	}
	for _, src := range d.Report.Sources {
		k.Sources = append(k.Sources, src.Source)
		for _, q := range src.Passages {
			k.Passages = append(k.Passages, q.Passage)
		}
	}
	return k, nil
}

// asks says whether the question is asked of what a source of an earlier run
// belongs to. Documents are those of the same place, and where engines see what
// is searched for, of runs in which they did.
func (r *Recollection) asks(d Finished, src cite.Source) bool {
	if src.Kind == cite.Web {
		return r.Web
	}
	online := d.In.Web != nil || slices.ContainsFunc(d.Report.Sources, func(s report.Source) bool { return s.Kind == cite.Web })
	was, is := d.In, r.In
	was.Web, was.Base, is.Web, is.Base = nil, "", nil, ""
	return reflect.DeepEqual(was, is) && (online || !r.Web)
}

// Remembered is what earlier runs have read that answers a question.
type Remembered struct {
	Question string
	// Sure says that it need not be searched for.
	Sure     bool
	evidence *sources.Evidence
}

// answered is what a step records of what answers a question.
type answered struct {
	Passages   []int          `json:"passages,omitempty"`
	Quotes     []cite.Passage `json:"quotes,omitempty"`
	Confidence float64        `json:"confidence,omitempty"`
}

// nearby is how many passages are kept with those that are quoted.
const nearby = 8

// Answers says, as a step of s, which of some questions are answered by what was
// read before, and by what. Those that are not are left out.
func (r *Recalled) Answers(ctx context.Context, s *run.Scope, name string, questions []string) ([]Remembered, error) {
	if !r.Any() || len(questions) == 0 {
		return nil, nil
	}
	got, err := run.EffectStep(ctx, s, run.Pure, name, func(context.Context, *run.Scope) ([]answered, error) {
		out := make([]answered, len(questions))
		for i, f := range r.evidence.Answers(questions...) {
			if f.Answered {
				out[i] = answered{f.Passages[:min(nearby, len(f.Passages))], f.Quotes, f.Confidence}
			}
		}
		return out, nil
	})
	if err != nil {
		return nil, err
	}
	var out []Remembered
	for i, a := range got {
		if len(a.Quotes) > 0 && i < len(questions) {
			out = append(out, Remembered{questions[i], a.Confidence >= extract.Sure, r.evidence.Part(sources.FacetEvidence{
				Title: questions[i], Passages: a.Passages, Quotes: a.Quotes, Answered: true, Confidence: a.Confidence,
			})})
		}
	}
	return out, nil
}

// byEarlier is who found what an earlier run had read.
const byEarlier = "earlier"

// Remember enters what earlier runs have read into the Book, as a finding for a
// task. Its sources are cited as they were read then.
func (b *Book) Remember(m Remembered, task string) Finding {
	f := Finding{By: byEarlier, Task: task, Passages: m.evidence.Facets[0].Quotes}
	f.Text = strings.TrimSpace(m.evidence.Quoted(f.Passages))
	return b.add(m.evidence, f, true)
}

// FromEarlier says whether a finding is of what an earlier run had read.
func (f Finding) FromEarlier() bool { return f.By == byEarlier }

// Told is what a reader should know of it: "" where nothing of it was used.
func (r *Recalled) Told(b *Book, code lang.Code) string {
	if len(b.earlier) == 0 {
		return ""
	}
	return lang.Text(code, "study.earlier", "n", len(b.earlier), "titles", strings.Join(r.from, "; "))
}
