package socketio

import (
	"bytes"
	"strings"
	"testing"

	runevent "dossier/event"
)

func TestPackets(t *testing.T) {
	for text, want := range map[string]packet{
		`0`:                    {kind: connect, space: "/"},
		`0{"token":"x"}`:       {kind: connect, space: "/", data: []byte(`{"token":"x"}`)},
		`0/admin,{"a":1}`:      {kind: connect, space: "/admin", data: []byte(`{"a":1}`)},
		`0/admin`:              {kind: connect, space: "/admin"},
		`2["start",{}]`:        {kind: emitted, space: "/", data: []byte(`["start",{}]`)},
		`212["start",{}]`:      {kind: emitted, space: "/", id: "12", data: []byte(`["start",{}]`)},
		`2/admin,0["x"]`:       {kind: emitted, space: "/admin", id: "0", data: []byte(`["x"]`)},
		`1`:                    {kind: disconnect, space: "/"},
		`37[{"error":"none"}]`: {kind: acknowledged, space: "/", id: "7", data: []byte(`[{"error":"none"}]`)},
	} {
		got, err := decodePacket(text)
		if err != nil || got.kind != want.kind || got.space != want.space || got.id != want.id || !bytes.Equal(got.data, want.data) {
			t.Errorf("%s: %+v %v", text, got, err)
		}
	}
	for _, text := range []string{"", "7", "5", `51-["x",{"_placeholder":true,"num":0}]`, "2[", "2" + strings.Repeat("1", 30) + "[]", "0x", `2["a"]["b"]`} {
		if got, err := decodePacket(text); err == nil {
			t.Errorf("%q is read as %+v", text, got)
		}
	}
}

// Every kind of event has a name of its own choosing, and none that clients of
// Socket.IO keep for themselves.
func TestEveryKindHasAName(t *testing.T) {
	for _, kind := range runevent.Kinds() {
		switch nameOf(kind) {
		case "event", "connect", "connect_error", "disconnect", "disconnecting", "newListener", "removeListener", "end", "stopped", "refused":
			t.Errorf("%s is called %s", kind, nameOf(kind))
		}
	}
	if nameOf("of.tomorrow") != "event" {
		t.Error("an unknown kind has a name")
	}
}

func FuzzPacket(f *testing.F) {
	for _, seed := range []string{`0{"token":"x"}`, `212["start",{"question":"x"}]`, `2/admin,0["x"]`, `3/a,7[]`, `1`, `2["\u001e"]`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := decodePacket(text)
		if err != nil {
			return
		}
		if p.kind == emitted {
			_, _, _ = p.said()
		}
		again, err := decodePacket(p.encode()[1:])
		if err != nil || again.kind != p.kind || again.space != p.space || again.id != p.id || !bytes.Equal(again.data, p.data) {
			t.Fatalf("%q becomes %+v, then %+v: %v", text, p, again, err)
		}
	})
}
