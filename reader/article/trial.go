package article

import "golang.org/x/net/html"

// Trial reads pages without some of the words by which names of elements and
// beginnings of lines are known, and with other bounds, for measuring what each of them is worth.
type Trial struct {
	Without map[string]bool
	Met     map[string]bool   // words that pages had; filled if it is not nil
	Bounds  map[Bound]float64 // instead of those in use
}

// Bound is a number that decides what an element is.
type Bound uint8

// The bounds: shares of the page's prose below which an element is not content,
// by its tag or its names; shares of the best sum with which a part of an
// element is the article; and densities of links.
const (
	NavShare Bound = iota
	AsideShare
	FigureShare
	NoiseShare
	ForeignShare
	ForeignContentShare
	HiddenShare
	InnerShare // of a named text in an element, which is content then
	PartSum
	PartKeep // of the part chosen before
	TaggedSum
	NamedSum
	OnlySum // of the one element that is named as the text
	LinkyLine
	LinkyList
	boundCount
)

var bounds = [boundCount]float64{
	NavShare: 0.5, AsideShare: 0.35, FigureShare: 0.3, NoiseShare: 0.35, ForeignShare: 0.9, ForeignContentShare: 0.5, HiddenShare: 0.4,
	InnerShare: 0.5, PartSum: 0.9, PartKeep: 0.75, TaggedSum: 0.75, NamedSum: 0.6, OnlySum: 0.35, LinkyLine: 0.8, LinkyList: 0.6,
}

// Bounds returns the bounds that are in use.
func Bounds() []float64 { return append([]float64(nil), bounds[:]...) }

func (t *tree) bound(b Bound) float64 {
	if t.trial != nil {
		if x, ok := t.trial.Bounds[b]; ok {
			return x
		}
	}
	return bounds[b]
}

// Content is [Content] as the trial has it.
func (v *Trial) Content(root *html.Node, meta *Meta) []Block { return scan(root, v).content(meta) }

// knows says whether a word is in a list.
func (v *Trial) knows(list map[string]bool, word string) bool {
	return list[word] && v.allows(word)
}

// allows says whether a word that was found in a list counts.
func (v *Trial) allows(word string) bool {
	if v == nil {
		return true
	}
	if v.Met != nil {
		v.Met[word] = true
	}
	return !v.Without[word]
}
