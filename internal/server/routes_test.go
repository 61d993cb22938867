package server_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dossier"
	"dossier/internal/fleet"
	"dossier/internal/server"
	"dossier/mode"
	"dossier/mode/ingest"
	"dossier/run"
	"dossier/sources"
)

// concern is whom a route is about.
type concern int

const (
	// owned: the path names something of a user's; for others it is not there.
	owned concern = iota + 1
	// listed: it shows things of several users; to each their own.
	listed
	// operators: a user has no business there.
	operators
	// shared: it is the same for everybody, or makes something of the caller's own.
	shared
)

// rows say of each route whom it concerns, with a body that it takes. A route
// without a row fails the test below.
var rows = map[string]struct {
	concern concern
	body    string
}{
	"GET /api/version":                                {shared, ""},
	"POST /api/runs":                                  {shared, `{"mode":"scripted","question":"x"}`},
	"GET /api/runs":                                   {listed, ""},
	"GET /api/runs/{id}":                              {owned, ""},
	"POST /api/runs/{id}/wake":                        {operators, ""},
	"POST /api/runs/{id}/pause":                       {owned, ""},
	"POST /api/runs/{id}/finish":                      {owned, ""},
	"POST /api/runs/{id}/cancel":                      {owned, ""},
	"POST /api/runs/{id}/resume":                      {owned, ""},
	"POST /api/runs/{id}/answer":                      {owned, `{"text":"x"}`},
	"POST /api/runs/{id}/steer":                       {owned, `{"text":"x"}`},
	"POST /api/runs/{id}/fork":                        {owned, `{"at":"word-0"}`},
	"POST /api/runs/{id}/replay":                      {owned, ""},
	"GET /api/tags":                                   {listed, ""},
	"PUT /api/runs/{id}/tags":                         {owned, `{"tags":["harbour"]}`},
	"GET /api/runs/{id}/changes":                      {owned, ""},
	"POST /api/runs/{id}/report/edit":                 {owned, `{"part":"text","before":"x","after":"y"}`},
	"POST /api/runs/{id}/report/check":                {owned, ""},
	"POST /api/runs/{id}/report/undo":                 {owned, ""},
	"POST /api/runs/import":                           {shared, "x"},
	"GET /api/runs/{id}/events":                       {owned, ""},
	"GET /api/runs/{id}/snapshots":                    {owned, ""},
	"GET /api/runs/{id}/bundle":                       {owned, ""},
	"GET /api/runs/{id}/bundle.zip":                   {owned, ""},
	"GET /api/runs/{id}/report.md":                    {owned, ""},
	"GET /api/runs/{id}/report.html":                  {owned, ""},
	"GET /api/runs/{id}/report.json":                  {owned, ""},
	"GET /api/runs/{id}/report.docx":                  {owned, ""},
	"GET /api/runs/{id}/report.pdf":                   {owned, ""},
	"GET /api/runs/{id}/report.bib":                   {owned, ""},
	"GET /api/runs/{id}/report.ris":                   {owned, ""},
	"GET /api/sessions":                               {listed, ""},
	"GET /api/sessions/{id}":                          {owned, ""},
	"PATCH /api/sessions/{id}":                        {owned, `{"title":"x"}`},
	"GET /api/kb/collections":                         {listed, ""},
	"GET /api/kb/collections/{name}":                  {owned, ""},
	"POST /api/kb/collections/{name}/search":          {owned, `{"text":"secret"}`},
	"POST /api/kb/collections":                        {shared, `{"name":"bobs-shelf"}`},
	"PATCH /api/kb/collections/{name}":                {owned, `{"tags":["x"]}`},
	"PUT /api/kb/collections/{name}/files":            {owned, "x"},
	"POST /api/kb/collections/{name}/ingest":          {owned, ""},
	"GET /api/kb/collections/{name}/documents":        {owned, ""},
	"GET /api/kb/collections/{name}/documents/{n}":    {owned, ""},
	"DELETE /api/kb/collections/{name}/documents/{n}": {owned, ""},
	"POST /api/kb/search":                             {shared, `{"text":"secret"}`},
	"POST /api/kb/use":                                {operators, `{"name":"anns-papers"}`},
	"GET /api/runs/{id}/snapshots/{hash}":             {owned, ""},
	"GET /api/abilities":                              {shared, ""},
	"GET /api/doctor":                                 {operators, ""},
	"GET /api/connections":                            {operators, ""},
	"POST /api/connections/test":                      {operators, `{"kind":"engine","name":"searxng"}`},
	"GET /api/agents":                                 {listed, ""},
	"GET /api/agents/{name}":                          {owned, ""},
	"GET /api/directory":                              {listed, ""},
	"GET /api/tools":                                  {shared, ""},
	"GET /api/mcp":                                    {operators, ""},
	"GET /api/templates":                              {listed, ""},
	"GET /api/templates/{name}":                       {owned, ""},
	"POST /api/templates/{name}":                      {shared, ""}, // a name that is taken is a conflict: see below
	"GET /api/templates/{name}/versions/{n}":          {owned, ""},
	"GET /api/templates/{name}/stats":                 {owned, ""},
	"GET /api/templates/{name}/diff":                  {owned, ""},
	"POST /api/templates/{name}/publish":              {owned, `{"version":1}`},
	"POST /api/templates/{name}/rollback":             {owned, `{"version":1}`},
	"POST /api/templates/{name}/deprecate":            {owned, `{"version":1}`},
	"GET /api/instances":                              {listed, ""},
	"POST /api/instances":                             {shared, `{"name":"bobs-desk","template":"anns"}`},
	"GET /api/instances/{id}":                         {owned, ""},
	"POST /api/instances/{id}/upgrade":                {owned, `{"version":1}`},
	"POST /api/instances/{id}/drain":                  {owned, ""},
	"POST /api/instances/{id}/start":                  {owned, ""},
	"POST /api/instances/{id}/stop":                   {owned, ""},
	"POST /api/schedules":                             {shared, `{"cron":"@daily","request":{"mode":"scripted","question":"x"}}`},
	"GET /api/schedules":                              {listed, ""},
	"GET /api/schedules/{id}":                         {owned, ""},
	"PATCH /api/schedules/{id}":                       {owned, `{"name":"x"}`},
	"POST /api/schedules/{id}/run":                    {owned, ""},
	"GET /api/schedules/{id}/runs":                    {owned, ""},
	"GET /api/schedules/{id}/changes":                 {owned, ""},
	"DELETE /api/schedules/{id}":                      {owned, ""},
	"GET /api/webhooks":                               {operators, ""},
	"GET /api/webhooks/deliveries":                    {operators, ""},
	"POST /api/webhooks/deliveries/{id}/retry":        {operators, ""},
	"POST /api/webhooks/test/{id}":                    {operators, ""},
	"GET /api/tokens":                                 {operators, ""},
	"POST /api/tokens":                                {operators, `{"user":"bob"}`},
	"DELETE /api/tokens/{id}":                         {operators, ""},
	"GET /api/me":                                     {shared, ""},
	"/a2a/":                                           {shared, ""}, // tasks of others: see below
	"GET /.well-known/agent-card.json":                {listed, ""},
	"GET /health":                                     {shared, ""},
	"GET /ready":                                      {shared, ""},
	"GET /metrics":                                    {operators, ""},
	"GET /openapi.json":                               {shared, ""},
	"GET /docs":                                       {shared, ""},
	"DELETE /api/instances/{id}":                      {owned, ""},
	"DELETE /api/templates/{name}":                    {owned, ""},
	"DELETE /api/kb/collections/{name}":               {owned, ""},
	"DELETE /api/runs/{id}":                           {owned, ""},
	"DELETE /api/sessions/{id}":                       {owned, ""},
}

// estate is what ann has.
type estate struct{ run, session, template, instance, collection, schedule string }

func (s *site) estate() estate {
	s.t.Helper()
	dir := s.t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "note.txt"), []byte("The secret is under the stone of the old harbour."), 0o600); err != nil {
		s.t.Fatal(err)
	}
	fill, err := s.engine.Start(s.t.Context(), dossier.Request{Mode: ingest.Name, User: "ann", Request: mode.Request{Question: "read", In: sources.Target{Paths: []string{dir}, Collection: "anns-papers"}}})
	if err != nil {
		s.t.Fatal(err)
	}
	s.until(fill.ID, run.Done)
	rec := s.runOf("ann", "hello harbour")
	if _, _, err := s.engine.SaveTemplate(s.t.Context(), "anns", fleet.Text{Document: carefulAgent, User: "ann"}); err != nil {
		s.t.Fatal(err)
	}
	i, err := s.engine.RegisterInstance(s.t.Context(), fleet.Instance{Name: "anns-desk", Template: "anns", User: "ann"})
	if err != nil {
		s.t.Fatal(err)
	}
	plan, err := s.engine.CreateSchedule(s.t.Context(), dossier.Schedule{Name: "anns-plan", User: "ann", Cron: "@yearly", Request: dossier.Request{Mode: "scripted", Request: mode.Request{Question: "hello harbour"}}})
	if err != nil {
		s.t.Fatal(err)
	}
	return estate{rec.ID, rec.Session, "anns", i.ID, "anns-papers", plan.ID}
}

// at is the path of a route about something of ann's, and the same about something
// that is not.
func (e estate) at(path string) (hers, none string) {
	kinds := map[string]string{"runs": e.run, "sessions": e.session, "templates": e.template, "instances": e.instance, "agents": e.template, "collections": e.collection, "schedules": e.schedule, "tokens": "x", "deliveries": "x", "test": "x"}
	parts := strings.Split(path, "/")
	without := append([]string{}, parts...)
	for i, part := range parts {
		switch part {
		case "{id}", "{name}":
			parts[i], without[i] = kinds[parts[i-1]], strings.Repeat("z", len(kinds[parts[i-1]]))
		case "{n}", "{hash}":
			parts[i], without[i] = "1", "1"
		}
	}
	return strings.Join(parts, "/"), strings.Join(without, "/")
}

// tells says whether a text has something of ann's in it.
func (e estate) tells(text string) bool {
	for _, mark := range []string{e.run, e.session, e.instance, e.schedule, "anns", "harbour"} {
		if strings.Contains(text, mark) {
			return true
		}
	}
	return false
}

func codeOf(body string) string {
	var p server.Problem
	if err := json.Unmarshal([]byte(body), &p); err != nil {
		return ""
	}
	return p.Code
}

// Every route treats what is another user's as if it were not there.
func TestOthersThingsAreNotThere(t *testing.T) {
	s := serve(t, nil)
	anns := s.estate()
	var routes []string
	for _, p := range s.public.Protocols() {
		for _, route := range p.Routes {
			routes = append(routes, route.Pattern)
			row, ok := rows[route.Pattern]
			if !ok {
				t.Errorf("%s has no row: whom does it concern?", route.Pattern)
				continue
			}
			method, path, found := strings.Cut(route.Pattern, " ")
			if !found {
				continue
			}
			if row.concern != owned && row.concern != operators && strings.Contains(path, "{") && route.Pattern != "POST /api/templates/{name}" {
				t.Errorf("%s names something, and its row does not say whose", route.Pattern)
			}
			hers, none := anns.at(path)
			if row.concern == shared && path == hers && row.body == "" && method == "GET" || row.concern == listed {
				if status, said := s.ask(s.bob, method, hers, row.body); anns.tells(said) || status >= 500 {
					t.Errorf("%s tells of ann: %d %s", route.Pattern, status, said)
				}
				continue
			}
			status, said := s.ask(s.bob, method, hers, row.body)
			switch row.concern {
			case operators:
				if status != http.StatusForbidden {
					t.Errorf("%s: a user gets %d %s", route.Pattern, status, said)
				}
			case owned:
				_, nothing := s.ask(s.bob, method, none, row.body)
				if same := blank(said, hers, none) == blank(nothing, hers, none); status != http.StatusNotFound || !same {
					t.Errorf("%s: %d %s; of what is not there: %s", route.Pattern, status, said, nothing)
				}
			}
		}
	}
	for pattern := range rows {
		if !slices.Contains(routes, pattern) {
			t.Errorf("%s is no route", pattern)
		}
	}
	s.idsElsewhere(anns)
	s.hersAreThere(anns)
}

// blank takes the segments out of a text by which two paths differ.
func blank(text, a, b string) string {
	as, bs := strings.Split(a, "/"), strings.Split(b, "/")
	for i := range as {
		if as[i] != bs[i] {
			text = strings.ReplaceAll(strings.ReplaceAll(text, as[i], "ID"), bs[i], "ID")
		}
	}
	return text
}

// idsElsewhere tries ids that stand in bodies and queries.
func (s *site) idsElsewhere(anns estate) {
	s.t.Helper()
	document, err := json.Marshal(map[string]string{"document": carefulAgent})
	if err != nil {
		s.t.Fatal(err)
	}
	for _, c := range []struct {
		method, path, body string
		want               int
	}{
		{"POST", "/api/templates/anns", string(document), http.StatusConflict},
		{"POST", "/api/templates/" + dossier.DefaultAgent, string(document), http.StatusConflict},
		{"POST", "/api/instances", rows["POST /api/instances"].body, http.StatusNotFound},
		{"POST", "/api/runs", `{"mode":"scripted","question":"x","session":"` + anns.session + `"}`, http.StatusNotFound},
		{"POST", "/api/runs", `{"mode":"agent","question":"x","agent":"anns"}`, http.StatusNotFound},
		{"POST", "/api/runs", `{"mode":"agent","question":"x","instance":"` + anns.instance + `"}`, http.StatusNotFound},
		{"POST", "/api/runs", `{"mode":"web_search","question":"x","in":{"collection":"anns-papers"}}`, http.StatusNotFound},
		{"POST", "/api/runs", `{"mode":"scripted","question":"x","compare_with":"` + anns.run + `"}`, http.StatusNotFound},
		{"POST", "/api/schedules", `{"cron":"@daily","request":{"mode":"web_search","question":"x","in":{"collection":"anns-papers"}}}`, http.StatusNotFound},
		{"POST", "/api/schedules", `{"cron":"@daily","user":"ann","request":{"mode":"scripted","question":"x"}}`, http.StatusCreated},
		{"GET", "/api/schedules?user=ann", "", http.StatusOK},
		{"GET", "/api/runs?before=" + anns.run, "", http.StatusNotFound},
		{"GET", "/api/runs?session=" + anns.session, "", http.StatusOK},
		{"GET", "/api/runs?q=harbour", "", http.StatusOK},
		{"GET", "/api/runs?tag=harbour", "", http.StatusOK},
		{"GET", "/api/runs/" + anns.run + "/changes?since=" + anns.run, "", http.StatusNotFound},
		{"GET", "/api/runs?user=ann", "", http.StatusOK},
		{"GET", "/api/sessions?user=ann", "", http.StatusOK},
		{"GET", "/api/sessions?before=" + anns.session, "", http.StatusNotFound},
		{"GET", "/api/instances?template=anns", "", http.StatusOK},
		{"GET", "/api/directory?q=answers+with+care", "", http.StatusOK},
		{"GET", "/api/directory", "", http.StatusOK},
		{"GET", "/a2a/anns/.well-known/agent-card.json", "", http.StatusNotFound},
		{"GET", "/a2a/" + dossier.DefaultAgent + "/tasks/" + anns.run, "", http.StatusNotFound},
	} {
		status, said := s.ask(s.bob, c.method, c.path, c.body)
		if status != c.want || status == http.StatusOK && anns.tells(said) {
			s.t.Errorf("%s %s %s: %d, want %d: %s", c.method, c.path, c.body, status, c.want, said)
		}
	}
}

// hersAreThere makes sure that it is bob to whom they are not there: ann gets
// something else from each route that names something of hers.
func (s *site) hersAreThere(anns estate) {
	s.t.Helper()
	missing := map[string]bool{"unknown_run": true, "not_found": true, "no_collection": true, "no_template": true, "no_instance": true, "no_route": true, "no_schedule": true, "no_document": true}
	for _, last := range []bool{false, true} { // what deletes comes last
		for _, p := range s.public.Protocols() {
			for _, route := range p.Routes {
				method, path, _ := strings.Cut(route.Pattern, " ")
				if rows[route.Pattern].concern != owned || (method == http.MethodDelete) != last || path == "/api/sessions/{id}" && last {
					continue
				}
				hers, _ := anns.at(path)
				status, said := s.ask(s.ann, method, hers, rows[route.Pattern].body)
				if status == http.StatusNotFound && missing[codeOf(said)] || status >= 500 {
					s.t.Errorf("ann does not find her own: %s: %d %s", route.Pattern, status, said)
				}
			}
		}
	}
}
