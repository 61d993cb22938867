package kb

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"dossier/index"
)

// embeds reports whether chunks get vectors.
func (a *applier) embeds() bool { return a.s.l.embedder != nil && !a.s.mute }

// Embedded is the text of a chunk that becomes a vector: with its place, since a
// passage alone often does not say what it is about.
func Embedded(d index.Doc) string {
	head := d.Title
	if d.Heading != "" {
		head += " / " + d.Heading
	}
	return head + "\n" + d.Text
}

// embed gives a part vectors for texts, beside those that it has. An embedder
// that fails is a warning: the rest goes on without it, and the next sync
// tries again.
func (a *applier) embed(ctx context.Context, p *part, texts []chunkText) error {
	name := a.s.l.embedder.Name()
	var b *index.VectorBuilder
	var fault error
	texts = slices.DeleteFunc(texts, func(t chunkText) bool {
		if t.have.set == nil {
			return false
		}
		if b == nil {
			b = index.NewVectorBuilder(t.have.set.Dims())
		}
		return b.Copy(t.id, t.have.set, t.have.row) == nil
	})
	asked, stop := context.WithCancel(ctx)
	defer stop()
	for _, batch := range a.ask(asked, texts) {
		made := <-batch.made
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if fault = made.err; fault == nil && len(made.vectors) != len(batch.texts) {
			fault = fmt.Errorf("%d vectors for %d texts", len(made.vectors), len(batch.texts))
		}
		for i := 0; i < len(batch.texts) && fault == nil; i++ {
			if b == nil {
				b = index.NewVectorBuilder(len(made.vectors[i]))
			}
			fault = b.Add(batch.texts[i].id, made.vectors[i])
		}
		if fault != nil {
			break // what was asked besides is broken off
		}
		a.s.report(a.s.progress.Current)
	}
	if fault != nil {
		a.s.mute = true
		a.s.warn(fmt.Sprintf("embedder %s failed, so chunks are found by words only until the next sync: %v", name, fault))
	}
	if b == nil {
		return nil
	}
	made, err := index.OpenVectors(b.Bytes())
	if err != nil {
		return err
	}
	data := b.Bytes()
	if p.vectors != nil && p.Embedder == name {
		// Vectors of another length are of another model of that name.
		if joined, err := index.MergeVectors(p.index.Has, p.vectors, made); err == nil {
			data = joined
		}
	}
	p.Vectors, p.Embedder, p.stored = data, name, false
	p.openVectors()
	return nil
}

// callsAtOnce is how many batches an embedder has to work on: while one is on
// its way another can be reckoned.
const callsAtOnce = 4

// batch is some texts and, once it is there, what the embedder made of them.
type batch struct {
	texts []chunkText
	made  chan embedded
}

type embedded struct {
	vectors [][]float32
	err     error
}

// ask puts texts to the embedder in batches, several at once, until ctx ends.
func (a *applier) ask(ctx context.Context, texts []chunkText) []batch {
	var batches []batch
	for some := range slices.Chunk(texts, a.s.l.opts.EmbedBatch) {
		batches = append(batches, batch{some, make(chan embedded, 1)})
	}
	next := make(chan batch, len(batches))
	for _, b := range batches {
		next <- b
	}
	close(next)
	for range min(callsAtOnce, len(batches)) {
		go func() {
			for b := range next {
				plain := make([]string, len(b.texts))
				for i, t := range b.texts {
					plain[i] = t.text
				}
				var made embedded
				if made.err = ctx.Err(); made.err == nil {
					made.vectors, made.err = a.s.l.embedder.Embed(ctx, plain)
				}
				b.made <- made
			}
		}()
	}
	return batches
}

// embedAtOnce is how many chunks of an old segment get vectors in one change.
const embedAtOnce = 2048

// embedMissing makes the vectors that are missing: those of chunks that were
// put in without an embedder, with another one or while it failed.
func (a *applier) embedMissing(ctx context.Context) error {
	if !a.embeds() {
		return nil
	}
	missing := make([][]string, len(a.parts))
	total := 0
	for i, p := range a.parts {
		have := map[string]bool{}
		if p.vectors != nil && p.Embedder == a.s.l.embedder.Name() {
			if p.vectors.Len() >= p.index.Len()+p.index.Deleted() {
				continue
			}
			for id := range p.vectors.IDs() {
				have[id] = true
			}
		}
		for id := range p.index.IDs() {
			n, _, _ := ParseChunkID(id)
			if _, live := a.live[n]; live && !have[id] {
				missing[i] = append(missing[i], id)
			}
		}
		total += len(missing[i])
	}
	if total == 0 {
		return nil
	}
	a.s.progress.Total, a.s.progress.Done = total, 0
	a.s.enter(Embedding)
	for i, p := range a.parts {
		for ids := missing[i]; len(ids) > 0 && a.embeds(); {
			some := ids[:min(len(ids), embedAtOnce)]
			ids = ids[len(some):]
			texts, err := a.chunkTexts(ctx, some)
			if err == nil {
				err = a.embed(ctx, p, texts)
			}
			if err != nil {
				return err
			}
			if err := a.send(ctx); err != nil {
				return err
			}
			a.s.progress.Done += len(some)
			a.s.report("")
		}
	}
	return nil
}

// chunkTexts reads chunks back from the store.
func (a *applier) chunkTexts(ctx context.Context, ids []string) ([]chunkText, error) {
	texts := make([]chunkText, 0, len(ids))
	docs := map[int64]*Document{}
	for _, id := range ids {
		n, chunk, ok := ParseChunkID(id)
		if !ok {
			return nil, errors.New("the index names no chunk of this collection: " + id)
		}
		if docs[n] == nil {
			clear(docs) // chunks of a document follow each other
			read, err := a.s.l.store.Documents(ctx, a.s.id, n)
			if err != nil {
				return nil, err
			}
			if len(read) == 0 {
				return nil, ErrChanged
			}
			docs[n] = &read[0]
		}
		if chunk < len(docs[n].Chunks) {
			texts = append(texts, chunkText{id: id, text: Embedded(Indexed(docs[n], chunk))})
		}
	}
	return texts, nil
}
