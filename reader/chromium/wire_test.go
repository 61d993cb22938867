package chromium

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"dossier/egress"
)

// scripted is a browser that answers each command with the next of its lines.
type scripted struct {
	w     *io.PipeWriter
	lines []string
}

func (s *scripted) Write(command []byte) (int, error) {
	var m message
	if err := json.Unmarshal(bytes.TrimSuffix(command, []byte{0}), &m); err != nil || command[len(command)-1] != 0 {
		return 0, errors.New("not a command")
	}
	line := s.lines[0]
	s.lines = s.lines[1:]
	id, _ := json.Marshal(m.ID)
	go io.WriteString(s.w, strings.ReplaceAll(line, "ID", string(id)))
	return len(command), nil
}

func TestWire(t *testing.T) {
	in, out := io.Pipe()
	b := &scripted{w: out, lines: []string{
		`{"method":"Some.event","params":{"a":1}}` + "\x00" + `{"id":ID,"result":{"text":"` + strings.Repeat("x", 200<<10) + `"}}` + "\x00",
		`{"id":ID,"error":{"code":-1,"message":"no such thing"}}` + "\x00",
		`{"id":99999,"result":{}}` + "\x00" + `{"id":ID,"result":{}}` + "\x00",
		"",
	}}
	w := newWire(in, b)
	var events []string
	go w.listen(func(m *message) { events = append(events, m.Method+string(m.Params)) })
	var got struct{ Text string }
	if err := w.call(t.Context(), "", "A", obj{}, &got); err != nil || len(got.Text) != 200<<10 {
		t.Errorf("%v, %d bytes", err, len(got.Text))
	}
	if len(events) != 1 || events[0] != `Some.event{"a":1}` {
		t.Errorf("%q", events)
	}
	if _, ok := errors.AsType[*refused](w.call(t.Context(), "s", "B", obj{}, nil)); !ok {
		t.Error("no refusal")
	}
	if err := w.call(t.Context(), "", "C", obj{}, nil); err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := w.call(ctx, "", "D", obj{}, nil); !errors.Is(err, context.Canceled) || len(w.waiting) != 0 {
		t.Errorf("%v, %d waiting", err, len(w.waiting))
	}
	out.Close()
	<-w.gone
	b.lines = []string{""}
	if err := w.call(t.Context(), "", "E", obj{}, nil); !errors.Is(err, errGone) {
		t.Errorf("%v", err)
	}
}

func FuzzWire(f *testing.F) {
	for _, s := range []string{
		`{"id":1,"result":{}}`, `{"method":"Fetch.requestPaused","params":{"requestId":"1","resourceType":"Image","request":{"url":"http://a/"}}}`,
		`{"method":"Fetch.authRequired","params":{"requestId":"1","authChallenge":{"source":"Proxy","origin":"http://127.0.0.1:1"}}}`,
		`{"method":"Target.targetCreated","params":{"targetInfo":{"targetId":"x","type":"page"}}}`, `{"method":"Page.lifecycleEvent","params":{"frameId":"","name":"load"}}`,
		`{"method":"Page.javascriptDialogOpening"}`, `{"method":"Inspector.targetCrashed"}`, `null`, `[]`, "",
	} {
		f.Add([]byte(s + "\x00" + s + "\x00"))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var sent bytes.Buffer
		w := newWire(bytes.NewReader(data), &sent)
		page := &tab{process: &process{wire: w}, proxy: &egress.Proxy{Address: "127.0.0.1:1", User: "u", Password: "secret"}}
		w.listen(page.event)
		if w.why == nil {
			t.Error("it ended without a reason")
		}
		if bytes.Contains(sent.Bytes(), []byte("secret")) && !bytes.Contains(data, []byte("Proxy")) {
			t.Errorf("the password was given away: %s", sent.Bytes())
		}
	})
}
