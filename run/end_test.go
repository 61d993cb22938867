package run

import (
	"sync"
	"testing"

	"dossier/event"
)

// batches is a journal of one run that keeps what was committed.
type batches struct {
	Journal
	all []Batch
}

func (j *batches) Commit(b *Batch, done func(error)) {
	j.all = append(j.all, *b)
	done(nil)
}

// The event that tells of the end of a run is committed with the state that says
// so, also when what is buffered is flushed just then: whoever has seen the end
// finds the run ended.
func TestTheEndIsOneBatch(t *testing.T) {
	j := &batches{}
	e := newExecution(t.Context(), &History{Record: Record{ID: "r", Epoch: 1}}, Limits{})
	e.journal, e.commits = j, new(sync.Pool)
	e.outlet.publish = func(event.Event) {}
	st := e.outcome(nil)
	e.flush()
	if len(j.all) != 0 {
		t.Errorf("the end was told before the run had ended: %+v", j.all)
	}
	if err := e.finish(st); err != nil {
		t.Fatal(err)
	}
	if len(j.all) != 1 || j.all[0].State == nil || j.all[0].State.Status != Done || len(j.all[0].Events) != 1 {
		t.Errorf("%+v", j.all)
	}
}
