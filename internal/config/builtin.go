package config

import (
	_ "embed"
	"sync"
)

//go:embed agents.yaml
var builtInAgents []byte

// builtInName is where a built-in definition comes from.
const builtInName = "built in"

// builtIn are the agents that need no file, read as a file of definitions is.
// They never change. A mistake in the file is one in the program.
var builtIn = sync.OnceValue(func() map[string]*entry {
	t := schema()
	st := &state{agents: map[string]*entry{}}
	bad := &problems{}
	var out []setting
	r := st.reader(t, builtInName, "", layerDefinitions, &out, bad)
	if root := r.parse(builtInAgents); root != nil {
		r.section(t.root, root, "")
	}
	if err := bad.err(); err != nil {
		panic("config: agents.yaml: " + err.Error())
	}
	for _, e := range st.agents {
		e.origin.line = 0
		for i := range e.keys {
			e.keys[i].origin.line = 0
			tools, _ := e.keys[i].value.([]toolEntry)
			for j := range tools {
				tools[j].origin.line = 0
			}
		}
	}
	return st.agents
})

// defaultTools are what an agent has that lists none.
const defaultTools = "sgr_tool_calling_agent"
