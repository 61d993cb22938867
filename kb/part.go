package kb

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"dossier/extract"
	"dossier/index"
)

// part is a segment that is open.
type part struct {
	Segment
	index   *index.Segment // less what is dead
	vectors *index.Vectors // nil if it has none
	stored  bool           // as it is here
}

func openPart(s Segment) (*part, error) {
	seg, err := index.Open(s.Data)
	if err == nil {
		seg, err = seg.Bury(s.Dead)
	}
	if err != nil {
		return nil, fmt.Errorf("index segment %d: %w", s.N, err)
	}
	p := &part{Segment: s, index: seg}
	p.openVectors()
	return p, nil
}

// openVectors opens the vectors. Damaged ones are as good as none: they are
// made again.
func (p *part) openVectors() {
	p.vectors = nil
	if len(p.Vectors) == 0 {
		return
	}
	v, err := index.OpenVectors(p.Vectors)
	if err != nil {
		p.Vectors, p.Embedder = nil, ""
		return
	}
	p.vectors = v
}

// Indexed is a chunk of a document as the index gets it. A search reads it in
// the same form.
func Indexed(d *Document, chunk int) index.Doc {
	c := d.Chunks[chunk]
	headings := c.Headings
	if len(headings) > 0 && headings[0] == d.Title {
		headings = headings[1:]
	}
	return index.Doc{ID: ChunkID(d.N, chunk), Title: strings.TrimPrefix(d.Title+" / "+nameOf(d), " / "), Heading: strings.Join(headings, " / "),
		Text: d.Text[c.Start:c.End], Lang: d.Lang}
}

// Candidate is a chunk of a document as it is ranked.
func Candidate(d *Document, chunk int) extract.Candidate {
	c := d.Chunks[chunk]
	return extract.Candidate{
		Passage: extract.Passage{ID: ChunkID(d.N, chunk), Title: d.Title, Headings: c.Headings, Text: d.Text[c.Start:c.End]},
		Name:    nameOf(d), Lang: d.Lang, Position: chunk,
		First: chunk == 0 || !slices.Equal(d.Chunks[chunk-1].Headings, c.Headings),
	}
}

// nameOf is what a file is called, with the folder that it is in: both often
// say what it is about.
func nameOf(d *Document) string {
	name := filepath.Base(d.Path)
	name = strings.TrimSuffix(name, filepath.Ext(name))
	if folder := filepath.Base(filepath.Dir(d.Path)); folder != "." && folder != string(filepath.Separator) {
		name = folder + " / " + name
	}
	return strings.ToValidUTF8(name, "")
}

// titleOf is what a document is called: its title or, failing that, the name
// of its file.
func titleOf(d *Document) string {
	if d.Title != "" {
		return d.Title
	}
	name := filepath.Base(d.Path)
	if ext := filepath.Ext(name); strings.Trim(ext, ".0123456789") != "" { // a number is a part of the name, as in LGPL-2.1
		name = strings.TrimSuffix(name, ext)
	}
	return strings.ToValidUTF8(strings.NewReplacer("_", " ", "-", " ").Replace(name), "")
}

// Segments of about the same size are joined when there are this many, so
// that there are few and each document is moved a few times only.
const (
	tierFanout = 4
	tierBase   = 256     // chunks; smaller segments are alike
	mergeMax   = 1 << 29 // bytes; more are left apart
)

func tier(n int) int {
	t := 0
	for size := tierBase; n >= size && size < 1<<40; size *= tierFanout {
		t++
	}
	return t
}

// compact joins small parts.
func (a *applier) compact() error {
	for {
		type kind struct {
			tier     int
			embedder string
		}
		groups := map[kind][]*part{}
		var full []*part
		for _, p := range a.parts {
			k := kind{tier(p.index.Len()), p.Embedder}
			groups[k] = append(groups[k], p)
			if len(groups[k]) == tierFanout && size(groups[k]) <= mergeMax {
				full = groups[k]
				break
			}
		}
		if full == nil {
			return nil
		}
		if err := a.merge(full); err != nil {
			return err
		}
	}
}

func size(parts []*part) int {
	n := 0
	for _, p := range parts {
		n += len(p.Data) + len(p.Vectors)
	}
	return n
}

// merge puts one part in the place of several, without what is dead.
func (a *applier) merge(parts []*part) error {
	segments := make([]*index.Segment, len(parts))
	var vectors []*index.Vectors
	for i, p := range parts {
		segments[i] = p.index
		if p.vectors != nil {
			vectors = append(vectors, p.vectors)
		}
	}
	data, err := index.Merge(segments...)
	if err != nil {
		return err
	}
	joined, err := openPart(Segment{Data: data})
	if err != nil {
		return err
	}
	if len(vectors) > 0 {
		// Vectors that cannot be joined are made again.
		if data, err := index.MergeVectors(joined.index.Has, vectors...); err == nil {
			joined.Vectors, joined.Embedder = data, parts[0].Embedder
			joined.openVectors()
		}
	}
	a.leave(parts...)
	if joined.index.Len() > 0 {
		a.parts = append(a.parts, joined)
	}
	return nil
}

// leave takes parts out of the index.
func (a *applier) leave(parts ...*part) {
	gone := map[*part]bool{}
	for _, p := range parts {
		gone[p] = true
		if p.N != 0 {
			a.change.Drop = append(a.change.Drop, p.N)
		}
	}
	kept := a.parts[:0]
	for _, p := range a.parts {
		if !gone[p] {
			kept = append(kept, p)
		}
	}
	clear(a.parts[len(kept):])
	a.parts = kept
}

// bury marks chunks of documents that are gone, also of those that a sync
// which was cut short has left behind. Parts that are dead for the most are
// written anew.
func (a *applier) bury() error {
	var mostly []*part
	for _, p := range a.parts {
		var dead []string
		for id := range p.index.IDs() {
			n, _, _ := ParseChunkID(id)
			if _, ok := a.live[n]; !ok {
				dead = append(dead, id)
			}
		}
		if len(dead) == 0 {
			continue
		}
		seg, err := p.index.Without(dead...)
		if err != nil {
			return err
		}
		p.index, p.Dead, p.stored = seg, seg.Tombstones(), false
		if seg.Deleted() > seg.Len() {
			mostly = append(mostly, p)
		}
	}
	for _, p := range mostly {
		if err := a.merge([]*part{p}); err != nil {
			return err
		}
	}
	return nil
}
