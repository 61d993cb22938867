// Package page serves the page at / and at the places that it has, so that a link
// to a run opens it. What the page asks for it asks the API, so its own routes
// need no token: nothing of anybody's is in them.
package page

import (
	"net/http"
	"path"

	"dossier/internal/server"
	"dossier/web"
)

// Protocol is the page; it has no routes in a program that was built without.
func Protocol() server.Protocol {
	p := server.Protocol{Name: "page"}
	index := web.Assets()["index.html"]
	if index == nil {
		return p
	}
	for _, pattern := range web.Paths {
		p.Routes = append(p.Routes, route(pattern, index))
	}
	for name, asset := range web.Assets() {
		p.Routes = append(p.Routes, route(path.Join(web.Root, name), asset))
	}
	return p
}

func route(pattern string, a *web.Asset) server.Route {
	return server.Route{Pattern: "GET " + pattern, Scope: server.Open, Serve: func(w http.ResponseWriter, r *http.Request) error {
		a.ServeHTTP(w, r)
		return nil
	}}
}
