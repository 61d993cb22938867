package fleet

import "slices"

// desk is an instance that has work: which runs have a slot and which wait.
// It does no I/O and takes no locks.
//
// Runs of a session wait in a lane, in order. Lanes that have waiting runs
// take turns, so however much one session asks for, another waits for no more
// than one run of each session before it.
type desk struct {
	slots, limit int
	state        State // Ready, Draining or Stopped, as its row is

	runs    map[string]*work // with a slot or waiting
	lanes   map[string]*lane // by session, while it has runs
	turns   []*lane          // with waiting runs, the next first
	running int
	queued  int
}

// work is a run at a desk.
type work struct {
	lane    *lane
	running bool
}

// lane is a session at a desk.
type lane struct {
	session string
	waiting []string // the first ones, as many as resumed says, were at work before
	resumed int
	running int
}

func newDesk(row *Instance) *desk {
	return &desk{slots: row.Slots, limit: max(row.Queue, 0), state: row.State, runs: map[string]*work{}, lanes: map[string]*lane{}}
}

// entry is how a run comes to a desk.
type entry int

const (
	fresh    entry = iota // it is refused when the queue is full or the desk closed
	resumed               // it was admitted before, and goes before new runs of its session
	restored              // it was admitted before, and keeps its order
)

// refuses says why a run cannot come.
func (d *desk) refuses(e entry) error {
	switch {
	case d.state == Stopped, d.state == Draining && e == fresh:
		return &StateError{State: d.state}
	case e == fresh && d.running >= d.slots && d.queued >= d.limit:
		return &QueueFullError{Limit: d.limit}
	}
	return nil
}

// submit puts a run into its session's lane and starts what can start. A run
// that is there already stays where it is; one that comes back to its slot,
// because whoever was on it has lost it, starts in it.
func (d *desk) submit(session, run string, e entry) (start []string, pos int, err error) {
	if w := d.runs[run]; w != nil {
		if w.running && e != fresh {
			start = []string{run}
		}
		return start, d.position(run), nil
	}
	if err := d.refuses(e); err != nil {
		return nil, 0, err
	}
	l := d.lanes[session]
	if l == nil {
		l = &lane{session: session}
		d.lanes[session] = l
	}
	if len(l.waiting) == 0 {
		d.turns = append(d.turns, l)
	}
	if e == resumed {
		l.waiting = slices.Insert(l.waiting, l.resumed, run)
		l.resumed++
	} else {
		l.waiting = append(l.waiting, run)
	}
	d.runs[run] = &work{lane: l}
	d.queued++
	start = d.next()
	return start, d.position(run), nil
}

// leave takes a run away, whether it had a slot or waited, and starts what can
// start then.
func (d *desk) leave(run string) (start []string) {
	w := d.runs[run]
	if w == nil {
		return nil
	}
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
	return d.next()
}

// next gives free slots to waiting runs.
func (d *desk) next() (start []string) {
	for d.running < d.slots && len(d.turns) > 0 {
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
		d.runs[run].running = true
		start = append(start, run)
	}
	return start
}

// position is 0 for a run that has a slot, or else how many runs must start
// for it to start, itself included.
func (d *desk) position(run string) int {
	w := d.runs[run]
	if w.running {
		return 0
	}
	at := slices.Index(w.lane.waiting, run)
	pos, rounds := at+1, at+1
	for _, l := range d.turns {
		if l == w.lane {
			rounds-- // those behind it come one time less
			continue
		}
		pos += min(len(l.waiting), rounds)
	}
	return pos
}

// clear takes all waiting runs away and returns them with those that have a
// slot, each sorted.
func (d *desk) clear() (running, waiting []string) {
	for run, w := range d.runs {
		if w.running {
			running = append(running, run)
			continue
		}
		waiting = append(waiting, run)
		delete(d.runs, run)
	}
	for session, l := range d.lanes {
		if l.waiting, l.resumed = nil, 0; l.running == 0 {
			delete(d.lanes, session)
		}
	}
	d.turns, d.queued = nil, 0
	slices.Sort(running)
	slices.Sort(waiting)
	return running, waiting
}
