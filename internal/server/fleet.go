package server

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"dossier"
	"dossier/internal/access"
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

// agentRoutes are about agents and tools.
func agentRoutes() []Route {
	search := []Param{{"q", "string", "what somebody wants done"}, {"k", "integer", "how many, at most"}}
	return []Route{
		{
			Pattern: "GET /api/agents", Scope: access.Read, Doc: &Doc{Summary: "List the agents: definitions, templates and those of other servers", Reply: []dossier.AgentEntry{}},
			Serve: func(w http.ResponseWriter, r *http.Request) error {
				list, err := EngineOf(r.Context()).Agents(r.Context())
				return give(w, agentsFor(r, list), err)
			},
		},
		{
			Pattern: "GET /api/agents/{name}", Scope: access.Read, Doc: &Doc{Summary: "Show the definition that a run of an agent would get", Reply: agents.Member{}},
			Serve: func(w http.ResponseWriter, r *http.Request) error {
				m, err := EngineOf(r.Context()).Agent(r.Context(), r.PathValue("name"))
				return give(w, m, err)
			},
		},
		{
			Pattern: "GET /api/directory", Scope: access.Read, Doc: &Doc{Summary: "List the agents, or find some for what somebody wants done", Reply: []dossier.AgentEntry{}, Query: search},
			Serve: func(w http.ResponseWriter, r *http.Request) error {
				query, k, err := searchOf(r)
				if err != nil {
					return err
				}
				var list []dossier.AgentEntry
				if e := EngineOf(r.Context()); query == "" {
					list, err = e.Agents(r.Context())
				} else {
					list, err = e.SearchAgents(r.Context(), query, k)
				}
				return give(w, agentsFor(r, list), err)
			},
		},
		{
			Pattern: "GET /api/tools", Scope: access.Read, Doc: &Doc{Summary: "List the tools, or find some for what somebody wants done", Reply: dossier.ToolList{}, Query: search},
			Serve: func(w http.ResponseWriter, r *http.Request) error {
				query, k, err := searchOf(r)
				if err != nil {
					return err
				}
				var list dossier.ToolList
				if e := EngineOf(r.Context()); query == "" {
					list, err = e.Tools(r.Context())
				} else {
					list, err = e.SearchTools(r.Context(), query, k)
				}
				return give(w, toolsFor(r, list), err)
			},
		},
		{
			Pattern: "GET /api/mcp", Scope: access.Admin, Doc: &Doc{Summary: "Ask the MCP servers how they are", Reply: []mcptool.Status{}},
			Serve: func(w http.ResponseWriter, r *http.Request) error {
				list, err := EngineOf(r.Context()).MCPStatus(r.Context())
				return give(w, nonNil(list), err)
			},
		},
	}
}

// searchOf reads what is searched for, and how many are wanted.
func searchOf(r *http.Request) (query string, k int, err error) {
	q := r.URL.Query()
	k, err = number("k", q.Get("k"))
	return q.Get("q"), k, err
}

// searchPath is a path with a search.
func searchPath(path, query string, k int) string {
	return path + "?" + url.Values{"q": {query}, "k": {strconv.Itoa(k)}}.Encode()
}

const aTemplate = "/api/templates/{name}"

// templateRoutes are about templates.
func templateRoutes() []Route {
	name := func(r *http.Request) string { return r.PathValue("name") }
	return []Route{
		{
			Pattern: "GET /api/templates", Scope: access.Read, Doc: &Doc{Summary: "List the templates", Reply: []fleet.Template{}},
			Serve: func(w http.ResponseWriter, r *http.Request) error {
				list, err := EngineOf(r.Context()).Templates(r.Context())
				return give(w, nonNil(list), err)
			},
		},
		{
			Pattern: "GET " + aTemplate, Scope: access.Read, Doc: &Doc{Summary: "Show a template with its versions", Reply: fleet.Template{}},
			Serve: func(w http.ResponseWriter, r *http.Request) error {
				t, err := EngineOf(r.Context()).Template(r.Context(), name(r))
				return give(w, t, err)
			},
		},
		{
			Pattern: "DELETE " + aTemplate, Scope: access.Agents, Doc: &Doc{Summary: "Delete a template that no instance is made from"},
			Serve: func(w http.ResponseWriter, r *http.Request) error {
				return done(w, EngineOf(r.Context()).DeleteTemplate(r.Context(), name(r)))
			},
		},
		{
			Pattern: "POST " + aTemplate, Scope: access.Agents, Serve: save,
			Doc: &Doc{Summary: "Make a template or add a version to it; 200 says that the document is the latest one's", Body: textBody{}, Reply: savedBody{}, Status: http.StatusCreated},
		},
		{
			Pattern: "GET " + aTemplate + "/versions/{n}", Scope: access.Read, Doc: &Doc{Summary: "Show a version with its document", Reply: fleet.Version{}},
			Serve: func(w http.ResponseWriter, r *http.Request) error {
				n, err := number("version", r.PathValue("n"))
				if err != nil {
					return err
				}
				v, err := EngineOf(r.Context()).TemplateVersion(r.Context(), name(r), n)
				return give(w, v, err)
			},
		},
		{
			Pattern: "GET " + aTemplate + "/stats", Scope: access.Read, Doc: &Doc{Summary: "What runs of each version have cost and brought", Reply: []fleet.VersionStats{}},
			Serve: func(w http.ResponseWriter, r *http.Request) error {
				stats, err := EngineOf(r.Context()).TemplateStats(r.Context(), name(r))
				return give(w, nonNil(stats), err)
			},
		},
		{
			Pattern: "GET " + aTemplate + "/diff", Scope: access.Read, Serve: diff,
			Doc: &Doc{Summary: "How one version differs from another, line by line", Reply: diffBody{}, Query: []Param{{"a", "integer", "the one version"}, {"b", "integer", "the other"}}},
		},
		{
			Pattern: "POST " + aTemplate + "/publish", Scope: access.Agents, Doc: &Doc{Summary: "Publish a version", Body: versionNumber{}},
			Serve: numbered(func(w http.ResponseWriter, r *http.Request, n int) error {
				return done(w, EngineOf(r.Context()).PublishTemplate(r.Context(), name(r), n))
			}),
		},
		{
			Pattern: "POST " + aTemplate + "/rollback", Scope: access.Agents, Doc: &Doc{Summary: "Publish an earlier version again", Body: versionNumber{}, Reply: versionNumber{}},
			Serve: numbered(func(w http.ResponseWriter, r *http.Request, n int) error {
				now, err := EngineOf(r.Context()).RollBackTemplate(r.Context(), name(r), n)
				return give(w, versionNumber{now}, err)
			}),
		},
		{
			Pattern: "POST " + aTemplate + "/deprecate", Scope: access.Agents, Doc: &Doc{Summary: "Mark a version, or with 0 the template, as one not to use", Body: versionNumber{}},
			Serve: numbered(func(w http.ResponseWriter, r *http.Request, n int) error {
				return done(w, EngineOf(r.Context()).DeprecateTemplate(r.Context(), name(r), n))
			}),
		},
	}
}

// save makes a template or adds a version to it: 201 says that there is a new
// version, 200 that the document is the latest one's.
func save(w http.ResponseWriter, r *http.Request) error {
	var b textBody
	if err := read(w, r, &b); err != nil {
		return err
	}
	v, added, err := EngineOf(r.Context()).SaveTemplate(r.Context(), r.PathValue("name"), fleet.Text{Document: b.Document, Note: b.Note, Author: b.Author})
	if err != nil {
		return err
	}
	status := http.StatusOK
	if added {
		status = http.StatusCreated
	}
	return reply(w, status, savedBody{v, added})
}

func diff(w http.ResponseWriter, r *http.Request) error {
	from, err := number("a", r.URL.Query().Get("a"))
	if err != nil {
		return err
	}
	to, err := number("b", r.URL.Query().Get("b"))
	if err != nil {
		return err
	}
	text, err := EngineOf(r.Context()).DiffTemplate(r.Context(), r.PathValue("name"), from, to)
	return give(w, diffBody{text}, err)
}

const anInstance = "/api/instances/{id}"

// instanceRoutes are about instances.
func instanceRoutes() []Route {
	return []Route{
		{Pattern: "GET /api/instances", Scope: access.Read, Serve: instances, Doc: &Doc{
			Summary: "List instances by name; the next page is after the last name", Reply: []fleet.Instance{}, Query: []Param{
				{"template", "string", "only those of this template"},
				{"state", "string", "starting, ready, busy, draining or stopped"},
				{"prefix", "string", "only names that begin so"},
				{"after", "string", "only names after this one"},
				{"limit", "integer", "how many, 100 by default and 1000 at most"},
			},
		}},
		{
			Pattern: "POST /api/instances", Scope: access.Agents, Doc: &Doc{Summary: "Make an instance of a template", Body: fleet.Instance{}, Reply: fleet.Instance{}, Status: http.StatusCreated},
			Serve: func(w http.ResponseWriter, r *http.Request) error {
				var i fleet.Instance
				if err := read(w, r, &i); err != nil {
					return err
				}
				made, err := EngineOf(r.Context()).RegisterInstance(r.Context(), i)
				if err != nil {
					return err
				}
				return reply(w, http.StatusCreated, made)
			},
		},
		{
			Pattern: "GET " + anInstance, Scope: access.Read, Doc: &Doc{Summary: "Show an instance and what it is doing", Reply: fleet.Status{}},
			Serve: func(w http.ResponseWriter, r *http.Request) error {
				s, err := EngineOf(r.Context()).Instance(r.Context(), r.PathValue("id"))
				return give(w, s, err)
			},
		},
		{Pattern: "DELETE " + anInstance, Scope: access.Agents, Serve: told(Engine.RemoveInstance), Doc: &Doc{Summary: "Forget an instance that has no work"}},
		{Pattern: "POST " + anInstance + "/start", Scope: access.Agents, Serve: told(Engine.StartInstance), Doc: &Doc{Summary: "Let an instance take runs again"}},
		{Pattern: "POST " + anInstance + "/drain", Scope: access.Agents, Serve: told(Engine.DrainInstance), Doc: &Doc{Summary: "Let an instance end its runs and take no new ones"}},
		{Pattern: "POST " + anInstance + "/stop", Scope: access.Agents, Serve: told(Engine.StopInstance), Doc: &Doc{Summary: "Pause the runs of an instance and take no new ones"}},
		{
			Pattern: "POST " + anInstance + "/upgrade", Scope: access.Agents, Doc: &Doc{Summary: "Make new runs of an instance from another version; 0 follows the published one", Body: versionNumber{}},
			Serve: numbered(func(w http.ResponseWriter, r *http.Request, n int) error {
				return done(w, EngineOf(r.Context()).UpgradeInstance(r.Context(), r.PathValue("id"), n))
			}),
		},
	}
}

func instances(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	limit, err := number("limit", q.Get("limit"))
	if err != nil {
		return err
	}
	list, err := EngineOf(r.Context()).Instances(r.Context(), fleet.Filter{
		Template: q.Get("template"), State: fleet.State(q.Get("state")), Prefix: q.Get("prefix"), After: q.Get("after"), Limit: min(limit, mostListed),
	})
	return give(w, nonNil(list), err)
}

// numbered reads the version that a request is about.
func numbered(do func(w http.ResponseWriter, r *http.Request, n int) error) Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		var b versionNumber
		if err := read(w, r, &b); err != nil {
			return err
		}
		return do(w, r, b.Version)
	}
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
