package kb

import (
	"context"

	"dossier/index"
)

// How much goes into the store at once.
const (
	batchDocuments = 512
	batchText      = 8 << 20
	batchSmall     = 4096 // deletions and new times
)

// applier collects changes and makes them in batches, each with the part of
// the index that belongs to it.
type applier struct {
	s           *syncing
	revision    int64
	lastDoc     int64 // the highest number of a document, ever
	lastSegment int64
	parts       []*part
	live        map[int64]struct{} // documents that may be found
	rows        map[string]located // vectors that there were when they were first asked for, by chunk

	change                  Change
	builder                 *index.Builder
	texts                   []chunkText // of the builder's documents, for the embedder
	bytes                   int
	added, changed, removed int
	reread, failed          int
}

// chunkText is what a vector is made of, and the vector if there is one.
type chunkText struct {
	id, text string
	have     located
}

func newApplier(ctx context.Context, s *syncing, c Collection, files []File) (*applier, error) {
	segments, at, err := s.l.store.Segments(ctx, s.id)
	if err != nil {
		return nil, err
	}
	if at != c.Revision {
		return nil, ErrChanged
	}
	a := &applier{s: s, revision: c.Revision, lastDoc: c.LastDocument, lastSegment: c.LastSegment, live: make(map[int64]struct{}, len(files))}
	for _, seg := range segments {
		p, err := openPart(seg)
		if err != nil {
			return nil, err
		}
		p.stored = true
		a.parts = append(a.parts, p)
	}
	for _, f := range files {
		if !f.Failed {
			a.live[f.N] = struct{}{}
		}
	}
	a.reset()
	return a, nil
}

func (a *applier) reset() {
	a.change, a.builder, a.texts, a.bytes = Change{Revision: a.revision}, index.NewBuilder(), nil, 0
	a.added, a.changed, a.removed = 0, 0, 0
	a.reread, a.failed = 0, 0
}

// apply adds what came of a task to the batch and commits the batch when it is
// full.
func (a *applier) apply(ctx context.Context, t *task, o outcome) error {
	switch o.action {
	case keep:
		a.s.result.Unchanged++
	case touch:
		a.change.Touch = append(a.change.Touch, File{N: t.old.N, Path: t.old.Path, Hash: t.old.Hash,
			Size: o.doc.Size, Modified: o.doc.Modified, Failed: t.old.Failed, Reading: t.old.Reading})
		a.s.result.Unchanged++
	case drop:
		if t.old != nil {
			return a.remove(ctx, t.old.N)
		}
	case put:
		a.put(ctx, t, o.doc)
	}
	return a.commitFull(ctx)
}

func (a *applier) put(ctx context.Context, t *task, d Document) {
	a.lastDoc++
	d.N = a.lastDoc
	var had vectorOf
	switch {
	case t.old == nil && d.Failure != nil: // it is no document
	case t.old == nil:
		a.added++
	case d.Hash != "" && d.Hash == t.old.Hash && d.Reading != t.old.Reading:
		a.reread++
	default:
		a.changed++
	}
	if t.old != nil {
		a.change.Delete = append(a.change.Delete, t.old.N)
		if a.embeds() && len(d.Chunks) > 0 {
			had = a.known(ctx, t.old.N)
		}
	}
	if d.Failure != nil {
		a.failed++
	}
	for i := range d.Chunks {
		doc := Indexed(&d, i)
		a.builder.Add(doc)
		if a.embeds() {
			text := Embedded(doc)
			a.texts = append(a.texts, chunkText{doc.ID, text, had[text]})
		}
	}
	a.bytes += len(d.Text)
	a.change.Put = append(a.change.Put, d)
}

// remove takes a document out.
func (a *applier) remove(ctx context.Context, n int64) error {
	a.change.Delete = append(a.change.Delete, n)
	a.removed++
	return a.commitFull(ctx)
}

func (a *applier) commitFull(ctx context.Context) error {
	if len(a.change.Put) >= a.s.l.batchMax || a.bytes >= batchText ||
		len(a.change.Delete) >= batchSmall || len(a.change.Touch) >= batchSmall {
		return a.commit(ctx)
	}
	return nil
}

// commit makes the changes collected so far.
func (a *applier) commit(ctx context.Context) error {
	if len(a.change.Put)+len(a.change.Delete)+len(a.change.Touch) == 0 {
		return nil
	}
	if a.builder.Len() > 0 {
		p, err := openPart(Segment{Data: a.builder.Bytes()})
		if err != nil {
			return err
		}
		if a.embeds() {
			if err := a.embed(ctx, p, a.texts); err != nil {
				return err
			}
		}
		a.parts = append(a.parts, p)
	}
	if err := a.compact(); err != nil {
		return err
	}
	return a.send(ctx)
}

// send makes the change, with whatever parts of the index differ from the
// stored ones.
func (a *applier) send(ctx context.Context) error {
	for _, p := range a.parts {
		if p.N == 0 {
			a.lastSegment++
			p.N = a.lastSegment
		}
		if !p.stored {
			a.change.Segments = append(a.change.Segments, p.Segment)
		}
	}
	revision, err := a.s.l.store.ChangeCollection(ctx, a.s.id, a.change)
	if err != nil {
		return err
	}
	a.revision = revision
	for _, p := range a.parts {
		p.stored = true
	}
	for _, n := range a.change.Delete {
		delete(a.live, n)
	}
	for i := range a.change.Put {
		if a.change.Put[i].Failure == nil {
			a.live[a.change.Put[i].N] = struct{}{}
		}
	}
	p, r := &a.s.progress, &a.s.result
	r.Added, r.Changed, r.Removed, r.Reread = r.Added+a.added, r.Changed+a.changed, r.Removed+a.removed, r.Reread+a.reread
	p.Added, p.Changed, p.Removed, p.Reread, p.Failed = r.Added, r.Changed, r.Removed, r.Reread, p.Failed+a.failed
	a.reset()
	return nil
}

// finish makes the last changes, and the collection synced.
func (a *applier) finish(ctx context.Context) error {
	if err := a.commit(ctx); err != nil {
		return err
	}
	if err := a.embedMissing(ctx); err != nil {
		return err
	}
	a.s.enter(Finishing)
	if err := a.bury(); err != nil {
		return err
	}
	if err := a.compact(); err != nil {
		return err
	}
	a.change.Synced = a.s.began.UTC()
	return a.send(ctx)
}
