// Package fleet keeps agents that are data: templates with numbered versions,
// what runs of each version have cost and brought, and long-lived instances
// that are made from templates and serve many sessions at once.
//
// A registered instance is a row of the store, and so is the seat that a run has
// in it: nothing of either is in memory, and several processes can share them. The
// fleet never starts a run itself. It says which runs may start, and the caller, who
// owns the runs, starts them.
package fleet

import (
	"crypto/rand"
	"errors"
	"strings"
	"sync"
	"time"

	"dossier/agent"
)

// Options of a Fleet.
type Options struct {
	Store Store
	// Check turns a template's document into a definition and says what is
	// wrong with it: a key that is unknown, a type, a tool that there is not.
	Check func(name string, document []byte) (agent.Definition, error)
	// NewID makes ids of instances; random ones when nil. Ids that sort by
	// time are registered faster in great numbers.
	NewID func() string
	// Now is the clock; time.Now when nil.
	Now func() time.Time
}

// Fleet is safe for concurrent use.
type Fleet struct {
	store Store
	check func(name string, document []byte) (agent.Definition, error)
	newID func() string
	now   func() time.Time

	// lifecycle is held by what starts, drains, stops, upgrades and removes
	// instances here, so that two of these don't mix. Runs come and go without it.
	lifecycle sync.Mutex
	starting  sync.Map // ids of instances that are being started
}

// New returns a fleet over a store.
func New(o Options) (*Fleet, error) {
	if o.Store == nil || o.Check == nil {
		return nil, errors.New("a fleet needs a store and a check of documents")
	}
	if o.NewID == nil {
		o.NewID = func() string { return strings.ToLower(rand.Text()[:16]) }
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Fleet{store: o.Store, check: o.Check, newID: o.NewID, now: o.Now}, nil
}
