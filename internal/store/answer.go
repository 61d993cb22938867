package store

import (
	"encoding/json"
	"slices"

	"dossier/run"
)

// Questions is what a run has asked and what was answered: the entries of the
// kinds ask and answer and the answer signals, all in order. Others are
// ignored. The rules of answering live here so that every adapter has the same.
type Questions struct {
	Entries []run.Entry
	Signals []run.Signal
}

// Pending returns the questions without an answer, oldest first.
func (q Questions) Pending() []run.Entry {
	var pending []run.Entry
	for _, e := range q.Entries {
		if e.Kind != run.EntryAsk {
			continue
		}
		if _, answered, _ := q.answer(e.Key); !answered {
			pending = append(pending, e)
		}
	}
	return pending
}

// Unused says whether there is an answer that the run has not recorded.
func (q Questions) Unused() bool {
	for _, s := range q.Signals {
		if s.Kind != run.SignalAnswer {
			continue
		}
		if _, _, used := q.answer(s.Key); !used {
			return true
		}
	}
	return false
}

// Answer decides about an answer to the question ask, or to whichever is
// pending when ask is empty. It returns the key of the question that text is
// to be recorded for, and an empty key when there is nothing to record because
// the same answer is there already.
func (q Questions) Answer(ask, text string) (key string, err error) {
	if ask == "" {
		if pending := q.Pending(); len(pending) > 0 {
			return pending[0].Key, nil
		}
	}
	for _, e := range slices.Backward(q.Entries) {
		if e.Kind != run.EntryAsk || ask != "" && e.Key != ask {
			continue
		}
		given, answered, used := q.answer(e.Key)
		switch {
		case !answered:
			return e.Key, nil
		case given == text:
			return "", nil
		case ask == "" && used:
			return "", ErrNotWaiting
		}
		return "", ErrAnswered
	}
	return "", ErrNotWaiting
}

// answer returns the text that a question was answered with, whether it was
// answered, and whether the run has recorded the answer.
func (q Questions) answer(key string) (text string, answered, used bool) {
	for _, e := range q.Entries {
		if e.Kind == run.EntryAnswer && e.Key == key {
			text, answered, used = string(e.Value), true, true
			var plain string
			if json.Unmarshal(e.Value, &plain) == nil {
				text = plain
			}
			break
		}
	}
	for _, s := range q.Signals {
		if s.Kind == run.SignalAnswer && s.Key == key {
			return s.Text, true, used
		}
	}
	return text, answered, used
}
