package config

import (
	"path/filepath"
	"reflect"
	"strings"

	"dossier/tool"

	"go.yaml.in/yaml/v3"
)

// Bounds on one file. Aliases may expand to maxExpanded values altogether, so
// a file of nested anchors costs no more than an honest one.
const (
	maxFileSize = 2 << 20
	maxExpanded = 10_000
	maxDepth    = 100
)

// reader turns one document into settings.
type reader struct {
	t       *tables
	env     environ
	name    string // the file as it is shown: config.yaml, template NAME
	dir     string // what relative paths are relative to
	layer   layer
	out     *[]setting
	notes   *[]string
	bad     *problems
	agents  map[string]*entry
	stored  bool          // a template: see trust.go
	seen    map[*leaf]int // line where this document set the leaf
	alias   int           // depth of aliases being followed
	grown   int           // values visited through aliases
	depth   int
	stopped bool
}

type pair struct{ key, value *yaml.Node }

func (r *reader) fail(at *yaml.Node, key, problem, near string) {
	r.bad.add(&Error{File: r.name, Line: max(1, at.Line), Column: max(1, at.Column), Key: key, Problem: problem, Nearest: near})
}

// enter counts a visited value and says whether to go on.
func (r *reader) enter(n *yaml.Node, key string) bool {
	if r.stopped {
		return false
	}
	if r.alias > 0 {
		r.grown++
	}
	if r.grown > maxExpanded {
		r.stopped = true
		r.fail(n, key, "aliases expand to too many values", "")
		return false
	}
	if r.depth > maxDepth {
		r.stopped = true
		r.fail(n, key, "nested too deeply, or an anchor contains itself", "")
		return false
	}
	return true
}

// within runs fn for n with aliases followed.
func (r *reader) within(n *yaml.Node, key string, fn func(*yaml.Node)) {
	r.depth++
	steps := 0
	for n.Kind == yaml.AliasNode && n.Alias != nil && steps < maxDepth {
		n = n.Alias
		steps++
	}
	if steps > 0 {
		r.alias++
	}
	if r.enter(n, key) {
		fn(n)
	}
	if steps > 0 {
		r.alias--
	}
	r.depth--
}

// pairs lists the keys of a mapping: its own first, then the merged ones
// (<<) that it does not have. Duplicates among its own are reported; norm is
// what makes two keys equal.
func (r *reader) pairs(n *yaml.Node, prefix string, norm func(string) string) []pair {
	out := make([]pair, 0, len(n.Content)/2)
	seen := make(map[string]int, len(n.Content)/2)
	var merged []*yaml.Node
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		if k.Kind == yaml.ScalarNode && k.ShortTag() == "!!merge" {
			merged = append(merged, v)
			continue
		}
		for steps := 0; k.Kind == yaml.AliasNode && k.Alias != nil && steps < maxDepth; steps++ {
			k = k.Alias
		}
		if k.Kind != yaml.ScalarNode {
			r.fail(n.Content[i], prefix, "expected a text as key, found "+shape(k), "")
			continue
		}
		name := norm(k.Value)
		if line, dup := seen[name]; dup {
			r.fail(n.Content[i], join(prefix, k.Value), "duplicate key, first on line "+itoa(line), "")
			continue
		}
		seen[name] = n.Content[i].Line
		out = append(out, pair{k, v})
	}
	for _, m := range merged {
		r.within(m, prefix, func(m *yaml.Node) {
			sources := []*yaml.Node{m}
			if m.Kind == yaml.SequenceNode {
				sources = m.Content
			}
			for _, s := range sources {
				r.within(s, prefix, func(s *yaml.Node) {
					if s.Kind != yaml.MappingNode {
						r.fail(s, prefix, "expected a section after <<, found "+shape(s), "")
						return
					}
					for _, p := range r.pairs(s, prefix, norm) {
						if _, have := seen[norm(p.key.Value)]; !have && r.enter(p.key, prefix) {
							seen[norm(p.key.Value)] = p.key.Line
							out = append(out, p)
						}
					}
				})
			}
		})
	}
	return out
}

func join(prefix, key string) string {
	if prefix == "" {
		return key
	}
	return prefix + "." + key
}

func shape(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a section"
	case yaml.SequenceNode:
		return "a list"
	case yaml.ScalarNode:
		if n.ShortTag() == "!!null" {
			return "nothing"
		}
		return "a single value"
	}
	return "something else"
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" }

// section reads mapping y as section n; prefix is its path as it was written.
func (r *reader) section(n *node, y *yaml.Node, prefix string) {
	r.within(y, prefix, func(y *yaml.Node) {
		if isNull(y) {
			return
		}
		if y.Kind != yaml.MappingNode {
			r.fail(y, prefix, "expected a section (key: value), found "+shape(y), "")
			return
		}
		for _, p := range r.pairs(y, prefix, strings.ToLower) {
			r.entry(n, p, prefix)
		}
	})
}

func (r *reader) entry(n *node, p pair, prefix string) {
	key := strings.ToLower(p.key.Value)
	name := join(prefix, p.key.Value)
	if child := n.byKey[key]; child != nil {
		if child.leaf != nil {
			r.value(child.leaf, p, name)
		} else {
			r.section(child, p.value, name)
		}
		return
	}
	if n.path == "" && strings.HasPrefix(key, "x-") {
		return
	}
	// chat: {model: …} is chat_model, as the flat names spell it.
	if n.extra == nil {
		flat := key
		if n.path != "" {
			flat = strings.ReplaceAll(n.path, ".", "_") + "_" + key
		}
		if l := r.t.flat[flat]; l != nil {
			r.value(l, p, name)
			return
		}
		if what := wentAway(flat); what != "" {
			*r.notes = append(*r.notes, r.name+":"+itoa(p.key.Line)+": "+what)
			return
		}
		near := ""
		if !r.bad.full() {
			near = r.t.suggest(n, key)
		}
		r.fail(p.key, name, "unknown key", near)
		return
	}
	if v, ok := r.free(p.value, name); ok {
		r.put(setting{leaf: n.extra, key: p.key.Value, value: v}, p.key)
	}
}

func (r *reader) put(s setting, at *yaml.Node) {
	s.layer, s.origin = r.layer, origin{r.name, at.Line}
	*r.out = append(*r.out, s)
}

// value reads the value of a leaf.
func (r *reader) value(l *leaf, p pair, name string) {
	if problem := r.refuses(l); problem != "" {
		r.fail(p.key, name, problem, "")
		return
	}
	if l.kind == kindTree {
		r.tree(l, p.value, name)
		return
	}
	if line, dup := r.seen[l]; dup {
		r.fail(p.key, name, "sets "+l.path+" a second time, first on line "+itoa(line), "")
		return
	}
	r.seen[l] = p.key.Line
	r.within(p.value, name, func(y *yaml.Node) {
		switch {
		case l.kind == kindTools:
			r.toolList(l, p, y, name)
		case l.kind == kindRules:
			r.ruleList(l, p, y, name)
		case y.Kind == yaml.ScalarNode:
			r.scalar(l, p, y, name)
		case y.Kind == yaml.SequenceNode && l.kind == kindList:
			r.list(l, p, y, name)
		default:
			r.fail(p.value, name, l.expected()+", found "+shape(y), "")
		}
	})
}

func (r *reader) scalar(l *leaf, p pair, y *yaml.Node, name string) {
	text := y.Value
	if isNull(y) {
		if l.kind == kindInt || l.kind == kindFloat || l.kind == kindBool || l.kind == kindDuration {
			return
		}
		text = ""
	}
	expanded, problem := r.expand(text)
	if problem != "" {
		r.fail(p.value, name, problem, "")
		return
	}
	via := ""
	if l.secret {
		expanded, via = r.reference(expanded, l, p.key)
	}
	if l.isPath {
		if r.stored && !inside(expanded) {
			r.fail(p.value, name, "expected a directory below the working directory: a template names no other", "")
			return
		}
		expanded = r.place(expanded)
	}
	v, problem := l.parse(expanded)
	if problem != "" {
		// The text before expansion: what a variable holds may be a secret.
		r.fail(p.value, name, problem+", "+l.found(text), "")
		return
	}
	r.put(setting{leaf: l, value: v.Interface(), empty: expanded == "", via: via}, p.key)
}

// reference replaces the name of a variable by its value.
func (r *reader) reference(text string, l *leaf, at *yaml.Node) (value, via string) {
	if !isReference(text) {
		return text, ""
	}
	v, _ := r.env.get(text)
	if v == "" {
		*r.notes = append(*r.notes, r.name+":"+itoa(at.Line)+": "+l.path+" names the variable "+text+", which is not set")
	}
	return v, text
}

func (r *reader) place(path string) string {
	path = r.env.home(path)
	if path == "" || filepath.IsAbs(path) || r.dir == "" {
		return path
	}
	return filepath.Join(r.dir, path)
}

// placeWorkspace makes the folder in which the operator lets agents run
// commands one relative to the file, as other paths are.
func (r *reader) placeWorkspace(name string, config any) {
	settings, _ := config.(map[string]any)
	k := keyOf(settings, "workspace_path")
	if path, ok := settings[k].(string); ok && tool.PlainName(name) == "runcommandtool" {
		settings[k] = r.place(path)
	}
}

func (r *reader) list(l *leaf, p pair, y *yaml.Node, name string) {
	items := make([]string, 0, len(y.Content))
	for _, c := range y.Content {
		r.within(c, name, func(c *yaml.Node) {
			if c.Kind != yaml.ScalarNode {
				r.fail(c, name, "expected a text in the list, found "+shape(c), "")
				return
			}
			s, problem := r.expand(c.Value)
			if problem != "" {
				r.fail(c, name, problem, "")
				return
			}
			items = append(items, s)
		})
	}
	r.put(setting{leaf: l, value: items, empty: len(items) == 0}, p.key)
}

// tree reads a free section, one setting for each of its keys.
func (r *reader) tree(l *leaf, y *yaml.Node, name string) {
	r.within(y, name, func(y *yaml.Node) {
		if isNull(y) {
			return
		}
		if y.Kind != yaml.MappingNode {
			r.fail(y, name, l.expected()+", found "+shape(y), "")
			return
		}
		for _, p := range r.pairs(y, name, exact) {
			key := join(name, p.key.Value)
			v, ok := r.free(p.value, key)
			if !ok {
				continue
			}
			if l == r.t.tools {
				r.placeWorkspace(p.key.Value, v)
			}
			s := setting{leaf: l, key: p.key.Value, value: v}
			if l == r.t.mcp || l == r.t.a2a {
				s.order = r.order(p.value, key)
			}
			r.put(s, p.key)
			if l == r.t.agents {
				r.agent(p, key, v)
			}
		}
	})
}

func exact(s string) string { return s }

// order lists the keys of a section as the document has them.
func (r *reader) order(y *yaml.Node, name string) (keys []string) {
	r.within(y, name, func(y *yaml.Node) {
		if y.Kind != yaml.MappingNode {
			return
		}
		for _, p := range r.pairs(y, name, exact) {
			keys = append(keys, p.key.Value)
		}
	})
	return keys
}

// free decodes any value into maps, slices and scalars.
func (r *reader) free(y *yaml.Node, name string) (out any, ok bool) {
	r.within(y, name, func(y *yaml.Node) {
		switch y.Kind {
		case yaml.MappingNode:
			m := make(map[string]any, len(y.Content)/2)
			ok = true
			for _, p := range r.pairs(y, name, exact) {
				v, good := r.free(p.value, join(name, p.key.Value))
				m[p.key.Value], ok = v, ok && good
			}
			out = m
		case yaml.SequenceNode:
			s := make([]any, 0, len(y.Content))
			ok = true
			for _, c := range y.Content {
				v, good := r.free(c, name)
				s, ok = append(s, v), ok && good
			}
			out = s
		case yaml.ScalarNode:
			out, ok = r.freeScalar(y, name)
		}
	})
	return out, ok
}

func (r *reader) freeScalar(y *yaml.Node, name string) (any, bool) {
	text, problem := r.expand(y.Value)
	if problem != "" {
		r.fail(y, name, problem, "")
		return nil, false
	}
	// An unquoted ${PORT} becomes a number when it holds one.
	n := yaml.Node{Kind: yaml.ScalarNode, Tag: y.Tag, Style: y.Style, Value: text}
	if text != y.Value && y.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) == 0 {
		n.Tag = ""
	}
	switch n.ShortTag() {
	case "!!null":
		return nil, true
	case "!!bool":
		var v bool
		if n.Decode(&v) == nil {
			return v, true
		}
	case "!!int":
		var v int64
		if n.Decode(&v) == nil {
			return v, true
		}
	case "!!float":
		var v float64
		if n.Decode(&v) == nil && !isSpecial(v) {
			return v, true
		}
	}
	return text, true
}

func isSpecial(f float64) bool { return f-f != 0 }

// zeroOf is what an empty setting of the leaf holds.
func zeroOf(l *leaf) reflect.Value {
	if l.pointer {
		return reflect.Zero(reflect.PointerTo(l.typ))
	}
	return reflect.Zero(l.typ)
}
