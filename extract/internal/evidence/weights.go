package evidence

// The weights, printed by bench/fit.
var (
	rankWeights = [RankSize]float64{5.17, 3.30, 2.75, 1.98, 1.58, 3.88, 2.20, 4.00, -1.06, -1.82}
	nearWeights = [NearSize]float64{-1.14, 0.61, 1.24}
	signWeights = [SignSize]float64{-3.96, 1.34, 0.75, 1.11, 0.96, -0.44, -0.70}
)
