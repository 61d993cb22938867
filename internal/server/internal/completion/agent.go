package completion

import (
	"encoding/json"
	"fmt"

	"dossier/event"
)

// Agent shows a run of an agent phase by phase, as the clients of SGR agents read
// it: a chunk's id is the iteration and the phase, and its model the agent's id.
// A call of a tool is one chunk, its result another in the role of the tool.
type Agent struct {
	Head
	// WebUI shows calls and results as foldable text instead.
	WebUI bool
	// Continued says that an earlier stream has told the beginning.
	Continued bool

	outcome   outcome
	iteration int
	calls     int               // so far
	acts      int               // of this iteration
	phases    map[string]string // by the id of a call
	names     map[string]string
	asking    string // id of the last call
}

// Begin implements Projection.
func (a *Agent) Begin() []Chunk {
	if a.Continued {
		return nil
	}
	return []Chunk{a.text("0-start", "assistant", "Agent "+a.Model+" started\n")}
}

// Take implements Projection.
func (a *Agent) Take(ev event.Event) (chunks []Chunk, over bool) {
	a.outcome.take(ev)
	if ev.Agent == "" {
		switch d := ev.Data.(type) {
		case event.AgentReasoning:
			chunks = a.reasoning(d)
		case event.AgentAction:
			chunks = a.action(d)
		case event.ClarifyAsked:
			a.at(d.Iteration)
		}
	}
	return chunks, a.outcome.over()
}

// at notes which iteration it is.
func (a *Agent) at(iteration int) {
	if iteration > a.iteration {
		a.iteration, a.acts = iteration, 0
	}
}

func (a *Agent) reasoning(d event.AgentReasoning) []Chunk {
	a.at(d.Iteration)
	phase := fmt.Sprintf("%d-reasoning", a.iteration)
	thought := d.Reasoning
	if thought == nil { // it came in a form of its own
		thought = &event.Reasoning{Steps: d.Steps, Situation: d.Text}
	}
	raw, err := json.Marshal(thought)
	if err != nil {
		return nil
	}
	return append(a.call(phase, "reasoning", "reasoningtool", string(raw)), a.result(phase, "reasoning", "reasoningtool", "")...)
}

func (a *Agent) action(d event.AgentAction) []Chunk {
	a.at(d.Iteration)
	if d.Arguments == nil && d.Result == "" && !d.Failed {
		return nil
	}
	if a.phases == nil {
		a.phases, a.names = map[string]string{}, map[string]string{}
	}
	phase, begun := a.phases[d.CallID]
	if told := a.Continued && (d.Result != "" || d.Failed); told && !begun {
		return nil // what was asked is the result of asking, and was told when it was
	}
	if !begun {
		phase = fmt.Sprintf("%d-action", a.iteration)
		if a.acts++; a.acts > 1 { // calls at once are told apart
			phase = fmt.Sprintf("%s-%d", phase, a.acts)
		}
		a.phases[d.CallID], a.names[d.CallID] = phase, d.Tool
	}
	if d.Result == "" && !d.Failed {
		a.asking = d.CallID
		return a.call(phase, "action", d.Tool, string(d.Arguments))
	}
	return a.result(phase, "action", a.names[d.CallID], d.Result)
}

// call shows the call of a tool.
func (a *Agent) call(phase, kind, name, arguments string) []Chunk {
	if a.WebUI {
		return []Chunk{a.text(phase, "assistant", fmt.Sprintf("\n<details>\n<summary>Phase: %s Tool Call: %s</summary>\n\n``` json\n%s\n```\n</details>\n\n", kind, name, indented(arguments)))}
	}
	call := ToolCall{Index: a.calls, ID: phase, Type: "function", Function: Function{Name: name, Arguments: arguments}}
	a.calls++
	return []Chunk{a.chunk(phase, Delta{Role: "assistant", ToolCalls: []ToolCall{call}})}
}

// result shows what a tool returned.
func (a *Agent) result(phase, kind, name, text string) []Chunk {
	if !a.WebUI {
		c := a.text(phase, "tool", text)
		c.Choices[0].Delta.ToolCallID = phase
		return []Chunk{c}
	}
	if text == "" {
		return nil
	}
	return []Chunk{a.text(phase, "assistant", fmt.Sprintf("\n<details>\n<summary>Phase: %s Tool Result: %s</summary>\n\n```\n%s\n```\n</details>\n\n", kind, name, text))}
}

// indented is JSON for people.
func indented(arguments string) string {
	var value any
	if json.Unmarshal([]byte(arguments), &value) != nil {
		return arguments
	}
	raw, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return arguments
	}
	return string(raw)
}

// End implements Projection. What went wrong is told as content: the clients know
// no other place for it.
func (a *Agent) End() ([]Chunk, error) {
	text, citations, err := a.outcome.answer()
	if err != nil {
		text = "Error: " + err.Error()
	}
	var chunks []Chunk
	if phase := a.phases[a.asking]; a.outcome.asked != nil && phase != "" {
		chunks = a.result(phase, "action", a.names[a.asking], text)
	}
	last := over(a.text(fmt.Sprintf("%d-final", a.iteration), "assistant", text), stop)
	last.Choices[0].Delta.Annotations = annotations(citations)
	last.Usage = &a.outcome.usage
	return append(chunks, last), nil
}
