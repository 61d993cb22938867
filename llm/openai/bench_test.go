package openai

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"dossier/egress"
	"dossier/llm"
	"dossier/llm/internal/completion"
	"dossier/llm/internal/upstream"
)

const benchChunks = 256

// benchStream is a stream as OpenAI's servers write it.
func benchStream(vary bool) string {
	var b strings.Builder
	for i := range benchChunks {
		created := 1700000000
		if vary {
			created += i
		}
		fmt.Fprintf(&b, `data: {"id":"chatcmpl-AbCdEfGhIjKlMnOpQrStUvWx","object":"chat.completion.chunk","created":%d,"model":"gpt-4o-mini-2024-07-18","service_tier":"default","system_fingerprint":"fp_1234567890","choices":[{"index":0,"delta":{"content":" word%d"},"logprobs":null,"finish_reason":null}]}`+"\n\n", created, i)
	}
	return b.String() + end("stop") + done
}

// memory answers from memory, so that only the client's own work is measured.
type memory string

func (m memory) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(string(m))), Request: r}, nil
}

type baselineReply struct {
	Choices []struct {
		Delta struct {
			Content   *string `json:"content"`
			ToolCalls []struct {
				ID       string `json:"id"`
				Function struct{ Name, Arguments string }
			} `json:"tool_calls"`
		} `json:"delta"`
	} `json:"choices"`
}

// BenchmarkStreamChunk is the work per streamed event: "same" where only the
// content changes, "varying" where other fields change too; "encoding/json" is
// a bare loop that decodes each event into a struct.
func BenchmarkStreamChunk(b *testing.B) {
	perChunk := func(b *testing.B) {
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchChunks, "ns/chunk")
	}
	run := func(b *testing.B, body string) {
		target, err := upstream.NewTarget(&http.Client{Transport: memory(body)}, http.MethodPost, "http://localhost", "", http.Header{}, upstream.Limits{FirstByte: 1e9, Idle: 1e9})
		if err != nil {
			b.Fatal(err)
		}
		b.ReportAllocs()
		n := 0
		for b.Loop() {
			call, err := target.Do(b.Context(), "m", nil, true)
			if err != nil {
				b.Fatal(err)
			}
			if _, err := completion.ReadStream(call, func(c llm.Chunk) { n += len(c.Text) }); err != nil {
				b.Fatal(err)
			}
			call.Close()
		}
		perChunk(b)
	}
	b.Run("same", func(b *testing.B) { run(b, benchStream(false)) })
	b.Run("varying", func(b *testing.B) { run(b, benchStream(true)) })
	b.Run("encoding/json", func(b *testing.B) {
		body := benchStream(false)
		b.ReportAllocs()
		br := bufio.NewReaderSize(nil, 4096)
		for b.Loop() {
			br.Reset(strings.NewReader(body))
			var sb strings.Builder
			for {
				line, err := br.ReadSlice('\n')
				if err != nil {
					b.Fatal(err)
				}
				data, ok := bytes.CutPrefix(line, []byte("data: "))
				if !ok {
					continue
				}
				if data[0] == '[' {
					break
				}
				var r baselineReply
				if err := json.Unmarshal(data, &r); err != nil {
					b.Fatal(err)
				}
				for _, c := range r.Choices {
					if c.Delta.Content != nil {
						sb.WriteString(*c.Delta.Content)
					}
				}
			}
		}
		perChunk(b)
	})
}

// BenchmarkCall is a whole call over a local connection, both ends included,
// beside a bare loop over net/http and encoding/json that does the same.
func BenchmarkCall(b *testing.B) {
	whole := `{"id":"1","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"` + strings.Repeat("word ", 40) + `","refusal":null},"logprobs":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":12,"total_tokens":21}}`
	stream := benchStream(false)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		if bytes.Contains(b, []byte(`"stream":true`)) {
			io.WriteString(w, stream)
			return
		}
		io.WriteString(w, whole)
	}))
	defer s.Close()
	hc, err := egress.Plain(egress.PlainConfig{})
	if err != nil {
		b.Fatal(err)
	}
	c, err := New(Config{BaseURL: s.URL, Key: testKey, Model: "m", HTTP: hc})
	if err != nil {
		b.Fatal(err)
	}
	req := &llm.Request{Messages: []llm.Message{{Role: llm.RoleSystem, Content: strings.Repeat("Be brief. ", 50)}, {Role: llm.RoleUser, Content: "What is 2+2?"}}}
	ours := func(sink func(llm.Chunk)) func(*testing.B) {
		return func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := c.Stream(b.Context(), req, sink); err != nil {
					b.Fatal(err)
				}
			}
		}
	}
	bare := func(stream bool) func(*testing.B) {
		return func(b *testing.B) {
			req0, _ := http.NewRequest(http.MethodPost, s.URL+"/chat/completions", nil)
			req0.Header = http.Header{"Content-Type": {"application/json"}, "Authorization": {"Bearer " + testKey}}
			body, _ := appendRequest(nil, "m", quirks{}, req, stream)
			var buf bytes.Buffer
			br := bufio.NewReaderSize(nil, 4096)
			b.ReportAllocs()
			for b.Loop() {
				r := req0.Clone(b.Context())
				r.Body = io.NopCloser(bytes.NewReader(body))
				r.ContentLength = int64(len(body))
				resp, err := hc.Do(r)
				if err != nil {
					b.Fatal(err)
				}
				if !stream {
					buf.Reset()
					buf.ReadFrom(resp.Body)
					var v struct {
						Choices []struct {
							Message struct {
								Content   *string
								ToolCalls []struct{ ID string } `json:"tool_calls"`
							}
						}
					}
					if err := json.Unmarshal(buf.Bytes(), &v); err != nil {
						b.Fatal(err)
					}
				} else {
					br.Reset(resp.Body)
					var sb strings.Builder
					for {
						line, err := br.ReadSlice('\n')
						if err != nil {
							b.Fatal(err)
						}
						data, ok := bytes.CutPrefix(line, []byte("data: "))
						if !ok {
							continue
						}
						if data[0] == '[' {
							io.Copy(io.Discard, br)
							break
						}
						var v baselineReply
						if err := json.Unmarshal(data, &v); err != nil {
							b.Fatal(err)
						}
						if c := v.Choices[0].Delta.Content; c != nil {
							sb.WriteString(*c)
						}
					}
				}
				resp.Body.Close()
			}
		}
	}
	b.Run("whole", ours(nil))
	b.Run("whole/bare", bare(false))
	b.Run("stream", ours(func(llm.Chunk) {}))
	b.Run("stream/bare", bare(true))
}
