package index

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// addUp scores every document that has a term of the query, posting by
// posting, and leaves nothing out on the way.
func addUp(t testing.TB, x *Index, q Query) []Hit {
	t.Helper()
	type known struct {
		name  string
		worth float32
	}
	var sources []known
	for _, term := range terms(x.parse(q.Text)) {
		docs := 0
		for _, s := range x.segments {
			docs += readAll(t, s, term.name, func(uint32, uint8) {})
		}
		if docs > 0 {
			sources = append(sources, known{term.name, term.weight * x.rarity(docs)})
		}
	}
	slices.SortFunc(sources, func(a, b known) int {
		return cmp.Or(cmp.Compare(b.worth, a.worth), cmp.Compare(a.name, b.name))
	})
	var hits []Hit
	for _, s := range x.segments {
		score := map[uint32]float32{}
		for _, src := range sources {
			readAll(t, s, src.name, func(doc uint32, count uint8) {
				score[doc] += src.worth * x.gain[int(count)<<8|int(s.parts[secLengths][doc])]
			})
		}
		for doc, sum := range score {
			if id := s.id(doc); !s.isGone(doc) && (q.Filter == nil || q.Filter(id)) {
				hits = append(hits, Hit{id, float64(sum)})
			}
		}
	}
	slices.SortFunc(hits, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.ID, b.ID))
	})
	return hits[:min(q.Limit, len(hits))]
}

// readAll walks over the dictionary from its beginning and reads the postings
// of a term bit by bit.
func readAll(t testing.TB, s *Segment, term string, yield func(doc uint32, count uint8)) int {
	t.Helper()
	in := &input{s: s}
	for {
		ok, err := in.next()
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			return 0
		}
		if string(in.name) != term {
			continue
		}
		l, ok := in.c.postings()
		if !ok {
			t.Fatalf("no postings of %q", term)
		}
		for block := range l.blocks() {
			from, next, ok := l.span(block)
			if !ok {
				t.Fatalf("block %d of %q", block, term)
			}
			bit := 8 * (from + 2)
			number := func(width byte) (v uint32) {
				for i := range width {
					v |= uint32(l.body[bit>>3]>>(bit&7)&1) << i
					bit++
				}
				return v
			}
			for range min(blockSize, l.docs-block*blockSize) {
				count := number(l.body[from+1])
				doc := next + number(l.body[from])
				yield(doc, uint8(count))
				next = doc + 1
			}
		}
		return l.docs
	}
}

// Whatever is skipped or forgotten on the way, a search finds what adding up
// everything finds, with the same scores to the last bit.
func TestSearchEqualsAddingUp(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var docs []Doc
	for i := range 6000 {
		b := strings.Builder{}
		b.WriteString("w200 ")
		if i%5 > 0 {
			b.WriteString(strings.Repeat("w201 ", 1+i%3))
		}
		for range 3 + random.IntN(40) {
			// Word 0 is in many documents, word 199 in very few.
			fmt.Fprintf(&b, "w%d ", min(random.IntN(200), random.IntN(200), random.IntN(200)))
		}
		docs = append(docs, Doc{ID: fmt.Sprintf("%05d", i*7919%6000), Text: b.String(), Lang: "en"})
	}
	whole := open(t, docs...)
	less, err := whole.Without("00005", "00100", "04000", "04001")
	if err != nil {
		t.Fatal(err)
	}
	indexes := []*Index{New(whole), New(less), New(open(t, docs[:100]...), open(t, docs[100:2500]...), open(t, docs[2500:]...))}
	filters := []func(string) bool{nil, func(id string) bool { return id[4] == '3' }, func(id string) bool { return id < "00004" }}
	rapid.Check(t, func(rt *rapid.T) {
		var words []string
		// Few documents that are left and a long list: blocks are passed over.
		numbers := rapid.OneOf(rapid.IntRange(0, 205), rapid.IntRange(200, 201), rapid.IntRange(150, 199))
		for _, n := range rapid.SliceOfN(numbers, 1, 6).Draw(rt, "words") {
			words = append(words, fmt.Sprintf("w%d", n))
		}
		q := Query{
			Text:   strings.Join(words, " "),
			Limit:  rapid.SampledFrom([]int{1, 3, 10, 50, 7000}).Draw(rt, "limit"),
			Filter: rapid.SampledFrom(filters).Draw(rt, "filter"),
		}
		x := rapid.SampledFrom(indexes).Draw(rt, "index")
		if got, want := search(t, x, q), addUp(t, x, q); !slices.Equal(got, want) {
			rt.Fatalf("%q: %v, want %v", q.Text, got, want)
		}
	})
}

// Postings of every width come out of a list as they went in, and a list that
// ends where its segment ends is not read beyond.
func TestPostingsComeBack(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 3*blockSize).Draw(rt, "postings")
		bits := rapid.IntRange(0, 17).Draw(rt, "bits of a gap")
		codes := rapid.IntRange(1, countCodes).Draw(rt, "codes")
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 0))
		var want []posting
		next := uint32(0)
		for range n {
			doc := next + random.Uint32N(1<<bits)
			want = append(want, posting{doc, uint8(random.IntN(codes))})
			next = doc + 1
		}
		data := appendPostings(nil, want, make([]byte, next))
		l, ok := cutList(append(data, make([]byte, 8)...), uint32(n), uint64(len(data)))
		if !ok {
			rt.Fatal("the list cannot be cut")
		}
		var got []posting
		for block := range l.blocks() {
			var buf postings
			n, ok := l.decode(block, next, &buf)
			if !ok {
				rt.Fatalf("block %d cannot be read", block)
			}
			for i := range n {
				got = append(got, posting{buf.docs[i], buf.counts[i]})
			}
		}
		if !slices.Equal(got, want) {
			rt.Fatalf("%v, want %v", got, want)
		}
		if _, ok := l.decode(l.blocks()-1, next-1, new(postings)); ok {
			rt.Fatal("a document beyond the last was taken")
		}
	})
}
