package webhook

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"

	"dossier/internal/base/usage"
)

// Options of a Sender.
type Options struct {
	Store Store
	Hooks []Hook
	// Describe returns the data of an event about a run; nil if there is nothing to
	// tell, because the run is gone.
	Describe func(ctx context.Context, n News) (any, error)
	// Client sends.
	Client *http.Client
	// NewID makes the id of a message that is no news.
	NewID func(now time.Time) string
	// Now is the clock on the wall; nil is that of the machine.
	Now func() time.Time
	Log *slog.Logger
}

// Sender makes deliveries of news and sends them. It is safe for concurrent use.
type Sender struct {
	Options
	nudge chan struct{}

	mu    sync.Mutex
	busy  map[string]int // deliveries on their way, by address
	going sync.WaitGroup
}

// New returns a sender. Nothing is sent before Run.
func New(o Options) *Sender {
	if o.Now == nil {
		o.Now = func() time.Time { return time.Now().Round(0) }
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Client != nil { // what is signed for one address is for no other
		c := *o.Client
		c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
		o.Client = &c
	}
	return &Sender{Options: o, nudge: make(chan struct{}, 1), busy: map[string]int{}}
}

// waits are how long is waited after each attempt; when they are used up, the
// message is given up. Together they are most of a day.
var waits = []time.Duration{
	5 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour, 10 * time.Hour,
}

const (
	lookEvery = 5 * time.Second
	// atOnce is how many messages are on their way to one address.
	atOnce = 4
	// timeout of one attempt; claimed is how long nobody else makes it.
	timeout = 15 * time.Second
	claimed = time.Minute
	// farthest is longer than anything waits.
	farthest = 12 * time.Hour
	// stale news is not told any more: nobody was there to tell it.
	stale = 24 * time.Hour
	// keep is how long is known what became of messages, looked after every so often.
	keep, tidyEvery = 30 * 24 * time.Hour, time.Hour
	newsAtOnce      = 100
	// readMost of a reply: nothing is done with it.
	readMost = 64 << 10
)

// Nudge has the sender look for news now. It never waits.
func (s *Sender) Nudge() {
	select {
	case s.nudge <- struct{}{}:
	default:
	}
}

// Run tells what there is to tell, until ctx ends. Messages on their way end with
// it, and are sent again by whoever comes next.
func (s *Sender) Run(ctx context.Context) {
	defer s.going.Wait()
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	var tidied time.Time
	for {
		if err := s.look(ctx); err != nil && ctx.Err() == nil {
			s.Log.Warn("webhooks could not be looked at", "error", err)
		}
		if now := s.Now(); now.Sub(tidied) >= tidyEvery || now.Before(tidied) {
			tidied = now
			if _, err := s.Store.TidyDeliveries(ctx, now.Add(-keep)); err != nil && ctx.Err() == nil {
				s.Log.Warn("old deliveries could not be removed", "error", err)
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-s.nudge:
		}
	}
}

// look makes deliveries of news and sends what is due.
func (s *Sender) look(ctx context.Context) error {
	if err := s.tell(ctx); err != nil {
		return err
	}
	for i := range s.Hooks {
		h := &s.Hooks[i]
		s.mu.Lock()
		room := atOnce - s.busy[h.Name]
		s.mu.Unlock()
		if room <= 0 {
			continue
		}
		now := s.Now()
		list, err := s.Store.ClaimDeliveries(ctx, h.Name, now, now.Add(claimed), now.Add(farthest), room)
		if err != nil {
			return err
		}
		for _, d := range list {
			s.mu.Lock()
			s.busy[h.Name]++
			s.mu.Unlock()
			s.going.Go(func() {
				s.attempt(ctx, h, d)
				s.mu.Lock()
				s.busy[h.Name]--
				s.mu.Unlock()
				s.Nudge() // the next one may go
			})
		}
	}
	return nil
}

// tell makes deliveries of all news.
func (s *Sender) tell(ctx context.Context) error {
	for {
		news, err := s.Store.News(ctx, newsAtOnce)
		if err != nil || len(news) == 0 {
			return err
		}
		var made []Delivery
		for _, n := range news {
			if s.Now().Sub(n.At) > stale {
				continue
			}
			of, err := s.deliveries(ctx, n)
			if err != nil {
				return err
			}
			made = append(made, of...)
		}
		if err := s.Store.Tell(ctx, news[len(news)-1].N, made); err != nil {
			return err
		}
	}
}

// deliveries are those of a piece of news.
func (s *Sender) deliveries(ctx context.Context, n News) ([]Delivery, error) {
	event := EventOf(n.Status)
	var made []Delivery
	var body []byte
	for i := range s.Hooks {
		h := &s.Hooks[i]
		if !h.Wants(event) {
			continue
		}
		if body == nil {
			data, err := s.Describe(ctx, n)
			if err != nil || data == nil {
				return nil, err
			}
			if body, err = json.Marshal(message{event, n.At.UTC(), data}); err != nil {
				return nil, fmt.Errorf("webhook: %w", err)
			}
		}
		made = append(made, Delivery{ID: DeliveryID(h.Name, n), Hook: h.Name, Event: event, Run: n.Run, Body: body, Created: s.Now().UTC(), State: Pending, Next: s.Now().UTC()})
	}
	return made, nil
}

// message is what is posted.
type message struct {
	Type      Event     `json:"type"`
	Timestamp time.Time `json:"timestamp"`
	Data      any       `json:"data"`
}

// Try has a message sent that says nothing, to see whether an address takes it.
func (s *Sender) Try(ctx context.Context, hook string) (Delivery, error) {
	if s.hook(hook) == nil {
		return Delivery{}, noHook(hook)
	}
	now := s.Now().UTC()
	body, err := json.Marshal(message{Test, now, struct{}{}})
	if err != nil {
		return Delivery{}, err
	}
	d := Delivery{ID: "msg_" + s.NewID(now), Hook: hook, Event: Test, Body: body, Created: now, State: Pending, Next: now}
	if err := s.Store.Tell(ctx, 0, []Delivery{d}); err != nil {
		return Delivery{}, err
	}
	s.Nudge()
	return d, nil
}

// Retry has a message sent again from the beginning, whatever became of it.
func (s *Sender) Retry(ctx context.Context, id string) (Delivery, error) {
	d, err := s.Store.Delivery(ctx, id)
	if err != nil {
		return Delivery{}, err
	}
	if s.hook(d.Hook) == nil {
		return Delivery{}, noHook(d.Hook)
	}
	d.State, d.Attempts, d.Next = Pending, 0, s.Now().UTC()
	if err := s.Store.RecordAttempt(ctx, d); err != nil {
		return Delivery{}, err
	}
	s.Nudge()
	return d, nil
}

func (s *Sender) hook(name string) *Hook {
	for i := range s.Hooks {
		if s.Hooks[i].Name == name {
			return &s.Hooks[i]
		}
	}
	return nil
}

func noHook(name string) error {
	return &usage.Error{Message: fmt.Sprintf("there is no webhook %q", name), Hint: "webhooks are named in the section webhooks of the configuration; `dossier webhooks` lists them"}
}

// attempt sends a message once and records what came of it.
func (s *Sender) attempt(ctx context.Context, h *Hook, d Delivery) {
	at := s.Now().UTC()
	status, wait, err := s.post(ctx, h, &d, at)
	if ctx.Err() != nil {
		return // it is sent again when its claim ends
	}
	d.At, d.Status, d.Error, d.Attempts = at, status, "", d.Attempts+1
	switch {
	case err == nil:
		d.State, d.Next = Delivered, time.Time{}
	case status == http.StatusGone || d.Attempts > len(waits):
		d.State, d.Next, d.Error = GivenUp, time.Time{}, err.Error()
		s.Log.Warn("a webhook was given up", "webhook", h.Name, "delivery", d.ID, "run", d.Run, "error", err)
	default:
		d.Error, d.Next = err.Error(), at.Add(max(waits[d.Attempts-1], wait))
		s.Log.Info("a webhook was not taken", "webhook", h.Name, "delivery", d.ID, "run", d.Run, "attempt", d.Attempts, "error", err)
	}
	if err := s.Store.RecordAttempt(context.WithoutCancel(ctx), d); err != nil {
		s.Log.Warn("what became of a webhook was not recorded", "delivery", d.ID, "error", err) // it is sent once more
	}
}

// post sends a message. It returns the status of the reply, how long the other side
// asks to be left alone, and why the message was not taken, without the address,
// which may hold a key.
func (s *Sender) post(ctx context.Context, h *Hook, d *Delivery, at time.Time) (status int, wait time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, h.URL, bytes.NewReader(d.Body))
	if err != nil {
		return 0, 0, errors.New("its address is none")
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "Dossier/1 (webhooks)")
	req.Header.Set("Webhook-Id", d.ID)
	req.Header.Set("Webhook-Timestamp", strconv.FormatInt(at.Unix(), 10))
	req.Header.Set("Webhook-Signature", Sign(h.Key, d.ID, at, d.Body))
	resp, err := s.Client.Do(req)
	if err != nil {
		if ctx.Err() != nil {
			return 0, 0, errors.New("no reply in time")
		}
		if outer, ok := errors.AsType[*url.Error](err); ok {
			err = outer.Err
		}
		return 0, 0, fmt.Errorf("no reply: %w", err)
	}
	defer resp.Body.Close()
	_, _ = io.CopyN(io.Discard, resp.Body, readMost) // a short one frees the connection
	if resp.StatusCode >= 200 && resp.StatusCode < 300 {
		return resp.StatusCode, 0, nil
	}
	if seconds, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil && seconds > 0 {
		wait = min(time.Duration(seconds)*time.Second, waits[len(waits)-1])
	}
	return resp.StatusCode, wait, fmt.Errorf("the reply was %d %s", resp.StatusCode, http.StatusText(resp.StatusCode))
}
