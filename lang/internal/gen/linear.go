package main

import (
	"math"
	"math/rand/v2"

	"dossier/lang/internal/ngram"
)

// featureScale keeps the sum over a word's features near one.
const featureScale = 0.2

// linear is a softmax over out·Σ vectors, trained by AdaGrad with one step
// size per feature.
type linear struct {
	langs, dims int
	vec         []float32 // feature rows of dims
	seen        []float32 // squared gradients of a row
	out, outSq  []float32 // language rows of dims
	bias        []float32
	sum, grad   []float32
	logit       []float64
}

func newLinear(features, langs, dims int) *linear {
	m := &linear{
		langs: langs, dims: dims,
		vec: make([]float32, features*dims), seen: make([]float32, features),
		out: make([]float32, langs*dims), outSq: make([]float32, langs*dims),
		bias: make([]float32, langs),
		sum:  make([]float32, dims), grad: make([]float32, dims), logit: make([]float64, langs),
	}
	rng := rand.New(rand.NewPCG(3, 4))
	for i := range m.out {
		m.out[i] = float32(rng.NormFloat64())
	}
	for i := range m.outSq {
		m.outSq[i] = 1
	}
	for i := range m.seen {
		m.seen[i] = 1e-2
	}
	return m
}

// score fills sum and logit, which become probabilities.
func (m *linear) score(features []int32) {
	clear(m.sum)
	for _, f := range features {
		for d, x := range m.vec[int(f)*m.dims:][:m.dims] {
			m.sum[d] += x
		}
	}
	top := math.Inf(-1)
	for l := range m.langs {
		var s float32
		for d, w := range m.out[l*m.dims:][:m.dims] {
			s += w * m.sum[d]
		}
		m.logit[l] = float64(s*featureScale + m.bias[l])
		top = max(top, m.logit[l])
	}
	var z float64
	for l := range m.logit {
		m.logit[l] = math.Exp(m.logit[l] - top)
		z += m.logit[l]
	}
	for l := range m.logit {
		m.logit[l] /= z
	}
}

// update makes one step towards language want and returns the loss before it.
func (m *linear) update(features []int32, want int, rate float64) float64 {
	m.score(features)
	loss := -math.Log(max(m.logit[want], 1e-12))
	clear(m.grad)
	for l := range m.langs {
		g := float32(m.logit[l])
		if l == want {
			g--
		}
		row, sq := m.out[l*m.dims:][:m.dims], m.outSq[l*m.dims:][:m.dims]
		for d := range row {
			m.grad[d] += g * row[d] * featureScale
			gw := g * m.sum[d] * featureScale
			sq[d] += gw * gw
			row[d] -= float32(rate) * gw / float32(math.Sqrt(float64(sq[d])))
		}
	}
	var sq float32
	for _, g := range m.grad {
		sq += g * g
	}
	sq /= float32(m.dims)
	for _, f := range features {
		m.seen[f] += sq
		k := float32(rate / math.Sqrt(float64(m.seen[f])))
		row := m.vec[int(f)*m.dims:][:m.dims]
		for d := range row {
			row[d] -= k * m.grad[d]
		}
	}
	return loss
}

// accuracy is the mean over languages of the share of words that score best in
// their own language.
func (m *linear) accuracy(test []pool) float64 {
	var mean float64
	for l := range test {
		right := 0
		for _, e := range test[l].examples {
			m.score(e.features)
			best := 0
			for k, p := range m.logit {
				if p > m.logit[best] {
					best = k
				}
			}
			if best == l {
				right++
			}
		}
		mean += float64(right) / float64(max(len(test[l].examples), 1)) / float64(len(test))
	}
	return mean
}

// quantise rounds the vectors to bytes, one scale per dimension, which is
// folded into the output matrix.
func (m *linear) quantise(g group, order []uint64) ngram.Trained {
	t := ngram.Trained{
		Script: g.script, Langs: g.langs, Dims: m.dims, Bits: g.bits, Order: order,
		Bias: m.bias, Out: make([]float32, len(m.out)), Vectors: make(map[uint64][]int8, len(order)),
	}
	for d := range m.dims {
		var top float32
		for f := range order {
			top = max(top, float32(math.Abs(float64(m.vec[f*m.dims+d]))))
		}
		step := max(top, 1e-9) / 127
		for l := range m.langs {
			t.Out[l*m.dims+d] = m.out[l*m.dims+d] * step * featureScale
		}
		for f, h := range order {
			if t.Vectors[h] == nil {
				t.Vectors[h] = make([]int8, m.dims)
			}
			t.Vectors[h][d] = int8(math.Round(float64(m.vec[f*m.dims+d] / step)))
		}
	}
	return t
}
