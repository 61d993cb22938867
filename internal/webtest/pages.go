package webtest

import (
	"embed"
	"fmt"
	"net/netip"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"dossier/egress"
	"dossier/index"
	"dossier/lang"
)

// Kind is what sort of page a page is.
type Kind string

// The kinds that read well.
const (
	Article Kind = "article" // of an encyclopedia
	News    Kind = "news"
	FAQ     Kind = "faq"
	Forum   Kind = "forum"
	Guide   Kind = "guide"
	List    Kind = "list"
	Table   Kind = "table"
	Text    Kind = "text" // plain
	PDF     Kind = "pdf"
	Charset Kind = "charset" // in an encoding of its language, not UTF-8
	Foreign Kind = "foreign" // about something that others write about in another language
)

// The kinds that need judgement.
const (
	Copy          Kind = "copy"          // of a news page, with small changes, on another host
	Mirror        Kind = "mirror"        // of an article, exactly, at another URL
	Outdated      Kind = "outdated"      // was true at its date
	Updated       Kind = "updated"       // says what has changed
	Contradiction Kind = "contradiction" // gives another value, for a reason or for none
	Injection     Kind = "injection"     // has instructions to the model that reads it
	Spam          Kind = "spam"          // words that people search for, on spam.example
	Login         Kind = "login"         // answers with a form
)

// The kinds that are in the way. The engine knows them with a text that
// readers do not get.
const (
	Dead       Kind = "dead"       // 404, 410 or 500
	Unresolved Kind = "unresolved" // its host has no address
	Redirect   Kind = "redirect"   // leads to a page, over one hop or two
	Loop       Kind = "loop"       // redirects without end
	Private    Kind = "private"    // leads to an address that is not public
	Slow       Kind = "slow"       // as slow as Options say
	Paywall    Kind = "paywall"    // 402 or 403
	Empty      Kind = "empty"      // has no text
	Script     Kind = "script"     // is made by a script
	Robots     Kind = "robots"     // robots.txt disallows it
	Enormous   Kind = "enormous"   // more bytes than anyone wants
)

// fails says why kinds cannot be read: a reason of egress or of the reader.
var fails = map[Kind]string{
	Dead: string(egress.Status), Paywall: string(egress.Status), Unresolved: string(egress.Network),
	Loop: string(egress.Redirects), Private: string(egress.Refused), Robots: string(egress.Robots),
	Enormous: string(egress.TooLarge), Empty: "no text", Script: "no text",
}

// Page is a page of the web.
type Page struct {
	URL   string
	Lang  lang.Code
	Kind  Kind
	Title string
	// Text is what the engine knows the page by. Who reads the page gets the
	// same sentences, if it can be read.
	Text   string
	Date   string // published, as YYYY-MM-DD; empty for redirects
	Author string
	// Fails is why reading ends without a page, as a reason of egress or of
	// the reader; empty if it does not.
	Fails string
}

// page is a page as it is served.
type page struct {
	Page

	body    []string // lines of markup
	status  int      // 0 is 200
	to      string   // where it redirects to
	charset string
}

// holds says whether who reads the page gets its text and may trust it.
func (p *page) holds() bool {
	return p.Fails == "" && p.Kind != Login && p.Kind != Injection && p.Kind != Spam && p.Kind != Slow
}

// site is everything that does not change between two starts.
type site struct {
	pages     []*page
	questions []Question
	hosts     map[string]netip.Addr
	phrases   map[lang.Code]*phrases
	index     *index.Index
	byURL     map[string]*page
}

//go:embed pages/*.txt
var files embed.FS

// shared makes the site once in a process.
var shared = sync.OnceValues(newSite)

func newSite() (*site, error) {
	s := &site{hosts: map[string]netip.Addr{}, phrases: map[lang.Code]*phrases{}, byURL: map[string]*page{}}
	if err := s.readPhrases(); err != nil {
		return nil, err
	}
	for _, code := range []lang.Code{lang.English, lang.Russian, lang.Chinese} {
		things, err := records("things-" + string(code))
		if err != nil {
			return nil, err
		}
		for i, r := range things {
			s.compose(code, i, r)
		}
		special, err := records("special-" + string(code))
		if err != nil {
			return nil, err
		}
		for _, r := range special {
			p, err := specialPage(code, r)
			if err != nil {
				return nil, err
			}
			s.pages = append(s.pages, p)
		}
	}
	for _, p := range s.pages {
		if s.byURL[p.URL] != nil {
			return nil, fmt.Errorf("webtest: two pages at %s", p.URL)
		}
		s.byURL[p.URL] = p
		p.Fails = fails[p.Kind]
		p.Text = plain(p.body)
	}
	s.resolveRedirects()
	s.nameHosts()
	b := index.NewBuilder()
	for _, p := range s.pages {
		b.Add(index.Doc{ID: p.URL, Title: p.Title, Text: p.Text, Lang: p.Lang})
	}
	segment, err := index.Open(b.Bytes())
	if err != nil {
		return nil, fmt.Errorf("webtest: %w", err)
	}
	s.index = index.New(segment)
	return s, s.readQuestions()
}

// resolveRedirects gives redirects the text that they lead to.
func (s *site) resolveRedirects() {
	for _, p := range s.pages {
		at := p
		for at.Kind == Redirect && s.byURL[at.to] != nil {
			at = s.byURL[at.to]
		}
		p.Text = at.Text
	}
}

// nameHosts gives every host of a page or a link an address.
func (s *site) nameHosts() {
	public := local.Addr().Next()
	for _, p := range s.pages {
		s.hosts[hostOf(p.URL)] = public
		for _, line := range p.body {
			for _, m := range ownHost.FindAllStringSubmatch(line, -1) {
				s.hosts[m[1]] = public
			}
		}
	}
	for _, p := range s.pages {
		switch {
		case p.Kind == Unresolved:
			delete(s.hosts, hostOf(p.URL))
		case p.Kind == Private && p.to == "":
			s.hosts[hostOf(p.URL)] = privateAddr
		}
	}
}

// privateAddr is the address of a host that only looks public.
var privateAddr = netip.MustParseAddr("10.1.2.3")

// record is a part of a file: its name, its fields, and the rest by lines.
type record struct {
	name   string
	fields map[string]string
	lines  []string
}

var field = regexp.MustCompile(`^(title|kind|date|author|charset|status|to|name|type|news|chrome|cookies|related|footer|share|faq|guide|thread|authors|users|posted|swap): (.*)$`)

// records reads one of the files. Fields come before the first other line.
func records(name string) ([]record, error) {
	raw, err := files.ReadFile("pages/" + name + ".txt")
	if err != nil {
		return nil, fmt.Errorf("webtest: %w", err)
	}
	var out []record
	for line := range strings.Lines(string(raw)) {
		line = strings.TrimRight(line, "\n")
		if title, ok := strings.CutPrefix(line, "=== "); ok {
			out = append(out, record{name: title, fields: map[string]string{}})
			continue
		}
		if len(out) == 0 {
			return nil, fmt.Errorf("webtest: %s.txt starts without a record", name)
		}
		r := &out[len(out)-1]
		if m := field.FindStringSubmatch(line); m != nil && len(r.lines) == 0 {
			r.fields[m[1]] = m[2]
		} else if line != "" || len(r.lines) > 0 {
			r.lines = append(r.lines, line)
		}
	}
	for i := range out {
		r := &out[i]
		for len(r.lines) > 0 && r.lines[len(r.lines)-1] == "" {
			r.lines = r.lines[:len(r.lines)-1]
		}
	}
	return out, nil
}

// specialPage makes a page of a record that is written out.
func specialPage(code lang.Code, r record) (*page, error) {
	f := r.fields
	p := &page{Page: Page{URL: r.name, Lang: code, Kind: Kind(f["kind"]), Title: f["title"], Date: f["date"], Author: f["author"]},
		body: r.lines, to: f["to"], charset: f["charset"]}
	if f["status"] != "" {
		n, err := strconv.Atoi(f["status"])
		if err != nil {
			return nil, fmt.Errorf("webtest: %s: status %q", r.name, f["status"])
		}
		p.status = n
	}
	if p.Title == "" || p.Kind == "" {
		return nil, fmt.Errorf("webtest: %s lacks a title or a kind", r.name)
	}
	return p, nil
}
