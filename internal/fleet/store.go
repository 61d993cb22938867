package fleet

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Store is what a fleet is kept in. Its methods are atomic and durable, and
// its errors of the contract wrap those below.
type Store interface {
	Templates
	Instances
	Outcomes
}

// Templates are names with numbered versions.
type Templates interface {
	// CreateTemplate adds a template with its first version, a draft. It fails
	// with ErrExists when the name is taken.
	CreateTemplate(ctx context.Context, name string, v Version) error
	// Template returns a template with its versions, without their documents,
	// and its publications, the oldest first.
	Template(ctx context.Context, name string) (Template, error)
	// Templates returns all templates by name, without versions and
	// publications.
	Templates(ctx context.Context) ([]Template, error)
	// TemplateVersion returns a version with its document; 0 is the published
	// one, and the latest where none is.
	TemplateVersion(ctx context.Context, name string, n int) (Version, error)
	// AddTemplateVersion adds a draft with the next number. When the latest
	// version has the same document, it adds nothing and returns that one.
	AddTemplateVersion(ctx context.Context, name string, v Version) (_ Version, added bool, err error)
	// PublishVersion makes a version the published one, whatever its state
	// was, and records that; a deprecated template is in use again. It changes
	// nothing when the version is the published one of a template in use.
	PublishVersion(ctx context.Context, name string, n int, at time.Time) error
	// DeprecateVersion marks a version, or with 0 the template and all of its
	// versions; the published one stays the published one.
	DeprecateVersion(ctx context.Context, name string, n int, at time.Time) error
	// DeleteTemplate removes a template with its versions and outcomes. It
	// fails with ErrInUse while there are instances of it.
	DeleteTemplate(ctx context.Context, name string) error
}

// Instances are long-lived agents; of their states a store knows Ready,
// Draining and Stopped.
type Instances interface {
	// AddInstances adds all or none. It fails with ErrExists when an id or a
	// name is taken, and with ErrNoTemplate.
	AddInstances(ctx context.Context, list []Instance) error
	// Instance finds an instance by its id, or else by its name, with one
	// indexed read.
	Instance(ctx context.Context, key string) (Instance, error)
	// InstanceList returns instances in the order of their names. Limit is
	// what it says, and none when it is 0.
	InstanceList(ctx context.Context, f Filter) ([]Instance, error)
	// CountInstances counts what InstanceList would return without a limit.
	CountInstances(ctx context.Context, f Filter) (int, error)
	SetInstanceState(ctx context.Context, id string, s State) error
	SetInstanceVersion(ctx context.Context, id string, version int) error
	// RemoveInstance removes an instance and frees its sessions.
	RemoveInstance(ctx context.Context, id string) error
	// ClaimSession makes a session that is nobody's the instance's, which
	// counts as a use of it, and returns the id of whoever has the session. A
	// session that has an owner already costs one indexed read.
	ClaimSession(ctx context.Context, session, instance string, at time.Time) (owner string, err error)
	// SessionOwner returns the id of the instance that has a session, and ""
	// when nobody has it.
	SessionOwner(ctx context.Context, session string) (string, error)
}

// Outcomes are what became of runs.
type Outcomes interface {
	// PutOutcome records a run, or replaces what was recorded of it. A run
	// that was not recorded before counts as served by its instance, which was
	// used then. It fails with ErrNoTemplate; an instance that is gone is no
	// error.
	PutOutcome(ctx context.Context, o Outcome) error
	// EachOutcome calls do with each outcome of a template, in any order,
	// until it fails.
	EachOutcome(ctx context.Context, template string, do func(Outcome) error) error
}

// Errors of the contract.
var (
	ErrNoTemplate = errors.New("there is no such template")
	ErrNoVersion  = errors.New("there is no such version")
	ErrNoInstance = errors.New("there is no such instance")
	ErrExists     = errors.New("the name is taken")
	ErrInUse      = errors.New("it is in use")
)

// RequestError says that what was asked for can't be, as it was written or as
// things stand. Its text tells what to do instead.
type RequestError struct{ text string }

func (e *RequestError) Error() string { return e.text }

func refuse(format string, args ...any) error { return &RequestError{fmt.Sprintf(format, args...)} }
