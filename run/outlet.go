package run

import (
	"sync"

	"dossier/event"
)

// outlet hands the events of a run out in the order in which they were
// emitted: durable ones once they are stored, and transient ones not before
// the durable ones that came earlier.
type outlet struct {
	publish func(event.Event)

	mu       sync.Mutex
	expected int // batches with events that were sent off
	settled  int // those of them whose fate is known; they settle in order
	held     []heldEvent
}

// heldEvent is a transient event that waits for batches to settle.
type heldEvent struct {
	after int
	event.Event
}

// expect says that a batch with events is on its way.
func (o *outlet) expect() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.expected++
}

// settle publishes the events of a batch that was expected, if it was stored,
// and what waited for them.
func (o *outlet) settle(events []PlacedEvent, err error) {
	if len(events) == 0 {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if err == nil {
		for i := range events {
			o.publish(events[i].Event)
		}
	}
	o.settled++
	for len(o.held) > 0 && o.held[0].after <= o.settled {
		o.publish(o.held[0].Event)
		o.held = o.held[1:]
	}
}

// pass publishes a transient event in its turn.
func (o *outlet) pass(ev event.Event) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.settled < o.expected {
		o.held = append(o.held, heldEvent{o.expected, ev})
		return
	}
	o.publish(ev)
}
