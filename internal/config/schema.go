package config

import (
	"encoding"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"dossier/tool"
)

type kind uint8

const (
	kindText kind = iota
	kindInt
	kindFloat
	kindBool
	kindDuration
	kindList
	kindTree
	kindCustom // its pointer is an encoding.TextUnmarshaler
	kindTools
	kindRules
)

// leaf is one setting as its tags declare it.
type leaf struct {
	id      int
	path    string
	index   []int // of the field below Config
	typ     reflect.Type
	kind    kind
	pointer bool
	secret  bool
	isPath  bool
	within  bool // a relative path lies in data_dir
	trusted bool
	def     string
	example string
	help    string
	enum    []string
	min     float64
	max     float64
	hasMin  bool
	hasMax  bool
	minText string
	maxText string
	aliases []string // flat, lower case
	env     []string // as declared, without the DOSSIER_ name
	flag    string
}

// node is a key of the tree: a section with children, or a leaf.
type node struct {
	key      string
	path     string
	help     string
	leaf     *leaf
	children []*node
	byKey    map[string]*node
	extra    *leaf // takes unknown keys; nil: they are errors
}

type envName struct {
	leaf *leaf
	rank int // the smaller wins
}

type tables struct {
	root   *node
	leaves []*leaf
	flat   map[string]*leaf // chat_history_limit and aliases
	env    map[string]envName
	flags  map[string]*leaf
	byPath map[string]*leaf
	agents *leaf
	mcp    *leaf
	a2a    *leaf
	tools  *leaf
}

// schema is derived from the tags of Config once and never changes; so
// are those of an agent's own keys and of a rule.
var (
	schema      = sync.OnceValue(func() *tables { return buildSchema(reflect.TypeFor[Config]()) })
	agentSchema = sync.OnceValue(func() *tables { return buildSchema(reflect.TypeFor[agentKeys]()) })
	ruleSchema  = sync.OnceValue(func() *tables { return buildSchema(reflect.TypeFor[ruleKeys]()) })
)

var (
	durationType = reflect.TypeFor[time.Duration]()
	secretType   = reflect.TypeFor[Secret]()
	urlType      = reflect.TypeFor[URL]()
	treeType     = reflect.TypeFor[Tree]()
	toolsType    = reflect.TypeFor[[]toolEntry]()
	rulesType    = reflect.TypeFor[[]tool.Rule]()
	textType     = reflect.TypeFor[encoding.TextUnmarshaler]()
)

func buildSchema(typ reflect.Type) *tables {
	t := &tables{
		root:   &node{},
		flat:   make(map[string]*leaf, 512),
		env:    make(map[string]envName, 64),
		flags:  make(map[string]*leaf, 32),
		byPath: make(map[string]*leaf, 256),
	}
	b := builder{t: t, parsed: map[reflect.Type][]field{}}
	b.section(t.root, typ, nil, nil)
	for _, l := range t.leaves {
		t.name(strings.ReplaceAll(l.path, ".", "_"), l)
		t.byPath[l.path] = l
	}
	// Aliases come second, so that one that collides with a path is noticed.
	for _, l := range t.leaves {
		rank := 0
		for _, a := range l.aliases {
			t.name(a, l)
			t.variable(strings.ToUpper(a), l, &rank)
		}
		for _, e := range l.env {
			t.variable(e, l, &rank)
		}
		if l.flag != "" {
			if t.flags[l.flag] != nil {
				panic("config: flag " + l.flag + " is declared twice")
			}
			t.flags[l.flag] = l
		}
	}
	t.agents, t.mcp, t.a2a, t.tools = t.byPath["agents"], t.byPath["mcp"], t.byPath["a2a"], t.byPath["tools"]
	return t
}

func (t *tables) name(flat string, l *leaf) {
	if other := t.flat[flat]; other != nil {
		panic("config: the name " + flat + " is declared for " + other.path + " and " + l.path)
	}
	t.flat[flat] = l
}

func (t *tables) variable(name string, l *leaf, rank *int) {
	*rank++
	key := strings.ToLower(name)
	if other, ok := t.env[key]; ok {
		panic("config: variable " + name + " is declared for " + other.leaf.path + " and " + l.path)
	}
	t.env[key] = envName{l, *rank}
}

// field is a parsed struct field; a type that is used for several sections is
// parsed once.
type field struct {
	leaf    leaf
	sub     reflect.Type // of a section
	section string
	index   int
	tag     reflect.StructTag
}

type builder struct {
	t      *tables
	parsed map[reflect.Type][]field
}

// overrides are the tags on a section's field that speak about its keys.
type overrides struct{ def, alias, env, flag map[string][]string }

func (b *builder) section(n *node, typ reflect.Type, index []int, over *overrides) {
	fields, ok := b.parsed[typ]
	if !ok {
		fields = parseFields(typ)
		b.parsed[typ] = fields
	}
	n.children = make([]*node, 0, len(fields))
	n.byKey = make(map[string]*node, len(fields))
	for i := range fields {
		f := &fields[i]
		child := &node{key: f.leaf.path, path: f.leaf.path, help: f.leaf.help}
		if n.path != "" {
			child.path = n.path + "." + child.key
		}
		at := append(slices.Clip(index), f.index)
		if f.sub != nil {
			b.section(child, f.sub, at, parseOverrides(f.tag))
			if f.section != "" {
				second := *child
				second.extra = child.byKey["extra"].leaf
				b.t.root.byKey[f.section] = &second
			}
		} else {
			l := f.leaf
			l.id, l.path, l.index = len(b.t.leaves), child.path, at
			if over != nil {
				l.override(child.key, over)
			}
			child.leaf = &l
			b.t.leaves = append(b.t.leaves, &l)
		}
		n.children = append(n.children, child)
		// The root's second names are put in while its fields are walked.
		if n.byKey[child.key] != nil {
			panic("config: key " + child.path + " is declared twice")
		}
		n.byKey[child.key] = child
	}
}

func (l *leaf) override(key string, over *overrides) {
	if d := over.def[key]; d != nil {
		l.def = d[0]
	}
	if f := over.flag[key]; f != nil {
		l.flag = f[0]
	}
	l.aliases = append(slices.Clip(l.aliases), over.alias[key]...)
	l.env = append(slices.Clip(l.env), over.env[key]...)
}

func parseOverrides(tag reflect.StructTag) *overrides {
	return &overrides{
		def:   pairsOf(tag.Get("default")),
		alias: pairsOf(tag.Get("alias")),
		env:   pairsOf(tag.Get("env")),
		flag:  pairsOf(tag.Get("flag")),
	}
}

func pairsOf(tag string) map[string][]string {
	if tag == "" {
		return nil
	}
	m := map[string][]string{}
	for part := range strings.SplitSeq(tag, ",") {
		k, v, _ := strings.Cut(part, "=")
		m[k] = append(m[k], v)
	}
	return m
}

func parseFields(typ reflect.Type) []field {
	out := make([]field, 0, typ.NumField())
	for i := range typ.NumField() {
		sf := typ.Field(i)
		if !sf.IsExported() {
			continue
		}
		f := field{index: i, tag: sf.Tag}
		l := &f.leaf
		l.path, l.help, l.typ = sf.Tag.Get("key"), sf.Tag.Get("help"), sf.Type
		if l.path == "" || l.help == "" {
			panic("config: " + typ.Name() + "." + sf.Name + " needs the tags key and help")
		}
		if l.typ.Kind() == reflect.Pointer {
			l.pointer, l.typ = true, l.typ.Elem()
		}
		if !l.setKind() {
			f.sub, f.section = sf.Type, sf.Tag.Get("section")
			out = append(out, f)
			continue
		}
		l.def, l.example = sf.Tag.Get("default"), sf.Tag.Get("example")
		l.flag, l.isPath, l.within = sf.Tag.Get("flag"), sf.Tag.Get("kind") == "path", sf.Tag.Get("within") != ""
		l.trusted = l.secret || l.typ == urlType || sf.Tag.Get("trusted") != ""
		l.enum, l.aliases, l.env = listOf(sf.Tag.Get("enum")), listOf(sf.Tag.Get("alias")), listOf(sf.Tag.Get("env"))
		l.min, l.minText, l.hasMin = l.bound(sf.Tag.Get("min"))
		l.max, l.maxText, l.hasMax = l.bound(sf.Tag.Get("max"))
		out = append(out, f)
	}
	return out
}

func listOf(tag string) []string {
	if tag == "" {
		return nil
	}
	return strings.Split(tag, ",")
}

// setKind says false for a section.
func (l *leaf) setKind() bool {
	l.secret = l.typ == secretType
	switch {
	case l.typ == durationType:
		l.kind = kindDuration
	case l.typ == treeType:
		l.kind = kindTree
	case l.typ == toolsType:
		l.kind = kindTools
	case l.typ == rulesType:
		l.kind = kindRules
	case reflect.PointerTo(l.typ).Implements(textType):
		l.kind = kindCustom
	case l.typ.Kind() == reflect.String:
		l.kind = kindText
	case l.typ.Kind() == reflect.Int, l.typ.Kind() == reflect.Int64:
		l.kind = kindInt
	case l.typ.Kind() == reflect.Float64:
		l.kind = kindFloat
	case l.typ.Kind() == reflect.Bool:
		l.kind = kindBool
	case l.typ == reflect.TypeFor[[]string]():
		l.kind = kindList
	case l.typ.Kind() == reflect.Struct && !l.pointer:
		return false
	default:
		panic(fmt.Sprintf("config: a field of type %s cannot be a setting", l.typ))
	}
	return true
}

func (l *leaf) bound(tag string) (float64, string, bool) {
	if tag == "" {
		return 0, "", false
	}
	if l.kind == kindDuration {
		d, err := time.ParseDuration(tag)
		if err != nil {
			panic("config: bound of " + l.path + ": " + err.Error())
		}
		return float64(d), tag, true
	}
	f, err := strconv.ParseFloat(tag, 64)
	if err != nil {
		panic("config: bound of " + l.path + ": " + err.Error())
	}
	return f, tag, true
}

// envNames lists the variables that set the leaf, the winning one first.
func (l *leaf) envNames() []string {
	names := []string{"DOSSIER_" + strings.ToUpper(strings.ReplaceAll(l.path, ".", "_"))}
	for _, a := range l.aliases {
		names = append(names, strings.ToUpper(a))
	}
	return append(names, l.env...)
}

// find resolves a path, a flat name or an alias, in any case.
func (t *tables) find(key string) *leaf {
	key = strings.ToLower(key)
	if l := t.byPath[key]; l != nil {
		return l
	}
	if l := t.flat[strings.ReplaceAll(key, ".", "_")]; l != nil {
		return l
	}
	if first, rest, ok := strings.Cut(key, "."); ok {
		if n := t.root.byKey[first]; n != nil && n.path != first {
			return t.byPath[n.path+"."+rest]
		}
	}
	return nil
}

// suggest finds what was probably meant by an unknown key of section n: one of
// its keys, a flat name at the top level, or a key of the same name elsewhere.
func (t *tables) suggest(n *node, key string) string {
	prefix := ""
	if n.path != "" {
		prefix = n.path + "."
	}
	keys := make([]string, 0, len(n.children))
	for _, c := range n.children {
		keys = append(keys, c.key)
	}
	if best := nearest(key, keys); best != "" {
		return prefix + best
	}
	for _, k := range keys {
		if strings.HasSuffix(k, "_"+key) || strings.HasPrefix(k, key+"_") {
			return prefix + k
		}
	}
	for _, l := range t.leaves {
		if strings.HasSuffix(l.path, "."+key) {
			return l.path
		}
	}
	var names []string
	for _, l := range t.leaves {
		names = append(names, strings.ReplaceAll(l.path, ".", "_"))
		names = append(names, l.aliases...)
	}
	whole := strings.ReplaceAll(prefix, ".", "_") + key
	if best := nearest(whole, names); best != "" {
		return t.flat[best].path
	}
	return t.suggestLast(key)
}

func (t *tables) suggestLast(key string) string {
	var names []string
	var at []*leaf
	for _, l := range t.leaves {
		names = append(names, l.path[strings.LastIndexByte(l.path, '.')+1:])
		at = append(at, l)
	}
	if best := nearest(key, names); best != "" {
		for i, n := range names {
			if n == best {
				return at[i].path
			}
		}
	}
	return ""
}
