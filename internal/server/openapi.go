package server

import (
	_ "embed"
	"encoding/json"
	"fmt"
	pages "html/template"
	"maps"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"dossier/event"
)

// description serves what the routes of protocols are, for programs and for
// people. It is made of the routes themselves, so it can't tell of others.
func description(protocols []Protocol) Protocol {
	doc := openAPI(protocols)
	raw, err := json.MarshalIndent(doc, "", " ")
	if err != nil {
		panic(err) // a route describes itself by something that is no JSON
	}
	page := manual(doc)
	return Protocol{Name: "description", Routes: []Route{
		{Pattern: "GET /openapi.json", Scope: Open, Serve: func(w http.ResponseWriter, _ *http.Request) error {
			return file(w, "openapi.json", "application/json", raw, false)
		}},
		{Pattern: "GET /docs", Scope: Open, Serve: func(w http.ResponseWriter, _ *http.Request) error {
			w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'")
			return file(w, "docs.html", "text/html; charset=utf-8", page, false)
		}},
	}}
}

// Parts of an OpenAPI document that we use.
type (
	openAPIDoc struct {
		OpenAPI    string                          `json:"openapi"`
		Info       map[string]string               `json:"info"`
		Paths      map[string]map[string]operation `json:"paths"`
		Components components                      `json:"components"`
		Security   []map[string][]string           `json:"security"`
	}
	components struct {
		Schemas   map[string]*jsonschema.Schema `json:"schemas"`
		Responses map[string]any                `json:"responses"`
		Security  map[string]any                `json:"securitySchemes"`
	}
	operation struct {
		ID         string                 `json:"operationId"`
		Summary    string                 `json:"summary"`
		Tags       []string               `json:"tags"`
		Scope      string                 `json:"x-scope,omitempty"`
		Parameters []parameter            `json:"parameters,omitempty"`
		Body       *content               `json:"requestBody,omitempty"`
		Responses  map[string]any         `json:"responses"`
		Security   *[]map[string][]string `json:"security,omitempty"`
	}
	parameter struct {
		Name        string            `json:"name"`
		In          string            `json:"in"`
		Required    bool              `json:"required,omitempty"`
		Description string            `json:"description,omitempty"`
		Schema      map[string]string `json:"schema"`
	}
	content struct {
		Description string                    `json:"description,omitempty"`
		Required    bool                      `json:"required,omitempty"`
		Content     map[string]map[string]any `json:"content,omitempty"`
	}
)

var wildcard = regexp.MustCompile(`\{(\w+)\}`)

// openAPI describes the routes of protocols.
func openAPI(protocols []Protocol) *openAPIDoc {
	d := &openAPIDoc{
		OpenAPI:  "3.1.0",
		Info:     map[string]string{"title": "Dossier", "version": strconv.Itoa(event.Version), "description": "Research that can be checked. Every stream is a projection of one log of events."},
		Paths:    map[string]map[string]operation{},
		Security: []map[string][]string{{"token": {}}},
		Components: components{
			Schemas:  map[string]*jsonschema.Schema{},
			Security: map[string]any{"token": map[string]string{"type": "http", "scheme": "bearer", "description": "A token of dossier tokens; a server that only this machine reaches needs none."}},
		},
	}
	d.Components.Responses = map[string]any{}
	for _, p := range protocols {
		for _, route := range p.Routes {
			if route.Doc != nil {
				d.add(p, route)
			}
		}
	}
	return d
}

// add describes a route.
func (d *openAPIDoc) add(p Protocol, route Route) {
	method, path, _ := strings.Cut(route.Pattern, " ")
	doc := route.Doc
	op := operation{
		ID: operationID(method, path), Summary: doc.Summary, Tags: []string{p.Name}, Scope: string(route.Scope),
		Responses: map[string]any{"default": map[string]string{"$ref": "#/components/responses/" + d.failure(p)}},
	}
	if route.Scope == Open {
		op.Security = &[]map[string][]string{}
	}
	for _, m := range wildcard.FindAllStringSubmatch(path, -1) {
		op.Parameters = append(op.Parameters, parameter{Name: m[1], In: "path", Required: true, Schema: map[string]string{"type": "string"}})
	}
	for _, q := range doc.Query {
		op.Parameters = append(op.Parameters, parameter{Name: q.Name, In: "query", Description: q.Help, Schema: map[string]string{"type": q.Type}})
	}
	if doc.Body != nil {
		op.Body = d.json("", reflect.TypeOf(doc.Body))
		op.Body.Required = !doc.Optional
		if p.Fail != nil { // fields that it does not know are passed over
			loosen(d.Components.Schemas[schemaName(reflect.TypeOf(doc.Body))])
		}
	}
	if doc.Takes != "" {
		op.Body = &content{Required: true, Content: map[string]map[string]any{doc.Takes: {}}}
	}
	status := doc.Status
	switch {
	case status != 0:
	case doc.Reply == nil && doc.Media == "":
		status = http.StatusNoContent
	default:
		status = http.StatusOK
	}
	success := &content{Description: http.StatusText(status)}
	switch {
	case doc.Reply != nil:
		success = d.json(http.StatusText(status), reflect.TypeOf(doc.Reply))
	case doc.Media != "":
		success.Content = map[string]map[string]any{doc.Media: {}}
	}
	op.Responses[strconv.Itoa(status)] = success
	if d.Paths[path] == nil {
		d.Paths[path] = map[string]operation{}
	}
	d.Paths[path][strings.ToLower(method)] = op
}

// failure puts the form of a protocol's errors among the components and names it.
func (d *openAPIDoc) failure(p Protocol) string {
	t := reflect.TypeFor[Problem]()
	if p.Failure != nil {
		t = reflect.TypeOf(p.Failure)
	}
	name := schemaName(t)
	if d.Components.Responses[name] == nil {
		d.Components.Responses[name] = d.json("What went wrong, and what to do about it.", t)
	}
	return name
}

func operationID(method, path string) string {
	words := strings.FieldsFunc(strings.ToLower(method)+path, func(r rune) bool { return strings.ContainsRune("/{}._-", r) })
	for i := range words[1:] {
		words[i+1] = strings.ToUpper(words[i+1][:1]) + words[i+1][1:]
	}
	return strings.Join(words, "")
}

// json is a body of a type, whose schema is among the components.
func (d *openAPIDoc) json(description string, t reflect.Type) *content {
	return &content{Description: description, Content: map[string]map[string]any{"application/json": {"schema": d.ref(t)}}}
}

// ref refers to the schema of a type and puts it among the components.
func (d *openAPIDoc) ref(t reflect.Type) map[string]any {
	if t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Struct {
		return map[string]any{"type": "array", "items": d.ref(t.Elem())}
	}
	name := schemaName(t)
	if d.Components.Schemas[name] == nil {
		s, err := jsonschema.ForType(t, &jsonschema.ForOptions{IgnoreInvalidTypes: true, TypeSchemas: formsIn(t)})
		if err != nil {
			panic(fmt.Sprintf("server: %v has no schema: %v", t, err)) // a mistake in the code
		}
		d.Components.Schemas[name] = s
	}
	return map[string]any{"$ref": "#/components/schemas/" + name}
}

// schemaName is the name of a type with that of its package, unless it is of this
// one.
func schemaName(t reflect.Type) string {
	if t.Name() == "" {
		return "Texts" // the one type without a name: texts by their hashes
	}
	pkg := t.PkgPath()[strings.LastIndexByte(t.PkgPath(), '/')+1:]
	name := strings.ToUpper(t.Name()[:1]) + t.Name()[1:]
	if pkg == "server" || pkg == "dossier" {
		return name
	}
	return strings.ToUpper(pkg[:1]) + pkg[1:] + name
}

//go:embed docs.html
var manualPage string

// manual is the description as a page for people.
func manual(d *openAPIDoc) []byte {
	type row struct {
		Method, Path, Summary, Scope string
		Parameters                   []parameter
		Body, Reply                  string
	}
	type group struct {
		Name string
		Rows []row
	}
	var groups []group
	for _, path := range slices.Sorted(maps.Keys(d.Paths)) {
		for _, method := range []string{"get", "post", "put", "patch", "delete"} {
			op, ok := d.Paths[path][method]
			if !ok {
				continue
			}
			i := slices.IndexFunc(groups, func(g group) bool { return g.Name == op.Tags[0] })
			if i < 0 {
				i = len(groups)
				groups = append(groups, group{Name: op.Tags[0]})
			}
			r := row{Method: strings.ToUpper(method), Path: path, Summary: op.Summary, Scope: op.Scope, Parameters: op.Parameters}
			if op.Body != nil {
				r.Body = shape(op.Body)
			}
			for code, reply := range op.Responses {
				if c, ok := reply.(*content); ok && code != "default" {
					r.Reply = code + " " + shape(c)
				}
			}
			groups[i].Rows = append(groups[i].Rows, r)
		}
	}
	schemas := map[string]string{}
	for name, s := range d.Components.Schemas {
		raw, err := json.MarshalIndent(s, "", "  ")
		if err != nil {
			panic(err) // it was made of a type just now
		}
		schemas[name] = string(raw)
	}
	var b strings.Builder
	page := pages.Must(pages.New("docs").Parse(manualPage))
	if err := page.Execute(&b, map[string]any{"Groups": groups, "Schemas": schemas}); err != nil {
		panic(err) // the page does not fit what is said here
	}
	return []byte(b.String())
}

// shape says of what type a body is.
func shape(c *content) string {
	for media, body := range c.Content {
		ref, _ := body["schema"].(map[string]any)
		if items, ok := ref["items"].(map[string]any); ok {
			return "list of " + strings.TrimPrefix(fmt.Sprint(items["$ref"]), "#/components/schemas/")
		}
		if name, ok := ref["$ref"].(string); ok {
			return strings.TrimPrefix(name, "#/components/schemas/")
		}
		return media
	}
	return ""
}
