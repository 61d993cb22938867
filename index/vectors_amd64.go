package index

import "golang.org/x/sys/cpu"

var wide = cpu.X86.HasAVX2

// dotRows sets each sum to the product of a row of int8 with q. Rows and q
// have a multiple of rowUnit elements.
func dotRows(rows []byte, q []int16, sums []int32) {
	if len(sums) == 0 {
		return
	}
	rows = rows[:len(sums)*len(q)]
	if wide && len(q) > 0 {
		dotRowsAVX2((*byte)(first(rows)), (*int16)(first(q)), (*int32)(first(sums)), len(sums), len(q))
		return
	}
	dotRowsPortable(rows, q, sums)
}

// dotRowsAVX2 needs n > 0 rows of dims elements, a multiple of 32.
//
//go:noescape
func dotRowsAVX2(rows *byte, q *int16, sums *int32, n, dims int)
