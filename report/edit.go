package report

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"dossier/cite"
	"dossier/lang"
)

// Edit is a change that a person made in the text of a report that was finished.
type Edit struct {
	// Part is text, summary, conclusion, or the number of a section from 1.
	Part string `json:"part"`
	// Before and After are the stretch of Markdown that was changed.
	Before string    `json:"before"`
	After  string    `json:"after"`
	Made   time.Time `json:"made"`
}

// ErrNotThere says that a text that is to be changed is not in the report: another
// may have changed it meanwhile.
var ErrNotThere = errors.New("the report does not have that text")

// mostEdited bounds what a person may write in one edit, in bytes.
const mostEdited = 64 << 10

// Evidence is what a report was made from: all its sources with their texts.
type Evidence struct {
	Sources   []Source
	Snapshots cite.Snapshots
}

// ledger has the sources under their numbers.
func (e *Evidence) ledger() *cite.Ledger {
	list := make([]cite.Source, len(e.Sources))
	for i := range e.Sources {
		list[i] = e.Sources[i].Source
	}
	return cite.LedgerOf(list)
}

// writtenPart finds a part of a report by its name; nil if there is no such text.
func (r *Report) writtenPart(name string) *string {
	var part *string
	switch name {
	case "text":
		part = &r.Text
	case "summary":
		part = &r.Summary
	case "conclusion":
		part = &r.Conclusion
	default:
		if n, err := strconv.Atoi(name); err == nil && n >= 1 && n <= len(r.Sections) {
			part = &r.Sections[n-1].Text
		}
	}
	if part == nil || *part == "" {
		return nil
	}
	return part
}

// Edit changes a stretch of a part, which is a paragraph or a sentence. Sentences
// that are new in it count as edited until they are checked: they are marked, and
// nothing bears them out. The others keep what is known of them. It fails with
// ErrNotThere.
func (r *Report) Edit(ctx context.Context, from *Evidence, e Edit) error {
	part := r.writtenPart(e.Part)
	if part == nil || e.Before == "" || !strings.Contains(*part, e.Before) {
		return ErrNotThere
	}
	if len(e.After) > mostEdited {
		return fmt.Errorf("an edit of %d bytes is more than the %d that fit", len(e.After), mostEdited)
	}
	e.After = strings.TrimSpace(cite.Sanitize(strings.ToValidUTF8(e.After, "\uFFFD")))
	was := *part
	text := strings.Replace(was, e.Before, e.After, 1)
	if strings.TrimSpace(text) == "" {
		return errors.New("a part of a report can't become empty")
	}
	e.Before = strings.TrimSpace(e.Before)
	r.Edits = append(r.Edits, e)
	return r.revise(ctx, from, part, text, func(c cite.Claim, known *cite.Checked) (cite.Checked, bool) {
		if known != nil {
			return *known, true
		}
		c.Sources = slices.DeleteFunc(c.Sources, func(n int) bool {
			return !slices.ContainsFunc(from.Sources, func(s Source) bool { return s.Number == n })
		})
		return cite.Checked{Claim: c, Verdict: cite.Edited}, true
	})
}

// Recheck holds the edited sentences against what the report was made from, by words
// alone. Those that a passage bears out get their marks back, and those that cite
// nothing cite what does. What is left is as it was for sentences that failed.
func (r *Report) Recheck(ctx context.Context, from *Evidence) error {
	for _, part := range append([]string{"text", "summary", "conclusion"}, r.sectionNumbers()...) {
		text := r.writtenPart(part)
		if text == nil {
			continue
		}
		err := r.revise(ctx, from, text, *text, func(_ cite.Claim, known *cite.Checked) (cite.Checked, bool) {
			if known == nil || known.Verdict == cite.Edited {
				return cite.Checked{}, false
			}
			return *known, true
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// sectionNumbers are the numbers of the sections.
func (r *Report) sectionNumbers() []string {
	out := make([]string, len(r.Sections))
	for i := range out {
		out[i] = strconv.Itoa(i + 1)
	}
	return out
}

// Unchecked are the sentences that a person wrote and nobody has checked.
func (r *Report) Unchecked() []string {
	var out []string
	for i := range r.Claims {
		if r.Claims[i].Verdict == cite.Edited {
			out = append(out, r.Claims[i].Text)
		}
	}
	return out
}

var markOfFailure = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[ \t]*\[\?\]`) })

// take takes the claims of a part out of those of the report: the part's, the others,
// and where among these they stood.
func (r *Report) take(part string) (own, rest []cite.Checked, at int) {
	rest = slices.Clone(r.Claims)
	at = len(rest)
	for _, c := range cite.Split(markOfFailure().ReplaceAllString(part, "")) {
		i := slices.IndexFunc(rest, func(k cite.Checked) bool { return k.Text == c.Text && slices.Equal(k.Sources, c.Sources) })
		if i < 0 {
			i = slices.IndexFunc(rest, func(k cite.Checked) bool { return k.Text == c.Text })
		}
		if i < 0 {
			continue
		}
		own, at = append(own, rest[i]), min(at, i)
		rest = slices.Delete(rest, i, i+1)
	}
	r.Coverage.Claims.Total -= len(own)
	for _, c := range own {
		if c.Verified {
			r.Coverage.Claims.Covered--
		}
	}
	return own, rest, at
}

// find finds what is known of a claim; nil if nothing is.
func find(known []cite.Checked, c cite.Claim) *cite.Checked {
	for _, same := range []func(k *cite.Checked) bool{
		func(k *cite.Checked) bool { return slices.Equal(k.Sources, c.Sources) },
		func(k *cite.Checked) bool { return !k.Verified },
	} {
		for i := range known {
			if k := &known[i]; k.Text == c.Text && same(k) {
				return k
			}
		}
	}
	return nil
}

// revise makes a text one of the report's own: its claims take the place of those of
// the part, what stands of a claim trust says, the rest is checked.
func (r *Report) revise(ctx context.Context, from *Evidence, part *string, text string, trust func(c cite.Claim, known *cite.Checked) (cite.Checked, bool)) error {
	known, rest, at := r.take(*part)
	ledger := from.ledger()
	var all []int
	var texts []string
	var codes []lang.Code
	for i := range from.Sources {
		s := &from.Sources[i]
		if snap := from.Snapshots[s.Snapshot]; snap != nil {
			all = append(all, s.Number)
			texts, codes = append(texts, s.Title, s.Author, s.Site, snap.Text), append(codes, lang.Detect(snap.Text))
		}
	}
	result, err := cite.Verify(ctx, markOfFailure().ReplaceAllString(text, ""), ledger, from.Snapshots, cite.Lexical{}, cite.Options{
		Uncited: all,
		Known:   sync.OnceValue(func() *cite.Vocabulary { return cite.NewVocabulary(texts, codes) }),
		Trust:   func(c cite.Claim) (cite.Checked, bool) { return trust(c, find(known, c)) },
	})
	if err != nil {
		return err
	}
	*part = result.Text
	r.Claims = slices.Insert(rest, min(at, len(rest)), result.Claims...)
	r.Coverage.Claims.Total += len(result.Claims)
	r.Coverage.Claims.Covered += result.Covered
	var behind []int
	for _, c := range r.Claims {
		for _, p := range c.Passages {
			if c.Verified {
				behind = append(behind, p.Source)
			}
		}
	}
	r.Coverage.Independent = ledger.Independent(behind)
	return r.Gather(ledger, from.Snapshots)
}
