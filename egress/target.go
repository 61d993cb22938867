package egress

import (
	"errors"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"

	whatwg "github.com/nlnwa/whatwg-url/url"
)

// maxURL bounds the text of a URL; browsers and servers give up earlier.
const maxURL = 16 << 10

var urlParser = whatwg.NewParser(whatwg.WithPercentEncodeSinglePercentSign())

// conforming is the parser of the standard without additions.
var conforming = whatwg.NewParser()

// NormalizeURL reads a URL as a browser does (the WHATWG standard), relative
// to base unless that is empty, and returns its serialisation: two texts that
// lead a browser to the same place give the same result.
func NormalizeURL(raw, base string) (string, error) {
	u, err := parseURL(conforming, raw, base)
	if err != nil {
		return "", err
	}
	return u.Href(false), nil
}

func parseURL(p whatwg.Parser, raw, base string) (*whatwg.Url, error) {
	if len(raw) > maxURL {
		return nil, &Error{Reason: Refused, URL: shorten(raw), Why: "the URL is too long"}
	}
	var u *whatwg.Url
	var err error
	if base == "" {
		u, err = p.Parse(raw)
	} else {
		u, err = p.ParseRef(base, raw)
	}
	if err != nil {
		return nil, &Error{Reason: Refused, URL: shorten(raw), Why: "not a URL that a browser would open"}
	}
	return u, nil
}

// target is a URL that passed the checks that need no network.
type target struct {
	scheme, host string // host as in a Host header, without the default port
	name         string // host without port and brackets
	port         uint16
	path         string // with the query
	fragment     string
}

// target checks scheme, host and port of a URL from outside.
func (c *Client) target(raw, base string) (*target, error) {
	u, err := parseURL(urlParser, raw, base)
	if err != nil {
		return nil, err
	}
	refuse := func(why string) error { return &Error{Reason: Refused, URL: shorten(raw), Why: why} }
	t := &target{scheme: strings.TrimSuffix(u.Protocol(), ":"), name: u.Hostname(), host: u.Host()}
	switch t.scheme {
	case "http":
		t.port = 80
	case "https":
		t.port = 443
	default:
		return nil, refuse("only http and https are opened")
	}
	if p := u.Port(); p != "" {
		n, err := strconv.ParseUint(p, 10, 16)
		if err != nil {
			return nil, refuse("bad port")
		}
		t.port = uint16(n)
	}
	if t.port != 80 && t.port != 443 && !slices.Contains(c.conf.AllowPorts, t.port) {
		return nil, refuse("port " + strconv.Itoa(int(t.port)) + " is not allowed")
	}
	t.name = strings.TrimSuffix(strings.TrimPrefix(t.name, "["), "]")
	if t.name == "" {
		return nil, refuse("no host")
	}
	if a, ok := t.literal(); ok {
		if err := c.addressCheck(a); err != nil {
			if refused, ok := errors.AsType[*Error](err); ok {
				refused.URL = shorten(raw)
			}
			return nil, err
		}
	}
	t.path, t.fragment = u.Pathname()+u.Search(), u.Hash()
	return t, nil
}

// literal is the address that the host is, if it is one. The name localhost
// is one: no resolver is asked about it.
func (t *target) literal() (netip.Addr, bool) {
	name := strings.TrimSuffix(t.name, ".")
	if name == "localhost" || strings.HasSuffix(name, ".localhost") {
		return netip.AddrFrom4([4]byte{127, 0, 0, 1}), true
	}
	a, err := netip.ParseAddr(t.name)
	return a, err == nil
}

func (t *target) String() string { return t.scheme + "://" + t.host + t.path + t.fragment }

// origin is what robots.txt and politeness are kept by.
func (t *target) origin() string { return t.scheme + "://" + t.host }

// requestURL is the URL for net/http: the bytes on the wire are those of the
// normalised URL, without user name, password and fragment.
func (t *target) requestURL() (*url.URL, error) {
	path, query, _ := strings.Cut(t.path, "?")
	u := &url.URL{Scheme: t.scheme, Host: t.host, RawQuery: query}
	plain, err := url.PathUnescape(path)
	if err != nil {
		return nil, &Error{Reason: Refused, URL: shorten(t.String()), Why: "the path has a broken escape"}
	}
	u.Path, u.RawPath = plain, path
	return u, nil
}

// shorten makes a URL fit for an error or a log.
func shorten(s string) string {
	const most = 200
	s = strings.ToValidUTF8(s, "�")
	if i := strings.Index(s, "://"); i >= 0 {
		rest := s[i+3:]
		end := strings.IndexAny(rest, "/?#\\")
		if end < 0 {
			end = len(rest)
		}
		if at := strings.LastIndexByte(rest[:end], '@'); at >= 0 { // a password may stand before it
			s = s[:i+3] + rest[at+1:]
		}
	}
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}
