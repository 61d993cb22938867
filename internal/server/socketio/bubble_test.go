package socketio

import (
	"context"
	"encoding/json"
	"io"
	"iter"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	runevent "dossier/event"
	"dossier/internal/server"
	"dossier/run"
)

// long is an engine with one run, which is over and has a long log.
type long struct {
	server.PublicEngine
	events int64
	told   atomic.Int64 // the last sequence that was asked for
	over   atomic.Int64 // how many have stopped listening
}

const longText = 4 << 10

func (l *long) Get(context.Context, string) (run.Record, error) {
	return run.Record{ID: "r1", Status: run.Done, LastSeq: l.events}, nil
}

func (l *long) Events(ctx context.Context, id string, after int64) iter.Seq2[runevent.Event, error] {
	return func(yield func(runevent.Event, error) bool) {
		defer l.over.Add(1)
		for seq := after + 1; seq <= l.events && ctx.Err() == nil; seq++ {
			l.told.Store(seq)
			if !yield(runevent.Event{Run: id, Seq: seq, Data: runevent.Message{Role: "user", Text: strings.Repeat("x", longText)}}, nil) {
				return
			}
		}
	}
}

// bubble is a server in a bubble of time, reached over pipes. When the bubble ends,
// every goroutine in it has.
type bubble struct {
	t      *testing.T
	client *http.Client
	engine *long
	dials  chan net.Conn
	done   chan struct{}
}

// Accept, Close and Addr implement net.Listener.
func (b *bubble) Accept() (net.Conn, error) {
	select {
	case c := <-b.dials:
		return c, nil
	case <-b.done:
		return nil, net.ErrClosed
	}
}
func (b *bubble) Close() error   { return nil }
func (b *bubble) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)} }

func inBubble(t *testing.T, events int64, test func(b *bubble)) {
	synctest.Test(t, func(t *testing.T) {
		b := &bubble{t: t, engine: &long{events: events}, dials: make(chan net.Conn), done: make(chan struct{})}
		handler, closing := server.NewHandler(server.Options{Engine: b.engine, Protocols: []server.Protocol{Protocol()}})
		srv := &http.Server{Handler: handler}
		go func() { _ = srv.Serve(b) }()
		transport := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
			near, far := net.Pipe()
			b.dials <- far
			return near, nil
		}}
		b.client = &http.Client{Transport: transport}
		test(b)
		transport.CloseIdleConnections()
		closing()
		close(b.done)
		_ = srv.Close()
	})
}

const at = "http://localhost" + Path + "?EIO=4&transport="

// dial opens a WebSocket and reads the first packet.
func (b *bubble) dial() *websocket.Conn {
	b.t.Helper()
	ws, _, err := websocket.Dial(b.t.Context(), at+"websocket", &websocket.DialOptions{HTTPClient: b.client})
	if err != nil {
		b.t.Fatal(err)
	}
	ws.SetReadLimit(1 << 20)
	if first := b.read(ws); !strings.HasPrefix(first, "0{") {
		b.t.Fatalf("it begins with %q", first)
	}
	return ws
}

func (b *bubble) read(ws *websocket.Conn) string {
	b.t.Helper()
	_, data, err := ws.Read(b.t.Context())
	if err != nil {
		b.t.Fatal(err)
	}
	return string(data)
}

func (b *bubble) say(ws *websocket.Conn, packets ...string) {
	b.t.Helper()
	for _, packet := range packets {
		if err := ws.Write(b.t.Context(), websocket.MessageText, []byte(packet)); err != nil {
			b.t.Fatal(err)
		}
	}
}

// sequence is that of an event in a packet, 0 for another packet.
func sequence(t *testing.T, text string) int64 {
	t.Helper()
	if !strings.HasPrefix(text, `42["message",`) {
		return 0
	}
	var e runevent.Event
	if err := json.Unmarshal([]byte(text[len(`42["message",`):len(text)-1]), &e); err != nil {
		t.Fatal(err)
	}
	return e.Seq
}

// A client that takes nothing is cut off after a while. Until then little waits for
// it, and when it comes back it misses nothing.
func TestSlowReaderIsCutOffAndComesBack(t *testing.T) {
	const events = 400
	inBubble(t, events, func(b *bubble) {
		ws := b.dial()
		b.say(ws, "40", `42["subscribe",{"run":"r1"}]`)
		last := int64(0)
		for last < 3 {
			last = max(last, sequence(t, b.read(ws)))
		}
		time.Sleep(readPatience - time.Second)
		synctest.Wait()
		if at := b.engine.told.Load(); at == events || at*longText > 3*mostBehind {
			t.Errorf("%d events were read for somebody who takes nothing", at)
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if b.engine.over.Load() != 1 {
			t.Error("the run is still followed for a client that was cut off")
		}
		for {
			_, data, err := ws.Read(b.t.Context())
			if err != nil {
				break
			}
			last = max(last, sequence(t, string(data)))
		}
		if last == events {
			t.Fatal("it was not cut off")
		}
		again := b.dial()
		b.say(again, "40", `42["subscribe",{"run":"r1","after":`+strconv.FormatInt(last, 10)+`}]`)
		for {
			text := b.read(again)
			if strings.HasPrefix(text, `42["end"`) {
				break
			}
			if seq := sequence(t, text); seq != 0 {
				if seq != last+1 {
					t.Fatalf("after %d comes %d", last, seq)
				}
				last = seq
			}
		}
		if last != events {
			t.Errorf("the last is %d", last)
		}
		_ = again.CloseNow()
	})
}

// Who does not say who they are is sent away, and so is a client that has gone
// silent; one that answers stays.
func TestWhoMayStay(t *testing.T) {
	closed := func(ws *websocket.Conn, ctx context.Context) bool {
		for {
			_, data, err := ws.Read(ctx)
			if err != nil {
				return ctx.Err() == nil
			}
			if string(data) == packetPing {
				_ = ws.Write(ctx, websocket.MessageText, []byte("3"))
			}
		}
	}
	inBubble(t, 1, func(b *bubble) {
		ctx, cancel := context.WithTimeout(b.t.Context(), namePatience+time.Second)
		defer cancel()
		if !closed(b.dial(), ctx) {
			t.Error("a stranger stays")
		}
	})
	inBubble(t, 1, func(b *bubble) {
		ws := b.dial()
		b.say(ws, "40", "41")
		ctx, cancel := context.WithTimeout(b.t.Context(), namePatience+time.Second)
		defer cancel()
		if !closed(ws, ctx) {
			t.Error("who has said good-bye stays")
		}
	})
	inBubble(t, 1, func(b *bubble) {
		ws := b.dial()
		b.say(ws, "40")
		ctx, cancel := context.WithTimeout(b.t.Context(), 10*pingEvery)
		defer cancel()
		if closed(ws, ctx) {
			t.Error("a client that answers was sent away")
		}
	})
	inBubble(t, 1, func(b *bubble) {
		ws := b.dial()
		b.say(ws, "40")
		if got := b.read(ws); !strings.HasPrefix(got, "40{") {
			t.Fatal(got)
		}
		if got := b.read(ws); got != packetPing {
			t.Fatal(got)
		}
		ctx, cancel := context.WithTimeout(b.t.Context(), pingPatience+time.Second)
		defer cancel()
		if _, _, err := ws.Read(ctx); err == nil || ctx.Err() != nil {
			t.Errorf("a silent client stays: %v", err)
		}
	})
}

// post and get are what a client does that polls.
func (b *bubble) ask(ctx context.Context, method, query, body string) (int, string) {
	b.t.Helper()
	req, err := http.NewRequestWithContext(ctx, method, at+query, strings.NewReader(body))
	if err != nil {
		b.t.Fatal(err)
	}
	resp, err := b.client.Do(req)
	if err != nil {
		return 0, err.Error()
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, err.Error()
	}
	return resp.StatusCode, string(raw)
}

func (b *bubble) poller() (query string) {
	b.t.Helper()
	_, first := b.ask(b.t.Context(), "GET", "polling", "")
	var opened struct{ SID string }
	if err := json.Unmarshal([]byte(first[1:]), &opened); err != nil {
		b.t.Fatal(err)
	}
	return "polling&sid=" + opened.SID
}

// A client that leaves a poll has left, and a second poll at the same time is a
// mistake that ends the connection.
func TestPolls(t *testing.T) {
	inBubble(t, 1, func(b *bubble) {
		query := b.poller()
		if status, said := b.ask(b.t.Context(), "POST", query, "40\x1e"+`42["subscribe",{"run":"r1"}]`); status != http.StatusOK || said != "ok" {
			t.Fatal(status, said)
		}
		all := ""
		for !strings.Contains(all, `42["end"`) {
			status, said := b.ask(b.t.Context(), "GET", query, "")
			if status != http.StatusOK {
				t.Fatal(status, said)
			}
			all += said
		}
		if !strings.HasPrefix(all, "40{") {
			t.Error(all)
		}
		ctx, cancel := context.WithTimeout(b.t.Context(), time.Second)
		defer cancel()
		b.ask(ctx, "GET", query, "")
		synctest.Wait()
		if status, said := b.ask(b.t.Context(), "GET", query, ""); status != http.StatusBadRequest || !strings.Contains(said, unknownSession.Message) {
			t.Errorf("after the client has left: %d %s", status, said)
		}
	})
	inBubble(t, 1, func(b *bubble) {
		query := b.poller()
		first := make(chan string)
		go func() {
			_, said := b.ask(b.t.Context(), "GET", query, "")
			first <- said
		}()
		synctest.Wait()
		if status, _ := b.ask(b.t.Context(), "GET", query, ""); status != http.StatusBadRequest {
			t.Errorf("a second poll: %d", status)
		}
		if said := <-first; said != packetClose {
			t.Errorf("the first poll: %q", said)
		}
	})
}

// What is no Engine.IO or no Socket.IO ends the connection and nothing else.
func TestNonsense(t *testing.T) {
	inBubble(t, 1, func(b *bubble) {
		for query, want := range map[string]string{
			"smoke": unknownTransport.Message, "polling&sid=none": unknownSession.Message, "websocket&sid=none": unknownSession.Message,
		} {
			status, said := b.ask(b.t.Context(), "GET", query, "")
			if status != http.StatusBadRequest || !strings.Contains(said, want) {
				t.Errorf("%s: %d %s", query, status, said)
			}
		}
		old, err := b.client.Get(strings.Replace(at, "EIO=4", "EIO=3", 1) + "polling")
		if err != nil {
			t.Fatal(err)
		}
		_ = old.Body.Close()
		if old.StatusCode != http.StatusBadRequest {
			t.Errorf("the protocol before: %d", old.StatusCode)
		}
		for _, body := range []string{"", "\x1e", "9", "4", "2", "45-[\"x\"]", "42", `42["start",{}]`, "40{", "40\x1e40", "40\x1e42{}", "40\x1e42[]", "40\x1e42[7]", strings.Repeat("4", mostSent+1)} {
			query := b.poller()
			if status, said := b.ask(b.t.Context(), "POST", query, body); status != http.StatusBadRequest {
				t.Errorf("%.20q: %d %s", body, status, said)
			}
			synctest.Wait()
			if _, said := b.ask(b.t.Context(), "GET", query, ""); !strings.Contains(said, unknownSession.Message) {
				t.Errorf("%.20q leaves the connection open: %s", body, said)
			}
		}
	})
}

// The server closes with clients connected, and none of them keeps it.
func TestServerCloses(t *testing.T) {
	inBubble(t, 1000, func(b *bubble) {
		ws := b.dial()
		b.say(ws, "40", `42["subscribe",{"run":"r1"}]`)
		b.ask(b.t.Context(), "POST", b.poller(), "40\x1e"+`42["subscribe",{"run":"r1"}]`)
	})
}
