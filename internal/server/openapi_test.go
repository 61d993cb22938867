package server_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"dossier"
	"dossier/internal/server"
	"dossier/mode"
	"dossier/run"
	"dossier/sources"
)

// undocumented are routes that /openapi.json leaves out, and why.
var undocumented = map[string]string{
	"POST /api/runs/{id}/wake":         "between processes of one data directory",
	"/a2a/":                            "A2A describes itself by cards",
	"GET /.well-known/agent-card.json": "A2A describes itself by cards",
	"GET /openapi.json":                "the description itself",
	"GET /docs":                        "the description itself",
}

// described is /openapi.json, read.
type described struct {
	Paths map[string]map[string]struct {
		Parameters []struct {
			Name, In string
			Schema   struct{ Type string }
		}
		Body *struct {
			Required bool
			Content  map[string]struct{ Schema any }
		} `json:"requestBody"`
		Responses map[string]struct {
			Ref     string `json:"$ref"`
			Content map[string]struct{ Schema any }
		}
	}
}

// description reads /openapi.json and makes schemas of it: of the reply with a status,
// of errors ("default"), or of the "body".
func (s *site) description() (d described, schema func(path, method, status string) *jsonschema.Schema) {
	s.t.Helper()
	status, raw := s.ask("", "GET", "/openapi.json", "")
	if err := json.Unmarshal([]byte(raw), &d); err != nil || status != http.StatusOK {
		s.t.Fatalf("%d %v", status, err)
	}
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(raw))
	if err != nil {
		s.t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("openapi.json", doc); err != nil {
		s.t.Fatal(err)
	}
	escape := strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D").Replace
	return d, func(path, method, status string) *jsonschema.Schema {
		s.t.Helper()
		at := fmt.Sprintf("openapi.json#/paths/%s/%s/responses/%s/content/application~1json/schema", escape(path), method, status)
		switch status {
		case "default":
			at = "openapi.json" + d.Paths[path][method].Responses["default"].Ref + "/content/application~1json/schema"
		case "body":
			at = fmt.Sprintf("openapi.json#/paths/%s/%s/requestBody/content/application~1json/schema", escape(path), method)
		}
		made, err := c.Compile(at)
		if err != nil {
			s.t.Fatalf("%s: %v", at, err)
		}
		return made
	}
}

// The routes and their description are the same, both ways: each is described or
// is left out for a reason; whatever is described is there, takes what is said and
// replies as is said.
func TestDescriptionIsThatOfTheRoutes(t *testing.T) {
	s := serve(t, nil)
	anns := s.estate()
	rec, err := s.engine.Start(t.Context(), dossier.Request{Mode: "web_search", User: "ann", Request: mode.Request{
		Question: "Where is the secret?", In: sources.Target{Collection: anns.collection},
	}})
	if err != nil {
		t.Fatal(err)
	}
	s.until(rec.ID, run.Done)
	doc, schema := s.description()
	routes := map[string]server.Route{}
	var order []string
	for _, p := range s.public.Protocols() {
		for _, route := range p.Routes {
			routes[route.Pattern] = route
			order = append(order, route.Pattern)
			method, path, _ := strings.Cut(route.Pattern, " ")
			_, isDescribed := doc.Paths[path][strings.ToLower(method)]
			if left := undocumented[route.Pattern] != ""; isDescribed == left {
				t.Errorf("%s is described: %v, and left out: %v", route.Pattern, isDescribed, left)
			}
		}
	}
	for path, methods := range doc.Paths {
		for method := range methods {
			if _, ok := routes[strings.ToUpper(method)+" "+path]; !ok {
				t.Errorf("%s %s is described and no route", method, path)
			}
		}
	}
	// Those that delete come last, and what they delete is what was used before.
	slices.SortStableFunc(order, func(a, b string) int {
		return strings.Count(a, "DELETE") - strings.Count(b, "DELETE")
	})
	succeeded := 0
	for _, pattern := range order {
		if undocumented[pattern] != "" {
			continue
		}
		method, path, _ := strings.Cut(pattern, " ")
		of := doc.Paths[path][strings.ToLower(method)]
		mine := anns
		if strings.Contains(path, "report.") || strings.Contains(path, "bundle") || strings.Contains(path, "snapshots") {
			mine.run = rec.ID
		}
		at, _ := mine.at(path)
		if of.Body != nil {
			for name, body := range map[string]string{"an odd field": `{"no_such_field":1}`, "a list": `[]`, "half": `{`} {
				if status, said := s.ask("operator-secret", method, at, body); status != http.StatusBadRequest {
					t.Errorf("%s takes %s: %d %s", pattern, name, status, said)
				}
			}
			if status, said := s.ask("operator-secret", method, at, ""); of.Body.Required && status != http.StatusBadRequest {
				t.Errorf("%s takes no body: %d %s", pattern, status, said)
			}
		}
		for _, p := range of.Parameters {
			if p.In == "query" && p.Schema.Type != "string" {
				if status, said := s.ask("operator-secret", method, at+"?"+p.Name+"=x", ""); status != http.StatusBadRequest {
					t.Errorf("%s takes any %s: %d %s", pattern, p.Name, status, said)
				}
			}
			if p.In == "path" && !strings.Contains(path, "{"+p.Name+"}") {
				t.Errorf("%s has no %s", pattern, p.Name)
			}
		}
		if path == "/api/doctor" {
			at += "?offline=true" // asks nobody outside
		}
		status, typ, said := s.operatorGets(method, at, rows[pattern].body)
		reply, isDescribed := of.Responses[strconv.Itoa(status)]
		switch {
		case status >= 500:
			t.Errorf("%s: %d %s", pattern, status, said)
		case !isDescribed && status < 400 && pattern != "POST /api/templates/{name}":
			t.Errorf("%s replies with %d, which is not described", pattern, status)
		case status >= 400:
			valid(t, pattern, schema(path, strings.ToLower(method), "default"), said)
		case len(reply.Content) == 0:
			if said != "" {
				t.Errorf("%s replies with something: %s", pattern, said)
			}
			succeeded++
		default:
			succeeded++
			types := slices.Collect(maps.Keys(reply.Content))
			if !slices.ContainsFunc(types, func(m string) bool { return base(m) == base(typ) }) {
				t.Errorf("%s replies with %s, and %v are described", pattern, typ, types)
			}
			if base(typ) == "application/json" {
				valid(t, pattern, schema(path, strings.ToLower(method), strconv.Itoa(status)), said)
			}
		}
	}
	if all := len(order) - len(undocumented); succeeded < all*3/4 {
		t.Errorf("only %d of %d routes did what they are for", succeeded, all)
	}
}

// What the protocols of others take and reply is what is described: a client that is
// made from the description can talk to them.
func TestDescriptionOfProtocols(t *testing.T) {
	b := direct(t)
	s := serveOf(b, func(o *server.Options) { o.Protocols = all(b.engine) })
	_, schema := s.description()
	_, raw := s.ask("", "GET", "/openapi.json", "")
	_, paths, _ := strings.Cut(raw, `"paths"`)
	if names := regexp.MustCompile(`(?m)^ +"[A-Z]\w*": (\{$|true)`).FindAllString(paths, -1); slices.ContainsFunc(names, func(name string) bool {
		return !strings.HasPrefix(name, "   \"") // the names of the schemas themselves
	}) {
		t.Errorf("fields are called as in the code, not as on the wire: %q", names)
	}
	const tools = `"tools":[{"type":"function","function":{"name":"weather","description":"of a place","parameters":{"type":"object"},"strict":true}}]`
	const called = `{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"weather","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c1","content":"rain"}`
	for _, c := range []struct {
		path, body string
		status     int
	}{
		{"/v1/chat/completions", `{"model":"scripted","messages":[{"role":"system","content":"be short"},{"role":"user","content":[{"type":"text","text":"hello"}]}],"user":"x","n":1}`, 200},
		{"/v1/chat/completions", `{"model":"scripted","messages":[{"role":"user","content":"hello"}],` + tools + `,"tool_choice":{"type":"function","function":{"name":"weather"}},"stop":["x"],"response_format":{"type":"text"}}`, 200},
		{"/v1/chat/completions", `{"messages":[{"role":"user","content":"hello"},` + called + `],"tool_choice":"auto","stop":"x"}`, 503},
		{"/v1/responses", `{"model":"scripted","input":"hello","store":true,"text":{"verbosity":"low"}}`, 200},
		{"/v1/responses", `{"model":"scripted","input":[{"role":"user","content":[{"type":"input_text","text":"hello"}]}],"tool_choice":{"type":"function","name":"f"},"tools":[{"type":"function","name":"f","parameters":{}}]}`, 200},
		{"/v1/responses", `{"model":"nothing","input":"hello"}`, 400},
		{"/v1/embeddings", `{"input":["sea"]}`, 503},
		{"/v1/embeddings", `{"model":"x","input":"sea","encoding_format":"base64"}`, 503},
		{"/api/runs", `{"mode":"scripted","messages":[{"role":"user","content":"hello"}]}`, 201},
		{"/api/runs", `{"mode":"scripted","question":"hello","history":[{"role":"user","content":"one"},{"role":"assistant","content":"two"}]}`, 201},
	} {
		valid(t, c.path+" takes", schema(c.path, "post", "body"), c.body)
		status, _, said := s.operatorGets("POST", c.path, c.body)
		of := strconv.Itoa(status)
		if status >= 400 {
			of = "default"
		}
		if status != c.status {
			t.Errorf("%s with %s: %d %s", c.path, c.body, status, said)
			continue
		}
		valid(t, c.path, schema(c.path, "post", of), said)
	}
	if status, said := s.ask("", "POST", "/mcp", "{}"); status != http.StatusUnauthorized {
		t.Errorf("/mcp without a token: %d %s", status, said)
	} else {
		valid(t, "/mcp", schema("/mcp", "post", "default"), said)
	}
	for path, at := range map[string]string{"/v1/models": "/v1/models", "/agents": "/agents", "/v1/chats": "/v1/chats", "/agents/{id}/state": "/agents/nobody/state"} {
		status, _, said := s.operatorGets("GET", at, "")
		of := strconv.Itoa(status)
		if status >= 400 {
			of = "default"
		}
		valid(t, path, schema(path, "get", of), said)
	}
}

func base(typ string) string {
	b, _, err := mime.ParseMediaType(typ)
	if err != nil {
		return typ
	}
	return b
}

func valid(t *testing.T, pattern string, s *jsonschema.Schema, body string) {
	t.Helper()
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(body))
	if err == nil {
		err = s.Validate(value)
	}
	if err != nil {
		t.Errorf("%s replies with something else than is described: %v\n%s", pattern, err, body)
	}
}

// operatorGets makes a request of the operator's.
func (s *site) operatorGets(method, path, body string) (status int, typ, said string) {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), method, s.public.URL()+path, bytes.NewReader([]byte(body)))
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer operator-secret")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return resp.StatusCode, resp.Header.Get("Content-Type"), string(raw)
}
