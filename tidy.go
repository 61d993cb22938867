package dossier

import (
	"context"
	"errors"
	"time"

	"dossier/internal/store"
)

// Bodies that no run names any more are removed a day after they were last
// wanted, which is longer than any step takes, and looked for once an hour at
// the most, by whichever process comes to it.
const (
	bodiesUnused = 24 * time.Hour
	bodiesEvery  = time.Hour
)

// Where it is kept when bodies were last collected.
const bodiesBucket, bodiesCollected = "bodies", "collected"

// collect removes what nobody names any more, if that is due. It is no part of
// what was asked for: what goes wrong is told in the log.
func (e *Engine) collect(ctx context.Context) {
	var last time.Time
	raw, err := e.store.Setting(ctx, bodiesBucket, bodiesCollected)
	if err == nil {
		err = last.UnmarshalText(raw)
	}
	now := time.Now().UTC()
	if err == nil && now.Sub(last) < bodiesEvery && !last.After(now) {
		return
	}
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		e.log.Warn("when bodies were last collected is not known", "error", err)
	}
	if raw, err = now.MarshalText(); err == nil {
		err = e.store.SetSetting(ctx, bodiesBucket, bodiesCollected, raw) // first, so that one of many does it
	}
	var n int
	if err == nil {
		n, err = e.store.CollectBlobs(ctx, bodiesUnused)
	}
	if err != nil {
		e.log.Warn("bodies were not collected", "error", err)
		return
	}
	e.log.Debug("bodies were collected", "removed", n)
}
