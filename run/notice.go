package run

import (
	"strconv"
	"time"

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
	return e.emit(emission{place: kernelPlace + name + "/" + strconv.FormatInt(e.rec.Epoch, 10), data: data, time: time.Now()})
}

// Afterword is an event behind the last one of a run that is over, about what
// somebody did with its result. It is no part of the run's code: a replay passes over
// it, and a fork has none of it.
func Afterword(rec *Record, name string, data event.Data) PlacedEvent {
	seq := rec.LastSeq + 1
	return PlacedEvent{Place: kernelPlace + name + "/" + strconv.FormatInt(seq, 10), Event: event.Event{Run: rec.ID, Session: rec.Session, Seq: seq, Time: time.Now(), Data: data}}
}

// Aside does something beside the run that is no part of its record, such as
// keeping a view of it up to date: each execution does it anew, and a replay
// passes over it. Nothing that the run's code does may depend on it.
func (s *Scope) Aside(do func()) {
	if s.exec.replay == nil {
		do()
	}
}
