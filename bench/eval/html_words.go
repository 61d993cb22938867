package main

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/publicsuffix"

	"dossier/reader/article"
)

// tried is a page that can be read without some of the words that article
// extraction knows.
type tried struct {
	site string
	want []string
	doc  *html.Node
	meta article.Meta
}

func newTried(p *htmlPage, want string) (*tried, error) {
	doc, err := html.Parse(strings.NewReader(p.HTML))
	if err != nil {
		return nil, err
	}
	t := &tried{site: p.ID + p.File, want: words(want, false), doc: doc, meta: article.ReadMeta(doc, p.URL)}
	if u, err := url.Parse(p.URL); err == nil {
		if site, err := publicsuffix.EffectiveTLDPlusOne(u.Hostname()); err == nil {
			t.site = site
		}
	}
	return t, nil
}

func (t *tried) text(v *article.Trial) string {
	var b strings.Builder
	for _, block := range v.Content(t.doc, &t.meta) {
		b.WriteString(block.Text + "\n")
	}
	return b.String()
}

func (t *tried) f1(text string) float64 {
	var o overlap
	return o.add(t.want, words(text, false))
}

// otherPages are those of the other sets whose whole text is known.
func (e *Env) otherPages() ([]*tried, error) {
	type page struct {
		htmlPage
		Readability string `json:"expected_html"`
		Newspaper   string `json:"text"`
		Fundus      struct {
			Body fundusBody `json:"body"`
		} `json:"expected"`
	}
	var out []*tried
	for _, set := range []string{"html_fundus_multi", "html_newspaper4k_multi", "html_readability_multi"} {
		other := &Env{Set: set, dirs: e.dirs, stdout: e.stdout}
		pages, err := readLines[page](other, "pages.jsonl.gz")
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		for i := range pages {
			p := &pages[i]
			want, err := visibleText(p.Readability)
			if err != nil {
				return nil, err
			}
			want += p.Newspaper + p.Fundus.Body.text()
			if p.HTML == "" || strings.TrimSpace(want) == "" {
				continue
			}
			t, err := newTried(&p.htmlPage, want)
			if err != nil {
				return nil, err
			}
			out = append(out, t)
		}
	}
	return out, nil
}

// steps are how far a bound is moved to see whether another is better.
var steps = []float64{-0.2, -0.1, 0.1, 0.2}

// move is another value of a bound.
type move struct {
	bound article.Bound
	to    float64
}

// lessons are what pages teach: by site, the F1 that each word and each other
// value of a bound is worth there.
type lessons struct {
	met   map[string]map[string]bool // sites that have a word
	words map[string]map[string]float64
	moves map[move]map[string]float64
}

// learn reads pages without each of the words that they have, and with other
// bounds.
func learn(ctx context.Context, pages []*tried) (*lessons, error) {
	l := &lessons{map[string]map[string]bool{}, map[string]map[string]float64{}, map[move]map[string]float64{}}
	for b, x := range article.Bounds() {
		for _, step := range steps {
			if to := x + step; to > 0 && to <= 1 {
				l.moves[move{article.Bound(b), to}] = map[string]float64{}
			}
		}
	}
	for _, p := range pages {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		v := &article.Trial{Met: map[string]bool{}}
		whole := p.text(v)
		base := p.f1(whole)
		for word := range v.Met {
			if l.met[word] == nil {
				l.met[word], l.words[word] = map[string]bool{}, map[string]float64{}
			}
			l.met[word][p.site] = true
			if text := p.text(&article.Trial{Without: map[string]bool{word: true}}); text != whole {
				l.words[word][p.site] += base - p.f1(text)
			}
		}
		for m, gain := range l.moves {
			if text := p.text(&article.Trial{Bounds: map[article.Bound]float64{m.bound: m.to}}); text != whole {
				gain[p.site] += p.f1(text) - base
			}
		}
	}
	return l, nil
}

// elsewhere sums up over the sites but one.
func elsewhere(bySite map[string]float64, but string) float64 {
	sum := 0.0
	for _, site := range slices.Sorted(maps.Keys(bySite)) { // in order: floats don't add up the same in any
		if site != but {
			sum += bySite[site]
		}
	}
	return sum
}

// without is a trial with what other sites than one teach: their best bounds,
// and without the words that none of them has or that do harm there. If strict,
// a word counts only that does good on another site by itself.
func (l *lessons) without(site string, strict bool) *article.Trial {
	v := &article.Trial{Without: map[string]bool{}, Bounds: map[article.Bound]float64{}}
	for word, sites := range l.words {
		gain := elsewhere(sites, site)
		if len(l.met[word]) == 1 && l.met[word][site] || gain < 0 || strict && gain == 0 {
			v.Without[word] = true
		}
	}
	best := map[article.Bound]float64{}
	for m, sites := range l.moves {
		gain := elsewhere(sites, site)
		if least := best[m.bound]; gain > least || gain == least && gain > 0 && m.to < v.Bounds[m.bound] {
			best[m.bound], v.Bounds[m.bound] = gain, m.to
		}
	}
	return v
}

// siteFolds reports the F1 of pages that are read with what other sites teach,
// those of the other pages among them. Of one site there is nothing to say.
func (e *Env) siteFolds(ctx context.Context, pages, others []*tried) error {
	sites := map[string]bool{}
	for _, p := range pages {
		sites[p.site] = true
	}
	if len(sites) < 2 {
		return nil
	}
	l, err := learn(ctx, slices.Concat(pages, others))
	if err != nil {
		return err
	}
	var cv, strict overlap
	for _, p := range pages {
		cv.add(p.want, words(p.text(l.without(p.site, false)), false))
		strict.add(p.want, words(p.text(l.without(p.site, true)), false))
	}
	f1, _, _ := cv.means()
	e.Score("f1.cv", f1, cv.pages)
	f1, _, _ = strict.means()
	e.Score("f1.cv-strict", f1, strict.pages)
	e.Count("folds", len(sites), cv.pages)
	return nil
}
