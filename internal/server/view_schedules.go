package server

import (
	"context"
	"fmt"

	"dossier"
	"dossier/internal/access"
)

// ownSchedule finds a schedule that the caller sees.
func (v view) ownSchedule(ctx context.Context, id string) (dossier.Schedule, error) {
	s, err := v.Engine.Schedule(ctx, id)
	if err == nil && !v.caller.Sees(s.User) {
		return dossier.Schedule{}, fmt.Errorf("schedule %q: %w", id, dossier.ErrNoSchedule)
	}
	return s, err
}

// CreateSchedule implements Schedules. What is asked is held to what the caller may
// ask at once.
func (v view) CreateSchedule(ctx context.Context, s dossier.Schedule) (dossier.Schedule, error) {
	if !v.caller.Operates() {
		s.User = v.caller.User
	}
	s.Request.User = s.User
	if err := v.permits(ctx, &s.Request); err != nil {
		return dossier.Schedule{}, err
	}
	return v.Engine.CreateSchedule(ctx, s)
}

// Schedules implements Schedules.
func (v view) Schedules(ctx context.Context, user string) ([]dossier.Schedule, error) {
	if !v.caller.Operates() {
		user = v.caller.User
	}
	return v.Engine.Schedules(ctx, user)
}

// Schedule implements Schedules.
func (v view) Schedule(ctx context.Context, id string) (dossier.Schedule, error) {
	return v.ownSchedule(ctx, id)
}

// ChangeSchedule implements Schedules.
func (v view) ChangeSchedule(ctx context.Context, id string, to dossier.ScheduleChange) (dossier.Schedule, error) {
	if _, err := v.ownSchedule(ctx, id); err != nil {
		return dossier.Schedule{}, err
	}
	if to.Request != nil {
		if err := v.permits(ctx, to.Request); err != nil {
			return dossier.Schedule{}, err
		}
	}
	return v.Engine.ChangeSchedule(ctx, id, to)
}

// RemoveSchedule implements Schedules.
func (v view) RemoveSchedule(ctx context.Context, id string) error {
	if _, err := v.ownSchedule(ctx, id); err != nil {
		return err
	}
	return v.Engine.RemoveSchedule(ctx, id)
}

// FireSchedule implements Schedules.
func (v view) FireSchedule(ctx context.Context, id string) (dossier.Firing, error) {
	if _, err := v.ownSchedule(ctx, id); err != nil {
		return dossier.Firing{}, err
	}
	return v.Engine.FireSchedule(ctx, id)
}

// ScheduleRuns implements Schedules.
func (v view) ScheduleRuns(ctx context.Context, id string) ([]dossier.ScheduledRun, error) {
	if _, err := v.ownSchedule(ctx, id); err != nil {
		return nil, err
	}
	return v.Engine.ScheduleRuns(ctx, id)
}

// ScheduleChanges implements Schedules.
func (v view) ScheduleChanges(ctx context.Context, id string, most int) ([]dossier.Comparison, error) {
	if _, err := v.ownSchedule(ctx, id); err != nil {
		return nil, err
	}
	return v.Engine.ScheduleChanges(ctx, id, most)
}

// PermitSchedules holds the requests of users' schedules to what the operator allows
// when they are carried out, which may be less than when they were made.
func PermitSchedules(e Engine, p *Policy) func(ctx context.Context, req *dossier.Request) error {
	return func(ctx context.Context, req *dossier.Request) error {
		if req.User == "" {
			return nil
		}
		// What the token allowed was looked at when the schedule was made.
		return view{Engine: e, caller: access.Caller{User: req.User, Scopes: access.Scopes}, policy: p}.permits(ctx, req)
	}
}

// Webhooks implements Webhooks.
func (v view) Webhooks(ctx context.Context) ([]dossier.Webhook, error) {
	if err := v.operators(); err != nil {
		return nil, err
	}
	return v.Engine.Webhooks(ctx)
}

// Deliveries implements Webhooks.
func (v view) Deliveries(ctx context.Context, f dossier.DeliveryFilter) ([]dossier.Delivery, error) {
	if err := v.operators(); err != nil {
		return nil, err
	}
	return v.Engine.Deliveries(ctx, f)
}

// RetryDelivery implements Webhooks.
func (v view) RetryDelivery(ctx context.Context, id string) (dossier.Delivery, error) {
	if err := v.operators(); err != nil {
		return dossier.Delivery{}, err
	}
	return v.Engine.RetryDelivery(ctx, id)
}

// TryWebhook implements Webhooks.
func (v view) TryWebhook(ctx context.Context, name string) (dossier.Delivery, error) {
	if err := v.operators(); err != nil {
		return dossier.Delivery{}, err
	}
	return v.Engine.TryWebhook(ctx, name)
}
