package cli

import (
	"log/slog"
	"os"
	"path/filepath"
	"sync"

	"dossier/internal/base/logs"
	"dossier/internal/config"
)

// maxLog is the size at which the log file is put aside; one old file is kept.
const maxLog = 8 << 20

// logFile is a file that is made when something is first written to it and the
// data directory is there, so that a command which only looks leaves nothing
// behind.
type logFile struct {
	path func() string // empty: write nothing

	mu     sync.Mutex
	file   *os.File
	size   int64 // of the file, as far as this process has seen it grow
	closed bool
}

// Write appends to the file. A log that can't be written is not a reason to
// stop a run: the rest of it is dropped.
func (l *logFile) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file != nil && l.size > maxLog {
		_ = l.file.Close()
		l.file = nil // a server writes for months
	}
	if l.file == nil && !l.closed {
		l.file, l.size = openAppend(l.path()), 0
		if l.file != nil {
			if info, err := l.file.Stat(); err == nil {
				l.size = info.Size()
			}
		}
	}
	if l.file == nil {
		return len(b), nil
	}
	n, err := l.file.Write(b)
	l.size += int64(n)
	return n, err
}

func openAppend(path string) *os.File {
	if path == "" {
		return nil
	}
	_ = os.Mkdir(filepath.Dir(path), 0o700) // it may be there; if not, opening tells
	if info, err := os.Stat(path); err == nil && info.Size() > maxLog {
		_ = os.Rename(path, path+".1") // else it goes on growing
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil
	}
	return f
}

// Close closes the file if it was opened.
func (l *logFile) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	if l.file == nil {
		return nil
	}
	err := l.file.Close()
	l.file = nil
	return err
}

// openLog sets up the detailed log in the data directory. Its level and the
// secrets to keep out of it are known once the configuration is.
func (a *app) openLog() {
	a.redact = &logs.Redactor{}
	a.logTo = &logFile{path: a.logPath}
	a.log = logs.WithStep(slog.New(logs.NewHandler(a.logTo, &a.level, a.redact)), "cli")
}

// configureLog takes the level and the secrets out of the configuration.
func (a *app) configureLog(c *config.Config) {
	for _, secret := range c.Secrets() {
		a.redact.Add(secret.Reveal())
	}
	var level slog.Level
	if err := level.UnmarshalText([]byte(c.Log.Level)); err != nil {
		level = logs.LevelCritical // the one name that slog doesn't know
	}
	if a.Verbose || c.Log.Verbose {
		level = slog.LevelDebug
	}
	a.level.Set(level)
	if c.Log.Format == "json" {
		a.log = logs.WithStep(slog.New(logs.NewJSONHandler(a.logTo, &a.level, a.redact)), "cli")
	}
}

// logPath is where the log goes once the configuration is known.
func (a *app) logPath() string {
	switch {
	case a.config == nil:
		return ""
	case a.config.Log.File != "":
		return a.config.Log.File
	}
	return filepath.Join(a.config.DataDir, "logs", "dossier.log")
}
