package kb

import (
	"dossier/index"
	"dossier/lang"
	"dossier/lang/terms"
)

// beside is what translations count where there are also documents in the
// question's own language: of two that say the same, that one comes first.
const beside = 0.7

// Translate returns what the words of a question are in the other languages
// that an index holds, for its search to look for them too. Nothing is looked
// up if it only holds the question's own.
func Translate(d *terms.Dictionary, x *index.Index, question string) []index.Group {
	if d == nil {
		return nil
	}
	from := lang.Detect(question)
	share := 1.0
	if x.Holds(from) {
		share = beside
	}
	var out []index.Group
	for _, to := range []lang.Code{lang.English, lang.Russian, lang.Chinese} {
		if !terms.Pair(from, to) || !x.Holds(to) {
			continue
		}
		for _, g := range d.Translate(question, from, to) {
			w := index.Group{Start: g.Start, End: g.End}
			for _, t := range g.Translations {
				w.Alternatives = append(w.Alternatives, index.Alternative{Text: t.Text, Weight: share * t.Weight})
			}
			out = append(out, w)
		}
	}
	return out
}
