package server

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"dossier"
	"dossier/internal/fleet"
	"dossier/mode/agents"
	"dossier/tool/mcptool"
)

// Fleet is what can be done with agents: those there are, the templates and
// instances that are kept of them, and the tools that they call.
type Fleet interface {
	Agents(ctx context.Context) ([]dossier.AgentEntry, error)
	SearchAgents(ctx context.Context, query string, k int) ([]dossier.AgentEntry, error)
	Agent(ctx context.Context, name string) (agents.Member, error)

	Templates(ctx context.Context) ([]fleet.Template, error)
	Template(ctx context.Context, name string) (fleet.Template, error)
	TemplateVersion(ctx context.Context, name string, n int) (fleet.Version, error)
	SaveTemplate(ctx context.Context, name string, t fleet.Text) (v fleet.Version, added bool, err error)
	PublishTemplate(ctx context.Context, name string, n int) error
	RollBackTemplate(ctx context.Context, name string, n int) (int, error)
	DeprecateTemplate(ctx context.Context, name string, n int) error
	DiffTemplate(ctx context.Context, name string, a, b int) (string, error)
	DeleteTemplate(ctx context.Context, name string) error
	TemplateStats(ctx context.Context, name string) ([]fleet.VersionStats, error)

	Instances(ctx context.Context, f fleet.Filter) ([]fleet.Instance, error)
	Instance(ctx context.Context, key string) (fleet.Status, error)
	RegisterInstance(ctx context.Context, i fleet.Instance) (fleet.Instance, error)
	StartInstance(ctx context.Context, key string) error
	DrainInstance(ctx context.Context, key string) error
	StopInstance(ctx context.Context, key string) error
	UpgradeInstance(ctx context.Context, key string, version int) error
	RemoveInstance(ctx context.Context, key string) error

	Tools(ctx context.Context) (dossier.ToolList, error)
	SearchTools(ctx context.Context, query string, k int) (dossier.ToolList, error)
	MCPStatus(ctx context.Context) ([]mcptool.Status, error)
}

// Bodies of requests and replies about templates and instances.
type (
	textBody struct {
		Document string `json:"document"`
		Note     string `json:"note,omitempty"`
		Author   string `json:"author,omitempty"`
	}
	savedBody struct {
		Version fleet.Version `json:"version"`
		// Added is false when the document was that of the latest version.
		Added bool `json:"added"`
	}
	versionNumber struct {
		Version int `json:"version"`
	}
	diffBody struct {
		Diff string `json:"diff"`
	}
)

// agents registers what is about agents and tools.
func (a *api) agents(handle handleFunc) {
	handle("GET /api/agents", func(w http.ResponseWriter, r *http.Request) error {
		list, err := a.runs.Agents(r.Context())
		return give(w, nonNil(list), err)
	})
	handle("GET /api/agents/{name}", func(w http.ResponseWriter, r *http.Request) error {
		m, err := a.runs.Agent(r.Context(), r.PathValue("name"))
		return give(w, m, err)
	})
	handle("GET /api/directory", func(w http.ResponseWriter, r *http.Request) error {
		query, k, err := searchOf(r)
		if err != nil {
			return err
		}
		list, err := a.runs.SearchAgents(r.Context(), query, k)
		return give(w, nonNil(list), err)
	})
	handle("GET /api/tools", func(w http.ResponseWriter, r *http.Request) error {
		query, k, err := searchOf(r)
		if err != nil {
			return err
		}
		var list dossier.ToolList
		if query == "" {
			list, err = a.runs.Tools(r.Context())
		} else {
			list, err = a.runs.SearchTools(r.Context(), query, k)
		}
		list.Tools = nonNil(list.Tools)
		return give(w, list, err)
	})
	handle("GET /api/mcp", func(w http.ResponseWriter, r *http.Request) error {
		list, err := a.runs.MCPStatus(r.Context())
		return give(w, nonNil(list), err)
	})
	a.templates(handle)
	a.instances(handle)
}

// searchOf reads what is searched for, and how many are wanted.
func searchOf(r *http.Request) (query string, k int, err error) {
	q := r.URL.Query()
	if text := q.Get("k"); text != "" {
		k, err = number("k", text)
	}
	return q.Get("q"), k, err
}

// searchPath is a path with a search.
func searchPath(path, query string, k int) string {
	return path + "?" + url.Values{"q": {query}, "k": {strconv.Itoa(k)}}.Encode()
}

// templates registers what is about templates.
func (a *api) templates(handle handleFunc) {
	const one = "/api/templates/{name}"
	name := func(r *http.Request) string { return r.PathValue("name") }
	handle("GET /api/templates", func(w http.ResponseWriter, r *http.Request) error {
		list, err := a.runs.Templates(r.Context())
		return give(w, nonNil(list), err)
	})
	handle("GET "+one, func(w http.ResponseWriter, r *http.Request) error {
		t, err := a.runs.Template(r.Context(), name(r))
		return give(w, t, err)
	})
	handle("DELETE "+one, func(w http.ResponseWriter, r *http.Request) error {
		return done(w, a.runs.DeleteTemplate(r.Context(), name(r)))
	})
	handle("POST "+one, a.save)
	handle("GET "+one+"/versions/{n}", func(w http.ResponseWriter, r *http.Request) error {
		n, err := number("version", r.PathValue("n"))
		if err != nil {
			return err
		}
		v, err := a.runs.TemplateVersion(r.Context(), name(r), n)
		return give(w, v, err)
	})
	handle("GET "+one+"/stats", func(w http.ResponseWriter, r *http.Request) error {
		stats, err := a.runs.TemplateStats(r.Context(), name(r))
		return give(w, nonNil(stats), err)
	})
	handle("GET "+one+"/diff", func(w http.ResponseWriter, r *http.Request) error {
		from, err := number("a", r.URL.Query().Get("a"))
		if err != nil {
			return err
		}
		to, err := number("b", r.URL.Query().Get("b"))
		if err != nil {
			return err
		}
		diff, err := a.runs.DiffTemplate(r.Context(), name(r), from, to)
		return give(w, diffBody{diff}, err)
	})
	handle("POST "+one+"/publish", numbered(func(w http.ResponseWriter, r *http.Request, n int) error {
		return done(w, a.runs.PublishTemplate(r.Context(), name(r), n))
	}))
	handle("POST "+one+"/rollback", numbered(func(w http.ResponseWriter, r *http.Request, n int) error {
		now, err := a.runs.RollBackTemplate(r.Context(), name(r), n)
		return give(w, versionNumber{now}, err)
	}))
	handle("POST "+one+"/deprecate", numbered(func(w http.ResponseWriter, r *http.Request, n int) error {
		return done(w, a.runs.DeprecateTemplate(r.Context(), name(r), n))
	}))
}

// save makes a template or adds a version to it: 201 says that there is a new
// version, 200 that the document is the latest one's.
func (a *api) save(w http.ResponseWriter, r *http.Request) error {
	var b textBody
	if err := read(w, r, &b); err != nil {
		return err
	}
	v, added, err := a.runs.SaveTemplate(r.Context(), r.PathValue("name"), fleet.Text{Document: b.Document, Note: b.Note, Author: b.Author})
	if err != nil {
		return err
	}
	status := http.StatusOK
	if added {
		status = http.StatusCreated
	}
	return reply(w, status, savedBody{v, added})
}

// instances registers what is about instances.
func (a *api) instances(handle handleFunc) {
	const one = "/api/instances/{id}"
	id := func(r *http.Request) string { return r.PathValue("id") }
	handle("GET /api/instances", func(w http.ResponseWriter, r *http.Request) error {
		q := r.URL.Query()
		limit, err := number("limit", q.Get("limit"))
		if err != nil {
			return err
		}
		list, err := a.runs.Instances(r.Context(), fleet.Filter{
			Template: q.Get("template"), State: fleet.State(q.Get("state")), Prefix: q.Get("prefix"), After: q.Get("after"), Limit: limit,
		})
		return give(w, nonNil(list), err)
	})
	handle("POST /api/instances", func(w http.ResponseWriter, r *http.Request) error {
		var i fleet.Instance
		if err := read(w, r, &i); err != nil {
			return err
		}
		made, err := a.runs.RegisterInstance(r.Context(), i)
		if err != nil {
			return err
		}
		return reply(w, http.StatusCreated, made)
	})
	handle("GET "+one, func(w http.ResponseWriter, r *http.Request) error {
		s, err := a.runs.Instance(r.Context(), id(r))
		return give(w, s, err)
	})
	handle("DELETE "+one, func(w http.ResponseWriter, r *http.Request) error {
		return done(w, a.runs.RemoveInstance(r.Context(), id(r)))
	})
	for verb, do := range map[string]func(context.Context, string) error{
		"start": a.runs.StartInstance, "drain": a.runs.DrainInstance, "stop": a.runs.StopInstance,
	} {
		handle("POST "+one+"/"+verb, func(w http.ResponseWriter, r *http.Request) error { return done(w, do(r.Context(), id(r))) })
	}
	handle("POST "+one+"/upgrade", numbered(func(w http.ResponseWriter, r *http.Request, n int) error {
		return done(w, a.runs.UpgradeInstance(r.Context(), id(r), n))
	}))
}

// numbered reads the version that a request is about.
func numbered(do func(w http.ResponseWriter, r *http.Request, n int) error) func(http.ResponseWriter, *http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		var b versionNumber
		if err := read(w, r, &b); err != nil {
			return err
		}
		return do(w, r, b.Version)
	}
}

// number reads a number of a query or a path; an empty text is 0.
func number(what, text string) (int, error) {
	if text == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0, &dossier.UsageError{Message: fmt.Sprintf("%s %q is not a number", what, text)}
	}
	return n, nil
}

// Agents implements Fleet.
func (c *Client) Agents(ctx context.Context) ([]dossier.AgentEntry, error) {
	return fetch[[]dossier.AgentEntry](ctx, c, http.MethodGet, "/api/agents", nil)
}

// Agent implements Fleet.
func (c *Client) Agent(ctx context.Context, name string) (agents.Member, error) {
	return fetch[agents.Member](ctx, c, http.MethodGet, "/api/agents/"+url.PathEscape(name), nil)
}

// Templates implements Fleet.
func (c *Client) Templates(ctx context.Context) ([]fleet.Template, error) {
	return fetch[[]fleet.Template](ctx, c, http.MethodGet, "/api/templates", nil)
}

// Template implements Fleet.
func (c *Client) Template(ctx context.Context, name string) (fleet.Template, error) {
	return fetch[fleet.Template](ctx, c, http.MethodGet, template(name), nil)
}

// TemplateVersion implements Fleet.
func (c *Client) TemplateVersion(ctx context.Context, name string, n int) (fleet.Version, error) {
	return fetch[fleet.Version](ctx, c, http.MethodGet, template(name)+"/versions/"+strconv.Itoa(n), nil)
}

// SaveTemplate implements Fleet.
func (c *Client) SaveTemplate(ctx context.Context, name string, t fleet.Text) (v fleet.Version, added bool, err error) {
	saved, err := fetch[savedBody](ctx, c, http.MethodPost, template(name), textBody{t.Document, t.Note, t.Author})
	return saved.Version, saved.Added, err
}

// PublishTemplate implements Fleet.
func (c *Client) PublishTemplate(ctx context.Context, name string, n int) error {
	return c.call(ctx, http.MethodPost, template(name)+"/publish", versionNumber{n}, nil)
}

// RollBackTemplate implements Fleet.
func (c *Client) RollBackTemplate(ctx context.Context, name string, n int) (int, error) {
	now, err := fetch[versionNumber](ctx, c, http.MethodPost, template(name)+"/rollback", versionNumber{n})
	return now.Version, err
}

// DeprecateTemplate implements Fleet.
func (c *Client) DeprecateTemplate(ctx context.Context, name string, n int) error {
	return c.call(ctx, http.MethodPost, template(name)+"/deprecate", versionNumber{n}, nil)
}

// DiffTemplate implements Fleet.
func (c *Client) DiffTemplate(ctx context.Context, name string, a, b int) (string, error) {
	d, err := fetch[diffBody](ctx, c, http.MethodGet, fmt.Sprintf("%s/diff?a=%d&b=%d", template(name), a, b), nil)
	return d.Diff, err
}

// DeleteTemplate implements Fleet.
func (c *Client) DeleteTemplate(ctx context.Context, name string) error {
	return c.call(ctx, http.MethodDelete, template(name), nil, nil)
}

// TemplateStats implements Fleet.
func (c *Client) TemplateStats(ctx context.Context, name string) ([]fleet.VersionStats, error) {
	return fetch[[]fleet.VersionStats](ctx, c, http.MethodGet, template(name)+"/stats", nil)
}

// Instances implements Fleet.
func (c *Client) Instances(ctx context.Context, f fleet.Filter) ([]fleet.Instance, error) {
	q := url.Values{}
	for key, value := range map[string]string{"template": f.Template, "state": string(f.State), "prefix": f.Prefix, "after": f.After} {
		if value != "" {
			q.Set(key, value)
		}
	}
	if f.Limit > 0 {
		q.Set("limit", strconv.Itoa(f.Limit))
	}
	return fetch[[]fleet.Instance](ctx, c, http.MethodGet, "/api/instances?"+q.Encode(), nil)
}

// Instance implements Fleet.
func (c *Client) Instance(ctx context.Context, key string) (fleet.Status, error) {
	return fetch[fleet.Status](ctx, c, http.MethodGet, instance(key), nil)
}

// RegisterInstance implements Fleet.
func (c *Client) RegisterInstance(ctx context.Context, i fleet.Instance) (fleet.Instance, error) {
	return fetch[fleet.Instance](ctx, c, http.MethodPost, "/api/instances", i)
}

// StartInstance implements Fleet.
func (c *Client) StartInstance(ctx context.Context, key string) error {
	return c.call(ctx, http.MethodPost, instance(key)+"/start", nil, nil)
}

// DrainInstance implements Fleet.
func (c *Client) DrainInstance(ctx context.Context, key string) error {
	return c.call(ctx, http.MethodPost, instance(key)+"/drain", nil, nil)
}

// StopInstance implements Fleet.
func (c *Client) StopInstance(ctx context.Context, key string) error {
	return c.call(ctx, http.MethodPost, instance(key)+"/stop", nil, nil)
}

// UpgradeInstance implements Fleet.
func (c *Client) UpgradeInstance(ctx context.Context, key string, version int) error {
	return c.call(ctx, http.MethodPost, instance(key)+"/upgrade", versionNumber{version}, nil)
}

// RemoveInstance implements Fleet.
func (c *Client) RemoveInstance(ctx context.Context, key string) error {
	return c.call(ctx, http.MethodDelete, instance(key), nil, nil)
}

// SearchAgents implements Fleet.
func (c *Client) SearchAgents(ctx context.Context, query string, k int) ([]dossier.AgentEntry, error) {
	return fetch[[]dossier.AgentEntry](ctx, c, http.MethodGet, searchPath("/api/directory", query, k), nil)
}

// SearchTools implements Fleet.
func (c *Client) SearchTools(ctx context.Context, query string, k int) (dossier.ToolList, error) {
	return fetch[dossier.ToolList](ctx, c, http.MethodGet, searchPath("/api/tools", query, k), nil)
}

// Tools implements Fleet.
func (c *Client) Tools(ctx context.Context) (dossier.ToolList, error) {
	return fetch[dossier.ToolList](ctx, c, http.MethodGet, "/api/tools", nil)
}

// MCPStatus implements Fleet.
func (c *Client) MCPStatus(ctx context.Context) ([]mcptool.Status, error) {
	return fetch[[]mcptool.Status](ctx, c, http.MethodGet, "/api/mcp", nil)
}

func template(name string) string { return "/api/templates/" + url.PathEscape(name) }

func instance(key string) string { return "/api/instances/" + url.PathEscape(key) }
