package cli

import (
	"errors"
	"fmt"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/alecthomas/kong"

	"dossier"
	"dossier/internal/base/term"
	"dossier/sources"
)

// webFlags say which part of the web a question is asked of.
type webFlags struct {
	Search engineFlag `placeholder:"[=ENGINE,...]" help:"Ask the web: the engines that are named, else those that fit the question."`
	Since  string     `placeholder:"DATE" help:"Only what was published since 2024, 2024-05 or 2024-05-17, or in the last 7d, 2w, 3m or 1y."`
	Until  string     `placeholder:"DATE" help:"Only what was published until then, written as for --since."`
	Site   []string   `placeholder:"DOMAIN" help:"Only pages of this domain; may be repeated."`
	Block  []string   `placeholder:"DOMAIN" help:"No pages of this domain; may be repeated."`
}

const webHelp = `Engines: searxng, tavily, brave, perplexity, bocha, duckduckgo, wikipedia,
arxiv, hf_papers, openalex, hf_blog, github (github_repos, github_issues),
hackernews, zyte, and MCP servers that are set up as engines; papers, code,
discussion, blogs and encyclopedia stand for all of a kind. local is the
collection in use, auto the choice by the question, none keeps to your
documents. --since, --until, --site and --block imply --search. "dossier
doctor" tells which engines work.`

// engineNames are the names that --search knows, beside those of MCP servers.
var engineNames = dossier.EngineNames()

// Names that are no engines: automatic says what a plain --search says.
const noWeb = "none"

var automatic = []string{"auto", "web"}

// engineFlag is a flag with or without a value.
type engineFlag struct {
	given bool
	names []string
	// next is the word after a flag without a value, which may be a part of the
	// question, or an engine that only the configuration knows.
	next string
}

// engineMapper reads engineFlags. A flag without a value leaves the word that
// follows it alone, unless that can only be a value: it is a list of engines, or
// the question is there already.
type engineMapper struct{ grammar *kong.Node }

// Decode implements kong.Mapper.
func (m *engineMapper) Decode(ctx *kong.DecodeContext, target reflect.Value) error {
	e := target.Addr().Interface().(*engineFlag)
	e.given = true
	token := ctx.Scan.Peek()
	word, ok := token.Value.(string)
	if !ok || !token.IsValue() {
		return nil
	}
	names := engineList(word)
	if token.Type != kong.FlagValueToken && !m.asked(ctx.Value) && (spaced(word) || !known(names, nil)) {
		e.next = word
		return nil
	}
	if len(names) == 0 {
		return errors.New("no engine is named; plain --search has them chosen")
	}
	ctx.Scan.Pop()
	e.names = append(e.names, names...)
	return nil
}

// asked says whether the command that a flag belongs to has its question.
func (m *engineMapper) asked(flag *kong.Value) bool {
	for _, command := range m.grammar.Children {
		if slices.ContainsFunc(command.Flags, func(f *kong.Flag) bool { return f.Value == flag }) {
			return slices.ContainsFunc(command.Positional, func(p *kong.Positional) bool { return p.Set })
		}
	}
	return false
}

// engineList are the names in a list with commas.
func engineList(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == ',' || unicode.IsSpace(r) })
}

// known says whether there are names, and all of them are engines'.
func known(names, servers []string) bool {
	return len(names) > 0 && !slices.ContainsFunc(names, func(n string) bool { return engineName(n, servers) == "" })
}

// engineName is a name as engines have it, "" if none does.
func engineName(name string, servers []string) string {
	if slices.Contains(servers, name) {
		return name
	}
	name = strings.ToLower(name)
	if slices.Contains(engineNames, name) || slices.Contains(automatic, name) || name == noWeb {
		return name
	}
	return ""
}

// webChoice is what the flags come to.
type webChoice struct {
	// scope is nil where nothing is said.
	scope *sources.WebScope
	// inUse adds the collection in use to engines that are not named.
	inUse bool
	// none says that the web is not to be asked.
	none bool
}

// choose reads the flags, and returns the words of the question without what
// was meant for them. The names of MCP servers are engines, too.
func (f *webFlags) choose(words, servers []string, now time.Time) (webChoice, []string, error) {
	words, err := f.Search.settle(words, servers)
	if err != nil {
		return webChoice{}, nil, err
	}
	scope, err := f.bounds(now)
	if err != nil {
		return webChoice{}, nil, err
	}
	bounded := f.bounded()
	if !f.Search.given && bounded == "" {
		return webChoice{}, words, nil
	}
	choice := webChoice{scope: scope}
	auto := ""
	for _, given := range f.Search.names {
		switch name := engineName(given, servers); {
		case name == "":
			return webChoice{}, nil, noEngine(given, servers, "")
		case name == noWeb:
			choice.none = true
		case slices.Contains(automatic, name):
			auto = name
		case !slices.Contains(scope.Engines, name):
			scope.Engines = append(scope.Engines, name)
		}
	}
	choice.inUse = auto != "" && slices.Contains(scope.Engines, sources.LocalName)
	others := slices.DeleteFunc(slices.Clone(scope.Engines), func(n string) bool { return n == sources.LocalName })
	switch {
	case choice.none && (auto != "" || len(scope.Engines) > 0):
		return webChoice{}, nil, &failure{code: exitUsage, message: "--search names engines, and none", hint: "leave the one or the other out"}
	case auto != "" && len(others) > 0:
		return webChoice{}, nil, &failure{code: exitUsage, message: fmt.Sprintf("--search names %s, and %s, which leaves the choice to the program", others[0], auto), hint: "leave the one or the other out"}
	case auto != "":
		scope.Engines = nil
	case choice.none:
		scope.Engines = []string{sources.LocalName}
	}
	if bounded != "" && (choice.none || auto == "" && len(scope.Engines) > 0 && len(others) == 0) {
		return webChoice{}, nil, &failure{code: exitUsage, message: bounded + " is about the web, and --search keeps out of it", hint: "leave the one or the other out"}
	}
	return choice, words, nil
}

// settle decides what the word between a plain --search and the question is: an
// engine's name, or a part of the question. A single word beside words in quotes
// is most likely the name of an engine that there is not.
func (e *engineFlag) settle(words, servers []string) ([]string, error) {
	i := slices.Index(words, e.next)
	if e.next == "" || i < 0 {
		return words, nil
	}
	others := slices.Delete(slices.Clone(words), i, i+1)
	names := engineList(e.next)
	switch {
	case spaced(e.next):
	case known(names, servers):
		e.names = append(e.names, names...)
		return others, nil
	case slices.ContainsFunc(others, spaced):
		for _, n := range names {
			if engineName(n, servers) == "" {
				return nil, noEngine(n, servers, "; if it belongs to the question, put --search behind the question")
			}
		}
	}
	return words, nil
}

func spaced(word string) bool { return strings.ContainsFunc(word, unicode.IsSpace) }

// noEngine is the error for a name that no engine has.
func noEngine(name string, servers []string, more string) error {
	all := slices.Concat(engineNames, servers)
	hint := "the engines are " + strings.Join(all, ", ")
	if near := nearest(strings.ToLower(name), all); near != "" {
		hint = fmt.Sprintf("did you mean %s? ", near) + hint
	}
	return &failure{code: exitUsage, message: fmt.Sprintf("there is no search engine %q", term.Line(name)), hint: hint + more}
}

// bounded is the first of the flags that bound the web, "" without any.
func (f *webFlags) bounded() string {
	switch {
	case f.Since != "":
		return "--since"
	case f.Until != "":
		return "--until"
	case len(f.Site) > 0:
		return "--site"
	case len(f.Block) > 0:
		return "--block"
	}
	return ""
}

// bounds is the part of the web that the flags leave.
func (f *webFlags) bounds(now time.Time) (*sources.WebScope, error) {
	scope := &sources.WebScope{}
	var err error
	if f.Since != "" {
		if scope.Since, _, err = period("--since", f.Since, now); err != nil {
			return nil, err
		}
	}
	if f.Until != "" {
		if _, scope.Until, err = period("--until", f.Until, now); err != nil {
			return nil, err
		}
	}
	if f.Since != "" && f.Until != "" && scope.Until.Before(scope.Since) {
		return nil, &failure{code: exitUsage, message: fmt.Sprintf("--since %s is after --until %s", term.Line(f.Since), term.Line(f.Until)), hint: "nothing can have been published then: exchange them"}
	}
	if scope.Sites, err = domains("--site", f.Site); err != nil {
		return nil, err
	}
	if scope.Block, err = domains("--block", f.Block); err != nil {
		return nil, err
	}
	for _, site := range scope.Sites {
		for _, block := range scope.Block {
			if site == block || strings.HasSuffix(site, "."+block) {
				return nil, &failure{code: exitUsage, message: fmt.Sprintf("--site %s is wanted and blocked by --block %s", site, block), hint: "leave the one or the other out"}
			}
		}
	}
	return scope, nil
}

// domains reads domains that somebody wrote, or the addresses of pages there.
func domains(flag string, texts []string) ([]string, error) {
	var out []string
	for _, text := range texts {
		d, ok := domainOf(text)
		if !ok {
			return nil, &failure{code: exitUsage, message: fmt.Sprintf("%s %s is no domain", flag, term.Line(text)), hint: "write it as example.org, or .org for all that end so"}
		}
		if !slices.Contains(out, d) {
			out = append(out, d)
		}
	}
	return out, nil
}

func domainOf(text string) (string, bool) {
	text = strings.ToLower(strings.TrimSpace(text))
	if !strings.Contains(text, "://") {
		text = "https://" + text
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" {
		return "", false
	}
	host := strings.TrimSuffix(u.Hostname(), ".")
	below := strings.TrimPrefix(strings.TrimPrefix(host, "*"), ".")
	if below == host && !strings.Contains(host, ".") {
		return "", false // the name of a site, not its domain
	}
	for label := range strings.SplitSeq(below, ".") {
		if label == "" || strings.ContainsFunc(label, func(r rune) bool {
			return r != '-' && r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r)
		}) {
			return "", false
		}
	}
	return below, true
}

// searches says whether a mode looks for sources.
func searches(mode string) bool {
	return slices.Contains([]string{"web_search", "deep_search", "quality", deepResearchMode}, dossier.ModeName(mode))
}

// into puts the choice where a question names its place.
func (c webChoice) into(a *app, l *link, in *sources.Target) error {
	in.Web = c.scope
	if !c.inUse || len(in.Paths) > 0 || in.Collection != "" {
		return nil
	}
	list, err := l.Collections(a.ctx)
	if err != nil {
		return err
	}
	if list.Active == "" {
		return &failure{code: exitUsage, message: "--search names local, and no collection is in use", hint: "`dossier kb use NAME` chooses one; --in DIR names a folder"}
	}
	in.Collection = list.Active
	return nil
}
