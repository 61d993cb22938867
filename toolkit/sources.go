package toolkit

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"unicode/utf8"

	"dossier/event"
	"dossier/lang"
	"dossier/run"
	"dossier/search"
	"dossier/sources"
	"dossier/tool"
)

// The names of the tools that ask one source.
const (
	SearchArxiv      = "search_arxiv_papers_tool"
	GetArxiv         = "get_arxiv_paper_tool"
	HuggingPapers    = "get_huggingface_papers_tool"
	HuggingBlog      = "get_huggingface_blog_posts_tool"
	SearchGitHub     = "github_search_tool"
	ZyteArticles     = "get_zyte_article_list_tool"
	SearchBocha      = "bocha_web_search_tool"
	SearchHackerNews = "search_hackernews_tool"
)

func (k *Toolkit) sourceMakers() []maker {
	with := func(name string, build func() tool.Tool) maker {
		return plain(name, func(Settings) tool.Tool { return build() })
	}
	return []maker{
		with(SearchArxiv, k.searchArxiv), with(GetArxiv, k.getArxiv), with(HuggingPapers, k.huggingPapers), with(HuggingBlog, k.huggingBlog),
		with(SearchGitHub, k.searchGitHub), with(ZyteArticles, k.zyteArticles), with(SearchBocha, k.searchBocha), with(SearchHackerNews, k.searchHackerNews),
	}
}

// sourceArgs are what every source is asked.
type sourceArgs struct {
	Query      string `json:"query" jsonschema:"words to look for"`
	MaxResults int    `json:"max_results" default:"10" min:"1" max:"50" jsonschema:"how many results"`
	Since      string `json:"since,omitempty" jsonschema:"the first day of publication, as 2026-01-31"`
	Until      string `json:"until,omitempty" jsonschema:"the last day of publication"`
}

// Validate refuses an empty query.
func (a *sourceArgs) Validate() error { return needsQuery(a.Query) }

// listArgs are the same for sources that list what is new when nothing in
// particular is asked.
type listArgs struct {
	Query      string `json:"query" default:"" jsonschema:"words to look for; empty lists what is new"`
	MaxResults int    `json:"max_results" default:"10" min:"1" max:"50" jsonschema:"how many results"`
	Since      string `json:"since,omitempty" jsonschema:"the first day of publication, as 2026-01-31"`
	Until      string `json:"until,omitempty" jsonschema:"the last day of publication"`
}

// shownAbstract is how many characters of a result a source tool shows.
const shownAbstract = 600

// askSource asks engines and shows more of each result than a web search does:
// an abstract is what one looks for there.
func (k *Toolkit) askSource(ctx context.Context, c *tool.Call, in listArgs, scope sources.WebScope) (tool.Result, error) {
	var err error
	if scope.Since, err = day("since", in.Since); err == nil {
		scope.Until, err = day("until", in.Until)
	}
	if err != nil {
		return tool.Result{}, err
	}
	most := cmp.Or(in.MaxResults, 10)
	got, err := k.ask(ctx, c, asked{scope: scope, query: in.Query, limit: most})
	if err != nil {
		return tool.Result{}, err
	}
	return got.result(c, most, func(s tool.Source, l sources.Lead) string {
		var b strings.Builder
		b.WriteString(sourceLine(s) + "\n")
		if about := strings.Trim(l.Author+", "+l.Date, ", "); about != "" {
			b.WriteString(oneLine(about) + "\n")
		}
		if text := oneLine(l.Text); text != "" {
			short := cut(text, shownAbstract)
			b.WriteString(short)
			if len(short) < len(text) {
				b.WriteString("...")
			}
			b.WriteString("\n")
		}
		return b.String() + "\n"
	})
}

// searching is a tool that asks engines for what its arguments say.
func searching(k *Toolkit, spec tool.Spec, engines ...string) tool.Tool {
	spec.Kind, spec.Timeout = tool.Searching, webTimeout
	return tool.New(spec, func(ctx context.Context, c *tool.Call, in sourceArgs) (tool.Result, error) {
		return k.askSource(ctx, c, listArgs(in), sources.WebScope{Engines: engines})
	})
}

func listing(k *Toolkit, spec tool.Spec, engines ...string) tool.Tool {
	spec.Kind, spec.Timeout = tool.Searching, webTimeout
	return tool.New(spec, func(ctx context.Context, c *tool.Call, in listArgs) (tool.Result, error) {
		return k.askSource(ctx, c, in, sources.WebScope{Engines: engines})
	})
}

func (k *Toolkit) searchArxiv() tool.Tool {
	return searching(k, tool.Spec{
		Name: SearchArxiv, Tags: []string{"papers", "research", "arxiv"},
		Description: "Search arXiv for preprints; results have the authors, the day and the abstract. English words find most.",
		Examples:    []string{"find papers about transformers", "recent research on retrieval", "найди научные статьи", "查找论文"},
	}, "arxiv")
}

func (k *Toolkit) huggingPapers() tool.Tool {
	return listing(k, tool.Spec{
		Name: HuggingPapers, Tags: []string{"papers", "research", "machine learning", "huggingface"},
		Description: "Papers that people put forward on Hugging Face: those of these days, or those with the words of a query.",
		Examples:    []string{"today's papers", "trending machine learning papers"},
	}, "hf_papers")
}

func (k *Toolkit) huggingBlog() tool.Tool {
	return listing(k, tool.Spec{
		Name: HuggingBlog, Tags: []string{"blog", "machine learning", "huggingface"},
		Description: "Posts of the Hugging Face blog: the newest, or those with the words of a query.",
		Examples:    []string{"newest posts of the Hugging Face blog", "blog post about a model release"},
	}, "hf_blog")
}

func (k *Toolkit) searchBocha() tool.Tool {
	return searching(k, tool.Spec{
		Name: SearchBocha, Tags: []string{"web", "search", "chinese"},
		Description: "Search the web with Bocha, which knows Chinese pages best. Use it when special sources have nothing.",
		Examples:    []string{"search Chinese web pages", "搜索中文网页"},
	}, "bocha")
}

func (k *Toolkit) searchHackerNews() tool.Tool {
	return searching(k, tool.Spec{
		Name: SearchHackerNews, Tags: []string{"discussion", "news", "technology"},
		Description: "Search the stories and discussions of Hacker News.",
		Examples:    []string{"what do developers say about", "Hacker News discussion"},
	}, "hackernews")
}

type githubArgs struct {
	Query      string `json:"query" jsonschema:"words to look for; GitHub's qualifiers such as language: and repo: work"`
	SearchType string `json:"search_type" enum:"repositories,issues" default:"repositories" jsonschema:"what to search"`
	MaxResults int    `json:"max_results" default:"10" min:"1" max:"50" jsonschema:"how many results"`
}

// Validate refuses an empty query.
func (a *githubArgs) Validate() error { return needsQuery(a.Query) }

func (k *Toolkit) searchGitHub() tool.Tool {
	return tool.New(tool.Spec{
		Name: SearchGitHub, Kind: tool.Searching, Timeout: webTimeout, Tags: []string{"code", "github", "repositories", "issues"},
		Description: "Search GitHub for repositories, or for issues and pull requests.",
		Examples:    []string{"find an open source library", "is this a known bug", "найди репозиторий", "查找开源项目"},
	}, func(ctx context.Context, c *tool.Call, in githubArgs) (tool.Result, error) {
		engine := "github_repos"
		if in.SearchType == "issues" {
			engine = "github_issues"
		}
		return k.askSource(ctx, c, listArgs{Query: in.Query, MaxResults: in.MaxResults}, sources.WebScope{Engines: []string{engine}})
	})
}

type zyteArgs struct {
	Query      string   `json:"query" default:"" jsonschema:"words to look for; empty lists what is new"`
	Sites      []string `json:"sites,omitempty" max:"10" jsonschema:"domains that the user named or that sources are from; none is the configured sites"`
	MaxResults int      `json:"max_results" default:"10" min:"1" max:"50" jsonschema:"how many results"`
}

func (k *Toolkit) zyteArticles() tool.Tool {
	return tool.New(tool.Spec{
		Name: ZyteArticles, Kind: tool.Searching, Timeout: webTimeout, Tags: []string{"blog", "articles", "news"},
		Description: "List the articles of blogs and news sites: the configured ones, or sites that the user named.",
		Examples:    []string{"newest articles of a blog", "what did this site publish"},
	}, func(ctx context.Context, c *tool.Call, in zyteArgs) (tool.Result, error) {
		// A site is asked by its name, which an injected one could use to carry
		// something away.
		known := newAddresses(c.State).hosts()
		scope := sources.WebScope{Engines: []string{"zyte"}}
		for _, site := range in.Sites {
			host := hostOf(site)
			if !known[host] {
				return tool.Result{}, fmt.Errorf("the site %q is neither named in the task nor one of the sources. Leave sites empty for the configured ones", cut(oneLine(site), 100))
			}
			scope.Sites = append(scope.Sites, host)
		}
		return k.askSource(ctx, c, listArgs{Query: in.Query, MaxResults: in.MaxResults}, scope)
	})
}

// hosts of the addresses.
func (a addresses) hosts() map[string]bool {
	out := make(map[string]bool)
	for at := range a.sources {
		out[hostOf(at)] = true
	}
	for at := range a.task {
		out[hostOf(at)] = true
	}
	return out
}

// hostOf is the host of an address with or without a scheme.
func hostOf(at string) string {
	if !strings.Contains(at, "://") {
		at = "https://" + at
	}
	normal, err := search.NormalURL(strings.TrimSpace(at))
	if err != nil {
		return ""
	}
	u, err := url.Parse(normal)
	if err != nil {
		return ""
	}
	return strings.TrimPrefix(u.Hostname(), "www.")
}

type arxivPaperArgs struct {
	PaperID  string `json:"paper_id" jsonschema:"number of the paper as in 2310.06825, or its address on arxiv.org"`
	FullText bool   `json:"full_text" default:"false" jsonschema:"whether to read the whole paper; the abstract is enough for most questions"`
}

// paperNumber is a paper of arXiv, by a number of today or of before 2007.
var paperNumber = regexp.MustCompile(`^(?:\d{4}\.\d{4,5}|[a-z-]+(?:\.[A-Z]{2})?/\d{7})(?:v\d{1,3})?$`)

// number is that of the paper, "" if there is none.
func (a *arxivPaperArgs) number() string {
	id := strings.TrimSpace(a.PaperID)
	if rest, ok := strings.CutPrefix(strings.ToLower(id), "arxiv:"); ok {
		id = id[len(id)-len(rest):]
	}
	if _, rest, ok := strings.Cut(id, "://"); ok {
		_, id, _ = strings.Cut(rest, "/")
		_, id, _ = strings.Cut(id, "/")
		id = strings.TrimSuffix(id, ".pdf")
	}
	if !paperNumber.MatchString(id) {
		return ""
	}
	return id
}

// Validate refuses what names no paper.
func (a *arxivPaperArgs) Validate() error {
	if a.number() == "" {
		return errors.New("paper_id names no paper of arXiv: write its number, as in 2310.06825")
	}
	return nil
}

func (k *Toolkit) getArxiv() tool.Tool {
	return tool.New(tool.Spec{
		Name: GetArxiv, Kind: tool.Reading, Timeout: webTimeout, Tags: []string{"papers", "research", "arxiv", "read"},
		Description: "Get one paper of arXiv by its number: title, authors, day and abstract, or the whole text.",
		Examples:    []string{"what does the paper 2310.06825 say", "read this arXiv paper"},
	}, func(ctx context.Context, c *tool.Call, in arxivPaperArgs) (tool.Result, error) {
		if k.parts.Web == nil {
			return tool.Result{}, errNoWeb
		}
		if err := c.Scope.Budget().Check(run.Pages); err != nil {
			return tool.Result{}, err
		}
		at := "https://arxiv.org/abs/" + in.number()
		hit, err := k.parts.Web.Kept(ctx, "arxiv", at)
		if ctx.Err() != nil {
			return tool.Result{}, context.Cause(ctx)
		}
		if err != nil {
			return tool.Result{}, fmt.Errorf("the paper %s could not be had: %w. Check its number with %s", in.number(), withHint(err), SearchArxiv)
		}
		text := hit.Text
		if in.FullText {
			doc, err := k.parts.Web.Open(ctx, "https://arxiv.org/pdf/"+in.number(), private(c)...)
			if err != nil {
				return tool.Result{}, fmt.Errorf("the whole text could not be read: %w. Get the abstract instead", err)
			}
			text = doc.Text
		}
		return k.paper(ctx, c, at, hit, text)
	})
}

// shownPaper is how many characters of a paper are shown.
const shownPaper = 20_000

// paper keeps a paper as a source that was read.
func (k *Toolkit) paper(ctx context.Context, c *tool.Call, at string, hit search.Hit, text string) (tool.Result, error) {
	name, err := k.parts.Blobs.PutBlob(ctx, []byte(text))
	if err != nil {
		return tool.Result{}, err
	}
	n, known := c.State.Number(at, 0)
	s := tool.Source{Number: n, Title: oneLine(hit.Title), URL: at, Snippet: cut(oneLine(hit.Snippet), keptSnippet), Text: name, Letters: utf8.RuneCountInString(text)}
	if !known {
		if err := c.Scope.Emit(event.SourceFound{Number: n, Title: s.Title, URL: at, Snippet: s.Snippet}); err != nil {
			return tool.Result{}, err
		}
	}
	c.Scope.Charge(run.Spent{Pages: 1})
	if err := c.Scope.Emit(event.SourceRead{Number: n, Title: s.Title, URL: at, Hash: name, Words: lang.Words(text)}); err != nil {
		return tool.Result{}, err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", sourceLine(s))
	if about := strings.Trim(hit.Author+", "+hit.Date, ", "); about != "" {
		b.WriteString(oneLine(about) + "\n")
	}
	b.WriteString("\n" + tool.Cut(text, shownPaper) + "\n")
	data, err := json.Marshal(s)
	return tool.Result{Text: b.String(), Data: data, Change: tool.Change{Sources: []tool.Source{s}}}, err
}
