package evidence

// The weights, printed by bench/fit and extract/internal/fit.
var (
	rankWeights = [RankSize]float64{4.93, 3.38, 2.82, 1.78, 1.49, 3.91, 2.22, 3.65, -1.09, -1.57}
	unitWeights = [UnitSize]float64{-3.916, 2.701, 1.110, 2.032, 1.070, -1.928, -1.111, 1.786, -0.919, 2.568, 0.544, -0.908}
	readWeights = [ReadSize]float64{-4.160, 1.082, 0.825, 1.413, 1.792, 0.787, 0.481, -0.305, -1.525}
)
