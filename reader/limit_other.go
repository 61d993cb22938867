//go:build !linux

package reader

// On other systems the garbage collector's limit and the parent's clock
// bound a worker.
func limitMemory(int64) error { return nil }
func limitCPU(int)            {}
