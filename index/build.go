package index

import (
	"encoding/binary"
	"slices"
	"strings"

	"dossier/lang"
)

// Doc is a document or a passage of one. The words of Title and Heading count
// more than those of Text.
type Doc struct {
	ID      string    // names it in a Hit; unique among the documents of an index
	Title   string    // of the document
	Heading string    // where in the document the text stands
	Text    string    //
	Lang    lang.Code // found from the text if empty
}

// Builder collects documents for a segment. It is not safe for concurrent
// use.
type Builder struct {
	scan     scanner
	stemmer  stemmer
	surfaces map[string]uint32
	spelling []string
	forms    []form
	byTongue [inNone + 1][]uint32 // by surface of a Latin word: its term's number plus one

	terms  map[string]uint32
	names  []string // by number of the term
	docsOf []uint32 // by number of the term: how many documents hold it
	at     []uint32 // by number of the term: its place in the document at hand, plus one

	heads, words []uint32 // surfaces of the document at hand
	here         []uint32 // terms of the document at hand
	count        []uint32 // of those

	postTerm  []uint32 // postings in order of documents
	postCount []uint8
	docEnd    []uint32 // where each document's postings end

	ids       []byte
	starts    []uint32
	lens      []byte
	tokens    uint64
	languages [inNone + 1]uint32
}

// form is what is known of a surface.
type form struct {
	kind  kind
	votes uint32 // tongues in which it is a function word
	term  uint32 // number plus one; for Latin words see byTongue
}

// NewBuilder returns a builder without documents.
func NewBuilder() *Builder {
	return &Builder{surfaces: map[string]uint32{}, terms: map[string]uint32{}}
}

// Len returns how many documents were added.
func (b *Builder) Len() int { return len(b.starts) }

// Add appends a document.
func (b *Builder) Add(d Doc) {
	var v ballot
	b.heads = b.read(b.heads[:0], d.Title, &v)
	b.heads = b.read(b.heads, d.Heading, &v)
	b.words = b.read(b.words[:0], d.Text, &v)
	t := b.tongue(d, &v)

	b.here, b.count = b.here[:0], b.count[:0]
	for _, s := range b.heads {
		b.tally(b.term(s, t), headWeight)
	}
	for _, s := range b.words {
		b.tally(b.term(s, t), 1)
	}
	for i, term := range b.here {
		b.at[term] = 0
		b.docsOf[term]++
		b.postTerm = append(b.postTerm, term)
		b.postCount = append(b.postCount, countCode(b.count[i]))
	}
	b.docEnd = append(b.docEnd, uint32(len(b.postTerm)))
	length := uint32(len(b.heads) + len(b.words))
	b.tokens += uint64(length)
	b.lens = append(b.lens, lengthCode(length))
	b.starts = append(b.starts, uint32(len(b.ids)))
	b.ids = append(b.ids, d.ID...)
	if v.words > 0 {
		b.languages[t]++
	}
}

// ballot counts the function words of a text by tongue.
type ballot struct {
	words int // Latin ones
	votes [inNone + 1]int
}

// read appends the surfaces of text.
func (b *Builder) read(out []uint32, text string, v *ballot) []uint32 {
	b.scan.reset(text)
	for b.scan.next() {
		id, ok := b.surfaces[string(b.scan.surface)]
		if !ok {
			id = uint32(len(b.forms))
			f := form{kind: b.scan.kind}
			if f.kind == latin {
				f.votes = votes()[string(b.scan.surface)]
			}
			spelling := string(b.scan.surface)
			b.surfaces[spelling] = id
			b.spelling = append(b.spelling, spelling)
			b.forms = append(b.forms, f)
		}
		f := &b.forms[id]
		if f.kind == latin {
			v.words++
			for set, t := f.votes, 0; set != 0; set, t = set>>1, t+1 {
				v.votes[t] += int(set & 1)
			}
		}
		out = append(out, id)
	}
	return out
}

// tongue decides how the Latin words of a document are stemmed: as told, else
// by its function words, else by a detector that costs more, else (a text of
// a few words) like most documents before it.
func (b *Builder) tongue(d Doc, v *ballot) tongue {
	if v.words == 0 {
		return inEnglish
	}
	if d.Lang != "" && d.Lang != lang.Unknown {
		return latinTongue(d.Lang)
	}
	best, second := inEnglish, 0
	for t := range v.votes {
		if n := v.votes[t]; n > v.votes[best] {
			best = tongue(t)
		}
	}
	for t := range v.votes {
		if tongue(t) != best {
			second = max(second, v.votes[t])
		}
	}
	if n := v.votes[best]; n >= 2 && n*6 >= v.words && n*3 > second*4 {
		return best
	}
	if v.words < 12 {
		most := inEnglish
		for t, n := range b.languages {
			if n > b.languages[most] {
				most = tongue(t)
			}
		}
		if b.languages[most] > 0 {
			return most
		}
	}
	return latinTongue(lang.Detect(d.Title + "\n" + d.Heading + "\n" + d.Text))
}

// latinTongue returns the tongue for Latin words in a document of a language.
func latinTongue(code lang.Code) tongue {
	switch code {
	case "ru", "uk", "be", "bg", "sr", "mk", "kk", "zh", "ja", "ko", "ar", "fa", "he", "el", "hi", "th", lang.Unknown:
		return inEnglish
	}
	return tongueOf(code)
}

// term returns the number of a surface's term in language t.
func (b *Builder) term(surface uint32, t tongue) uint32 {
	f := &b.forms[surface]
	known := &f.term
	if f.kind == latin {
		table := &b.byTongue[t]
		if int(surface) >= len(*table) {
			*table = append(*table, make([]uint32, len(b.forms)-len(*table))...)
		}
		known = &(*table)[surface]
	}
	if *known == 0 {
		*known = b.number(surface, f.kind, t) + 1
	}
	return *known - 1
}

// number finds or makes the number of a surface's term.
func (b *Builder) number(surface uint32, k kind, t tongue) uint32 {
	name := b.stemmer.term(b.spelling[surface], k, t)
	n, ok := b.terms[name]
	if !ok {
		n = uint32(len(b.names))
		b.terms[name] = n
		b.names = append(b.names, name)
		b.docsOf = append(b.docsOf, 0)
		b.at = append(b.at, 0)
	}
	return n
}

// tally counts a term of the document at hand.
func (b *Builder) tally(term, weight uint32) {
	if at := b.at[term]; at > 0 {
		b.count[at-1] += weight
		return
	}
	b.here = append(b.here, term)
	b.count = append(b.count, weight)
	b.at[term] = uint32(len(b.here))
}

// Bytes returns the segment of the documents added so far. The builder can go
// on adding.
func (b *Builder) Bytes() []byte {
	order := make([]uint32, len(b.names))
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortFunc(order, func(x, y uint32) int { return strings.Compare(b.names[x], b.names[y]) })

	// Postings come in order of documents; sort them by term, keeping that.
	place := make([]uint32, len(b.names))
	sum := uint32(0)
	for _, t := range order {
		place[t] = sum
		sum += b.docsOf[t]
	}
	sorted := make([]posting, len(b.postTerm))
	from := uint32(0)
	for doc, to := range b.docEnd {
		for i := from; i < to; i++ {
			t := b.postTerm[i]
			sorted[place[t]] = posting{uint32(doc), b.postCount[i]}
			place[t]++
		}
		from = to
	}

	w := newWriter(b.lens)
	from = 0
	for _, t := range order {
		if n := b.docsOf[t]; n > 0 {
			w.add(b.names[t], sorted[from:from+n])
			from += n
		}
	}
	var languages []byte
	for t, n := range b.languages {
		if n > 0 {
			languages = appendLanguage(languages, tongues[t].code, uint64(n))
		}
	}
	return w.bytes(languages, b.starts, b.ids, b.tokens)
}

func appendLanguage(out []byte, code lang.Code, docs uint64) []byte {
	out = append(binary.AppendUvarint(out, uint64(len(code))), code...)
	return binary.AppendUvarint(out, docs)
}

// writer makes a segment of terms that come in order.
type writer struct {
	lens     []byte
	n        uint32
	blocks   []uint32
	terms    []byte
	previous string
	postings []byte
}

func newWriter(lens []byte) *writer { return &writer{lens: lens} }

// add appends a term and its postings, of which there is at least one.
func (w *writer) add(name string, list []posting) {
	shared := 0
	if w.n%termsPerBlock == 0 {
		w.blocks = append(w.blocks, uint32(len(w.terms)))
		w.terms = binary.AppendUvarint(w.terms, uint64(len(w.postings)))
	} else {
		for shared < len(name) && shared < len(w.previous) && name[shared] == w.previous[shared] {
			shared++
		}
	}
	start := len(w.postings)
	w.postings = appendPostings(w.postings, list, w.lens)
	w.terms = binary.AppendUvarint(w.terms, uint64(shared))
	w.terms = binary.AppendUvarint(w.terms, uint64(len(name)-shared))
	w.terms = append(w.terms, name[shared:]...)
	w.terms = binary.AppendUvarint(w.terms, uint64(len(list)))
	w.terms = binary.AppendUvarint(w.terms, uint64(len(w.postings)-start))
	w.previous = name
	w.n++
}

// bytes assembles the segment.
func (w *writer) bytes(languages []byte, starts []uint32, ids []byte, tokens uint64) []byte {
	var parts [sections][]byte
	parts[secLanguages] = languages
	parts[secStarts] = appendUint32s(make([]byte, 0, 4*len(starts)+4), starts)
	parts[secStarts] = binary.LittleEndian.AppendUint32(parts[secStarts], uint32(len(ids)))
	parts[secIDs] = ids
	parts[secLengths] = w.lens
	parts[secBlocks] = appendUint32s(make([]byte, 0, 4*len(w.blocks)), w.blocks)
	parts[secTerms] = w.terms
	parts[secPostings] = append(w.postings, make([]byte, 8)...)
	return assemble(header{uint32(len(starts)), w.n, uint32(len(w.blocks)), tokens}, parts)
}

func appendUint32s(out []byte, values []uint32) []byte {
	for _, v := range values {
		out = binary.LittleEndian.AppendUint32(out, v)
	}
	return out
}
