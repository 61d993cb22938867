package studytest

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"dossier/llm"
	"dossier/llm/llmtest"
)

// InTurn makes researchers end their first tasks one after the other: each waits
// until the supervisor is through with the first step for the one before, which
// is recorded by then. So the same research comes out however fast each of them
// is. It remembers that beyond the end of a process, and the zero value is ready.
type InTurn struct {
	mu   sync.Mutex
	open map[int]chan struct{}
}

func (g *InTurn) gate(n int) chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.open == nil {
		g.open = make(map[int]chan struct{})
	}
	if g.open[n] == nil {
		g.open[n] = make(chan struct{})
	}
	return g.open[n]
}

func (g *InTurn) pass(n int) {
	c := g.gate(n)
	g.mu.Lock()
	defer g.mu.Unlock()
	select {
	case <-c:
	default:
		close(c)
	}
}

// Clone is who is next now, for a run that goes on from here by itself.
func (g *InTurn) Clone() *InTurn {
	g.mu.Lock()
	defer g.mu.Unlock()
	c := new(InTurn)
	for n, gate := range g.open {
		select {
		case <-gate:
			c.pass(n)
		default:
		}
	}
	return c
}

var callNumber = regexp.MustCompile(`This is call (\d+) of`)

// Team is the model with its researchers in turn, until left is closed: then
// nobody waits for its replies any more.
func (g *InTurn) Team(c Team, left <-chan struct{}) Team {
	plain := c
	c.Researcher = func(q *llmtest.Request) *llmtest.Reply {
		reply := plain.Research(q)
		view, _ := View(q)
		n := slices.Index(c.Tasks, strings.TrimSpace(Between(view, "Your task: ", "\n")))
		if n < 0 {
			n = len(c.Tasks) // those that come later wait for all of the first
		}
		if n > 0 && strings.Contains(reply.Text, "Action: done") {
			select {
			case <-g.gate(n):
			case <-left:
			}
		}
		return reply
	}
	c.Supervisor = func(q *llmtest.Request) *llmtest.Reply {
		view, _ := View(q)
		if slices.ContainsFunc(q.Messages, func(m llm.Message) bool { return m.Role == llm.RoleAssistant }) {
			g.pass(Number(callNumber.FindStringSubmatch(view)[1]))
		}
		return plain.Supervise(q)
	}
	return c
}
