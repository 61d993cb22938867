package tool

import (
	"fmt"
	"slices"
	"strings"
)

// Set is tools in an order, each under a name of its own. The order is the one
// in which they were given: the same tools make the same prompt.
type Set struct {
	tools  []Tool
	byName map[string]Tool // plain names
}

// NewSet puts tools together. A name that is there twice, also when written
// differently, is an error: a model could not tell the two apart.
func NewSet(tools ...Tool) (*Set, error) {
	s := &Set{byName: make(map[string]Tool, len(tools))}
	for _, t := range tools {
		name := t.Spec().Name
		key := PlainName(name)
		if key == "" {
			return nil, fmt.Errorf("a tool has no name")
		}
		if other, taken := s.byName[key]; taken {
			return nil, fmt.Errorf("two tools are called %s: that of %s and that of %s", name, other.Spec().Origin, t.Spec().Origin)
		}
		s.byName[key] = t
		s.tools = append(s.tools, t)
	}
	return s, nil
}

// All returns the tools in their order.
func (s *Set) All() []Tool { return slices.Clone(s.tools) }

// Names of the tools in their order.
func (s *Set) Names() []string {
	names := make([]string, len(s.tools))
	for i, t := range s.tools {
		names[i] = t.Spec().Name
	}
	return names
}

// Get finds a tool by its name, whose case and word separators don't matter:
// web_search_tool, WebSearchTool and websearchtool are one.
func (s *Set) Get(name string) (Tool, bool) {
	t, ok := s.byName[PlainName(name)]
	return t, ok
}

// PlainName is a name without case and word separators.
func PlainName(name string) string {
	return strings.ToLower(separators.Replace(name))
}

// separators is made once: names are compared in every step of an agent.
var separators = strings.NewReplacer("_", "", "-", "", " ", "", ".", "")
