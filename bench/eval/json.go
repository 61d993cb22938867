package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math/big"

	"dossier/llm/jsonrepair"
)

// repairCase is a test case of one of two JSON repair libraries. The one
// gives a value or a text, the other a text or an expected failure.
type repairCase struct {
	Input        string                     `json:"input"`
	Library      string                     `json:"src"`
	File         string                     `json:"file"` // of the library's tests
	Expected     json.RawMessage            `json:"expected"`
	ExpectedText json.RawMessage            `json:"expected_text"`
	ExpectError  bool                       `json:"expect_error"`
	Options      map[string]json.RawMessage `json:"kwargs"`
}

// value returns the JSON that a repair has to give; it is false for a case
// that is not scored: its options change the task, or what it expects is no
// JSON.
func (c repairCase) value() (json.RawMessage, bool) {
	for option := range c.Options {
		if option != "return_objects" && option != "skip_json_loads" {
			return nil, false
		}
	}
	switch {
	case c.ExpectError:
		return nil, true
	case !isNull(c.Expected):
		return c.Expected, true
	case isNull(c.ExpectedText):
		return json.RawMessage("null"), len(c.Expected) > 0
	}
	var text string
	if json.Unmarshal(c.ExpectedText, &text) != nil {
		return c.ExpectedText, true
	}
	return json.RawMessage(text), json.Valid([]byte(text))
}

func isNull(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }

// repairAnswer is what Record gets for a scored case.
type repairAnswer struct {
	Input     string          `json:"input"`
	Expected  json.RawMessage `json:"expected,omitempty"`
	Got       json.RawMessage `json:"got,omitempty"`
	Error     string          `json:"error,omitempty"`
	Recovered bool            `json:"recovered"`
}

func runJSONRepair(ctx context.Context, env *Env) error {
	files, err := env.Files("cases_*.jsonl*")
	if err != nil {
		return err
	}
	var total, recovered, ended, agents int
	var scored []repaired
	for _, file := range files {
		cases, err := readLines[repairCase](env, file)
		if err != nil {
			return err
		}
		for _, c := range cases {
			if err := ctx.Err(); err != nil {
				return err
			}
			total++
			e, a, err := persistent(ctx, c.Input)
			if err != nil {
				return err
			}
			ended, agents = ended+e, agents+a
			want, ok := c.value()
			if !ok {
				continue
			}
			scored = append(scored, repaired{cmp.Or(c.File, c.Library), func(leftOut ...jsonrepair.Rule) bool {
				got, err := jsonrepair.Without(c.Input, leftOut...)
				return c.ExpectError && err != nil || !c.ExpectError && err == nil && sameValue(got, want)
			}})
			answer := repairAnswer{Input: c.Input, Expected: want}
			got, err := jsonrepair.Repair(c.Input)
			if err != nil {
				answer.Error = err.Error()
				answer.Recovered = c.ExpectError
			} else {
				answer.Got = got
				answer.Recovered = !c.ExpectError && sameValue(got, want)
			}
			if answer.Recovered {
				recovered++
			}
			if err := env.Record(answer); err != nil {
				return err
			}
		}
	}
	env.Ratio("recovered", recovered, len(scored))
	env.guesses(scored)
	env.Count("excluded", total-len(scored), total)
	// Agents whose model says nothing but this still come to an end.
	env.Ratio("agents-ended", ended, agents)
	return nil
}

// suiteCase is a file of a JSON parser test suite; not every one is UTF-8.
type suiteCase struct {
	File   string `json:"file"`
	Expect string `json:"expect"`
	Text   string `json:"text"`
	Bytes  []byte `json:"b64"`
}

// suiteAnswer is what Record gets for a case.
type suiteAnswer struct {
	File     string `json:"file"`
	Expect   string `json:"expect"`
	Got      string `json:"got,omitempty"`
	Error    string `json:"error,omitempty"`
	Accepted bool   `json:"accepted"`
	Panic    string `json:"panic,omitempty"`
}

func runJSONTestSuite(ctx context.Context, env *Env) error {
	cases, err := readLines[suiteCase](env, "cases.jsonl.gz")
	if err != nil {
		return err
	}
	var accepted, valid, panics int
	for _, c := range cases {
		if err := ctx.Err(); err != nil {
			return err
		}
		text := c.Text
		if c.Bytes != nil {
			text = string(c.Bytes)
		}
		answer := trySuiteCase(c, text)
		if answer.Panic != "" {
			panics++
		}
		if c.Expect == "accept" {
			valid++
			if answer.Accepted {
				accepted++
			}
		}
		if err := env.Record(answer); err != nil {
			return err
		}
	}
	env.Ratio("accepted-y", accepted, valid)
	env.Count("panics", panics, len(cases))
	return nil
}

// trySuiteCase runs every way to repair; a text is accepted if it comes
// through with the value that it has.
func trySuiteCase(c suiteCase, text string) (answer suiteAnswer) {
	answer = suiteAnswer{File: c.File, Expect: c.Expect}
	defer func() {
		if r := recover(); r != nil {
			answer.Panic, answer.Accepted = fmt.Sprint(r), false
		}
	}()
	got, err := jsonrepair.Repair(text)
	if err != nil {
		answer.Error = err.Error()
	} else {
		answer.Got = string(got)
		answer.Accepted = sameValue(got, []byte(text))
	}
	// Only whether it panics matters here.
	_, _ = jsonrepair.Object(text)
	return answer
}

// sameValue says whether two JSON texts have the same value; numbers are
// compared as numbers, whatever their spelling.
func sameValue(a, b []byte) bool {
	x, errX := decode(a)
	y, errY := decode(b)
	return errX == nil && errY == nil && equalValues(x, y)
}

func decode(b []byte) (any, error) {
	if !json.Valid(b) {
		return nil, fmt.Errorf("not JSON: %.40q", b)
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var v any
	err := d.Decode(&v)
	return v, err
}

func equalValues(x, y any) bool {
	switch x := x.(type) {
	case json.Number:
		y, ok := y.(json.Number)
		return ok && (x == y || equalNumbers(x.String(), y.String()))
	case []any:
		y, ok := y.([]any)
		if !ok || len(x) != len(y) {
			return false
		}
		for i := range x {
			if !equalValues(x[i], y[i]) {
				return false
			}
		}
		return true
	case map[string]any:
		y, ok := y.(map[string]any)
		if !ok || len(x) != len(y) {
			return false
		}
		for k, v := range x {
			if w, ok := y[k]; !ok || !equalValues(v, w) {
				return false
			}
		}
		return true
	default:
		return x == y
	}
}

// equalNumbers compares with far more digits than a float64 has.
func equalNumbers(a, b string) bool {
	const bits = 512
	x, _, errX := big.ParseFloat(a, 10, bits, big.ToNearestEven)
	y, _, errY := big.ParseFloat(b, 10, bits, big.ToNearestEven)
	return errX == nil && errY == nil && x.Cmp(y) == 0
}
