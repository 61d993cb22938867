package evidence

// The weights, printed by extract/internal/fit.
var (
	unitWeights = [UnitSize]float64{-5, 2, 1, 1, 1, 0.5, -0.5, 0.5, 0.5, 1, 2, 0.5, -1, 0.1, -0.3}
	readWeights = [ReadSize]float64{-3, 0.5, 1, 1, 1, -3, 1, 0.3, -0.3, 0.5, 0}
)
