// Package followtest has readers of runs, one for each protocol that goes on
// behind a number: server-sent events, Socket.IO and the Responses API. A reader
// that is cut off comes back behind the last number that it saw; Joined does so
// until the run is over. They know the protocols and nothing of the server.
package followtest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strconv"
	"strings"

	"github.com/coder/websocket"
)

// Site is where a server is reached, and by whom.
type Site struct {
	URL   string
	Token string // "" for none
	// Client makes the requests; nil for the default one.
	Client *http.Client
}

// Begin is the number of a reader who has seen nothing.
const Begin = -1

// Message is one that has a number in its stream. Those without, which are shown
// once and never again, are passed over.
type Message struct {
	Number int64
	Text   string // JSON
}

// Follow reads the messages of a run behind a number. It ends without an error
// where the server says that nothing more comes; a stream that is cut, or ends for
// any other reason, ends with one.
type Follow func(ctx context.Context, at Site, run string, after int64) iter.Seq2[Message, error]

// Protocols are the ways to follow a run, by name.
var Protocols = map[string]Follow{"sse": Events, "socket.io": Socket, "responses": Response}

// errCut is the end of a stream that did not say that it ends.
var errCut = errors.New("the stream was cut")

// StoppedError is what a server says who ends a stream before the run is over.
type StoppedError struct{ Name, Data string }

func (e *StoppedError) Error() string { return "the stream says " + e.Name + ": " + e.Data }

// Joined follows a run over and over until its end. Whenever the reader is cut off,
// back is asked where to go on, and its error ends it all. Seen is told each message.
func Joined(ctx context.Context, follow Follow, run string, back func(cut error) (Site, error), seen func(Message)) ([]Message, error) {
	var all []Message
	last := int64(Begin)
	var cut error
	for {
		at, err := back(cut)
		if err != nil {
			return all, err
		}
		cut = nil
		for m, err := range follow(ctx, at, run, last) {
			if err != nil {
				cut = err
				break
			}
			all, last = append(all, m), m.Number
			if seen != nil {
				seen(m)
			}
		}
		if cut == nil {
			return all, nil
		}
		if ctx.Err() != nil {
			return all, ctx.Err()
		}
	}
}

// get makes a request for a stream.
func (s Site) get(ctx context.Context, path string, headers ...string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+path, nil)
	if err != nil {
		return nil, err
	}
	if s.Token != "" {
		req.Header.Set("Authorization", "Bearer "+s.Token)
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := s.client().Do(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode >= http.StatusBadRequest {
		said, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<10))
		_ = resp.Body.Close()
		return nil, fmt.Errorf("%s: %s %s", path, resp.Status, said)
	}
	return resp, nil
}

func (s Site) client() *http.Client {
	if s.Client == nil {
		return http.DefaultClient
	}
	return s.Client
}

// piece is a message of server-sent events.
type piece struct{ id, name, data string }

// pieces reads server-sent events until the stream ends, which is an error here:
// whoever reads knows by what is said that it is the end.
func pieces(body io.Reader) iter.Seq2[piece, error] {
	return func(yield func(piece, error) bool) {
		in := bufio.NewReader(body)
		var p piece
		for {
			line, err := in.ReadString('\n')
			if err != nil {
				yield(piece{}, errors.Join(errCut, err))
				return
			}
			key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
			switch key {
			case "id":
				p.id = value
			case "event":
				p.name = value
			case "data":
				p.data = value
			case "":
				if p != (piece{}) && value == "" && !yield(p, nil) {
					return
				}
				p = piece{}
			}
		}
	}
}

// Events follows a run over server-sent events, with Last-Event-ID.
func Events(ctx context.Context, at Site, run string, after int64) iter.Seq2[Message, error] {
	return func(yield func(Message, error) bool) {
		resp, err := at.get(ctx, "/api/runs/"+run+"/events", "Accept", "text/event-stream", "Last-Event-ID", strconv.FormatInt(max(after, 0), 10))
		if err != nil {
			yield(Message{}, err)
			return
		}
		defer resp.Body.Close()
		if resp.StatusCode == http.StatusNoContent {
			return // all of it is known
		}
		for p, err := range pieces(resp.Body) {
			if err == nil && p.name != "" && p.name != "end" {
				err = &StoppedError{p.name, p.data}
			}
			if err != nil {
				yield(Message{}, err)
				return
			}
			if p.name == "end" {
				return
			}
			if n, err := strconv.ParseInt(p.id, 10, 64); err == nil && !yield(Message{n, p.data}, nil) {
				return
			}
		}
	}
}

// Response follows a run, or a response by its id, over the Responses API, with
// starting_after.
func Response(ctx context.Context, at Site, run string, after int64) iter.Seq2[Message, error] {
	return func(yield func(Message, error) bool) {
		path := "/v1/responses/resp_" + strings.TrimPrefix(run, "resp_") + "?stream=true"
		if after != Begin {
			path += "&starting_after=" + strconv.FormatInt(after, 10)
		}
		resp, err := at.get(ctx, path)
		if err != nil {
			yield(Message{}, err)
			return
		}
		defer resp.Body.Close()
		for p, err := range pieces(resp.Body) {
			if err == nil && p.name == "error" {
				err = &StoppedError{p.name, p.data}
			}
			if err != nil {
				yield(Message{}, err)
				return
			}
			if p.data == "[DONE]" {
				return
			}
			n, err := strconv.ParseInt(p.id, 10, 64)
			if err != nil || !yield(Message{n, p.data}, nil) {
				return
			}
		}
	}
}

// Socket follows a run over Socket.IO in a WebSocket, by a subscription.
func Socket(ctx context.Context, at Site, run string, after int64) iter.Seq2[Message, error] {
	return func(yield func(Message, error) bool) {
		ws, _, err := websocket.Dial(ctx, at.URL+"/socket.io/?EIO=4&transport=websocket", &websocket.DialOptions{HTTPClient: at.Client})
		if err != nil {
			yield(Message{}, err)
			return
		}
		defer ws.CloseNow()
		ws.SetReadLimit(-1)
		fail := func(err error) { yield(Message{}, err) }
		auth, _ := json.Marshal(map[string]string{"token": at.Token})                                        // of texts
		subscribe, _ := json.Marshal([]any{"subscribe", map[string]any{"run": run, "after": max(after, 0)}}) // of plain values
		for {
			_, raw, err := ws.Read(ctx)
			if err != nil {
				fail(errors.Join(errCut, err))
				return
			}
			say := ""
			switch {
			case bytes.HasPrefix(raw, []byte("0")):
				say = "40" + string(auth)
			case bytes.HasPrefix(raw, []byte("40")):
				say = "42" + string(subscribe)
			case bytes.Equal(raw, []byte("2")):
				say = "3"
			case bytes.HasPrefix(raw, []byte("42")):
				m, over, err := heard(raw[2:])
				if err != nil {
					fail(err)
					return
				}
				if over || m.Number != 0 && !yield(m, nil) {
					return
				}
			default:
				fail(&StoppedError{"packet", string(raw)})
				return
			}
			if say == "" {
				continue
			}
			if err := ws.Write(ctx, websocket.MessageText, []byte(say)); err != nil {
				fail(errors.Join(errCut, err))
				return
			}
		}
	}
}

// heard is what an event of Socket.IO says.
func heard(raw []byte) (m Message, over bool, err error) {
	var said []json.RawMessage
	var name string
	if err := json.Unmarshal(raw, &said); err != nil || len(said) < 2 {
		return m, false, fmt.Errorf("no event: %s", raw)
	}
	if err := json.Unmarshal(said[0], &name); err != nil {
		return m, false, err
	}
	switch name {
	case "end":
		return m, true, nil
	case "stopped", "refused":
		return m, false, &StoppedError{name, string(said[1])}
	}
	var numbered struct {
		Seq int64 `json:"seq"`
	}
	err = json.Unmarshal(said[1], &numbered)
	return Message{numbered.Seq, string(said[1])}, false, err
}
