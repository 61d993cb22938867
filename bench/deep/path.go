package main

import (
	"encoding/json"
	"strings"
	"time"

	"dossier/run"
)

// criticalPath is the least time in which the recorded steps can be done: each
// waits for the model as often as it was called and for the engine as often as it
// was asked; steps of one branch follow each other; a branch begins where the one
// that started it stood then; and a branch goes on behind those that it started,
// save those that tell by a message that they are through: these are waited for
// where the message is received.
func criticalPath(entries []run.Entry) time.Duration {
	branches := make(map[string]*branch)
	of := func(name string) *branch {
		if branches[name] == nil {
			branches[name] = &branch{}
		}
		return branches[name]
	}
	sends := make(map[string]bool) // branches that tell by a message
	for _, e := range entries {
		name := e.Key[:e.Branch]
		of(name).last = e.Ord
		if e.Kind == run.EntrySend {
			sends[name] = true
		}
	}
	done := make(map[string]time.Duration) // by the key of a message
	var longest time.Duration
	for _, e := range entries { // in the order of recording
		name := e.Key[:e.Branch]
		b := of(name)
		if !b.begun {
			b.begun = true
			// What those in which it lies had done by then, and had waited for.
			for in := name; in != ""; {
				b.clock = max(b.clock, joined(in, e.Born-1, branches, sends))
				in = parent(in, branches)
				b.clock = max(b.clock, of(in).at(e.Born-1))
			}
		}
		for child, c := range branches {
			if child != name && c.begun && c.last < e.Ord && parent(child, branches) == name && !sends[child] {
				b.clock = max(b.clock, c.clock)
			}
		}
		if e.Kind == run.EntryReceive {
			var key string
			if json.Unmarshal(e.Value, &key) == nil {
				b.clock = max(b.clock, done[key])
			}
		}
		b.clock += time.Duration(e.Spent.Calls)*modelLatency + time.Duration(e.Spent.Searches)*engineLatency
		b.ords, b.clocks = append(b.ords, e.Ord), append(b.clocks, b.clock)
		if e.Kind == run.EntrySend {
			done[e.Key] = b.clock
		}
		longest = max(longest, b.clock)
	}
	return longest
}

// branch is a part of a run that goes on by itself.
type branch struct {
	begun  bool
	clock  time.Duration
	last   int64 // Ord of its last entry
	ords   []int64
	clocks []time.Duration
}

// at is the time that a branch had come to with an entry.
func (b *branch) at(ord int64) time.Duration {
	var clock time.Duration
	for i, o := range b.ords {
		if o <= ord {
			clock = b.clocks[i]
		}
	}
	return clock
}

// parent is the branch that a branch was started in: the longest name of one that
// it lies in.
func parent(name string, branches map[string]*branch) string {
	for at := strings.LastIndexByte(name, '/'); at > 0; at = strings.LastIndexByte(name[:at], '/') {
		if branches[name[:at]] != nil {
			return name[:at]
		}
	}
	return ""
}

// joined is when the siblings of a branch were through that its parent had waited
// for before it began.
func joined(name string, ord int64, branches map[string]*branch, sends map[string]bool) time.Duration {
	var latest time.Duration
	in := parent(name, branches)
	for other, b := range branches {
		if other != name && other != "" && b.begun && b.last <= ord && parent(other, branches) == in && !sends[other] {
			latest = max(latest, b.clock)
		}
	}
	return latest
}
