package evidence

// The weights, printed by bench/fit.
var (
	rankWeights = [RankSize]float64{5.13, 3.29, 2.75, 1.95, 1.61, 3.88, 2.18, 4.00, -1.07, -1.78}
	signWeights = [SignSize]float64{-4.01, 1.37, 0.76, 1.12, 0.97, -0.40, -0.76}
)
