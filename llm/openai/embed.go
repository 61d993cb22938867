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
	b := append(*body, `{"model":`...)
	b = llm.AppendString(b, model)
	b = append(b, `,"input":[`...)
	for i, t := range texts {
		if i > 0 {
			b = append(b, ',')
		}
		b = llm.AppendString(b, t)
	}
	*body = append(b, "]}"...)
	call, err := c.embed.Do(ctx, model, body, false)
	if err != nil {
		return nil, err
	}
	defer call.Close()
	raw, err := call.Lines().Rest()
	if err != nil {
		return nil, call.ReadError(err)
	}
	out, err := upstream.ParseEmbeddings(raw, len(texts))
	if err != nil {
		return nil, call.Error(llm.ErrMalformed, err.Error())
	}
	if out.Model == "" {
		out.Model = model
	}
	return out, nil
}

// Models lists the names of the models that the endpoint offers.
func (c *Client) Models(ctx context.Context) ([]string, error) {
	call, err := c.modelList.Do(ctx, "", nil, false)
	if err != nil {
		return nil, err
	}
	defer call.Close()
	raw, err := call.Lines().Rest()
	if err != nil {
		return nil, call.ReadError(err)
	}
	names, err := upstream.ParseModels(raw)
	if err != nil {
		return nil, call.Error(llm.ErrMalformed, err.Error())
	}
	return names, nil
}
