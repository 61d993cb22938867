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
	Supported:    {0.086, -0.180, 0.642, -0.639, 0.964, 0.262, -0.399, 0.138, -0.195, 0.527, -0.086, -0.077, -0.369, -0.313, 0.734, 0.127, -0.189, -0.230, -0.789, -0.172, 0.321, -0.658, -0.111, -0.475},
	Neutral:      {0.076, -0.166, -0.413, 0.112, -1.504, -0.268, 0.354, -0.214, 0.025, 0.053, -0.072, -0.455, -0.359, -0.193, 0.105, 0.228, -0.470, 0.969, -0.060, -0.214, 0.627, 0.593, -0.066, 0.039},
	Contradicted: {-0.163, 0.346, -0.232, 0.533, 0.537, 0.005, 0.045, 0.076, 0.169, -0.580, 0.157, 0.532, 0.728, 0.506, -0.839, -0.355, 0.659, -0.739, 0.849, 0.385, -0.949, 0.066, 0.178, 0.436},
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
