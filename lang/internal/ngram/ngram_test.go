package ngram

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestAppendFeatures(t *testing.T) {
	for _, c := range []struct {
		word string
		want int // n-grams of ^word$ up to five letters, marks alone left out, and the whole
	}{{"a", 4}, {"abc", 13}, {"abcd", 19}, {"abcde", 24}} {
		if got := Append(nil, []rune(c.word)); len(got) != c.want {
			t.Errorf("%q has %d features, want %d", c.word, len(got), c.want)
		}
	}
	whole := Append(nil, []rune("abcde"))
	for _, h := range AppendFragment(nil, []rune("abcde"), false, false) {
		if !slices.Contains(whole, h) {
			t.Error("a fragment has a feature that its word lacks")
		}
	}
	if slices.Equal(Append(nil, []rune("ab")), Append(nil, []rune("ba"))) {
		t.Error("the order of letters is lost")
	}
}

// What Write stores, Open finds; what it doesn't, scores nothing.
func TestTableKeepsVectors(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		hashes := rapid.SliceOfNDistinct(rapid.Uint64(), 1, 40, rapid.ID).Draw(t, "hashes")
		trained := Trained{
			Script: "Test", Langs: []string{"aa", "bb"}, Dims: 2, Bits: 4,
			Bias: []float32{0, 1}, Out: []float32{1, 0, 0, 1}, Vectors: map[uint64][]int8{}, Order: hashes,
		}
		for i, h := range hashes {
			trained.Vectors[h] = []int8{int8(i), int8(-i)}
		}
		data, dropped := Write([]Trained{trained})
		models, err := Open(string(data))
		if err != nil {
			t.Fatal(err)
		}
		m, known := models[0], 0
		for i, h := range hashes {
			var v Vector
			if m.Add(&v, []uint64{h}) == 0 {
				continue
			}
			known++
			logits := make([]float64, 2)
			m.Logits(logits, &v)
			if same(hashes, h) == 1 && (logits[0] != float64(i) || logits[1] != float64(1-i)) {
				t.Fatalf("feature %d scores %v", i, logits)
			}
		}
		if known+dropped < len(hashes) {
			t.Fatalf("%d known and %d dropped of %d", known, dropped, len(hashes))
		}
		cut := rapid.IntRange(0, len(data)-1).Draw(t, "cut")
		if _, err := Open(string(data[:cut])); err == nil {
			t.Fatalf("a table cut at %d of %d opens", cut, len(data))
		}
	})
}

// However many vectors are summed, the sum is that of their components.
func TestLanesSumComponents(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dims := rapid.IntRange(1, MaxDims).Draw(t, "dims")
		kinds := rapid.SliceOfN(rapid.SliceOfN(rapid.Int8(), dims, dims), 1, 3).Draw(t, "vectors")
		var want, got Vector
		var sums lanes
		for n := range rapid.IntRange(0, 3*fullAt).Draw(t, "how many") {
			vec := make([]byte, dims)
			for d, x := range kinds[n%len(kinds)] {
				vec[d] = byte(x)
				want[d] += int32(x)
			}
			if sums.add(string(vec)) {
				sums.flush(&got)
			}
		}
		if sums.flush(&got); got != want {
			t.Fatalf("sum is %v, want %v", got, want)
		}
	})
}

// same counts the hashes that share h's bucket of 16 and check.
func same(hashes []uint64, h uint64) (n int) {
	for _, x := range hashes {
		if x>>60 == h>>60 && Check(x) == Check(h) {
			n++
		}
	}
	return n
}

func FuzzOpen(f *testing.F) {
	data, _ := Write([]Trained{{Script: "T", Langs: []string{"aa"}, Dims: 1, Bits: 1, Bias: []float32{0}, Out: []float32{0}}})
	f.Add(string(data))
	f.Fuzz(func(t *testing.T, data string) {
		if models, err := Open(data); err == nil {
			for _, m := range models {
				var v Vector
				m.Add(&v, []uint64{1, 1 << 63})
			}
		}
	})
}
