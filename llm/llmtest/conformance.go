package llmtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"dossier/llm"
)

// Key is the secret that a provider under test has to be given. No error may
// show it, even where the service repeats it.
const Key = "sk-llmtest-4f2e9b7c1d"

// Patience is how long a provider under test has to wait for the first byte,
// for each next one, and for a whole reply: a moment in the cases where the
// server falls silent, a minute in all others, so that a slow machine changes
// no result.
func (s *Server) Patience() time.Duration { return s.patience }

// Run checks a provider against the contract of llm.Model. newModel makes a
// model that calls the server (see [Server.URL]) with the key [Key], with
// [Server.Patience] for its time limits, and without retries of its own.
func Run(t *testing.T, newModel func(t *testing.T, s *Server) llm.Model) {
	s := suite{newModel}
	for _, c := range []struct {
		name string
		run  func(*testing.T)
	}{
		{"Reply", s.reply},
		{"NilSink", s.nilSink},
		{"Reasoning", s.reasoning},
		{"ToolCalls", s.toolCalls},
		{"RepeatedToolIDs", s.repeatedIDs},
		{"ToolResults", s.toolResults},
		{"ToolChoice", s.toolChoice},
		{"Format", s.format},
		{"Strict", s.strict},
		{"Parameters", s.parameters},
		{"Length", s.length},
		{"RequestUnchanged", s.requestUnchanged},
		{"Concurrent", s.concurrent},
		{"Huge", s.huge},
		{"InvalidUTF8", s.invalidUTF8},
		{"Lenient", s.lenient},
		{"Failures", s.failures},
		{"RetryAfter", s.retryAfter},
		{"Unsupported", s.unsupported},
		{"Unreachable", s.unreachable},
		{"Secrets", s.secrets},
		{"Cancel", s.cancel},
		{"Deadline", s.deadline},
	} {
		t.Run(c.name, c.run)
	}
}

type suite struct {
	newModel func(*testing.T, *Server) llm.Model
}

func (s suite) start(t *testing.T, script Script) (*Server, llm.Model) {
	t.Helper()
	srv := Start(t, script)
	if silent(script) {
		srv.patience = 150 * time.Millisecond
	}
	return srv, s.newModel(t, srv)
}

// silent says whether the script waits for the client to lose patience.
func silent(script Script) bool {
	return slices.ContainsFunc(script.Rules, func(r Rule) bool {
		return r.Fault.is(Slow) || r.Fault.is(Stall) || r.Fault.is(KeepAlive) || r.Fault.is(Endless)
	})
}

// Texts of several widths, so that pieces end inside words and beside
// characters of more than one byte.
const longText = "The quick brown fox — “jumps” over the lazy dog.\nСъешь ещё этих мягких французских булок.\n" +
	"天地玄黃,宇宙洪荒。 🦊🧪 <b>&amp;</b> \\ \" \t end of the text."

func ask(text string) *llm.Request {
	return &llm.Request{Model: "test", MaxTokens: 4096, Messages: []llm.Message{{Role: llm.RoleUser, Content: text}}}
}

func tools() []llm.Tool {
	return []llm.Tool{
		{Name: "search", Description: "Searches.", Parameters: json.RawMessage(
			`{"type":"object","properties":{"query":{"type":"string"}},"required":["query"],"additionalProperties":false}`)},
		{Name: "read", Description: "Reads a page.", Parameters: json.RawMessage(
			`{"type":"object","properties":{"url":{"type":"string"}},"required":["url"],"additionalProperties":false}`)},
	}
}

// gathered is what a sink saw.
type gathered struct {
	text, reasoning string
	calls           []llm.ToolCall
	bad             string // the first breach of the contract of chunks
	chunks          int
}

func (g *gathered) sink(c llm.Chunk) {
	g.chunks++
	set := 0
	if c.Text != "" {
		set++
	}
	if c.Reasoning != "" {
		set++
	}
	if c.Tool != nil {
		set++
	}
	if set != 1 && g.bad == "" {
		g.bad = fmt.Sprintf("chunk %d has %d fields set, want exactly 1: %+v", g.chunks, set, c)
	}
	g.text += c.Text
	g.reasoning += c.Reasoning
	if d := c.Tool; d != nil {
		if d.Index == len(g.calls) {
			g.calls = append(g.calls, llm.ToolCall{ID: d.ID, Name: d.Name})
			if (d.ID == "" || d.Name == "") && g.bad == "" {
				g.bad = fmt.Sprintf("the first piece of call %d has no id or name: %+v", d.Index, *d)
			}
		}
		if d.Index < 0 || d.Index >= len(g.calls) {
			g.bad = fmt.Sprintf("piece of call %d while %d calls were begun", d.Index, len(g.calls))
			return
		}
		g.calls[d.Index].Arguments += d.Arguments
	}
}

// same fails the test unless the chunks add up to the response.
func (g *gathered) same(t *testing.T, r *llm.Response) {
	t.Helper()
	if g.bad != "" {
		t.Error(g.bad)
	}
	if g.text != r.Message.Content {
		t.Errorf("chunks say %q, the response %q", shorten(g.text, 200), shorten(r.Message.Content, 200))
	}
	if g.reasoning != r.Message.Reasoning {
		t.Errorf("chunks reason %q, the response %q", g.reasoning, r.Message.Reasoning)
	}
	if len(g.calls)+len(r.Message.ToolCalls) > 0 && !reflect.DeepEqual(g.calls, r.Message.ToolCalls) {
		t.Errorf("chunks call %+v, the response %+v", g.calls, r.Message.ToolCalls)
	}
}

// both makes the call with a sink and without.
func both(t *testing.T, m llm.Model, req *llm.Request, check func(t *testing.T, r *llm.Response)) {
	t.Helper()
	for _, streamed := range []bool{true, false} {
		t.Run(map[bool]string{true: "sink", false: "nil sink"}[streamed], func(t *testing.T) {
			var g gathered
			sink := g.sink
			if !streamed {
				sink = nil
			}
			r, err := m.Stream(t.Context(), req, sink)
			if err != nil {
				t.Fatal(err)
			}
			if streamed {
				g.same(t, r)
			}
			if r.Message.Role != llm.RoleAssistant {
				t.Errorf("role %q, want assistant", r.Message.Role)
			}
			if r.Usage.Input <= 0 || r.Usage.Output <= 0 {
				t.Errorf("usage %+v, want tokens in and out", r.Usage)
			}
			check(t, r)
		})
	}
}

func (s suite) reply(t *testing.T) {
	srv, m := s.start(t, Script{Rules: []Rule{{Reply: Say(longText)}}})
	both(t, m, ask("hello"), func(t *testing.T, r *llm.Response) {
		if r.Message.Content != longText {
			t.Errorf("text %q, want %q", r.Message.Content, longText)
		}
		if r.Finish != llm.FinishStop {
			t.Errorf("finish %q, want stop", r.Finish)
		}
		if r.Model == "" {
			t.Error("the response names no model")
		}
	})
	for _, c := range srv.Calls() {
		if q := c.Request; q.Model != "test" || q.Question() != "hello" {
			t.Errorf("the server was asked %q of model %q", q.Question(), q.Model)
		}
	}
}

func (s suite) nilSink(t *testing.T) {
	_, m := s.start(t, Script{})
	var g gathered
	a, err := m.Stream(t.Context(), ask("same?"), g.sink)
	if err != nil {
		t.Fatal(err)
	}
	b, err := m.Stream(t.Context(), ask("same?"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if a.Message.Content != b.Message.Content || a.Finish != b.Finish {
		t.Errorf("with a sink %+v, without %+v", a, b)
	}
	if g.chunks < 2 {
		t.Errorf("%d chunks, want the pieces as they come", g.chunks)
	}
}

func (s suite) reasoning(t *testing.T) {
	srv, m := s.start(t, Script{Rules: []Rule{{Reply: &Reply{Reasoning: "First this, then that: it follows.", Text: "So."}}}})
	both(t, m, ask("why"), func(t *testing.T, r *llm.Response) {
		want := "First this, then that: it follows."
		if dialectOf(srv) == "gigachat" {
			want = "" // it has no place for reasoning
		}
		if r.Message.Reasoning != want || r.Message.Content != "So." {
			t.Errorf("reasoning %q and text %q", r.Message.Reasoning, r.Message.Content)
		}
	})
}

// checkCalls compares tool calls with those scripted. GigaChat carries only one in
// a message.
func checkCalls(t *testing.T, dialect string, got []llm.ToolCall, want ...llm.ToolCall) {
	t.Helper()
	if dialect == "gigachat" {
		want = want[:1]
	}
	if len(got) != len(want) {
		t.Fatalf("%d calls %+v, want %d", len(got), got, len(want))
	}
	ids := map[string]bool{}
	for i, c := range got {
		if c.ID == "" || ids[c.ID] {
			t.Errorf("call %d has the id %q, want one of its own", i, c.ID)
		}
		ids[c.ID] = true
		if c.Name != want[i].Name || !sameJSON(c.Arguments, want[i].Arguments) {
			t.Errorf("call %d is %s(%s), want %s(%s)", i, c.Name, c.Arguments, want[i].Name, want[i].Arguments)
		}
	}
}

func sameJSON(a, b string) bool {
	var x, y any
	return json.Unmarshal([]byte(a), &x) == nil && json.Unmarshal([]byte(b), &y) == nil && reflect.DeepEqual(x, y)
}

func (s suite) toolCalls(t *testing.T) {
	want := []llm.ToolCall{{Name: "search", Arguments: `{"query":"лиса 🦊 “fox”"}`}, {Name: "read", Arguments: `{"url":"https://example.com/?a=1&b=2"}`}}
	srv, m := s.start(t, Script{Rules: []Rule{{Reply: &Reply{ToolCalls: []ToolCall{
		{Name: want[0].Name, Arguments: want[0].Arguments}, {Name: want[1].Name, Arguments: want[1].Arguments}}}}}})
	req := ask("find the fox")
	req.Tools = tools()
	both(t, m, req, func(t *testing.T, r *llm.Response) {
		if r.Finish != llm.FinishToolCalls {
			t.Errorf("finish %q, want tool_calls", r.Finish)
		}
		checkCalls(t, dialectOf(srv), r.Message.ToolCalls, want...)
	})
	for _, c := range srv.Calls() {
		if got := c.Request.Tools; len(got) != 2 || got[0].Name != "search" || got[0].Description != "Searches." ||
			!sameJSON(string(got[1].Parameters), string(req.Tools[1].Parameters)) {
			t.Errorf("the server was told of tools %+v", got)
		}
	}
}

func (s suite) repeatedIDs(t *testing.T) {
	srv, m := s.start(t, Script{Rules: []Rule{{Fault: &Fault{Kind: RepeatedIDs},
		Reply: &Reply{ToolCalls: []ToolCall{{Name: "search", Arguments: `{"query":"a"}`}, {Name: "search", Arguments: `{"query":"b"}`}}}}}})
	req := ask("find a and b")
	req.Tools = tools()
	both(t, m, req, func(t *testing.T, r *llm.Response) {
		checkCalls(t, dialectOf(srv), r.Message.ToolCalls,
			llm.ToolCall{Name: "search", Arguments: `{"query":"a"}`}, llm.ToolCall{Name: "search", Arguments: `{"query":"b"}`})
	})
}

// toolResults sends what the model said back to it, with the tool's result.
func (s suite) toolResults(t *testing.T) {
	srv, m := s.start(t, Script{Rules: []Rule{
		{ToolResults: new(0), Reply: CallTool("search", `{"query":"fox"}`)},
		{ToolResults: new(1), Reply: Say("Found.")},
	}})
	req := ask("find the fox")
	req.Tools = tools()
	req.Messages = append([]llm.Message{{Role: llm.RoleSystem, Content: "You find things."}}, req.Messages...)
	var g gathered
	r, err := m.Stream(t.Context(), req, g.sink)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Message.ToolCalls) != 1 {
		t.Fatalf("calls %+v, want one", r.Message.ToolCalls)
	}
	req.Messages = append(req.Messages, r.Message,
		llm.Message{Role: llm.RoleTool, Name: "search", ToolCallID: r.Message.ToolCalls[0].ID, Content: "a plain text, not JSON"})
	r, err = m.Stream(t.Context(), req, nil)
	if err != nil {
		t.Fatal(err)
	}
	if r.Message.Content != "Found." || r.Finish != llm.FinishStop {
		t.Errorf("after the result: %q, finish %q", r.Message.Content, r.Finish)
	}
	calls := srv.Calls()
	q := calls[len(calls)-1].Request
	if q.Messages[0].Role != llm.RoleSystem || q.Messages[0].Content != "You find things." {
		t.Errorf("the system message arrived as %+v", q.Messages[0])
	}
	last := q.Messages[len(q.Messages)-1]
	if last.Role != llm.RoleTool || !strings.Contains(last.Content, "a plain text, not JSON") {
		t.Errorf("the tool's result arrived as %+v", last)
	}
}

func (s suite) toolChoice(t *testing.T) {
	for _, choice := range []string{llm.ChooseRequired, "read", llm.ChooseNone, llm.ChooseAuto} {
		t.Run(choice, func(t *testing.T) {
			srv, m := s.start(t, Script{})
			req := ask("go")
			req.Tools, req.ToolChoice = tools(), choice
			r, err := m.Stream(t.Context(), req, nil)
			if err != nil {
				t.Fatal(err)
			}
			want := map[string]string{llm.ChooseRequired: "search", "read": "read"}[choice]
			if choice == llm.ChooseRequired && dialectOf(srv) == "gigachat" {
				return // it has no such choice
			}
			if want == "" {
				if len(r.Message.ToolCalls) != 0 {
					t.Errorf("calls %+v, want none", r.Message.ToolCalls)
				}
			} else if len(r.Message.ToolCalls) != 1 || r.Message.ToolCalls[0].Name != want {
				t.Errorf("calls %+v, want one of %s", r.Message.ToolCalls, want)
			}
		})
	}
}

// format checks that JSON asked for arrives as the text of the message, or
// that the provider says that it can't.
func (s suite) format(t *testing.T) {
	_, m := s.start(t, Script{})
	req := ask("what is new")
	req.Format = &llm.Format{Name: "note", Schema: json.RawMessage(
		`{"type":"object","title":"note","properties":{"answer":{"type":"string"},"kind":{"enum":["fact","guess"]}},"required":["answer","kind"],"additionalProperties":false}`)}
	for _, sink := range []func(llm.Chunk){nil, new(gathered).sink} {
		r, err := m.Stream(t.Context(), req, sink)
		if err != nil {
			var e *llm.Error
			if !errors.As(err, &e) || e.Unsupported != "response_format" {
				t.Errorf("%v, want a reply or an error that names response_format", err)
			}
			continue
		}
		var note struct{ Answer, Kind string }
		if err := json.Unmarshal([]byte(r.Message.Content), &note); err != nil || note.Answer == "" || note.Kind != "fact" {
			t.Errorf("%q is no instance of the schema (%v)", r.Message.Content, err)
		}
	}
}

func (s suite) parameters(t *testing.T) {
	srv, m := s.start(t, Script{})
	req := ask("hello")
	temperature := 0.25
	req.MaxTokens, req.Temperature = 77, &temperature
	if _, err := m.Stream(t.Context(), req, nil); err != nil {
		t.Fatal(err)
	}
	q := srv.Calls()[0].Request
	if q.MaxTokens != 77 || q.Temperature == nil || *q.Temperature != 0.25 {
		t.Errorf("max tokens %d and temperature %v, want 77 and 0.25", q.MaxTokens, q.Temperature)
	}
}

func (s suite) length(t *testing.T) {
	_, m := s.start(t, Script{Rules: []Rule{{Reply: Say(strings.Repeat("word ", 100))}}})
	req := ask("hello")
	req.MaxTokens = 10
	both(t, m, req, func(t *testing.T, r *llm.Response) {
		if r.Finish != llm.FinishLength {
			t.Errorf("finish %q, want length", r.Finish)
		}
	})
}

func (s suite) requestUnchanged(t *testing.T) {
	_, m := s.start(t, Script{})
	request := func() *llm.Request {
		req := ask("hello")
		req.Messages = append(req.Messages,
			llm.Message{Role: llm.RoleAssistant, ToolCalls: []llm.ToolCall{{ID: "a", Name: "search", Arguments: `{"query":"x"}`}}},
			llm.Message{Role: llm.RoleTool, Name: "search", ToolCallID: "a", Content: `{"hits":[]}`})
		req.Tools = tools()
		req.Extra = map[string]any{"seed": 1}
		return req
	}
	req := request()
	if _, err := m.Stream(t.Context(), req, func(llm.Chunk) {}); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(req, request()) {
		t.Errorf("the provider changed the request: %+v", req)
	}
}

func (s suite) concurrent(t *testing.T) {
	_, m := s.start(t, Script{Rules: []Rule{{Reply: Say("echo ${question}")}}})
	var wg sync.WaitGroup
	for i := range 32 {
		wg.Go(func() {
			var g gathered
			question := fmt.Sprintf("question number %d of many", i)
			r, err := m.Stream(t.Context(), ask(question), g.sink)
			if err != nil {
				t.Error(err)
				return
			}
			g.same(t, r)
			if r.Message.Content != "echo "+question {
				t.Errorf("%q got %q", question, r.Message.Content)
			}
		})
	}
	wg.Wait()
}

func (s suite) huge(t *testing.T) {
	const size = 8 << 20
	_, m := s.start(t, Script{Rules: []Rule{{Fault: &Fault{Kind: Huge, Size: size}}}})
	for _, streamed := range []bool{true, false} {
		n := 0
		sink := func(c llm.Chunk) { n += len(c.Text) }
		if !streamed {
			n, sink = size, nil
		}
		r, err := m.Stream(t.Context(), ask("much"), sink)
		if err != nil {
			// A limit on the size of replies is a provider's right.
			if llm.KindOf(err) != llm.ErrMalformed {
				t.Errorf("streamed %v: %v, want the reply or %s", streamed, err, llm.ErrMalformed)
			}
			continue
		}
		if len(r.Message.Content) != size || n != size {
			t.Errorf("streamed %v: %d bytes in the response and %d in chunks, want %d", streamed, len(r.Message.Content), n, size)
		}
	}
}

func (s suite) invalidUTF8(t *testing.T) {
	_, m := s.start(t, Script{Rules: []Rule{{Fault: &Fault{Kind: InvalidUTF8}, Reply: Say("before and after")}}})
	both(t, m, ask("hello"), func(t *testing.T, r *llm.Response) {
		c := r.Message.Content
		if !utf8.ValidString(c) || !strings.HasPrefix(c, "before") || !strings.HasSuffix(c, "after") {
			t.Errorf("text %q, want valid UTF-8 around the bad bytes", c)
		}
	})
}

// lenient checks what a provider may take or refuse, but not pass on short.
func (s suite) lenient(t *testing.T) {
	for name, script := range map[string]Script{
		"content type":     {Rules: []Rule{{Fault: &Fault{Kind: ContentType}}, {Reply: Say(longText)}}},
		"stream ignored":   {Support: Support{Stream: Ignore}, Rules: []Rule{{Reply: Say(longText)}}},
		"no usage":         {Support: Support{Usage: Ignore}, Rules: []Rule{{Reply: Say(longText)}}},
		"pieces with time": {ChunkSize: 100, ChunkDelay: 20 * time.Millisecond, Rules: []Rule{{Reply: Say(longText)}}},
	} {
		t.Run(name, func(t *testing.T) {
			_, m := s.start(t, script)
			for _, sink := range []func(llm.Chunk){nil, new(gathered).sink} {
				r, err := m.Stream(t.Context(), ask("hello"), sink)
				if err != nil {
					if llm.KindOf(err) != llm.ErrMalformed {
						t.Errorf("%v, want a reply or %s", err, llm.ErrMalformed)
					}
				} else if r.Message.Content != longText {
					t.Errorf("text %q, want %q", r.Message.Content, longText)
				}
			}
		})
	}
}

// gone waits for the server to notice that the client left.
func (s suite) gone(t *testing.T, srv *Server) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	select {
	case <-srv.Gone():
	case <-ctx.Done():
		t.Error("the server still holds the connection")
	}
}
