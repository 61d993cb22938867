package run

import (
	"encoding/json"
	"fmt"
	"strconv"

	"dossier/event"
)

// Notice tells the log something about the run's fate in the world that is no
// part of its code, such as circumstances that have changed: a replay passes
// over it. Each execution tells a name once.
func (s *Scope) Notice(name string, data event.Data) error {
	e := s.exec
	if e.replay != nil {
		return nil
	}
	return e.emit(kernelPlace+name+"/"+strconv.FormatInt(e.rec.Epoch, 10), "", data, false)
}

// Limit returns the limit of Searches or Pages for code that plans by it, 0 if
// there is none. Outside a step it is recorded, because a run may be resumed
// with other limits, and what was planned by the earlier one stands. A scope
// asks for each limit once.
func (b Budget) Limit(what string) (int, error) {
	s, e := b.scope, b.scope.exec
	now := map[string]int{Searches: e.limits.Searches, Pages: e.limits.Pages}[what]
	if s.inStep {
		return now, nil
	}
	key := s.path + "$" + what
	if entry, ok := e.lookup(EntryCheck, key); ok {
		var c check
		if err := json.Unmarshal(entry.Value, &c); err != nil {
			return 0, fmt.Errorf("run: the journal's limit %s: %w", key, err)
		}
		return int(c.Limit), nil
	}
	if e.replay != nil {
		return now, nil // recorded by a program that read it anew each time
	}
	raw, err := json.Marshal(check{What: what, Limit: float64(now)})
	if err != nil {
		return 0, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.refuseLocked(); err != nil {
		return 0, err
	}
	e.append(Entry{Key: key, Kind: EntryCheck, Value: raw})
	e.flagLocked()
	return now, nil
}
