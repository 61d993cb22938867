package upstream

import (
	"maps"
	"sync"
	"sync/atomic"
)

// Learned remembers what models' endpoints do differently. Reading is free of
// locks; the zero value is empty.
type Learned[T any] struct {
	mu      sync.Mutex
	byModel atomic.Pointer[map[string]T]
}

// maxLearned bounds what is remembered: a model's name may come from outside.
const maxLearned = 1000

// Get returns what is known of a model.
func (l *Learned[T]) Get(model string) (T, bool) {
	var none T
	m := l.byModel.Load()
	if m == nil {
		return none, false
	}
	v, ok := (*m)[model]
	return v, ok
}

// Set remembers v for a model.
func (l *Learned[T]) Set(model string, v T) {
	l.mu.Lock()
	defer l.mu.Unlock()
	next := map[string]T{}
	if m := l.byModel.Load(); m != nil && len(*m) < maxLearned {
		next = maps.Clone(*m)
	}
	next[model] = v
	l.byModel.Store(&next)
}
