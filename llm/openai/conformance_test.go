package openai_test

import (
	"testing"

	"dossier/llm"
	"dossier/llm/llmtest"
	"dossier/llm/openai"
)

func TestConformance(t *testing.T) {
	llmtest.Run(t, func(t *testing.T, s *llmtest.Server) llm.Model {
		m, err := openai.New(openai.Config{
			BaseURL:   s.URL() + "/v1",
			Key:       llmtest.Key,
			FirstByte: s.Patience(),
			Idle:      s.Patience(),
			Timeout:   s.Patience(),
		})
		if err != nil {
			t.Fatal(err)
		}
		return m
	})
}
