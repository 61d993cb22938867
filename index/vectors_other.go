//go:build !amd64

package index

// dotRows sets each sum to the product of a row of int8 with q.
func dotRows(rows []byte, q []int16, sums []int32) { dotRowsPortable(rows, q, sums) }
