package llmtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"strings"

	"dossier/llm"
)

// created is the time that replies carry: fixed, so that equal requests get
// equal replies.
const created = 1700000000

// openAI is the dialect of /v1/chat/completions.
type openAI struct{}

func (openAI) name() string             { return "openai" }
func (openAI) key(h http.Header) string { return bearer(h) }

// content is a string, null, or parts of which the texts count.
type content string

func (c *content) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '[' {
		var parts []struct{ Text string }
		if err := json.Unmarshal(b, &parts); err != nil {
			return err
		}
		var texts []string
		for _, p := range parts {
			if p.Text != "" {
				texts = append(texts, p.Text)
			}
		}
		*c = content(strings.Join(texts, "\n"))
		return nil
	}
	return json.Unmarshal(b, (*string)(c))
}

// stops is a string or a list of strings.
type stops []string

func (s *stops) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '"' {
		*s = stops{""}
		return json.Unmarshal(b, &(*s)[0])
	}
	return json.Unmarshal(b, (*[]string)(s))
}

// choice is "auto", "none", "required" or an object that names a tool.
type choice string

func (c *choice) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '{' {
		var o struct {
			Name     string
			Function struct{ Name string }
		}
		if err := json.Unmarshal(b, &o); err != nil {
			return err
		}
		*c = choice(o.Function.Name + o.Name)
		return nil
	}
	return json.Unmarshal(b, (*string)(c))
}

type openAIFunction struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
	Strict      bool            `json:"strict"`
}

type openAIRequest struct {
	Model    string `json:"model"`
	Messages []struct {
		Role      string  `json:"role"`
		Content   content `json:"content"`
		Name      string  `json:"name"`
		ToolCalls []struct {
			ID       string `json:"id"`
			Function struct {
				Name      string `json:"name"`
				Arguments string `json:"arguments"`
			} `json:"function"`
		} `json:"tool_calls"`
		ToolCallID string `json:"tool_call_id"`
	} `json:"messages"`
	Tools []struct {
		Function openAIFunction `json:"function"`
	} `json:"tools"`
	ToolChoice     choice `json:"tool_choice"`
	ResponseFormat *struct {
		Type       string `json:"type"`
		JSONSchema struct {
			Name   string          `json:"name"`
			Strict bool            `json:"strict"`
			Schema json.RawMessage `json:"schema"`
		} `json:"json_schema"`
	} `json:"response_format"`
	Stream        bool `json:"stream"`
	StreamOptions struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
	MaxTokens           int      `json:"max_tokens"`
	MaxCompletionTokens int      `json:"max_completion_tokens"`
	Temperature         *float64 `json:"temperature"`
	Stop                stops    `json:"stop"`
}

func (openAI) parse(body []byte, q *Request) error {
	var r openAIRequest
	if err := json.Unmarshal(body, &r); err != nil {
		return err
	}
	q.Endpoint, q.Model, q.Stream = "chat", r.Model, r.Stream
	q.usageInStream = r.StreamOptions.IncludeUsage
	q.ToolChoice, q.Temperature, q.Stop = string(r.ToolChoice), r.Temperature, r.Stop
	q.MaxTokens = max(r.MaxTokens, r.MaxCompletionTokens)
	for i, m := range r.Messages {
		role := llm.Role(m.Role)
		switch role {
		case llm.RoleSystem, llm.RoleUser, llm.RoleAssistant, llm.RoleTool:
		case "developer":
			role = llm.RoleSystem
		default:
			return fmt.Errorf("messages[%d]: unknown role %q", i, m.Role)
		}
		msg := llm.Message{Role: role, Content: string(m.Content), Name: m.Name, ToolCallID: m.ToolCallID}
		for _, c := range m.ToolCalls {
			msg.ToolCalls = append(msg.ToolCalls, llm.ToolCall{ID: c.ID, Name: c.Function.Name, Arguments: c.Function.Arguments})
		}
		q.Messages = append(q.Messages, msg)
	}
	for i, t := range r.Tools {
		if t.Function.Name == "" {
			return fmt.Errorf("tools[%d]: function.name is missing", i)
		}
		q.Tools = append(q.Tools, llm.Tool(t.Function))
	}
	if f := r.ResponseFormat; f != nil {
		switch f.Type {
		case "text":
		case "json_object":
			q.Format = &llm.Format{}
		case "json_schema":
			if f.JSONSchema.Name == "" || len(f.JSONSchema.Schema) == 0 {
				return errors.New("response_format: json_schema needs a name and a schema")
			}
			q.Format = &llm.Format{Name: f.JSONSchema.Name, Schema: f.JSONSchema.Schema}
			q.strictFormat = f.JSONSchema.Strict
		default:
			return fmt.Errorf("response_format: unknown type %q", f.Type)
		}
	}
	return checkChoice(q)
}

// checkChoice refuses a choice of tools that can't be made.
func checkChoice(q *Request) error {
	switch q.ToolChoice {
	case "", llm.ChooseAuto, llm.ChooseNone:
		return nil
	case llm.ChooseRequired:
		if len(q.Tools) == 0 {
			return errors.New("tool_choice: a call is required but there are no tools")
		}
		return nil
	}
	if q.tool(q.ToolChoice) == nil {
		return fmt.Errorf("tool_choice: there is no tool %q", q.ToolChoice)
	}
	return nil
}

type openAICall struct {
	Index    *int   `json:"index,omitempty"`
	ID       string `json:"id,omitempty"`
	Type     string `json:"type,omitempty"`
	Function struct {
		Name      string `json:"name,omitempty"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

type openAIMessage struct {
	Role      string       `json:"role,omitempty"`
	Content   *string      `json:"content,omitempty"`
	Reasoning string       `json:"reasoning_content,omitempty"`
	ToolCalls []openAICall `json:"tool_calls,omitempty"`
}

type openAIChoice struct {
	Index   int            `json:"index"`
	Message *openAIMessage `json:"message,omitempty"`
	Delta   *openAIMessage `json:"delta,omitempty"`
	Finish  *string        `json:"finish_reason"`
}

type openAIUsage struct {
	Prompt     int `json:"prompt_tokens"`
	Completion int `json:"completion_tokens"`
	Total      int `json:"total_tokens"`
}

type openAIReply struct {
	ID      string         `json:"id"`
	Object  string         `json:"object"`
	Created int            `json:"created"`
	Model   string         `json:"model"`
	Choices []openAIChoice `json:"choices"`
	Usage   *openAIUsage   `json:"usage,omitempty"`
}

func (o *output) openAIUsage() *openAIUsage {
	if o.noUsage {
		return nil
	}
	n := o.outputTokens()
	return &openAIUsage{Prompt: o.input, Completion: n, Total: o.input + n}
}

func openAICallOf(c llm.ToolCall) openAICall {
	call := openAICall{ID: c.ID, Type: "function"}
	call.Function.Name, call.Function.Arguments = c.Name, c.Arguments
	return call
}

func (openAI) whole(o *output) []byte {
	r := openAIReply{ID: o.id, Object: "chat.completion", Created: created, Model: o.model,
		Choices: []openAIChoice{}, Usage: o.openAIUsage()}
	if !o.empty {
		m := &openAIMessage{Role: "assistant", Reasoning: o.reasoning}
		if o.text != "" || len(o.calls) == 0 {
			m.Content = &o.text
		}
		for _, c := range o.calls {
			m.ToolCalls = append(m.ToolCalls, openAICallOf(c))
		}
		finish := string(o.finish)
		r.Choices = append(r.Choices, openAIChoice{Message: m, Finish: &finish})
	}
	return encode(r)
}

func (openAI) frames(o *output, size int) iter.Seq[frame] {
	return func(yield func(frame) bool) {
		chunk := func(choices []openAIChoice, usage *openAIUsage) []byte {
			return encode(openAIReply{ID: o.id, Object: "chat.completion.chunk", Created: created, Model: o.model,
				Choices: choices, Usage: usage})
		}
		send := func(m openAIMessage) bool {
			return yield(frame{data: chunk([]openAIChoice{{Delta: &m}}, nil), piece: true})
		}
		end := func(data []byte) bool { return yield(frame{data: data, end: true}) }
		if !o.empty {
			none := ""
			first := openAIMessage{Role: "assistant", Content: &none}
			if !yield(frame{data: chunk([]openAIChoice{{Delta: &first}}, nil)}) {
				return
			}
			for s := range split(o.reasoning, size) {
				if !send(openAIMessage{Reasoning: s}) {
					return
				}
			}
			for s := range split(o.text, size) {
				if !send(openAIMessage{Content: &s}) {
					return
				}
			}
			for i, c := range o.calls {
				head := openAICallOf(llm.ToolCall{ID: c.ID, Name: c.Name})
				head.Index = &i
				if !send(openAIMessage{ToolCalls: []openAICall{head}}) {
					return
				}
				for s := range split(c.Arguments, size) {
					more := openAICall{Index: &i}
					more.Function.Arguments = s
					if !send(openAIMessage{ToolCalls: []openAICall{more}}) {
						return
					}
				}
			}
			finish := string(o.finish)
			if !end(chunk([]openAIChoice{{Delta: &openAIMessage{}, Finish: &finish}}, nil)) {
				return
			}
		}
		if (o.inStream || o.empty) && !o.noUsage && !end(chunk([]openAIChoice{}, o.openAIUsage())) {
			return
		}
		end([]byte("[DONE]"))
	}
}

func (openAI) errorBody(e *refusal) []byte {
	kind := "invalid_request_error"
	switch {
	case e.code == "insufficient_quota":
		kind = e.code
	case e.status == 429:
		kind = "requests"
	case e.status >= 500:
		kind = "server_error"
	}
	type body struct {
		Message string  `json:"message"`
		Type    string  `json:"type"`
		Param   *string `json:"param"`
		Code    string  `json:"code"`
	}
	b := body{Message: e.message, Type: kind, Code: e.code}
	if e.param != "" {
		b.Param = &e.param
	}
	return encode(map[string]body{"error": b})
}

func (d openAI) errorFrame(e *refusal) frame { return frame{data: d.errorBody(e)} }

func modelList(ids []string) []byte {
	type model struct {
		ID      string `json:"id"`
		Object  string `json:"object"`
		Created int    `json:"created"`
		OwnedBy string `json:"owned_by"`
	}
	list := struct {
		Object string  `json:"object"`
		Data   []model `json:"data"`
	}{Object: "list"}
	for _, id := range ids {
		list.Data = append(list.Data, model{id, "model", created, "llmtest"})
	}
	return encode(list)
}

// encode is json.Marshal for values of ours, which can't fail.
func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic("llmtest: " + err.Error())
	}
	return b
}
