package catalog

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"dossier/tool"
)

// key is what a tool is to a store.
type key struct{ origin, name string }

// uses are what was not written to the store yet.
type uses struct {
	mu      sync.Mutex
	pending map[key]*Use
	timer   *time.Timer // nil when nothing waits
	closed  bool
}

// flushAfter is how long what is known of use may be only in memory.
const flushAfter = 5 * time.Second

// errorLength bounds what is kept of an error, in characters.
const errorLength = 500

// RecordUse notes a call of a tool: how long it took and what went wrong. It
// costs no more than a map access; the store hears of it some seconds later,
// or at Flush.
func (c *Catalog) RecordUse(s *tool.Spec, took time.Duration, err error) { c.note(s, 1, took, err) }

func (c *Catalog) note(s *tool.Spec, calls int64, took time.Duration, err error) {
	now := c.now()
	use := Use{Calls: calls, Time: took}
	if calls > 0 {
		use.Last = now
	}
	if err != nil {
		use.Failures, use.Failed = calls, now
		use.Error = tool.Cut(strings.ToValidUTF8(err.Error(), "\uFFFD"), errorLength)
	} else {
		use.OK = now
	}
	c.uses.mu.Lock()
	defer c.uses.mu.Unlock()
	k := key{s.Origin, s.Name}
	if known := c.uses.pending[k]; known != nil {
		known.Add(use)
	} else {
		c.uses.pending[k] = &use
	}
	if c.store != nil && c.uses.timer == nil && !c.uses.closed {
		c.uses.timer = time.AfterFunc(flushAfter, func() {
			// What could not be written is tried again with the next call.
			_ = c.Flush(context.Background())
		})
	}
}

func (u *uses) of(k key) Use {
	u.mu.Lock()
	defer u.mu.Unlock()
	if use := u.pending[k]; use != nil {
		return *use
	}
	return Use{}
}

// take returns what is pending and forgets it.
func (u *uses) take() map[key]*Use {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.timer != nil {
		u.timer.Stop()
		u.timer = nil
	}
	taken := u.pending
	u.pending = map[key]*Use{}
	return taken
}

// giveBack makes what could not be written pending again.
func (u *uses) giveBack(taken map[key]*Use) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for k, use := range taken {
		if later := u.pending[k]; later != nil {
			use.Add(*later)
		}
		u.pending[k] = use
	}
}

// Flush writes to the store what is known of use.
func (c *Catalog) Flush(ctx context.Context) error {
	if c.store == nil {
		return nil
	}
	taken := c.uses.take()
	if len(taken) == 0 {
		return nil
	}
	list := make([]ToolUse, 0, len(taken))
	for _, k := range slices.SortedFunc(maps.Keys(taken), func(a, b key) int {
		return cmp.Or(strings.Compare(a.origin, b.origin), strings.Compare(a.name, b.name))
	}) {
		list = append(list, ToolUse{k.origin, k.name, *taken[k]})
	}
	if err := c.store.RecordUse(ctx, list); err != nil {
		c.uses.giveBack(taken)
		return fmt.Errorf("use of tools: %w", err)
	}
	return nil
}

// Close writes what is known of use, and no timer runs any more.
func (c *Catalog) Close(ctx context.Context) error {
	c.uses.mu.Lock()
	c.uses.closed = true
	c.uses.mu.Unlock()
	return c.Flush(ctx)
}
