// Package mcptool makes tools of what MCP servers offer: servers that are
// started as programs and servers over HTTP, all of them named by the operator.
// It speaks the protocol of https://modelcontextprotocol.io/specification through
// its Go SDK.
//
// What a server says (names, descriptions, schemas, results) is data: it is
// cleaned, bounded and passed on. A server that is dead, silent or talks
// nonsense costs one call an error that a model can act on, never a run.
package mcptool

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"dossier/internal/base/mcpconn"
	"dossier/tool"
	"dossier/tool/internal/said"
)

// Server is how a server is reached: Command is a program that speaks over its
// standard input and output; URL is an address, used when Command is empty.
type Server struct {
	Name    string
	URL     string
	Headers map[string]string
	Command string
	Args    []string
	Env     map[string]string
}

// Options of a Client. Zero is the default of each.
type Options struct {
	// ContextLimit bounds the text of a result, in characters; 15000.
	ContextLimit int
	// Timeout of a call, which includes connecting when that has to be done;
	// tool.DefaultTimeout.
	Timeout time.Duration
	// Connect bounds starting a server and shaking hands with it; 30 s.
	Connect time.Duration
	HTTP    *http.Client // for servers over HTTP
	Log     *slog.Logger
	// Changed is told the name of a server whose tools are others now. It must
	// not block.
	Changed func(server string)
}

const (
	defaultLimit   = 15_000
	defaultConnect = 30 * time.Second
	// listLife is how long a list is used without asking again, for servers that
	// don't tell when it changes.
	listLife = 5 * time.Minute
	// mostTools and mostPages bound the list of a server.
	mostTools, mostPages = 2000, 200
	// firstRest is how long a server that failed twice is left alone.
	firstRest = time.Second
	// pingTime is how long a server may take to show that it lives after a call
	// that it did not answer.
	pingTime = 3 * time.Second
	// leastKey is the length below which masking a key would tear words apart.
	leastKey = 8
)

// Client holds the connections to servers. It is safe for concurrent use.
type Client struct {
	options Options
	servers []*server // by name
	life    context.Context
	end     context.CancelFunc

	mu     sync.Mutex
	closed bool
	work   sync.WaitGroup
}

// server is one of them.
type server struct {
	Server

	client *Client
	conn   *mcpconn.Conn[*known]
	words  said.Cleaner      // cleans words about the server
	masks  *strings.Replacer // keeps its keys out of results, and nothing else
	change atomic.Int64      // counts changes of the list
}

// known is what is known of a server within a session.
type known struct {
	mine   chan struct{} // holds something while somebody has the rest
	tools  []*mcp.Tool
	change int64 // at which they were listed
	at     time.Time
}

// New returns a client that connects when a server is first needed. When ctx
// ends, what was started is killed; Close ends it more gently.
func New(ctx context.Context, servers []Server, o Options) *Client {
	o.ContextLimit = cmp.Or(o.ContextLimit, defaultLimit)
	o.Timeout = cmp.Or(o.Timeout, tool.DefaultTimeout)
	o.Connect = cmp.Or(o.Connect, defaultConnect)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	c := &Client{options: o}
	c.life, c.end = context.WithCancel(ctx)
	for _, s := range servers {
		own := &server{Server: s, client: c}
		own.guard()
		own.conn = mcpconn.New(c.life, mcpconn.Server{Command: s.Command, Args: s.Args, Env: s.Env, URL: s.URL, Headers: s.Headers}, mcpconn.Options[*known]{
			HTTP: o.HTTP, Connect: o.Connect, Rest: firstRest,
			Greet: func(context.Context, *mcp.ClientSession) (*known, error) {
				return &known{mine: make(chan struct{}, 1)}, nil
			},
			ToolsChanged: own.changed,
		})
		c.servers = append(c.servers, own)
	}
	slices.SortStableFunc(c.servers, func(a, b *server) int { return strings.Compare(a.Name, b.Name) })
	return c
}

// guard makes the server's secrets known to what cleans its words.
func (s *server) guard() {
	var keys []string
	for _, value := range s.Headers {
		keys = append(append(keys, value), strings.Fields(value)...)
	}
	for name, value := range s.Env {
		s.words.Add(value)
		if keyName.MatchString(name) {
			keys = append(keys, value)
		}
	}
	if u, err := url.Parse(s.URL); err == nil {
		if password, ok := u.User.Password(); ok {
			keys = append(keys, password)
		}
		for _, values := range u.Query() {
			keys = append(keys, values...)
		}
	}
	s.words.Add(keys...)
	// The replacer takes the first that fits, so longer ones come first.
	slices.SortFunc(keys, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	var pairs []string
	for _, key := range keys {
		if len(key) >= leastKey {
			pairs = append(pairs, key, "[redacted]")
		}
	}
	s.masks = strings.NewReplacer(pairs...)
}

// keyName are names of variables that hold keys.
var keyName = regexp.MustCompile(`(?i)key|token|secret|passw|auth|credential`)

// Servers are the names of the servers, in order.
func (c *Client) Servers() []string {
	names := make([]string, len(c.servers))
	for i, s := range c.servers {
		names[i] = s.Name
	}
	return names
}

// Tools returns the tools of a server by their names. They keep the names that
// the server gives them, as far as a model can be told these; see Distinct.
func (c *Client) Tools(ctx context.Context, name string) ([]tool.Tool, error) {
	i := slices.IndexFunc(c.servers, func(s *server) bool { return s.Name == name })
	if i < 0 {
		return nil, fmt.Errorf("there is no MCP server %q; those there are: %s", name, cmp.Or(strings.Join(c.Servers(), ", "), "none"))
	}
	tools, trouble, err := c.servers[i].tools(ctx)
	if trouble != nil {
		err = trouble
	}
	return tools, err
}

func (c *Client) each(f func(int, *server)) {
	var all sync.WaitGroup
	for i, s := range c.servers {
		all.Go(func() { f(i, s) })
	}
	all.Wait()
}

// Status is how a server is.
type Status struct {
	Server string        `json:"server"`
	OK     bool          `json:"ok"`
	Tools  int           `json:"tools"`
	Took   time.Duration `json:"took"`
	// Error and Hint say what is wrong and what to do about it.
	Error string `json:"error,omitempty"`
	Hint  string `json:"hint,omitempty"`
	// ServerInfo is what the server calls itself, with its version.
	ServerInfo string `json:"server_info,omitempty"`
}

// Status asks every server for its tools.
func (c *Client) Status(ctx context.Context) []Status {
	all := make([]Status, len(c.servers))
	c.each(func(i int, s *server) {
		began := time.Now()
		st := Status{Server: s.Name}
		tools, trouble, err := s.tools(ctx)
		st.Took = time.Since(began)
		switch {
		case trouble != nil:
			st.Error, st.Hint = trouble.Problem, trouble.Hint
		case err != nil:
			st.Error, st.Hint = "it gave no answer in the time that was allowed", "Allow more time."
		default:
			st.OK, st.Tools, st.ServerInfo = true, len(tools), s.info(ctx)
		}
		all[i] = st
	})
	return all
}

func (s *server) info(ctx context.Context) string {
	session, _, err := s.conn.Session(ctx)
	if err != nil {
		return ""
	}
	result := session.InitializeResult()
	if result == nil || result.ServerInfo == nil {
		return ""
	}
	return s.words.Line(strings.TrimSpace(result.ServerInfo.Name+" "+result.ServerInfo.Version), 200)
}

// Close ends the connections and the programs that were started, and waits
// until they are gone. Calls fail from then on.
func (c *Client) Close() error {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.each(func(_ int, s *server) { _ = s.conn.Close() })
	c.end()
	c.work.Wait()
	return nil
}

// later does something that nobody waits for but Close.
func (c *Client) later(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed {
		c.work.Go(f)
	}
}

func (s *server) changed() {
	s.change.Add(1)
	if f := s.client.options.Changed; f != nil {
		f(s.Name)
	}
}

// tools returns the server's tools. The error is that of the context; whatever
// else goes wrong is a trouble.
func (s *server) tools(ctx context.Context) ([]tool.Tool, *Trouble, error) {
	for again := false; ; again = true {
		session, fresh, err := s.conn.Session(ctx)
		if err != nil {
			return s.failed(ctx, err)
		}
		listing, stop := context.WithTimeout(ctx, s.client.options.Timeout)
		listing, report := mcpconn.Watch(listing)
		list, err := s.list(listing, session)
		if err == nil {
			stop()
			s.conn.Works()
			return s.specs(list), nil, nil
		}
		if ctx.Err() != nil {
			stop()
			return nil, nil, context.Cause(ctx)
		}
		f := s.judge(listing, session, report.Seen(), err)
		stop() // not before it is known whether the time was up
		if f.lost {
			s.conn.Lost(session)
		}
		if !f.lost || f.settled || fresh || again {
			t := f.trouble
			return nil, &t, nil
		}
	}
}

func (s *server) failed(ctx context.Context, err error) ([]tool.Tool, *Trouble, error) {
	if ctx.Err() != nil {
		return nil, nil, context.Cause(ctx)
	}
	t := s.unconnected(err)
	s.client.options.Log.Warn("an MCP server can't be used", "server", s.Name, "problem", t.Problem)
	return nil, &t, nil
}

// list returns what the server listed, asking it when that is not known or too
// old.
func (s *server) list(ctx context.Context, session *mcpconn.Session[*known]) ([]*mcp.Tool, error) {
	k := session.Known
	select {
	case k.mine <- struct{}{}:
		defer func() { <-k.mine }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	change := s.change.Load()
	if !k.at.IsZero() && k.change == change && time.Since(k.at) < listLife {
		return k.tools, nil
	}
	var all []*mcp.Tool
	params := &mcp.ListToolsParams{}
	for page := 0; ; page++ {
		result, err := session.ListTools(ctx, params)
		if err != nil {
			return nil, err
		}
		all = append(all, result.Tools...)
		if result.NextCursor == "" {
			break
		}
		if page >= mostPages || len(all) > mostTools {
			s.client.options.Log.Warn("an MCP server lists tools without end", "server", s.Name, "kept", min(len(all), mostTools))
			all = all[:min(len(all), mostTools)]
			break
		}
		params = &mcp.ListToolsParams{Cursor: result.NextCursor}
	}
	k.tools, k.change, k.at = all, change, time.Now()
	return all, nil
}
