package run

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"dossier/event"
)

// Cut says what of a run's record is void when it is taken up again somewhere:
// the steps that are done anew, and all that may have come of them. What other
// branches of the run did meanwhile stays.
type Cut struct {
	// Drop are the entries of the journal that are forgotten.
	Drop []EntryRef
	// Void are the places of events that are free again. The events stay in the
	// log, where clients have seen them, under places that nothing else has.
	Void []string
	// Unasked are the keys of questions that may be asked differently: answers
	// to them don't count.
	Unasked []string
}

// EntryRef names an entry of a run's journal.
type EntryRef struct {
	Key  string
	Kind EntryKind
}

// Reopening is how a run that rests is taken up again. It was made for the
// record as it was at Epoch and LastSeq.
type Reopening struct {
	Cut
	Epoch, LastSeq int64
	// Home is that of the run from now on.
	Home string
	// Request, if not nil, replaces that of the run: its limits were raised.
	Request json.RawMessage
	// Event tells of it in the log, with the next sequence.
	Event PlacedEvent
}

// ReopenOptions say how a run is to be taken up again.
type ReopenOptions struct {
	// From names the step that is done anew; empty means those that failed.
	From string
	// Raised are the limits, named as in BudgetError, that are higher now.
	Raised []string
	// Request replaces that of the run, if not nil.
	Request json.RawMessage
	// Home is who is to execute it.
	Home string
}

// Reopen says how a run that has ended or rests is taken up again. Steps that
// failed the run, and those that fell short because it was told to finish or
// because of a limit that is raised now, are done anew. It fails with ErrEnded
// when a run is done that fell short of nothing, and with *SpentError when a
// limit has to be raised first.
func Reopen(h *History, o ReopenOptions) (Reopening, error) {
	rec := &h.Record
	voided := func(entry *Entry) bool {
		return entry.Short == shortFinish || entry.Short != "" && slices.Contains(o.Raised, entry.Short)
	}
	var anew []*Entry
	var spent string
	for i := range h.Entries {
		entry := &h.Entries[i]
		outcome := entry.Kind == EntryStep || entry.Kind == EntryFault
		switch {
		case o.From != "":
			if outcome && entry.Key == o.From {
				anew = append(anew, entry)
			}
			continue
		case voided(entry), rec.Status == Failed && entry.Kind != EntryIntent && rec.Failure.names(entry.Key):
			anew = append(anew, entry)
		}
		if entry.Short != "" && entry.Short != shortFinish {
			spent = entry.Short
		}
	}
	switch {
	case o.From != "" && len(anew) == 0:
		return Reopening{}, &NoStepError{o.From}
	case rec.Status == Done && o.From == "" && len(anew) == 0 && spent != "":
		return Reopening{}, &SpentError{spent}
	case rec.Status == Done && (o.From != "" || len(anew) == 0):
		return Reopening{}, ErrEnded
	case rec.Status == Failed && len(anew) == 0 && rec.Failure != nil && rec.Failure.Code == codeBudget && spent != "":
		return Reopening{}, &SpentError{spent}
	}
	r := Reopening{Cut: h.cut(anew), Epoch: rec.Epoch, LastSeq: rec.LastSeq, Home: o.Home, Request: o.Request}
	told := event.RunReopened{Void: ranges(h, r.Void), Raised: o.Raised}
	for _, entry := range anew {
		if step := scopeOf(entry.Key); step != "" && !slices.Contains(told.Steps, step) {
			told.Steps = append(told.Steps, step)
		}
	}
	r.Event = PlacedEvent{Place: kernelPlace + "reopen/" + strconv.FormatInt(rec.Epoch, 10), Event: event.Event{
		Run: rec.ID, Session: rec.Session, Seq: rec.LastSeq + 1, Time: time.Now(), Data: told,
	}}
	return r, nil
}

// names says whether the failure is that of a step, among others.
func (f *Failure) names(step string) bool {
	return f != nil && (f.Step == step || slices.Contains(f.Steps, step))
}

// NoStepError says that a run has not recorded a step.
type NoStepError struct{ Step string }

func (e *NoStepError) Error() string {
	return fmt.Sprintf("the run has no recorded step %q: `dossier runs show --steps` lists them", e.Step)
}

// SpentError says that a run has come as far as one of its limits lets it.
type SpentError struct{ What string }

func (e *SpentError) Error() string {
	return fmt.Sprintf("the run has spent its budget of %s, and goes on when that is raised", e.What)
}

// ranges are the sequences of the events at places, as first and last ones.
func ranges(h *History, places []string) (out [][2]int64) {
	seqs := make([]int64, len(places))
	for i, place := range places {
		seqs[i] = h.Places[place]
	}
	slices.Sort(seqs)
	for _, seq := range seqs {
		if n := len(out); n > 0 && out[n-1][1] == seq-1 {
			out[n-1][1] = seq
		} else {
			out = append(out, [2]int64{seq, seq})
		}
	}
	return out
}

// VoidPlace is the place of an event that was void when the run was at epoch.
func VoidPlace(place string, epoch int64) string {
	return voidPlaces + strconv.FormatInt(epoch, 10) + "/" + place
}

const voidPlaces = kernelPlace + "void/"

// IsVoid says whether the event at a place is void.
func IsVoid(place string) bool { return strings.HasPrefix(place, voidPlaces) }

// cut returns what is void when the steps (or other things) that the entries
// record are done anew.
func (h *History) cut(anew []*Entry) Cut {
	if len(anew) == 0 {
		return Cut{}
	}
	c := cutter{dropped: make(map[*Entry]bool), born: make(map[string]int64), received: make(map[string]*Entry)}
	first := anew[0].Ord
	for _, entry := range anew {
		first = min(first, entry.Ord)
	}
	for i := range h.Entries {
		entry := &h.Entries[i]
		c.note(entry)
		// A step that failed later on, maybe because it was interrupted when the
		// first one failed, is tried again too.
		if entry.Kind == EntryFault && entry.Ord > first {
			anew = append(anew, entry)
		}
	}
	for _, entry := range anew {
		c.doubt(entry)
	}
	for done := 0; done < len(c.points); done++ { //nolint:intrange // there come more
		p := c.points[done]
		for i := range h.Entries {
			switch entry := &h.Entries[i]; {
			case entry.Kind == EntryFault && p.step != "" && strings.HasPrefix(entry.Key, p.step+"/"):
				c.doubt(entry)
			case entry.Ord > p.ord && c.follows(p, entry.branch()):
				c.drop(entry)
			}
		}
	}
	return c.result(h)
}

// cutter works out a Cut.
type cutter struct {
	dropped  map[*Entry]bool
	points   []point           // whose consequences are dropped
	born     map[string]int64  // when each branch began
	received map[string]*Entry // by the key of the message
}

// point is a moment in a branch of a run from which on nothing holds.
type point struct {
	branch   string
	step     string // that is done anew; empty where it is none
	ord, seq int64
}

// note takes in what an entry tells of the run's branches and messages.
func (c *cutter) note(entry *Entry) {
	// An intent, which is never forgotten, may be of an earlier branch of that
	// name.
	if born, known := c.born[entry.branch()]; entry.Branch > 0 && entry.Kind != EntryIntent && (!known || entry.Born < born) {
		c.born[entry.branch()] = entry.Born
	}
	var from string
	if entry.Kind == EntryReceive && json.Unmarshal(entry.Value, &from) == nil && from != "" {
		c.received[from] = entry
	}
}

// doubt forgets an entry and makes it a point: all that came of it is to
// follow.
func (c *cutter) doubt(entry *Entry) {
	if c.dropped[entry] {
		return
	}
	p := point{branch: entry.branch(), ord: entry.Ord, seq: entry.Seq}
	if entry.Kind == EntryStep || entry.Kind == EntryFault {
		p.step = entry.Key
	}
	c.points = append(c.points, p)
	c.drop(entry)
}

// drop forgets an entry that came of a point. What came of it came of that
// point too, save in the branch that it was sent to.
func (c *cutter) drop(entry *Entry) {
	if c.dropped[entry] {
		return
	}
	c.dropped[entry] = true
	if r := c.received[entry.Key]; r != nil && entry.Kind == EntrySend {
		c.doubt(r)
	}
}

// follows says whether what was done in a branch after p may have come of it.
// A branch that began before p, and is neither the one in which p lies nor one
// that this is a part of, goes its own way; what it was sent is seen to when
// the message is dropped.
func (c *cutter) follows(p point, branch string) bool {
	for {
		if within(p.branch, branch) {
			return true
		}
		up := c.branchOf(above(branch))
		if within(p.branch, up) {
			return c.born[branch] > p.ord
		}
		branch = up
	}
}

// within says whether a path is the one of a scope, or lies in it.
func within(path, scope string) bool {
	return scope == "" || path == scope || strings.HasPrefix(path, scope+"/")
}

// branchOf is the branch that the scope of a path belongs to, as far as the
// journal knows.
func (c *cutter) branchOf(path string) string {
	for path != "" {
		if _, ok := c.born[path]; ok {
			break
		}
		path = above(path)
	}
	return path
}

func (c *cutter) result(h *History) (out Cut) {
	kept := make(map[string]bool) // steps
	for i := range h.Entries {
		switch entry := &h.Entries[i]; {
		case entry.Kind == EntryIntent:
			// What may have taken effect is not forgotten.
		case c.dropped[entry]:
			out.Drop = append(out.Drop, EntryRef{entry.Key, entry.Kind})
			if entry.Kind == EntryAsk {
				out.Unasked = append(out.Unasked, entry.Key)
			}
		case entry.Kind == EntryStep || entry.Kind == EntryFault:
			kept[entry.Key] = true
		}
	}
	for place, seq := range h.Places {
		if !strings.HasPrefix(place, kernelPlace) && c.voids(place, seq, kept) {
			out.Void = append(out.Void, place)
		}
	}
	slices.SortFunc(out.Void, func(a, b string) int { return int(h.Places[a] - h.Places[b]) })
	return out
}

// voids says whether the event at a place is void: it is part of a step that is
// done anew, or may have come of one.
func (c *cutter) voids(place string, seq int64, kept map[string]bool) bool {
	scope := scopeOf(place)
	for path := scope; path != ""; path = above(path) {
		if kept[path] {
			return false
		}
	}
	branch := c.branchOf(scope)
	for _, p := range c.points {
		if p.step != "" && within(scope, p.step) || seq > p.seq && c.follows(p, branch) {
			return true
		}
	}
	return false
}

// branch is the path of the branch in which an entry was recorded.
func (entry *Entry) branch() string { return entry.Key[:min(entry.Branch, len(entry.Key))] }

// above is the path of the scope that a path lies in.
func above(path string) string { return path[:max(0, strings.LastIndexByte(path, '/'))] }

// Fork returns the part of a run's journal and log that does not come of the
// step at: a run created with them does that step and what follows anew, and
// nothing else.
func Fork(h *History, log []PlacedEvent, at string) ([]Entry, []PlacedEvent, error) {
	var anew []*Entry
	for i := range h.Entries {
		if entry := &h.Entries[i]; entry.Key == at && (entry.Kind == EntryStep || entry.Kind == EntryFault) {
			anew = append(anew, entry)
		}
	}
	if len(anew) == 0 {
		return nil, nil, &NoStepError{at}
	}
	cut := h.cut(anew)
	void := make(map[string]bool, len(cut.Void))
	for _, place := range cut.Void {
		void[place] = true
	}
	dropped := make(map[EntryRef]bool, len(cut.Drop))
	for _, ref := range cut.Drop {
		dropped[ref] = true
	}
	var events []PlacedEvent
	renumbered := make([]int64, 0, len(log)) // old sequences of the events kept
	for _, p := range log {
		if strings.HasPrefix(p.Place, kernelPlace) || void[p.Place] {
			continue
		}
		renumbered = append(renumbered, p.Seq)
		p.Seq = int64(len(renumbered))
		events = append(events, p)
	}
	// What was counted in entries and events is counted anew.
	ords := make([]int64, 0, len(h.Entries))
	var entries []Entry
	for _, entry := range h.Entries {
		step := scopeOf(entry.Key)
		anew := dropped[EntryRef{step, EntryStep}] || dropped[EntryRef{step, EntryFault}]
		// The effects of a fork are its own: it does not ask about those of the
		// run that it was forked from.
		if dropped[EntryRef{entry.Key, entry.Kind}] || entry.Kind == EntryIntent && anew {
			continue
		}
		ords = append(ords, entry.Ord)
		entry.Ord, entry.Seq = int64(len(ords)), upTo(renumbered, entry.Seq)
		if entry.Born > 0 {
			entry.Born = upTo(ords, entry.Born-1) + 1
		}
		if entry.Kind == EntrySteer {
			// The fork's own signals are counted anew too.
			var seen steering
			err := json.Unmarshal(entry.Value, &seen)
			if err == nil {
				seen.Upto = 0
				entry.Value, err = json.Marshal(seen)
			}
			if err != nil {
				return nil, nil, fmt.Errorf("the journal's steering %s: %w", entry.Key, err)
			}
		}
		entries = append(entries, entry)
	}
	return entries, events, nil
}

// upTo counts the numbers that are not above n.
func upTo(numbers []int64, n int64) int64 {
	at, found := slices.BinarySearch(numbers, n)
	if found {
		at++
	}
	return int64(at)
}

// ErrChanged is what a store says to a Reopening that was made for a record
// that is not the present one.
var ErrChanged = errors.New("the run has changed meanwhile")
