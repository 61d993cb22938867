package server

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net"
	"net/http"
	"net/url"
	"time"

	"dossier"
	"dossier/event"
	"dossier/run"
)

// Client asks another process about the runs that it works on. It is safe for
// concurrent use.
type Client struct {
	http  *http.Client
	token string
	// Version of the program on the other side.
	Version string
}

// greeting is how long a process may take to answer at all.
const greeting = 3 * time.Second

// Dial finds a process by its name in a data directory. It fails with ErrNoPeer
// when it can't be reached, and with ErrGone when it doesn't answer.
func Dial(ctx context.Context, dir, name string) (*Client, error) {
	c, err := readControl(dir, name)
	if err != nil {
		return nil, err
	}
	client := &Client{token: c.Token, http: &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, c.Network, c.Address)
		},
	}}}
	ctx, cancel := context.WithTimeout(ctx, greeting)
	defer cancel()
	var v versionBody
	if err := client.call(ctx, http.MethodGet, "/api/version", nil, &v); err != nil {
		_ = client.Close()
		switch {
		case errors.Is(err, context.DeadlineExceeded):
			return nil, fmt.Errorf("%w (process %d)", ErrGone, c.PID)
		case errors.Is(err, ErrGone): // it ended while it was greeted
			return nil, ErrNoPeer
		}
		return nil, err
	}
	client.Version = v.Version
	return client, nil
}

// Close gives the connections up; it ends nothing on the other side.
func (c *Client) Close() error {
	c.http.CloseIdleConnections()
	return nil
}

// Start implements Runs.
func (c *Client) Start(ctx context.Context, req dossier.Request) (run.Record, error) {
	return fetch[run.Record](ctx, c, http.MethodPost, "/api/runs", req)
}

// Get implements Runs.
func (c *Client) Get(ctx context.Context, id string) (run.Record, error) {
	return fetch[run.Record](ctx, c, http.MethodGet, path(id)+"?view=record", nil)
}

// Show implements Runs.
func (c *Client) Show(ctx context.Context, id string) (dossier.Detail, error) {
	return fetch[dossier.Detail](ctx, c, http.MethodGet, path(id), nil)
}

// List implements Runs.
func (c *Client) List(ctx context.Context, f dossier.Filter) ([]run.Record, error) {
	return fetch[[]run.Record](ctx, c, http.MethodGet, listPath(f), nil)
}

// Log implements Runs.
func (c *Client) Log(ctx context.Context, id string, after int64) ([]event.Event, error) {
	return fetch[[]event.Event](ctx, c, http.MethodGet, fmt.Sprintf("%s/events?after=%d", path(id), after), nil)
}

// Answer implements Runs.
func (c *Client) Answer(ctx context.Context, id, ask, text string) error {
	return c.call(ctx, http.MethodPost, path(id)+"/answer", answerBody{Ask: ask, Text: text}, nil)
}

// Wake implements Runs.
func (c *Client) Wake(ctx context.Context, id string) error {
	return c.call(ctx, http.MethodPost, path(id)+"/wake", nil, nil)
}

// Pause implements Runs.
func (c *Client) Pause(ctx context.Context, id string) error {
	return c.call(ctx, http.MethodPost, path(id)+"/pause", nil, nil)
}

// Resume implements Runs.
func (c *Client) Resume(ctx context.Context, id string, o dossier.ResumeOptions) error {
	return c.call(ctx, http.MethodPost, path(id)+"/resume", o, nil)
}

// Finish implements Runs.
func (c *Client) Finish(ctx context.Context, id string) error {
	return c.call(ctx, http.MethodPost, path(id)+"/finish", nil, nil)
}

// Cancel implements Runs.
func (c *Client) Cancel(ctx context.Context, id string) error {
	return c.call(ctx, http.MethodPost, path(id)+"/cancel", nil, nil)
}

// Steer implements Runs.
func (c *Client) Steer(ctx context.Context, id, text string) error {
	return c.call(ctx, http.MethodPost, path(id)+"/steer", steerBody{Text: text}, nil)
}

// Fork implements Runs.
func (c *Client) Fork(ctx context.Context, id, at string, o dossier.ForkOptions) (run.Record, error) {
	return fetch[run.Record](ctx, c, http.MethodPost, path(id)+"/fork", forkBody{At: at, ForkOptions: o})
}

// Replay implements Runs.
func (c *Client) Replay(ctx context.Context, id string) ([]event.Event, error) {
	return fetch[[]event.Event](ctx, c, http.MethodPost, path(id)+"/replay", nil)
}

// Export implements Runs.
func (c *Client) Export(ctx context.Context, id string) (dossier.Bundle, error) {
	return fetch[dossier.Bundle](ctx, c, http.MethodGet, path(id)+"/bundle", nil)
}

// Delete implements Runs.
func (c *Client) Delete(ctx context.Context, id string) error {
	return c.call(ctx, http.MethodDelete, path(id), nil, nil)
}

// Events implements Runs. When the other side goes away the stream ends with
// ErrGone; whoever serves the directory next goes on after the last sequence. Who
// was too slow and is cut off comes back by itself.
func (c *Client) Events(ctx context.Context, id string, after int64) iter.Seq2[event.Event, error] {
	return c.streams(ctx, id, after, "")
}

// Stay implements Runs.
func (c *Client) Stay(ctx context.Context, id string, after int64) iter.Seq2[event.Event, error] {
	return c.streams(ctx, id, after, "&stay=true")
}

// streams yields the events of one stream after the other, as a query says.
func (c *Client) streams(ctx context.Context, id string, after int64, query string) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		// A reader that stops early must not wait for the next event.
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		for again := true; again; {
			var err error
			if after, again, err = c.follow(ctx, id, after, query, yield); err != nil {
				yield(event.Event{}, err)
				return
			}
		}
	}
}

// follow yields the events of one stream. It returns the sequence up to which
// that was, and whether there are more in another one.
func (c *Client) follow(ctx context.Context, id string, after int64, query string, yield func(event.Event, error) bool) (last int64, again bool, err error) {
	resp, err := c.send(ctx, http.MethodGet, fmt.Sprintf("%s/events?after=%d%s", path(id), after, query), "text/event-stream", nil)
	if err != nil {
		return after, false, err
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusNoContent {
		return after, false, nil
	}
	in := bufio.NewReader(resp.Body)
	for {
		name, data, err := readMessage(in)
		switch {
		case ctx.Err() != nil:
			return after, false, context.Cause(ctx)
		case err != nil:
			return after, false, fmt.Errorf("%w: %w", ErrGone, err)
		case name == "end":
			return after, false, nil
		case name == "gap":
			return after, true, nil
		case name == "stopped":
			var p Problem
			if err := json.Unmarshal(data, &p); err != nil {
				return after, false, err
			}
			return after, false, p.restore()
		case name == "":
			var ev event.Event
			if err := json.Unmarshal(data, &ev); err != nil {
				return after, false, err
			}
			after = max(after, ev.Seq)
			if !yield(ev, nil) {
				return after, false, nil
			}
		}
	}
}

// readMessage reads one server-sent event with data.
func readMessage(in *bufio.Reader) (name string, data []byte, err error) {
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return "", nil, err
		}
		line = bytes.TrimRight(line, "\r\n")
		field, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch {
		case len(line) == 0 && data != nil:
			return name, data, nil
		case len(line) == 0:
			name = ""
		case string(field) == "event":
			name = string(value)
		case string(field) == "data" && data == nil:
			data = append([]byte{}, value...)
		case string(field) == "data":
			data = append(append(data, '\n'), value...)
		}
	}
}

func path(id string) string { return "/api/runs/" + url.PathEscape(id) }

func fetch[T any](ctx context.Context, c *Client, method, path string, body any) (T, error) {
	var out T
	err := c.call(ctx, method, path, body, &out)
	return out, err
}

// call makes a request and decodes the reply into out, if there is one.
func (c *Client) call(ctx context.Context, method, path string, body, out any) error {
	resp, err := c.send(ctx, method, path, "application/json", body)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		return lost(ctx, err)
	}
	if out == nil || resp.StatusCode == http.StatusNoContent {
		return nil
	}
	if err := json.Unmarshal(raw, out); err != nil {
		return fmt.Errorf("the reply of the process that works on the runs: %w", err)
	}
	return nil
}

// send makes a request and turns a refusal into its error.
func (c *Client) send(ctx context.Context, method, path, accept string, body any) (*http.Response, error) {
	var payload io.Reader
	if from, ok := body.(io.Reader); ok {
		payload = from
	} else if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			return nil, fmt.Errorf("encoding the request: %w", err)
		}
		payload = bytes.NewReader(raw)
	}
	req, err := http.NewRequestWithContext(ctx, method, "http://dossier"+path, payload)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+c.token)
	req.Header.Set("Accept", accept)
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, lost(ctx, err)
	}
	if resp.StatusCode < 300 {
		return resp, nil
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil {
		return nil, lost(ctx, err)
	}
	var p Problem
	if err := json.Unmarshal(raw, &p); err != nil || p.Code == "" {
		return nil, fmt.Errorf("the process that works on the runs answered with HTTP %d", resp.StatusCode)
	}
	return nil, p.restore()
}

// lost names a failure of the connection: nobody there, or gone on the way.
func lost(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var op *net.OpError
	if errors.As(err, &op) && op.Op == "dial" {
		return ErrNoPeer
	}
	return fmt.Errorf("%w: %w", ErrGone, err)
}
