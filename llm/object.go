package llm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"dossier/llm/jsonrepair"
)

// ErrNoObject is in the chain of the error of Object when the model answered,
// but never with an object that fits. The caller's typed fallback is the
// answer to it.
var ErrNoObject = errors.New("the model gave no usable object")

// NoObjectError is the error for which errors.Is(err, ErrNoObject) holds.
type NoObjectError struct {
	Reason   error  // what was wrong with the last reply
	Raw      string // the last reply
	Attempts int
}

func (e *NoObjectError) Error() string {
	return fmt.Sprintf("%v in %d attempts: %v", ErrNoObject, e.Attempts, e.Reason)
}

// Unwrap returns ErrNoObject and the reason.
func (e *NoObjectError) Unwrap() []error { return []error{ErrNoObject, e.Reason} }

// ObjectOptions are the settings of one Object call. The zero value works.
type ObjectOptions struct {
	// MaxRetries is how often the model is asked again after a reply that
	// doesn't fit (3); negative means never.
	MaxRetries int
	// Probes remembers the way that works for Endpoint and the request's
	// model. Without it each call starts with the best way.
	Probes   Probes
	Endpoint string
	// StreamField is a string field at the top of the object whose text goes
	// to Sink while it arrives. Reset is called when what Sink got so far is
	// void, because the reply starts over or was none. It is not called when
	// the context ends the call.
	StreamField string
	Sink        func(text string)
	Reset       func()
	// Watch gets the chunks of each reply as they come, the first one of a reply
	// being a Restart.
	Watch func(Chunk)
	// TextField is a string field at the top of the object that is all that
	// matters. A reply in plain text is that field, fields beside it that are
	// missing or don't fit are empty, the model is asked again once at most, and
	// of a reply that is cut off then, what there is counts.
	TextField string
}

// DefaultObjectRetries is how often a model is asked again for an object.
const DefaultObjectRetries = 3

// ObjectInfo says how an object was had, also when it wasn't.
type ObjectInfo struct {
	Way      Way
	Attempts int   // calls that were answered
	Usage    Usage // of all of them
	Repaired bool  // the reply wasn't valid as it came
	Raw      string
	Model    string
}

// Object asks m for a T. The reply is repaired, coerced where that is safe,
// held to the schema of T and, when *T has a method Validate() error, to that;
// on failure the model is asked again and told what was wrong.
//
// An error for which errors.Is(err, ErrNoObject) holds means that the model
// answers, but not with a T. Any other is the failure of a call.
func Object[T any](ctx context.Context, m Model, req *Request, opts ObjectOptions) (T, ObjectInfo, error) {
	var out T
	schema, err := SchemaOf[T]()
	if err != nil {
		return out, ObjectInfo{}, err
	}
	info, err := ObjectAs(ctx, m, req, schema, func(text json.RawMessage) error {
		var fresh T
		if err := json.Unmarshal(text, &fresh); err != nil {
			return err
		}
		if v, ok := any(&fresh).(interface{ Validate() error }); ok {
			if err := v.Validate(); err != nil {
				return err
			}
		}
		out = fresh
		return nil
	}, opts)
	return out, info, err
}

// ObjectAs is Object for a schema that is made at run time. An object that fits
// it goes to accept, whose error tells the model what is wrong with it.
func ObjectAs(ctx context.Context, m Model, req *Request, schema *Schema, accept func(json.RawMessage) error, opts ObjectOptions) (ObjectInfo, error) {
	if d, ok := m.(objectDefaults); ok {
		m, req, opts = d.forObject(req, opts)
	}
	a := asker{model: m, schema: schema, opts: opts, temperature: req.Temperature, maxTokens: req.MaxTokens}
	err := a.ask(ctx, req, accept)
	return a.info, err
}

// objectDefaults is a Model that has settings for Object, as a Client does.
// The Model that it returns adds none, so that a setting which the endpoint
// refuses can be taken back.
type objectDefaults interface {
	forObject(*Request, ObjectOptions) (Model, *Request, ObjectOptions)
}

// asker is the state of one Object call.
type asker struct {
	model       Model
	schema      *Schema
	opts        ObjectOptions
	way         Way
	maxTokens   int
	temperature *float64
	unfit       int       // replies in this way that didn't fit the schema
	complaint   []Message // the last reply and what was wrong with it
	stream      *fieldStream
	info        ObjectInfo
}

// maxGrowth is how far max_tokens is raised for replies that didn't fit in.
const maxGrowth = 8

func (a *asker) ask(ctx context.Context, req *Request, accept func(json.RawMessage) error) error {
	a.way = WaySchema
	if a.opts.Probes != nil {
		if way, ok := a.opts.Probes.Way(a.opts.Endpoint, req.Model); ok {
			a.way = way
		}
	}
	if a.opts.Sink != nil && a.opts.StreamField != "" {
		a.stream = &fieldStream{path: []string{a.opts.StreamField}, sink: a.opts.Sink, reset: a.opts.Reset}
	}
	retries := a.opts.MaxRetries
	if retries == 0 {
		retries = DefaultObjectRetries
	}
	if a.opts.TextField != "" {
		retries = min(retries, 1)
	}
	var refusal error // the first one of the endpoint that a step down answered
	for failed := 0; ; {
		a.stream.restart()
		resp, err := a.model.Stream(ctx, a.request(req), a.sink())
		if err != nil {
			if ctx.Err() != nil {
				return err // whoever broke the call off may want what there is
			}
			if e, ok := errors.AsType[*Error](err); ok && e.Status != 0 && refusal == nil {
				refusal = err // not what a provider knows by itself
			}
			if a.adapt(err, req) {
				if refusal != nil {
					tell(ctx, Failure{Err: err, Attempt: a.info.Attempts + 1, Then: ThenOtherWay})
				}
				continue
			}
			a.stream.restart()
			if KindOf(err) == ErrBadRequest && refusal != nil {
				return refusal // not the way of asking was wrong, but what was asked
			}
			return err
		}
		a.note(resp)
		reason := a.take(resp, accept, failed == retries || retries < 0)
		if reason == nil {
			if a.opts.Probes != nil {
				a.opts.Probes.SetWay(a.opts.Endpoint, req.Model, a.way)
			}
			return nil
		}
		failed++
		if failed > retries || resp.Finish == FinishFilter {
			a.stream.restart()
			return &NoObjectError{Reason: reason, Raw: a.info.Raw, Attempts: a.info.Attempts}
		}
		then := a.way
		a.learn(req, resp, reason)
		told := Failure{Err: &NoObjectError{Reason: reason, Raw: a.info.Raw, Attempts: a.info.Attempts}, Attempt: failed, Then: ThenAgain}
		if then != a.way {
			told.Then = ThenOtherWay
		}
		tell(ctx, told)
	}
}

// sink is who listens to the next reply, nil when nobody does.
func (a *asker) sink() func(Chunk) {
	field, watch := a.stream.chunks(), a.opts.Watch
	if watch == nil {
		return field
	}
	watch(Chunk{Restart: true})
	return func(c Chunk) {
		watch(c)
		if field != nil {
			field(c)
		}
	}
}

func (a *asker) note(resp *Response) {
	a.info.Attempts++
	a.info.Way = a.way
	a.info.Model = resp.Model
	a.info.Usage = a.info.Usage.Add(resp.Usage)
	a.info.Raw = resp.Message.Content
	if len(resp.Message.ToolCalls) > 0 && (a.way == WayTool || strings.TrimSpace(a.info.Raw) == "") {
		a.info.Raw = resp.Message.ToolCalls[0].Arguments
	}
}

// errCutShort is the reason when max_tokens ended the reply.
var errCutShort = errors.New("the reply was cut off at max_tokens")

// take makes an object of the reply, or says why that can't be done; last says
// that there will be no other.
func (a *asker) take(resp *Response, accept func(json.RawMessage) error, last bool) error {
	cut := resp.Finish == FinishLength
	switch {
	case cut && !(last && a.opts.TextField != ""):
		if a.maxTokens > 0 {
			return fmt.Errorf("%w = %d", errCutShort, a.maxTokens)
		}
		return errCutShort
	case resp.Finish == FinishFilter:
		return errors.New("the reply was withheld by the provider's content filter")
	}
	raw := withoutThoughts(a.info.Raw)
	read, value, err := a.read(raw)
	if err != nil && a.opts.TextField == "" {
		return err
	}
	if err != nil || cut {
		object := a.schema.around(a.opts.TextField, raw, read, value)
		switch {
		case object == nil && err != nil:
			return err
		case object == nil:
			return errCutShort
		case cut:
			object[a.opts.TextField] = object[a.opts.TextField].(string) + " …"
		}
		value = object
	}
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	if err := accept(text); err != nil {
		return err
	}
	if object, ok := value.(map[string]any); ok {
		told, _ := object[a.opts.TextField].(string)
		a.stream.whole(told)
	}
	return nil
}

// read makes a value of a reply: as it was written, and bent to the schema. The
// error says what is wrong with it; there may be values all the same.
func (a *asker) read(raw string) (read, value any, err error) {
	text, err := jsonrepair.Object(raw)
	if err != nil {
		return nil, nil, err
	}
	a.info.Repaired = string(text) != strings.TrimSpace(raw)
	if value, err = decodeNumbers(text); err != nil {
		return nil, nil, err
	}
	read = value
	value = a.schema.coerce(value)
	if err := a.schema.Validate(value); err != nil {
		return read, value, &unfitError{err}
	}
	return read, value, nil
}

// withoutThoughts drops what a reasoning model put before its answer.
func withoutThoughts(text string) string {
	if i := strings.LastIndex(text, "</think>"); i >= 0 {
		return text[i+len("</think>"):]
	}
	return text
}

// adapt changes the way of asking after a refused call and says whether it is
// worth another try.
func (a *asker) adapt(err error, req *Request) bool {
	var e *Error
	if !errors.As(err, &e) || e.Kind != ErrBadRequest {
		return false
	}
	if e.Unsupported == "temperature" && a.temperature != nil {
		a.temperature = nil
		return true
	}
	if e.Unsupported == "" && (e.Status == http.StatusNotFound || e.Status == http.StatusMethodNotAllowed) {
		return false // there is nobody who could take it in another way
	}
	return a.stepDown(req)
}

func (a *asker) stepDown(req *Request) bool {
	i := slices.Index(ways, a.way) + 1
	if i < len(ways) && ways[i] == WayTool && len(req.Tools) > 0 {
		i++ // the model has tools of its own to choose from
	}
	if i <= 0 || i >= len(ways) {
		return false
	}
	a.way = ways[i]
	a.complaint, a.unfit = nil, 0
	return true
}

// learn prepares the next try after a reply that doesn't fit.
func (a *asker) learn(req *Request, resp *Response, reason error) {
	if errors.Is(reason, errCutShort) {
		a.complaint = nil
		if a.maxTokens > 0 && a.maxTokens < maxGrowth*req.MaxTokens {
			a.maxTokens *= 2
		} else {
			a.complaint = []Message{{Role: RoleUser, Content: "Your last reply was too long and was cut off. Reply again, much shorter."}}
		}
		return
	}
	if a.ignored(resp, reason) && a.stepDown(req) {
		return
	}
	text := "Your last reply doesn't fit: " + reason.Error() + ". Reply again with the whole corrected JSON object and nothing else."
	if a.way == WayTool && len(resp.Message.ToolCalls) > 0 {
		call := resp.Message.ToolCalls[0]
		if call.ID == "" {
			call.ID = "reply"
		}
		if !isObject(call.Arguments) { // endpoints refuse a call whose arguments are none
			call.Arguments = `{"raw_input":` + string(AppendString(nil, CutMiddle(call.Arguments, 2000))) + `}`
		}
		a.complaint = []Message{
			{Role: RoleAssistant, ToolCalls: []ToolCall{call}},
			{Role: RoleTool, ToolCallID: call.ID, Name: call.Name, Content: text},
		}
		return
	}
	a.complaint = nil
	if raw := strings.TrimSpace(a.info.Raw); raw != "" {
		a.complaint = append(a.complaint, Message{Role: RoleAssistant, Content: CutMiddle(raw, 2000)})
	}
	a.complaint = append(a.complaint, Message{Role: RoleUser, Content: text})
}

func isObject(text string) bool {
	var o map[string]json.RawMessage
	return json.Unmarshal([]byte(text), &o) == nil && o != nil
}

// ignored says whether the reply looks as if the endpoint took the format and
// ignored it, so that asking in the same way again won't help.
func (a *asker) ignored(resp *Response, reason error) bool {
	switch a.way {
	case WaySchema, WayJSON:
		if _, ok := errors.AsType[*unfitError](reason); ok {
			a.unfit++
		}
		return a.unfit > 1 || errors.Is(reason, jsonrepair.ErrNone)
	case WayTool:
		return len(resp.Message.ToolCalls) == 0
	}
	return false
}

// unfitError is a reply that doesn't fit the schema.
type unfitError struct{ error }

// request makes the next request out of the caller's.
func (a *asker) request(req *Request) *Request {
	r := *req
	r.MaxTokens, r.Temperature = a.maxTokens, a.temperature
	r.Messages = slices.Concat(req.Messages, a.complaint)
	switch a.way {
	case WaySchema:
		r.Format = &Format{Name: a.schema.Name, Schema: a.schema.Strict}
		return &r
	case WayTool:
		r.Format = nil
		r.Tools = []Tool{{Name: a.schema.Name, Description: "Give the reply.", Parameters: a.schema.Strict, Strict: true}}
		r.ToolChoice = a.schema.Name
		return &r
	case WayJSON:
		r.Format = &Format{Name: a.schema.Name}
	default:
		r.Format = nil
	}
	rule := "Reply with one JSON object, without any text around it, that fits this JSON schema:\n" + string(a.schema.Strict)
	if len(r.Messages) > 0 && r.Messages[0].Role == RoleSystem {
		r.Messages[0].Content += "\n\n" + rule // Concat made the slice our own
	} else {
		r.Messages = slices.Insert(r.Messages, 0, Message{Role: RoleSystem, Content: rule})
	}
	return &r
}
