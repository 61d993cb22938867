package openai

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"dossier"
	"dossier/internal/server"
	"dossier/internal/server/internal/completion"
)

// mostInputs is how many texts one request may have.
const mostInputs = 2048

// embeddingRequest is what vectors are asked with. The model is the configured
// one, whatever is named: clients have to name some.
type embeddingRequest struct {
	Model    string `json:"model,omitempty"`
	Input    inputs `json:"input"`
	Encoding string `json:"encoding_format,omitempty"`
}

// inputs are one text or several.
type inputs []string

// UnmarshalJSON reads either form.
func (in *inputs) UnmarshalJSON(raw []byte) error {
	if bytes.HasPrefix(bytes.TrimSpace(raw), []byte("[")) {
		return json.Unmarshal(raw, (*[]string)(in))
	}
	*in = make(inputs, 1)
	return json.Unmarshal(raw, &(*in)[0])
}

// Form implements server.Formed.
func (inputs) Form() *jsonschema.Schema {
	return &jsonschema.Schema{Types: []string{"string", "array"}, Items: &jsonschema.Schema{Type: "string"}}
}

type embeddingList struct {
	Object string           `json:"object"`
	Data   []embeddingBody  `json:"data"`
	Model  string           `json:"model"`
	Usage  completion.Usage `json:"usage"`
}

// embeddingBody is a vector: of numbers, or of their bytes in base64.
type embeddingBody struct {
	Object    string `json:"object"`
	Index     int    `json:"index"`
	Embedding any    `json:"embedding"`
}

func (a *api) embeddings(w http.ResponseWriter, r *http.Request) error {
	var req embeddingRequest
	if err := server.Read(w, r, &req); err != nil {
		return err
	}
	switch {
	case len(req.Input) == 0 || len(req.Input) > mostInputs:
		return &dossier.UsageError{Message: fmt.Sprintf("input has %d texts: 1 to %d are taken at once", len(req.Input), mostInputs)}
	case req.Encoding != "" && req.Encoding != "float" && req.Encoding != "base64":
		return &dossier.UsageError{Message: fmt.Sprintf("encoding_format %q is not known: it is float or base64", req.Encoding)}
	}
	for i, text := range req.Input {
		if strings.TrimSpace(text) == "" {
			return &dossier.UsageError{Message: fmt.Sprintf("text %d of input is empty", i+1)}
		}
	}
	made, err := a.Embed(r.Context(), req.Input)
	if err != nil {
		return err
	}
	out := embeddingList{Object: "list", Model: made.Model, Usage: completion.Usage{Prompt: made.Usage.Input, Total: made.Usage.Input}, Data: []embeddingBody{}}
	for i, vector := range made.Vectors {
		body := embeddingBody{Object: "embedding", Index: i, Embedding: vector}
		if req.Encoding == "base64" {
			var raw bytes.Buffer
			_ = binary.Write(&raw, binary.LittleEndian, vector) // a buffer takes everything
			body.Embedding = base64.StdEncoding.EncodeToString(raw.Bytes())
		}
		out.Data = append(out.Data, body)
	}
	return server.Reply(w, http.StatusOK, out)
}
