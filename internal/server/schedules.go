package server

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"dossier"
	"dossier/internal/access"
	"dossier/internal/webhook"
)

// Schedules is what can be done with schedules.
type Schedules interface {
	CreateSchedule(ctx context.Context, s dossier.Schedule) (dossier.Schedule, error)
	Schedules(ctx context.Context, user string) ([]dossier.Schedule, error)
	Schedule(ctx context.Context, id string) (dossier.Schedule, error)
	ChangeSchedule(ctx context.Context, id string, to dossier.ScheduleChange) (dossier.Schedule, error)
	RemoveSchedule(ctx context.Context, id string) error
	FireSchedule(ctx context.Context, id string) (dossier.Firing, error)
	ScheduleRuns(ctx context.Context, id string) ([]dossier.ScheduledRun, error)
	ScheduleChanges(ctx context.Context, id string, most int) ([]dossier.Comparison, error)
}

// Webhooks is what can be done with those who are told when runs end.
type Webhooks interface {
	Webhooks(ctx context.Context) ([]dossier.Webhook, error)
	Deliveries(ctx context.Context, f dossier.DeliveryFilter) ([]dossier.Delivery, error)
	RetryDelivery(ctx context.Context, id string) (dossier.Delivery, error)
	TryWebhook(ctx context.Context, name string) (dossier.Delivery, error)
}

// scheduleBody asks for a schedule.
type scheduleBody struct {
	Name string `json:"name,omitempty"`
	// Cron is as "30 7 * * mon-fri" or @daily.
	Cron string `json:"cron"`
	// Zone is as Europe/Moscow; empty is that of the server.
	Zone   string `json:"zone,omitempty"`
	Paused bool   `json:"paused,omitempty"`
	// User whose it is, for the operator.
	User    string          `json:"user,omitempty"`
	Request dossier.Request `json:"request"`
}

const aSchedule = "/api/schedules/{id}"

// scheduleRoutes are about schedules.
func scheduleRoutes() []Route {
	return []Route{
		{Pattern: "POST /api/schedules", Scope: access.Run, Serve: createSchedule, Doc: &Doc{
			Summary: "Have a request carried out again and again", Body: scheduleBody{}, Reply: dossier.Schedule{}, Status: http.StatusCreated,
		}},
		{Pattern: "GET /api/schedules", Scope: access.Read, Serve: listSchedules, Doc: &Doc{
			Summary: "List schedules in the order in which they were made", Reply: []dossier.Schedule{},
			Query: []Param{{"user", "string", "whose schedules; for the operator"}},
		}},
		{Pattern: "GET " + aSchedule, Scope: access.Read, Serve: answered(Engine.Schedule), Doc: &Doc{
			Summary: "Show a schedule, when it is due, and how it went the last time", Reply: dossier.Schedule{},
		}},
		{Pattern: "PATCH " + aSchedule, Scope: access.Run, Serve: changeSchedule, Doc: &Doc{
			Summary: "Change a schedule, pause it or let it go on: what is not named stays", Body: dossier.ScheduleChange{}, Reply: dossier.Schedule{},
		}},
		{Pattern: "DELETE " + aSchedule, Scope: access.Run, Serve: told(Engine.RemoveSchedule), Doc: &Doc{Summary: "Remove a schedule; its runs stay"}},
		{Pattern: "POST " + aSchedule + "/run", Scope: access.Run, Serve: answered(Engine.FireSchedule), Doc: &Doc{
			Summary: "Carry a schedule out now, whenever it is due", Reply: dossier.Firing{},
		}},
		{Pattern: "GET " + aSchedule + "/runs", Scope: access.Read, Serve: answered(Engine.ScheduleRuns), Doc: &Doc{
			Summary: "List the last times that a schedule was due, with how each run stands, the newest first", Reply: []dossier.ScheduledRun{},
		}},
		{Pattern: "GET " + aSchedule + "/changes", Scope: access.Read, Serve: scheduleChanges, Doc: &Doc{
			Summary: "What changed with each of the last reports of a schedule, the newest first", Reply: []dossier.Comparison{},
			Query: []Param{{"limit", "integer", "how many, 10 by default and 100 at most"}},
		}},
	}
}

// webhookRoutes are about webhooks, which are the operator's.
func webhookRoutes() []Route {
	return []Route{
		{
			Pattern: "GET /api/webhooks", Scope: access.Admin, Doc: &Doc{Summary: "List the webhooks, without what is secret of them", Reply: []dossier.Webhook{}},
			Serve: func(w http.ResponseWriter, r *http.Request) error {
				list, err := EngineOf(r.Context()).Webhooks(r.Context())
				return give(w, nonNil(list), err)
			},
		},
		{Pattern: "GET /api/webhooks/deliveries", Scope: access.Admin, Serve: listDeliveries, Doc: &Doc{
			Summary: "List messages to webhooks and what became of them, the newest first", Reply: []dossier.Delivery{}, Query: []Param{
				{"hook", "string", "only those to this webhook"},
				{"run", "string", "only those about this run"},
				{"state", "string", "pending, delivered or given_up"},
				{"limit", "integer", "how many, 100 by default and 1000 at most"},
			},
		}},
		{Pattern: "POST /api/webhooks/deliveries/{id}/retry", Scope: access.Admin, Serve: answered(Engine.RetryDelivery), Doc: &Doc{
			Summary: "Send a message again, whatever became of it", Reply: dossier.Delivery{},
		}},
		{Pattern: "POST /api/webhooks/test/{id}", Scope: access.Admin, Serve: answered(Engine.TryWebhook), Doc: &Doc{
			Summary: "Send a message that says nothing to the webhook of this name", Reply: dossier.Delivery{},
		}},
	}
}

// answered replies with what an engine says of the thing that the path names.
func answered[T any](ask func(Engine, context.Context, string) (T, error)) Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		found, err := ask(EngineOf(r.Context()), r.Context(), r.PathValue("id"))
		return give(w, found, err)
	}
}

func createSchedule(w http.ResponseWriter, r *http.Request) error {
	var b scheduleBody
	if err := read(w, r, &b); err != nil {
		return err
	}
	made, err := EngineOf(r.Context()).CreateSchedule(r.Context(), dossier.Schedule{Name: b.Name, User: b.User, Cron: b.Cron, Zone: b.Zone, Paused: b.Paused, Request: b.Request})
	if err != nil {
		return err
	}
	w.Header().Set("Location", schedulePath(made.ID))
	return reply(w, http.StatusCreated, made)
}

func listSchedules(w http.ResponseWriter, r *http.Request) error {
	list, err := EngineOf(r.Context()).Schedules(r.Context(), r.URL.Query().Get("user"))
	return give(w, nonNil(list), err)
}

func changeSchedule(w http.ResponseWriter, r *http.Request) error {
	var to dossier.ScheduleChange
	if err := read(w, r, &to); err != nil {
		return err
	}
	made, err := EngineOf(r.Context()).ChangeSchedule(r.Context(), r.PathValue("id"), to)
	return give(w, made, err)
}

func scheduleChanges(w http.ResponseWriter, r *http.Request) error {
	most, err := number("limit", r.URL.Query().Get("limit"))
	if err != nil {
		return err
	}
	if most == 0 {
		most = 10
	}
	list, err := EngineOf(r.Context()).ScheduleChanges(r.Context(), r.PathValue("id"), min(most, 100))
	return give(w, nonNil(list), err)
}

func listDeliveries(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	f := dossier.DeliveryFilter{Hook: q.Get("hook"), Run: q.Get("run"), State: webhook.State(q.Get("state"))}
	var err error
	if f.Limit, err = number("limit", q.Get("limit")); err != nil {
		return err
	}
	f.Limit = min(f.Limit, mostListed)
	list, err := EngineOf(r.Context()).Deliveries(r.Context(), f)
	return give(w, nonNil(list), err)
}

func schedulePath(id string) string { return "/api/schedules/" + url.PathEscape(id) }

// CreateSchedule implements Schedules.
func (c *Client) CreateSchedule(ctx context.Context, s dossier.Schedule) (dossier.Schedule, error) {
	return fetch[dossier.Schedule](ctx, c, http.MethodPost, "/api/schedules", scheduleBody{s.Name, s.Cron, s.Zone, s.Paused, s.User, s.Request})
}

// Schedules implements Schedules.
func (c *Client) Schedules(ctx context.Context, user string) ([]dossier.Schedule, error) {
	return fetch[[]dossier.Schedule](ctx, c, http.MethodGet, "/api/schedules?user="+url.QueryEscape(user), nil)
}

// Schedule implements Schedules.
func (c *Client) Schedule(ctx context.Context, id string) (dossier.Schedule, error) {
	return fetch[dossier.Schedule](ctx, c, http.MethodGet, schedulePath(id), nil)
}

// ChangeSchedule implements Schedules.
func (c *Client) ChangeSchedule(ctx context.Context, id string, to dossier.ScheduleChange) (dossier.Schedule, error) {
	return fetch[dossier.Schedule](ctx, c, http.MethodPatch, schedulePath(id), to)
}

// RemoveSchedule implements Schedules.
func (c *Client) RemoveSchedule(ctx context.Context, id string) error {
	return c.call(ctx, http.MethodDelete, schedulePath(id), nil, nil)
}

// FireSchedule implements Schedules.
func (c *Client) FireSchedule(ctx context.Context, id string) (dossier.Firing, error) {
	return fetch[dossier.Firing](ctx, c, http.MethodPost, schedulePath(id)+"/run", nil)
}

// ScheduleRuns implements Schedules.
func (c *Client) ScheduleRuns(ctx context.Context, id string) ([]dossier.ScheduledRun, error) {
	return fetch[[]dossier.ScheduledRun](ctx, c, http.MethodGet, schedulePath(id)+"/runs", nil)
}

// ScheduleChanges implements Schedules.
func (c *Client) ScheduleChanges(ctx context.Context, id string, most int) ([]dossier.Comparison, error) {
	return fetch[[]dossier.Comparison](ctx, c, http.MethodGet, fmt.Sprintf("%s/changes?limit=%d", schedulePath(id), most), nil)
}

// Webhooks implements Webhooks.
func (c *Client) Webhooks(ctx context.Context) ([]dossier.Webhook, error) {
	return fetch[[]dossier.Webhook](ctx, c, http.MethodGet, "/api/webhooks", nil)
}

// Deliveries implements Webhooks.
func (c *Client) Deliveries(ctx context.Context, f dossier.DeliveryFilter) ([]dossier.Delivery, error) {
	q := url.Values{"hook": {f.Hook}, "run": {f.Run}, "state": {string(f.State)}, "limit": {strconv.Itoa(f.Limit)}}
	return fetch[[]dossier.Delivery](ctx, c, http.MethodGet, "/api/webhooks/deliveries?"+q.Encode(), nil)
}

// RetryDelivery implements Webhooks.
func (c *Client) RetryDelivery(ctx context.Context, id string) (dossier.Delivery, error) {
	return fetch[dossier.Delivery](ctx, c, http.MethodPost, "/api/webhooks/deliveries/"+url.PathEscape(id)+"/retry", nil)
}

// TryWebhook implements Webhooks.
func (c *Client) TryWebhook(ctx context.Context, name string) (dossier.Delivery, error) {
	return fetch[dossier.Delivery](ctx, c, http.MethodPost, "/api/webhooks/test/"+url.PathEscape(name), nil)
}
