package dossier_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"dossier"
	"dossier/llm"
)

// echo is a model and an embedder that a program brings along.
type echo struct{}

func (echo) Stream(_ context.Context, req *llm.Request, _ func(llm.Chunk)) (*llm.Response, error) {
	last := req.Messages[len(req.Messages)-1]
	return &llm.Response{Message: llm.Message{Role: llm.RoleAssistant, Content: "You said: " + last.Content}, Model: req.Model}, nil
}

func (echo) Embed(_ context.Context, model string, texts []string) (*llm.Embeddings, error) {
	out := &llm.Embeddings{Model: model}
	for _, text := range texts {
		out.Vectors = append(out.Vectors, []float32{float32(len(text))})
	}
	return out, nil
}

// The two functions take and return dictionaries in the published formats, and never
// fail: what went wrong is in the result.
func ExampleEngine_PostChatCompletions() {
	dir, err := os.MkdirTemp("", "dossier-")
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	ctx := context.Background()
	engine, err := dossier.Open(ctx, dossier.Options{DataDir: dir, ConfigFile: "none", Models: map[llm.RoleName]llm.Setting{
		llm.ForDefault:    {Name: "echo-1", Model: echo{}},
		llm.ForEmbeddings: {Name: "lengths", Embedder: echo{}},
	}})
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = engine.Close() }()

	reply := engine.PostChatCompletions(ctx, map[string]any{
		"messages":    []map[string]string{{"role": "user", "content": "Hello"}},
		"temperature": 0.2,
	}, false)
	fmt.Println(reply["model"], reply["choices"].([]any)[0].(map[string]any)["message"].(map[string]any)["content"])

	vectors := engine.PostEmbeddings(ctx, map[string]any{"input": []string{"a", "abc"}}, false)
	for _, item := range vectors["data"].([]any) {
		fmt.Println(item.(map[string]any)["embedding"])
	}

	fmt.Println(engine.PostChatCompletions(ctx, map[string]any{}, false)["error"])
	// Output:
	// echo-1 You said: Hello
	// [1]
	// [3]
	// payload has no messages
}
