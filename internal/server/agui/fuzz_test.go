package agui

import (
	"encoding/json"
	"testing"

	"dossier/event"
)

func FuzzInput(f *testing.F) {
	for _, seed := range []string{
		`{"threadId":"t","runId":"r","messages":[{"id":"1","role":"user","content":"hello"}],"tools":[],"context":[{"description":"a","value":"b"}],"forwardedProps":{"mode":"chat"}}`,
		`{"threadId":"t","runId":"r","messages":[{"role":"user","content":[{"type":"text","text":"x"}]}]}`,
		`{"threadId":"t","runId":"r","resume":[{"interruptId":"a/b","status":"resolved","payload":{"answer":"x"}}]}`,
		`{"threadId":"t","runId":"r","resume":[{"interruptId":"a/b","status":"cancelled"}],"forwardedProps":[]}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		in, _, err := readInput(raw)
		if err != nil {
			return
		}
		_, _ = in.turns()
		_ = in.material()
		for _, r := range in.Resume {
			_, _ = r.answer()
			if id, ask, err := parseInterruptID(r.InterruptID); err == nil && interruptID(id, ask) != r.InterruptID {
				t.Fatalf("%q is read as %q and %q", r.InterruptID, id, ask)
			}
		}
	})
}

// Whatever a log says, what comes of it is JSON and in order: everything that
// begins has ended when the run has.
func FuzzProjection(f *testing.F) {
	seen := map[event.Kind]bool{}
	for _, name := range []string{"agent", "team"} {
		for _, e := range recordedLog(f, name) {
			if raw, err := e.MarshalJSON(); err == nil && !seen[e.Kind()] {
				seen[e.Kind()] = true
				f.Add(raw, []byte(`{"v":1,"run":"r","seq":2,"time":"2026-01-01T00:00:00Z","kind":"run.status","data":{"status":"done"}}`))
			}
		}
	}
	f.Fuzz(func(t *testing.T, one, two []byte) {
		p := NewProjection("thread", "run", nil)
		var all []Event
		for _, raw := range [][]byte{one, two, one} {
			var e event.Event
			if json.Unmarshal(raw, &e) != nil {
				continue
			}
			all = append(all, p.Next(e)...)
		}
		open := map[string]int{}
		for _, e := range all {
			if _, err := json.Marshal(e); err != nil {
				t.Fatal(err)
			}
			switch e.Type {
			case StepStarted, TextStart, SubagentStarted:
				open[e.Type]++
			case StepFinished:
				open[StepStarted]--
			case TextEnd:
				open[TextStart]--
			case SubagentFinished:
				open[SubagentStarted]--
			}
		}
		for what, n := range open {
			if n < 0 || n > 0 && p.Over {
				t.Errorf("%s: %d", what, n)
			}
		}
	})
}
