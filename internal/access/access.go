// Package access says who may do what: callers and what they may do, and the
// tokens by which they are known.
//
// What is kept (a run, a session, a collection, a template, an instance) belongs
// to a user, or to nobody, and then it is the operator's. A caller sees what is
// their user's; the operator sees all. What a caller does not see is as if it
// were not there.
package access

import (
	"fmt"
	"slices"
	"strings"

	"dossier/internal/base/usage"
)

// Scope is a kind of thing that a caller may do.
type Scope string

// The scopes.
const (
	// Read is to see runs, sessions, collections, agents and tools.
	Read Scope = "read"
	// Run is to start runs and to tell them something.
	Run Scope = "run"
	// Documents is to fill and to delete collections.
	Documents Scope = "kb"
	// Agents is to change templates and instances.
	Agents Scope = "agents"
	// Tools is to call tools by themselves.
	Tools Scope = "tools"
	// Metrics is to see how the server is doing.
	Metrics Scope = "metrics"
	// Admin is to see and change what belongs to the installation: tokens, its
	// health, the collection in use.
	Admin Scope = "admin"
)

// Scopes are all of them.
var Scopes = []Scope{Read, Run, Documents, Agents, Tools, Metrics, Admin}

// Usual are the scopes of a user's token where none are named.
var Usual = []Scope{Read, Run}

// ParseScopes reads names of scopes.
func ParseScopes(names []string) ([]Scope, error) {
	var scopes []Scope
	for _, name := range names {
		s := Scope(strings.TrimSpace(name))
		if !slices.Contains(Scopes, s) {
			return nil, &usage.Error{Message: fmt.Sprintf("there is no scope %q", name), Hint: "the scopes are " + Names(Scopes)}
		}
		if !slices.Contains(scopes, s) {
			scopes = append(scopes, s)
		}
	}
	return scopes, nil
}

// Names writes scopes as a list.
func Names(scopes []Scope) string {
	names := make([]string, len(scopes))
	for i, s := range scopes {
		names[i] = string(s)
	}
	return strings.Join(names, ", ")
}

// Caller is who asks for something.
type Caller struct {
	// User whose things the caller sees; "" is the operator, who sees all.
	User string `json:"user,omitempty"`
	// Token is the id of the token that was shown, "" for none.
	Token  string  `json:"token,omitempty"`
	Scopes []Scope `json:"scopes"`
}

// Operator is the caller that may do everything: whoever can read the data
// directory is one.
func Operator() Caller { return Caller{Scopes: Scopes} }

// May says whether the caller may do things of a kind.
func (c Caller) May(s Scope) bool { return slices.Contains(c.Scopes, s) }

// Operates says whether the caller sees what belongs to all.
func (c Caller) Operates() bool { return c.User == "" }

// Sees says whether the caller sees what belongs to a user.
func (c Caller) Sees(user string) bool { return c.Operates() || c.User == user }

const maxUser = 64

// CheckUser holds the name of a user to what a line and an address can carry.
func CheckUser(name string) error {
	ok := name != "" && len(name) <= maxUser
	for _, c := range []byte(name) {
		ok = ok && (c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("_-.@+", c) >= 0)
	}
	if !ok {
		return &usage.Error{Message: fmt.Sprintf("%q cannot be the name of a user", name), Hint: fmt.Sprintf("use 1 to %d letters from a to z, digits, and _ - . @ +", maxUser)}
	}
	return nil
}
