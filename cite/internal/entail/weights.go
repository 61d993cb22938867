package entail

import "math"

// The classes of a comparison.
const (
	Supported = iota
	Neutral
	Contradicted
	Classes
)

// weights of the features by class, fitted by cite/internal/fit.
var weights = [Classes][Size]float64{
	Supported: {-2, 0, 2, 2},
}

// Classify turns features into the probabilities of the classes, each equally
// likely beforehand.
func Classify(f [Size]float64) (p [Classes]float64) { return Softmax(&weights, f) }

// Softmax is the model: linear in the features.
func Softmax(w *[Classes][Size]float64, f [Size]float64) (p [Classes]float64) {
	sum := 0.0
	for c := range p {
		z := 0.0
		for i, v := range f {
			z += w[c][i] * v
		}
		p[c] = math.Exp(z)
		sum += p[c]
	}
	for c := range p {
		p[c] /= sum
	}
	return p
}
