// Package prompt is about decisions that a model makes: each has a name, a
// template file beside the code that uses it, a result type whose schema the
// model is held to, and a typed fallback for when there is no model or it
// fails.
package prompt

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"strings"
	"text/template"

	"dossier/event"
	"dossier/lang"
	"dossier/llm"
	"dossier/run"
)

// Task is a prompted decision that turns an In into an Out.
type Task[In, Out any] struct {
	// Name of the decision: of its step and its log lines.
	Name string
	Role llm.RoleName
	// Template renders In into the messages; see Parse.
	Template *Template
	// History are messages between the system's and the user's; nil for none.
	History func(In) []llm.Message
	// TextField is the field at the top of Out for whose sake the model is asked:
	// whatever text it gives is that; see llm.ObjectOptions.
	TextField string
	// Least is the share of the time of Within that the decision gets however
	// much of it is gone; for what all the others are made for.
	Least float64
	// Fallback decides without a model. Nil means that this cannot be done
	// without one: the task fails with what kept the model from deciding.
	Fallback func(In) (Out, error)
}

// Decision is an Out and how it was come by. It is what the step records.
type Decision[Out any] struct {
	Value Out    `json:"value"`
	Model string `json:"model,omitempty"`
	// Extractive says that the fallback decided, and Why.
	Extractive bool   `json:"extractive,omitempty"`
	Why        string `json:"why,omitempty"`
}

// Overruled says whether the fallback decided although there is a model.
func (d Decision[Out]) Overruled() bool { return d.Extractive && d.Why != ErrNoModel.Error() }

// Told is why a model did not decide, as a Decision records it, in the words of
// the user's language.
func Told(code lang.Code, why string) string {
	for _, limit := range []string{"tokens", "cost", "time", run.Searches, run.Pages} {
		if why == run.Reason(&run.BudgetError{What: limit}) {
			return lang.Text(code, "why."+limit)
		}
	}
	if why == run.Reason(run.ErrFinish) {
		return lang.Text(code, "agent.told-to-finish")
	}
	return why
}

// Options of one Do.
type Options[Out any] struct {
	// Model replaces the role's model.
	Model string
	// StreamField is a text field at the top of Out that is passed to Sink
	// while it arrives. Reset voids what Sink got so far.
	StreamField string
	Sink        func(text string)
	Reset       func()
	// Partial makes an Out of what there is when the run is told to finish, or
	// its time is up, while the model is at work; nil, or false, leaves it to
	// the fallback.
	Partial func() (Out, bool)
}

// Do makes the decision as one step of the run. Without a model, at a spent
// budget and when the model fails, the fallback decides.
func (t *Task[In, Out]) Do(ctx context.Context, s *run.Scope, models *llm.Models, in In, o Options[Out]) (Decision[Out], error) {
	return run.Step(ctx, s, t.Name, func(ctx context.Context, s *run.Scope) (Decision[Out], error) {
		client := models.For(t.Role)
		if !client.Configured() {
			return t.fallBack(in, ErrNoModel)
		}
		if err := s.Budget().Check(); err != nil {
			return t.fallBack(in, err)
		}
		messages, err := t.Messages(in)
		if err != nil {
			return Decision[Out]{}, err
		}
		call, cancel := s.UntilFinish(ctx)
		defer cancel()
		who := Caller{Scope: s, Role: t.Role, Model: cmp.Or(o.Model, client.Setting().Name)}
		then := llm.ThenFailed
		if t.Fallback != nil {
			call, then = llm.Replaceable(call), llm.ThenRules
			var late context.CancelFunc
			call, late = due(call, t.Role, t.Least)
			defer late()
		}
		call, vigil := who.Watch(call)
		req := &llm.Request{Model: o.Model, Messages: messages}
		value, info, err := llm.Object[Out](call, client, req, llm.ObjectOptions{TextField: t.TextField, StreamField: o.StreamField, Sink: o.Sink, Reset: o.Reset})
		vigil.End()
		if eerr := charge(s, t.Role, client, o.Model, info); eerr != nil {
			return Decision[Out]{}, eerr
		}
		if err == nil {
			return Decision[Out]{Value: value, Model: info.Model}, nil
		}
		if ctx.Err() != nil {
			return Decision[Out]{}, context.Cause(ctx)
		}
		broken := call.Err() != nil
		if broken {
			err = context.Cause(call)
		}
		if late := (*lateError)(nil); !broken || errors.As(err, &late) {
			if eerr := who.Failed(err, then); eerr != nil {
				return Decision[Out]{}, eerr
			}
		}
		if broken {
			return t.breakOff(in, o, who.Model, err)
		}
		return t.fallBack(in, err)
	})
}

// charge records what a decision cost.
func charge(s *run.Scope, role llm.RoleName, client *llm.Client, model string, info llm.ObjectInfo) error {
	if info.Attempts == 0 {
		return nil
	}
	u := info.Usage
	s.Charge(run.Spent{Calls: info.Attempts, InputTokens: u.Input, OutputTokens: u.Output, Cost: u.Cost})
	if model == "" {
		model = client.Setting().Name
	}
	return s.Emit(event.Usage{
		Role: string(role), Model: model, Input: u.Input, Output: u.Output,
		CachedInput: u.CachedInput, Cost: u.Cost, Estimated: u.Estimated,
	})
}

// breakOff decides when the run is told to finish, or its time is up, while the
// model is at work.
func (t *Task[In, Out]) breakOff(in In, o Options[Out], model string, why error) (Decision[Out], error) {
	if o.Partial != nil {
		if value, ok := o.Partial(); ok {
			return Decision[Out]{Value: value, Model: model, Why: run.Reason(why)}, nil
		}
	}
	return t.fallBack(in, why)
}

func (t *Task[In, Out]) fallBack(in In, why error) (Decision[Out], error) {
	if t.Fallback == nil {
		return Decision[Out]{}, why
	}
	value, err := t.Fallback(in)
	if err != nil {
		return Decision[Out]{}, fmt.Errorf("%s without a model (%w): %w", t.Name, why, err)
	}
	return Decision[Out]{Value: value, Extractive: true, Why: run.Reason(why)}, nil
}

// Messages renders the task's conversation.
func (t *Task[In, Out]) Messages(in In) ([]llm.Message, error) {
	system, user, err := t.Template.render(in)
	if err != nil {
		return nil, fmt.Errorf("prompt %s: %w", t.Name, err)
	}
	messages := []llm.Message{{Role: llm.RoleSystem, Content: system}}
	if t.History != nil {
		messages = append(messages, t.History(in)...)
	}
	return append(messages, llm.Message{Role: llm.RoleUser, Content: user}), nil
}

// ErrNoModel is why a fallback decides when no model is configured.
var ErrNoModel error = noModel{}

type noModel struct{}

func (noModel) Error() string { return "no model is configured" }

// Fault tells the kernel how to record the error.
func (noModel) Fault() (code, hint string) {
	return CodeNoModel, "connect a model (`dossier models` says how), then `dossier runs resume`"
}

// CodeNoModel is the code of a run that failed for want of a model.
const CodeNoModel = "no_model_configured"

// Is makes errors.Is(err, llm.ErrNotConfigured) hold.
func (noModel) Is(target error) bool { return target == llm.ErrNotConfigured }

// Template is a prompt file: Go text templates named "system" and "user". Text
// from outside goes through the function data, or label where it is one line.
type Template struct{ t *template.Template }

// Parse reads a prompt file. It panics when the file is missing or wrong:
// prompts are embedded, and a test renders each of them.
func Parse(files fs.FS, name string) *Template {
	raw, err := fs.ReadFile(files, name)
	if err != nil {
		panic(fmt.Sprintf("prompt: %v", err))
	}
	t := template.Must(template.New(name).Option("missingkey=error").Funcs(template.FuncMap{"data": Data, "label": Label}).Parse(string(raw)))
	for _, part := range []string{"system", "user"} {
		if t.Lookup(part) == nil {
			panic(fmt.Sprintf("prompt: %s defines no %q", name, part))
		}
	}
	return &Template{t}
}

// fences are the tags with which prompts mark text from outside.
var fences = regexp.MustCompile(`(?i)<(\s*/?\s*(?:answer|claim|document|found|material|passage)\b)`)

// Data makes text from outside safe to stand between the tags of a prompt: what
// looks like one of them can't end its place. All else stays as it is, so that
// what a model copies from it is found again.
func Data(text string) string { return fences.ReplaceAllString(text, "‹$1") }

// Label is text from outside as an attribute of such a tag, or beside it: one
// line that can't end the attribute or the tag.
func Label(text string) string {
	return labels.Replace(strings.Join(strings.Fields(text), " "))
}

var labels = strings.NewReplacer(`"`, "”", "<", "‹", ">", "›")

func (t *Template) render(in any) (system, user string, err error) {
	var b bytes.Buffer
	if err := t.t.ExecuteTemplate(&b, "system", in); err != nil {
		return "", "", err
	}
	system = strings.TrimSpace(b.String())
	b.Reset()
	if err := t.t.ExecuteTemplate(&b, "user", in); err != nil {
		return "", "", err
	}
	return system, strings.TrimSpace(b.String()), nil
}
