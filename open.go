package dossier

import (
	"context"
	"errors"
	"log/slog"
)

// Options say how to open an Engine. The zero value opens the user's own data
// directory with the user's own configuration.
type Options struct {
	// DataDir holds everything that is kept. Empty: $DOSSIER_DATA, or the
	// user's data directory.
	DataDir string
	// ConfigFile replaces the configuration file that is looked for.
	ConfigFile string
	// Set overrides single settings by their path ("models.chat.model").
	Set map[string]string
	// Env replaces the process's environment.
	Env []string
	// Log gets what a developer wants to know; nil means nothing.
	Log *slog.Logger
	// Resume takes up the runs that a stopped process left behind.
	Resume bool
}

// Open opens the data directory, which has one owner at a time, and returns an
// Engine on it.
func Open(ctx context.Context, o Options) (*Engine, error) {
	return nil, errors.New("wired in the next commit")
}
