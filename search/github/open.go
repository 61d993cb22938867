package github

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"dossier/search"
	"dossier/search/internal/text"
)

var (
	repoPath  = regexp.MustCompile(`^/(\w[\w.-]*)/([\w-][\w.-]*?|\.[\w-][\w.-]*?)(?:\.git)?/?$`)
	issuePath = regexp.MustCompile(`^/(\w[\w.-]*)/([\w-][\w.-]*|\.[\w-][\w.-]*)/(?:issues|pull)/(\d{1,12})/?$`)
)

// Open implements search.Opener: the README of a repository, or an issue or pull
// request with its first hundred comments.
func (e *Engine) Open(ctx context.Context, page string) (search.Hit, error) {
	u, err := url.Parse(page)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || strings.TrimPrefix(strings.ToLower(u.Hostname()), "www.") != e.conf.Site {
		return search.Hit{}, search.ErrNotMine
	}
	var hit search.Hit
	if m := issuePath.FindStringSubmatch(u.Path); m != nil {
		hit, err = e.openIssue(ctx, m[1]+"/"+m[2], m[3])
	} else if m := repoPath.FindStringSubmatch(u.Path); m != nil {
		hit, err = e.openReadme(ctx, m[1]+"/"+m[2])
	} else {
		return search.Hit{}, search.ErrNotMine
	}
	if fault, ok := asError(err); ok && fault.Status == http.StatusNotFound {
		return search.Hit{}, fmt.Errorf("github shows nothing there: %w", search.ErrNotMine)
	}
	hit.URL, hit.Engine = page, e.kind.name
	return hit, err
}

func (e *Engine) openReadme(ctx context.Context, repo string) (search.Hit, error) {
	body, err := e.get(ctx, "/repos/"+repo+"/readme", "application/vnd.github.raw+json")
	if err != nil {
		return search.Hit{}, err
	}
	readme := written(strings.ToValidUTF8(string(body), "\uFFFD"))
	return search.Hit{
		Title:   repo,
		Snippet: text.Lead(readme),
		Text:    text.Cut(readme, text.Page),
		Author:  repo[:strings.IndexByte(repo, '/')],
	}, nil
}

func (e *Engine) openIssue(ctx context.Context, repo, number string) (search.Hit, error) {
	var i item
	path := "/repos/" + repo + "/issues/" + number
	if err := e.read(ctx, path, &i); err != nil {
		return search.Hit{}, err
	}
	if i.Page == "" {
		return search.Hit{}, search.Missing(e.kind.name, "html_url")
	}
	var answers []item
	if i.Comments > 0 {
		if err := e.read(ctx, path+"/comments?per_page=100", &answers); err != nil {
			return search.Hit{}, err
		}
	}
	hit := i.issue()
	said := []string{written(i.Body)}
	for _, a := range answers {
		said = append(said, cmp.Or(a.User.Login, "somebody")+": "+written(a.Body))
	}
	hit.Text = text.Cut(strings.TrimSpace(strings.Join(said, "\n\n")), text.Page)
	return hit, nil
}

func (e *Engine) read(ctx context.Context, path string, v any) error {
	body, err := e.get(ctx, path, "application/vnd.github+json")
	if err != nil {
		return err
	}
	return search.Decode(e.kind.name, body, v)
}

func asError(err error) (*search.Error, bool) { return errors.AsType[*search.Error](err) }
