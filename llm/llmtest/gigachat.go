package llmtest

import (
	"encoding/json"
	"fmt"
	"iter"
	"net/http"
	"strings"
	"time"

	"dossier/llm"
)

// gigaChat is GigaChat's dialect: OpenAI's with functions instead of tools,
// arguments as objects, and tokens from an OAuth endpoint.
type gigaChat struct{ openAI }

func (gigaChat) name() string { return "gigachat" }

// oauth gives an access token for an authorization key.
func (s *Server) oauth(w http.ResponseWriter, r *http.Request) {
	d := gigaChat{}
	key, isBasic := strings.CutPrefix(r.Header.Get("Authorization"), "Basic ")
	switch {
	case !isBasic || key == "", s.script.Key != "" && key != s.script.Key:
		(&refusal{status: 401, message: "Authorization error: header is incorrect"}).write(w, d)
		return
	case r.Header.Get("RqUID") == "":
		(&refusal{status: 400, message: "RqUID is missing"}).write(w, d)
		return
	}
	switch scope := r.PostFormValue("scope"); scope {
	case "GIGACHAT_API_PERS", "GIGACHAT_API_B2B", "GIGACHAT_API_CORP":
	default:
		(&refusal{status: 400, message: fmt.Sprintf("scope %q is invalid or empty", scope)}).write(w, d)
		return
	}
	ttl := s.script.TokenTTL
	if ttl == 0 {
		ttl = 30 * time.Minute
	}
	s.mu.Lock()
	s.issued++
	token := fmt.Sprintf("llmtest-token-%d", s.issued)
	end := time.Now().Add(ttl)
	s.tokens[token] = end
	s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	w.Write(encode(map[string]any{"access_token": token, "expires_at": end.UnixMilli()}))
}

func (gigaChat) parse(body []byte, q *Request) error {
	var r struct {
		Model    string `json:"model"`
		Messages []struct {
			Role         string  `json:"role"`
			Content      content `json:"content"`
			Name         string  `json:"name"`
			FunctionCall *struct {
				Name      string          `json:"name"`
				Arguments json.RawMessage `json:"arguments"`
			} `json:"function_call"`
		} `json:"messages"`
		Functions      []openAIFunction `json:"functions"`
		FunctionCall   choice           `json:"function_call"`
		ResponseFormat *struct {
			Type       string          `json:"type"`
			Schema     json.RawMessage `json:"schema"`
			JSONSchema struct {
				Name   string          `json:"name"`
				Schema json.RawMessage `json:"schema"`
			} `json:"json_schema"`
		} `json:"response_format"`
		Stream      bool     `json:"stream"`
		MaxTokens   int      `json:"max_tokens"`
		Temperature *float64 `json:"temperature"`
	}
	if err := json.Unmarshal(body, &r); err != nil {
		return err
	}
	q.Endpoint, q.Model, q.Stream, q.usageInStream = "chat", r.Model, r.Stream, true
	q.ToolChoice, q.MaxTokens, q.Temperature = string(r.FunctionCall), r.MaxTokens, r.Temperature
	var open []string // names of functions called and not answered yet
	for i, m := range r.Messages {
		msg := llm.Message{Role: llm.Role(m.Role), Content: string(m.Content), Name: m.Name}
		switch msg.Role {
		case llm.RoleSystem:
			if i > 0 {
				return fmt.Errorf("messages[%d]: system message must be the first message", i)
			}
		case llm.RoleUser:
		case llm.RoleAssistant:
			if c := m.FunctionCall; c != nil {
				if !strings.HasPrefix(string(c.Arguments), "{") {
					return fmt.Errorf("messages[%d]: function_call.arguments is not an object", i)
				}
				msg.ToolCalls = []llm.ToolCall{{ID: c.Name, Name: c.Name, Arguments: string(c.Arguments)}}
				open = append(open, c.Name)
			}
		case "function":
			if !json.Valid([]byte(msg.Content)) {
				return fmt.Errorf("messages[%d]: the content of a function message is not JSON", i)
			}
			msg.Role = llm.RoleTool
			if msg.ToolCallID = msg.Name; msg.ToolCallID == "" && len(open) > 0 {
				msg.ToolCallID = open[0]
			}
			open = nil
		default:
			return fmt.Errorf("messages[%d]: unknown role %q", i, m.Role)
		}
		q.Messages = append(q.Messages, msg)
	}
	for _, f := range r.Functions {
		q.Tools = append(q.Tools, llm.Tool(f))
	}
	if f := r.ResponseFormat; f != nil && f.Type == "json_schema" {
		q.Format = &llm.Format{Name: f.JSONSchema.Name, Schema: f.JSONSchema.Schema}
		if len(f.Schema) > 0 {
			q.Format.Schema = f.Schema
		}
	}
	return checkChoice(q)
}

type gigaChatMessage struct {
	Role         string        `json:"role,omitempty"`
	Content      string        `json:"content"`
	FunctionCall *gigaChatCall `json:"function_call,omitempty"`
	StateID      string        `json:"functions_state_id,omitempty"`
}

type gigaChatCall struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

type gigaChatChoice struct {
	Message *gigaChatMessage `json:"message,omitempty"`
	Delta   *gigaChatMessage `json:"delta,omitempty"`
	Index   int              `json:"index"`
	Finish  string           `json:"finish_reason,omitempty"`
}

type gigaChatReply struct {
	Choices []gigaChatChoice `json:"choices"`
	Created int              `json:"created"`
	Model   string           `json:"model"`
	Object  string           `json:"object"`
	Usage   *openAIUsage     `json:"usage,omitempty"`
}

// gigaChatCall is the one call that this dialect has room for. Arguments that
// are not JSON travel as a string.
func (o *output) gigaChatCall() (*gigaChatCall, string) {
	if len(o.calls) == 0 {
		return nil, ""
	}
	args := json.RawMessage(o.calls[0].Arguments)
	if !json.Valid(args) {
		args = encode(o.calls[0].Arguments)
	}
	return &gigaChatCall{o.calls[0].Name, args}, o.calls[0].ID
}

func (o *output) gigaChatFinish() string {
	switch o.finish {
	case llm.FinishToolCalls:
		return "function_call"
	case llm.FinishFilter:
		return "blacklist"
	}
	return string(o.finish)
}

func (gigaChat) whole(o *output) []byte {
	r := gigaChatReply{Choices: []gigaChatChoice{}, Created: created, Model: o.model, Object: "chat.completion", Usage: o.openAIUsage()}
	if !o.empty {
		call, state := o.gigaChatCall()
		r.Choices = append(r.Choices, gigaChatChoice{Finish: o.gigaChatFinish(),
			Message: &gigaChatMessage{Role: "assistant", Content: o.text, FunctionCall: call, StateID: state}})
	}
	return encode(r)
}

func (gigaChat) frames(o *output, size int) iter.Seq[frame] {
	return func(yield func(frame) bool) {
		chunk := func(choices []gigaChatChoice, usage *openAIUsage) []byte {
			return encode(gigaChatReply{Choices: choices, Created: created, Model: o.model, Object: "chat.completion", Usage: usage})
		}
		if !o.empty {
			role := "assistant"
			for s := range split(o.text, size) {
				if !yield(frame{data: chunk([]gigaChatChoice{{Delta: &gigaChatMessage{Role: role, Content: s}}}, nil), piece: true}) {
					return
				}
				role = ""
			}
			if call, state := o.gigaChatCall(); call != nil {
				m := &gigaChatMessage{Role: role, FunctionCall: call, StateID: state}
				if !yield(frame{data: chunk([]gigaChatChoice{{Delta: m}}, nil), piece: true}) {
					return
				}
			}
			last := gigaChatChoice{Delta: &gigaChatMessage{}, Finish: o.gigaChatFinish()}
			if !yield(frame{data: chunk([]gigaChatChoice{last}, o.openAIUsage()), end: true}) {
				return
			}
		} else if !yield(frame{data: chunk([]gigaChatChoice{}, o.openAIUsage()), end: true}) {
			return
		}
		yield(frame{data: []byte("[DONE]"), end: true})
	}
}

func (gigaChat) errorBody(e *refusal) []byte {
	return encode(map[string]any{"status": e.status, "message": e.message})
}

func (d gigaChat) errorFrame(e *refusal) frame { return frame{data: d.errorBody(e)} }

func (gigaChat) embeddings(q *Request, vectors [][]float32) []byte {
	type item struct {
		Object    string         `json:"object"`
		Embedding []float32      `json:"embedding"`
		Index     int            `json:"index"`
		Usage     map[string]int `json:"usage"`
	}
	reply := struct {
		Object string `json:"object"`
		Data   []item `json:"data"`
		Model  string `json:"model"`
	}{Object: "list", Data: []item{}, Model: q.Model}
	for i, v := range vectors {
		n := tokens(q.Messages[i].Content)
		reply.Data = append(reply.Data, item{"embedding", v, i, map[string]int{"prompt_tokens": n}})
	}
	return encode(reply)
}
