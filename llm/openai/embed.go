package openai

import (
	"context"

	"dossier/llm"
	"dossier/llm/internal/upstream"
)

// Embed implements llm.Embedder.
func (c *Client) Embed(ctx context.Context, model string, texts []string) (*llm.Embeddings, error) {
	if model == "" {
		model = c.cfg.Model
	}
	if len(texts) == 0 {
		return &llm.Embeddings{Model: model}, nil
	}
	body := upstream.Body()
	*body = upstream.AppendEmbed(*body, model, texts)
	call, err := c.embed.Do(ctx, model, body, false)
	if err != nil {
		return nil, err
	}
	return call.Embeddings(len(texts))
}

// Models lists the names of the models that the endpoint offers.
func (c *Client) Models(ctx context.Context) ([]string, error) {
	call, err := c.modelList.Do(ctx, "", nil, false)
	if err != nil {
		return nil, err
	}
	return call.Models()
}
