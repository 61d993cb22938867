package cite

import (
	"net/url"
	"path"
	"strings"

	"dossier/lang"
)

// Kind says where a source lives.
type Kind string

// The kinds of sources.
const (
	Web        Kind = "web"        // a page with a URL
	File       Kind = "file"       // a file of a folder
	Collection Kind = "collection" // a document of a collection
)

// Source is something that a run used, with its number in that run.
type Source struct {
	Number   int       `json:"number"`
	URI      string    `json:"uri"` // URL or path, as it was first used
	Title    string    `json:"title,omitempty"`
	Author   string    `json:"author,omitempty"`
	Date     string    `json:"date,omitempty"` // of publication, YYYY-MM-DD or a prefix of it
	Lang     lang.Code `json:"lang,omitempty"`
	Site     string    `json:"site,omitempty"`
	Snapshot string    `json:"snapshot,omitempty"` // hash of the text that was read; empty while unread
	Kind     Kind      `json:"kind"`
	// CopyOf is the number of the source that stands for this one in counts,
	// because the two carry the same article. It is 0 for a source that stands
	// for itself.
	CopyOf int `json:"copy_of,omitempty"`
}

// represents returns the number of the source's group.
func (s *Source) represents() int {
	if s.CopyOf != 0 {
		return s.CopyOf
	}
	return s.Number
}

// tracking are query parameters that say where a reader came from, not what
// the page is.
var tracking = map[string]bool{
	"fbclid": true, "gclid": true, "gclsrc": true, "dclid": true, "yclid": true, "ysclid": true, "msclkid": true,
	"mc_cid": true, "mc_eid": true, "igshid": true, "_openstat": true, "ref_src": true, "spm": true,
}

// Canonical returns the form of a URL or path under which a ledger knows it:
// two addresses with the same canonical form are one source. The scheme, a
// default port, the fragment, a final slash and tracking parameters don't
// tell sources apart; the case of the path and the rest of the query do.
func Canonical(uri string) string {
	uri = strings.TrimSpace(uri)
	u, err := url.Parse(uri)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		if uri == "" {
			return ""
		}
		return path.Clean(strings.ReplaceAll(uri, `\`, "/"))
	}
	host := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	if port := u.Port(); port != "" && port != "80" && port != "443" {
		host += ":" + port
	}
	where := u.EscapedPath()
	if where != "" {
		slash := strings.HasPrefix(where, "/")
		where = path.Clean(where)
		if !slash || where == "/" {
			where = strings.TrimPrefix(where, "/")
		}
	}
	var kept []string
	for part := range strings.SplitSeq(u.RawQuery, "&") {
		name, _, _ := strings.Cut(part, "=")
		name = strings.ToLower(name)
		if part != "" && !tracking[name] && !strings.HasPrefix(name, "utm_") {
			kept = append(kept, part)
		}
	}
	if len(kept) > 0 {
		return "//" + host + where + "?" + strings.Join(kept, "&")
	}
	return "//" + host + where
}
