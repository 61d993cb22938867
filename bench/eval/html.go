package main

import (
	"context"
	"errors"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/text/unicode/norm"

	"dossier/reader"
)

// htmlPage is a page of any of the sets of HTML.
type htmlPage struct {
	ID   string `json:"id"`
	File string `json:"file"`
	URL  string `json:"url"`
	HTML string `json:"html"`
	B64  []byte `json:"html_b64"` // instead of HTML, if that is not UTF-8
}

func (p *htmlPage) document() reader.Document {
	body := p.B64
	if p.HTML != "" {
		body = []byte(p.HTML)
	}
	return reader.Document{URL: p.URL, Body: body, ContentType: "text/html"}
}

// htmlAnswer is what Record gets for a page.
type htmlAnswer struct {
	ID    string  `json:"id"`
	F1    float64 `json:"f1"`
	Title string  `json:"title"`
	Date  string  `json:"date"`
	Text  string  `json:"text"`
}

// readAll reads the pages as a run does, in child processes, and gives each
// to fn. A page that gives no text counts as an empty one.
func readAll[T any](ctx context.Context, env *Env, page func(*T) *htmlPage, fn func(*T, *reader.Page) (float64, error)) error {
	cases, err := readLines[T](env, "pages.jsonl.gz")
	if err != nil {
		return err
	}
	r := reader.New(reader.Config{Workers: 1})
	defer r.Close()
	for i := range cases {
		p := page(&cases[i])
		got, err := r.Read(ctx, p.document())
		var about *reader.Error
		if err != nil && !errors.As(err, &about) {
			return err
		}
		if got == nil {
			got = &reader.Page{}
		}
		f1, err := fn(&cases[i], got)
		if err != nil {
			return err
		}
		if err := env.Record(htmlAnswer{p.ID + p.File, f1, got.Title, got.Date, got.Text}); err != nil {
			return err
		}
	}
	return nil
}

// runAEB measures main content by the article extraction benchmark's own
// definition: shingles of four words, mean precision and mean recall over the
// pages, and their F1.
func runAEB(ctx context.Context, env *Env) error {
	type aebCase struct {
		htmlPage
		Body string `json:"articleBody"`
	}
	var o overlap
	var pages []*tried
	err := readAll(ctx, env, func(c *aebCase) *htmlPage { return &c.htmlPage }, func(c *aebCase, p *reader.Page) (float64, error) {
		t, err := newTried(&c.htmlPage, c.Body)
		if err != nil {
			return 0, err
		}
		pages = append(pages, t)
		return o.add(words(c.Body, false), words(p.Text, false)), nil
	})
	if err != nil {
		return err
	}
	f1, precision, recall := o.means()
	env.Score("f1", f1, o.pages)
	env.Score("precision", precision, o.pages)
	env.Score("recall", recall, o.pages)
	others, err := env.otherPages()
	if err != nil {
		return err
	}
	return env.siteFolds(ctx, pages, others)
}

// metaCount counts right titles and dates.
type metaCount struct{ title, titles, date, dates int }

func (m *metaCount) add(title, date string, p *reader.Page) {
	if title != "" {
		m.titles++
		if sameTitle(title, p.Title) {
			m.title++
		}
	}
	if len(date) >= 10 {
		m.dates++
		if date[:10] == p.Date {
			m.date++
		}
	}
}

// sameTitle compares without case, white space and kinds of quotes.
func sameTitle(a, b string) bool {
	plain := func(s string) string {
		s = strings.NewReplacer("“", `"`, "”", `"`, "’", "'", "‘", "'").Replace(norm.NFKC.String(strings.ToLower(s)))
		return strings.Join(strings.Fields(s), " ")
	}
	return plain(a) == plain(b)
}

func (m *metaCount) report(env *Env) {
	if m.titles > 0 {
		env.Ratio("title", m.title, m.titles)
	}
	if m.dates > 0 {
		env.Ratio("date", m.date, m.dates)
	}
}

// textF1 is the mean F1 of the pages over shingles, with ideographs as words.
func textF1(o *overlap, want string, p *reader.Page) float64 {
	return o.add(words(want, true), words(p.Text, true))
}

func reportText(env *Env, o *overlap, m *metaCount) {
	f1 := 0.0
	if o.pages > 0 {
		f1 = o.f1 / float64(o.pages)
	}
	env.Score("text-f1", f1, o.pages)
	m.report(env)
}

// runReadability compares with the text that Readability itself takes out.
func runReadability(ctx context.Context, env *Env) error {
	type readabilityCase struct {
		htmlPage
		Expected string `json:"expected_html"`
		Meta     struct {
			Title string `json:"title"`
			Date  string `json:"publishedTime"`
		} `json:"metadata"`
	}
	var o overlap
	var m metaCount
	err := readAll(ctx, env, func(c *readabilityCase) *htmlPage { return &c.htmlPage }, func(c *readabilityCase, p *reader.Page) (float64, error) {
		want, err := visibleText(c.Expected)
		if err != nil {
			return 0, err
		}
		m.add(c.Meta.Title, c.Meta.Date, p)
		return textF1(&o, want, p), nil
	})
	if err != nil {
		return err
	}
	reportText(env, &o, &m)
	return nil
}

// visibleText is all text of a piece of HTML.
func visibleText(source string) (string, error) {
	doc, err := html.Parse(strings.NewReader(source))
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for n := range doc.Descendants() {
		if n.Type == html.TextNode {
			b.WriteString(n.Data + " ")
		}
	}
	return b.String(), nil
}

func runNewspaper(ctx context.Context, env *Env) error {
	type newspaperCase struct {
		htmlPage
		Text string `json:"text"`
		Meta *struct {
			Title string `json:"title"`
			Date  string `json:"publish_date"`
		} `json:"metadata"`
	}
	var o overlap
	var m metaCount
	err := readAll(ctx, env, func(c *newspaperCase) *htmlPage { return &c.htmlPage }, func(c *newspaperCase, p *reader.Page) (float64, error) {
		if c.Meta != nil {
			m.add(c.Meta.Title, c.Meta.Date, p)
		}
		return textF1(&o, c.Text, p), nil
	})
	if err != nil {
		return err
	}
	reportText(env, &o, &m)
	return nil
}

// fundusBody is the text of a page in parts.
type fundusBody struct {
	Summary  []string `json:"summary"`
	Sections []struct {
		Headline   []string `json:"headline"`
		Paragraphs []string `json:"paragraphs"`
	} `json:"sections"`
}

func (b *fundusBody) text() string {
	var out strings.Builder
	out.WriteString(strings.Join(b.Summary, "\n"))
	for _, s := range b.Sections {
		out.WriteString("\n" + strings.Join(s.Headline, "\n") + "\n" + strings.Join(s.Paragraphs, "\n"))
	}
	return out.String()
}

// runFundus compares with the parts that a parser made for each site found. A
// few pages come with the parts of another article of their site; they are
// counted like the others.
func runFundus(ctx context.Context, env *Env) error {
	type fundusCase struct {
		htmlPage
		Expected struct {
			Title string     `json:"title"`
			Date  string     `json:"publishing_date"`
			Body  fundusBody `json:"body"`
		} `json:"expected"`
	}
	var o overlap
	var m metaCount
	err := readAll(ctx, env, func(c *fundusCase) *htmlPage { return &c.htmlPage }, func(c *fundusCase, p *reader.Page) (float64, error) {
		m.add(c.Expected.Title, c.Expected.Date, p)
		return textF1(&o, c.Expected.Body.text(), p), nil
	})
	if err != nil {
		return err
	}
	reportText(env, &o, &m)
	return nil
}

// runTrafilatura looks for segments that must be in the text and such that
// must not: precision is over the segments found, recall over those wanted.
func runTrafilatura(ctx context.Context, env *Env) error {
	type segmentCase struct {
		htmlPage
		With    []string `json:"with"`
		Without []string `json:"without"`
		Date    string   `json:"date"`
	}
	var m metaCount
	found, wanted, wrong, pages := 0, 0, 0, 0
	plain := func(s string) string { return strings.Join(strings.Fields(norm.NFC.String(s)), " ") }
	err := readAll(ctx, env, func(c *segmentCase) *htmlPage { return &c.htmlPage }, func(c *segmentCase, p *reader.Page) (float64, error) {
		text := plain(p.Text)
		right := 0
		for _, s := range c.With {
			if strings.Contains(text, plain(s)) {
				right++
			}
		}
		for _, s := range c.Without {
			if strings.Contains(text, plain(s)) {
				wrong++
			}
		}
		found += right
		wanted += len(c.With)
		pages++
		m.add("", c.Date, p)
		return float64(right) / float64(max(1, len(c.With))), nil
	})
	if err != nil {
		return err
	}
	f1 := 0.0
	if found > 0 {
		f1 = 2 * float64(found) / float64(found+wrong+wanted)
	}
	env.Score("text-f1", f1, pages)
	m.report(env)
	return nil
}
