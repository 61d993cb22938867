package openai_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	api "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"dossier/internal/clienttest"
	"dossier/internal/server/internal/sitetest"
	"dossier/llm"
	"dossier/llm/llmtest"
)

// knows is a site whose model answers questions, calls functions when it has some,
// and writes JSON when it is to.
func knows(t *testing.T) *sitetest.Site {
	return sitetest.Start(t, sitetest.Options{Protocols: protocols(""), Set: map[string]string{"models.embeddings.model": "vectors"}, Script: llmtest.Script{Rules: []llmtest.Rule{{
		Reply: llmtest.Do(func(req *llmtest.Request) *llmtest.Reply {
			last := req.Messages[len(req.Messages)-1]
			switch {
			case last.Role == llm.RoleTool:
				return llmtest.Say("There is " + last.Content + ".")
			case req.Schema == "weather" || slices.ContainsFunc(req.Tools, func(tool llm.Tool) bool { return tool.Name == "weather" }):
				return llmtest.CallTool("weather", map[string]any{"place": "Aune"})
			case req.Schema == "colour":
				return llmtest.JSON(map[string]any{"name": "blue"})
			}
			return llmtest.JSON(map[string]any{"reasoning": "it is known", "answer": "The sky scatters blue light.", "key_points": []string{"blue"}})
		}),
	}}}})
}

// got is what a client has seen.
type got struct {
	Models                         []string
	Whole, Streamed, Reason, After string
	StreamedCall                   string
	Usage                          bool
	Call                           struct{ Name, Arguments string }
	Shaped                         struct{ Name string }
	Error                          []any
	Vectors                        []bool
}

func (g got) check(t *testing.T) {
	t.Helper()
	if !slices.Contains(g.Models, "chat") || !slices.Contains(g.Models, "research_sgr_agent") || slices.Contains(g.Models, "tool") {
		t.Errorf("models: %v", g.Models)
	}
	const sky = "The sky scatters blue light."
	if g.Whole != sky || g.Streamed != sky || !g.Usage {
		t.Errorf("chat: %q, %q, usage %v", g.Whole, g.Streamed, g.Usage)
	}
	if g.Reason != "tool_calls" || g.Call.Name != "weather" || !strings.Contains(g.Call.Arguments, "Aune") || g.After != "There is rain." || g.StreamedCall != "weather" {
		t.Errorf("functions: %+v", g)
	}
	if g.Shaped.Name != "blue" {
		t.Errorf("schema: %+v", g.Shaped)
	}
	if !slices.Equal(g.Vectors, []bool{true, true}) {
		t.Errorf("vectors: %v", g.Vectors)
	}
	if !reflect.DeepEqual(g.Error, []any{float64(http.StatusBadRequest), "usage", true}) {
		t.Errorf("error: %v", g.Error)
	}
}

// The official clients work unchanged.
func TestOfficialClients(t *testing.T) {
	s := knows(t)
	for name, run := range map[string]func(testing.TB, string, ...string) string{"openai_chat.mjs": clienttest.Node, "openai_chat.py": clienttest.Python} {
		t.Run(name, func(t *testing.T) {
			var g got
			if out := run(t, name, s.URL, s.Ann); json.Unmarshal([]byte(out), &g) != nil {
				t.Fatal(out)
			}
			g.check(t)
		})
	}
	t.Run("go", func(t *testing.T) { withGo(t, s).check(t) })
}

func withGo(t *testing.T, s *sitetest.Site) (g got) {
	client := api.NewClient(option.WithBaseURL(s.URL+"/v1"), option.WithAPIKey(s.Ann), option.WithMaxRetries(0))
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	ctx := t.Context()
	models, err := client.Models.List(ctx)
	must(err)
	for _, m := range models.Data {
		g.Models = append(g.Models, m.ID)
	}
	ask := func(text string) api.ChatCompletionNewParams {
		return api.ChatCompletionNewParams{Model: "chat", Messages: []api.ChatCompletionMessageParamUnion{api.UserMessage(text)}}
	}
	params := ask("Why is the sky blue?")
	whole, err := client.Chat.Completions.New(ctx, params)
	must(err)
	g.Whole = whole.Choices[0].Message.Content
	params.StreamOptions = api.ChatCompletionStreamOptionsParam{IncludeUsage: api.Bool(true)}
	collect := func(params api.ChatCompletionNewParams) *api.ChatCompletionAccumulator {
		t.Helper()
		stream := client.Chat.Completions.NewStreaming(ctx, params)
		defer stream.Close()
		all := &api.ChatCompletionAccumulator{}
		for stream.Next() {
			if !all.AddChunk(stream.Current()) {
				t.Errorf("a chunk does not fit: %s", stream.Current().RawJSON())
			}
		}
		must(stream.Err())
		return all
	}
	all := collect(params)
	g.Streamed, g.Usage = all.Choices[0].Message.Content, all.Usage.TotalTokens > 0

	params = ask("What is the weather in Aune?")
	params.Tools = []api.ChatCompletionToolUnionParam{api.ChatCompletionFunctionTool(api.FunctionDefinitionParam{
		Name: "weather", Parameters: api.FunctionParameters{"type": "object", "properties": map[string]any{"place": map[string]any{"type": "string"}}},
	})}
	called, err := client.Chat.Completions.New(ctx, params)
	must(err)
	g.Reason = called.Choices[0].FinishReason
	call := called.Choices[0].Message.ToolCalls[0]
	g.Call.Name, g.Call.Arguments = call.Function.Name, call.Function.Arguments
	g.StreamedCall = collect(params).Choices[0].Message.ToolCalls[0].Function.Name
	params.Messages = append(params.Messages, called.Choices[0].Message.ToParam(), api.ToolMessage("rain", call.ID))
	after, err := client.Chat.Completions.New(ctx, params)
	must(err)
	g.After = after.Choices[0].Message.Content

	params = ask("A colour as JSON")
	params.ResponseFormat = api.ChatCompletionNewParamsResponseFormatUnion{OfJSONSchema: &api.ResponseFormatJSONSchemaParam{JSONSchema: api.ResponseFormatJSONSchemaJSONSchemaParam{
		Name: "colour", Schema: map[string]any{"type": "object", "properties": map[string]any{"name": map[string]any{"type": "string"}}, "required": []string{"name"}, "additionalProperties": false},
	}}}
	shaped, err := client.Chat.Completions.New(ctx, params)
	must(err)
	must(json.Unmarshal([]byte(shaped.Choices[0].Message.Content), &g.Shaped))

	vectors, err := client.Embeddings.New(ctx, api.EmbeddingNewParams{Model: "any", Input: api.EmbeddingNewParamsInputUnion{OfArrayOfStrings: []string{"sea", "mountain"}}})
	must(err)
	for _, v := range vectors.Data {
		g.Vectors = append(g.Vectors, len(v.Embedding) > 1)
	}

	params = ask("Why?")
	params.Model = "nothing"
	_, err = client.Chat.Completions.New(ctx, params)
	var failed *api.Error
	if !errors.As(err, &failed) {
		t.Fatal(err)
	}
	g.Error = []any{float64(failed.StatusCode), failed.Code, strings.Contains(failed.Message, "Invalid model 'nothing'")}
	return g
}
