package openai

import (
	"strconv"

	"dossier/llm"
	"dossier/llm/internal/completion"
	"dossier/llm/internal/strict"
	"dossier/llm/internal/upstream"
)

// appendRequest writes the body of a call.
func appendRequest(b []byte, model string, q quirks, req *llm.Request, stream bool) ([]byte, error) {
	b = append(b, `{"model":`...)
	b = llm.AppendString(b, model)
	b = append(b, `,"messages":[`...)
	for i := range req.Messages {
		if i > 0 {
			b = append(b, ',')
		}
		m := &req.Messages[i]
		if q.wantReasoning && m.Role == llm.RoleAssistant {
			b = llm.AppendMessageReasoning(b, m)
		} else {
			b = llm.AppendMessage(b, m)
		}
		if len(m.Opaque) > 0 && m.Role == llm.RoleAssistant {
			b = completion.AppendOpaque(b, m.Opaque)
		}
	}
	b = append(b, ']')
	given := func(name string) bool { _, ok := req.Extra[name]; return ok }
	if len(req.Tools) > 0 {
		b = append(b, `,"tools":[`...)
		for i := range req.Tools {
			if i > 0 {
				b = append(b, ',')
			}
			t := req.Tools[i]
			if t.Strict {
				t.Parameters, t.Strict = mode.Fit(t.Parameters)
			}
			b = llm.AppendTool(b, &t)
		}
		b = append(b, ']')
		b = appendToolChoice(b, req.ToolChoice)
	}
	b = appendFormat(b, req.Format)
	if req.MaxTokens > 0 && !given(q.maxTokens) {
		b = append(b, `,"`...)
		b = append(b, q.maxTokens...)
		b = append(b, `":`...)
		b = strconv.AppendInt(b, int64(req.MaxTokens), 10)
	}
	if req.Temperature != nil && !given("temperature") {
		b = append(b, `,"temperature":`...)
		b = strconv.AppendFloat(b, *req.Temperature, 'g', -1, 64)
	}
	if len(req.Stop) > 0 && !given("stop") {
		b = append(b, `,"stop":[`...)
		for i, s := range req.Stop {
			if i > 0 {
				b = append(b, ',')
			}
			b = llm.AppendString(b, s)
		}
		b = append(b, ']')
	}
	b, err := upstream.AppendExtra(b, req.Extra, own)
	if err != nil {
		return b, err
	}
	if stream {
		b = append(b, `,"stream":true`...)
		if !q.noUsage {
			b = append(b, `,"stream_options":{"include_usage":true}`...)
		}
	}
	return append(b, '}'), nil
}

func appendToolChoice(b []byte, choice string) []byte {
	switch choice {
	case "":
		return b
	case llm.ChooseAuto, llm.ChooseNone, llm.ChooseRequired:
		b = append(b, `,"tool_choice":`...)
		return llm.AppendString(b, choice)
	}
	b = append(b, `,"tool_choice":{"type":"function","function":{"name":`...)
	b = llm.AppendString(b, choice)
	return append(b, "}}"...)
}

func appendFormat(b []byte, f *llm.Format) []byte {
	switch {
	case f == nil:
		return b
	case len(f.Schema) == 0:
		return append(b, `,"response_format":{"type":"json_object"}`...)
	}
	name := f.Name
	if name == "" {
		name = "reply"
	}
	b = append(b, `,"response_format":{"type":"json_schema","json_schema":{"name":`...)
	b = llm.AppendString(b, name)
	schema, ok := mode.Fit(f.Schema)
	if ok {
		b = append(b, `,"strict":true`...)
	}
	b = append(b, `,"schema":`...)
	b = append(b, schema...)
	return append(b, "}}"...)
}

// mode is what OpenAI's strict mode does not take.
var mode = strict.NewMode("default", "minLength", "maxLength", "uniqueItems", "minProperties", "maxProperties")

// own are the members that the client writes itself, whatever Extra says.
var own = []string{"model", "messages", "tools", "tool_choice", "response_format", "stream", "stream_options"}
