package tool

import (
	"fmt"
	"slices"
	"strings"
)

// Rule takes tools away once a counter of the run has reached a number. It is
// data: templates and configuration hold rules.
type Rule struct {
	// Counter is iteration, searches, clarifications, sources, or the name of a
	// tool, whose calls count.
	Counter string `json:"counter" yaml:"counter"`
	AtLeast int    `json:"at_least" yaml:"at_least"`
	// Drop names tools or kinds that go; Only those that stay.
	Drop []string `json:"drop,omitempty" yaml:"drop"`
	Only []string `json:"only,omitempty" yaml:"only"`
}

// Validate says what is wrong with a rule.
func (r Rule) Validate() error {
	if r.Counter == "" {
		return fmt.Errorf("a rule needs a counter: iteration, searches, clarifications, sources or the name of a tool")
	}
	if (len(r.Drop) == 0) == (len(r.Only) == 0) {
		return fmt.Errorf("the rule for %s needs either drop or only", r.Counter)
	}
	return nil
}

// Limits are the rules that every agent has.
func Limits(maxIterations, maxSearches, maxClarifications int) []Rule {
	return []Rule{
		{Counter: "iteration", AtLeast: maxIterations, Only: []string{string(Reporting), string(Final)}},
		{Counter: "clarifications", AtLeast: maxClarifications, Drop: []string{string(Clarify)}},
		{Counter: "searches", AtLeast: maxSearches, Drop: []string{string(Searching)}},
	}
}

// Available returns the tools that the rules leave, in their order. Tools that
// think and tools that end the work always stay: without them a model could
// only go on.
func Available(rules []Rule, s *State, tools []Tool) []Tool {
	var in []Rule
	for _, r := range rules {
		if s.count(r.Counter) >= r.AtLeast {
			in = append(in, r)
		}
	}
	if len(in) == 0 {
		return tools
	}
	return slices.DeleteFunc(slices.Clone(tools), func(t Tool) bool {
		spec := t.Spec()
		if spec.Kind == Final || spec.Kind == Reasoning {
			return false
		}
		return slices.ContainsFunc(in, func(r Rule) bool {
			if len(r.Only) > 0 {
				return !spec.among(r.Only)
			}
			return spec.among(r.Drop)
		})
	})
}

// among says whether names has the tool or its kind.
func (s *Spec) among(names []string) bool {
	return slices.ContainsFunc(names, func(n string) bool {
		return s.Kind != "" && strings.EqualFold(n, string(s.Kind)) || PlainName(n) == PlainName(s.Name)
	})
}

func (s *State) count(counter string) int {
	switch counter {
	case "iteration":
		return s.Iteration
	case "searches":
		return s.Searches
	case "clarifications":
		return s.Clarifications
	case "sources":
		return len(s.Sources)
	}
	n := 0
	for name, calls := range s.Calls {
		if PlainName(name) == PlainName(counter) {
			n += calls
		}
	}
	return n
}
