package llm_test

import (
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"dossier/llm"
)

func TestNormalize(t *testing.T) {
	user := func(s string) llm.Message { return llm.Message{Role: llm.RoleUser, Content: s} }
	said := func(s string, ids ...string) llm.Message {
		m := llm.Message{Role: llm.RoleAssistant, Content: s}
		for _, id := range ids {
			m.ToolCalls = append(m.ToolCalls, llm.ToolCall{ID: id, Name: "f", Arguments: "{}"})
		}
		return m
	}
	result := func(id, s string) llm.Message {
		return llm.Message{Role: llm.RoleTool, ToolCallID: id, Name: "f", Content: s}
	}
	sys := func(s string) llm.Message { return llm.Message{Role: llm.RoleSystem, Content: s} }
	cases := []struct {
		name     string
		rules    llm.Rules
		in, want []llm.Message
	}{
		{"good", llm.Rules{}, []llm.Message{sys("s"), user("u"), said("", "1"), result("1", "r"), said("a")},
			[]llm.Message{sys("s"), user("u"), said("", "1"), result("1", "r"), said("a")}},
		{"missing result", llm.Rules{}, []llm.Message{user("u"), said("", "1", "2"), result("2", "r"), user("v")},
			[]llm.Message{user("u"), said("", "1", "2"), result("1", llm.NoResult), result("2", "r"), user("v")}},
		{"orphan", llm.Rules{}, []llm.Message{user("u"), result("9", "r"), said("a")}, []llm.Message{user("u"), said("a")}},
		{"result too late", llm.Rules{}, []llm.Message{said("", "1"), user("u"), result("1", "r")},
			[]llm.Message{said("", "1"), result("1", llm.NoResult), user("u")}},
		{"two results", llm.Rules{}, []llm.Message{said("", "1"), result("1", "a"), result("1", "b")}, []llm.Message{said("", "1"), result("1", "a")}},
		{"repeated id", llm.Rules{}, []llm.Message{said("", "1"), result("1", "a"), said("", "1"), result("1", "b")},
			[]llm.Message{said("", "1"), result("1", "a"), said("", "1_2"), result("1_2", "b")}},
		{"empty assistant", llm.Rules{}, []llm.Message{user("u"), said(" \n"), user("v")}, []llm.Message{user("u"), user("v")}},
		{"system late", llm.Rules{}, []llm.Message{user("u"), sys("s"), sys("t")}, []llm.Message{sys("s\n\nt"), user("u")}},
		{"alternate", llm.Rules{Alternate: true}, []llm.Message{user("u"), user("v"), said("a"), said("b", "1"), result("1", "r"), user("w")},
			[]llm.Message{user("u\n\nv"), said("a\n\nb", "1"), result("1", "r"), user("w")}},
		{"user first", llm.Rules{UserFirst: true}, []llm.Message{sys("s"), said("a")},
			[]llm.Message{sys("s"), user("(The conversation goes on.)"), said("a")}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := llm.Normalize(c.in, c.rules)
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("got  %+v\nwant %+v", got, c.want)
			}
			if err := llm.Check(got, c.rules); err != nil {
				t.Error(err)
			}
			if c.name != "good" && c.rules == (llm.Rules{}) && c.name != "empty assistant" && llm.Check(c.in, c.rules) == nil {
				t.Error("Check has nothing against the input")
			}
		})
	}
}

func genMessages(t *rapid.T) []llm.Message {
	id := rapid.SampledFrom([]string{"", "1", "2", "1_2", "3"})
	message := rapid.Custom(func(t *rapid.T) llm.Message {
		m := llm.Message{
			Role:    rapid.SampledFrom([]llm.Role{llm.RoleSystem, llm.RoleUser, llm.RoleAssistant, llm.RoleTool, "developer"}).Draw(t, "role"),
			Content: rapid.SampledFrom([]string{"", " ", "one", "two", "три"}).Draw(t, "content"),
		}
		switch m.Role {
		case llm.RoleAssistant:
			for range rapid.IntRange(0, 3).Draw(t, "calls") {
				m.ToolCalls = append(m.ToolCalls, llm.ToolCall{ID: id.Draw(t, "id"), Name: "f"})
			}
		case llm.RoleTool:
			m.ToolCallID = id.Draw(t, "id")
		}
		return m
	})
	return rapid.SliceOfN(message, 0, 12).Draw(t, "messages")
}

func TestNormalizeAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := genMessages(t)
		rules := llm.Rules{Alternate: rapid.Bool().Draw(t, "alternate"), UserFirst: rapid.Bool().Draw(t, "first")}
		out := llm.Normalize(in, rules)
		if err := llm.Check(out, rules); err != nil {
			t.Fatalf("%v in %+v", err, out)
		}
		if again := llm.Normalize(out, rules); !reflect.DeepEqual(again, out) {
			t.Fatalf("not stable:\n%+v\n%+v", out, again)
		}
		said := func(messages []llm.Message) (all string) {
			for _, m := range messages {
				if m.Role != llm.RoleAssistant && m.Role != llm.RoleTool && m.Role != llm.RoleSystem {
					all += strings.Join(strings.Fields(m.Content), "")
				}
			}
			return all
		}
		if want, got := said(in), strings.ReplaceAll(said(out), "(Theconversationgoeson.)", ""); want != got {
			t.Fatalf("users said %q, kept is %q", want, got)
		}
	})
}
