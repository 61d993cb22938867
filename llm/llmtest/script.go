package llmtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// Script says how a server answers. The zero Script answers everything by
// default replies, at once and without faults.
type Script struct {
	Rules []Rule `yaml:"rules"`
	// Models that exist; any other gets a 404. Empty: every name exists.
	Models []string `yaml:"models"`
	// Context is the window in tokens; a longer conversation gets a 400.
	// 0: no limit.
	Context int `yaml:"context"`
	// Key that calls must carry, else 401. Empty: anything goes.
	Key     string  `yaml:"key"`
	Support Support `yaml:"support"`
	// Limits over time; the first call starts the clock.
	Limits []Limit `yaml:"limits"`
	// Latency before each reply, unless the rule has its own.
	Latency time.Duration `yaml:"latency"`
	// ChunkSize is the number of characters in a streamed piece; 0: 16.
	ChunkSize int `yaml:"chunk_size"`
	// ChunkDelay passes between streamed pieces, unless the rule has its own.
	ChunkDelay time.Duration `yaml:"chunk_delay"`
	// Seed of the faults with a probability.
	Seed uint64 `yaml:"seed"`
	// Dimensions of embeddings when the request names none; 0: 256.
	Dimensions int `yaml:"dimensions"`
	// TokenTTL is how long a GigaChat access token is good; 0: 30 minutes.
	TokenTTL time.Duration `yaml:"token_ttl"`
	// Keep is how many calls Calls remembers; 0: all.
	Keep int `yaml:"keep"`
}

// Rule is a set of conditions, all of which have to hold, and what to do then.
type Rule struct {
	// Name is recorded with the calls that the rule answered.
	Name string `yaml:"name"`

	// Role is the model's name, unless a test says otherwise in the header
	// X-Dossier-Role.
	Role string `yaml:"role"`
	// Schema is the name of the JSON schema asked for, or of the forced tool.
	Schema string `yaml:"schema"`
	Model  string `yaml:"model"`
	// Contains is looked for in the last user message.
	Contains string `yaml:"contains"`
	// ToolResults is the number of tool results in the conversation.
	ToolResults *int `yaml:"tool_results"`
	// Endpoint is "chat" (the default), "embeddings" or "any".
	Endpoint string `yaml:"endpoint"`
	// Turn n holds for the n-th call that meets the conditions above,
	// whichever rule answers it; First n for the first n of them.
	Turn  int `yaml:"turn"`
	First int `yaml:"first"`

	Latency    time.Duration `yaml:"latency"`
	ChunkDelay time.Duration `yaml:"chunk_delay"`
	Fault      *Fault        `yaml:"fault"`
	Reply      *Reply        `yaml:"reply"`
}

// Reply is what the model says. In the strings of Text, JSON and ToolCalls,
// ${question}, ${role}, ${model}, ${turn} and ${tool_results} are replaced.
type Reply struct {
	Text      string `yaml:"text"`
	Reasoning string `yaml:"reasoning"`
	// JSON becomes the text, or the arguments of the tool whose call the
	// request forces.
	JSON      any        `yaml:"json"`
	ToolCalls []ToolCall `yaml:"tool_calls"`
	// Func, when set, makes the reply instead of the fields above; a nil
	// reply means the default one. It is called before any latency.
	Func func(*Request) *Reply `yaml:"-"`
}

// ToolCall is a scripted call of a tool. Arguments is a JSON text or a value
// to be encoded; an empty ID is derived from the request.
type ToolCall struct {
	ID        string `yaml:"id"`
	Name      string `yaml:"name"`
	Arguments any    `yaml:"arguments"`
}

// Say replies with a text.
func Say(text string) *Reply { return &Reply{Text: text} }

// JSON replies with a JSON value, as text or as a forced tool's arguments.
func JSON(v any) *Reply { return &Reply{JSON: v} }

// CallTool replies with one call of a tool.
func CallTool(name string, arguments any) *Reply {
	return &Reply{ToolCalls: []ToolCall{{Name: name, Arguments: arguments}}}
}

// Do replies with what f makes of the request.
func Do(f func(*Request) *Reply) *Reply { return &Reply{Func: f} }

// Mode is how a server treats a request field.
type Mode string

// The modes. Yes is the default.
const (
	Yes    Mode = "yes"
	Refuse Mode = "refuse" // a 400 that names the field
	Ignore Mode = "ignore" // as if the field had not been sent
)

// Support says which fields the server takes.
type Support struct {
	JSONSchema Mode `yaml:"json_schema"`
	JSONObject Mode `yaml:"json_object"`
	Tools      Mode `yaml:"tools"`
	ToolChoice Mode `yaml:"tool_choice"`
	// Stream: Ignore answers a streaming call with a whole body.
	Stream Mode `yaml:"stream"`
	// Usage: Ignore reports none.
	Usage Mode `yaml:"usage"`
}

// Limit holds from At on, until the next Limit. What exceeds it gets a 429.
type Limit struct {
	At time.Duration `yaml:"at"`
	// RPS is requests per second, 0 for no limit; Burst of them may come at
	// once (0: as many as one second allows).
	RPS   float64 `yaml:"rps"`
	Burst float64 `yaml:"burst"`
	// Concurrency is how many calls may be under way; 0 for no limit.
	Concurrency int `yaml:"concurrency"`
	// Silent leaves out Retry-After.
	Silent bool `yaml:"silent"`
}

// Load reads a script from a file.
func Load(path string) (Script, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return Script{}, fmt.Errorf("script: %w", err)
	}
	s, err := Parse(data)
	if err != nil {
		return Script{}, fmt.Errorf("script %s: %w", path, err)
	}
	return s, nil
}

// Parse reads a script in YAML or JSON. The keys are the fields' names in
// lower case with underscores; unknown keys are errors.
//
//	models: [test, small]
//	support: {json_schema: refuse}
//	limits:
//	  - {at: 0s, rps: 20}
//	  - {at: 40s, rps: 5, concurrency: 4}
//	rules:
//	  - schema: plan
//	    reply: {json: {steps: [search, read]}}
//	  - contains: weather
//	    tool_results: 0
//	    reply:
//	      tool_calls: [{name: web_search, arguments: {query: "${question}"}}]
//	  - contains: weather
//	    reply: {text: It rains.}
//	  - turn: 3
//	    fault: {kind: rate_limit, retry_after: 2s}
//	  - fault: {kind: cut, after: 2, probability: 0.1}
func Parse(data []byte) (Script, error) {
	var s Script
	dec := yaml.NewDecoder(bytes.NewReader(data))
	dec.KnownFields(true)
	if err := dec.Decode(&s); err != nil && !errors.Is(err, io.EOF) {
		return Script{}, err
	}
	if err := s.validate(); err != nil {
		return Script{}, err
	}
	return s, nil
}

func (s *Script) validate() error {
	sup := s.Support
	for _, m := range []Mode{sup.JSONSchema, sup.JSONObject, sup.Tools, sup.ToolChoice, sup.Stream, sup.Usage} {
		switch m {
		case "", Yes, Refuse, Ignore:
		default:
			return fmt.Errorf("support: %q is not yes, refuse or ignore", m)
		}
	}
	for i := 1; i < len(s.Limits); i++ {
		if s.Limits[i].At < s.Limits[i-1].At {
			return fmt.Errorf("limit %d: at %v comes before the limit above it", i+1, s.Limits[i].At)
		}
	}
	for i := range s.Rules {
		if err := s.Rules[i].validate(); err != nil {
			return fmt.Errorf("rule %d: %w", i+1, err)
		}
	}
	return nil
}

func (r *Rule) validate() error {
	switch r.Endpoint {
	case "", "chat", "embeddings", "any":
	default:
		return fmt.Errorf("endpoint %q is not chat, embeddings or any", r.Endpoint)
	}
	if r.Fault != nil {
		if err := r.Fault.validate(); err != nil {
			return err
		}
	}
	if r.Reply == nil {
		return nil
	}
	if r.Reply.JSON != nil {
		if _, err := json.Marshal(r.Reply.JSON); err != nil {
			return fmt.Errorf("reply.json: %w", err)
		}
	}
	for _, c := range r.Reply.ToolCalls {
		if c.Name == "" {
			return errors.New("reply.tool_calls: a call has no name")
		}
		if _, err := json.Marshal(c.Arguments); err != nil {
			return fmt.Errorf("reply.tool_calls: %s: %w", c.Name, err)
		}
	}
	return nil
}

// fits says whether all conditions but Turn and First hold.
func (r *Rule) fits(q *Request) bool {
	endpoint := r.Endpoint
	if endpoint == "" {
		endpoint = "chat"
	}
	return (endpoint == "any" || endpoint == q.Endpoint) &&
		(r.Role == "" || r.Role == q.Role) &&
		(r.Schema == "" || r.Schema == q.Schema) &&
		(r.Model == "" || r.Model == q.Model) &&
		(r.ToolResults == nil || *r.ToolResults == q.ToolResults()) &&
		(r.Contains == "" || strings.Contains(q.Question(), r.Contains))
}
