package a2atool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"

	"dossier/tool"
	"dossier/tool/internal/said"
)

// remote is an agent whose card was read.
type remote struct {
	client *Client
	agent  Agent
	host   string
	words  said.Cleaner
	remote *a2aclient.Client
	spec   tool.Spec
}

// message is what the tool takes.
type message struct {
	Message string `json:"message" jsonschema:"what the agent is to do, or the answer to its question; it knows nothing of this conversation"`
	Task    string `json:"task,omitempty" jsonschema:"id of the task whose question the message answers; leave it out to begin a new one"`
}

// Validate refuses a message without words.
func (m *message) Validate() error {
	if strings.TrimSpace(m.Message) == "" {
		return errors.New("message is empty; say what the agent is to do")
	}
	return nil
}

func (r *remote) tool() tool.Tool { return tool.New(r.spec, r.call) }

// outcome is what is known of a task; as JSON it is the data of a result.
type outcome struct {
	Task      a2a.TaskID    `json:"task,omitempty"`
	Context   string        `json:"context,omitempty"`
	State     a2a.TaskState `json:"state"`
	Artifacts []artifact    `json:"artifacts,omitempty"`

	status string // what the last status said
}

type artifact struct {
	ID   a2a.ArtifactID `json:"id,omitempty"`
	Name string         `json:"name,omitempty"`
	Text string         `json:"text"`
}

func (r *remote) call(ctx context.Context, c *tool.Call, in message) (tool.Result, error) {
	// A little before the tool's own limit, so that what is known can be said.
	working, stop := context.WithTimeout(quiet(ctx), r.spec.Timeout-r.spec.Timeout/50)
	defer stop()
	m := a2a.NewMessage(a2a.MessageRoleUser, a2a.NewTextPart(in.Message))
	m.TaskID = a2a.TaskID(in.Task)
	var o outcome
	err := r.send(working, m, &o)
	// A stream that broke, or an agent that answers at once and works on, is
	// looked at until there is an end.
	if o.Task != "" && !o.settled() {
		err = r.poll(working, &o)
	}
	if err != nil {
		return tool.Result{}, r.fault(ctx, working, &o, err)
	}
	return r.result(&o)
}

// send sends a message and takes in what comes back.
func (r *remote) send(ctx context.Context, m *a2a.Message, o *outcome) error {
	for event, err := range r.remote.SendStreamingMessage(ctx, &a2a.SendMessageRequest{Message: m, Config: &a2a.SendMessageConfig{ReturnImmediately: true}}) {
		if err != nil {
			return err
		}
		if r.take(o, event); o.settled() {
			return nil
		}
	}
	if o.Task == "" {
		return errNoReply
	}
	return nil
}

var errNoReply = errors.New("it sent no reply")

// poll looks at a task until it is settled.
func (r *remote) poll(ctx context.Context, o *outcome) error {
	misses := 0
	for pause := firstPoll; ; pause = min(pause*3/2, mostPoll) {
		task, err := r.remote.GetTask(ctx, &a2a.GetTaskRequest{ID: o.Task})
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			// A look changes nothing: one that fails is repeated.
			if misses++; misses == 3 || errors.Is(err, a2a.ErrTaskNotFound) {
				return err
			}
		default:
			misses = 0
			if r.take(o, task); o.settled() {
				return nil
			}
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return context.Cause(ctx)
		}
	}
}

// settled says that nothing more comes by itself.
func (o *outcome) settled() bool {
	return o.State.Terminal() || o.State == a2a.TaskStateInputRequired || o.State == a2a.TaskStateAuthRequired
}

// take takes in an event.
func (r *remote) take(o *outcome, event a2a.Event) {
	switch e := event.(type) {
	case *a2a.Message: // an answer without a task
		o.Context, o.State = e.ContextID, a2a.TaskStateCompleted
		o.Artifacts = []artifact{{Text: r.text(e.Parts)}}
	case *a2a.Task:
		o.Task, o.Context = e.ID, e.ContextID
		r.status(o, e.Status)
		o.Artifacts = nil
		for _, a := range e.Artifacts {
			if a != nil {
				o.Artifacts = append(o.Artifacts, artifact{ID: a.ID, Name: r.words.Line(a.Name, 200), Text: r.text(a.Parts)})
			}
		}
	case *a2a.TaskStatusUpdateEvent:
		o.Task, o.Context = e.TaskID, e.ContextID
		r.status(o, e.Status)
	case *a2a.TaskArtifactUpdateEvent:
		o.Task, o.Context = e.TaskID, e.ContextID
		if e.Artifact == nil {
			return
		}
		part := artifact{ID: e.Artifact.ID, Name: r.words.Line(e.Artifact.Name, 200), Text: r.text(e.Artifact.Parts)}
		i := slices.IndexFunc(o.Artifacts, func(a artifact) bool { return a.ID == part.ID })
		switch {
		case i < 0:
			o.Artifacts = append(o.Artifacts, part)
		case e.Append:
			o.Artifacts[i].Text += part.Text
		default:
			o.Artifacts[i] = part
		}
	}
}

func (r *remote) status(o *outcome, s a2a.TaskStatus) {
	o.State = s.State
	if o.status = ""; s.Message != nil {
		o.status = r.text(s.Message.Parts)
	}
}

// text is parts as text. What is no text is named.
func (r *remote) text(parts a2a.ContentParts) string {
	var texts []string
	for _, p := range parts {
		if p == nil {
			continue
		}
		switch content := p.Content.(type) {
		case a2a.Text:
			texts = append(texts, said.Visible(string(content)))
		case a2a.Data:
			if raw, err := json.Marshal(content.Value); err == nil {
				texts = append(texts, said.Visible(string(raw)))
			}
		case a2a.Raw:
			texts = append(texts, fmt.Sprintf("[a file, %s, %d bytes]", r.words.Line(p.Filename+" "+p.MediaType, 200), len(content)))
		case a2a.URL:
			texts = append(texts, fmt.Sprintf("[a file at %s]", r.words.Line(string(content), 2000)))
		}
	}
	return strings.Join(texts, "\n\n")
}

// result is what a model gets of a task that is settled.
func (r *remote) result(o *outcome) (tool.Result, error) {
	name, limit := r.spec.Name, r.client.options.ContextLimit
	why := r.words.Text(o.status, 2000)
	if why == "" {
		why = "it does not say why"
	}
	switch o.State {
	case a2a.TaskStateCompleted:
	case a2a.TaskStateInputRequired:
		asks := r.words.Text(o.status, limit)
		if asks == "" {
			asks = "(it does not say what it wants to know)"
		}
		text := fmt.Sprintf("The agent asks: %s\nTo answer, call %s again with the answer as message and task %q. Ask the user if you don't know it.", asks, name, o.Task)
		return r.with(o, text)
	case a2a.TaskStateAuthRequired:
		return tool.Result{}, fmt.Errorf("%s wants somebody to log in first, which only the operator can do: %s. Do without it", name, why)
	case a2a.TaskStateCanceled:
		return tool.Result{}, fmt.Errorf("%s cancelled the task: %s", name, why)
	case a2a.TaskStateRejected:
		return tool.Result{}, fmt.Errorf("%s refused the task: %s", name, why)
	default:
		return tool.Result{}, fmt.Errorf("%s failed: %s", name, why)
	}
	var texts []string
	for _, a := range o.Artifacts {
		if a.Text = strings.TrimSpace(a.Text); a.Text == "" {
			continue
		}
		if len(o.Artifacts) > 1 && a.Name != "" {
			a.Text = a.Name + ":\n" + a.Text
		}
		texts = append(texts, a.Text)
	}
	if len(texts) == 0 {
		texts = append(texts, strings.TrimSpace(o.status))
	}
	text := tool.Cut(strings.Join(texts, "\n\n"), limit)
	if text == "" {
		text = "The agent finished the task and returned nothing."
	}
	return r.with(o, text)
}

func (r *remote) with(o *outcome, text string) (tool.Result, error) {
	raw, err := json.Marshal(o)
	return tool.Result{Text: text, Data: raw}, err
}

// fault is what a model is told when a task did not come to an end. An agent
// that works for nobody any more is told to stop.
func (r *remote) fault(ctx, working context.Context, o *outcome, err error) error {
	left := working.Err() != nil
	if left && o.Task != "" {
		r.tellToStop(working, o.Task)
	}
	name := r.spec.Name
	wrong, ok := errors.AsType[*a2a.Error](err)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case left:
		return fmt.Errorf("%s was not done after %s and was told to stop. Ask it for less, or do without it", name, r.spec.Timeout)
	case errors.Is(err, a2a.ErrTaskNotFound):
		return fmt.Errorf("%s knows no such task. Leave task out to begin a new one", name)
	case ok:
		return fmt.Errorf("%s refused the message: %s", name, r.words.Line(wrong.Error(), 1000))
	case errors.Is(err, errElsewhere), errors.Is(err, errTooLong), errors.Is(err, errNoReply):
		return fmt.Errorf("%s can't be used: %s. Do without it", name, r.words.Line(r.network(err), 300))
	}
	return fmt.Errorf("%s can't be reached (%s). Whether it works on the message is unknown; do without it, or ask again later", name, r.network(err))
}

// tellToStop tells an agent that nobody waits for a task any more. It is waited
// for a moment, since the process may end right after.
func (r *remote) tellToStop(ctx context.Context, task a2a.TaskID) {
	told := make(chan struct{})
	go func() {
		defer close(told)
		telling, stop := context.WithTimeout(context.WithoutCancel(ctx), cancelTime)
		defer stop()
		_, _ = r.remote.CancelTask(telling, &a2a.CancelTaskRequest{ID: task})
	}()
	moment := time.NewTimer(cancelMoment)
	defer moment.Stop()
	select {
	case <-told:
	case <-moment.C:
	}
}
