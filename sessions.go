package dossier

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"dossier/internal/store"
	"dossier/run"
)

// Session is a conversation.
type Session = store.Session

// SessionFilter narrows Sessions.
type SessionFilter = store.SessionFilter

// Sessions returns conversations, the one with the newest run first.
func (e *Engine) Sessions(ctx context.Context, f SessionFilter) ([]Session, error) {
	return e.store.SessionList(ctx, f)
}

// Session returns a conversation; its runs are those that List finds for it.
func (e *Engine) Session(ctx context.Context, id string) (Session, error) {
	return e.store.Session(ctx, id)
}

// maxTitle is what lists have room for.
const maxTitle = 200

// RenameSession gives a conversation another title.
func (e *Engine) RenameSession(ctx context.Context, id, title string) error {
	title = strings.Join(strings.Fields(strings.ToValidUTF8(title, "\uFFFD")), " ")
	switch n := utf8.RuneCountInString(title); {
	case n == 0:
		return &UsageError{Message: "the title is empty"}
	case n > maxTitle:
		return &UsageError{Message: fmt.Sprintf("the title has %d characters, more than the %d that fit", n, maxTitle)}
	}
	return e.store.RenameSession(ctx, id, title)
}

// DeleteSession removes a conversation with all of its runs. While one of them is
// being worked on, nothing is removed.
func (e *Engine) DeleteSession(ctx context.Context, id string) error {
	if _, err := e.store.Session(ctx, id); err != nil {
		return err
	}
	for {
		list, err := e.store.List(ctx, store.Filter{Session: id})
		if err != nil || len(list) == 0 {
			return err
		}
		for _, rec := range list {
			if rec.Owner != "" && time.Now().Before(rec.LeaseUntil) {
				return fmt.Errorf("run %q of session %q: %w", rec.ID, id, store.ErrBusy)
			}
		}
		for _, rec := range list {
			if err := e.Delete(ctx, rec.ID); err != nil && !errors.Is(err, run.ErrUnknownRun) {
				return err
			}
		}
	}
}

// Counts are how many runs there are of each status.
func (e *Engine) Counts(ctx context.Context) (map[run.Status]int, error) {
	return e.store.CountRuns(ctx)
}
