package dossier

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"dossier/internal/webhook"
	"dossier/mode"
	"dossier/report"
	"dossier/run"
)

// Webhook is an address that is told when runs end.
type Webhook struct {
	Name string `json:"name"`
	// Host of the address; the rest of it may hold a key.
	Host   string          `json:"host"`
	Events []webhook.Event `json:"events"`
}

// Delivery is one message to one webhook.
type Delivery = webhook.Delivery

// DeliveryFilter narrows Deliveries.
type DeliveryFilter = webhook.Filter

// ErrNoDelivery says that there is no such delivery.
var ErrNoDelivery = webhook.ErrNone

// AttendOptions say how schedules are attended to.
type AttendOptions struct {
	// Permit says why the request of a user's schedule may not be carried out now,
	// and makes it one that may; nil permits all.
	Permit func(ctx context.Context, req *Request) error
}

// Attend carries out schedules when they are due and tells webhooks what becomes of
// runs, until ctx ends. It is for a process that stays; several may do it.
func (e *Engine) Attend(ctx context.Context, o AttendOptions) {
	if o.Permit != nil {
		e.permit.Store(&o.Permit)
	}
	var both sync.WaitGroup
	both.Go(func() { e.clock.Run(ctx) })
	both.Go(func() { e.hooks.Run(ctx) })
	both.Wait()
}

func (e *Engine) newSender(o webhook.Options) *webhook.Sender {
	o.Store, o.Describe, o.NewID, o.Log = e.store, e.describe, newID, e.log
	return webhook.New(o)
}

// Webhooks returns the addresses that are told, without what is secret of them.
func (e *Engine) Webhooks(context.Context) ([]Webhook, error) {
	var out []Webhook
	for i := range e.hooks.Hooks {
		h := &e.hooks.Hooks[i]
		events := h.Events
		if len(events) == 0 {
			events = webhook.Usual
		}
		out = append(out, Webhook{Name: h.Name, Host: h.Host(), Events: events})
	}
	return out, nil
}

// Deliveries returns messages to webhooks and what became of them, the newest first.
func (e *Engine) Deliveries(ctx context.Context, f DeliveryFilter) ([]Delivery, error) {
	return e.store.Deliveries(ctx, f)
}

// RetryDelivery has a message sent again from the beginning. It fails with
// ErrNoDelivery.
func (e *Engine) RetryDelivery(ctx context.Context, id string) (Delivery, error) {
	return e.hooks.Retry(ctx, id)
}

// TryWebhook has a message sent to a webhook that says nothing, to see whether it
// is taken.
func (e *Engine) TryWebhook(ctx context.Context, name string) (Delivery, error) {
	return e.hooks.Try(ctx, name)
}

// DeliveryCounts are how many messages there are of each state.
func (e *Engine) DeliveryCounts(ctx context.Context) (map[webhook.State]int, error) {
	return e.store.CountDeliveries(ctx)
}

// runNews is what a webhook is told of a run: enough to know what to fetch, and
// nothing that is secret.
type runNews struct {
	ID       string     `json:"id"`
	Status   run.Status `json:"status"`
	Mode     string     `json:"mode"`
	Question string     `json:"question"`
	User     string     `json:"user,omitempty"`
	Session  string     `json:"session"`
	Agent    string     `json:"agent_id,omitempty"`
	Created  time.Time  `json:"created"`
	// Seconds of work.
	Seconds float64      `json:"seconds"`
	Failure *failureNews `json:"failure,omitempty"`
	// Asks are what it waits for.
	Asks     []string            `json:"asks,omitempty"`
	Outcome  report.Outcome      `json:"outcome,omitempty"`
	Coverage *float64            `json:"coverage,omitempty"`
	Schedule string              `json:"schedule,omitempty"`
	Changes  *report.ChangeCount `json:"changes,omitempty"`
	Links    map[string]string   `json:"links"`
}

type failureNews struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// longestNews bounds each text that a webhook is told, in characters.
const longestNews = 1000

func clipped(text string) string {
	if runes := []rune(text); len(runes) > longestNews {
		return string(runes[:longestNews-1]) + "…"
	}
	return text
}

// describe is what a webhook is told of a run, nil of one that is gone.
func (e *Engine) describe(ctx context.Context, n webhook.News) (any, error) {
	rec, err := e.store.Run(ctx, n.Run)
	switch {
	case errors.Is(err, run.ErrUnknownRun):
		return nil, nil
	case err != nil:
		return nil, err
	}
	var req mode.Request
	if err := json.Unmarshal(rec.Request, &req); err != nil {
		return nil, fmt.Errorf("run %s: the stored request: %w", rec.ID, err)
	}
	at := "/api/runs/" + rec.ID
	news := &runNews{
		ID: rec.ID, Status: n.Status, Mode: rec.Mode, Question: clipped(req.Question), User: rec.User, Session: rec.Session, Agent: rec.Agent,
		Created: rec.Created.UTC(), Seconds: rec.Active.Round(time.Millisecond).Seconds(), Schedule: req.Schedule,
		Links: map[string]string{"run": at, "events": at + "/events"},
	}
	if f := rec.Failure; f != nil && n.Status == run.Failed {
		news.Failure = &failureNews{f.Code, clipped(f.Message)}
	}
	if n.Status == run.Waiting {
		asks, err := e.store.Asks(ctx, rec.ID)
		if err != nil {
			return nil, err
		}
		for _, entry := range asks {
			var q run.Question
			if json.Unmarshal(entry.Value, &q) == nil {
				for _, text := range q.Questions {
					news.Asks = append(news.Asks, clipped(text))
				}
			}
		}
	}
	if n.Status != run.Done {
		return news, nil
	}
	r, err := e.reportOf(ctx, rec.ID)
	switch {
	case errors.Is(err, ErrNoReport):
		return news, nil
	case err != nil:
		return nil, err
	}
	news.Outcome, news.Links["report"] = r.Outcome, at+"/report.md"
	if r.Coverage.Claims.Total > 0 {
		share := r.Coverage.Claims.Of()
		news.Coverage = &share
	}
	if r.Changes != nil {
		count := r.Changes.Count()
		news.Changes = &count
	}
	return news, nil
}
