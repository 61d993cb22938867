package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"dossier/tool"
)

type touchy struct{ N int }

func (t *touchy) UnmarshalJSON(raw []byte) error {
	switch string(raw) {
	case `"panic"`:
		panic("touched")
	case `"fail"`:
		return errors.New("not this one")
	}
	return json.Unmarshal(raw, &t.N)
}

type touchyArgs struct {
	In touchy `json:"in"`
}

func (a touchyArgs) Validate() error {
	if a.In.N < 0 {
		return errors.New("less than nothing")
	}
	return nil
}

// TestInvokeReadsArguments holds that reading them early changes nothing: what
// can't be read, breaks down or is refused is an outcome.
func TestInvokeReadsArguments(t *testing.T) {
	double := tool.New(tool.Spec{Name: "double"}, func(_ context.Context, _ *tool.Call, in touchyArgs) (tool.Result, error) {
		return tool.JSON(2 * in.In.N)
	})
	// passing calls double with other arguments than its own.
	passing := tool.New(tool.Spec{Name: "passing"}, func(ctx context.Context, c *tool.Call, in touchyArgs) (tool.Result, error) {
		other := *c
		other.Args = json.RawMessage(`{"in":7}`)
		return double.Call(ctx, &other)
	})
	for _, test := range []struct {
		tool   tool.Tool
		args   string
		want   string
		failed bool
	}{
		{double, `{"in":4}`, "8", false},
		{double, `{"in":"panic"}`, "broke down (touched)", true},
		{double, `{"in":"fail"}`, "not this one", true},
		{double, `{"in":-1}`, "less than nothing", true},
		{passing, `{"in":4}`, "14", false},
	} {
		got, err := tool.Invoke(t.Context(), test.tool, &tool.Call{Args: json.RawMessage(test.args)}, tool.Guard{})
		if err != nil || got.Failed != test.failed || !strings.Contains(got.Text, test.want) {
			t.Errorf("%s %s: %+v %v", test.tool.Spec().Name, test.args, got, err)
		}
	}
	// A call that is made twice reads its arguments each time.
	c := &tool.Call{Args: json.RawMessage(`{"in":5}`)}
	for range 2 {
		if got, err := tool.Invoke(t.Context(), double, c, tool.Guard{}); err != nil || got.Text != "10" {
			t.Errorf("again: %+v %v", got, err)
		}
	}
}
