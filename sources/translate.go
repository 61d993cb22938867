package sources

import (
	"context"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"dossier/extract"
	"dossier/index"
	"dossier/lang"
	"dossier/lang/terms"
	"dossier/run"
)

// Without a model that would write queries in another language, a question in
// Russian or Chinese goes out to the engines of the web in English too, word by
// word, since most of the web is in it.

// Bilingual is a corpus whose documents are in other languages than the
// question's as well.
type Bilingual interface {
	// Terms says what words are in another language; nil if questions are asked
	// as they are.
	Terms() *terms.Dictionary
}

// Terms implements Bilingual.
func (c *webCorpus) Terms() *terms.Dictionary { return c.Web.Terms }

// Terms implements Bilingual.
func (j joined) Terms() *terms.Dictionary {
	for _, c := range j {
		if b, ok := c.(Bilingual); ok && b.Terms() != nil {
			return b.Terms()
		}
	}
	return nil
}

// translate makes the one query in English of a question that is not, as a step:
// dictionaries may be others when the run goes on.
func (g *gathering) translate(ctx context.Context, question string) error {
	both, ok := g.Corpus.(Bilingual)
	if !ok || both.Terms() == nil {
		return nil
	}
	if from := lang.DetectAmong(question, lang.English, lang.Russian, lang.Chinese); from == lang.English {
		return nil
	}
	said, err := run.Step(ctx, g.scope, "translate", func(context.Context, *run.Scope) (string, error) {
		return inEnglish(both.Terms(), question), nil
	})
	g.translated = said
	return err
}

// inEnglish says in English what a question is about: the likeliest translations
// of its content words, with names and numbers as they are. It is empty where
// less than half of the words are known.
func inEnglish(d *terms.Dictionary, question string) string {
	text := cut(question, longestQuery)
	from := lang.DetectAmong(text, lang.Russian, lang.Chinese)
	if asked := extract.Queries(text); from == lang.Chinese && len(asked) > 1 {
		text = asked[1] // without words that only ask
	}
	var grammar []index.Token
	for _, t := range index.Tokens(text, from) {
		if t.Function && !t.Pair {
			grammar = append(grammar, t)
		}
	}
	asks := func(start, end int) bool {
		return slices.ContainsFunc(grammar, func(t index.Token) bool { return t.Start <= start && end <= t.End })
	}
	var out []string
	known, unknown := 0, 0
	between := func(start, end int) {
		for _, word := range strings.FieldsFunc(text[start:end], func(r rune) bool { return !partOfName(r) }) {
			word = strings.Trim(word, "-.'/")
			at := start + strings.Index(text[start:end], word)
			switch {
			case word == "" || asks(at, at+len(word)):
			case strings.ContainsFunc(word, func(r rune) bool { return unicode.In(r, unicode.Cyrillic, unicode.Han) }):
				unknown++
			default:
				out = append(out, word)
			}
		}
	}
	at := 0
	for _, g := range d.Translate(text, from, lang.English) {
		between(at, g.Start)
		switch at = g.End; {
		case asks(g.Start, g.End):
			continue
		case from == lang.Chinese && utf8.RuneCountInString(g.Term) == 1:
			unknown++ // a part of a name, for the most
			continue
		}
		known++
		for i, t := range first(g.Translations, 2) {
			if i == 0 || t.Weight >= asLikely*g.Translations[0].Weight {
				out = append(out, t.Text)
			}
		}
	}
	between(at, len(text))
	if known == 0 || unknown > known {
		return ""
	}
	return cut(strings.Join(distinct(out), " "), longestQuery)
}

// asLikely is the part of the weight of the likeliest translation from which
// another one is asked for beside it.
const asLikely = 0.6

// partOfName reports characters that names, numbers and identifiers consist of.
func partOfName(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("-_.'$@*+#/", r)
}

// translatedAt are the places that the best of what only the query in English
// found has among the rest.
var translatedAt = [...]int{2, 5}

// inEnglishOnly names what is in English and only the query in it found for a
// facet, the best first.
func (g *gathering) inEnglishOnly(facet int) []string {
	if g.translated == "" {
		return nil
	}
	own := make(map[string]bool)
	var out []string
	for i, query := range g.searches[facet] {
		for _, h := range g.found[facet][i].Hits {
			if query != g.translated {
				own[h.ID] = true
			} else if lang.Detect(g.leads[h.ID].Text) == lang.English {
				out = append(out, h.ID)
			}
		}
	}
	return slices.DeleteFunc(out, func(id string) bool { return own[id] })
}

// withTranslated puts the best of what the query in English found into an order
// of leads that are ranked by the words of the question.
func (g *gathering) withTranslated(facet int, order []string) []string {
	for i, id := range first(g.inEnglishOnly(facet), len(translatedAt)) {
		order = slices.Insert(order, min(translatedAt[i], len(order)), id)
	}
	return order
}

// weighing are the weights by which the passages of a facet are read: with the
// words of the question in English, where something in it was found.
func (g *gathering) weighing(w Weights, facet int) Weights {
	if both, ok := g.Corpus.(Bilingual); ok && w == nil && len(g.inEnglishOnly(facet)) > 0 {
		return bilingual{both.Terms()}
	}
	return w
}

// bilingual weighs words as if nothing were known of them, and knows what they
// are in English.
type bilingual struct{ terms *terms.Dictionary }

// unknownWeight is how telling a word is of which nothing is known.
const unknownWeight = 0.4

func (bilingual) Weight(string) float64 { return unknownWeight }

// beside is what a translation counts beside the word itself.
const beside = 0.7

// Rephrase implements extract.Rephraser.
func (b bilingual) Rephrase(text string) ([]index.Group, error) {
	if b.terms == nil {
		return nil, nil
	}
	var out []index.Group
	for _, g := range b.terms.Translate(text, lang.DetectAmong(text, lang.Russian, lang.Chinese), lang.English) {
		words := index.Group{Start: g.Start, End: g.End}
		for _, t := range g.Translations {
			words.Alternatives = append(words.Alternatives, index.Alternative{Text: t.Text, Weight: beside * t.Weight})
		}
		out = append(out, words)
	}
	return out, nil
}
