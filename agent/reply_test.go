package agent

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"dossier/llm"
)

// What a reply writes of itself is what it is read from.
func TestReplyRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String()
		r := reply{Model: text.Draw(t, "model"), At: time.Unix(rapid.Int64Range(0, 4e9).Draw(t, "at"), rapid.Int64Range(0, 999999999).Draw(t, "ns")).UTC()}
		if rapid.Bool().Draw(t, "said") {
			r.Message = llm.Message{Role: llm.RoleAssistant, Content: text.Draw(t, "content"), Reasoning: text.Draw(t, "reasoning")}
			for range rapid.IntRange(0, 2).Draw(t, "calls") {
				r.Message.ToolCalls = append(r.Message.ToolCalls, llm.ToolCall{ID: "c" + text.Draw(t, "id"), Name: "n" + text.Draw(t, "name"), Arguments: text.Draw(t, "args")})
			}
		}
		if rapid.Bool().Draw(t, "object") {
			r.Object = json.RawMessage(`{"a":1}`)
		}
		if rapid.Bool().Draw(t, "gone") {
			r.Gone = &goneError{Why: text.Draw(t, "why"), Unfit: true}
		}
		raw, err := r.AppendJSON(nil)
		if err != nil {
			t.Fatal(err)
		}
		var got reply
		if err := json.Unmarshal(raw, &got); err != nil {
			t.Fatalf("%s: %v", raw, err)
		}
		if !reflect.DeepEqual(got, r) {
			t.Fatalf("%s\nis read as %+v\ninstead of %+v", raw, got, r)
		}
	})
}
