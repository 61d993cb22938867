// Package datadir is the directory in which Dossier keeps its data, and which
// processes are at work there.
//
// A process is there for as long as it holds the lock of a file of its own, so
// that ends with the process, however that ends.
package datadir

import (
	"fmt"
	"os"
)

// Make creates the directory, for this user only, if it is not there.
func Make(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("data directory: %w: choose another with DOSSIER_DATA", err)
	}
	info, err := os.Stat(dir)
	if err != nil {
		return fmt.Errorf("data directory: %w", err)
	}
	if !info.IsDir() {
		return fmt.Errorf("data directory %s is not a directory: choose another with DOSSIER_DATA", dir)
	}
	return nil
}

// Info is what a process says of itself.
type Info struct {
	PID     int    `json:"pid"`
	Version string `json:"version,omitempty"`
}
