package llmtest_test

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/shared"

	"dossier/llm/llmtest"
)

// client is the official client, as a judge of our OpenAI dialect.
func client(s *llmtest.Server) openai.Client {
	return openai.NewClient(option.WithBaseURL(s.URL()+"/v1/"), option.WithAPIKey("test"), option.WithMaxRetries(0))
}

func params(question string) openai.ChatCompletionNewParams {
	return openai.ChatCompletionNewParams{Model: "test",
		Messages: []openai.ChatCompletionMessageParamUnion{openai.SystemMessage("be brief"), openai.UserMessage(question)}}
}

func TestOfficialClientReplies(t *testing.T) {
	s := llmtest.Start(t, llmtest.Script{})
	c := client(s)
	for question, want := range map[string]string{
		"what is a fox?":  "test model",
		"что такое лиса?": "тестовая модель",
		"狐狸是什么?":          "测试模型",
	} {
		r, err := c.Chat.Completions.New(t.Context(), params(question))
		if err != nil {
			t.Fatal(err)
		}
		text := r.Choices[0].Message.Content
		if !strings.Contains(text, want) || !strings.Contains(text, question) {
			t.Errorf("%q got %q", question, text)
		}
		if r.Usage.TotalTokens == 0 || r.Choices[0].FinishReason != "stop" {
			t.Errorf("usage %+v, finish %q", r.Usage, r.Choices[0].FinishReason)
		}

		p := params(question)
		p.StreamOptions.IncludeUsage = openai.Bool(true)
		stream := c.Chat.Completions.NewStreaming(t.Context(), p)
		var acc openai.ChatCompletionAccumulator
		for stream.Next() {
			if !acc.AddChunk(stream.Current()) {
				t.Fatal("the client could not accumulate a chunk")
			}
		}
		if stream.Err() != nil {
			t.Fatal(stream.Err())
		}
		if acc.Choices[0].Message.Content != text {
			t.Errorf("streamed %q, whole %q", acc.Choices[0].Message.Content, text)
		}
		if acc.Usage.TotalTokens != r.Usage.TotalTokens {
			t.Errorf("streamed usage %+v, whole %+v", acc.Usage, r.Usage)
		}
	}
}

func TestOfficialClientTools(t *testing.T) {
	s := llmtest.Start(t, llmtest.Script{Rules: []llmtest.Rule{
		{Contains: "weather", ToolResults: new(0), Reply: llmtest.CallTool("search", map[string]any{"query": "${question}"})},
		{Contains: "weather", ToolResults: new(1), Reply: llmtest.Say("It rains.")},
	}})
	c := client(s)
	p := params("weather today")
	p.Tools = []openai.ChatCompletionToolUnionParam{openai.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{
		Name: "search", Parameters: shared.FunctionParameters{"type": "object", "properties": map[string]any{"query": map[string]any{"type": "string"}}}})}
	stream := c.Chat.Completions.NewStreaming(t.Context(), p)
	var acc openai.ChatCompletionAccumulator
	for stream.Next() {
		acc.AddChunk(stream.Current())
	}
	calls := acc.Choices[0].Message.ToolCalls
	if len(calls) != 1 || calls[0].Function.Name != "search" || calls[0].Function.Arguments != `{"query":"weather today"}` || calls[0].ID == "" {
		t.Fatalf("calls %+v", calls)
	}
	p.Messages = append(p.Messages, acc.Choices[0].Message.ToParam(), openai.ToolMessage("rain", calls[0].ID))
	r, err := c.Chat.Completions.New(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	if r.Choices[0].Message.Content != "It rains." {
		t.Errorf("after the result: %q", r.Choices[0].Message.Content)
	}

	p.Messages = p.Messages[:3]
	_, err = c.Chat.Completions.New(t.Context(), p)
	var e *openai.Error
	if !errors.As(err, &e) || e.StatusCode != 400 {
		t.Errorf("a call without its result got %v, want a 400", err)
	}
}

func TestOfficialClientSchema(t *testing.T) {
	schema := map[string]any{"type": "object", "additionalProperties": false,
		"properties": map[string]any{"answer": map[string]any{"type": "string"}}, "required": []string{"answer"}}
	format := openai.ChatCompletionNewParamsResponseFormatUnion{OfJSONSchema: &shared.ResponseFormatJSONSchemaParam{
		JSONSchema: shared.ResponseFormatJSONSchemaJSONSchemaParam{Name: "plan", Schema: schema}}}
	p := params("what?")
	p.ResponseFormat = format

	s := llmtest.Start(t, llmtest.Script{})
	c := client(s)
	r, err := c.Chat.Completions.New(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	var plan struct{ Answer string }
	if err := json.Unmarshal([]byte(r.Choices[0].Message.Content), &plan); err != nil || !strings.Contains(plan.Answer, "what?") {
		t.Errorf("reply %q (%v)", r.Choices[0].Message.Content, err)
	}
	if calls := s.CallsFor("", "plan"); len(calls) != 1 {
		t.Errorf("calls for plan: %+v", calls)
	}

	refusing := llmtest.Start(t, llmtest.Script{Support: llmtest.Support{JSONSchema: llmtest.Refuse}})
	c = client(refusing)
	_, err = c.Chat.Completions.New(t.Context(), p)
	var e *openai.Error
	if !errors.As(err, &e) || e.StatusCode != 400 || e.Param != "response_format" {
		t.Errorf("%v, want a 400 about response_format", err)
	}

	ignoring := llmtest.Start(t, llmtest.Script{Support: llmtest.Support{JSONSchema: llmtest.Ignore}})
	c = client(ignoring)
	r, err = c.Chat.Completions.New(t.Context(), p)
	if err != nil || json.Valid([]byte(r.Choices[0].Message.Content)) {
		t.Errorf("%v, %v, want plain text", r, err)
	}
}

func TestOfficialClientEmbeddings(t *testing.T) {
	s := llmtest.Start(t, llmtest.Script{})
	c := client(s)
	texts := []string{"красная лиса", "красной лисы", "狐狸", "database index"}
	r, err := c.Embeddings.New(t.Context(), openai.EmbeddingNewParams{Model: "test", Dimensions: openai.Int(64),
		Input: openai.EmbeddingNewParamsInputUnion{OfArrayOfStrings: texts}})
	if err != nil {
		t.Fatal(err)
	}
	var v [][]float64
	for _, d := range r.Data {
		v = append(v, d.Embedding)
	}
	if len(v) != len(texts) {
		t.Fatalf("%d vectors", len(v))
	}
	for i := range v {
		if n := dot(v[i], v[i]); len(v[i]) != 64 || math.Abs(n-1) > 1e-5 {
			t.Errorf("%q: %d dimensions, norm² %v", texts[i], len(v[i]), n)
		}
	}
	if dot(v[0], v[1]) <= dot(v[0], v[3]) {
		t.Error("inflected words are no closer than unrelated ones")
	}
}

func dot(a, b []float64) float64 {
	s := 0.0
	for i := range a {
		s += a[i] * b[i]
	}
	return s
}

func TestOfficialClientModels(t *testing.T) {
	s := llmtest.Start(t, llmtest.Script{Models: []string{"a", "b"}})
	c := client(s)
	page, err := c.Models.List(t.Context())
	if err != nil || len(page.Data) != 2 || page.Data[1].ID != "b" {
		t.Errorf("%+v, %v", page, err)
	}
	_, err = c.Chat.Completions.New(t.Context(), params("x"))
	var e *openai.Error
	if !errors.As(err, &e) || e.StatusCode != 404 || e.Code != "model_not_found" {
		t.Errorf("an unknown model got %v, want a 404", err)
	}
}
