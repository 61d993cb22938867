// Package event is the one log of what happens in a run. Every client (page,
// command line, SSE, Socket.IO, OpenAI stream) is a projection of it.
//
// An Event is an envelope and a small piece of Data of one of a sealed set of
// kinds. Durable events carry a gap-free sequence per run, from 1; transient
// ones (token deltas, heartbeats) have sequence 0, reach whoever listens at
// that moment and are followed by a durable event that holds the whole.
//
// The JSON form is versioned (see Version) and documented by docs/events.md
// and docs/events.schema.json. A reader keeps what it does not know: an event
// of an unknown kind decodes to Unknown and encodes to the same JSON.
package event

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sync"
	"time"
)

// Version of the JSON form. A change that an existing reader could
// misunderstand raises it; new kinds and new optional fields don't.
const Version = 1

// Kind names what an event is about.
type Kind string

// Event is one entry of a run's log.
type Event struct {
	Run     string
	Session string
	// Seq counts the durable events of a run from 1 without a gap; it is 0
	// for a transient event.
	Seq  int64
	Time time.Time
	// Agent is the path of the agent or branch of work that speaks; empty for
	// the run itself.
	Agent string
	Data  Data

	form *form // nil where each copy is encoded for itself
}

// form is the JSON of an event for all copies of it.
type form struct {
	once sync.Once
	raw  []byte
	err  error
}

// Shared returns the event as one that is encoded once for all copies of it, when
// the first is. Neither the copies nor what MarshalJSON returns of them may be
// changed.
func (e Event) Shared() Event {
	e.form = &form{}
	return e
}

// Kind of the event's data.
func (e Event) Kind() Kind {
	if e.Data == nil {
		return ""
	}
	return e.Data.Kind()
}

// Transient says whether the event is only for those who listen now.
func (e Event) Transient() bool { return IsTransient(e.Data) }

// wire is the envelope in JSON.
type wire struct {
	V       int             `json:"v"`
	Run     string          `json:"run"`
	Session string          `json:"session,omitempty"`
	Seq     int64           `json:"seq,omitempty"`
	Time    time.Time       `json:"time"`
	Agent   string          `json:"agent,omitempty"`
	Kind    Kind            `json:"kind"`
	Data    json.RawMessage `json:"data"`
}

// MarshalJSON encodes the envelope and its data.
func (e Event) MarshalJSON() ([]byte, error) {
	if e.form == nil {
		return e.encode()
	}
	e.form.once.Do(func() { e.form.raw, e.form.err = e.encode() })
	return e.form.raw, e.form.err
}

func (e Event) encode() ([]byte, error) {
	data, err := EncodeData(e.Data)
	if err != nil {
		return nil, err
	}
	return json.Marshal(wire{
		V: Version, Run: e.Run, Session: e.Session, Seq: e.Seq, Time: e.Time.UTC(),
		Agent: e.Agent, Kind: e.Data.Kind(), Data: data,
	})
}

// UnmarshalJSON decodes an event of any version up to Version. Data of a kind
// that this program does not know becomes Unknown.
func (e *Event) UnmarshalJSON(b []byte) error {
	var w wire
	if err := json.Unmarshal(b, &w); err != nil {
		return fmt.Errorf("event: %w", err)
	}
	if w.V > Version {
		return fmt.Errorf("event: version %d is newer than this program understands (%d): upgrade dossier", w.V, Version)
	}
	data, err := DecodeData(w.Kind, w.Data)
	if err != nil {
		return err
	}
	*e = Event{Run: w.Run, Session: w.Session, Seq: w.Seq, Time: w.Time, Agent: w.Agent, Data: data}
	return nil
}

// EncodeData returns the JSON object of an event's data.
func EncodeData(d Data) ([]byte, error) {
	switch d := d.(type) {
	case nil:
		return nil, fmt.Errorf("event: no data")
	case Unknown:
		return d.Raw, nil
	}
	return json.Marshal(d)
}

// DecodeData is the inverse of EncodeData.
func DecodeData(kind Kind, raw []byte) (Data, error) {
	if kind == "" {
		return nil, fmt.Errorf("event: no kind")
	}
	if len(raw) == 0 {
		raw = []byte("{}")
	}
	decode, ok := decoders[kind]
	if !ok {
		if !json.Valid(raw) {
			return nil, fmt.Errorf("event %s: data is not JSON", kind)
		}
		return Unknown{Name: kind, Raw: bytes.Clone(raw)}, nil
	}
	d, err := decode(raw)
	if err != nil {
		return nil, fmt.Errorf("event %s: %w", kind, err)
	}
	return d, nil
}

// Unknown is data of a kind that a newer or foreign program wrote.
type Unknown struct {
	Name Kind
	Raw  json.RawMessage
}

// Kind returns the name that the event came with.
func (u Unknown) Kind() Kind { return u.Name }
func (Unknown) sealed()      {}
