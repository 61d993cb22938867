// Package toolkit has the built-in tools of agents: those that every agent
// needs (reason, plan, ask, report, answer), searching and reading the web, the
// user's own documents, single sources such as arXiv, notes, and commands.
//
// Their names, fields and result texts are what clients of agents rely on. What
// a tool finds is data: nothing in it decides what is opened or run.
package toolkit

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"dossier/kb"
	"dossier/search"
	"dossier/sources"
	"dossier/tool"
)

// Parts are what tools work with. Tools whose part is missing say so when they
// are called.
type Parts struct {
	Web *sources.Web
	// Library holds the user's documents, and Active names the collection in
	// use, "" if there is none.
	Library *kb.Library
	Active  func(ctx context.Context) (string, error)
	// Reranker puts passages in order; nil goes by their words.
	Reranker search.Reranker
	// Blobs keep what was read.
	Blobs sources.Blobs
	// Added are tools that a program brings along. They replace those of their
	// names, and have no settings.
	Added []tool.Tool
}

// Settings are what an agent's definition and its operator say about tools.
type Settings struct {
	// ReportsDir gets the reports; empty writes none.
	ReportsDir string
	// ContentLimit is how many characters of a page are shown (3500).
	ContentLimit int
	// MaxResults bounds the results of a web search (10).
	MaxResults int
	// Commands are what the operator allows to be run; the zero value is
	// nothing.
	Commands Commands
}

const (
	defaultContentLimit = 3500
	defaultMaxResults   = 10

	webTimeout     = 30 * time.Second
	libraryTimeout = 5 * time.Second
)

func (s Settings) withDefaults() Settings {
	s.ContentLimit = cmp.Or(s.ContentLimit, defaultContentLimit)
	s.MaxResults = cmp.Or(s.MaxResults, defaultMaxResults)
	return s
}

// Toolkit makes tools. It is safe for concurrent use.
type Toolkit struct {
	parts  Parts
	makers []maker
}

// maker makes one tool.
type maker struct {
	name string
	make func(config json.RawMessage, s Settings) (tool.Tool, error)
	// check says what keeps a tool that can be made from being used; nil for
	// those that nothing does.
	check func(config json.RawMessage, s Settings) error
}

// New returns the built-in tools over their parts.
func New(p Parts) *Toolkit {
	k := &Toolkit{parts: p}
	k.makers = slices.Concat(systemMakers(), k.webMakers(), k.sourceMakers(), k.libraryMakers(), noteMakers(), commandMakers())
	for _, t := range p.Added {
		added := plain(t.Spec().Name, func(Settings) tool.Tool { return t })
		if i := k.find(added.name); i >= 0 {
			k.makers[i] = added
		} else {
			k.makers = append(k.makers, added)
		}
	}
	return k
}

// find returns where the maker of a tool is, -1 without.
func (k *Toolkit) find(name string) int {
	return slices.IndexFunc(k.makers, func(m maker) bool { return tool.PlainName(m.name) == tool.PlainName(name) })
}

// plain makes the maker of a tool that has no settings of its own.
func plain(name string, build func(s Settings) tool.Tool) maker {
	return maker{name: name, make: func(config json.RawMessage, s Settings) (tool.Tool, error) {
		var none struct{}
		if err := readConfig(name, config, &none); err != nil {
			return nil, err
		}
		return build(s), nil
	}}
}

// Names of all tools: the system tools first, always in the same order.
func (k *Toolkit) Names() []string {
	names := make([]string, len(k.makers))
	for i, m := range k.makers {
		names[i] = m.name
	}
	return names
}

// Make returns the tool of a name, whose case and word separators don't matter.
// The error says what is wrong with the name or the config, and what was
// probably meant. What the tool needs beside them may be missing: it says so
// when it is called, so that an agent has the same tools wherever its work is
// taken up.
func (k *Toolkit) Make(name string, config json.RawMessage, s Settings) (tool.Tool, error) {
	m, err := k.maker(name)
	if err != nil {
		return nil, err
	}
	return m.make(config, s.withDefaults())
}

// Check says why a tool can't be made, or not be used here.
func (k *Toolkit) Check(name string, config json.RawMessage, s Settings) error {
	m, err := k.maker(name)
	if err != nil {
		return err
	}
	s = s.withDefaults()
	if _, err := m.make(config, s); err != nil || m.check == nil {
		return err
	}
	return m.check(config, s)
}

func (k *Toolkit) maker(name string) (maker, error) {
	if i := k.find(name); i >= 0 {
		return k.makers[i], nil
	}
	return maker{}, fmt.Errorf("there is no tool %q%s", name, didYouMean(tool.PlainName(name), k.Names()))
}

// System returns the tools without which an agent can't work, in their order.
func (k *Toolkit) System(s Settings) []tool.Tool {
	var out []tool.Tool
	for _, m := range systemMakers() {
		if t, err := m.make(nil, s.withDefaults()); err == nil && t.Spec().System {
			out = append(out, t)
		}
	}
	return out
}
