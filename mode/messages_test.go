package mode

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"dossier/llm"
)

// turns reads messages as a client sends them.
func turns(t *testing.T, raw string) (out []Turn, err error) {
	t.Helper()
	err = json.Unmarshal([]byte(raw), &out)
	return out, err
}

func TestSay(t *testing.T) {
	said, err := turns(t, `[
		{"role":"user","content":"Who built it?"},
		{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]},
		{"role":"tool","tool_call_id":"c1","content":"a result"},
		{"role":"developer","content":"Be short."},
		{"role":"assistant","content":"Ada Quill."},
		{"role":"user","content":[{"type":"text","text":"And "},{"type":"input_text","text":"when?"}]}]`)
	if err != nil {
		t.Fatal(err)
	}
	var r Request
	if err := r.Say(said); err != nil {
		t.Fatal(err)
	}
	want := []llm.Message{{Role: llm.RoleSystem, Content: "Be short."}, {Role: llm.RoleUser, Content: "Who built it?"}, {Role: llm.RoleAssistant, Content: "Ada Quill."}}
	if r.Question != "And when?" || !reflect.DeepEqual(r.History, want) {
		t.Errorf("%q after %+v", r.Question, r.History)
	}
	// A request goes from process to process.
	raw, err := json.Marshal(said)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := turns(t, string(raw)); err != nil || !reflect.DeepEqual(again, said) {
		t.Errorf("%+v, %v", again, err)
	}
}

func TestSayRefuses(t *testing.T) {
	for raw, want := range map[string]string{
		`[{"role":"user","content":[{"type":"text","text":"what is it?"},{"type":"image_url","image_url":{"url":"data:"}}]}]`: `"image_url"`,
		`[{"role":"user","content":[{"type":"input_audio"}]}]`:                                                                `"input_audio"`,
		`[{"role":"user","content":{"type":"text"}}]`:                                                                         "content must be",
		`[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]`:                                                  "last message",
		`[{"role":"system","content":"a"}]`:                                                                                   "last message",
		`[{"role":"user","content":"  "}]`:                                                                                    "last message",
		`[]`:                                                                                                                  "last message",
		`[{"role":"narrator","content":"a"},{"role":"user","content":"b"}]`:                                                   `"narrator"`,
	} {
		said, err := turns(t, raw)
		if err == nil {
			err = new(Request).Say(said)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", raw, err)
		}
	}
}

// Instructions are always there; of the rest, the last messages are.
func TestConversationOfTheCaller(t *testing.T) {
	m := func(role llm.Role, text string) llm.Message { return llm.Message{Role: role, Content: text} }
	all := []llm.Message{m(llm.RoleSystem, "s"), m(llm.RoleUser, "1"), m(llm.RoleAssistant, "2"), m(llm.RoleUser, "3"), m(llm.RoleAssistant, "4")}
	for limit, want := range map[int][]llm.Message{10: all, 2: {all[0], all[3], all[4]}, 0: all[:1], -1: all[:1]} {
		got, err := Request{History: all}.Conversation(t.Context(), nil, nil, limit)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%d: %+v, %v", limit, got, err)
		}
	}
}
