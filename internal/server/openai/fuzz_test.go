package openai

import (
	"encoding/json"
	"testing"
)

// What is decoded can be passed on and decoded again, and names agents only by ids.
func FuzzChatRequest(f *testing.F) {
	for _, seed := range []string{
		`{"model":"chat","messages":[{"role":"user","content":"hi"}]}`,
		`{"model":"a_01234567-0123-4123-8123-0123456789ab","messages":[{"role":"user","content":[{"type":"text","text":"hi"}]}],"stream":true}`,
		`{"messages":[{"role":"tool","tool_call_id":"x","content":"rain"}],"tools":[{"type":"function","function":{"name":"f","parameters":{}}}],"tool_choice":{"type":"function","function":{"name":"f"}},"stop":"x"}`,
		`{"messages":[],"response_format":{"type":"json_schema","json_schema":{"name":"n","schema":{"type":"object"}}},"stop":["a"],"tool_choice":null}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var req chatRequest
		if json.Unmarshal(raw, &req) != nil {
			return
		}
		for _, id := range named(&req) {
			if agentID.FindString(id) != id {
				t.Errorf("%q is no id", id)
			}
		}
		if !req.relayed() {
			return
		}
		if _, err := json.Marshal(req.relay()); err != nil {
			t.Error(err)
		}
	})
}

func FuzzEmbeddingRequest(f *testing.F) {
	f.Add([]byte(`{"model":"m","input":"a"}`))
	f.Add([]byte(`{"input":["a","b"],"encoding_format":"base64"}`))
	f.Fuzz(func(_ *testing.T, raw []byte) {
		var req embeddingRequest
		_ = json.Unmarshal(raw, &req)
	})
}
