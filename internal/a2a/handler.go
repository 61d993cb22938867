package a2a

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	wire "github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
	a2alog "github.com/a2aproject/a2a-go/v2/log"
)

const (
	// Root is the path below which the agents are.
	Root = "/a2a/"
	// mostRequest bounds a request, in bytes.
	mostRequest = 4 << 20
	// keepAlive is how often a stream shows that it lives.
	keepAlive = 15 * time.Second
)

// Options of the handler.
type Options struct {
	// URL is the address at which the handler is reached, without a path; empty
	// takes that of each request.
	URL string
	Log *slog.Logger
}

// Handler serves
//
//	GET  /.well-known/agent-card.json            the card of the first agent
//	GET  /a2a/AGENT/.well-known/agent-card.json  the card of an agent
//	POST /a2a/AGENT                              JSON-RPC
//	     /a2a/AGENT/message:send, …              HTTP+JSON
func Handler(agents Agents, o Options) http.Handler {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	h := &handler{agents: agents, options: o}
	mux := http.NewServeMux()
	mux.HandleFunc(a2asrv.WellKnownAgentCardPath, h.card)
	mux.HandleFunc(Root+"{agent}"+a2asrv.WellKnownAgentCardPath, h.card)
	mux.HandleFunc(Root+"{agent}", h.serve)
	mux.HandleFunc(Root+"{agent}/", h.serve)
	return mux
}

type handler struct {
	agents  Agents
	options Options
}

// find returns the card of an agent; the first one when name is empty.
func (h *handler) find(ctx context.Context, name string) (Card, bool, error) {
	cards, err := h.agents.Cards(ctx)
	if err != nil {
		return Card{}, false, err
	}
	i := 0
	if name != "" {
		i = slices.IndexFunc(cards, func(c Card) bool { return c.Name == name })
	}
	if i < 0 || len(cards) == 0 {
		return Card{}, false, nil
	}
	return cards[i], true, nil
}

func (h *handler) card(w http.ResponseWriter, r *http.Request) {
	card, ok, err := h.find(r.Context(), r.PathValue("agent"))
	switch {
	case err != nil:
		h.options.Log.Error("cards of agents", "error", err)
		http.Error(w, "the agents are not known right now", http.StatusInternalServerError)
	case !ok:
		http.Error(w, "there is no such agent", http.StatusNotFound)
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		http.Error(w, "a card can only be read", http.StatusMethodNotAllowed)
	default:
		// Written here and not by the library, which would let scripts of any
		// page read it with the user's cookies.
		w.Header().Set("Content-Type", "application/json")
		if err := json.NewEncoder(w).Encode(h.public(r, card)); err != nil {
			h.options.Log.Debug("a card was not read to its end", "error", err)
		}
	}
}

// public is a card as the protocol has it.
func (h *handler) public(r *http.Request, c Card) *wire.AgentCard {
	base := strings.TrimSuffix(h.options.URL, "/")
	if base == "" {
		scheme := "http"
		if r.TLS != nil {
			scheme = "https"
		}
		base = scheme + "://" + r.Host
	}
	at := base + Root + url.PathEscape(c.Name)
	title, version := c.Title, c.Version
	if title == "" {
		title = c.Name
	}
	if version == "" {
		version = "1"
	}
	card := &wire.AgentCard{
		Name: title, Description: c.Description, Version: version,
		SupportedInterfaces: []*wire.AgentInterface{
			wire.NewAgentInterface(at, wire.TransportProtocolJSONRPC),
			wire.NewAgentInterface(at, wire.TransportProtocolHTTPJSON),
		},
		Capabilities:       wire.AgentCapabilities{Streaming: true},
		DefaultInputModes:  []string{"text/plain"},
		DefaultOutputModes: []string{"text/plain"},
		Skills:             []wire.AgentSkill{},
	}
	for _, s := range c.Skills {
		tags := s.Tags
		if tags == nil {
			tags = []string{}
		}
		card.Skills = append(card.Skills, wire.AgentSkill{ID: s.ID, Name: s.Name, Description: s.Description, Tags: tags, Examples: s.Examples})
	}
	return card
}

// serve passes a request on to the binding that it is in.
func (h *handler) serve(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("agent")
	if _, ok, err := h.find(r.Context(), name); err != nil || !ok {
		h.card(w, r) // it says what is wrong
		return
	}
	r = r.WithContext(h.quiet(r.Context()))
	r.Body = http.MaxBytesReader(w, r.Body, mostRequest)
	tasks := &tasks{handler: h, agent: name}
	options := []a2asrv.TransportOption{a2asrv.WithTransportKeepAlive(keepAlive), a2asrv.WithTransportPanicHandler(h.panicked)}
	if rest := strings.TrimPrefix(r.URL.Path, Root+name); rest != "" && rest != "/" {
		http.StripPrefix(Root+name, a2asrv.NewRESTHandler(tasks, options...)).ServeHTTP(w, r)
		return
	}
	a2asrv.NewJSONRPCHandler(tasks, options...).ServeHTTP(w, r)
}

func (h *handler) panicked(p any) error {
	h.options.Log.Error("a request of A2A broke down", "panic", fmt.Sprint(p))
	return wire.ErrInternalError
}

// quiet gives the library our log instead of the process's.
func (h *handler) quiet(ctx context.Context) context.Context {
	return a2alog.AttachLogger(ctx, h.options.Log)
}
