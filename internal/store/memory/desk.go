package memory

import (
	"slices"
	"time"

	"dossier/internal/fleet"
)

// desk is an instance that has work: which runs have a slot and which wait.
type desk struct {
	instance *fleet.Instance
	runs     map[string]*work // with a slot or waiting
	lanes    map[string]*lane // by session, while it has runs
	turns    []*lane          // with waiting runs, the next first
	running  int
	queued   int
}

// work is a run at a desk.
type work struct {
	desk    *desk
	lane    *lane
	running bool
	// epoch of the run when it came, and since when it has what it has.
	epoch int64
	since time.Time
}

// lane is a session at a desk.
type lane struct {
	session string
	waiting []string // the first ones, as many as resumed says, were at work before
	resumed int
	running int
}

func newDesk(i *fleet.Instance) *desk {
	return &desk{instance: i, runs: map[string]*work{}, lanes: map[string]*lane{}}
}

func (d *desk) load() fleet.Load {
	if d == nil {
		return fleet.Load{}
	}
	return fleet.Load{Running: d.running, Queued: d.queued, Sessions: len(d.lanes)}
}

// enter puts a run into its session's lane.
func (d *desk) enter(session, run string, how fleet.Arrival) *work {
	l := d.lanes[session]
	if l == nil {
		l = &lane{session: session}
		d.lanes[session] = l
	}
	if len(l.waiting) == 0 {
		d.turns = append(d.turns, l)
	}
	if how == fleet.Resumed {
		l.waiting = slices.Insert(l.waiting, l.resumed, run)
		l.resumed++
	} else {
		l.waiting = append(l.waiting, run)
	}
	w := &work{desk: d, lane: l}
	d.runs[run] = w
	d.queued++
	return w
}

// leave takes a run away, whether it had a slot or waited.
func (d *desk) leave(run string) {
	w := d.runs[run]
	delete(d.runs, run)
	l := w.lane
	if w.running {
		d.running--
		l.running--
	} else {
		i := slices.Index(l.waiting, run)
		if i < l.resumed {
			l.resumed--
		}
		l.waiting = slices.Delete(l.waiting, i, i+1)
		d.queued--
		if len(l.waiting) == 0 {
			d.turns = slices.DeleteFunc(d.turns, func(t *lane) bool { return t == l })
		}
	}
	if l.running == 0 && len(l.waiting) == 0 {
		delete(d.lanes, l.session)
	}
}

// next gives free slots to waiting runs.
func (d *desk) next(now time.Time) (granted []string) {
	for d.running < d.instance.Slots && len(d.turns) > 0 {
		l := d.turns[0]
		run := l.waiting[0]
		l.waiting = slices.Delete(l.waiting, 0, 1)
		l.resumed = max(0, l.resumed-1)
		d.turns = slices.Delete(d.turns, 0, 1)
		if len(l.waiting) > 0 {
			d.turns = append(d.turns, l)
		}
		l.running++
		d.running++
		d.queued--
		w := d.runs[run]
		w.running, w.since = true, now
		granted = append(granted, run)
	}
	return granted
}
