package main

import (
	"encoding/json"
	"testing"
	"time"

	"dossier/run"
)

// entries makes a journal: each has its key with the branch before a bar, and what
// it waited for.
func entries(t *testing.T, list ...recorded) []run.Entry {
	t.Helper()
	var out []run.Entry
	for i, r := range list {
		e := run.Entry{Ord: int64(i + 1), Key: r.branch + r.key, Kind: run.EntryStep, Branch: len(r.branch), Born: r.born, Spent: run.Spent{Calls: r.calls, Searches: r.searches}}
		if r.kind != "" {
			e.Kind = r.kind
		}
		if r.from != "" {
			raw, err := json.Marshal(r.from)
			if err != nil {
				t.Fatal(err)
			}
			e.Value = raw
		}
		out = append(out, e)
	}
	return out
}

type recorded struct {
	branch, key     string
	born            int64
	calls, searches int
	kind            run.EntryKind
	from            string
}

func TestCriticalPath(t *testing.T) {
	ms := func(n int) time.Duration { return time.Duration(n) * time.Millisecond }
	for name, c := range map[string]struct {
		list []recorded
		want time.Duration
	}{
		"one after the other": {[]recorded{{key: "a", calls: 1}, {key: "b", searches: 2}, {key: "c"}}, ms(50 + 200)},
		"at once": {[]recorded{
			{key: "plan", calls: 1},
			{branch: "search-1", key: "/find", born: 2, searches: 1}, {branch: "search-2", key: "/find", born: 2, searches: 1}, {branch: "search-1", key: "/note", born: 2, calls: 1},
			{key: "answer", calls: 1},
		}, ms(50 + 150 + 50)},
		"two waves": {[]recorded{
			{branch: "read-1", key: "/note", born: 1, calls: 1}, {branch: "read-2", key: "/note", born: 1, calls: 2},
			{branch: "read-3", key: "/note", born: 3, calls: 1}, {key: "answer", calls: 1},
		}, ms(100 + 50 + 50)},
		"nested": {[]recorded{
			{branch: "section-1", key: "/a", born: 1, calls: 1}, {branch: "section-2", key: "/a", born: 1, calls: 1},
			{branch: "section-1/read-1", key: "/note", born: 2, calls: 2}, {branch: "section-1", key: "/b", born: 1, calls: 1}, {key: "end", calls: 1},
		}, ms(50 + 100 + 50 + 50)},
		"in a branch that has done nothing yet": {[]recorded{
			{key: "plan", calls: 1}, {branch: "section-1/search-1", key: "/find", born: 2, searches: 1}, {branch: "section-1", key: "/rank", born: 2, calls: 1}, {key: "end", calls: 1},
		}, ms(50 + 100 + 50 + 50)},
		// Both work at once; the second is received while the supervisor is busy
		// with the first.
		"messages": {[]recorded{
			{key: "plan", calls: 1},
			{branch: "agent_1/task_1", key: "/step", born: 2, calls: 1}, {branch: "agent_2/task_1", key: "/step", born: 2, calls: 2},
			{branch: "agent_1/task_1", key: ">queue#1", born: 2, kind: run.EntrySend},
			{key: "queue<#1", kind: run.EntryReceive, from: "agent_1/task_1>queue#1"}, {key: "supervisor-1/step", calls: 1},
			{branch: "agent_2/task_1", key: ">queue#1", born: 2, kind: run.EntrySend}, {key: "supervisor-1/more", calls: 1},
			{key: "queue<#2", kind: run.EntryReceive, from: "agent_2/task_1>queue#1"}, {key: "supervisor-2/step", calls: 1},
		}, ms(50 + 50 + 100 + 50)},
	} {
		if got := criticalPath(entries(t, c.list...)); got != c.want {
			t.Errorf("%s: %v, not %v", name, got, c.want)
		}
	}
}
