package config

import (
	"maps"
	"reflect"
	"strings"
)

// Role is what a model is used for.
type Role string

// The roles; their names are the keys below models.
const (
	RoleDefault    Role = "default"
	RoleChat       Role = "chat"
	RoleSummarizer Role = "summarizer"
	RoleResearcher Role = "researcher"
	RoleWriter     Role = "writer"
	RoleVerifier   Role = "verifier"
	RoleEmbeddings Role = "embeddings"
)

// Roles lists the roles in the order of the configuration.
func Roles() []Role {
	return []Role{RoleDefault, RoleChat, RoleSummarizer, RoleResearcher, RoleWriter, RoleVerifier, RoleEmbeddings}
}

// Model is what a call in a role has to use: the role's settings with what it
// inherits and what its provider adds.
//
// What counts, in this order: a flag; the role's own setting; that of default;
// the provider's variable or built-in value; the built-in default. A role at
// another address than default takes none of its key, model, proxy, prices and
// extra parameters: a key goes only to the host it was given for.
type Model struct {
	Role Role
	Endpoint
	// KeyVariables are the variables that the provider's key is usually in.
	KeyVariables []string

	origins map[string]string // by key of Endpoint
}

// Configured says whether the model can be called, as far as can be told
// without calling: there is a name and an address, and a key where one is needed.
func (m Model) Configured() bool { return m.Missing() == "" }

// Missing says what to set so that the model can be called; "" when nothing
// is missing.
func (m Model) Missing() string {
	path := "models." + string(m.Role)
	switch {
	case m.BaseURL == "":
		return "set " + path + ".base_url to the address of " + string(m.Provider)
	case m.APIKey.IsZero() && !m.Provider.info().keyless && !isNear(string(m.BaseURL)):
		if len(m.KeyVariables) > 0 {
			return "set " + m.KeyVariables[0] + ", or " + path + ".api_key in the configuration"
		}
		return "set " + path + ".api_key in the configuration"
	case m.Model == "" && m.Role == RoleEmbeddings && m.Provider.info().embed != "":
		return "set " + path + ".model, for instance to " + m.Provider.info().embed + "; it gets the text of every document"
	case m.Model == "":
		return "set " + path + ".model to the name of a model that " + string(m.Provider) + " serves"
	}
	return ""
}

// Model resolves a role; an unknown role is default.
func (c *Config) Model(role Role) Model {
	base := c.resolve(RoleDefault, nil)
	if role == RoleDefault || schema().byPath["models."+string(role)+".model"] == nil {
		return base
	}
	return c.resolve(role, &base)
}

// said is the setting in force for a key of a role's endpoint, nil when there
// is none. Built-in defaults and empty values are not said.
func (c *Config) said(role Role, key string) *setting {
	s := c.inForce(role, key)
	if s == nil || s.layer == layerDefault || s.empty {
		return nil
	}
	return s
}

func (c *Config) inForce(role Role, key string) *setting {
	l := schema().byPath["models."+string(role)+"."+key]
	if i := c.st().last[l.id]; i >= 0 {
		return &c.st().settings[i]
	}
	return nil
}

// resolver gathers one role's endpoint.
type resolver struct {
	c       *Config
	role    Role
	base    *Model // default, resolved; nil while resolving default
	m       Model
	info    *providerInfo
	bound   bool // default's endpoint is this one, so its settings apply
	newFlag bool // a flag chose another provider than the other layers
}

func (c *Config) resolve(role Role, base *Model) Model {
	r := &resolver{c: c, role: role, base: base, m: Model{Role: role, origins: map[string]string{}}}
	r.provider()
	r.endpoint()
	r.rest()
	return r.m
}

// own returns what was said for the role, or by a flag for all roles. With
// newFlag only flags speak about what belongs to a provider.
func (r *resolver) own(key string) *setting {
	s := r.c.said(r.role, key)
	if r.base != nil && !(r.role == RoleEmbeddings && key == "model") {
		if d := r.c.said(RoleDefault, key); d != nil && d.layer == layerFlag && (s == nil || s.layer != layerFlag) {
			s = d
		}
	}
	if s != nil && r.newFlag && s.layer != layerFlag {
		return nil
	}
	return s
}

func (r *resolver) provider() {
	s := r.own("provider")
	address := r.own("base_url")
	switch {
	case s != nil && s.value.(Provider) != "":
		r.m.Provider = s.value.(Provider)
		r.note("provider", s)
		if s.layer == layerFlag {
			r.newFlag = r.withoutFlags() != r.m.Provider
		}
	case address != nil:
		r.m.Provider = providerAt(string(address.value.(URL)))
		r.m.origins["provider"] = "from base_url, " + address.origin.String()
	case r.base != nil:
		r.m.Provider = r.base.Provider
		r.m.origins["provider"] = inherited(r.base.origins["provider"])
	default:
		r.m.Provider, r.m.origins["provider"] = r.infer()
	}
	r.info = r.m.Provider.info()
	r.m.KeyVariables = r.info.keys
}

// withoutFlags is the provider that the role would have if no flag named one.
func (r *resolver) withoutFlags() Provider {
	st := *r.c.st()
	st.layers[layerFlag] = nil
	return st.fold(schema()).Model(r.role).Provider
}

// infer finds a provider when nothing names one: from the model's name when
// there is a key for it, else from the keys at hand.
func (r *resolver) infer() (Provider, string) {
	env := r.c.st().env
	model := r.own("model")
	if model != nil {
		p := providerOf(model.value.(string))
		if _, name := env.first(p.info().keys...); p != "" && (name != "" || r.own("api_key") != nil) {
			return p, "from model, " + model.origin.String()
		}
	}
	if key := r.own("api_key"); key != nil {
		return OpenAI, "from api_key, " + key.origin.String()
	}
	for i := range providers {
		p := &providers[i]
		if _, name := env.first(p.keys...); name != "" {
			return p.name, "from env " + name
		}
		if _, name := p.variable(env, "base_url"); name != "" {
			return p.name, "from env " + name
		}
	}
	return OpenAI, "default"
}

func (r *resolver) endpoint() {
	m := &r.m
	if s := r.own("base_url"); s != nil {
		m.BaseURL = s.value.(URL)
		r.note("base_url", s)
	} else if r.base != nil && r.base.Provider == m.Provider {
		m.BaseURL = r.base.BaseURL
		m.origins["base_url"] = inherited(r.base.origins["base_url"])
	} else if v, name := r.info.variable(r.c.st().env, "base_url"); name != "" {
		m.BaseURL, m.origins["base_url"] = URL(v), "env "+name
	} else if r.info.baseURL != "" {
		m.BaseURL, m.origins["base_url"] = URL(r.info.baseURL), r.builtIn()
	}
	r.bound = r.base != nil && r.base.Provider == m.Provider && hostOf(string(r.base.BaseURL)) == hostOf(string(m.BaseURL))
	r.put("api_key", true)
	if name := r.unsetKey(); name != "" {
		m.KeyVariables = []string{name}
	} else if m.APIKey.IsZero() {
		if v, name := r.c.st().env.first(r.info.keys...); name != "" {
			m.APIKey, m.origins["api_key"] = NewSecret(v), "env "+name
		}
	}
	r.put("scope", true)
	r.put("auth_url", true)
	r.put("ca_file", true)
	r.put("proxy", true)
	if r.m.Provider == GigaChat {
		r.fill("scope", &m.Scope, r.info.scope)
		auth := string(m.AuthURL)
		r.fill("auth_url", &auth, r.info.authURL)
		m.AuthURL = URL(auth)
		r.fill("ca_file", &m.CAFile, "")
		m.CAFile = r.c.st().env.home(m.CAFile)
	}
}

// unsetKey is the variable that api_key names when it is not set: then no
// other key is taken in its place.
func (r *resolver) unsetKey() string {
	s := r.c.inForce(r.role, "api_key")
	if s == nil && r.bound {
		s = r.c.inForce(RoleDefault, "api_key")
	}
	if s == nil || !s.empty || r.newFlag {
		return ""
	}
	return s.via
}

// fill takes the provider's variable or built-in value for an empty key.
func (r *resolver) fill(key string, at *string, builtIn string) {
	if *at != "" {
		return
	}
	if v, name := r.info.variable(r.c.st().env, key); name != "" {
		*at, r.m.origins[key] = v, "env "+name
		return
	}
	r.fillBuiltIn(key, at, builtIn)
}

func (r *resolver) fillBuiltIn(key string, at *string, builtIn string) {
	if *at == "" && builtIn != "" {
		*at, r.m.origins[key] = builtIn, r.builtIn()
	}
}

func (r *resolver) rest() {
	m := &r.m
	if r.role == RoleEmbeddings {
		// Texts of documents go only to a model that was named for it: a key, or
		// an address for all roles, is not enough.
		r.put("model", false)
		if r.c.said(r.role, "provider") != nil || r.c.said(r.role, "base_url") != nil {
			r.fillBuiltIn("model", &m.Model, r.info.embed)
		}
	} else {
		r.put("model", true)
		r.fill("model", &m.Model, r.info.model)
	}
	sameModel := r.base != nil && r.base.Model == m.Model
	r.put("context_window", sameModel)
	r.put("price_input", sameModel)
	r.put("price_output", sameModel)
	r.put("extra", r.role != RoleEmbeddings)
	if r.bound && r.role != RoleEmbeddings && r.c.said(r.role, "extra") != nil {
		extra := maps.Clone(r.base.Extra)
		if extra == nil {
			extra = Tree{}
		}
		maps.Copy(extra, m.Extra)
		m.Extra = extra
	}
	if r.role != RoleEmbeddings {
		r.number("temperature")
		r.number("max_tokens")
	}
}

func (r *resolver) builtIn() string { return "default of " + string(r.m.Provider) }

func inherited(from string) string { return "models.default, " + from }

func (r *resolver) note(key string, s *setting) {
	o := s.origin.String()
	if s.via != "" {
		o += " (" + s.via + ")"
	}
	if !strings.HasPrefix(s.leaf.path, "models."+string(r.role)+".") {
		o = inherited(o)
	}
	r.m.origins[key] = o
}

// put takes the role's own value for a key, else default's where it applies.
func (r *resolver) put(key string, inherit bool) {
	if s := r.own(key); s != nil {
		r.set(key, r.value(s))
		r.note(key, s)
		return
	}
	if r.base == nil || !r.bound || !inherit {
		return
	}
	if v := fieldOf(&r.base.Endpoint, key); !v.IsZero() {
		r.set(key, v)
		r.m.origins[key] = inherited(r.base.origins[key])
	}
}

// number takes a setting that holds at any endpoint: what was said for the
// role or for default beats what is built in for either.
func (r *resolver) number(key string) {
	s := r.c.said(r.role, key)
	for _, next := range [...]*setting{r.c.said(RoleDefault, key), r.c.inForce(r.role, key), r.c.inForce(RoleDefault, key)} {
		if s == nil || next != nil && next.layer == layerFlag && s.layer != layerFlag {
			s = next
		}
	}
	if s != nil && !s.empty {
		r.set(key, r.value(s))
		r.note(key, s)
	}
}

// value is a setting's value; a tree's is the whole tree.
func (r *resolver) value(s *setting) reflect.Value {
	if s.leaf.kind == kindTree {
		return reflect.ValueOf(r.c).Elem().FieldByIndex(s.leaf.index)
	}
	return reflect.ValueOf(s.value)
}

func (r *resolver) set(key string, v reflect.Value) { fieldOf(&r.m.Endpoint, key).Set(v) }

func fieldOf(e *Endpoint, key string) reflect.Value {
	l := schema().byPath["models.default."+key]
	return reflect.ValueOf(e).Elem().Field(l.index[len(l.index)-1])
}
