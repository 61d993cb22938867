package config

import "strings"

// gone are settings that went because nothing ever read them, by their flat
// name, and what to set instead. A file or a stored template that still has one
// means what it always meant, so it is told and goes on; a name that somebody
// types now is an error like any other.
var gone = []struct{ name, path, instead string }{
	{"search_max_pages", "search.max_pages", "web_search.scrape_top_n and limits.pages say how much is read"},
	{"server_addr", "server.addr", "server.host and server.port say where dossier serve listens"},
	{"models_planner", "models.planner", "plans are made by models.summarizer"},
}

// wentAway says what became of a setting by its flat name, and of those that
// were below it; "" if there never was one.
func wentAway(flat string) string {
	for _, g := range gone {
		if flat == g.name || strings.HasPrefix(flat, g.name+"_") {
			return g.path + " is gone, nothing ever read it; " + g.instead
		}
	}
	return ""
}
