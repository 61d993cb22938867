package config

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"reflect"
	"slices"
	"strings"

	"dossier/tool"
)

// engineLeaves are where the section search has the key and the address of the
// engines that a tool's settings can name with theirs.
var engineLeaves = []struct{ engine, key, url string }{
	{usualEngine, "search.tavily_api_key", "search.tavily_api_base_url"},
	{"brave", "search.brave.api_key", "search.brave.base_url"},
	{"perplexity", "search.perplexity.api_key", "search.perplexity.base_url"},
}

// usualEngine is the one that a key belongs to when no engine is named.
const usualEngine = "tavily"

// account is a key of an engine, and where it is sent, as one place says it.
type account struct {
	engine string
	key    Secret
	url    URL
	own    bool // of an agent
}

// EngineSettings is the section search as engines are made of it: what it does
// not say of the key and the address of an engine is taken from the settings of
// the tools for the web, first from those in the section tools, then from those
// of the agents that files define, by their names. Stored templates have no part
// in it.
//
// A key that is taken goes to the address that stands beside it, unless the
// section search has one. To a key of the section search only the section tools
// adds an address, and none that stands beside another key.
func (c *Config) EngineSettings() (Search, error) {
	accounts, err := c.st().accounts()
	if err != nil {
		return Search{}, err
	}
	full := Config{Search: c.Search}
	put := func(path string, value any) {
		set(reflect.ValueOf(&full).Elem(), &setting{leaf: schema().byPath[path], value: value})
	}
	for _, at := range engineLeaves {
		key, hasKey := c.saidIn(at.key).(Secret)
		_, hasURL := c.saidIn(at.url).(URL)
		for _, a := range accounts {
			switch {
			case a.engine != at.engine:
				continue
			case hasKey && (a.own || a.url == "" || !a.key.IsZero() && a.key.Reveal() != key.Reveal()):
				continue
			case !hasKey && a.key.IsZero():
				continue
			}
			put(at.key, cmp.Or(a.key, key))
			if a.url != "" && !hasURL {
				put(at.url, a.url)
			}
			break
		}
	}
	return full.Search, nil
}

// Secrets are all keys and tokens of the configuration as they are used, what is
// secret in its addresses and in the sections about servers, for whoever has to keep
// them out of a text.
func (c *Config) Secrets() []Secret {
	full := *c
	if s, err := c.EngineSettings(); err == nil { // otherwise nothing is asked with what it adds
		full.Search = s
	}
	var out []Secret
	for _, role := range Roles() {
		out = append(out, c.Model(role).APIKey)
	}
	root := reflect.ValueOf(&full).Elem()
	for _, l := range schema().leaves {
		switch v := root.FieldByIndex(l.index).Interface().(type) {
		case Secret:
			out = append(out, v)
		case URL:
			out = append(out, secretsInURL(string(v))...)
		case Tree:
			out = append(out, secretsIn("", map[string]any(v))...)
		}
	}
	for _, value := range c.tracingSecrets() {
		out = append(out, NewSecret(value))
	}
	return slices.DeleteFunc(out, Secret.IsZero)
}

// secretsInURL are the password of an address and what stands in its query.
func secretsInURL(address string) (out []Secret) {
	u, err := url.Parse(address)
	if err != nil {
		return nil
	}
	if password, ok := u.User.Password(); ok {
		out = append(out, NewSecret(password))
	}
	for _, values := range u.Query() {
		for _, v := range values {
			out = append(out, NewSecret(v))
		}
	}
	return out
}

// secretsIn are the texts of a section whose keys speak of secrets, and the long
// ones among its headers and variables: short ones can be any word.
func secretsIn(key string, v any) (out []Secret) {
	const long = 16
	switch v := v.(type) {
	case map[string]any:
		for name, inner := range v {
			name = strings.ToLower(name)
			if text, ok := inner.(string); ok && (key == "headers" || key == "env") && len(text) >= long {
				out = append(out, bare(text)...)
			}
			out = append(out, secretsIn(name, inner)...)
		}
	case []any:
		for _, inner := range v {
			out = append(out, secretsIn(key, inner)...)
		}
	case string:
		if isSecretName(key) {
			out = append(out, bare(v)...)
		} else if strings.Contains(v, "://") {
			out = append(out, secretsInURL(v)...)
		}
	}
	return out
}

// bare is a secret, also without the scheme that may stand before it, as Bearer.
func bare(text string) []Secret {
	_, token, _ := strings.Cut(text, " ")
	return []Secret{NewSecret(text), NewSecret(token)}
}

// saidIn is what somebody said for a path, and not the default; nil when
// nobody did.
func (c *Config) saidIn(path string) any {
	if s := c.setting(path); s != nil && s.layer > layerDefault && !s.empty {
		return s.value
	}
	return nil
}

// accounts finds the keys and addresses of engines outside the section search.
func (st *state) accounts() ([]account, error) {
	var out []account
	bad := &problems{}
	add := func(e toolEntry, own bool) {
		t, err := st.bind(e)
		if err != nil {
			return // tools reports it
		}
		a, err := st.account(t)
		bad.addError(err)
		if a.own = own; a.url != "" || !a.key.IsZero() {
			out = append(out, a)
		}
	}
	for _, name := range st.sharedNames() {
		add(toolEntry{name: name}, false)
	}
	for _, name := range slices.Sorted(maps.Keys(st.agents)) {
		e := st.agents[name]
		if s := e.own("tools"); s != nil {
			for _, t := range s.value.([]toolEntry) {
				add(t, true)
			}
		}
		out = append(out, e.accounts()...)
	}
	return out, bad.err()
}

// sharedNames are the tools of the section tools, the web search first.
func (st *state) sharedNames() []string {
	found := map[string]string{} // as they are written, by the plain name
	for _, settings := range st.layers {
		for i := range settings {
			if s := &settings[i]; s.leaf == schema().tools {
				found[tool.PlainName(s.key)] = s.key
			}
		}
	}
	plain := slices.Sorted(maps.Keys(found))
	if i := slices.Index(plain, webSearch); i > 0 {
		plain = slices.Insert(slices.Delete(plain, i, i+1), 0, webSearch)
	}
	names := make([]string, len(plain))
	for i, p := range plain {
		names[i] = found[p]
	}
	return names
}

// account is what the settings of a tool say of an engine. A key or an address
// of the section tools is another engine's when the agent names another: it is
// not taken.
func (st *state) account(t boundTool) (account, error) {
	a := account{engine: usualEngine}
	var below map[string]any
	if t.below != nil {
		below, _ = t.below.value.(map[string]any)
	}
	prefix := ""
	switch {
	case t.is(webSearch):
		a.engine = engineIn(below, usualEngine)
		if own := engineIn(t.own, a.engine); own != a.engine {
			a.engine, below = own, nil
		}
	case t.is(extractPage):
		prefix = "tavily_"
	default:
		return account{}, nil
	}
	key, err := t.text(prefix+"api_key", below)
	if err != nil {
		return account{}, err
	}
	if isReference(key) {
		key, _ = st.env.get(key)
	}
	address, err := t.text(prefix+"api_base_url", below)
	if err != nil {
		return account{}, err
	}
	a.key = NewSecret(key)
	if err := a.url.UnmarshalText([]byte(address)); err != nil {
		return account{}, t.wrong(prefix+"api_base_url", err.Error())
	}
	return a, nil
}

// engineIn is the engine that the settings of a web search name.
func engineIn(settings map[string]any, none string) string {
	text, _ := settings[keyOf(settings, "engine")].(string)
	return cmp.Or(strings.ToLower(strings.TrimSpace(text)), none)
}

// text is a setting of the agent's, else of those below.
func (t *boundTool) text(key string, below map[string]any) (string, error) {
	from := t.own
	if keyOf(from, key) == "" {
		from = below
	}
	switch v := from[keyOf(from, key)].(type) {
	case nil:
		return "", nil
	case map[string]any, []any:
		return "", t.wrong(key, "expected a text")
	default:
		return strings.TrimSpace(fmt.Sprint(v)), nil
	}
}

// wrong is an error in a setting of the tool. It does not repeat the value.
func (t *boundTool) wrong(key, problem string) error {
	e := &Error{Key: "tools." + t.name + "." + key, Problem: problem}
	if keyOf(t.own, key) == "" && t.below != nil {
		e.at(t.below.origin)
	} else {
		e.at(t.origin)
	}
	return e
}

// accounts are those of the agent's own section search.
func (e *entry) accounts() []account {
	var out []account
	for _, at := range engineLeaves {
		a := account{engine: at.engine, own: true}
		for _, s := range e.sections {
			switch {
			case s.empty:
			case s.leaf.path == at.key:
				a.key, _ = s.value.(Secret)
			case s.leaf.path == at.url:
				a.url, _ = s.value.(URL)
			}
		}
		if !a.key.IsZero() {
			out = append(out, a)
		}
	}
	return out
}
