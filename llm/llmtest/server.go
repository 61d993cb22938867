package llmtest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"dossier/llm"
)

// RoleHeader names the role that a call is made for, where a test wants to say
// it apart from the model. Dossier never sends it.
const RoleHeader = "X-Dossier-Role"

const maxBody = 64 << 20

// Server answers calls as its script says. It is an http.Handler, safe for
// concurrent use.
type Server struct {
	script Script
	mux    *http.ServeMux
	url    string
	done   chan struct{} // closed when waits have to end
	gone   chan Call
	// patience is what the conformance suite grants the provider.
	patience time.Duration

	mu       sync.Mutex
	log      callLog
	counts   []int // per rule: calls that met its conditions
	limiter  limiter
	inFlight int
	tokens   map[string]time.Time // GigaChat's access tokens and their end
	issued   int
}

// New makes a server for a script. It panics when the script is invalid,
// which only a script written in Go can be at this point.
func New(script Script) *Server {
	if err := script.validate(); err != nil {
		panic("llmtest: " + err.Error())
	}
	s := &Server{
		script:  script,
		mux:     http.NewServeMux(),
		done:    make(chan struct{}),
		gone:    make(chan Call, 1024),
		log:     callLog{keep: script.Keep, seen: map[[sha256.Size]byte]int{}},
		counts:  make([]int, len(script.Rules)),
		limiter: limiter{limits: script.Limits},
		tokens:  map[string]time.Time{},

		patience: time.Minute,
	}
	openai, anthropic, gigachat := openAI{}, anthropicDialect{}, gigaChat{}
	s.mux.Handle("POST /v1/chat/completions", s.chat(openai))
	s.mux.Handle("POST /v1/embeddings", s.embeddings(openai))
	s.mux.HandleFunc("GET /v1/models", s.models)
	s.mux.Handle("POST /v1/messages", s.chat(anthropic))
	s.mux.HandleFunc("POST /api/v2/oauth", s.oauth)
	s.mux.Handle("POST /api/v1/chat/completions", s.chat(gigachat))
	s.mux.Handle("POST /api/v1/embeddings", s.embeddings(gigachat))
	s.mux.HandleFunc("GET /api/v1/models", s.models)
	return s
}

// Start runs a server on a loopback port until the test ends.
func Start(tb testing.TB, script Script) *Server {
	tb.Helper()
	s := New(script)
	h := httptest.NewServer(s)
	s.url = h.URL
	tb.Cleanup(func() {
		s.Close()
		h.CloseClientConnections()
		h.Close()
	})
	return s
}

// URL is the address of a server made by Start, without a path: clients of
// OpenAI's dialect append /v1, of GigaChat's /api/v1 and /api/v2/oauth.
func (s *Server) URL() string { return s.url }

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

// Close ends every wait (latency, stalls) under way. Call it once, before
// shutting down the http.Server around s.
func (s *Server) Close() { close(s.done) }

// Gone delivers the calls whose client left before the reply was whole. It
// holds 1024; what exceeds that is dropped.
func (s *Server) Gone() <-chan Call { return s.gone }

// TokensIssued counts GigaChat's access tokens.
func (s *Server) TokensIssued() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.issued
}

// plan is all that was decided about a call under the lock.
type plan struct {
	call       Call
	req        *Request
	reply      *Reply
	fault      *Fault
	refusal    *refusal
	latency    time.Duration
	chunkDelay time.Duration
}

// receive reads, decides and records a call. A nil plan means that the answer
// has been written.
func (s *Server) receive(w http.ResponseWriter, r *http.Request, d dialect, parse func([]byte, *Request) error) *plan {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
			(&refusal{status: 413, code: "request_too_large", message: "the request is larger than 64 MiB"}).write(w, d)
		}
		return nil
	}
	q := &Request{Dialect: d.name()}
	if err := parse(body, q); err != nil {
		(&refusal{status: 400, code: "invalid_request", message: "the request could not be read: " + err.Error()}).write(w, d)
		return nil
	}
	sum := sha256.Sum256(body)
	q.Hash = hex.EncodeToString(sum[:16])
	q.Role = r.Header.Get(RoleHeader)
	if q.Role == "" {
		q.Role = q.Model
	}
	q.Schema = q.schemaName()

	p := &plan{req: q, latency: s.script.Latency, chunkDelay: s.script.ChunkDelay}
	key := d.key(r.Header)
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	repeat := s.log.repeat(sum)
	p.refusal = s.check(q, d, key, now)
	if p.refusal == nil {
		s.match(p, repeat)
		p.refusal = p.fault.refusal(q, key)
	}
	p.call = Call{
		Time: now, Dialect: q.Dialect, Endpoint: q.Endpoint, Role: q.Role, Model: q.Model,
		Schema: q.Schema, Hash: q.Hash, Repeat: repeat, Stream: q.Stream, Status: http.StatusOK,
		Rule: p.call.Rule, Request: q,
	}
	if p.fault != nil {
		p.call.Fault = p.fault.Kind
	}
	if p.refusal != nil {
		p.call.Status = p.refusal.status
	}
	if err := s.log.add(&p.call); err != nil {
		http.Error(w, "call log: "+err.Error(), http.StatusInternalServerError)
		return nil
	}
	s.inFlight++
	return p
}

// check refuses what a real service would refuse, whatever the rules say.
func (s *Server) check(q *Request, d dialect, key string, now time.Time) *refusal {
	if d.name() == "gigachat" {
		if end, ok := s.tokens[key]; !ok || now.After(end) {
			return &refusal{status: 401, code: "invalid_api_key", message: "Token has expired"}
		}
	} else if s.script.Key != "" && key != s.script.Key {
		return refuseKey(key)
	}
	if e := s.limiter.take(now, s.inFlight); e != nil {
		return e
	}
	if !s.known(q.Model) {
		return refuseModel(q.Model)
	}
	if q.Endpoint == "embeddings" {
		return nil
	}
	if err := checkConversation(q.Messages); err != nil {
		return &refusal{status: 400, code: "invalid_request", param: "messages", message: err.Error()}
	}
	if e := checkStrict(q); e != nil {
		return e
	}
	if n := q.inputTokens(); s.script.Context > 0 && n > s.script.Context {
		return refuseLength(n, s.script.Context)
	}
	return s.script.Support.apply(q)
}

func (s *Server) known(model string) bool {
	if len(s.script.Models) == 0 {
		return model != ""
	}
	return slices.Contains(s.script.Models, model)
}

// apply refuses the fields that the server doesn't take and drops those that
// it ignores.
func (sup Support) apply(q *Request) *refusal {
	if q.Format != nil {
		mode, what := sup.JSONSchema, "of type 'json_schema' "
		if len(q.Format.Schema) == 0 {
			mode, what = sup.JSONObject, "of type 'json_object' "
		}
		switch mode {
		case Refuse:
			return refuseField("response_format", what)
		case Ignore:
			q.Format = nil
		}
	}
	if q.ToolChoice != "" {
		switch sup.ToolChoice {
		case Refuse:
			return refuseField("tool_choice", "")
		case Ignore:
			q.ToolChoice = ""
		}
	}
	if len(q.Tools) > 0 {
		switch sup.Tools {
		case Refuse:
			return refuseField("tools", "")
		case Ignore:
			q.Tools, q.ToolChoice = nil, ""
		}
	}
	if q.Stream {
		switch sup.Stream {
		case Refuse:
			return refuseField("stream", "")
		case Ignore:
			q.Stream = false
		}
	}
	if sup.Usage == Refuse && q.usageInStream {
		return refuseField("stream_options", "")
	}
	return nil
}

// match looks for a fault and a reply in the rules.
func (s *Server) match(p *plan, repeat int) {
	q := p.req
	found := false
	for i := range s.script.Rules {
		r := &s.script.Rules[i]
		if !r.fits(q) {
			continue
		}
		s.counts[i]++
		n := s.counts[i]
		if found || r.Turn > 0 && n != r.Turn || r.First > 0 && n > r.First {
			continue
		}
		if p.call.Rule == "" {
			p.call.Rule = r.Name
		}
		if p.fault == nil && r.Fault != nil && r.Fault.drawn(s.script.Seed, i, q, repeat) {
			p.fault = r.Fault
		}
		if r.Latency > 0 {
			p.latency = r.Latency
		}
		if r.ChunkDelay > 0 {
			p.chunkDelay = r.ChunkDelay
		}
		if r.Reply != nil {
			p.reply, q.Turn, found = r.Reply, n, true
		}
	}
}

func (s *Server) finish(ctx context.Context, p *plan) {
	s.mu.Lock()
	s.inFlight--
	s.mu.Unlock()
	if ctx.Err() != nil {
		select {
		case s.gone <- p.call:
		default:
		}
	}
}

func (s *Server) chat(d dialect) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p := s.receive(w, r, d, d.parse)
		if p == nil {
			return
		}
		defer s.finish(r.Context(), p)
		var o *output
		if p.refusal == nil {
			o = makeOutput(p.req, p.reply)
			p.fault.bend(o, p.req)
			if s.script.Support.Usage == Ignore {
				o.noUsage = true
			}
		}
		if s.wait(r.Context(), p.latency) != nil {
			return
		}
		if p.refusal != nil {
			p.refusal.write(w, d)
			return
		}
		t := transfer{Server: s, w: w, ctx: r.Context(), fault: p.fault, delay: p.chunkDelay}
		if p.req.Stream {
			size := s.script.ChunkSize
			if size <= 0 {
				size = 16
			}
			// A huge output comes in larger pieces: it is meant to be long,
			// not slow.
			t.stream(d, o, max(size, len(o.text)/2000))
			return
		}
		t.whole(d.whole(o))
	})
}

func (s *Server) models(w http.ResponseWriter, _ *http.Request) {
	ids := s.script.Models
	if len(ids) == 0 {
		ids = []string{"test"}
	}
	w.Header().Set("Content-Type", "application/json")
	w.Write(modelList(ids))
}

// wait passes time, all of it with d > 0 or until the client leaves with
// d < 0, and returns an error when the client or the server left first.
func (s *Server) wait(ctx context.Context, d time.Duration) error {
	if d == 0 {
		return ctx.Err()
	}
	var timer <-chan time.Time
	if d > 0 {
		t := time.NewTimer(d)
		defer t.Stop()
		timer = t.C
	}
	select {
	case <-timer:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-s.done:
		return http.ErrServerClosed
	}
}

// output is what the model says, in no dialect yet.
type output struct {
	id        string
	model     string
	text      string
	reasoning string
	calls     []llm.ToolCall
	finish    llm.FinishReason
	input     int // tokens
	noUsage   bool
	inStream  bool // usage in the stream was asked for
	empty     bool
}

func (o *output) outputTokens() int {
	n := tokens(o.text) + tokens(o.reasoning)
	for _, c := range o.calls {
		n += tokens(c.Name) + tokens(c.Arguments)
	}
	return max(n, 1)
}
