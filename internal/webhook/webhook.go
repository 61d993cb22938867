// Package webhook tells others what becomes of runs: each end of a run, and each
// question that one waits with, is posted to the addresses that the operator has
// named, signed as Standard Webhooks lays down.
//
// A run that ends leaves a piece of news in the same commit. Whoever stays makes
// deliveries of the news, one for each address that wants it, and sends these, again
// and again until they are taken. All of that is in the store, so nothing is lost
// with a process, and no run waits for it.
package webhook

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"dossier/run"
)

// Event is what is told.
type Event string

// The events.
const (
	Done      Event = "run.done"
	Failed    Event = "run.failed"
	Cancelled Event = "run.cancelled"
	Waiting   Event = "run.waiting"
	// Test is sent when somebody tries an address.
	Test Event = "webhook.test"
)

// Events are those that an address can ask for. Usual are those it gets when it
// asks for none.
var (
	Events = []Event{Done, Failed, Cancelled, Waiting}
	Usual  = []Event{Done, Failed, Cancelled}
)

// EventOf is what is told of a run that has come to a status; "" for nothing.
func EventOf(s run.Status) Event {
	switch s {
	case run.Done, run.Failed, run.Cancelled, run.Waiting:
		return Event("run." + string(s))
	}
	return ""
}

// Hook is an address to which events are posted.
type Hook struct {
	Name   string
	URL    string
	Key    []byte // for signatures
	Events []Event
}

// Host is that of the address, which is no secret.
func (h *Hook) Host() string {
	u, err := url.Parse(h.URL)
	if err != nil {
		return ""
	}
	return u.Host
}

// Wants says whether an event is for this address.
func (h *Hook) Wants(e Event) bool {
	if len(h.Events) == 0 {
		return slices.Contains(Usual, e)
	}
	return slices.Contains(h.Events, e)
}

// secretPrefix and the sizes of a key are those of Standard Webhooks.
const (
	secretPrefix      = "whsec_"
	leastKey, mostKey = 24, 64
)

// NewSecret makes a secret.
func NewSecret() string {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // never fails
	return secretPrefix + base64.StdEncoding.EncodeToString(key)
}

// ParseSecret returns the key that a secret is. The error does not repeat it.
func ParseSecret(secret string) ([]byte, error) {
	text, ok := strings.CutPrefix(strings.TrimSpace(secret), secretPrefix)
	key, err := base64.StdEncoding.DecodeString(text)
	switch {
	case !ok || err != nil:
		return nil, errors.New("it has to be whsec_ and base64; `dossier webhooks secret` makes one")
	case len(key) < leastKey || len(key) > mostKey:
		return nil, fmt.Errorf("it stands for %d bytes and has to for %d to %d; `dossier webhooks secret` makes one", len(key), leastKey, mostKey)
	}
	return key, nil
}

// Sign is the signature of a message.
func Sign(key []byte, id string, at time.Time, body []byte) string {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(id + "." + strconv.FormatInt(at.Unix(), 10) + "."))
	mac.Write(body)
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// News is that a run has come to a status which others may want to know.
type News struct {
	N      int64 // order of arrival
	Run    string
	Seq    int64 // of the run's last event then
	Status run.Status
	At     time.Time
}

// DeliveryID names the delivery of a piece of news to an address: the same one
// each time it is made.
func DeliveryID(hook string, n News) string {
	sum := sha256.Sum256([]byte(strings.Join([]string{hook, n.Run, strconv.FormatInt(n.Seq, 10), string(n.Status)}, "\x00")))
	return "msg_" + hex.EncodeToString(sum[:12])
}

// State of a delivery.
type State string

// The states.
const (
	Pending   State = "pending"
	Delivered State = "delivered"
	GivenUp   State = "given_up"
)

// Delivery is one message to one address.
type Delivery struct {
	ID    string `json:"id"`
	Hook  string `json:"hook"`
	Event Event  `json:"event"`
	Run   string `json:"run,omitempty"`
	// Body is what is posted, the same each time.
	Body    []byte    `json:"-"`
	Created time.Time `json:"created"`
	State   State     `json:"state"`
	// Attempts are how often it was sent, At when it last was, and Next when it
	// is again.
	Attempts int       `json:"attempts"`
	At       time.Time `json:"at,omitzero"`
	Next     time.Time `json:"next,omitzero"`
	// Status is that of the last reply, 0 for none, and Error why it was not taken.
	Status int    `json:"status,omitempty"`
	Error  string `json:"error,omitempty"`
}

// Filter narrows Deliveries. The zero value means the newest 100.
type Filter struct {
	Hook  string
	Run   string
	State State
	Limit int
}

// Store keeps news and deliveries. It is safe for concurrent use. News are added
// by the commit that brings a run to its status.
type Store interface {
	// News returns the oldest news.
	News(ctx context.Context, limit int) ([]News, error)
	// Tell removes the news up to one, and adds deliveries; those whose id there
	// is already stay as they are.
	Tell(ctx context.Context, upTo int64, made []Delivery) error
	// ClaimDeliveries returns deliveries to an address that are due, the oldest
	// first, and makes them due at until, so that nobody else sends them
	// meanwhile. Due is what is pending and whose Next has come, or is after far,
	// which no delivery waits for: the clock was set back.
	ClaimDeliveries(ctx context.Context, hook string, now, until, far time.Time, limit int) ([]Delivery, error)
	// RecordAttempt records all of a delivery but its body.
	RecordAttempt(ctx context.Context, d Delivery) error
	// Delivery fails with ErrNone.
	Delivery(ctx context.Context, id string) (Delivery, error)
	// Deliveries returns deliveries without their bodies, the newest first.
	Deliveries(ctx context.Context, f Filter) ([]Delivery, error)
	// CountDeliveries counts those of each state.
	CountDeliveries(ctx context.Context) (map[State]int, error)
	// TidyDeliveries removes those that were made before a moment.
	TidyDeliveries(ctx context.Context, before time.Time) (int, error)
}

// ErrNone says that there is no such delivery.
var ErrNone = errors.New("there is no such delivery")
