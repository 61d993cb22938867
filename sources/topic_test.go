package sources

import (
	"testing"

	"dossier/llm"
)

func TestStandAlone(t *testing.T) {
	user := func(text string) llm.Message { return llm.Message{Role: llm.RoleUser, Content: text} }
	reply := func(text string) llm.Message { return llm.Message{Role: llm.RoleAssistant, Content: text} }
	for _, c := range []struct {
		history  []llm.Message
		question string
		want     string
	}{
		{nil, "How high is it?", "How high is it?"},
		{[]llm.Message{user("Who built the Eiffel Tower?"), reply("An engineer.")}, "How high is it?", "Eiffel Tower: How high is it?"},
		{ // what is talked about has no name
			[]llm.Message{user("is a web chat widget worth it?"), reply("Yes, a widget helps your customers."), user("what languages does the widget speak?"), reply("The widget knows nine.")},
			"is it secure?", "widget: is it secure?",
		},
		{ // it says enough by itself
			[]llm.Message{user("is a web chat widget worth it?"), reply("Yes, a widget helps your customers.")},
			"what is the capital of the republic that joined the union last?", "what is the capital of the republic that joined the union last?",
		},
		{[]llm.Message{user("青岛"), reply("青岛挺好的")}, "温度是多少", "青岛: 温度是多少"},
		{[]llm.Message{user("文学院前身是什么"), reply("文学院的前身是华北联合大学文艺学院")}, "它成立于哪一年", "文学院前身: 它成立于哪一年"},
		{[]llm.Message{user("Кто построил Исаакиевский собор?"), reply("Огюст Монферран.")}, "Когда его открыли?", "Исаакиевский: Когда его открыли?"},
	} {
		if got := StandAlone(c.question, c.history); got != c.want {
			t.Errorf("%q became %q, want %q", c.question, got, c.want)
		}
	}
}
