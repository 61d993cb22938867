package run

import "sync/atomic"

// branch is a part of a run's code that goes its own way: the run's own, or
// that of a task. It knows what its code may depend on: the entries that the
// code has recorded or was given back. They are the same whenever the code runs
// again, and so is the age of the branches that come of it, which the clock and
// the number of entries are not.
type branch struct {
	path int          // bytes of the keys that name it, 0 for the run's own
	born int64        // as Entry.Born
	seen atomic.Int64 // the highest Ord that its code may depend on
}

// from returns a branch that begins in b now.
func (b *branch) from(path string) *branch {
	seen := b.seen.Load()
	child := &branch{path: len(path), born: seen + 1}
	child.seen.Store(seen)
	return child
}

// saw notes that the code of the branch depends on an entry.
func (b *branch) saw(ord int64) {
	for {
		seen := b.seen.Load()
		if ord <= seen || b.seen.CompareAndSwap(seen, ord) {
			return
		}
	}
}

// recall finds what an earlier execution recorded in the branch of s.
func (s *Scope) recall(kind EntryKind, key string) (*Entry, bool) {
	entry, ok := s.exec.lookup(kind, key)
	if ok {
		s.branch.saw(entry.Ord)
	}
	return entry, ok
}

// outcome finds the recorded outcome of a step in the branch of s.
func (s *Scope) outcome(key string) (*Entry, bool) {
	entry, ok := s.exec.recorded(key)
	if ok {
		s.branch.saw(entry.Ord)
	}
	return entry, ok
}
