package zyte

import (
	"net/url"
	"strings"
)

// pages returns the lists to read: those of the wanted domains, a domain's front
// page where none is configured, and all that are configured when nothing in
// particular is wanted.
func pages(configured, wanted []string) []string {
	var all []string
	for _, page := range configured {
		if page = address(page); page != "" {
			all = append(all, page)
		}
	}
	if len(wanted) == 0 {
		return all[:min(len(all), mostSites)]
	}
	var out []string
	for _, domain := range wanted {
		front := address(domain)
		if front == "" {
			continue
		}
		known := false
		for _, page := range all {
			if below(page, front) {
				known, out = true, append(out, page)
			}
		}
		if !known {
			out = append(out, front)
		}
	}
	return out[:min(len(out), mostSites)]
}

// address returns the URL that somebody means by a host with or without the
// rest, or "".
func address(site string) string {
	site = strings.TrimSpace(site)
	if !strings.Contains(site, "://") {
		site = "https://" + site
	}
	u, err := url.Parse(site)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return ""
	}
	if u.Path == "" {
		u.Path = "/"
	}
	return u.String()
}

// below says whether a page is on the host of front or on one below it.
func below(page, front string) bool {
	p, _ := url.Parse(page)
	f, _ := url.Parse(front)
	host, domain := strings.ToLower(p.Hostname()), strings.ToLower(f.Hostname())
	return host == domain || strings.HasSuffix(host, "."+domain)
}
