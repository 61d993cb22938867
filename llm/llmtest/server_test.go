package llmtest

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"dossier/llm"
)

// answer is what came back over the wire.
type answer struct {
	status int
	header http.Header
	body   string
	err    error // of reading the body
}

func post(t *testing.T, s *Server, path, body string, header ...string) answer {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL()+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return answer{resp.StatusCode, resp.Header, string(b), err}
}

const chatPath = "/v1/chat/completions"

// chatBody asks a question; more is added to the object.
func chatBody(question, more string) string {
	return fmt.Sprintf(`{"model":"test","messages":[{"role":"user","content":%q}]%s}`, question, more)
}

// said is the text of a whole OpenAI reply.
func (a answer) said(t *testing.T) string {
	t.Helper()
	var r struct {
		Choices []struct {
			Message struct{ Content string }
		}
	}
	if err := json.Unmarshal([]byte(a.body), &r); err != nil || len(r.Choices) != 1 {
		t.Fatalf("status %d, body %s (%v)", a.status, a.body, err)
	}
	return r.Choices[0].Message.Content
}

func TestRulesMatch(t *testing.T) {
	s := Start(t, Script{Rules: []Rule{
		{Role: "planner", Reply: Say("a plan")},
		{Schema: "note", Reply: JSON(map[string]any{"text": "noted ${question}"})},
		{Model: "small", Reply: Say("small talk")},
		{Contains: "weather", Turn: 2, Reply: Say("again?")},
		{Contains: "weather", First: 3, Reply: Say("rain, turn ${turn}")},
		{Contains: "call", Reply: Do(func(q *Request) *Reply { return Say("called for " + q.Question()) })},
		{Contains: "default", Reply: Do(func(*Request) *Reply { return nil })},
	}})
	format := `,"response_format":{"type":"json_schema","json_schema":{"name":"note","schema":{"type":"object"}}}`
	for i, c := range []struct{ body, role, want string }{
		{chatBody("hello", ""), "planner", "a plan"},
		{chatBody("hello", format), "", `{"text":"noted hello"}`},
		{chatBody("hello", `,"model":"small"`), "", "small talk"},
		{chatBody("hello", `,"model":"planner"`), "", "a plan"},
		{chatBody("the weather", ""), "", "rain, turn 1"},
		{chatBody("the weather", ""), "", "again?"},
		{chatBody("the weather", ""), "", "rain, turn 3"},
		{chatBody("the weather", ""), "", wordsFor("the weather").answer},
		{chatBody("call", ""), "", "called for call"},
		{chatBody("default", ""), "", wordsFor("default").answer},
	} {
		if got := post(t, s, chatPath, c.body, RoleHeader, c.role).said(t); got != c.want {
			t.Errorf("call %d: %q, want %q", i, got, c.want)
		}
	}
	if got := s.CallsFor("planner", ""); len(got) != 2 {
		t.Errorf("%d calls for planner", len(got))
	}
	if got := s.CallsFor("", "note"); len(got) != 1 || got[0].Number != 2 {
		t.Errorf("calls for note: %+v", got)
	}
}

func TestForcedToolIsASchema(t *testing.T) {
	s := Start(t, Script{Rules: []Rule{{Schema: "plan", Reply: JSON(map[string]any{"steps": []int{1, 2}})}}})
	body := chatBody("hello", `,"tools":[{"type":"function","function":{"name":"other"}},{"type":"function","function":{"name":"plan"}}],
		"tool_choice":{"type":"function","function":{"name":"plan"}}`)
	a := post(t, s, chatPath, body)
	if !strings.Contains(a.body, `"name":"plan","arguments":"{\"steps\":[1,2]}"`) || !strings.Contains(a.body, `"finish_reason":"tool_calls"`) {
		t.Errorf("reply %s", a.body)
	}
}

func TestRequiredToolGetsValidArguments(t *testing.T) {
	s := Start(t, Script{})
	body := chatBody("find it", `,"tools":[{"type":"function","function":{"name":"search","parameters":
		{"type":"object","properties":{"query":{"type":"string"},"n":{"type":"integer","minimum":3}},"required":["query","n"]}}}],"tool_choice":"required"`)
	a := post(t, s, chatPath, body)
	if !strings.Contains(a.body, `"arguments":"{\"query\":\"find it\",\"n\":3}"`) {
		t.Errorf("reply %s", a.body)
	}
}

func TestSameRequestSameReply(t *testing.T) {
	script := Script{Seed: 7, Rules: []Rule{{Fault: &Fault{Kind: Status, Probability: 0.5}}}}
	outcomes := func(parallel bool) []string {
		s := Start(t, script)
		out := make([]string, 40)
		var wg sync.WaitGroup
		for i := range out {
			run := func() {
				a := post(t, s, chatPath, chatBody(fmt.Sprint("question ", i), ""))
				out[i] = fmt.Sprint(a.status, a.body)
			}
			if parallel {
				wg.Go(run)
			} else {
				run()
			}
		}
		wg.Wait()
		return out
	}
	a, b := outcomes(false), outcomes(true)
	if !slices.Equal(a, b) {
		t.Error("the order of calls changed replies or drawn faults")
	}
	failed := 0
	for _, o := range a {
		if strings.HasPrefix(o, "500") {
			failed++
		}
	}
	if failed < 8 || failed > 32 {
		t.Errorf("%d of 40 failed at a probability of one half", failed)
	}
}

func TestRepeatsAreDrawnAnew(t *testing.T) {
	s := Start(t, Script{Rules: []Rule{{Fault: &Fault{Kind: Status, Probability: 0.5}}}})
	seen := map[int]bool{}
	for range 40 {
		seen[post(t, s, chatPath, chatBody("same", "")).status] = true
	}
	if !seen[200] || !seen[500] {
		t.Errorf("statuses %v, want both", seen)
	}
	calls := s.Calls()
	if calls[39].Repeat != 40 || calls[39].Hash != calls[0].Hash || calls[39].Number != 40 {
		t.Errorf("last call %+v", calls[39])
	}
}

func TestCallLogIsWrittenBeforeTheReply(t *testing.T) {
	var log bytes.Buffer
	s := New(Script{Rules: []Rule{{Name: "limit", Turn: 2, Fault: &Fault{Kind: RateLimit}}}})
	s.LogTo(&log)
	w := &watcher{log: &log}
	for range 2 {
		r := request(t, chatBody("hi", ""))
		r.Header.Set(RoleHeader, "writer")
		w.want++
		s.ServeHTTP(w, r)
	}
	if w.early > 0 {
		t.Errorf("%d replies were sent before their call was logged", w.early)
	}
	var last Call
	lines := strings.Split(strings.TrimSpace(log.String()), "\n")
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &last); err != nil {
		t.Fatal(err)
	}
	if len(lines) != 2 || last.Role != "writer" || last.Repeat != 2 || last.Status != 429 || last.Fault != RateLimit || last.Rule != "limit" || last.Time.IsZero() {
		t.Errorf("log %s", log.String())
	}
}

// request is a chat call that doesn't travel.
func request(t *testing.T, body string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, chatPath, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// watcher is a ResponseWriter that looks at the log when a reply begins.
type watcher struct {
	log         *bytes.Buffer
	want, early int
}

func (w *watcher) Header() http.Header { return http.Header{} }
func (w *watcher) WriteHeader(int)     {}
func (w *watcher) Write(b []byte) (int, error) {
	if w.log != nil && bytes.Count(w.log.Bytes(), []byte("\n")) < w.want {
		w.early++
	}
	return len(b), nil
}

func TestFailedLogFailsTheCall(t *testing.T) {
	s := Start(t, Script{})
	r, w := io.Pipe()
	r.Close()
	s.LogTo(w)
	if a := post(t, s, chatPath, chatBody("hi", "")); a.status != 500 || !strings.Contains(a.body, "call log") {
		t.Errorf("status %d, %s", a.status, a.body)
	}
}

func TestKeepBoundsMemory(t *testing.T) {
	s := Start(t, Script{Keep: 3})
	for range 20 {
		post(t, s, chatPath, chatBody("hi", ""))
	}
	calls := s.Calls()
	if len(calls) < 3 || len(calls) > 6 || calls[len(calls)-1].Number != 20 {
		t.Errorf("%d calls kept, the last %d", len(calls), calls[len(calls)-1].Number)
	}
}

func TestMaxTokensAndStop(t *testing.T) {
	s := Start(t, Script{Rules: []Rule{{Reply: Say("one two three four five six seven")}}})
	a := post(t, s, chatPath, chatBody("count", `,"max_tokens":3`))
	if a.said(t) != "one two thre" || !strings.Contains(a.body, `"finish_reason":"length"`) {
		t.Errorf("reply %s", a.body)
	}
	if got := post(t, s, chatPath, chatBody("count", `,"stop":["four"]`)).said(t); got != "one two three " {
		t.Errorf("with a stop word: %q", got)
	}
}

func TestBadRequests(t *testing.T) {
	s := Start(t, Script{Context: 1000, Key: "right"})
	for name, c := range map[string]struct {
		body   string
		status int
		want   string
	}{
		"no JSON":         {`{"model"`, 400, "could not be read"},
		"no messages":     {`{"model":"test","messages":[]}`, 400, "at least one message"},
		"role":            {`{"model":"test","messages":[{"role":"robot"}]}`, 400, "unknown role"},
		"no model":        {`{"messages":[{"role":"user","content":"x"}]}`, 404, "does not exist"},
		"no such tool":    {chatBody("x", `,"tool_choice":{"type":"function","function":{"name":"gone"}}`), 400, "there is no tool"},
		"required":        {chatBody("x", `,"tool_choice":"required"`), 400, "there are no tools"},
		"format":          {chatBody("x", `,"response_format":{"type":"xml"}`), 400, "unknown type"},
		"orphaned result": {`{"model":"test","messages":[{"role":"tool","tool_call_id":"a","content":"x"}]}`, 400, "no preceding tool call"},
		"too long":        {chatBody(strings.Repeat("long ", 2000), ""), 400, "maximum context length is 1000"},
	} {
		a := post(t, s, chatPath, c.body, "Authorization", "Bearer right")
		if a.status != c.status || !strings.Contains(a.body, c.want) {
			t.Errorf("%s: status %d, %s", name, a.status, a.body)
		}
	}
	if a := post(t, s, chatPath, chatBody("x", ""), "Authorization", "Bearer wrong"); a.status != 401 {
		t.Errorf("a wrong key got %d", a.status)
	}
}

func TestEmbeddings(t *testing.T) {
	s := Start(t, Script{Dimensions: 8, Rules: []Rule{{Endpoint: "embeddings", Contains: "limit", Fault: &Fault{Kind: RateLimit}}}})
	var r struct {
		Data []struct{ Embedding string }
	}
	a := post(t, s, "/v1/embeddings", `{"model":"e","input":"狐狸 fox","encoding_format":"base64"}`)
	if err := json.Unmarshal([]byte(a.body), &r); err != nil || len(r.Data) != 1 {
		t.Fatalf("%s: %v", a.body, err)
	}
	raw, err := base64.StdEncoding.DecodeString(r.Data[0].Embedding)
	if err != nil || len(raw) != 32 {
		t.Fatalf("%d bytes, %v", len(raw), err)
	}
	for i, want := range Vector("狐狸 fox", 8) {
		if got := math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:])); got != want {
			t.Errorf("component %d is %v, want %v", i, got, want)
		}
	}
	for _, input := range []string{`[1,2,3]`, `[[1,2],[3]]`, `["a",""]`} {
		if a := post(t, s, "/v1/embeddings", `{"model":"e","input":`+input+`}`); a.status != 200 {
			t.Errorf("input %s: %d %s", input, a.status, a.body)
		}
	}
	if a := post(t, s, "/v1/embeddings", `{"model":"e","input":"limit"}`); a.status != 429 {
		t.Errorf("the rule gave %d", a.status)
	}
	if a := post(t, s, "/v1/embeddings", `{"model":"e"}`); a.status != 400 {
		t.Errorf("no input gave %d", a.status)
	}
	if got := s.CallsFor("e", "")[0].Endpoint; got != "embeddings" {
		t.Errorf("endpoint %q", got)
	}
}

func TestVectorsOfWords(t *testing.T) {
	cos := func(a, b string) float64 {
		s := 0.0
		v, w := Vector(a, 256), Vector(b, 256)
		for i := range v {
			s += float64(v[i]) * float64(w[i])
		}
		return s
	}
	for _, c := range [][3]string{
		{"красная лиса бежит", "Бежит КРАСНАЯ лиса!", "индекс базы данных"},
		{"исследование рынка", "исследования рынков", "погода завтра"},
		{"人工智能研究", "研究人工智能", "天气很好"},
		{"foxes", "foxes and hares", "sqlite"},
	} {
		if near, far := cos(c[0], c[1]), cos(c[0], c[2]); near < far+0.2 {
			t.Errorf("%q: %.2f to %q, %.2f to %q", c[0], near, c[1], far, c[2])
		}
	}
}

func TestStreamedPiecesAreWholeCharacters(t *testing.T) {
	for _, size := range []int{1, 2, 7, 1000} {
		var all []string
		for s := range split("狐狸 лиса 🦊 fox", size) {
			if n := len([]rune(s)); n > size || strings.ContainsRune(s, '\uFFFD') {
				t.Errorf("size %d: piece %q", size, s)
			}
			all = append(all, s)
		}
		if strings.Join(all, "") != "狐狸 лиса 🦊 fox" {
			t.Errorf("size %d: pieces %q", size, all)
		}
	}
}

func TestGoneWhenTheClientLeaves(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := Start(t, Script{Rules: []Rule{{Fault: &Fault{Kind: Slow}, Reply: Do(func(*Request) *Reply { cancel(); return nil })}}})
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL()+chatPath, strings.NewReader(chatBody("hi", "")))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := http.DefaultClient.Do(req); err == nil {
		t.Fatal("a reply came after all")
	}
	if c := <-s.Gone(); c.Number != 1 {
		t.Errorf("gone: %+v", c)
	}
}

func BenchmarkServer(b *testing.B) {
	for _, stream := range []string{"", `,"stream":true`} {
		b.Run(map[bool]string{true: "whole", false: "stream"}[stream == ""], func(b *testing.B) {
			s := Start(b, Script{Keep: 100})
			body := chatBody("what is a fox and where does it live?", stream)
			c := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
			b.ReportAllocs()
			b.SetParallelism(16)
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					resp, err := c.Post(s.URL()+chatPath, "application/json", strings.NewReader(body))
					if err != nil {
						b.Error(err)
						return
					}
					io.Copy(io.Discard, resp.Body)
					resp.Body.Close()
				}
			})
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "req/s")
		})
	}
}

func FuzzRequests(f *testing.F) {
	f.Add(chatBody("hi", `,"stream":true,"tools":[{"function":{"name":"x"}}],"tool_choice":"required"`))
	f.Add(`{"model":"m","max_tokens":5,"system":[{"type":"text","text":"s"}],"messages":[{"role":"user","content":[{"type":"text","text":"x"}]}]}`)
	f.Add(`{"model":"m","messages":[{"role":"assistant","function_call":{"name":"f","arguments":{}}},{"role":"function","content":"{}"}]}`)
	f.Fuzz(func(t *testing.T, body string) {
		for _, d := range []dialect{openAI{}, anthropicDialect{}, gigaChat{}} {
			q := &Request{Dialect: d.name(), Hash: "0123456789abcdef"}
			if d.parse([]byte(body), q) != nil || checkConversation(q.Messages) != nil {
				continue
			}
			o := makeOutput(q, nil)
			if !json.Valid(d.whole(o)) {
				t.Errorf("%s: a reply that is no JSON", d.name())
			}
			for fr := range d.frames(o, 16) {
				if bytes.ContainsRune(fr.data, '\n') {
					t.Errorf("%s: a frame of two lines", d.name())
				}
			}
			if o.finish == llm.FinishToolCalls && len(o.calls) == 0 {
				t.Errorf("%s: calls announced and none made", d.name())
			}
		}
	})
}
