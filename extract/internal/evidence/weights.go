package evidence

// The weights, printed by extract/internal/fit.
var (
	unitWeights = [UnitSize]float64{-3.958, 2.617, 1.119, 1.874, 1.138, -1.930, -1.082, 1.851, -0.912, 2.601, 0.605, -0.993}
	readWeights = [ReadSize]float64{-1.872, 1.406, -1.476, 1.256, 1.727, 1.124, 0.599, -0.158, -1.161}
)
