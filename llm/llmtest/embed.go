package llmtest

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"strings"
	"unicode"

	"dossier/llm"
)

func (s *Server) embeddings(d embedder) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p := s.receive(w, r, d, d.parseEmbeddings)
		if p == nil {
			return
		}
		defer s.finish(r.Context(), p)
		if s.wait(r.Context(), p.latency) != nil {
			return
		}
		if p.refusal != nil {
			p.refusal.write(w, d)
			return
		}
		n := p.req.dimensions
		if n <= 0 {
			n = s.script.Dimensions
		}
		if n <= 0 {
			n = 256
		}
		var vectors [][]float32
		if !p.fault.is(Empty) {
			for i := range p.req.Messages {
				vectors = append(vectors, Vector(p.req.Messages[i].Content, n))
			}
		}
		t := transfer{Server: s, w: w, ctx: r.Context(), fault: p.fault}
		t.whole(d.embeddings(p.req, vectors))
	})
}

// Vector is the unit vector that the server gives for a text: the sum of
// directions hashed from its words (and the first letters of each, so that
// inflected forms are close) and from its Han characters and their pairs.
func Vector(text string, dimensions int) []float32 {
	v := make([]float64, dimensions)
	add := func(feature string, weight float64) {
		h := hashOf(feature)
		if h&1 == 0 {
			weight = -weight
		}
		v[(h>>1)%uint64(dimensions)] += weight
	}
	for _, f := range features(text) {
		add(f, 1)
		if r := []rune(f); len(r) > 4 {
			add("prefix "+string(r[:4]), 1)
		}
	}
	var sum float64
	for _, x := range v {
		sum += x * x
	}
	out := make([]float32, dimensions)
	if sum == 0 {
		out[0] = 1
		return out
	}
	for i, x := range v {
		out[i] = float32(x / math.Sqrt(sum))
	}
	return out
}

// features are the lower-case words, and Han characters one by one and in
// pairs.
func features(text string) []string {
	var out []string
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	for _, w := range words {
		var plain []rune
		flush := func() {
			if len(plain) > 0 {
				out, plain = append(out, string(plain)), nil
			}
		}
		var before rune
		for _, r := range w {
			if !unicode.Is(unicode.Han, r) {
				plain, before = append(plain, r), 0
				continue
			}
			flush()
			out = append(out, string(r))
			if before != 0 {
				out = append(out, string([]rune{before, r}))
			}
			before = r
		}
		flush()
	}
	return out
}

// texts is a string, a list of strings, or one or more lists of token ids.
type texts []string

func (t *texts) UnmarshalJSON(b []byte) error {
	var one string
	if json.Unmarshal(b, &one) == nil {
		*t = texts{one}
		return nil
	}
	var items []json.RawMessage
	if err := json.Unmarshal(b, &items); err != nil {
		return err
	}
	ids := func(b json.RawMessage) bool { return len(b) > 0 && b[0] != '"' && b[0] != '[' }
	if len(items) > 0 && ids(items[0]) {
		*t = texts{string(b)}
		return nil
	}
	for _, item := range items {
		var s string
		if json.Unmarshal(item, &s) != nil {
			s = string(item)
		}
		*t = append(*t, s)
	}
	return nil
}

func (openAI) parseEmbeddings(body []byte, q *Request) error {
	var r struct {
		Model          string `json:"model"`
		Input          texts  `json:"input"`
		Dimensions     int    `json:"dimensions"`
		EncodingFormat string `json:"encoding_format"`
	}
	if err := json.Unmarshal(body, &r); err != nil {
		return err
	}
	if len(r.Input) == 0 {
		return errors.New("input is missing")
	}
	if r.Dimensions < 0 || r.Dimensions > 8192 {
		return errors.New("dimensions are not between 1 and 8192")
	}
	q.Endpoint, q.Model = "embeddings", r.Model
	q.dimensions, q.base64 = r.Dimensions, r.EncodingFormat == "base64"
	for _, s := range r.Input {
		q.Messages = append(q.Messages, llm.Message{Role: llm.RoleUser, Content: s})
	}
	return nil
}

func (openAI) embeddings(q *Request, vectors [][]float32) []byte {
	type item struct {
		Object    string `json:"object"`
		Index     int    `json:"index"`
		Embedding any    `json:"embedding"`
	}
	reply := struct {
		Object string         `json:"object"`
		Data   []item         `json:"data"`
		Model  string         `json:"model"`
		Usage  map[string]int `json:"usage"`
	}{Object: "list", Data: []item{}, Model: q.Model}
	n := 0
	for i, v := range vectors {
		var e any = v
		if q.base64 {
			b := make([]byte, 0, 4*len(v))
			for _, x := range v {
				b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
			}
			e = base64.StdEncoding.EncodeToString(b)
		}
		reply.Data = append(reply.Data, item{"embedding", i, e})
		n += tokens(q.Messages[i].Content)
	}
	reply.Usage = map[string]int{"prompt_tokens": n, "total_tokens": n}
	return encode(reply)
}
