package evidence

import "math"

// Signs that what is quoted answers the question. They are few: of some forty
// that were tried, others told nothing about folders to which the weights were
// not fitted, or nothing beside these.
const (
	signBias  = iota
	signCover // share of the question's weight that the first passage has with what stands above it
	signOwn   // that its sentence has alone
	signTold  // what it has with its neighbours not as a share, but in words as rare as can be
	signPeak  // how much more of the question the first sentence has than the best of the others
	signKeys  // share of the question's names and numbers that the first passage lacks
	signLacks // the first sentence has no answer of the wanted kind
	SignSize
)

// SignNames name them.
var SignNames = [SignSize]string{"bias", "cover", "own", "told", "peak", "keys", "lacks"}

// Spot is a unit of a page.
type Spot struct{ Page, Unit int }

// Signs are those of units that are quoted, in their order. Of none all are 0.
func (r *Reading) Signs(quoted []Spot) (f [SignSize]float64) {
	q := r.Question
	if len(quoted) == 0 || len(q.Terms) == 0 {
		return f
	}
	first := quoted[0]
	p := r.Pages[first.Page]
	u := &p.Units[first.Unit]
	window := q.share(q.window(p, first.Unit))
	next := 0.0
	for _, s := range quoted[1:] {
		next = max(next, q.share(q.window(r.Pages[s.Page], s.Unit)))
	}
	f[signBias] = 1
	f[signCover] = q.share(p.covered)
	f[signOwn] = q.share(u.own)
	f[signTold] = window * q.rare
	f[signPeak] = window - next
	f[signKeys] = 1 - q.keyShare(p.covered)
	if q.lacks(u.In(r.texts[first.Page]), u.words) {
		f[signLacks] = 1
	}
	return f
}

// Confidence is the probability that what has these signs answers.
func Confidence(f *[SignSize]float64) float64 {
	if f[signBias] == 0 {
		return 0
	}
	return logistic(byWords(f))
}

// NearConfidence is Confidence where passages were searched for by meaning, too:
// the first quoted one comes so near to the question.
func NearConfidence(f *[SignSize]float64, near float64) float64 {
	if f[signBias] == 0 {
		return 0
	}
	signs := NearSigns(f, near)
	return logistic(dot(nearWeights[:], signs[:]))
}

// NearSize is how many signs there are where passages have a nearness: a bias,
// what the words tell, and the nearness.
const NearSize = 3

// nearScale makes the nearness differ as much from question to question as the
// other signs do.
const nearScale = 4

// NearSigns are those signs.
func NearSigns(f *[SignSize]float64, near float64) [NearSize]float64 {
	return [NearSize]float64{1, byWords(f), nearScale * near}
}

func byWords(f *[SignSize]float64) float64 { return dot(signWeights[:], f[:]) }

func logistic(x float64) float64 { return 1 / (1 + math.Exp(-x)) }
