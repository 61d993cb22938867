package llm

import "sync"

// Way is how a model is made to answer with an object.
type Way string

// The ways, best first.
const (
	WaySchema     Way = "json_schema" // the endpoint holds the reply to the schema
	WayJSON       Way = "json_object" // the endpoint promises JSON, the prompt names the schema
	WayTool       Way = "tool"        // the model calls a tool with the object as arguments
	WayPromptOnly Way = "prompt"      // the prompt names the schema, nothing is promised
)

var ways = []Way{WaySchema, WayJSON, WayTool, WayPromptOnly}

// Probes remembers which way works with which model of which endpoint. It is
// safe for concurrent use.
type Probes interface {
	Way(endpoint, model string) (way Way, known bool)
	SetWay(endpoint, model string, way Way)
}

// MemoryProbes are Probes that last as long as the process. The zero value is
// ready.
type MemoryProbes struct{ m sync.Map }

type probeKey struct{ endpoint, model string }

// Way implements Probes.
func (p *MemoryProbes) Way(endpoint, model string) (Way, bool) {
	v, ok := p.m.Load(probeKey{endpoint, model})
	if !ok {
		return "", false
	}
	return v.(Way), true
}

// SetWay implements Probes.
func (p *MemoryProbes) SetWay(endpoint, model string, way Way) {
	p.m.Store(probeKey{endpoint, model}, way)
}
