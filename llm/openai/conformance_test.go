package openai_test

import (
	"testing"

	"dossier/llm"
	"dossier/llm/llmtest"
	"dossier/llm/openai"
)

func client(t *testing.T, s *llmtest.Server) *openai.Client {
	t.Helper()
	c, err := openai.New(openai.Config{
		BaseURL:   s.URL() + "/v1",
		Key:       llmtest.Key,
		FirstByte: s.Patience(),
		Idle:      s.Patience(),
		Timeout:   s.Patience(),
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestConformance(t *testing.T) {
	llmtest.Run(t, func(t *testing.T, s *llmtest.Server) llm.Model { return client(t, s) })
}

func TestEmbedderConformance(t *testing.T) {
	llmtest.RunEmbedder(t, func(t *testing.T, s *llmtest.Server) llm.Embedder { return client(t, s) })
}
