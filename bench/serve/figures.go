package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"dossier/llm/llmtest"
)

// Messages that each of many streams is told, and how often.
const (
	crowdMessages = 20
	crowdEvery    = 500 * time.Millisecond
)

// crowd opens many streams of one run and has them told some messages, with the
// bare server and with ours.
func crowd(ctx context.Context, n int, say func(string, ...any)) error {
	var each [2]time.Duration
	for i, as := range []string{"bare", "ours"} {
		p, err := start(ctx, as, "")
		if err != nil {
			return err
		}
		err = func() error {
			defer p.stop()
			what := telling{Messages: crowdMessages, Every: crowdEvery}
			path, begin := "/events", func() error { return post(ctx, p.url+"/begin", what, nil) }
			if as == "ours" {
				id, err := tell(ctx, p, what)
				if err != nil {
					return err
				}
				path, begin = "/api/runs/"+id+"/events", func() error { return post(ctx, p.url+"/bench/begin", struct{}{}, nil) }
			}
			c := &clients{}
			defer c.close()
			if err := c.open(ctx, p.url, path, n); err != nil {
				return err
			}
			idle, before := p.memory(), p.cpu()
			if err := begin(); err != nil {
				return err
			}
			want := int64(n) * crowdMessages
			if err := c.until(ctx, want, 2*time.Minute); err != nil {
				return fmt.Errorf("%s: %w", as, err)
			}
			took := p.cpu() - before
			each[i] = took / time.Duration(want)
			say("crowd.%s %d streams: %d MiB idle, %d MiB at the end, %v of CPU for %d messages, %v each; late by %v median, %v p99", as,
				n, idle>>20, p.memory()>>20, took, want, each[i], c.late(0.5), c.late(0.99))
			return nil
		}()
		if err != nil {
			return err
		}
	}
	say("crowd.ratio %.2f of the bare server's CPU for each message [≤ 1.2]", float64(each[1])/float64(each[0]))
	return nil
}

// many has sessions told ten messages a second each, of which one is recorded.
func many(ctx context.Context, n int, lasts time.Duration, say func(string, ...any)) error {
	p, err := start(ctx, "ours", "")
	if err != nil {
		return err
	}
	defer p.stop()
	what := telling{Messages: int(10 * lasts.Seconds()), Every: 100 * time.Millisecond, Kept: 10}
	c := &clients{}
	defer c.close()
	for range n {
		id, err := tell(ctx, p, what)
		if err != nil {
			return err
		}
		if err := c.open(ctx, p.url, "/api/runs/"+id+"/events", 1); err != nil {
			return err
		}
	}
	before, began := p.cpu(), time.Now()
	if err := post(ctx, p.url+"/bench/begin", struct{}{}, nil); err != nil {
		return err
	}
	if err := c.until(ctx, int64(n*what.Messages), lasts+time.Minute); err != nil {
		return err
	}
	wall, took, memory := time.Since(began), p.cpu()-before, p.memory()
	say("sessions.told %d sessions, %d messages in %v; late by %v median, %v p99 [≤ 100ms], %v at most; %.1f s of CPU, %d MiB", n, n*what.Messages,
		wall.Round(10*time.Millisecond), c.late(0.5), c.late(0.99), c.late(1), took.Seconds(), memory>>20)
	return nil
}

// completions asks a model directly and through the server, in turn.
func completions(ctx context.Context, n int, say func(string, ...any)) error {
	model := llmtest.New(llmtest.Script{Keep: 1, Rules: []llmtest.Rule{{Reply: llmtest.JSON(map[string]any{"reasoning": "known", "answer": "Blue.", "key_points": []string{"blue"}})}}})
	defer model.Close()
	at := httptest.NewServer(model)
	defer at.Close()
	p, err := start(ctx, "ours", at.URL)
	if err != nil {
		return err
	}
	defer p.stop()
	ask := map[string]any{"model": "chat", "messages": []any{map[string]any{"role": "user", "content": "Why is the sky blue?"}}}
	relayed := map[string]any{"model": "chat", "messages": ask["messages"], "response_format": map[string]any{"type": "json_object"}}
	took := map[string][]time.Duration{}
	for i := range n + 20 {
		for _, way := range []struct {
			name, url string
			body      any
		}{{"direct", at.URL, ask}, {"chat", p.url, ask}, {"relay", p.url, relayed}} {
			began := time.Now()
			if err := post(ctx, way.url+"/v1/chat/completions", way.body, nil); err != nil {
				return err
			}
			if i >= 20 { // what starts once has started then
				took[way.name] = append(took[way.name], time.Since(began))
			}
		}
	}
	direct := middle(took["direct"])
	for _, name := range []string{"chat", "relay"} {
		say("completion.%s %v median of %d, the model by itself %v: %v more [≤ 1ms]", name, middle(took[name]).Round(time.Microsecond), n, direct.Round(time.Microsecond),
			(middle(took[name]) - direct).Round(time.Microsecond))
	}
	return nil
}

func middle(list []time.Duration) time.Duration {
	return slices.Sorted(slices.Values(list))[len(list)/2]
}

// tell starts a run of the ticker.
func tell(ctx context.Context, p *process, what telling) (id string, err error) {
	raw, err := json.Marshal(what)
	if err != nil {
		return "", err
	}
	var rec struct {
		ID string `json:"id"`
	}
	err = post(ctx, p.url+"/api/runs", map[string]string{"mode": "ticker", "question": string(raw)}, &rec)
	return rec.ID, err
}

func post(ctx context.Context, url string, body, into any) error {
	raw, err := json.Marshal(body)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(raw))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	reply, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if resp.StatusCode >= http.StatusBadRequest {
		return fmt.Errorf("%s: %d %s", url, resp.StatusCode, reply)
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(reply, into)
}

// clients are connections that read streams.
type clients struct {
	conns []net.Conn
	over  sync.WaitGroup
	count atomic.Int64

	mu     sync.Mutex
	delays []time.Duration
}

// open opens streams, and waits until each has got something.
func (c *clients) open(ctx context.Context, base, path string, n int) error {
	u, err := url.Parse(base)
	if err != nil {
		return err
	}
	failed := make(chan error, n)
	slots := make(chan struct{}, 64)
	for range n {
		slots <- struct{}{}
		conn, err := new(net.Dialer).DialContext(ctx, "tcp", u.Host)
		if err != nil {
			return err
		}
		c.conns = append(c.conns, conn)
		if _, err := fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: %s\r\nAccept: text/event-stream\r\n\r\n", path, u.Host); err != nil {
			return err
		}
		c.over.Go(func() { c.read(conn, func(err error) { failed <- err; <-slots }) })
	}
	for range n {
		if err := <-failed; err != nil {
			return err
		}
	}
	return nil
}

// read reads a stream; ready is told once, when something has come.
func (c *clients) read(conn net.Conn, ready func(error)) {
	in := bufio.NewReaderSize(conn, 1<<10)
	told := false
	var delays []time.Duration
	defer func() {
		if !told {
			ready(fmt.Errorf("a stream ended before anything came"))
		}
		c.mu.Lock()
		c.delays = append(c.delays, delays...)
		c.mu.Unlock()
	}()
	for {
		line, err := in.ReadSlice('\n')
		if err != nil && err != bufio.ErrBufferFull {
			return
		}
		if !told && bytes.Contains(line, []byte("ready")) {
			told = true
			ready(nil)
			continue
		}
		if !bytes.Contains(line, []byte("bridge over the Aune")) {
			continue
		}
		if _, rest, ok := strings.Cut(string(line), `"time":"`); ok {
			stamp, _, _ := strings.Cut(rest, `"`)
			if at, err := time.Parse(time.RFC3339Nano, stamp); err == nil {
				delays = append(delays, time.Since(at))
			}
		}
		c.count.Add(1)
	}
}

// until waits until so many messages have come.
func (c *clients) until(ctx context.Context, n int64, patience time.Duration) error {
	end := time.Now().Add(patience)
	for c.count.Load() < n {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if time.Now().After(end) {
			return fmt.Errorf("%d of %d messages have come", c.count.Load(), n)
		}
		time.Sleep(20 * time.Millisecond)
	}
	return nil
}

func (c *clients) close() {
	for _, conn := range c.conns {
		_ = conn.Close()
	}
	c.over.Wait()
}

// late is by how much messages are late at the most, for a share of them. The
// streams are closed by it.
func (c *clients) late(share float64) time.Duration {
	c.close()
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.delays) == 0 {
		return 0
	}
	slices.Sort(c.delays)
	return c.delays[min(len(c.delays)-1, int(share*float64(len(c.delays))))].Round(100 * time.Microsecond)
}
