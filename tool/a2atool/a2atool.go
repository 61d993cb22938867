// Package a2atool makes tools of agents elsewhere that speak the A2A protocol
// (https://a2a-protocol.org), version 1. Which agents there are is up to the
// operator: a card can't send us to a host that he did not name, and keys go to
// that host only.
//
// What an agent says, of itself or in an answer, is data.
package a2atool

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"
	"github.com/a2aproject/a2a-go/v2/a2aclient/agentcard"
	a2alog "github.com/a2aproject/a2a-go/v2/log"

	"dossier/run"
	"dossier/tool"
	"dossier/tool/internal/said"
)

// Agent is an agent elsewhere.
type Agent struct {
	// Name of its tool, after "agent_"; empty takes the one on its card.
	Name string
	// URL is the address below which its card is.
	URL     string
	Headers map[string]string
}

// Options of a Client. Zero is the default of each.
type Options struct {
	// ContextLimit bounds the text of a result, in characters; 15000.
	ContextLimit int
	// Timeout of a task; 10 min.
	Timeout time.Duration
	HTTP    *http.Client
	Log     *slog.Logger
}

const (
	defaultLimit   = 15_000
	defaultTimeout = 10 * time.Minute
	cardTime       = 15 * time.Second
	// cancelTime is how long telling an agent that nobody waits any more may
	// take, and cancelMoment how long that is waited for.
	cancelTime, cancelMoment = 5 * time.Second, time.Second
	// firstPoll and mostPoll are the pauses between looks at a task.
	firstPoll, mostPoll = 250 * time.Millisecond, 5 * time.Second
	mostDescription     = 2000 // characters
	mostSkills          = 20
)

// Client reads cards and makes tools of them.
type Client struct {
	options Options
	agents  []Agent
}

// New returns a client for the agents that the operator named.
func New(agents []Agent, o Options) *Client {
	o.ContextLimit = cmp.Or(o.ContextLimit, defaultLimit)
	o.Timeout = cmp.Or(o.Timeout, defaultTimeout)
	if o.HTTP == nil {
		o.HTTP = &http.Client{}
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Client{options: o, agents: slices.Clone(agents)}
}

// Trouble is an agent that can't be used, and what to do about it.
type Trouble struct {
	Agent   string `json:"agent"`
	Problem string `json:"problem"`
	Hint    string `json:"hint"` // for the operator
}

func (t *Trouble) Error() string { return fmt.Sprintf("A2A agent %s: %s", t.Agent, t.Problem) }

// unused returns a name that is not used yet, and notes it.
func unused(name string, used map[string]bool) string {
	free := name
	for n := 2; used[tool.PlainName(free)]; n++ {
		suffix := fmt.Sprintf("_%d", n)
		free = name[:min(len(name), said.MostName-len(suffix))] + suffix
	}
	used[tool.PlainName(free)] = true
	return free
}

// Tool reads the card of one agent, by the name that the operator gave it, and
// returns its tool, which has a name beside those of the others so named.
func (c *Client) Tool(ctx context.Context, name string) (tool.Tool, *Trouble) {
	i := slices.IndexFunc(c.agents, func(a Agent) bool { return a.Name == name })
	if i < 0 {
		return nil, &Trouble{Agent: name, Problem: "it is not known here", Hint: "Name it in the configuration."}
	}
	r, trouble := c.meet(ctx, c.agents[i])
	if trouble != nil {
		return nil, trouble
	}
	used := make(map[string]bool)
	for _, before := range c.agents[:i] {
		unused(said.Name("agent_"+said.Name(before.Name)), used)
	}
	r.spec.Name = unused(r.spec.Name, used)
	return r.tool(), nil
}

// meet reads an agent's card.
func (c *Client) meet(ctx context.Context, a Agent) (*remote, *Trouble) {
	r := &remote{client: c, agent: a}
	trouble := func(problem, hint string) *Trouble {
		return &Trouble{Agent: cmp.Or(a.Name, r.words.Line(r.host, 100), "without a name"), Problem: problem, Hint: hint}
	}
	for _, value := range a.Headers {
		r.words.Add(append(strings.Fields(value), value)...)
	}
	base, err := url.Parse(a.URL)
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" {
		return nil, trouble("its address is no URL", "Name it as https://host/path.")
	}
	r.host = base.Host
	client := guarded(c.options.HTTP, base, a.Headers)
	reading, stop := context.WithTimeout(quiet(ctx), cardTime)
	defer stop()
	card, err := agentcard.NewResolver(client).Resolve(reading, a.URL)
	if err != nil {
		return nil, trouble(r.cardTrouble(reading, err))
	}
	// What the card offers elsewhere is not for us.
	own := slices.DeleteFunc(slices.Clone(card.SupportedInterfaces), func(i *a2a.AgentInterface) bool {
		if i == nil {
			return true
		}
		u, err := url.Parse(i.URL)
		return err != nil || u.Host != base.Host || u.Scheme != base.Scheme
	})
	if len(own) == 0 {
		if len(card.SupportedInterfaces) > 0 {
			return nil, trouble("its card sends us to another host", "Name the agent by the address of that host.")
		}
		return nil, trouble("its card names no way to talk to it; perhaps it speaks a version of A2A before 1.0", "Update the agent to A2A 1.0.")
	}
	card.SupportedInterfaces = own
	r.remote, err = a2aclient.NewFromCard(quiet(ctx), card, a2aclient.WithJSONRPCTransport(client), a2aclient.WithRESTTransport(client),
		a2aclient.WithConfig(a2aclient.Config{AcceptedOutputModes: []string{"text/plain", "text/markdown", "application/json"}, DisableTenantPropagation: true}))
	if err != nil {
		return nil, trouble("it speaks neither JSON-RPC nor HTTP+JSON of A2A 1.0", "Update the agent, or do without it.")
	}
	r.spec = r.describe(card)
	return r, nil
}

func (r *remote) cardTrouble(ctx context.Context, err error) (problem, hint string) {
	status, refused := errors.AsType[*agentcard.ErrStatusNotOK](err)
	syntax, _ := errors.AsType[*json.SyntaxError](err)
	kind, _ := errors.AsType[*json.UnmarshalTypeError](err)
	switch {
	case ctx.Err() != nil:
		return "its card did not come in time", "See whether the agent runs."
	case refused && (status.StatusCode == http.StatusUnauthorized || status.StatusCode == http.StatusForbidden):
		return fmt.Sprintf("it does not let us in (HTTP %d)", status.StatusCode), "Put a valid key into its headers."
	case refused:
		return fmt.Sprintf("it has no card at its address (HTTP %d)", status.StatusCode), "Correct its address; the card is at .well-known/agent-card.json below it."
	case syntax != nil || kind != nil:
		return "its card is not one of A2A", "Correct its address; the card is at .well-known/agent-card.json below it."
	}
	return "it can't be reached: " + r.network(err), "See whether the agent runs and its address is right."
}

// network is an error without the address, which may hold a key.
func (r *remote) network(err error) string {
	if e, ok := errors.AsType[*url.Error](err); ok {
		err = e.Err
	}
	return r.words.Line(err.Error(), 300)
}

// describe makes a spec of a card.
func (r *remote) describe(card *a2a.AgentCard) tool.Spec {
	name := cmp.Or(said.Name(r.agent.Name), said.Name(card.Name), "remote")
	spec := tool.Spec{
		Name:    said.Name("agent_" + name),
		Effect:  run.Effectful,
		Timeout: r.client.options.Timeout,
		Origin:  "a2a:" + cmp.Or(r.agent.Name, name),
	}
	var d strings.Builder
	fmt.Fprintf(&d, "Asks another agent, %s, and waits for its answer. %s", r.words.Line(cmp.Or(card.Name, name), 100), r.words.Text(card.Description, mostDescription))
	for i, s := range card.Skills {
		if i == mostSkills {
			fmt.Fprintf(&d, "\n- and %d more", len(card.Skills)-i)
			break
		}
		fmt.Fprintf(&d, "\n- %s: %s", r.words.Line(cmp.Or(s.Name, s.ID), 100), r.words.Line(s.Description, 300))
		for _, tag := range s.Tags {
			if tag = r.words.Line(tag, 50); tag != "" && !slices.Contains(spec.Tags, tag) && len(spec.Tags) < 50 {
				spec.Tags = append(spec.Tags, tag)
			}
		}
		for _, example := range s.Examples {
			if example = r.words.Line(example, 200); example != "" && len(spec.Examples) < mostSkills {
				spec.Examples = append(spec.Examples, example)
			}
		}
	}
	spec.Description = tool.Cut(strings.TrimSpace(d.String()), 2*mostDescription)
	return spec
}

// quiet keeps the library from writing to the log of the process: addresses in
// it may hold keys.
func quiet(ctx context.Context) context.Context {
	return a2alog.AttachLogger(ctx, slog.New(slog.DiscardHandler))
}
