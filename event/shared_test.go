package event_test

import (
	"testing"

	"dossier/event"
)

// What is shared is encoded once, and as it would be otherwise.
func TestSharedIsEncodedOnce(t *testing.T) {
	e := event.Event{Run: "r", Seq: 1, Data: event.Message{Role: "user", Text: "why?"}}
	plain, err := e.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	one := e.Shared()
	two := one
	a, errA := one.MarshalJSON()
	b, errB := two.MarshalJSON()
	if errA != nil || errB != nil || string(a) != string(plain) || &a[0] != &b[0] {
		t.Errorf("%s and %s, want %s once: %v %v", a, b, plain, errA, errB)
	}
	if _, err := (event.Event{}).Shared().MarshalJSON(); err == nil {
		t.Error("an event without data was encoded")
	}
}
