package search

import (
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	whatwg "github.com/nlnwa/whatwg-url/url"
)

// mostURL bounds the bytes of a URL. Servers give up earlier.
const mostURL = 8 << 10

// tracking are query parameters that say where a reader came from, not what
// the page is. A name that some sites use for more than that (ref, source,
// from, si) is not here.
var tracking = map[string]bool{
	"fbclid": true, "gclid": true, "gclsrc": true, "gbraid": true, "wbraid": true, "gad_source": true, "gad_campaignid": true,
	"dclid": true, "yclid": true, "ysclid": true, "ymclid": true, "_openstat": true, "msclkid": true, "twclid": true,
	"ttclid": true, "li_fat_id": true, "rdt_cid": true, "igshid": true, "igsh": true, "epik": true, "srsltid": true,
	"mc_cid": true, "mc_eid": true, "mkt_tok": true, "_hsenc": true, "_hsmi": true, "__hstc": true, "__hssc": true,
	"__hsfp": true, "hsctatracking": true, "vero_id": true, "vero_conv": true, "oly_anon_id": true, "oly_enc_id": true,
	"_ga": true, "_gl": true, "ref_src": true, "ref_url": true, "spm": true, "wickedid": true,
	"pk_campaign": true, "pk_kwd": true, "pk_source": true, "pk_medium": true,
}

func tracks(name string) bool {
	name = strings.ToLower(name)
	return tracking[name] || strings.HasPrefix(name, "utm_") || strings.HasPrefix(name, "mtm_")
}

// wikis are the projects that give every page of xx.name.org under
// xx.m.name.org for telephones.
var wikis = []string{
	"wikipedia.org", "wiktionary.org", "wikiquote.org", "wikibooks.org", "wikisource.org", "wikinews.org",
	"wikiversity.org", "wikivoyage.org",
}

// mobile are hosts that give the pages of another under the same paths.
var mobile = map[string]string{
	"m.youtube.com": "www.youtube.com", "m.habr.com": "habr.com", "m.vk.com": "vk.com",
	"mobile.twitter.com": "twitter.com", "m.imdb.com": "www.imdb.com", "m.wikidata.org": "www.wikidata.org",
}

// NormalURL returns the form of a URL in which it is shown and fetched: as a
// browser writes it (the WHATWG standard: host in lower case and punycode, no
// default port, no dot segments), percent-encoded in one way, without the
// fragment and the parameters that track readers. Hosts for telephones and
// AMP caches become the page they stand for where the pages are known to be the
// same. The order of the parameters stays: servers may mind it.
//
// The error says in a clause what is wrong with a URL that no reader can open:
// broken, too long, neither http nor https, or with a user name in it.
func NormalURL(raw string) (string, error) {
	for {
		u, err := parseURL(raw)
		if err != nil {
			return "", err
		}
		u.path = escapes(u.path)
		if inner, ok := u.amp(); ok {
			raw = inner // its path is shorter each time
			continue
		}
		host := u.host + u.port
		if u.port == "" {
			host = desktop(host)
		}
		normal := u.scheme + "://" + host + u.path + kept(u.query)
		if len(normal) > mostURL { // percent-encoded it got longer
			return "", errLongURL
		}
		return normal, nil
	}
}

var (
	errLongURL  = errors.New("it is too long")
	errUserName = errors.New("it has a user name or password in it")
)

// address is a URL that a reader could open, in the parts that a browser sees.
type address struct {
	scheme string // http or https
	host   string
	port   string // with its colon; empty if it is the scheme's
	path   string // from its slash
	query  string // without its question mark
}

func parseURL(raw string) (address, error) {
	if len(raw) > mostURL {
		return address{}, errLongURL
	}
	if u, ok := plainURL(raw); ok {
		return u, nil
	}
	u, err := whatwg.Parse(raw)
	switch {
	case err != nil:
		return address{}, errors.New("it is not a URL that a browser would open")
	case u.Scheme() != "http" && u.Scheme() != "https":
		return address{}, errors.New("it is neither http nor https")
	case u.Username() != "" || u.Password() != "":
		return address{}, errUserName
	case strings.Trim(u.Hostname(), ".") == "":
		return address{}, errors.New("it has no host")
	}
	port := u.Port()
	if port != "" {
		port = ":" + port
	}
	return address{u.Scheme(), u.Hostname(), port, u.Pathname(), u.Query()}, nil
}

// plainURL reads URLs of the most usual form, for which the standard comes down
// to cutting them apart: a name of plain labels, no port, and a path without dots
// at the beginning of a segment. It is a tenth of the work.
func plainURL(raw string) (address, bool) {
	scheme, rest, ok := strings.Cut(raw, "://")
	if !ok || scheme != "https" && scheme != "http" {
		return address{}, false
	}
	rest, _, _ = strings.Cut(rest, "#")
	rest, query, _ := strings.Cut(rest, "?")
	host, path, _ := strings.Cut(rest, "/")
	// A name that ends in a digit may be an address, and one with -- may be in
	// punycode, which is checked.
	if host == "" || host[len(host)-1] < 'a' || strings.Contains(host, "--") || strings.ContainsFunc(host, notInName) ||
		host[0] == '.' || strings.Contains(host, "..") {
		return address{}, false
	}
	path = "/" + path
	if strings.Contains(path, "/.") || strings.Contains(path, "%2") || strings.ContainsFunc(path, notPlain) || strings.ContainsFunc(query, notPlain) {
		return address{}, false
	}
	return address{scheme, host, "", path, query}, true
}

func notInName(r rune) bool {
	return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '.'
}

// notPlain reports what a browser would write in another way.
func notPlain(r rune) bool {
	return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("/-._~%&=+,:;@!$*()", r)
}

// desktop is the host that gives the pages of a host for telephones.
func desktop(host string) string {
	if to, ok := mobile[host]; ok {
		return to
	}
	for _, wiki := range wikis {
		if code, ok := strings.CutSuffix(host, ".m."+wiki); ok && code != "" && !strings.Contains(code, ".") {
			return code + "." + wiki
		}
	}
	return host
}

// amp is the page that a copy in an AMP cache was made from.
func (u address) amp() (string, bool) {
	var prefix string
	switch {
	case u.host == "www.google.com" || u.host == "google.com":
		prefix = "/amp/"
	case strings.HasSuffix(u.host, ".cdn.ampproject.org"):
		prefix = "/c/"
	default:
		return "", false
	}
	rest, ok := strings.CutPrefix(u.path, prefix)
	if !ok {
		return "", false
	}
	page, secure := strings.CutPrefix(rest, "s/")
	name, _, _ := strings.Cut(page, "/")
	if !strings.Contains(name, ".") || strings.ContainsAny(name, "@:%") {
		return "", false
	}
	scheme := "http://"
	if secure {
		scheme = "https://"
	}
	if u.query != "" {
		page += "?" + u.query
	}
	return scheme + page, true
}

// kept is the query without what tracks, with its question mark.
func kept(query string) string {
	var parts []string
	for part := range strings.SplitSeq(query, "&") {
		part = escapes(part)
		if name, _, _ := strings.Cut(part, "="); part != "" && !tracks(name) {
			parts = append(parts, part)
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "?" + strings.Join(parts, "&")
}

// escapes writes percent-encoded bytes in one way: what needs no escape has
// none, and hexadecimal digits are capitals.
func escapes(s string) string {
	if !strings.Contains(s, "%") {
		return s
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		high, low := -1, -1
		if s[i] == '%' && i+2 < len(s) {
			high, low = unhex(s[i+1]), unhex(s[i+2])
		}
		b := byte(high<<4 | low)
		switch {
		case s[i] != '%':
			out = append(out, s[i])
			continue
		case high < 0 || low < 0: // it begins no escape: it stands for itself
			out = append(out, "%25"...)
			continue
		case unreserved(b):
			out = append(out, b)
		default:
			out = append(out, '%', "0123456789ABCDEF"[high], "0123456789ABCDEF"[low])
		}
		i += 2
	}
	return string(out)
}

func unhex(b byte) int {
	switch {
	case '0' <= b && b <= '9':
		return int(b - '0')
	case 'a' <= b && b <= 'f':
		return int(b-'a') + 10
	case 'A' <= b && b <= 'F':
		return int(b-'A') + 10
	}
	return -1
}

func unreserved(b byte) bool {
	return 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' || '0' <= b && b <= '9' || b == '-' || b == '.' || b == '_' || b == '~'
}

// pageOf is what two URLs have in common that lead to one page: their normal
// form without what hardly ever makes a difference, the scheme, www, a slash at
// the end and the order of the parameters. It is no URL. A text that is none
// stands for itself.
func pageOf(raw string) string {
	normal, err := NormalURL(raw)
	if err != nil {
		return strings.TrimSpace(raw)
	}
	_, rest, _ := strings.Cut(normal, "://")
	page, query, has := strings.Cut(rest, "?")
	host, path, _ := strings.Cut(page, "/")
	name, port, hasPort := strings.Cut(host, ":") // an address in brackets stays in order, too
	name = strings.TrimPrefix(strings.TrimSuffix(name, "."), "www.")
	if hasPort {
		name += ":" + port
	}
	page = "//" + name + "/" + strings.TrimSuffix(path, "/")
	if !has {
		return page
	}
	parts := strings.Split(query, "&")
	slices.Sort(parts)
	return page + "?" + strings.Join(parts, "&")
}

// hostOf is the host of a URL in punycode, without a dot at its end; "" if it is
// none.
func hostOf(raw string) string {
	u, err := parseURL(raw)
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(u.host, ".")
}

// within says whether host is domain or below it.
func within(host, domain string) bool {
	return host == domain || strings.HasSuffix(host, "."+domain) && domain != ""
}

// domainOf reads a domain that a person wrote: example.org, *.example.org, in
// any script, or the URL of a page there.
func domainOf(text string) (string, error) {
	text = strings.TrimSpace(text)
	if !strings.Contains(text, "://") {
		text = "http://" + strings.TrimPrefix(strings.TrimPrefix(text, "*"), ".")
	}
	u, err := parseURL(text)
	if err != nil {
		return "", err
	}
	return strings.TrimSuffix(u.host, "."), nil
}

// shownURL is a URL for a log: in short, and without the password that it may
// hold.
func shownURL(raw string) string {
	const most = 200
	raw = strings.Join(strings.Fields(visible(head(raw, 4*most))), "")
	if i := strings.Index(raw, "//"); i >= 0 {
		end := len(raw)
		if j := strings.IndexAny(raw[i+2:], `/?#\`); j >= 0 {
			end = i + 2 + j
		}
		if at := strings.LastIndexByte(raw[i+2:end], '@'); at >= 0 {
			raw = raw[:i+2] + raw[i+2+at+1:]
		}
	}
	if utf8.RuneCountInString(raw) > most {
		return string([]rune(raw)[:most-1]) + "…"
	}
	return raw
}
