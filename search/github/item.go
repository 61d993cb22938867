package github

import (
	"fmt"
	"regexp"
	"strings"

	"dossier/search"
	"dossier/search/internal/text"
)

// item is a result: a repository or an issue, with null for what it does not
// have.
type item struct {
	Page  string  `json:"html_url"`
	Score float64 `json:"score"`

	// Of a repository.
	Name        string   `json:"full_name"`
	Description string   `json:"description"`
	Language    string   `json:"language"`
	Topics      []string `json:"topics"`
	Stars       int      `json:"stargazers_count"`
	Pushed      string   `json:"pushed_at"`
	Owner       user     `json:"owner"`

	// Of an issue or a pull request.
	Title    string `json:"title"`
	Body     string `json:"body"`
	User     user   `json:"user"`
	Created  string `json:"created_at"`
	Comments int    `json:"comments"`
}

type user struct {
	Login string `json:"login"`
}

func (i item) repository() search.Hit {
	var about []string
	if i.Description != "" {
		about = append(about, search.Line(i.Description))
	}
	if i.Language != "" {
		about = append(about, "Language: "+i.Language)
	}
	if len(i.Topics) > 0 {
		about = append(about, "Topics: "+strings.Join(i.Topics, ", "))
	}
	about = append(about, fmt.Sprintf("Stars: %d", i.Stars))
	return search.Hit{
		Title:   i.Name,
		Snippet: text.Lead(i.Description),
		Text:    strings.Join(about, "\n"),
		Author:  i.Owner.Login,
		Date:    search.Day(i.Pushed),
	}
}

func (i item) issue() search.Hit {
	body := written(i.Body)
	return search.Hit{
		Title:   search.Line(i.Title),
		Snippet: text.Lead(body),
		Text:    text.Cut(body, text.Body),
		Author:  i.User.Login,
		Date:    search.Day(i.Created),
	}
}

// comment is what templates of issues tell those who fill them in.
var comment = regexp.MustCompile(`(?s)<!--.*?-->`)

// written returns Markdown without what is not shown of it.
func written(markdown string) string {
	return strings.TrimSpace(strings.ReplaceAll(comment.ReplaceAllString(markdown, ""), "\r\n", "\n"))
}
