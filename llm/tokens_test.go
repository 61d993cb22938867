package llm_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"dossier/llm"
	"dossier/llm/llmtest"
)

// The bounds are generous around what vocabularies of 100,000 to 200,000
// tokens make of such texts: English about 4.5 characters a token, Russian 2 to
// 3.5, Chinese 0.8 to 1.6.
func TestEstimateTokens(t *testing.T) {
	cases := []struct {
		text        string
		least, most int
	}{
		{"", 0, 0},
		{"Hello, world!", 4, 6},
		{"The quick brown fox jumps over the lazy dog.", 10, 14},
		{"Привет, мир!", 5, 9},
		{"Съешь же ещё этих мягких французских булок, да выпей чаю.", 24, 36},
		{"你好，世界", 5, 8},
		{"func main() {\n\tfmt.Println(\"hi\")\n}\n", 12, 24},
		{"31415926535", 4, 11},
	}
	for _, c := range cases {
		if got := llm.EstimateTokens(c.text); got < c.least || got > c.most {
			t.Errorf("%q: %d tokens, want %d to %d", c.text, got, c.least, c.most)
		}
	}
}

func BenchmarkEstimateTokens(b *testing.B) {
	text := strings.Repeat("The quick brown fox. Съешь ещё этих булок. 你好世界 ", 1000)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		llm.EstimateTokens(text)
	}
}

func TestCutMiddle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Repeat(rapid.StringN(1, 30, -1).Draw(t, "text"), rapid.IntRange(1, 50).Draw(t, "times"))
		tokens := rapid.IntRange(40, 400).Draw(t, "tokens")
		out := llm.CutMiddle(text, tokens)
		if n := llm.EstimateTokens(out); n > tokens {
			t.Fatalf("%d tokens, wanted %d", n, tokens)
		}
		if llm.EstimateTokens(text) <= tokens && out != text {
			t.Fatal("cut although it fits")
		}
		if !utf8.ValidString(out) {
			t.Fatal("a character was cut")
		}
	})
	if out := llm.CutMiddle(strings.Repeat("a b ", 1000), 50); !strings.Contains(out, "characters left out") {
		t.Errorf("no mark: %q", out)
	}
}

// conversation draws what a provider would take.
func conversation(t *rapid.T) []llm.Message {
	say := func(role llm.Role) llm.Message {
		text := rapid.SampledFrom([]string{"one", "two", "три"}).Draw(t, "text")
		return llm.Message{Role: role, Content: strings.Repeat(text+" ", rapid.SampledFrom([]int{1, 1, 10, 3000}).Draw(t, "length"))}
	}
	var out []llm.Message
	if rapid.Bool().Draw(t, "system") {
		out = append(out, say(llm.RoleSystem))
	}
	for turn := range rapid.IntRange(0, 12).Draw(t, "turns") {
		if rapid.Bool().Draw(t, "user") {
			out = append(out, say(llm.RoleUser))
			continue
		}
		said := say(llm.RoleAssistant)
		var results []llm.Message
		for call := range rapid.IntRange(0, 3).Draw(t, "calls") {
			id := fmt.Sprint(turn, "-", call)
			said.ToolCalls = append(said.ToolCalls, llm.ToolCall{ID: id, Name: "f"})
			result := say(llm.RoleTool)
			result.ToolCallID = id
			results = append(results, result)
		}
		out = append(append(out, said), results...)
	}
	return out
}

func TestFitAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		req := &llm.Request{Messages: conversation(t)}
		window := rapid.IntRange(1500, 20000).Draw(t, "window")
		out, done, err := llm.Fit(t.Context(), req, window, llm.FitOptions{Reserve: 500})
		if err != nil {
			t.Fatalf("%v (%+v)", err, done)
		}
		if n := llm.CountRequest(out); n > window-500 || n != done.Tokens {
			t.Fatalf("%d tokens in a window of %d, %+v", n, window, done)
		}
		if llm.CountRequest(req) <= window-500 && (out != req || done != (llm.Fitted{Tokens: done.Tokens})) {
			t.Fatal("changed although it fits")
		}
		if err := llmtest.CheckConversation(out.Messages); err != nil {
			t.Fatal(err)
		}
		roles := func(messages []llm.Message) (users int, last string) {
			for _, m := range messages {
				if m.Role == llm.RoleUser {
					users++
					last = m.Content
				}
			}
			return users, last
		}
		before, last := roles(req.Messages)
		after, kept := roles(out.Messages)
		if before > 0 && (after == 0 || kept != last && !strings.Contains(kept, "left out")) {
			t.Fatal("the last user message is lost")
		}
	})
}

func TestFitLongLoop(t *testing.T) {
	// An agent's loop: one question, then a hundred tool exchanges.
	req := &llm.Request{Messages: []llm.Message{{Role: llm.RoleSystem, Content: "sys"}, {Role: llm.RoleUser, Content: "question"}}}
	for i := range 100 {
		id := fmt.Sprint(i)
		req.Messages = append(req.Messages,
			llm.Message{Role: llm.RoleAssistant, ToolCalls: []llm.ToolCall{{ID: id, Name: "f", Arguments: `{"q":1}`}}},
			llm.Message{Role: llm.RoleTool, ToolCallID: id, Content: strings.Repeat("found ", 500)})
	}
	out, done, err := llm.Fit(t.Context(), req, 8192, llm.FitOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := llmtest.CheckConversation(out.Messages); err != nil {
		t.Error(err)
	}
	if out.Messages[1].Content != "question" || out.Messages[len(out.Messages)-1].ToolCallID != "99" || done.Dropped == 0 {
		t.Errorf("%+v", done)
	}
	if len(req.Messages) != 202 || req.Messages[0].Content != "sys" {
		t.Error("the caller's request was changed")
	}
}

func TestFitSummarizes(t *testing.T) {
	req := &llm.Request{}
	for range 50 {
		req.Messages = append(req.Messages,
			llm.Message{Role: llm.RoleUser, Content: strings.Repeat("why ", 100)},
			llm.Message{Role: llm.RoleAssistant, Content: strings.Repeat("because ", 100)})
	}
	req.Messages = append(req.Messages, llm.Message{Role: llm.RoleUser, Content: "and now?"})
	out, done, err := llm.Fit(t.Context(), req, 4096, llm.FitOptions{
		Summarize: func(_ context.Context, dropped []llm.Message) (string, error) {
			return fmt.Sprintf("they talked %d times", len(dropped)), nil
		}})
	if err != nil || !done.Summarized {
		t.Fatalf("%+v, %v", done, err)
	}
	if got, want := out.Messages[0].Content, fmt.Sprintf("Summary of the earlier conversation:\nthey talked %d times", done.Dropped); got != want {
		t.Errorf("summary %q, want %q", got, want)
	}
	_, done, err = llm.Fit(t.Context(), req, 4096, llm.FitOptions{
		Summarize: func(context.Context, []llm.Message) (string, error) { return "", errors.New("no") }})
	if err != nil || done.Summarized || done.Dropped == 0 {
		t.Errorf("%+v, %v", done, err)
	}
}

func TestFitRefusesTheImpossible(t *testing.T) {
	req := &llm.Request{Messages: []llm.Message{{Role: llm.RoleUser, Content: "q"}},
		Tools: []llm.Tool{{Name: "f", Parameters: []byte(strings.Repeat("x,", 5000))}}}
	if _, _, err := llm.Fit(t.Context(), req, 1000, llm.FitOptions{}); llm.KindOf(err) != llm.ErrTooLong {
		t.Errorf("error %v", err)
	}
}

func TestWindows(t *testing.T) {
	w := llm.Windows{Override: map[string]int{"my-model": 1234}}
	for model, want := range map[string]int{
		"gpt-4o-mini": 128000, "gpt-4": 8192, "openai/gpt-4o": 128000, "Qwen2.5-7B": 32768, "GigaChat-2-Max": 131072,
		"my-model-7b": 1234, "nobody-knows": llm.UnknownWindow,
	} {
		if got := w.For(model); got != want {
			t.Errorf("%s: %d, want %d", model, got, want)
		}
	}
}

func TestWindowIsLearned(t *testing.T) {
	for message, real := range map[string]int{
		"This model's maximum context length is 4096 tokens. However, your messages resulted in 9000 tokens.": 4096,
		"prompt is too long": 4500,
	} {
		var sizes []int
		m := modelFunc(func(_ context.Context, req *llm.Request, _ func(llm.Chunk)) (*llm.Response, error) {
			n := llm.CountRequest(req)
			sizes = append(sizes, n)
			if n > real {
				return nil, &llm.Error{Kind: llm.ErrTooLong, Status: 400, Message: message}
			}
			return &llm.Response{}, nil
		})
		var w llm.Windows
		wrapped := w.Wrap(m, "nobody-knows", llm.FitOptions{Reserve: 100})
		req := &llm.Request{Messages: []llm.Message{{Role: llm.RoleUser, Content: strings.Repeat("word ", 5000)}}}
		for range 2 {
			if _, err := wrapped.Stream(t.Context(), req, nil); err != nil {
				t.Errorf("%s: %v after sizes %v", message, err, sizes)
			}
		}
		if len(sizes) != 3 {
			t.Errorf("%s: calls of %v tokens", message, sizes)
		}
	}
}
