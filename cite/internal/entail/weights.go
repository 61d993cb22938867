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
	Supported:    {-0.040, -0.067, 0.498, -0.316, 0.745, 0.244, -0.413, 0.098, -0.213, 0.523, 0.018, -0.109, -0.382, -0.340, 0.620, 0.466, -0.013, -0.188, -0.773, -0.094, 0.237, -0.667, -0.122, -0.643, -0.054},
	Neutral:      {0.315, -0.106, -0.659, -0.654, -1.079, -0.260, 0.406, -0.128, 0.089, 0.283, -0.192, -0.377, -0.358, -0.152, 0.492, -0.075, -0.661, 1.281, -0.159, -0.319, 0.811, 0.524, -0.095, 0.040, 0.305},
	Contradicted: {-0.200, 0.184, 0.088, 1.053, 0.235, 0.015, 0.007, 0.028, 0.124, -0.853, 0.174, 0.486, 0.740, 0.492, -1.037, -0.417, 0.679, -1.080, 0.932, 0.412, -1.048, 0.151, 0.218, 0.604, -0.261},
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
