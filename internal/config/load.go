package config

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// NoFile as Sources.File or $DOSSIER_CONFIG reads no config.yaml.
const NoFile = "none"

// Sources is where a configuration comes from.
type Sources struct {
	// Env holds KEY=value entries, as os.Environ returns them.
	Env []string
	// DotEnv also reads the variables of a file .env in Dir, and then of one beside
	// the config.yaml; Env comes before both.
	DotEnv bool
	// Dir is where the search for a file begins and what relative paths are
	// relative to; empty is the working directory.
	Dir string
	// File is the config.yaml that the user named; it must exist. Empty
	// searches; NoFile reads none.
	File string
	// Definitions are files of agent definitions; each must have the top-level
	// key agents, and may have any other section.
	Definitions []string
	// AgentsFile is agents.yaml, of the same form; empty is $DOSSIER_AGENTS or
	// $AGENTS_FILE, which may be unset.
	AgentsFile string
	// Flags are settings from the command line, by flag name without dashes
	// ("model") or by path ("chat.history_limit").
	Flags map[string]string
}

type layer uint8

const (
	layerDefault layer = iota
	layerEnv
	layerFile
	layerDefinitions
	layerAgents
	layerAgent
	layerTemplate
	layerFlag
)

// origin is where a setting was made: a variable or flag, or a file and line.
type origin struct {
	name string
	line int
}

func (o origin) String() string {
	if o.line > 0 {
		return o.name + ":" + itoa(o.line)
	}
	return o.name
}

func itoa(n int) string { return strconv.Itoa(n) }

// setting is one value that one layer gives to one leaf.
type setting struct {
	leaf   *leaf
	key    string // of a tree: the entry that is set
	value  any    // of the field's type; of a tree: the entry's value
	layer  layer
	empty  bool // said, but said to be nothing
	origin origin
	via    string   // the variable that a secret's value names
	order  []string // of a tree's entry that names things: the names as they stand
	prev   int      // index of the setting that this one overrides, or -1
}

// state is what a Config remembers of its making.
type state struct {
	env      environ
	named    map[string]origin // where variables stand that a .env has
	dir      string            // what relative paths of variables and flags are relative to
	file     string
	layers   [layerFlag + 1][]setting
	agents   map[string]*entry // by name, of the files
	agent    *entry            // whose sections are layerAgent; nil: none
	template *entry            // whose sections are layerTemplate; nil: none
	settings []setting         // folded, in the order of the chain
	last     []int             // by leaf: index of the setting in force, or -1
	notes    []string
}

// Load makes a configuration. On failure the error is an Errors with
// everything that is wrong.
func Load(src Sources) (*Config, error) {
	t := schema()
	if src.Dir == "" {
		// Paths are absolute, for whoever uses one may lay relative ones elsewhere.
		// Without a working directory they stay as they are.
		src.Dir, _ = os.Getwd()
	}
	st := &state{env: src.Env, named: map[string]origin{}, dir: src.Dir, agents: map[string]*entry{}}
	bad := &problems{}
	if src.DotEnv {
		st.dotEnv(src.Dir, bad)
	}
	st.file = st.locate(src)
	if src.DotEnv && st.file != "" {
		file := st.env.home(st.file)
		if !filepath.IsAbs(file) {
			file = filepath.Join(src.Dir, file)
		}
		if beside := filepath.Dir(file); beside != filepath.Clean(src.Dir) {
			st.dotEnv(beside, bad)
		}
	}
	st.layers[layerDefault] = st.defaults(t, bad)
	st.layers[layerEnv] = st.variables(t, bad)
	if st.file != "" {
		st.read(t, src.Dir, st.file, layerFile, bad)
	}
	for _, d := range src.Definitions {
		st.read(t, src.Dir, d, layerDefinitions, bad)
	}
	agents := src.AgentsFile
	if agents == "" {
		agents, _ = st.env.first("DOSSIER_AGENTS", "AGENTS_FILE")
	}
	if agents != "" {
		st.read(t, src.Dir, agents, layerAgents, bad)
	}
	st.layers[layerFlag] = st.flags(t, src.Flags, bad)
	if err := bad.err(); err != nil {
		return nil, err
	}
	return st.fold(t), nil
}

// Agent lays the sections of an agent's definition (llm, models, execution,
// prompts, search, mcp) over the configuration, below a template and flags.
func (c *Config) Agent(name string) (*Config, error) {
	e := c.entryOf(name)
	if e == nil {
		return nil, &Error{Where: "agents", Key: name, Problem: "no such agent definition", Nearest: nearest(name, c.Definitions())}
	}
	st := *c.st()
	st.agent = e
	st.layers[layerAgent] = e.sections
	return st.fold(schema()), nil
}

// WithTemplate lays a stored template over the configuration, below flags. The
// document has the form of an agent's definition, as YAML or JSON.
func (c *Config) WithTemplate(name string, document []byte) (*Config, error) {
	st := *c.st()
	st.notes = slices.Clone(c.st().notes)
	bad := &problems{}
	r := st.reader(schema(), "template "+name, "", layerTemplate, nil, bad)
	r.stored = true
	e := &entry{name: name, origin: origin{name: r.name}}
	if problem := badName(name); problem != "" {
		bad.add(&Error{Where: r.name, Problem: problem})
	} else if root := r.parse(asYAML(document)); root != nil {
		r.definition(e, root, "")
	}
	bad.sort(0)
	if err := bad.err(); err != nil {
		return nil, err
	}
	st.template = e
	st.layers[layerTemplate] = e.sections
	return st.fold(schema()), nil
}

// File is the config.yaml that was read, or "".
func (c *Config) File() string { return c.st().file }

// Environ is the environment that the configuration was made with, .env files
// included.
func (c *Config) Environ() []string { return slices.Clone(c.st().env) }

// Notes are things that are probably mistakes but no errors: a variable with
// our prefix that nobody reads, a key reference to a variable that is unset, a
// setting that is gone.
func (c *Config) Notes() []string { return slices.Clone(c.st().notes) }

func (st *state) reader(t *tables, name, dir string, ly layer, out *[]setting, bad *problems) *reader {
	return &reader{t: t, env: st.env, name: name, dir: dir, layer: ly, out: out, notes: &st.notes, bad: bad, agents: st.agents, seen: map[*leaf]int{}}
}

func (st *state) read(t *tables, dir, name string, ly layer, bad *problems) {
	path := st.env.home(name)
	if dir != "" && !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	data, err := readFile(path)
	if err != nil {
		bad.add(&Error{File: name, Problem: err.Error()})
		return
	}
	base := filepath.Dir(path)
	if base == "." {
		base = ""
	}
	r := st.reader(t, name, base, ly, &st.layers[ly], bad)
	defer bad.sort(len(bad.list))
	root := r.parse(data)
	if root == nil {
		if ly > layerFile && len(bad.list) == 0 {
			bad.add(&Error{File: name, Line: 1, Column: 1, Key: "agents", Problem: "a file of definitions needs this top-level key"})
		}
		return
	}
	if ly > layerFile && !hasKey(root, "agents") {
		r.fail(root, "agents", "a file of definitions needs this top-level key", "")
	}
	r.section(t.root, root, "")
}

func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, plain(err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFileSize+1))
	if err != nil {
		return nil, plain(err)
	}
	if len(data) > maxFileSize {
		return nil, errors.New("is larger than 2 MiB; a configuration is not")
	}
	return data, nil
}

// plain takes the path out of a file error: the place is said already.
func plain(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return errors.New("cannot be read: " + p.Err.Error())
	}
	return err
}

func (st *state) defaults(t *tables, bad *problems) []setting {
	out := make([]setting, 0, len(t.leaves)/2)
	for _, l := range t.leaves {
		if l.def == "" {
			continue
		}
		text, problem := st.env.expand(l.def)
		if l.isPath {
			text = st.place(l, text)
		}
		v, p := l.parse(text)
		if problem+p != "" {
			bad.add(&Error{Where: "default", Key: l.path, Problem: problem + p})
			continue
		}
		out = append(out, setting{leaf: l, value: v.Interface(), layer: layerDefault, origin: origin{name: "default"}})
	}
	return out
}

// variables reads the environment. Of several names for one leaf the one with
// the smallest rank is appended last, and so wins.
func (st *state) variables(t *tables, bad *problems) []setting {
	type hit struct {
		leaf        *leaf
		key         string
		name, value string
		rank        int
	}
	var hits []hit
	for _, kv := range st.env {
		name, value, ok := strings.Cut(kv, "=")
		if !ok || value == "" {
			continue
		}
		lower := strings.ToLower(name)
		switch {
		case strings.HasPrefix(lower, "dossier_"):
			if l := t.flat[lower[len("dossier_"):]]; l != nil && l.kind != kindTree {
				hits = append(hits, hit{l, "", name, value, 0})
			} else if e, ok := t.env[lower]; ok {
				hits = append(hits, hit{e.leaf, "", name, value, 1 + e.rank})
			} else if lower != "dossier_config" && lower != "dossier_agents" {
				st.unread(t, name, strings.TrimPrefix(lower, "dossier_"))
			}
		case strings.HasPrefix(lower, "sgr__"):
			path := strings.ReplaceAll(lower[len("sgr__"):], "__", ".")
			if l := t.find(path); l != nil && l.kind != kindTree {
				hits = append(hits, hit{l, "", name, value, 1})
			} else if key, isLLM := strings.CutPrefix(path, "llm."); isLLM && !strings.Contains(key, ".") {
				hits = append(hits, hit{t.root.byKey["llm"].extra, key, name, value, 1})
			} else {
				st.unread(t, name, strings.ReplaceAll(path, ".", "_"))
			}
		default:
			if e, ok := t.env[lower]; ok {
				hits = append(hits, hit{e.leaf, "", name, value, 1 + e.rank})
			}
		}
	}
	slices.SortStableFunc(hits, func(a, b hit) int { return b.rank - a.rank })
	out := make([]setting, 0, len(hits))
	for _, h := range hits {
		s, problem := st.text(h.leaf, h.key, h.value)
		if problem != "" {
			bad.add(&Error{Where: "env " + h.name, Key: h.leaf.path, Problem: problem})
			continue
		}
		s.layer, s.origin = layerEnv, origin{name: "env " + h.name}
		if at, ok := st.named[h.name]; ok {
			s.origin = origin{"env " + h.name + ", " + at.name, at.line}
		}
		out = append(out, s)
	}
	return out
}

func (st *state) unread(t *tables, name, flat string) {
	note := "env " + name + ": no such setting"
	if what := wentAway(flat); what != "" {
		note = "env " + name + ": " + what
	} else if near := t.suggest(t.root, flat); near != "" {
		note += "; did you mean " + t.byPath[near].envNames()[0] + "?"
	}
	st.notes = append(st.notes, note)
}

// text makes a setting of a variable's or a flag's value.
func (st *state) text(l *leaf, key, value string) (setting, string) {
	if l.kind == kindTree && key != "" {
		return setting{leaf: l, key: key, value: scalarOf(value)}, ""
	}
	text, via := value, ""
	if l.secret && isReference(value) {
		text, _ = st.env.get(value)
		via = value
	}
	if l.isPath {
		text = st.place(l, text)
	}
	v, problem := l.parse(text)
	if problem != "" {
		return setting{}, problem + ", " + l.found(value)
	}
	return setting{leaf: l, value: v.Interface(), empty: text == "", via: via}, ""
}

// place makes a path that no file says absolute.
func (st *state) place(l *leaf, path string) string {
	path = st.env.home(path)
	if path == "" || filepath.IsAbs(path) || st.dir == "" || l.within {
		return path
	}
	return filepath.Join(st.dir, path)
}

// scalarOf reads a text as a number or a truth value where it is one.
func scalarOf(text string) any {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n
	}
	if f, err := strconv.ParseFloat(text, 64); err == nil && !isSpecial(f) {
		return f
	}
	if text == "true" || text == "false" {
		return text == "true"
	}
	return text
}

func (st *state) flags(t *tables, flags map[string]string, bad *problems) []setting {
	names := make([]string, 0, len(flags))
	for n := range flags {
		names = append(names, n)
	}
	slices.Sort(names)
	var out []setting
	for _, n := range names {
		where := "flag --" + n
		l := t.flags[n]
		if l == nil {
			where = "flag --set " + n
			l = t.find(n)
		}
		if l == nil || l.kind == kindTree {
			problem, near := "no setting of this name can be given here", ""
			if l == nil {
				flat := strings.ToLower(strings.ReplaceAll(n, ".", "_"))
				if what := wentAway(flat); what != "" {
					problem = what
				} else {
					near = t.suggest(t.root, flat)
				}
			}
			bad.add(&Error{Where: where, Problem: problem, Nearest: near})
			continue
		}
		s, problem := st.text(l, "", flags[n])
		if problem != "" {
			bad.add(&Error{Where: where, Key: l.path, Problem: problem})
			continue
		}
		s.layer, s.origin = layerFlag, origin{name: where}
		out = append(out, s)
	}
	return out
}

// fold applies the layers in order and makes the Config.
func (st *state) fold(t *tables) *Config {
	c := &Config{st: func() *state { return st }}
	implied := st.implied()
	n := len(implied)
	for _, l := range st.layers {
		n += len(l)
	}
	st.settings = make([]setting, 0, n)
	st.last = make([]int, len(t.leaves))
	for i := range st.last {
		st.last[i] = -1
	}
	root := reflect.ValueOf(c).Elem()
	for ly, settings := range st.layers {
		for _, s := range settings {
			st.apply(root, s)
		}
		for _, s := range implied {
			if s.layer == layer(ly) {
				st.apply(root, s)
			}
		}
	}
	return c
}

func (st *state) apply(root reflect.Value, s setting) {
	set(root, &s)
	s.prev = st.last[s.leaf.id]
	st.last[s.leaf.id] = len(st.settings)
	st.settings = append(st.settings, s)
}

// set puts a setting into its field below root.
func set(root reflect.Value, s *setting) {
	field := root.FieldByIndex(s.leaf.index)
	switch {
	case s.leaf.kind == kindTree:
		if field.IsNil() {
			field.Set(reflect.ValueOf(Tree{}))
		}
		field.Interface().(Tree)[s.key] = s.value
	case s.empty:
		field.Set(zeroOf(s.leaf))
	default:
		field.Set(reflect.ValueOf(s.value))
	}
}
