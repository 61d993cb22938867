package llmtest

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"
)

func faulty(t *testing.T, f Fault, text string) *Server {
	t.Helper()
	return Start(t, Script{ChunkSize: 4, Rules: []Rule{{Fault: &f}, {Reply: Say(text)}}})
}

const streamed = `,"stream":true`

func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		fault  Fault
		status int
		header string // Retry-After
		want   string
	}{
		{Fault{Kind: RateLimit}, 429, "", "rate_limit_exceeded"},
		{Fault{Kind: RateLimit, RetryAfter: 2 * time.Second}, 429, "2", "rate_limit_exceeded"},
		{Fault{Kind: RateLimit, RetryAfter: 1500 * time.Millisecond}, 429, "2", "rate_limit_exceeded"},
		{Fault{Kind: Quota}, 429, "", "insufficient_quota"},
		{Fault{Kind: Status}, 500, "", "server_error"},
		{Fault{Kind: Status, Status: 529, RetryAfter: time.Second}, 529, "1", "server_error"},
		{Fault{Kind: Auth}, 401, "", "Incorrect API key provided: secret"},
		{Fault{Kind: NoModel}, 404, "", "model_not_found"},
		{Fault{Kind: TooLong}, 400, "", "context_length_exceeded"},
		{Fault{Kind: HTML}, 502, "", "<h1>502 Bad Gateway</h1>"},
		{Fault{Kind: HTML, Status: 200}, 200, "", "<html>"},
		{Fault{Kind: StreamError}, 500, "", "server_error"},
	} {
		s := faulty(t, c.fault, "text")
		a := post(t, s, chatPath, chatBody("hi", ""), "Authorization", "Bearer secret")
		if a.status != c.status || a.header.Get("Retry-After") != c.header || !strings.Contains(a.body, c.want) {
			t.Errorf("%+v: status %d, Retry-After %q, %s", c.fault, a.status, a.header.Get("Retry-After"), a.body)
		}
		if call := s.Calls()[0]; call.Status != c.status || call.Fault != c.fault.Kind {
			t.Errorf("%+v: recorded as %+v", c.fault, call)
		}
	}
}

func TestFailuresOnTheWire(t *testing.T) {
	whole := post(t, faulty(t, Fault{Kind: Slow, Delay: time.Millisecond}, "twelve chars"), chatPath, chatBody("hi", streamed))
	pieces := func(a answer) int { return strings.Count(a.body, `"delta":{"content"`) }
	if pieces(whole) != 3 || !strings.HasSuffix(whole.body, "data: [DONE]\n\n") {
		t.Fatalf("without a fault: %s", whole.body)
	}
	for _, c := range []struct {
		name    string
		fault   Fault
		pieces  int
		broken  bool // reading fails
		done    bool // [DONE] arrives
		finish  bool
		content string
	}{
		{"cut", Fault{Kind: Cut, After: 2}, 2, true, false, false, ""},
		{"cut at once", Fault{Kind: Cut}, 0, true, false, false, ""},
		{"cut at the end", Fault{Kind: Cut, After: 99}, 3, true, false, false, ""},
		{"eof", Fault{Kind: EOF, After: 2}, 2, false, false, false, ""},
		{"eof at the end", Fault{Kind: EOF, After: 99}, 3, false, false, false, ""},
		{"malformed", Fault{Kind: Malformed, After: 1}, 2, false, true, true, `data: {"id": "broken, `},
		{"stream error", Fault{Kind: StreamError, After: 1}, 1, false, false, false, `data: {"error":{`},
		{"empty", Fault{Kind: Empty}, 0, false, true, false, `"choices":[]`},
		{"stall", Fault{Kind: Stall, After: 1, Delay: time.Millisecond}, 3, false, true, true, ""},
		{"content type", Fault{Kind: ContentType}, 3, false, true, true, ""},
	} {
		a := post(t, faulty(t, c.fault, "twelve chars"), chatPath, chatBody("hi", streamed))
		if pieces(a) != c.pieces || (a.err != nil) != c.broken || strings.Contains(a.body, "[DONE]") != c.done ||
			strings.Contains(a.body, `"finish_reason":"stop"`) != c.finish || !strings.Contains(a.body, c.content) {
			t.Errorf("%s: %d pieces, %v, %s", c.name, pieces(a), a.err, a.body)
		}
		if html := strings.HasPrefix(a.header.Get("Content-Type"), "text/html"); html != (c.fault.Kind == ContentType) {
			t.Errorf("%s: content type %s", c.name, a.header.Get("Content-Type"))
		}
	}
	for _, c := range []struct {
		fault  Fault
		broken bool
		valid  bool
	}{
		{Fault{Kind: Cut}, true, false},
		{Fault{Kind: EOF}, false, false},
		{Fault{Kind: Malformed}, false, false},
		{Fault{Kind: Stall, Delay: time.Millisecond}, false, true},
		{Fault{Kind: Slow, Delay: time.Millisecond}, false, true},
		{Fault{Kind: Empty}, false, true},
	} {
		a := post(t, faulty(t, c.fault, "twelve chars"), chatPath, chatBody("hi", ""))
		if (a.err != nil) != c.broken || json.Valid([]byte(a.body)) != c.valid {
			t.Errorf("%s, not streamed: %v, %s", c.fault.Kind, a.err, a.body)
		}
	}
}

func TestFailuresOfTheModel(t *testing.T) {
	schema := `{"type":"object","properties":{"answer":{"type":"string"},"score":{"type":"integer"}},"required":["answer","score"]}`
	format := `,"response_format":{"type":"json_schema","json_schema":{"name":"a","schema":` + schema + `}}`
	tool := `,"tools":[{"type":"function","function":{"name":"note","parameters":` + schema + `}}],"tool_choice":"required"`
	for _, c := range []struct {
		kind  FaultKind
		check func(text string) bool
	}{
		{BrokenJSON, func(s string) bool { return !json.Valid([]byte(s)) && strings.HasSuffix(s, ",}") }},
		{FencedJSON, func(s string) bool { return strings.Contains(s, "```json\n{") && strings.Contains(s, "}\n```\n") }},
		{TruncatedJSON, func(s string) bool { return !json.Valid([]byte(s)) && strings.HasPrefix(s, `{"answer":`) }},
		{WrongSchema, func(s string) bool { return json.Valid([]byte(s)) && validate(schema, s) != nil }},
	} {
		s := Start(t, Script{Rules: []Rule{{Fault: &Fault{Kind: c.kind}}}})
		if text := post(t, s, chatPath, chatBody("hi", format)).said(t); !c.check(text) {
			t.Errorf("%s: text %s", c.kind, text)
		}
		var r openAIReply
		if err := json.Unmarshal([]byte(post(t, s, chatPath, chatBody("hi", tool)).body), &r); err != nil {
			t.Fatal(err)
		}
		if text := r.Choices[0].Message.ToolCalls[0].Function.Arguments; !c.check(text) {
			t.Errorf("%s: arguments %s", c.kind, text)
		}
	}

	s := Start(t, Script{Rules: []Rule{{Fault: &Fault{Kind: RepeatedIDs}}}})
	a := post(t, s, chatPath, chatBody("hi", tool))
	if strings.Count(a.body, `"id":"call_0"`) != 2 {
		t.Errorf("repeated ids: %s", a.body)
	}
	a = post(t, faulty(t, Fault{Kind: InvalidUTF8}, "before after"), chatPath, chatBody("hi", ""))
	if utf8.ValidString(a.body) {
		t.Errorf("invalid UTF-8: %q", a.body)
	}
	a = post(t, faulty(t, Fault{Kind: Huge, Size: 100_000}, ""), chatPath, chatBody("hi", ""))
	if len(a.said(t)) != 100_000 {
		t.Errorf("huge: %d bytes", len(a.body))
	}
}

// TestFaultBendsLaterReply shows the order of the search: a fault from one
// rule, the reply from another.
func TestFaultBendsLaterReply(t *testing.T) {
	s := Start(t, Script{Rules: []Rule{
		{Turn: 1, Fault: &Fault{Kind: FencedJSON}},
		{Schema: "none", Reply: Say("not this")},
		{Reply: JSON(map[string]any{"a": 1})},
		{Reply: Say("nor this")},
	}})
	if got := post(t, s, chatPath, chatBody("hi", "")).said(t); !strings.Contains(got, "```json\n{\"a\":1}\n```") {
		t.Errorf("first %s", got)
	}
	if got := post(t, s, chatPath, chatBody("hi", "")).said(t); got != `{"a":1}` {
		t.Errorf("second %s", got)
	}
}

func TestMovingLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := limiter{limits: []Limit{{RPS: 20, Burst: 1}, {At: 40 * time.Second, RPS: 5, Burst: 1}, {At: 80 * time.Second, RPS: 40, Burst: 1}}}
		var admitted [3]int
		begin := time.Now()
		for time.Since(begin) < 120*time.Second {
			if l.take(time.Now(), 0) == nil {
				admitted[time.Since(begin)/(40*time.Second)]++
			}
			time.Sleep(time.Millisecond) // virtual
		}
		for i, want := range []int{800, 200, 1600} {
			if got := admitted[i]; got < want*98/100 || got > want+2 {
				t.Errorf("%d admitted in period %d, want about %d", got, i, want)
			}
		}
	})
}

func TestLimiterTellsHowLongToWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := limiter{limits: []Limit{{RPS: 4, Burst: 1}}}
		if e := l.take(time.Now(), 0); e != nil {
			t.Fatal(e.message)
		}
		e := l.take(time.Now(), 0)
		if e == nil || e.retryAfter != 250*time.Millisecond {
			t.Fatalf("%+v, want to wait 250ms", e)
		}
		time.Sleep(e.retryAfter) // virtual
		if e := l.take(time.Now(), 0); e != nil {
			t.Errorf("after waiting: %+v", e)
		}
		l.limits[0].Silent = true
		if e := l.take(time.Now(), 0); e == nil || e.retryAfter != 0 {
			t.Errorf("silent: %+v", e)
		}
	})
}

func TestConcurrencyLimit(t *testing.T) {
	inside, leave := make(chan bool), make(chan bool)
	s := Start(t, Script{Limits: []Limit{{Concurrency: 1}}, Rules: []Rule{{Contains: "hold",
		Reply: Do(func(*Request) *Reply { inside <- true; <-leave; return nil })}}})
	done := make(chan int)
	go func() { done <- post(t, s, chatPath, chatBody("hold", "")).status }()
	<-inside
	if a := post(t, s, chatPath, chatBody("second", "")); a.status != 429 || a.header.Get("Retry-After") != "1" {
		t.Errorf("status %d beside another call", a.status)
	}
	leave <- true
	if status := <-done; status != 200 {
		t.Errorf("the first call got %d", status)
	}
	if a := post(t, s, chatPath, chatBody("third", "")); a.status != 200 {
		t.Errorf("status %d after the other call", a.status)
	}
}

func TestLatency(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(Script{Latency: time.Second, Rules: []Rule{{Contains: "slow", Latency: time.Minute}}})
		for question, want := range map[string]time.Duration{"slow": time.Minute, "usual": time.Second} {
			begin := time.Now()
			s.ServeHTTP(&watcher{}, request(t, chatBody(question, "")))
			if got := time.Since(begin); got != want {
				t.Errorf("%s: %v, want %v", question, got, want)
			}
		}
	})
}

func TestCloseEndsWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(Script{Rules: []Rule{{Fault: &Fault{Kind: Slow}}}})
		ended := make(chan bool)
		go func() {
			s.ServeHTTP(&watcher{}, request(t, chatBody("hi", "")))
			close(ended)
		}()
		synctest.Wait()
		s.Close()
		<-ended
	})
}
