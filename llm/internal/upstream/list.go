package upstream

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"dossier/llm"
)

// AppendEmbed appends the request for the vectors of texts.
func AppendEmbed(b []byte, model string, texts []string) []byte {
	b = append(b, `{"model":`...)
	b = llm.AppendString(b, model)
	b = append(b, `,"input":[`...)
	for i, t := range texts {
		if i > 0 {
			b = append(b, ',')
		}
		b = llm.AppendString(b, t)
	}
	return append(b, "]}"...)
}

// Embeddings reads the vectors of n texts and closes the call.
func (c *Call) Embeddings(n int) (*llm.Embeddings, error) {
	defer c.Close()
	raw, err := c.lines.Rest()
	if err != nil {
		return nil, c.ReadError(err)
	}
	out, err := parseEmbeddings(raw, n)
	if err != nil {
		return nil, c.Error(llm.ErrMalformed, err.Error())
	}
	if out.Model == "" {
		out.Model = c.model
	}
	return out, nil
}

// Models reads a list of models and closes the call.
func (c *Call) Models() ([]string, error) {
	defer c.Close()
	raw, err := c.lines.Rest()
	if err != nil {
		return nil, c.ReadError(err)
	}
	names, err := parseModels(raw)
	if err != nil {
		return nil, c.Error(llm.ErrMalformed, err.Error())
	}
	return names, nil
}

// parseEmbeddings reads the reply of an embeddings endpoint, with vectors as
// numbers or in base64, and checks that each of the n texts has one.
func parseEmbeddings(raw []byte, n int) (*llm.Embeddings, error) {
	var w struct {
		Model string `json:"model"`
		Data  []struct {
			Index     *int            `json:"index"`
			Embedding json.RawMessage `json:"embedding"`
			Usage     struct {
				Input int `json:"prompt_tokens"`
			} `json:"usage"` // GigaChat counts per text
		} `json:"data"`
		Usage struct {
			Input int `json:"prompt_tokens"`
		} `json:"usage"`
	}
	if err := json.Unmarshal(raw, &w); err != nil {
		return nil, fmt.Errorf("the reply is not the JSON of embeddings: %w", err)
	}
	if len(w.Data) != n {
		return nil, fmt.Errorf("%d texts were sent and %d vectors came back", n, len(w.Data))
	}
	out := &llm.Embeddings{Model: w.Model, Vectors: make([][]float32, n), Usage: llm.Usage{Input: w.Usage.Input}}
	for i, d := range w.Data {
		at := i
		if d.Index != nil {
			at = *d.Index
		}
		if at < 0 || at >= n || out.Vectors[at] != nil {
			return nil, fmt.Errorf("vector %d has the index %d, which is out of range or taken", i, at)
		}
		v, err := vector(d.Embedding)
		if err != nil {
			return nil, fmt.Errorf("vector %d: %w", at, err)
		}
		if i > 0 && len(v) != len(out.Vectors[first(out.Vectors)]) {
			return nil, fmt.Errorf("vector %d has %d dimensions, others have another number", at, len(v))
		}
		out.Vectors[at] = v
		out.Usage.Input += d.Usage.Input
	}
	return out, nil
}

func first(vectors [][]float32) int {
	for i, v := range vectors {
		if v != nil {
			return i
		}
	}
	return 0
}

func vector(raw json.RawMessage) ([]float32, error) {
	if len(raw) > 0 && raw[0] == '"' {
		var b []byte
		if err := json.Unmarshal(raw, &b); err != nil || len(b)%4 != 0 {
			return nil, errors.New("not the base64 of 32-bit floats")
		}
		v := make([]float32, len(b)/4)
		for i := range v {
			v[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
		}
		return checked(v)
	}
	var v []float32
	if err := json.Unmarshal(raw, &v); err != nil {
		return nil, err
	}
	return checked(v)
}

func checked(v []float32) ([]float32, error) {
	if len(v) == 0 {
		return nil, errors.New("empty")
	}
	for _, x := range v {
		if x != x || math.IsInf(float64(x), 0) {
			return nil, errors.New("not a finite number in it")
		}
	}
	return v, nil
}

// parseModels reads the reply of a models endpoint.
func parseModels(raw []byte) ([]string, error) {
	type item struct {
		ID   string `json:"id"`
		Name string `json:"name"`
	}
	var w struct {
		Data   []item `json:"data"`
		Models []item `json:"models"`
	}
	var list []item
	if json.Unmarshal(raw, &w) == nil && (w.Data != nil || w.Models != nil) {
		list = slices.Concat(w.Data, w.Models)
	} else if json.Unmarshal(raw, &list) != nil {
		return nil, errors.New("the reply is not a list of models; check the base URL")
	}
	names := make([]string, 0, len(list))
	seen := map[string]bool{}
	for _, it := range list {
		name := it.ID
		if name == "" {
			name = it.Name
		}
		if name != "" && !seen[name] {
			seen[name] = true
			names = append(names, name)
		}
	}
	return names, nil
}
