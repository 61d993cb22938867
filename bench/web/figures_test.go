package main

import (
	"testing"
	"time"

	"dossier/run"
)

func TestCriticalPath(t *testing.T) {
	var entries []run.Entry
	for _, key := range []string{
		"plan", "round-1/search-1/find", "round-1/search-2/find", "round-1/rerank", "round-1/sift", "round-1/followups",
		"round-2/search-1/find", "read-1/read", "read-1/note", "read-2/read", "read-3/read", "read-3/note", "quote", "answer",
	} {
		entries = append(entries, run.Entry{Key: key, Kind: run.EntryStep})
	}
	want := 50 + 100 + 50 + 50 + 100 + 50 + 50 + 50 // the third page stands in for the second
	if got := criticalPath(entries, 2); got != time.Duration(want)*time.Millisecond {
		t.Errorf("%v, not %d ms", got, want)
	}
}
