package agent

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"dossier/cite"
	"dossier/lang"
	"dossier/run"
	"dossier/tool"
)

// Errand is what an agent is asked for when another one calls it.
type Errand struct {
	Task string `json:"task" min:"1" jsonschema:"what the agent is to do or find out, as a request that stands by itself: it knows nothing of this conversation"`
}

// AsTool makes an agent a tool of others. hire is asked for the agent when it
// is called. A call is a branch of the caller's run: it spends the same budget,
// ends when the run ends, and its events come up under its own path.
func AsTool(d Definition, hire func(ctx context.Context, s *run.Scope) (*Agent, error)) tool.Tool {
	name := ToolName(d.Name)
	description := d.Description
	if description == "" {
		description = "Agent " + d.Name + "."
	}
	if len(d.Capabilities) > 0 {
		description += " It can: " + strings.Join(d.Capabilities, ", ") + "."
	}
	return &errand{
		Tool: tool.New(tool.Spec{
			Name: name, Description: description, Tags: d.Capabilities, Origin: "agent:" + d.Name,
		}, func(context.Context, *tool.Call, Errand) (tool.Result, error) {
			return tool.Result{}, fmt.Errorf("%s works only inside a run", name)
		}),
		name: d.Name, hire: hire,
	}
}

// ToolName is the name of an agent as a tool. A name that a tool can't have is
// spelled as far as it can be, and told from others by its hash.
func ToolName(agent string) string {
	name := "agent_" + agent
	proper := presentable(name)
	if proper == name {
		return name
	}
	hash := sha256.Sum256([]byte(agent))
	return fmt.Sprintf("%.55s_%x", proper, hash[:4])
}

type errand struct {
	tool.Tool
	name string
	hire func(ctx context.Context, s *run.Scope) (*Agent, error)
}

// Branch implements tool.Branch.
func (e *errand) Branch(ctx context.Context, s *run.Scope, c *tool.Call) (tool.Result, error) {
	if slices.Contains(c.Callers, e.name) {
		return tool.Result{}, fmt.Errorf("%s is at work on this already (%s → %s): calling it again would go round in circles. Do it yourself or ask another one",
			e.name, strings.Join(c.Callers, " → "), e.name)
	}
	a, err := e.hire(ctx, s)
	if err != nil {
		return tool.Result{}, err
	}
	if depth := a.Definition.Limits.Full().Depth; len(c.Callers) >= depth {
		return tool.Result{}, fmt.Errorf("agents may call agents no more than %d deep. Do it yourself", depth)
	}
	in, err := tool.Args[Errand](c)
	if err != nil {
		return tool.Result{}, err
	}
	done, err := a.Run(ctx, s, Task{
		Text: in.Task, Lang: lang.Code(c.State.Lang), NoInput: true, Custom: c.Given, Callers: c.Callers,
	})
	if err != nil {
		return tool.Result{}, err
	}
	if done.Answer.Status != tool.Completed {
		return tool.Result{}, fmt.Errorf("%s could not do it: %s", e.name, done.Answer.Text)
	}
	text, found := adopt(c.State, done.State.Sources, done.Answer.Text)
	return tool.Result{Text: text, Change: tool.Change{Sources: found, Searches: done.State.Searches}}, nil
}

// adopt gives the sources of another agent the numbers that they have, or will
// have, in the caller's state, and puts these into the text that cites them.
// Only those that the text cites come along, and a citation of nothing goes:
// in the caller's numbers it could be one of something else.
func adopt(s *tool.State, sources []tool.Source, text string) (string, []tool.Source) {
	renumbered := make(map[int]int)
	var found []tool.Source
	fresh := 0
	text = cite.Renumber(text, func(n int) (int, bool) {
		if number, done := renumbered[n]; done {
			return number, true
		}
		if n < 1 || n > len(sources) {
			return 0, false
		}
		number, known := s.Number(sources[n-1].URL, fresh)
		if !known {
			fresh++
		}
		renumbered[n] = number
		found = append(found, sources[n-1])
		return number, true
	})
	return text, found
}
