package catalog

import (
	"math"
	"slices"
	"strings"

	"dossier/index"
)

// part is a stretch of text that belongs to a field of an entry.
type part struct {
	entry int32
	field field
	end   int // in the text of the batch
}

// builder makes an Index.
type builder struct {
	x       *Index
	records []record
	lengths [][fieldCount]float64

	counts  [][fieldCount]uint8 // of a term, in the entry at hand
	listed  [][3]int32          // by which entry, counted from 1, a term was last put into a list of a profile
	touched []term

	text  strings.Builder
	parts []part
}

// record is how often an entry has a term, by field.
type record struct {
	term   term
	entry  int32
	counts [fieldCount]uint8
}

// batchText is how much text is read at once: words that many entries have are
// stemmed once in it.
const batchText = 1 << 20

func build(entries []Entry) *Index {
	x := &Index{
		entries: entries, words: map[string]term{}, pairs: map[[2]term]term{}, concepts: map[int32]term{},
		origin: make([]int32, len(entries)), profiles: make([]profile, len(entries)),
	}
	b := &builder{x: x, lengths: make([][fieldCount]float64, len(entries))}
	origins := map[string]int32{}
	for i := range entries {
		e := &entries[i]
		o, known := origins[e.Origin]
		if !known {
			o = int32(len(origins))
			origins[e.Origin] = o
		}
		x.origin[i] = o
		b.add(int32(i), e)
		if b.text.Len() >= batchText {
			b.read()
		}
	}
	b.read()
	x.origins = len(origins)
	b.post()
	x.spell()
	return x
}

// add puts the texts of an entry into the batch.
func (b *builder) add(i int32, e *Entry) {
	put := func(f field, text string) {
		b.text.WriteString(text)
		b.text.WriteByte('\n')
		b.parts = append(b.parts, part{i, f, b.text.Len()})
	}
	put(inName, spread(e.Name))
	put(inDescription, e.Description)
	a := argumentsOf(e.Schema)
	for _, s := range a.names {
		put(inArgument, spread(s))
	}
	for _, s := range a.descriptions {
		put(inArgumentText, s)
	}
	for _, s := range a.values {
		put(inValues, spread(s))
	}
	for _, s := range e.Tags {
		put(inTags, spread(s))
	}
	put(inPlace, spread(e.originName()))
	put(inAbout, e.About)
	for _, s := range e.Examples {
		put(inExamples, s)
	}
}

// read takes the words of the batch in.
func (b *builder) read() {
	text := b.text.String()
	words := tokens(text)
	b.records = slices.Grow(b.records, 2*len(words))
	for len(b.parts) > 0 {
		entry := b.parts[0].entry
		for len(b.parts) > 0 && b.parts[0].entry == entry {
			p := b.parts[0]
			n := 0
			for n < len(words) && words[n].Start < p.end {
				n++
			}
			b.count(p, text, words[:n])
			words, b.parts = words[n:], b.parts[1:]
		}
		b.flush(entry)
	}
	b.text.Reset()
	b.parts = b.parts[:0]
}

// count counts the words of a part and their pairs.
func (b *builder) count(p part, text string, words []index.Token) {
	profile := &b.x.profiles[p.entry]
	firstSentence := len(text)
	if p.field == inDescription && len(words) > 0 {
		from := words[0].Start
		if i := strings.IndexAny(text[min(from+briefest, p.end):p.end], ".\n。"); i >= 0 {
			firstSentence = from + briefest + i
		}
	}
	last := term(-1)
	for _, w := range words {
		if w.Function {
			continue
		}
		t := b.word(w.Term)
		b.tally(t, p.field)
		b.lengths[p.entry][p.field]++
		if last >= 0 && p.field != inArgumentText {
			b.tally(b.pair(last, t), p.field)
		}
		last = t
		if w.Number {
			continue
		}
		switch {
		case p.field == inName:
			b.once(p.entry, &profile.name, 0, t)
		case p.field == inDescription && w.Start <= firstSentence:
			b.once(p.entry, &profile.brief, 1, t)
		case p.field == inArgument || p.field == inArgumentText:
			b.once(p.entry, &profile.arguments, 2, t)
		}
	}
}

// once adds a term to a list of an entry's profile unless it is there.
func (b *builder) once(entry int32, to *[]term, list int, t term) {
	if b.listed[t][list] != entry+1 {
		b.listed[t][list] = entry + 1
		*to = append(*to, t)
	}
}

// briefest is how many bytes the first sentence of a description has at least:
// what is shorter is a title.
const briefest = 20

func (b *builder) tally(t term, f field) {
	if b.counts[t] == ([fieldCount]uint8{}) {
		b.touched = append(b.touched, t)
	}
	if b.counts[t][f] < math.MaxUint8 {
		b.counts[t][f]++
	}
}

// flush turns the counts of an entry into records, with the concepts that its
// words belong to: a concept is there as often as its most frequent word.
func (b *builder) flush(entry int32) {
	for _, t := range slices.Clip(b.touched) {
		for _, c := range b.x.conceptsOf[t] {
			if b.counts[c] == ([fieldCount]uint8{}) {
				b.touched = append(b.touched, c)
			}
			for f := range b.counts[c] {
				b.counts[c][f] = max(b.counts[c][f], b.counts[t][f])
			}
		}
	}
	for _, t := range b.touched {
		b.records = append(b.records, record{t, entry, b.counts[t]})
		b.counts[t] = [fieldCount]uint8{}
	}
	b.touched = b.touched[:0]
}

func (b *builder) next() term {
	b.counts = append(b.counts, [fieldCount]uint8{})
	b.x.conceptsOf = append(b.x.conceptsOf, nil)
	b.x.judged = append(b.x.judged, 0)
	b.x.latin = append(b.x.latin, false)
	b.listed = append(b.listed, [3]int32{})
	return term(len(b.counts) - 1)
}

func (b *builder) word(w string) term {
	t, known := b.x.words[w]
	if !known {
		t = b.next()
		b.x.words[w] = t
		b.x.judged[t], b.x.latin[t] = judged(w), latin(w)
		for _, group := range concepts()[w] {
			c, known := b.x.concepts[group]
			if !known {
				c = b.next()
				b.x.concepts[group] = c
			}
			b.x.conceptsOf[t] = append(b.x.conceptsOf[t], c)
		}
	}
	return t
}

func (b *builder) pair(first, second term) term {
	t, known := b.x.pairs[[2]term{first, second}]
	if !known {
		t = b.next()
		b.x.pairs[[2]term{first, second}] = t
	}
	return t
}

// post makes postings of the records.
func (b *builder) post() {
	x, n := b.x, len(b.x.entries)
	var average [fieldCount]float64
	for _, l := range b.lengths {
		for f := range l {
			average[f] += l[f] / float64(n)
		}
	}
	x.starts = make([]int32, len(b.counts)+1)
	for i := range b.records {
		x.starts[b.records[i].term+1]++
	}
	x.rarity = make([]float64, len(b.counts))
	for t := range x.rarity {
		x.rarity[t] = rarityOf(int(x.starts[t+1]), n)
		x.starts[t+1] += x.starts[t]
	}
	next := slices.Clone(x.starts)
	x.postings = make([]posting, len(b.records))
	for i := range b.records {
		r := &b.records[i]
		weight := 0.0
		for f, count := range r.counts {
			if count > 0 {
				weight += fieldWeights[f] * float64(count) / (1 - lengthNorm + lengthNorm*b.lengths[r.entry][f]/average[f])
			}
		}
		impact := weight / (saturation + weight)
		if r.counts[inName] > 0 {
			impact += nameBonus
		}
		x.postings[next[r.term]] = posting{r.entry, float32(impact)}
		next[r.term]++
	}
}
