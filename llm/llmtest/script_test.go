package llmtest

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

const exampleScript = `
models: [test, small]
support: {json_schema: refuse}
limits:
  - {at: 0s, rps: 20}
  - {at: 40s, rps: 5, concurrency: 4}
rules:
  - schema: plan
    reply: {json: {steps: [search, read]}}
  - contains: weather
    tool_results: 0
    reply:
      tool_calls: [{name: web_search, arguments: {query: "${question}"}}]
  - turn: 3
    fault: {kind: rate_limit, retry_after: 2s}
  - fault: {kind: cut, after: 2, probability: 0.1}
`

func TestParse(t *testing.T) {
	want := Script{
		Models:  []string{"test", "small"},
		Support: Support{JSONSchema: Refuse},
		Limits:  []Limit{{RPS: 20}, {At: 40 * time.Second, RPS: 5, Concurrency: 4}},
		Rules: []Rule{
			{Schema: "plan", Reply: JSON(map[string]any{"steps": []any{"search", "read"}})},
			{Contains: "weather", ToolResults: new(0), Reply: CallTool("web_search", map[string]any{"query": "${question}"})},
			{Turn: 3, Fault: &Fault{Kind: RateLimit, RetryAfter: 2 * time.Second}},
			{Fault: &Fault{Kind: Cut, After: 2, Probability: 0.1}},
		},
	}
	path := filepath.Join(t.TempDir(), "script.yaml")
	if err := os.WriteFile(path, []byte(exampleScript), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
	if got, err := Parse([]byte(`{"rules": [{"turn": 3, "fault": {"kind": "rate_limit", "retry_after": "2s"}}]}`)); err != nil || !reflect.DeepEqual(got.Rules[0], want.Rules[2]) {
		t.Errorf("JSON: %+v, %v", got, err)
	}
	if _, err := Parse(nil); err != nil {
		t.Errorf("an empty file: %v", err)
	}
}

func TestParseErrors(t *testing.T) {
	for text, want := range map[string]string{
		"rules:\n- rolle: x":                            "line 2: field rolle not found",
		"rules: [{fault: {kind: nope}}]":                `rule 1: fault: unknown kind "nope"`,
		"rules: [{fault: {kind: cut, probability: 2}}]": "probability 2 is not between",
		"rules: [{fault: {kind: status, status: 20}}]":  "status 20 is not",
		"rules: [{}, {endpoint: nowhere}]":              `rule 2: endpoint "nowhere"`,
		"rules: [{reply: {tool_calls: [{}]}}]":          "a call has no name",
		"support: {tools: maybe}":                       `"maybe" is not yes, refuse or ignore`,
		"limits: [{at: 9s}, {at: 1s}]":                  "limit 2: at 1s",
		"latency: soon":                                 "soon",
		"rules: [":                                      "line 1",
	} {
		if _, err := Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	if _, err := Load(filepath.Join(t.TempDir(), "absent")); err == nil {
		t.Error("an absent file loads")
	}
}

func TestNewPanicsOnAnInvalidScript(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("it did not")
		}
	}()
	New(Script{Rules: []Rule{{Fault: &Fault{}}}})
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(exampleScript))
	f.Add([]byte(`{"rules":[{"reply":{"json":{"1":[null]}}}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if s, err := Parse(data); err == nil {
			New(s) // a script that parses is valid
		}
	})
}
