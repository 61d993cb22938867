package llm_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"dossier/llm"
)

type point struct {
	Text  string `json:"text"`
	Score int    `json:"score" min:"1" max:"10"`
}

type sampleAnswer struct {
	Reasoning string   `json:"reasoning" jsonschema:"why"`
	Answer    string   `json:"answer"`
	KeyPoints []string `json:"key_points"`
	Tone      string   `json:"tone,omitempty" enum:"plain,warm"`
	Best      *point   `json:"best,omitempty"`
	Certain   bool     `json:"certain"`
}

const goodAnswer = `{"reasoning":"r","answer":"a","key_points":["k"],"certain":true}`

func TestSchemaOf(t *testing.T) {
	s, err := llm.SchemaOf[sampleAnswer]()
	if err != nil {
		t.Fatal(err)
	}
	if s.Name != "sample_answer" {
		t.Errorf("name %q", s.Name)
	}
	want := `{"type":"object","required":["reasoning","answer","key_points","tone","best","certain"],"properties":{` +
		`"reasoning":{"type":"string","description":"why"},"answer":{"type":"string"},` +
		`"key_points":{"type":"array","items":{"type":"string"}},` +
		`"tone":{"type":["string","null"],"enum":["plain","warm",null]},` +
		`"best":{"type":["null","object"],"required":["text","score"],"properties":{"text":{"type":"string"},` +
		`"score":{"type":"integer","minimum":1,"maximum":10}},"additionalProperties":false},` +
		`"certain":{"type":"boolean"}},"additionalProperties":false}`
	var got, exp any
	if err := json.Unmarshal(s.Strict, &got); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(want), &exp); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, exp) {
		t.Errorf("strict schema\n%s\nwant\n%s", s.Strict, want)
	}
	if again, _ := llm.SchemaOf[sampleAnswer](); again != s {
		t.Error("built twice")
	}
	if _, err := llm.SchemaOf[[]string](); err == nil {
		t.Error("a list has no object schema")
	}
}

func TestObjectTakesWhatIsMeant(t *testing.T) {
	plain := sampleAnswer{Reasoning: "r", Answer: "a", KeyPoints: []string{"k"}, Certain: true}
	with := func(f func(*sampleAnswer)) sampleAnswer {
		a := plain
		a.KeyPoints = slices.Clone(a.KeyPoints)
		f(&a)
		return a
	}
	cases := []struct {
		name, reply string
		want        sampleAnswer
	}{
		{"plain", goodAnswer, plain},
		{"fenced", "Here you are:\n```json\n" + goodAnswer + "\n```", plain},
		{"thoughts", "<think>{\"answer\": \"no\"}</think>" + goodAnswer, plain},
		{"single value for a list", `{"reasoning":"r","answer":"a","key_points":"k","certain":true}`, plain},
		{"null for a list", `{"reasoning":"r","answer":"a","key_points":null,"certain":true}`, with(func(a *sampleAnswer) { a.KeyPoints = []string{} })},
		{"quoted boolean", `{"reasoning":"r","answer":"a","key_points":["k"],"certain":"True"}`, plain},
		{"number as text", `{"reasoning":"r","answer":42,"key_points":["k"],"certain":true}`, with(func(a *sampleAnswer) { a.Answer = "42" })},
		{"quoted number", `{"reasoning":"r","answer":"a","key_points":["k"],"certain":true,"best":{"text":"t","score":"3"}}`,
			with(func(a *sampleAnswer) { a.Best = &point{"t", 3} })},
		{"whole float", `{"reasoning":"r","answer":"a","key_points":["k"],"certain":true,"best":{"text":"t","score":3.0}}`,
			with(func(a *sampleAnswer) { a.Best = &point{"t", 3} })},
		{"null for optional", `{"reasoning":"r","answer":"a","key_points":["k"],"certain":true,"tone":null,"best":null}`, plain},
		{"choice in another case", `{"reasoning":"r","answer":"a","key_points":["k"],"certain":true,"tone":" Warm"}`, with(func(a *sampleAnswer) { a.Tone = "warm" })},
		{"keys in another case", `{"Reasoning":"r","answer":"a","keyPoints":["k"],"certain":true}`, plain},
		{"unknown key", `{"reasoning":"r","answer":"a","key_points":["k"],"certain":true,"mood":7}`, plain},
		{"wrapped", `{"sample_answer":` + goodAnswer + `}`, plain},
		{"list of one", `[` + goodAnswer + `]`, plain},
		{"list in quotes", `{"reasoning":"r","answer":"a","key_points":"[\"k\"]","certain":true}`, plain},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			m := script(t, text(c.reply))
			got, info, err := llm.Object[sampleAnswer](t.Context(), m, ask("q"), llm.ObjectOptions{})
			if err != nil || !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %+v, %v\nwant %+v", got, err, c.want)
			}
			if info.Attempts != 1 || info.Way != llm.WaySchema {
				t.Errorf("info %+v", info)
			}
		})
	}
}

// turn is a scripted reply to one request.
type turn func(req *llm.Request, sink func(llm.Chunk)) (*llm.Response, error)

func script(t *testing.T, turns ...turn) modelFunc {
	n := 0
	return func(_ context.Context, req *llm.Request, sink func(llm.Chunk)) (*llm.Response, error) {
		if n >= len(turns) {
			t.Errorf("unexpected call: %+v", req)
			return nil, errors.New("the script has ended")
		}
		n++
		return turns[n-1](req, sink)
	}
}

func text(s string) turn {
	return func(_ *llm.Request, sink func(llm.Chunk)) (*llm.Response, error) {
		if sink != nil {
			for _, r := range s {
				sink(llm.Chunk{Text: string(r)})
			}
		}
		return &llm.Response{Message: llm.Message{Role: llm.RoleAssistant, Content: s}, Finish: llm.FinishStop, Usage: llm.Usage{Input: 10, Output: 5, Cost: 0.5}}, nil
	}
}

func ask(q string) *llm.Request {
	return &llm.Request{Model: "m", Messages: []llm.Message{{Role: llm.RoleSystem, Content: "sys"}, {Role: llm.RoleUser, Content: q}}}
}

func TestObjectStepsDown(t *testing.T) {
	refuse := func(field string) turn {
		return func(*llm.Request, func(llm.Chunk)) (*llm.Response, error) {
			return nil, &llm.Error{Kind: llm.ErrBadRequest, Status: 400, Unsupported: field}
		}
	}
	toolCall := func(req *llm.Request, _ func(llm.Chunk)) (*llm.Response, error) {
		if len(req.Tools) != 1 || req.ToolChoice != req.Tools[0].Name || req.Format != nil {
			return nil, fmt.Errorf("not asked by a tool: %+v", req)
		}
		return &llm.Response{Message: llm.Message{ToolCalls: []llm.ToolCall{{ID: "1", Name: req.Tools[0].Name, Arguments: goodAnswer}}}, Finish: llm.FinishToolCalls}, nil
	}
	prompted := func(req *llm.Request, _ func(llm.Chunk)) (*llm.Response, error) {
		if req.Format != nil || len(req.Tools) != 0 || !strings.Contains(req.Messages[0].Content, "key_points") || !strings.HasPrefix(req.Messages[0].Content, "sys") {
			return nil, fmt.Errorf("not asked by the prompt: %+v", req)
		}
		return text(goodAnswer)(req, nil)
	}
	asJSON := func(req *llm.Request, _ func(llm.Chunk)) (*llm.Response, error) {
		if req.Format == nil || req.Format.Schema != nil || !strings.Contains(req.Messages[0].Content, "key_points") {
			return nil, fmt.Errorf("not asked for JSON: %+v", req)
		}
		return text(goodAnswer)(req, nil)
	}
	cases := []struct {
		name  string
		turns []turn
		way   llm.Way
	}{
		{"schema", []turn{text(goodAnswer)}, llm.WaySchema},
		{"json", []turn{refuse("response_format"), asJSON}, llm.WayJSON},
		{"tool", []turn{refuse("response_format"), refuse("response_format"), toolCall}, llm.WayTool},
		{"prompt", []turn{refuse("response_format"), refuse(""), refuse("tools"), prompted}, llm.WayPromptOnly},
		{"ignored", []turn{text("Sure, I can do that!"), asJSON}, llm.WayJSON},
		{"ignored twice", []turn{text("Sure!"), text("Gladly!"), toolCall}, llm.WayTool},
		{"json unfit", []turn{refuse("response_format"), text(`{"a":1}`), text(`{"b":1}`), toolCall}, llm.WayTool},
		{"schema ignored", []turn{text(`{"a":1}`), text(`{"b":1}`), asJSON}, llm.WayJSON},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var probes llm.MemoryProbes
			opts := llm.ObjectOptions{Probes: &probes, Endpoint: "e"}
			got, info, err := llm.Object[sampleAnswer](t.Context(), script(t, c.turns...), ask("q"), opts)
			if err != nil || got.Answer != "a" || info.Way != c.way {
				t.Fatalf("%+v, %+v, %v", got, info, err)
			}
			if way, _ := probes.Way("e", "m"); way != c.way {
				t.Errorf("remembered %q", way)
			}
			// The next call starts with what works.
			last := c.turns[len(c.turns)-1]
			if _, info, err := llm.Object[sampleAnswer](t.Context(), script(t, last), ask("q"), opts); err != nil || info.Attempts != 1 {
				t.Errorf("second call: %+v, %v", info, err)
			}
		})
	}
}

func TestObjectReturnsTheFirstRefusal(t *testing.T) {
	n := 0
	m := modelFunc(func(context.Context, *llm.Request, func(llm.Chunk)) (*llm.Response, error) {
		n++
		return nil, &llm.Error{Kind: llm.ErrBadRequest, Status: 400, Message: fmt.Sprint("refusal ", n)}
	})
	_, _, err := llm.Object[sampleAnswer](t.Context(), m, ask("q"), llm.ObjectOptions{})
	var e *llm.Error
	if !errors.As(err, &e) || e.Message != "refusal 1" || n != 4 {
		t.Errorf("%v after %d calls", err, n)
	}
	if errors.Is(err, llm.ErrNoObject) {
		t.Error("a refused call is not a reply without an object")
	}
}

func TestObjectDropsRefusedTemperature(t *testing.T) {
	warm := 0.7
	req := ask("q")
	req.Temperature = &warm
	m := script(t, func(*llm.Request, func(llm.Chunk)) (*llm.Response, error) {
		return nil, &llm.Error{Kind: llm.ErrBadRequest, Unsupported: "temperature"}
	}, func(r *llm.Request, _ func(llm.Chunk)) (*llm.Response, error) {
		if r.Temperature != nil || r.Format == nil {
			t.Errorf("request %+v", r)
		}
		return text(goodAnswer)(r, nil)
	})
	if _, _, err := llm.Object[sampleAnswer](t.Context(), m, req, llm.ObjectOptions{}); err != nil {
		t.Error(err)
	}
}

func TestObjectAsksAgain(t *testing.T) {
	m := script(t,
		text(`{"reasoning":"r","answer":"a","key_points":["k"],"certain":true,"best":{"text":"t","score":99}}`),
		func(r *llm.Request, _ func(llm.Chunk)) (*llm.Response, error) {
			n := len(r.Messages)
			if r.Messages[n-2].Role != llm.RoleAssistant || !strings.Contains(r.Messages[n-1].Content, "/best/score") {
				t.Errorf("the model wasn't told what was wrong: %+v", r.Messages)
			}
			for i := 1; i < n; i++ {
				if r.Messages[i].Role == r.Messages[i-1].Role {
					t.Errorf("the roles don't alternate: %+v", r.Messages)
				}
			}
			return text(goodAnswer)(r, nil)
		})
	req := ask("q")
	_, info, err := llm.Object[sampleAnswer](t.Context(), m, req, llm.ObjectOptions{})
	if err != nil || info.Attempts != 2 {
		t.Errorf("%+v, %v", info, err)
	}
	if want := (llm.Usage{Input: 20, Output: 10, Cost: 1}); info.Usage != want {
		t.Errorf("usage %+v", info.Usage)
	}
	if len(req.Messages) != 2 || req.Messages[0].Content != "sys" || req.Format != nil {
		t.Errorf("the caller's request was changed: %+v", req)
	}
}

type picky struct {
	N int `json:"n"`
}

func (p *picky) Validate() error {
	if p.N%2 != 0 {
		return errors.New("n has to be even")
	}
	return nil
}

func TestObjectGivesUp(t *testing.T) {
	n := 0
	m := modelFunc(func(_ context.Context, r *llm.Request, _ func(llm.Chunk)) (*llm.Response, error) {
		n++
		return text(fmt.Sprintf(`{"n": %d}`, 2*n-1))(r, nil)
	})
	_, info, err := llm.Object[picky](t.Context(), m, ask("q"), llm.ObjectOptions{})
	var e *llm.NoObjectError
	if !errors.Is(err, llm.ErrNoObject) || !errors.As(err, &e) || e.Raw != `{"n": 7}` || n != 4 || info.Attempts != 4 || info.Way != llm.WaySchema {
		t.Errorf("%v, %+v after %d calls", err, info, n)
	}
	if !strings.Contains(err.Error(), "n has to be even") {
		t.Errorf("error %v", err)
	}
	n = 0
	if _, _, err = llm.Object[picky](t.Context(), m, ask("q"), llm.ObjectOptions{MaxRetries: -1}); n != 1 || err == nil {
		t.Errorf("%v after %d calls", err, n)
	}
}

func TestObjectGrowsMaxTokens(t *testing.T) {
	var asked []int
	m := modelFunc(func(_ context.Context, r *llm.Request, _ func(llm.Chunk)) (*llm.Response, error) {
		asked = append(asked, r.MaxTokens)
		if r.MaxTokens < 400 {
			return &llm.Response{Message: llm.Message{Content: goodAnswer[:30]}, Finish: llm.FinishLength}, nil
		}
		return text(goodAnswer)(r, nil)
	})
	req := ask("q")
	req.MaxTokens = 100
	if _, _, err := llm.Object[sampleAnswer](t.Context(), m, req, llm.ObjectOptions{}); err != nil {
		t.Error(err)
	}
	if !slices.Equal(asked, []int{100, 200, 400}) {
		t.Errorf("max_tokens %v", asked)
	}
}

func TestObjectStreamsAField(t *testing.T) {
	var log strings.Builder
	opts := llm.ObjectOptions{StreamField: "answer",
		Sink:  func(s string) { log.WriteString(s) },
		Reset: func() { log.WriteString("|") }}
	m := script(t,
		text(`{"reasoning":"r","answer":"first","key_points":7.5,"certain":{}}`),
		func(r *llm.Request, sink func(llm.Chunk)) (*llm.Response, error) {
			sink(llm.Chunk{Text: `{"answer":"bro`})
			sink(llm.Chunk{Restart: true})
			return text(`{"reasoning":"answer","answer":"да \"q\"\n😀","key_points":["k"],"certain":true}`)(r, sink)
		})
	got, _, err := llm.Object[sampleAnswer](t.Context(), m, ask("q"), opts)
	if err != nil {
		t.Fatal(err)
	}
	if want := "first|bro|" + got.Answer; log.String() != want {
		t.Errorf("streamed %q, want %q", log.String(), want)
	}
}

// TestAnAnswerIsNotThrownAway holds that what a model says counts as the text
// that was asked for, in whatever form it comes, and that it is asked again once
// at most.
func TestAnAnswerIsNotThrownAway(t *testing.T) {
	type reply struct{ text, answer string }
	for name, c := range map[string]reply{
		"prose":                  {"The sky is blue because of scattering.", "The sky is blue because of scattering."},
		"prose after thoughts":   {"<think>hm {</think>\nIt is blue.", "It is blue."},
		"prose about JSON":       {"Write it like this:\n```json\n{\"port\": 80}\n```\nThen restart.", "Write it like this:\n```json\n{\"port\": 80}\n```\nThen restart."},
		"the field alone":        {`{"answer":"a"}`, "a"},
		"nulls":                  {`{"reasoning":null,"answer":"a","key_points":null,"certain":null}`, "a"},
		"other fields are wrong": {`{"reasoning":{"x":1},"answer":"a","key_points":[{"p":1}],"certain":"perhaps"}`, "a"},
		"under another name":     {`{"response":"a"}`, "a"},
		"a text in quotes":       {`"It is blue."`, "It is blue."},
	} {
		var streamed strings.Builder
		opts := llm.ObjectOptions{TextField: "answer", StreamField: "answer",
			Sink: func(s string) { streamed.WriteString(s) }, Reset: func() { streamed.Reset() }}
		got, info, err := llm.Object[sampleAnswer](t.Context(), script(t, text(c.text)), ask("q"), opts)
		if err != nil || got.Answer != c.answer || info.Attempts != 1 {
			t.Errorf("%s: %q, %+v, %v", name, got.Answer, info, err)
		}
		if streamed.String() != c.answer {
			t.Errorf("%s: streamed %q", name, streamed.String())
		}
	}
}

func TestWhatIsNoAnswerIsAskedForOnceMore(t *testing.T) {
	opts := llm.ObjectOptions{TextField: "answer"}
	for name, reply := range map[string]string{
		"nothing": "", "thoughts only": "<think>I wonder", "no text": `{"reasoning":"r","key_points":[]}`, "an empty one": `{"answer":" "}`, "an object of something else": `{"a":1,"b":2}`,
	} {
		got, info, err := llm.Object[sampleAnswer](t.Context(), script(t, text(reply), text(`{"answer":"a"}`)), ask("q"), opts)
		if err != nil || got.Answer != "a" || info.Attempts != 2 {
			t.Errorf("%s: %q, %+v, %v", name, got.Answer, info, err)
		}
		if _, info, err := llm.Object[sampleAnswer](t.Context(), script(t, text(reply), text(reply)), ask("q"), opts); !errors.Is(err, llm.ErrNoObject) || info.Attempts != 2 {
			t.Errorf("%s twice: %+v, %v", name, info, err)
		}
	}
	// A reply that was cut off twice is what there is.
	cut := func(*llm.Request, func(llm.Chunk)) (*llm.Response, error) {
		return &llm.Response{Message: llm.Message{Content: `{"reasoning":"r","answer":"It is bl`}, Finish: llm.FinishLength}, nil
	}
	got, _, err := llm.Object[sampleAnswer](t.Context(), script(t, cut, cut), ask("q"), opts)
	if err != nil || got.Answer != "It is bl …" {
		t.Errorf("cut off: %q, %v", got.Answer, err)
	}
}

// TestTheFirstCauseIsTold holds that what an endpoint said goes before what a
// provider knows of it, and that a place that isn't there is not asked again in
// other ways.
func TestTheFirstCauseIsTold(t *testing.T) {
	m := script(t,
		func(*llm.Request, func(llm.Chunk)) (*llm.Response, error) {
			return nil, &llm.Error{Kind: llm.ErrBadRequest, Unsupported: "response_format", Message: "this endpoint has no structured output"}
		},
		func(*llm.Request, func(llm.Chunk)) (*llm.Response, error) {
			return nil, &llm.Error{Kind: llm.ErrBadRequest, Status: 404, Message: "no such place"}
		})
	_, _, err := llm.Object[sampleAnswer](t.Context(), m, ask("q"), llm.ObjectOptions{})
	var e *llm.Error
	if !errors.As(err, &e) || e.Status != 404 || e.Message != "no such place" {
		t.Error(err)
	}
}
