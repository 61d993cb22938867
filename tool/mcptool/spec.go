package mcptool

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"dossier/internal/base/logs"
	"dossier/llm"
	"dossier/run"
	"dossier/tool"
	"dossier/tool/internal/said"
)

const (
	mostDescription = 2000 // characters
	mostSchema      = 64 << 10
)

// remote is a tool of a server.
type remote struct {
	server *server
	name   string // that the server knows
	limit  int    // of a result's text
	spec   tool.Spec
}

// Spec implements tool.Tool.
func (t *remote) Spec() *tool.Spec { return &t.spec }

// specs makes tools of a list.
func (s *server) specs(list []*mcp.Tool) []tool.Tool {
	list = slices.DeleteFunc(slices.Clone(list), func(t *mcp.Tool) bool { return t == nil || t.Name == "" })
	slices.SortStableFunc(list, func(a, b *mcp.Tool) int { return strings.Compare(a.Name, b.Name) })
	// A server that lists a name twice means one tool by it.
	list = slices.CompactFunc(list, func(a, b *mcp.Tool) bool { return a.Name == b.Name })
	tools := make([]tool.Tool, 0, len(list))
	for _, t := range list {
		tools = append(tools, s.tool(t))
	}
	return tools
}

func (s *server) tool(t *mcp.Tool) *remote {
	r := &remote{server: s, name: t.Name, limit: s.client.options.ContextLimit}
	r.spec = tool.Spec{
		Name:        fit(t.Name),
		Description: s.words.Text(t.Description, mostDescription),
		Effect:      effect(t.Annotations),
		Timeout:     s.client.options.Timeout,
		Origin:      "mcp:" + s.Name,
		Tags:        []string{s.Name},
	}
	title := t.Title
	if title == "" && t.Annotations != nil {
		title = t.Annotations.Title
	}
	if title = s.words.Line(title, 200); title != "" && !strings.Contains(r.spec.Description, title) {
		r.spec.Description = strings.TrimSpace(title + ". " + r.spec.Description)
	}
	var note string
	if r.spec.Schema, note = schema(r.spec.Name, t.InputSchema); note != "" {
		r.spec.Description = strings.TrimSpace(r.spec.Description + "\n" + note)
		s.client.options.Log.Warn("the schema of an MCP tool can't be used", "server", s.Name, "tool", r.spec.Name)
	}
	return r
}

func effect(a *mcp.ToolAnnotations) run.Effect {
	switch {
	case a == nil:
		return run.Effectful
	case a.ReadOnlyHint:
		return run.Read
	case a.IdempotentHint:
		return run.Idempotent
	}
	return run.Effectful
}

// permissive is the schema of a tool whose own can't be used.
var permissive = json.RawMessage(`{"type":"object","properties":{},"additionalProperties":true}`)

// schema reads the schema of a tool's arguments. One that can't be used is
// replaced by one that any object fits, and the note says so to the model.
func schema(name string, given any) (s *llm.Schema, note string) {
	raw, err := json.Marshal(given)
	if err == nil && len(raw) <= mostSchema {
		var object map[string]any
		if json.Unmarshal(raw, &object) == nil && object != nil {
			if _, typed := object["type"]; !typed {
				object["type"] = "object"
				raw, err = json.Marshal(object)
			}
			if err == nil && object["type"] == "object" {
				if s, err = llm.ParseSchema(name, raw); err == nil {
					return s, ""
				}
			}
		}
	}
	s, err = llm.ParseSchema(name, permissive)
	if err != nil {
		panic(err) // it is a constant
	}
	note = "(The server does not say properly which arguments it takes; infer them from the description.)"
	if len(raw) > 0 && len(raw) <= 4000 && string(raw) != "null" {
		note += " It says: " + logs.Printable(string(raw))
	}
	return s, note
}

// fit makes a name that models may call a tool by.
func fit(name string) string { return cmp.Or(said.Name(name), "tool") }

// Distinct gives each tool a name of its own, also beside names that are taken
// otherwise. Of several MCP tools with one name the first keeps it, the next are
// called SERVER_name, and if that is taken too they are numbered. Other tools
// keep theirs.
func Distinct(tools []tool.Tool, taken ...string) []tool.Tool {
	used := make(map[string]bool, len(tools)+len(taken))
	for _, name := range taken {
		used[tool.PlainName(name)] = true
	}
	for _, t := range tools {
		if _, ok := t.(*remote); !ok {
			used[tool.PlainName(t.Spec().Name)] = true
		}
	}
	out := make([]tool.Tool, len(tools))
	for i, t := range tools {
		out[i] = t
		r, ok := t.(*remote)
		if !ok {
			continue
		}
		name := r.spec.Name
		for n := 1; used[tool.PlainName(name)]; n++ {
			name = fit(r.server.Name + "_" + r.name)
			if n > 1 {
				suffix := fmt.Sprintf("_%d", n)
				name = name[:min(len(name), said.MostName-len(suffix))] + suffix
			}
		}
		used[tool.PlainName(name)] = true
		if name != r.spec.Name {
			own := *r
			own.spec.Name = name
			out[i] = &own
		}
	}
	return out
}

// Limited returns the same tools with results of at most so many characters;
// tools that are not of this package stay as they are.
func Limited(tools []tool.Tool, limit int) []tool.Tool {
	out := slices.Clone(tools)
	for i, t := range out {
		if r, ok := t.(*remote); ok && limit > 0 {
			own := *r
			own.limit = limit
			out[i] = &own
		}
	}
	return out
}

func short(d time.Duration) string { return d.Round(100 * time.Millisecond).String() }
