// Package filelock locks files between processes. A lock ends with its process,
// however that ends, so that what stands beside it can be told to be left
// behind.
package filelock

import "os"

// Try locks an open file unless it is locked already, be it in this process. The
// lock ends when the file is closed. Programs that are started do not inherit
// it.
func Try(f *os.File) (got bool, err error) { return try(f) }
