package sources

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"dossier/cite"
	"dossier/event"
	"dossier/kb"
	"dossier/lang"
	"dossier/run"
)

// Target is where the documents are that a question is asked of.
type Target struct {
	// Paths are folders and files, absolute. They are mirrored before the work
	// begins: into the collection named, or else into one of their own.
	Paths []string `json:"paths,omitempty"`
	// Collection is the name of a collection.
	Collection string `json:"collection,omitempty"`
	// Also are more documents to ask, each by paths or by the name of a
	// collection.
	Also []Documents `json:"also,omitempty"`
	// Reread has files read again that have not changed, and those that could
	// not be read before.
	Reread bool `json:"reread,omitempty"`
	// Base is the folder against which paths of files are shown.
	Base string `json:"base,omitempty"`
	// Web is the part of the web that is asked, beside documents if any are
	// named; nil is none of it, or all where there is nothing else to ask.
	Web *WebScope `json:"web,omitempty"`
}

// Documents are a part of what a question is asked of: paths, or a collection.
type Documents struct {
	Paths      []string `json:"paths,omitempty"`
	Collection string   `json:"collection,omitempty"`
}

// Local are the user's own documents.
type Local struct {
	Library *kb.Library
	// Active returns the name of the collection to use when none is named, ""
	// if none was chosen. It is asked anew for each run.
	Active func(ctx context.Context) (string, error)
}

// Prepared is a collection that is up to date, as a run records it.
type Prepared struct {
	Collection string `json:"collection"` // its id
	Name       string `json:"name"`
	Where      string `json:"where"` // in words, for prompts
	Documents  int    `json:"documents"`
	Added      int    `json:"added,omitempty"`
	Changed    int    `json:"changed,omitempty"`
	Removed    int    `json:"removed,omitempty"`
	Reread     int    `json:"reread,omitempty"`   // unchanged, but read by another version before
	Outdated   int    `json:"outdated,omitempty"` // still as another version read them
	Ignored    int    `json:"ignored,omitempty"`  // files that are no documents
	Failed     int    `json:"failed,omitempty"`
	// Failures are the first of the files that could not be read.
	Failures []FailedFile `json:"failures,omitempty"`
	Warnings []string     `json:"warnings,omitempty"`
	// Partial says that the run had to finish before all files were read.
	Partial bool `json:"partial,omitempty"`
}

// FailedFile is a file that could not be read, and why.
type FailedFile struct {
	Path string `json:"path"`
	Why  string `json:"why"`
}

// failuresTold bounds the files that a run names one by one.
const failuresTold = 50

// Prepare brings a place's documents up to date as a step of the run, telling
// how far it is. A place without paths is a collection as it stands.
func (l *Local) Prepare(ctx context.Context, s *run.Scope, in Target) (Prepared, error) {
	return l.prepareAs(ctx, s, "prepare", in)
}

// PrepareAll is Prepare for all documents of a place, in the order in which they
// are named.
func (l *Local) PrepareAll(ctx context.Context, s *run.Scope, in Target) ([]Prepared, error) {
	first, err := l.Prepare(ctx, s, in)
	if err != nil {
		return nil, err
	}
	out := []Prepared{first}
	for i, also := range in.Also {
		p, err := l.prepareAs(ctx, s, "prepare-"+strconv.Itoa(i+2), Target{Paths: also.Paths, Collection: also.Collection, Base: in.Base})
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(out, func(o Prepared) bool { return o.Collection == p.Collection }) {
			out = append(out, p)
		}
	}
	return out, nil
}

func (l *Local) prepareAs(ctx context.Context, s *run.Scope, step string, in Target) (Prepared, error) {
	p, err := l.prepare(ctx, s, step, in)
	if failed, ok := errors.AsType[*run.StepError](err); ok && failed.Fault.Code == targetFault {
		err = stepError{failed}
	}
	return p, err
}

func (l *Local) prepare(ctx context.Context, s *run.Scope, step string, in Target) (Prepared, error) {
	return run.Step(ctx, s, step, func(ctx context.Context, s *run.Scope) (Prepared, error) {
		c, err := l.collection(ctx, s.Record().User, in)
		if err != nil {
			return Prepared{}, err
		}
		p := Prepared{Collection: c.ID, Name: c.Name, Documents: c.Documents, Failed: c.Failed, Where: "a collection of the user's documents"}
		if len(in.Paths) == 0 {
			p.Outdated, err = l.Library.Outdated(ctx, c.ID)
			return p, err
		}
		until, cancel := s.UntilFinish(ctx)
		defer cancel()
		done, err := l.Library.Sync(until, c.ID, kb.SyncOptions{Rehash: in.Reread, Progress: func(at kb.Progress) {
			_ = s.Emit(progress(at, in.Base)) // what passes by is not recorded
		}})
		switch {
		case err == nil:
		case ctx.Err() != nil:
			return p, context.Cause(ctx)
		case until.Err() != nil: // the run is to finish, or its time is up
			p.Partial = true
		default:
			return p, err
		}
		if c, err = l.Library.Get(ctx, c.ID); err != nil {
			return p, err
		}
		p.Documents, p.Failed = c.Documents, len(done.Failures)
		p.Added, p.Changed, p.Removed, p.Ignored, p.Warnings = done.Added, done.Changed, done.Removed, done.Ignored, done.Warnings
		p.Reread = done.Reread
		if p.Outdated, err = l.Library.Outdated(ctx, c.ID); err != nil {
			return p, err
		}
		for i, f := range first(done.Failures, failuresTold) {
			file := FailedFile{show(f.Path, in.Base), f.Why}
			p.Failures = append(p.Failures, file)
			told := event.SourceFailed{URL: file.Path, Reason: file.Why}
			if i == failuresTold-1 {
				told.Others = len(done.Failures) - failuresTold
			}
			if err := s.Emit(told); err != nil {
				return p, err
			}
		}
		return p, nil
	})
}

// progress is how far a sync is, as one piece of work with at most one more for
// vectors: counting files is a part of reading them.
func progress(at kb.Progress, base string) event.Progress {
	p := event.Progress{What: string(kb.Reading), Done: int64(at.Done), Total: int64(at.Total), Note: show(at.Current, base)}
	switch at.Phase {
	case kb.Walking:
		p.Done, p.Total = int64(at.Found), 0
	case kb.Embedding:
		p.What = string(kb.Embedding)
	}
	return p
}

// InUse is the name of the collection to use when none is named, "" if none was
// chosen or it is not for this user to ask.
func (l *Local) InUse(ctx context.Context, user string) (string, error) {
	name, err := l.Active(ctx)
	if err != nil || name == "" || user == "" {
		return name, err
	}
	if _, err := l.Library.GetFor(ctx, user, name); errors.Is(err, kb.ErrNoCollection) {
		return "", nil
	}
	return name, nil
}

// collection finds the collection of a place for a user, or makes it.
func (l *Local) collection(ctx context.Context, user string, in Target) (kb.Collection, error) {
	c, err := l.find(ctx, user, in)
	if errors.Is(err, fs.ErrNotExist) {
		return c, &TargetError{Message: err.Error(), Hint: "give a folder or file that exists"}
	}
	return c, err
}

func (l *Local) find(ctx context.Context, user string, in Target) (kb.Collection, error) {
	if in.Collection == "" && len(in.Paths) == 0 {
		var err error
		if in.Collection, err = l.InUse(ctx, user); err != nil {
			return kb.Collection{}, err
		}
	}
	switch {
	case in.Collection == "" && len(in.Paths) == 0:
		return kb.Collection{}, &TargetError{Message: "it is not said in which documents to look", Hint: "name a folder with --in DIR, or choose a collection with `dossier kb use NAME`"}
	case in.Collection == "" && len(in.Paths) > 1:
		return kb.Collection{}, &TargetError{Message: "several folders are named, but no collection to put them into", Hint: "`dossier kb add DIR DIR --name NAME` makes one"}
	case in.Collection == "":
		return l.Library.EnsureFor(ctx, user, in.Paths[0])
	case len(in.Paths) == 0:
		c, err := l.Library.GetFor(ctx, user, in.Collection)
		if errors.Is(err, kb.ErrNoCollection) {
			return c, &TargetError{Message: fmt.Sprintf("there is no collection %q", in.Collection), Hint: "`dossier kb list` shows them; `dossier kb add DIR` makes one"}
		}
		return c, err
	}
	c, err := l.Library.CreateFor(ctx, user, in.Collection, in.Paths...)
	if !errors.Is(err, kb.ErrExists) {
		return c, err
	}
	if c, err = l.Library.Get(ctx, in.Collection); err != nil {
		return c, err
	}
	if user != "" && c.User != user {
		return c, &TargetError{Message: fmt.Sprintf("the name %q is taken", in.Collection), Hint: "choose another name for the collection"}
	}
	return l.Library.AddRoots(ctx, c.ID, in.Paths...)
}

// TargetError says that what a question is asked of is not there.
type TargetError struct{ Message, Hint string }

func (e *TargetError) Error() string { return e.Message }

// Fault tells the kernel how to record the error.
func (e *TargetError) Fault() (code, hint string) { return targetFault, e.Hint }

const targetFault = "usage"

// Notes are what a reader should know about the collection.
func (p Prepared) Notes(code lang.Code) []string {
	var out []string
	switch {
	case p.Documents == 0 && p.Partial:
		out = append(out, lang.Text(code, "research.none-read"))
	case p.Documents == 0:
		out = append(out, lang.Text(code, "research.no-documents", "name", p.Name))
	case p.Partial:
		out = append(out, lang.Text(code, "research.partly-read", "n", p.Documents))
	}
	if p.Outdated > 0 {
		out = append(out, lang.Text(code, "research.outdated", "n", p.Outdated))
	}
	if p.Failed > 0 {
		var named []string
		for _, f := range first(p.Failures, 3) {
			named = append(named, f.Path+" ("+f.Why+")")
		}
		text := lang.Text(code, "research.unread", "n", p.Failed)
		if len(named) > 0 {
			text += ": " + strings.Join(named, "; ")
		}
		if len(named) > 0 && p.Failed > len(named) {
			text += " …"
		}
		out = append(out, text)
	}
	return append(out, p.Warnings...)
}

// Corpus returns prepared collections as one corpus.
func (l *Local) Corpus(prepared ...Prepared) Corpus {
	parts := make(shelves, len(prepared))
	for i, p := range prepared {
		parts[i] = &localCorpus{l.Library, p}
	}
	if len(parts) == 1 {
		return parts[0]
	}
	return parts
}

type localCorpus struct {
	library *kb.Library
	at      Prepared
}

// LocalName is the name of the user's documents among the search engines.
const LocalName = "local"

// Name implements Corpus.
func (c *localCorpus) Name() string { return LocalName }

// Find implements Corpus.
func (c *localCorpus) Find(ctx context.Context, q Query) (Finding, error) {
	found, err := c.library.Search(ctx, c.at.Collection, kb.Query{Text: q.Text, Limit: q.Limit})
	if errors.Is(err, kb.ErrNoCollection) {
		return Finding{}, &removedError{c.at.Name}
	}
	if err != nil {
		return Finding{}, err
	}
	leads := make([]Lead, 0, len(found.Hits))
	for _, h := range found.Hits {
		leads = append(leads, LeadOf(h))
	}
	return Finding{Leads: leads}, nil
}

// LeadOf is a passage of a collection as a lead.
func LeadOf(h kb.Hit) Lead {
	return Lead{
		ID: h.ID, Ref: strconv.FormatInt(h.Document, 10), Kind: cite.File, URI: Address(h.Path),
		Title: h.Title, Author: h.Author, Date: h.Date, Lang: h.Lang, Text: h.Text, Ranking: h.Score,
		Spot: Spot{Start: h.Start, End: h.End, Headings: h.Headings, Page: h.Page}, Ranked: true, Near: h.Near,
	}
}

// Read implements Corpus.
func (c *localCorpus) Read(ctx context.Context, lead Lead) (Document, error) {
	n, err := strconv.ParseInt(lead.Ref, 10, 64)
	if err != nil {
		return Document{}, fmt.Errorf("the reference %q: %w", lead.Ref, err)
	}
	docs, err := c.library.Documents(ctx, c.at.Collection, n)
	if err != nil {
		return Document{}, err
	}
	if len(docs) == 0 {
		return Document{}, ErrGone
	}
	d := docs[0]
	return Document{Title: d.Title, Author: d.Author, Date: d.Date, Lang: d.Lang, Text: d.Text}, nil
}

// Weights implements Corpus.
func (c *localCorpus) Weights(ctx context.Context) (Weights, error) {
	return c.library.Words(ctx, c.at.Collection)
}

// removedError says that a collection went away under a run.
type removedError struct{ name string }

func (e *removedError) Error() string {
	return fmt.Sprintf("the collection %q was removed meanwhile", e.name)
}

// Fault tells the kernel how to record the error.
func (e *removedError) Fault() (code, hint string) {
	return "no_collection", "ask again: a folder that is named with --in is read anew"
}

// Address is a path as a source is known by it. It has to be UTF-8 and to tell
// files apart whose names are not: their bytes are written as in an address.
func Address(path string) string {
	if utf8.ValidString(path) {
		return path
	}
	var b strings.Builder
	for len(path) > 0 {
		r, n := utf8.DecodeRuneInString(path)
		if r == utf8.RuneError && n == 1 {
			fmt.Fprintf(&b, "%%%02X", path[0])
		} else {
			b.WriteString(path[:n])
		}
		path = path[n:]
	}
	return b.String()
}

// show is a path as a person at base would write it, safe to print.
func show(path, base string) string {
	if base != "" && path != "" {
		if rel, err := filepath.Rel(base, path); err == nil && filepath.IsLocal(rel) {
			path = rel
		}
	}
	return Address(path)
}
