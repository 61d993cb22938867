package sources

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"dossier/cite"
	"dossier/kb"
	"dossier/lang"
	"dossier/lang/terms"
	"dossier/reader"
	"dossier/search"
)

// Web is what search engines find.
type Web struct {
	// Engines in the order in which they are preferred.
	Engines []search.Engine
	// Missing names the engines that are known but not set up, and what each
	// of them needs.
	Missing map[string]string
	Pages   Pages
	// Allowed says why a page may not be opened.
	Allowed func(url string) error
	Rules   search.Rules
	// Terms says what words are in English, so that questions in Russian and
	// Chinese go out in it too where no model writes queries; nil: they don't.
	Terms *terms.Dictionary
}

// Pages reads pages; *reader.Fetcher does.
type Pages interface {
	Fetch(ctx context.Context, url string) (*reader.Fetched, error)
}

// WebScope is the part of the web that a question is asked of.
type WebScope struct {
	// Engines to ask; none leaves the choice to the plan of the question.
	Engines []string `json:"engines,omitempty"`
	// Since and Until bound the time of publication.
	Since time.Time `json:"since,omitzero"`
	Until time.Time `json:"until,omitzero"`
	// Days bounds it to so many days before the run is created, in place of Since.
	Days int `json:"days,omitempty"`
	// Sites are the only domains wanted, and Block those unwanted.
	Sites []string `json:"sites,omitempty"`
	Block []string `json:"block,omitempty"`
}

// webCorpus is the part of the web that one question is asked of.
type webCorpus struct {
	*Web
	known  []search.Info // what the question's plan goes by
	scope  WebScope
	lang   lang.Code
	secret secrets
}

// Known is what is known of the engines that are there now.
func (w *Web) Known() []search.Info {
	out := make([]search.Info, len(w.Engines))
	for i, e := range w.Engines {
		out[i] = e.Info()
	}
	return out
}

// Corpus returns a part of the web as a corpus for one run, by the engines that
// are there now. Pages whose address carries one of the secrets are not opened.
func (w *Web) Corpus(scope WebScope, code lang.Code, secret ...string) (Corpus, error) {
	return w.corpus(w.Known(), scope, code, secret...)
}

// corpus is Corpus by engines that were there when the run was created.
func (w *Web) corpus(known []search.Info, scope WebScope, code lang.Code, secret ...string) (Corpus, error) {
	if err := (search.Rules{BlockedDomains: append(slices.Clip(scope.Block), scope.Sites...)}).Check(); err != nil {
		return nil, &TargetError{Message: err.Error(), Hint: "name domains as in example.org"}
	}
	for _, name := range scope.Engines {
		if len(meant(name, known)) == 0 {
			return nil, w.unknown(name, known)
		}
	}
	if len(known) == 0 {
		return nil, errNoEngine
	}
	return &webCorpus{Web: w, known: known, scope: scope, lang: code, secret: newSecrets(secret...)}, nil
}

var errNoEngine = &EngineError{"no search engine is configured", "`dossier doctor` shows what each engine needs; documents of your own are searched with --in DIR"}

func (w *Web) engine(name string) search.Engine {
	for _, e := range w.Engines {
		if e.Info().Name == name {
			return e
		}
	}
	return nil
}

// meant are the engines that a name stands for: an engine, all whose names begin
// with it ("github" for repositories and issues), or a topic.
func meant(name string, known []search.Info) []string {
	var out []string
	for _, e := range known {
		if e.Name == name {
			return []string{name}
		}
		if strings.HasPrefix(e.Name, name+"_") || slices.Contains(e.Topics, search.Topic(name)) {
			out = append(out, e.Name)
		}
	}
	return out
}

// unknown is the error for a name that is none of the engines'.
func (w *Web) unknown(name string, known []search.Info) error {
	if needs, ok := w.Missing[name]; ok {
		return &EngineError{fmt.Sprintf("the search engine %s is not set up: it needs %s", name, needs), "set it in the configuration, or choose another engine with --search"}
	}
	var names []string
	for _, e := range known {
		names = append(names, e.Name)
	}
	return &TargetError{
		Message: fmt.Sprintf("there is no search engine %q", name),
		Hint:    "those that can be asked: " + strings.Join(append(names, LocalName), ", "),
	}
}

// EngineError says that a search engine is not set up.
type EngineError struct{ Message, Hint string }

func (e *EngineError) Error() string { return e.Message }

// Fault tells the kernel how to record the error.
func (e *EngineError) Fault() (code, hint string) { return "not_configured", e.Hint }

// Name implements Corpus.
func (c *webCorpus) Name() string { return "web" }

// Weights implements Corpus.
func (c *webCorpus) Weights(context.Context) (Weights, error) { return nil, nil }

// Engines implements Choice.
func (c *webCorpus) Engines() []search.Info {
	if len(c.scope.Engines) > 0 {
		return nil
	}
	return c.known
}

// Find implements Corpus. It asks the engines that are there now.
func (c *webCorpus) Find(ctx context.Context, q Query) (Finding, error) {
	trace := &search.Trace{}
	who, missing, err := c.searcher(q)
	if err != nil {
		return Finding{}, err
	}
	asked := search.Filtered(search.Clean(who, c.Allowed), search.Rules{
		BlockedDomains:  append(slices.Clip(c.Rules.BlockedDomains), c.scope.Block...),
		BlockedKeywords: c.Rules.BlockedKeywords,
	})
	hits, err := asked.Search(search.WithTrace(ctx, trace), search.Query{
		Text: q.Text, Limit: q.Limit, Lang: cmp.Or(q.Lang, c.lang), Since: c.scope.Since, Until: c.scope.Until, Sites: c.scope.Sites,
	})
	if err != nil {
		return Finding{}, err
	}
	f := Finding{Engines: append(trace.Attempts(), missing...), Dropped: trace.Drops()}
	slices.SortStableFunc(f.Engines, func(a, b search.Attempt) int { return cmp.Compare(a.Engine, b.Engine) })
	for i, h := range first(hits, q.Limit) {
		f.Leads = append(f.Leads, c.lead(h, i))
	}
	return f, nil
}

// searcher puts together who is asked: the engines that were named, or those that
// were chosen at once; those for everything, one after the other until one has
// something, when the others have too little, or the query is to be asked
// widely. Missing are engines that were named and have gone since.
func (c *webCorpus) searcher(q Query) (who search.Searcher, missing []search.Attempt, err error) {
	if len(c.Web.Engines) == 0 {
		return nil, nil, errNoEngine
	}
	if len(c.scope.Engines) > 0 {
		return c.namedSearcher()
	}
	if who := c.tieredSearcher(q); who != nil {
		return who, nil, nil
	}
	return c.chosenSearcher(q), nil, nil
}

// namedSearcher asks the engines that the user named.
func (c *webCorpus) namedSearcher() (search.Searcher, []search.Attempt, error) {
	var engines []search.Engine
	var missing []search.Attempt
	now := c.Web.Known()
	for _, name := range c.scope.Engines {
		names := meant(name, now)
		if len(names) == 0 {
			missing = append(missing, search.Attempt{Engine: name, Reason: search.Unavailable, Detail: "it is not set up any more"})
		}
		for _, n := range names {
			if e := c.engine(n); !slices.Contains(engines, e) {
				engines = append(engines, e)
			}
		}
	}
	if len(engines) == 0 {
		return nil, nil, c.unknown(c.scope.Engines[0], now)
	}
	return fused(engines), missing, nil
}

// tieredSearcher asks engines in the tiers of the query, nil where it has none or
// they have gone since.
func (c *webCorpus) tieredSearcher(q Query) search.Searcher {
	var tiers []search.Searcher
	for _, names := range q.Tiers {
		var special, general []search.Engine
		for _, n := range names {
			switch e := c.engine(n); {
			case e == nil:
			case slices.Contains(e.Info().Topics, search.General), slices.Contains(e.Info().Topics, search.Encyclopedia):
				general = append(general, e)
			default:
				special = append(special, e)
			}
		}
		if len(special) > 0 {
			tiers = append(tiers, fused(special))
		}
		if len(general) > 0 { // each of which knows everything
			tiers = append(tiers, search.Fallback(general...))
		}
	}
	switch {
	case len(tiers) == 0:
		return nil
	case q.Wide && len(tiers) > 1:
		return search.Fused(fuseK, tiers...)
	}
	return search.Tiers(q.Limit, tiers...)
}

// chosenSearcher asks engines by the plan of the question.
func (c *webCorpus) chosenSearcher(q Query) search.Searcher {
	var special, general, settled []search.Engine
	for _, e := range c.Web.Engines {
		info := e.Info()
		switch {
		case slices.Contains(info.Topics, search.General):
			general = append(general, e)
		case slices.Contains(info.Topics, search.Encyclopedia):
			settled = append(settled, e)
		case slices.Contains(q.Engines, info.Name):
			special = append(special, e)
		}
	}
	// An engine for everything that was chosen goes first among its kind.
	slices.SortStableFunc(general, func(a, b search.Engine) int {
		return place(q.Engines, a.Info().Name) - place(q.Engines, b.Info().Name)
	})
	var tiers []search.Searcher
	if len(special) > 0 {
		tiers = append(tiers, fused(special))
	}
	everything := search.Fallback(append(general, settled...)...)
	if len(general) > 0 && slices.ContainsFunc(settled, func(e search.Engine) bool { return slices.Contains(q.Engines, e.Info().Name) }) {
		everything = search.Fused(fuseK, search.Fallback(general...), search.Fallback(settled...))
	}
	if len(general)+len(settled) > 0 {
		tiers = append(tiers, everything)
	}
	if len(tiers) == 0 && len(q.Engines) > 0 {
		return fused(c.Web.Engines) // those that were chosen have gone since
	}
	if q.Wide && len(tiers) > 1 {
		return search.Fused(fuseK, tiers...)
	}
	return search.Tiers(q.Limit, tiers...)
}

// place is where a name stands, after all others if it does not.
func place(names []string, name string) int {
	if i := slices.Index(names, name); i >= 0 {
		return i
	}
	return len(names)
}

func fused(engines []search.Engine) search.Searcher {
	if len(engines) == 1 {
		return search.Fallback(engines...)
	}
	all := make([]search.Searcher, len(engines))
	for i, e := range engines {
		all[i] = e
	}
	return search.Fused(fuseK, all...)
}

const (
	longestLead = 2000 // characters that a lead shows of its page
	longestCopy = 8000 // of what an engine has of a page
)

// lead is a hit as a lead. It has no place: only reading tells that.
func (c *webCorpus) lead(h search.Hit, rank int) Lead {
	l := Lead{
		ID: h.URL, Ref: h.URL, Kind: cite.Web, URI: h.URL, Title: h.Title, Author: h.Author, Date: h.Date, Site: h.Site, Lang: h.Lang,
		Text: cut(cmp.Or(h.Snippet, h.Text), longestLead), Ranking: 1 / float64(rank+1), Ranked: true,
	}
	if len(h.Text) > len(h.Snippet) {
		l.Copy = cutText(h.Text, longestCopy)
		l.Text = cut(h.Text, longestLead)
	}
	for name := range strings.SplitSeq(h.Engine, ",") {
		if e := c.engine(name); e == nil || !e.Info().Ranked {
			l.Ranked = false
		}
	}
	if l.Site == "" {
		if u, err := url.Parse(h.URL); err == nil {
			l.Site = u.Hostname()
		}
	}
	return l
}

// cutText is the beginning of a text, with its lines.
func cutText(text string, most int) string {
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most])
	}
	return text
}

// Read implements Corpus. A page that can't be read is had from an engine that
// keeps its text, if there is one.
func (c *webCorpus) Read(ctx context.Context, lead Lead) (Document, error) {
	if c.secret.in(lead.Ref) || privateOf(ctx).in(lead.Ref) {
		return Document{}, errors.New("its address carries data of this run")
	}
	got, err := c.Pages.Fetch(ctx, lead.Ref)
	if err == nil && strings.TrimSpace(got.Page.Text) == "" {
		err = errors.New("the page has no text")
	}
	if err == nil {
		d := pageDocument(got.Page)
		d.URI, d.Notes = got.URL, got.Page.Warnings
		return d, nil
	}
	if ctx.Err() != nil {
		return Document{}, context.Cause(ctx)
	}
	if d, ok := c.kept(ctx, lead); ok {
		d.Notes = append(d.Notes, err.Error())
		return d, nil
	}
	return Document{}, err
}

// Open reads the page at an address that somebody named. What the rules or
// Allowed refuse is not opened, nor an address that carries one of the secrets.
func (w *Web) Open(ctx context.Context, at string, secret ...string) (Document, error) {
	at, err := search.NormalURL(at)
	if err != nil {
		return Document{}, fmt.Errorf("the address can't be opened: %w", err)
	}
	if why, rule := w.Rules.Against(search.Hit{URL: at}); why != "" {
		return Document{}, fmt.Errorf("the address may not be opened: %s (%s)", why, rule)
	}
	if w.Allowed != nil {
		if err := w.Allowed(at); err != nil {
			return Document{}, err
		}
	}
	c := &webCorpus{Web: w, secret: newSecrets(secret...)}
	return c.Read(ctx, Lead{ID: at, Ref: at, URI: at})
}

// Kept returns what an engine has of a page. The error says what the engine
// needs if it is not set up.
func (w *Web) Kept(ctx context.Context, engine, at string) (search.Hit, error) {
	e := w.engine(engine)
	if e == nil {
		return search.Hit{}, w.unknown(engine, w.Known())
	}
	opener, ok := e.(search.Opener)
	if !ok {
		return search.Hit{}, fmt.Errorf("%s: %w", engine, search.ErrNotMine)
	}
	return opener.Open(ctx, at)
}

// pageDocument is a page that was read, cut into passages.
func pageDocument(p *reader.Page) Document {
	d := Document{Title: p.Title, Author: p.Author, Date: p.Date, Site: p.Site, Lang: lang.Code(p.Lang), Text: p.Text}
	for _, chunk := range kb.Cut(p, 0) {
		d.Passages = append(d.Passages, Spot(chunk))
	}
	return d
}

// kept is what an engine has of a page.
func (c *webCorpus) kept(ctx context.Context, lead Lead) (Document, bool) {
	for _, e := range c.Web.Engines {
		opener, ok := e.(search.Opener)
		if !ok {
			continue
		}
		if h, err := opener.Open(ctx, lead.Ref); err == nil && strings.TrimSpace(h.Text) != "" {
			return copyDocument(h.Title, h.Author, h.Date, h.Text), true
		}
	}
	if strings.TrimSpace(lead.Copy) != "" {
		return copyDocument(lead.Title, lead.Author, lead.Date, lead.Copy), true
	}
	return Document{}, false
}

func copyDocument(title, author, date, text string) Document {
	d := pageDocument(&reader.Page{Text: text, Lang: string(lang.Detect(text))})
	d.Title, d.Author, d.Date = title, author, date
	return d
}
