package gigachat_test

import (
	"testing"

	"dossier/llm"
	"dossier/llm/gigachat"
	"dossier/llm/llmtest"
)

func client(t *testing.T, s *llmtest.Server) *gigachat.Client {
	t.Helper()
	c, err := gigachat.New(gigachat.Config{
		BaseURL:   s.URL() + "/api/v1",
		AuthURL:   s.URL() + "/api/v2/oauth",
		Key:       llmtest.Key,
		FirstByte: s.Patience(),
		Idle:      s.Patience(),
		Timeout:   s.Patience(),
	})
	if err != nil {
		t.Fatal(err)
	}
	// How patient it is with the model must not count for the token, which a
	// machine at work may take as long for.
	for err := c.FetchToken(t.Context()); llm.KindOf(err) == llm.ErrTimeout; {
		err = c.FetchToken(t.Context())
	}
	return c
}

func TestConformance(t *testing.T) {
	llmtest.Run(t, func(t *testing.T, s *llmtest.Server) llm.Model { return client(t, s) })
}

func TestEmbedderConformance(t *testing.T) {
	llmtest.RunEmbedder(t, func(t *testing.T, s *llmtest.Server) llm.Embedder { return client(t, s) })
}
