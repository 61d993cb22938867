package storetest

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"strings"

	"dossier/event"
	"dossier/internal/store"
	"dossier/run"
)

// strange are texts that storage must not change.
var strange = []string{
	"nul \x00 inside", "\x00", "bad \xff\xfe utf-8", "\xc3", "quote ' \" \\ ` $1 ? :x @y", "Привет, 世界 🌍",
	"line\r\nbreak\u2028", "{not json", strings.Repeat("long ", 400),
}

// noise returns n bytes that don't compress.
func noise(n int) []byte {
	var seed [32]byte
	b := make([]byte, n)
	_, _ = rand.NewChaCha8(seed).Read(b) // never fails
	return b
}

var bodyTests = []test{
	{"blobs are named by what they hold", func(f *fixture) {
		const empty = "sha256-e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
		bodies := [][]byte{{}, []byte("abc"), {0}, bytes.Repeat([]byte("page "), 20_000), noise(3 << 20)}
		for range 2 {
			for _, body := range bodies {
				name, err := f.store.PutBlob(f.ctx, body)
				f.ok(err)
				if name != store.BlobName(body) || len(body) == 0 && name != empty {
					f.Fatalf("blob of %d bytes is named %s", len(body), name)
				}
				got, err := f.store.Blob(f.ctx, name)
				f.ok(err)
				if !bytes.Equal(got, body) {
					f.Fatalf("blob of %d bytes came back as %d others", len(body), len(got))
				}
			}
		}
		for _, name := range []string{store.BlobName([]byte("never put")), "", "sha256-", "sha256-zz", strings.ToUpper(empty), empty[7:]} {
			_, err := f.store.Blob(f.ctx, name)
			f.is(err, store.ErrNotFound)
		}
	}},
	{"settings are set and replaced", func(f *fixture) {
		_, err := f.store.Setting(f.ctx, "b", "k")
		f.is(err, store.ErrNotFound)
		for _, value := range []string{"one", "", "two\x00\xff"} {
			f.ok(f.store.SetSetting(f.ctx, "b", "k", []byte(value)))
			f.ok(f.store.SetSetting(f.ctx, "b", "other", []byte("x")))
			f.ok(f.store.SetSetting(f.ctx, "bk", "", []byte("y")))
			got, err := f.store.Setting(f.ctx, "b", "k")
			f.ok(err)
			if string(got) != value {
				f.Fatalf("got %q, want %q", got, value)
			}
		}
	}},
	{"strange texts come back", func(f *fixture) {
		f.asking("asks", strange...)
		for i, text := range strange {
			id := "r" + string(rune('a'+i))
			request := json.RawMessage(`{"q":` + jsonOf(text) + `}`)
			f.ok(f.store.Create(f.ctx, run.Record{ID: id, Session: "s" + text, Title: text, Mode: text, Request: request}, nil, nil))
			if r := f.record(id); r.Title != text || r.Mode != text || r.Session != "s"+text || string(r.Request) != string(request) {
				f.Fatalf("record: %+v", r)
			}
			s, err := f.store.Session(f.ctx, "s"+text)
			f.ok(err)
			if s.ID != "s"+text || s.Title != text {
				f.Fatalf("session: %+v", s)
			}
			f.ok(f.store.Signal(f.ctx, id, run.Signal{Kind: run.SignalSteer, Key: text, Text: text}))
			if s := f.signals(id, 0); s[0].Text != text || s[0].Key != text {
				f.Fatalf("signal: %+v", s)
			}
			f.ok(f.store.Answer(f.ctx, "asks", text, text))
			f.ok(f.store.Answer(f.ctx, "asks", text, text))
			f.is(f.store.Answer(f.ctx, "asks", text, text+"!"), store.ErrAnswered)
			e := step(text, jsonOf(text))
			f.ok(f.commit(run.Batch{Run: id, Epoch: f.acquire(id, text), Entries: []run.Entry{e}, Events: []run.PlacedEvent{message(1, text, text, text)}}))
			h := f.history(id)
			if got := h.Entries[0]; got.Key != text || string(got.Value) != string(e.Value) || h.Places[text] != 1 || h.Record.Owner != text {
				f.Fatalf("history: %+v", h)
			}
			// Events travel as JSON, where a byte that is not UTF-8 becomes U+FFFD.
			messages, err := f.store.Messages(f.ctx, "s"+text, "", 0)
			f.ok(err)
			if got := messages[0].Text; got != text && got != viaJSON(text) {
				f.Fatalf("message: %q, want %q", got, text)
			}
			f.ok(f.store.SetSetting(f.ctx, text, text, []byte(text)))
			if value, err := f.store.Setting(f.ctx, text, text); err != nil || string(value) != text {
				f.Fatalf("setting: %q, %v", value, err)
			}
		}
	}},
	{"values of any size come back", func(f *fixture) {
		f.create("r1", "s1")
		epoch := f.acquire("r1", "worker")
		for i, size := range []int{0, 1, 511, 512, 513, 4096, 1 << 20} {
			for k, text := range []string{strings.Repeat("same ", size/5+1)[:size], jsonOf(string(noise(size)))} {
				key := "k" + string(rune('a'+2*i+k))
				seq := int64(2*i + k + 1)
				e := step(key, jsonOf(text))
				e.Seq = seq
				f.ok(f.commit(run.Batch{Run: "r1", Epoch: epoch, Entries: []run.Entry{e}, Events: []run.PlacedEvent{message(seq, key, "user", text)}}))
				h := f.history("r1")
				if got := h.Entries[seq-1]; string(got.Value) != string(e.Value) {
					f.Fatalf("value of %d bytes came back as %d bytes", len(e.Value), len(got.Value))
				}
				events, err := f.store.Events(f.ctx, "r1", seq-1, 1)
				f.ok(err)
				if got := events[0].Data.(event.Message).Text; got != text {
					f.Fatalf("text of %d bytes came back as %d bytes", len(text), len(got))
				}
			}
		}
		big := json.RawMessage(jsonOf(strings.Repeat("why? ", 1<<20/5)))
		f.ok(f.store.Create(f.ctx, run.Record{ID: "big", Request: big}, nil, nil))
		if r := f.record("big"); !bytes.Equal(r.Request, big) {
			f.Fatalf("request of %d bytes came back as %d bytes", len(big), len(r.Request))
		}
		f.ok(f.store.Check(f.ctx))
	}},
	{"no value is not an empty value", func(f *fixture) {
		f.ok(f.store.Create(f.ctx, run.Record{ID: "r1"}, []run.Entry{{Key: "a", Kind: run.EntrySteer, Time: at}}, nil))
		h := f.history("r1")
		if h.Record.Request != nil || h.Entries[0].Value != nil || h.Record.Failure != nil {
			f.Fatalf("history: %+v", h)
		}
		if len(h.Signals) != 0 || len(h.Places) != 0 || h.Places == nil {
			f.Fatalf("places %v, signals %v", h.Places, h.Signals)
		}
	}},
	{"every kind of event comes back", func(f *fixture) {
		data := []event.Data{
			event.RunStatus{Status: "running"}, event.SourceFound{Number: 1, URL: "https://example.org", Title: "T"},
			event.PlanUpdated{Steps: []event.PlanStep{{Title: "a", Queries: []string{"q"}}}}, event.Usage{Model: "m", Input: 3, Cost: 0.5},
			event.Unknown{Name: "future.kind", Raw: json.RawMessage(`{"a":[1,{"b":null}]}`)},
		}
		var events []run.PlacedEvent
		for i, d := range data {
			events = append(events, run.PlacedEvent{Place: string(d.Kind()), Event: event.Event{Seq: int64(i) + 1, Time: at, Agent: "lead/1", Data: d}})
		}
		f.ok(f.commit(run.Batch{Run: "r1", Epoch: f.start("r1"), Events: events}))
		got, err := f.store.Events(f.ctx, "r1", 0, 0)
		f.ok(err)
		for i := range events {
			events[i].Run = "r1"
		}
		if !reflect.DeepEqual(got, events) {
			f.Fatalf("got  %+v\nwant %+v", got, events)
		}
	}},
}

func jsonOf(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err) // strings always encode
	}
	return string(b)
}

func viaJSON(s string) (out string) {
	if err := json.Unmarshal([]byte(jsonOf(s)), &out); err != nil {
		panic(err) // it was just made
	}
	return out
}
