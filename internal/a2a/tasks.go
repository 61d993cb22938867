package a2a

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"

	wire "github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
)

// tasks is the work of one agent as the protocol's tasks.
type tasks struct {
	*handler

	agent string
}

var _ a2asrv.RequestHandler = (*tasks)(nil)

// answerID is that of the one artifact a task has.
const answerID = wire.ArtifactID("answer")

// GetTask implements a2asrv.RequestHandler.
func (t *tasks) GetTask(ctx context.Context, r *wire.GetTaskRequest) (*wire.Task, error) {
	p, err := t.now(ctx, string(r.ID))
	if err != nil {
		return nil, err
	}
	return task(string(r.ID), p), nil
}

// ListTasks implements a2asrv.RequestHandler.
func (t *tasks) ListTasks(context.Context, *wire.ListTasksRequest) (*wire.ListTasksResponse, error) {
	return nil, wire.NewError(wire.ErrUnsupportedOperation, "tasks are not listed here; ask for each by its id")
}

// CancelTask implements a2asrv.RequestHandler.
func (t *tasks) CancelTask(ctx context.Context, r *wire.CancelTaskRequest) (*wire.Task, error) {
	p, err := t.now(ctx, string(r.ID))
	if err != nil {
		return nil, err
	}
	if p.over() {
		return nil, wire.NewError(wire.ErrTaskNotCancelable, "the task is over already")
	}
	if err := t.agents.Cancel(ctx, string(r.ID)); err != nil {
		if errors.Is(err, ErrOver) {
			return nil, wire.NewError(wire.ErrTaskNotCancelable, "the task is over already")
		}
		return nil, t.fault("cancel", err)
	}
	if p, err = t.settled(ctx, string(r.ID)); err != nil {
		return nil, err
	}
	return task(string(r.ID), p), nil
}

// SendMessage implements a2asrv.RequestHandler.
func (t *tasks) SendMessage(ctx context.Context, r *wire.SendMessageRequest) (wire.SendMessageResult, error) {
	id, err := t.take(ctx, r)
	if err != nil {
		return nil, err
	}
	wait := t.settled
	if r.Config != nil && r.Config.ReturnImmediately {
		wait = t.now
	}
	p, err := wait(ctx, id)
	if err != nil {
		return nil, err
	}
	return task(id, p), nil
}

// SendStreamingMessage implements a2asrv.RequestHandler.
func (t *tasks) SendStreamingMessage(ctx context.Context, r *wire.SendMessageRequest) iter.Seq2[wire.Event, error] {
	return func(yield func(wire.Event, error) bool) {
		id, err := t.take(ctx, r)
		if err != nil {
			yield(nil, err)
			return
		}
		t.stream(ctx, id, yield)
	}
}

// SubscribeToTask implements a2asrv.RequestHandler.
func (t *tasks) SubscribeToTask(ctx context.Context, r *wire.SubscribeToTaskRequest) iter.Seq2[wire.Event, error] {
	return func(yield func(wire.Event, error) bool) {
		p, err := t.now(ctx, string(r.ID))
		switch {
		case err != nil:
			yield(nil, err)
		case p.over():
			yield(nil, wire.NewError(wire.ErrUnsupportedOperation, "the task is over; get it instead"))
		default:
			t.stream(ctx, string(r.ID), yield)
		}
	}
}

// stream tells how a task is, and then what changes.
func (t *tasks) stream(ctx context.Context, id string, yield func(wire.Event, error) bool) {
	first := true
	for p, err := range t.agents.Follow(ctx, id) {
		if err != nil {
			yield(nil, t.fault("follow", err))
			return
		}
		if first {
			first = false
			if !yield(task(id, p), nil) {
				return
			}
			continue
		}
		at := wire.TaskInfo{TaskID: wire.TaskID(id), ContextID: p.Session}
		if p.State == Done {
			answer := wire.NewArtifactEvent(at, wire.NewTextPart(p.Text))
			answer.Artifact.ID, answer.Artifact.Name, answer.LastChunk = answerID, string(answerID), true
			if !yield(answer, nil) {
				return
			}
		}
		if !yield(wire.NewStatusUpdateEvent(at, states[p.State], p.message(at)), nil) {
			return
		}
	}
}

// take starts a task with a message, or answers one that asks.
func (t *tasks) take(ctx context.Context, r *wire.SendMessageRequest) (id string, err error) {
	defer t.rescue(&err)
	if r.Message == nil {
		return "", wire.NewError(wire.ErrInvalidParams, "there is no message")
	}
	if r.Config != nil && r.Config.PushConfig != nil {
		return "", wire.ErrPushNotificationNotSupported
	}
	text, err := words(r.Message)
	if err != nil {
		return "", err
	}
	if id = string(r.Message.TaskID); id == "" {
		id, err = t.agents.Start(ctx, t.agent, r.Message.ContextID, text)
		return id, t.fault("start", err)
	}
	p, err := t.now(ctx, id)
	switch {
	case err != nil:
		return "", err
	case r.Message.ContextID != "" && r.Message.ContextID != p.Session:
		return "", wire.NewError(wire.ErrInvalidParams, "the task is of another context")
	case p.State != Asking:
		return "", wire.NewError(wire.ErrUnsupportedOperation, "the task does not ask for anything; send a message without it to begin another")
	}
	return id, t.fault("answer", t.agents.Answer(ctx, id, text))
}

// words is the text of a message.
func words(m *wire.Message) (string, error) {
	var texts []string
	for _, part := range m.Parts {
		if part == nil {
			continue
		}
		switch content := part.Content.(type) {
		case wire.Text:
			texts = append(texts, string(content))
		case wire.Data:
			raw, err := json.Marshal(content.Value)
			if err != nil {
				return "", wire.ErrInvalidParams
			}
			texts = append(texts, string(raw))
		default:
			return "", wire.NewError(wire.ErrUnsupportedContentType, "only text is taken, no files")
		}
	}
	text := strings.TrimSpace(strings.Join(texts, "\n\n"))
	if text == "" {
		return "", wire.NewError(wire.ErrInvalidParams, "the message has no text")
	}
	return text, nil
}

// now is how a task is.
func (t *tasks) now(ctx context.Context, id string) (Progress, error) { return t.look(ctx, id, false) }

// settled is how a task is when it asks or is over.
func (t *tasks) settled(ctx context.Context, id string) (Progress, error) {
	return t.look(ctx, id, true)
}

func (t *tasks) look(ctx context.Context, id string, wait bool) (last Progress, err error) {
	defer t.rescue(&err)
	known := false
	for p, err := range t.agents.Follow(ctx, id) {
		if err != nil {
			return p, t.fault("follow", err)
		}
		// A task of one agent is none of another's.
		if p.Agent != t.agent {
			return p, wire.ErrTaskNotFound
		}
		if last, known = p, true; !wait {
			break
		}
	}
	if !known {
		return last, wire.ErrTaskNotFound
	}
	return last, nil
}

// fault is an error as callers are told it.
func (t *tasks) fault(doing string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ErrUnknown) && doing == "start":
		return wire.NewError(wire.ErrInvalidParams, "there is no such context; send the message without one")
	case errors.Is(err, ErrUnknown):
		return wire.ErrTaskNotFound
	case errors.Is(err, ErrOver):
		return wire.NewError(wire.ErrUnsupportedOperation, ErrOver.Error())
	case errors.Is(err, ErrBusy):
		return wire.NewError(wire.ErrServerError, ErrBusy.Error())
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	}
	t.options.Log.Error("a request of A2A failed", "doing", doing, "error", err)
	return wire.NewError(wire.ErrInternalError, fmt.Sprintf("could not %s the task; see the log of the server", doing))
}

// rescue makes an error of a panic, which one of the library's bindings does not.
func (t *tasks) rescue(err *error) {
	if p := recover(); p != nil {
		*err = t.panicked(p)
	}
}

var states = map[State]wire.TaskState{
	Working:   wire.TaskStateWorking,
	Asking:    wire.TaskStateInputRequired,
	Done:      wire.TaskStateCompleted,
	Failed:    wire.TaskStateFailed,
	Cancelled: wire.TaskStateCanceled,
}

func (p Progress) over() bool { return p.State == Done || p.State == Failed || p.State == Cancelled }

// message is what a status says; nil when it says nothing.
func (p Progress) message(at wire.TaskInfo) *wire.Message {
	text := p.Text
	switch p.State {
	case Asking:
		text = p.Question
	case Done:
		text = "" // it is the artifact
	}
	if text == "" {
		return nil
	}
	return wire.NewMessageForTask(wire.MessageRoleAgent, at, wire.NewTextPart(text))
}

func task(id string, p Progress) *wire.Task {
	at := wire.TaskInfo{TaskID: wire.TaskID(id), ContextID: p.Session}
	out := &wire.Task{ID: at.TaskID, ContextID: at.ContextID, Status: wire.TaskStatus{State: states[p.State], Message: p.message(at)}}
	if p.State == Done {
		out.Artifacts = []*wire.Artifact{{ID: answerID, Name: string(answerID), Parts: wire.ContentParts{wire.NewTextPart(p.Text)}}}
	}
	return out
}

// GetTaskPushConfig implements a2asrv.RequestHandler.
func (t *tasks) GetTaskPushConfig(context.Context, *wire.GetTaskPushConfigRequest) (*wire.PushConfig, error) {
	return nil, wire.ErrPushNotificationNotSupported
}

// ListTaskPushConfigs implements a2asrv.RequestHandler.
func (t *tasks) ListTaskPushConfigs(context.Context, *wire.ListTaskPushConfigRequest) (*wire.ListTaskPushConfigResponse, error) {
	return nil, wire.ErrPushNotificationNotSupported
}

// CreateTaskPushConfig implements a2asrv.RequestHandler.
func (t *tasks) CreateTaskPushConfig(context.Context, *wire.PushConfig) (*wire.PushConfig, error) {
	return nil, wire.ErrPushNotificationNotSupported
}

// DeleteTaskPushConfig implements a2asrv.RequestHandler.
func (t *tasks) DeleteTaskPushConfig(context.Context, *wire.DeleteTaskPushConfigRequest) error {
	return wire.ErrPushNotificationNotSupported
}

// GetExtendedAgentCard implements a2asrv.RequestHandler.
func (t *tasks) GetExtendedAgentCard(context.Context, *wire.GetExtendedAgentCardRequest) (*wire.AgentCard, error) {
	return nil, wire.ErrExtendedCardNotConfigured
}
