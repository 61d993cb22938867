package anthropic_test

import (
	"testing"

	"dossier/llm"
	"dossier/llm/anthropic"
	"dossier/llm/llmtest"
)

func TestConformance(t *testing.T) {
	llmtest.Run(t, func(t *testing.T, s *llmtest.Server) llm.Model {
		c, err := anthropic.New(anthropic.Config{
			BaseURL:   s.URL(),
			Key:       llmtest.Key,
			FirstByte: s.Patience(),
			Idle:      s.Patience(),
			Timeout:   s.Patience(),
		})
		if err != nil {
			t.Fatal(err)
		}
		return c
	})
}
