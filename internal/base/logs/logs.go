// Package logs is how the program writes logs: lines that a person can read
// and a script can split, without keys in them and without anything that a
// terminal would obey.
package logs

import (
	"fmt"
	"log/slog"
)

// LevelCritical is above slog.LevelError: the work at hand can't go on.
const LevelCritical = slog.Level(12)

// StepKey is the attribute that becomes the prefix of a line, as in [main].
const StepKey = "step"

// WithStep returns a logger whose lines begin with [step], instead of the step
// that l had.
func WithStep(l *slog.Logger, step string) *slog.Logger {
	return l.With(slog.String(StepKey, step))
}

// LevelName is the name of a level in a line.
func LevelName(l slog.Level) string {
	if l >= LevelCritical {
		if d := l - LevelCritical; d > 0 {
			return fmt.Sprintf("CRITICAL+%d", int(d))
		}
		return "CRITICAL"
	}
	return l.String()
}
