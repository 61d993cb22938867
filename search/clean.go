package search

import (
	"context"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"dossier/lang"
)

// The longest texts of a hit: runes, and bytes of Text.
const (
	mostTitle   = 300
	mostSnippet = 2000
	mostText    = 200_000
	mostName    = 200 // of an author, a site, an engine
)

// Clean makes hits fit to be shown, read and given to a model. URLs get their
// normal form; hits whose URL is broken, not http or https, has a user name in
// it, or is one that allowed refuses (nil allows all) are dropped. Texts are
// valid UTF-8 of a bounded length, without control characters and the invisible
// ones that change how a text reads. Hits of one page become one, and of several
// hits with nearly the same title and snippet the best ranked stays. Every drop
// is in the trace.
func Clean(s Searcher, allowed func(url string) error) Searcher {
	if allowed == nil {
		allowed = func(string) error { return nil }
	}
	return cleaned{s, allowed}
}

type cleaned struct {
	Searcher

	allowed func(url string) error
}

func (c cleaned) Search(ctx context.Context, q Query) ([]Hit, error) {
	hits, err := c.Searcher.Search(ctx, q)
	if err != nil {
		return nil, err
	}
	trace := TraceOf(ctx)
	var found pages
	for _, h := range hits {
		given := h.URL
		drop := func(why DropReason, detail string) {
			trace.Dropped(Drop{URL: shownURL(given), Engine: oneLine(h.Engine, mostName), Why: why, Detail: detail})
		}
		if h.URL, err = NormalURL(given); err != nil {
			drop(BrokenURL, err.Error())
			continue
		}
		if err := c.allowed(h.URL); err != nil {
			drop(RefusedURL, oneLine(err.Error(), mostDetail))
			continue
		}
		if at, fresh := found.add(tidied(h)); !fresh {
			drop(SameURL, shownURL(found.hits[at].URL))
		}
	}
	return distinct(trace, found.hits), nil
}

// tidied is a hit with texts that can be shown.
func tidied(h Hit) Hit {
	h.Title = oneLine(h.Title, mostTitle)
	h.Snippet = oneLine(h.Snippet, mostSnippet)
	h.Text = longText(h.Text)
	h.Author = oneLine(h.Author, mostName)
	h.Site = oneLine(h.Site, mostName)
	h.Engine = oneLine(h.Engine, mostName)
	if _, _, ok := span(h.Date); !ok {
		h.Date = ""
	}
	h.Lang = languageOf(h.Lang)
	if math.IsNaN(h.Score) || math.IsInf(h.Score, 0) {
		h.Score = 0
	}
	return h
}

// languageOf is the language in a tag such as zh-Hans; nothing if it is none.
func languageOf(tag lang.Code) lang.Code {
	code, _, _ := strings.Cut(strings.ReplaceAll(strings.ToLower(string(tag)), "_", "-"), "-")
	if len(code) < 2 || len(code) > 3 || strings.ContainsFunc(code, func(r rune) bool { return r < 'a' || r > 'z' }) {
		return ""
	}
	if lang.Code(code) == lang.Unknown {
		return ""
	}
	return lang.Code(code)
}

// oneLine is a text in a line of at most so many runes.
func oneLine(text string, most int) string {
	text = strings.Join(strings.Fields(visible(head(text, 8*most))), " ") // of which hardly ever all is seen
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return strings.TrimRight(string([]rune(text)[:most-1]), " ") + "…"
}

// longText is a text with its lines, of at most mostText bytes.
func longText(text string) string {
	text = strings.TrimSpace(visible(head(text, 2*mostText)))
	return strings.TrimSpace(head(text, mostText))
}

// head is the beginning of a text, of at most so many bytes.
func head(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}

// visible is a text without the characters that leave no mark or change how
// others read: control characters, overrides of direction, tags and other
// carriers of hidden text. Line ends and tabs stay; so do the joiners that
// scripts and emoji need.
func visible(text string) string {
	clean := utf8.ValidString(text)
	for _, r := range text {
		if hides(r) || r == '\r' {
			clean = false
			break
		}
	}
	if clean {
		return text
	}
	text = strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\r\n", "\n")
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\r' || r == '\v' || r == '\f' || r == 0x85:
			return '\n'
		case hides(r):
			return -1
		}
		return r
	}, text)
}

func hides(r rune) bool {
	switch {
	case r == '\n' || r == '\t' || r == 0x200c || r == 0x200d || 0xfe00 <= r && r <= 0xfe0f:
		return false
	case r < unicode.MaxLatin1:
		return r < ' ' || 0x7f <= r && r <= 0x9f || r == 0xad
	case 0xe0000 <= r && r <= 0xe0fff, 0xfff9 <= r && r <= 0xfffb, r&0xfffe == 0xfffe, 0x2065 <= r && r <= 0x206f:
		return true
	}
	return lang.Invisible(r)
}

const (
	// sameShare is the share of common shingles from which on two hits say the
	// same, and sameMin how many of them that takes. Snippets are short, and
	// pages made from one pattern differ in a name or two: a copy too many costs
	// less than a page that is missing.
	sameShare = 0.85
	sameMin   = 12
	// equalMin is how many shingles two equal texts need.
	equalMin = 6
)

// distinct drops hits that say what a better one says.
func distinct(trace *Trace, hits []Hit) []Hit {
	var kept []Hit
	var known []gist
	for _, h := range hits {
		s := gistOf(h)
		if i := slices.IndexFunc(known, s.same); i >= 0 {
			trace.Dropped(Drop{URL: shownURL(h.URL), Engine: h.Engine, Why: SameText, Detail: shownURL(kept[i].URL)})
			continue
		}
		kept, known = append(kept, h), append(known, s)
	}
	return kept
}

// gist is what a hit says, to be compared.
type gist struct {
	sketch  lang.Sketch
	numbers []string // of the title
}

// gistOf looks at hits that say more than a title: pages of one title are many.
func gistOf(h Hit) gist {
	body := h.Snippet
	if body == "" {
		body = oneLine(h.Text, mostSnippet)
	}
	if body == "" {
		return gist{}
	}
	numbers := strings.FieldsFunc(h.Title, func(r rune) bool { return !unicode.IsDigit(r) })
	slices.Sort(numbers)
	return gist{lang.SketchOf(h.Title + "\n" + body), slices.Compact(numbers)}
}

func (s gist) same(o gist) bool {
	share, sample := s.sketch.Share(o.sketch)
	switch {
	case sample >= sameMin && share >= sameShare:
	case sample >= equalMin && sample < sameMin && s.sketch.Copies(o.sketch):
	default:
		return false
	}
	// Part 1 and part 2, this year and the last are not the same.
	return len(s.numbers) == 0 || len(o.numbers) == 0 || slices.Equal(s.numbers, o.numbers)
}
