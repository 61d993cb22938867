package llmtest

import (
	"crypto/sha256"
	"encoding/json"
	"io"
	"slices"
	"time"
)

// Call is the record of a received call. It is made before the reply is sent.
type Call struct {
	// Number counts from 1 in the order of arrival.
	Number   int       `json:"number"`
	Time     time.Time `json:"time"`
	Dialect  string    `json:"dialect"`
	Endpoint string    `json:"endpoint"`
	Role     string    `json:"role"`
	Model    string    `json:"model"`
	Schema   string    `json:"schema,omitempty"`
	// Hash of the body: equal for equal requests.
	Hash string `json:"hash"`
	// Repeat is 1 for the first call with this body, 2 for the second.
	Repeat int    `json:"repeat"`
	Stream bool   `json:"stream,omitempty"`
	Rule   string `json:"rule,omitempty"`
	// Fault that was applied, and the HTTP status sent.
	Fault  FaultKind `json:"fault,omitempty"`
	Status int       `json:"status"`
	// Request is the call itself. It is not to be changed.
	Request *Request `json:"-"`
}

// callLog keeps the calls; the server's lock guards it.
type callLog struct {
	keep   int
	number int
	calls  []Call
	seen   map[[sha256.Size]byte]int
	w      io.Writer
}

// repeat counts how often a body was seen, this time included.
func (l *callLog) repeat(body [sha256.Size]byte) int {
	l.seen[body]++
	return l.seen[body]
}

func (l *callLog) add(c *Call) error {
	l.number++
	c.Number = l.number
	if l.w != nil {
		b, err := json.Marshal(c)
		if err != nil {
			return err
		}
		if _, err := l.w.Write(append(b, '\n')); err != nil {
			return err
		}
	}
	l.calls = append(l.calls, *c)
	if l.keep > 0 && len(l.calls) >= 2*l.keep {
		l.calls = slices.Clone(l.calls[len(l.calls)-l.keep:])
	}
	return nil
}

// LogTo writes each call to w as a line of JSON, before its reply is sent. A
// call that can't be written gets a 500.
func (s *Server) LogTo(w io.Writer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log.w = w
}

// Calls returns the calls received so far, in order.
func (s *Server) Calls() []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.log.calls)
}

// CallsFor returns the calls with this role and schema name, in order; an
// empty string stands for any.
func (s *Server) CallsFor(role, schema string) []Call {
	return slices.DeleteFunc(s.Calls(), func(c Call) bool {
		return role != "" && c.Role != role || schema != "" && c.Schema != schema
	})
}
