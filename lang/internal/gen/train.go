package main

import (
	"cmp"
	"log"
	"math"
	"math/rand/v2"
	"slices"
	"sort"

	"dossier/lang/internal/ngram"
)

const (
	rareWords   = 0.5  // exponent of frequency for examples of one or two words
	usualWords  = 0.85 // and for longer ones, where common words decide
	learning    = 0.25
	dropWhole   = 0.5 // how often the whole-word feature is hidden, so that n-grams learn too
	dropFeature = 0.1
)

// An example has the features of one string: indices of selected features.
type example struct {
	features []int32
	whole    bool // the last feature is the whole word
}

// A pool draws examples of a language by weight.
type pool struct {
	examples []example
	cum      [2][]float64 // cumulative weights: rareWords, usualWords
}

func (p *pool) draw(rng *rand.Rand, kind int) *example {
	cum := p.cum[kind]
	i := sort.SearchFloat64s(cum, rng.Float64()*cum[len(cum)-1])
	return &p.examples[min(i, len(cum)-1)]
}

func heldOut(w string) bool {
	h := ngram.Append(nil, []rune(w))
	return h[len(h)-1]%50 == 0
}

func train(g group, data map[string]*corpus) ngram.Trained {
	order := selectFeatures(g, data)
	index := make(map[uint64]int32, len(order))
	for i, h := range order {
		index[h] = int32(i)
	}
	log.Printf("%s: %d features", g.script, len(order))
	words := make([]pool, len(g.langs))
	fragments := make([]pool, len(g.langs))
	test := make([]pool, len(g.langs))
	for l, lang := range g.langs {
		c := data[lang]
		var seen, kept []item
		for _, it := range c.words {
			if heldOut(it.text) && len([]rune(it.text)) > 4 {
				kept = append(kept, it)
			} else {
				seen = append(seen, it)
			}
		}
		words[l] = newPool(seen, index, true)
		fragments[l] = newPool(c.fragments, index, false)
		test[l] = newPool(kept[:min(len(kept), 1500)], index, true)
		log.Printf("%s: %s: %d words, %d fragments", g.script, lang, len(seen), len(c.fragments))
	}
	m := newLinear(len(order), len(g.langs), g.dims)
	rng := rand.New(rand.NewPCG(1, 2))
	feats := make([]int32, 0, 1024)
	var loss float64
	report := max(g.steps/12, 1)
	for step := range g.steps {
		l := rng.IntN(len(g.langs))
		feats = feats[:0]
		fragmentShare := 0.15
		if data[g.langs[l]].borrowed {
			fragmentShare = 0.4
		}
		if rng.Float64() < fragmentShare {
			feats = append(feats, fragments[l].draw(rng, 0).features...)
		} else {
			n, kind := length(rng)
			for range n {
				feats = words[l].draw(rng, kind).appendNoisy(feats, rng)
			}
		}
		rate := learning * (1 - float64(step)/float64(g.steps))
		loss += m.update(feats, l, rate)
		if (step+1)%report == 0 {
			log.Printf("%s: step %d loss %.4f held-out words %.4f", g.script, step+1, loss/float64(report), m.accuracy(test))
			loss = 0
		}
	}
	return m.quantise(g, order)
}

// length draws how many words an example has, and the pool's kind.
func length(rng *rand.Rand) (n, kind int) {
	switch x := rng.Float64(); {
	case x < 0.55:
		return 1, 0
	case x < 0.7:
		return 2, 0
	default:
		return 2 + rng.IntN(7), 1
	}
}

func (e *example) appendNoisy(dst []int32, rng *rand.Rand) []int32 {
	features := e.features
	if e.whole && rng.Float64() < dropWhole {
		features = features[:len(features)-1]
	}
	for _, f := range features {
		if rng.Float64() >= dropFeature {
			dst = append(dst, f)
		}
	}
	return dst
}

func newPool(items []item, index map[uint64]int32, words bool) pool {
	p := pool{examples: make([]example, len(items))}
	var sum [2]float64
	var buf []uint64
	for i, it := range items {
		buf = ngram.AppendFragment(buf[:0], []rune(it.text), words, words)
		e := &p.examples[i]
		for k, h := range buf {
			if id, ok := index[h]; ok {
				e.features = append(e.features, id)
				e.whole = words && k == len(buf)-1 && len([]rune(it.text)) > 3
			}
		}
		e.features = slices.Clip(e.features)
		for k, exp := range []float64{rareWords, usualWords} {
			sum[k] += math.Pow(it.freq, exp)
			p.cum[k] = append(p.cum[k], sum[k])
		}
	}
	return p
}

// selectFeatures returns the hashes of the features that tell the most about
// the language, most first, as many as the table has room for: a feature's
// weight is its mass times the divergence of its languages from uniform.
func selectFeatures(g group, data map[string]*corpus) []uint64 {
	n := len(g.langs)
	index := map[uint64]int32{}
	var hashes []uint64
	var mass []float32
	var buf []uint64
	for l, lang := range g.langs {
		c := data[lang]
		for k, items := range [][]item{c.words, c.fragments} {
			share := []float64{1, 0.3}[k]
			var sum float64
			for _, it := range items {
				sum += math.Pow(it.freq, rareWords)
			}
			for _, it := range items {
				w := float32(share * math.Pow(it.freq, rareWords) / sum)
				buf = ngram.AppendFragment(buf[:0], []rune(it.text), k == 0, k == 0)
				for _, h := range buf {
					id, ok := index[h]
					if !ok {
						id = int32(len(hashes))
						index[h] = id
						hashes = append(hashes, h)
						mass = append(mass, make([]float32, n)...)
					}
					mass[int(id)*n+l] += w
				}
			}
		}
	}
	score := make([]float64, len(hashes))
	const smooth = 2e-7
	for i := range hashes {
		row := mass[i*n : (i+1)*n]
		var sum float64
		for _, x := range row {
			sum += float64(x) + smooth
		}
		var div float64
		for _, x := range row {
			p := (float64(x) + smooth) / sum
			div += p * math.Log(p*float64(n))
		}
		score[i] = sum * div
	}
	ids := make([]int, len(hashes))
	for i := range ids {
		ids[i] = i
	}
	slices.SortFunc(ids, func(a, b int) int {
		return cmp.Or(cmp.Compare(score[b], score[a]), cmp.Compare(hashes[a], hashes[b]))
	})
	room := ngram.Slots << g.bits
	out := make([]uint64, 0, room)
	used := make([]uint8, 1<<g.bits)
	for _, id := range ids {
		h := hashes[id]
		// A full bucket passes its place on to the next best feature elsewhere.
		if b := h >> (64 - g.bits); used[b] < ngram.Slots {
			used[b]++
			out = append(out, h)
		}
		if len(out) == room {
			break
		}
	}
	return out
}
