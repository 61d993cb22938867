package catalog

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"dossier/tool"
)

// Entry is what is known of a tool for finding it.
type Entry struct {
	// Name by which a model calls it.
	Name string
	// Origin is where it comes from, as in tool.Spec; About is what that place
	// says of itself, and the same for all its tools.
	Origin string
	About  string

	Description string
	// Schema of the arguments, as JSON schema; nil for none.
	Schema   json.RawMessage
	Tags     []string
	Examples []string // what somebody says who needs it
}

// EntryOf returns what the catalog knows of a tool. About is what its origin
// says of itself; empty when it says nothing.
func EntryOf(t tool.Tool, about string) Entry {
	s := t.Spec()
	e := Entry{Name: s.Name, Origin: s.Origin, About: about, Description: s.Description, Tags: s.Tags, Examples: s.Examples}
	if s.Schema != nil {
		e.Schema = s.Schema.Strict
	}
	return e
}

// same says whether two entries are found alike.
func (e *Entry) same(o *Entry) bool {
	return e.Name == o.Name && e.Origin == o.Origin && e.About == o.About && e.Description == o.Description &&
		bytes.Equal(e.Schema, o.Schema) && slices.Equal(e.Tags, o.Tags) && slices.Equal(e.Examples, o.Examples)
}

// originName is the name of the origin without what kind of origin it is.
func (e *Entry) originName() string {
	if _, name, ok := strings.Cut(e.Origin, ":"); ok {
		return name
	}
	if e.Origin == tool.Builtin {
		return ""
	}
	return e.Origin
}
