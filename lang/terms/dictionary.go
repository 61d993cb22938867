package terms

import (
	_ "embed"
	"math"
	"sync"

	"dossier/lang"
	"dossier/lang/terms/internal/table"
)

//go:embed russian.terms
var russianTerms []byte

//go:embed chinese.terms
var chineseTerms []byte

// Translation is a term of the other language. Its weight is in (0, 1]: how
// sure it is that this is what is meant.
type Translation struct {
	Text   string
	Weight float64
}

// Group is a part of a text with its translations, the best first.
type Group struct {
	Start, End   int    // bytes of the text
	Term         string // as the text has it
	Translations []Translation
}

// Dictionary is the tables that terms are looked up in. It is safe for
// concurrent use.
type Dictionary struct {
	russian, chinese func() *lexicon
	pool             sync.Pool // of *table.Keyer
}

// lexicon is what is known of one language beside English: the tables that a
// user added and, last, the program's own; and others that are asked for what
// these don't know. A large dictionary beside another adds more noise than
// meaning: Mueller's costs two points of nDCG if its words always join.
type lexicon struct {
	code   lang.Code
	tables []*table.Table
	others []*table.Table
}

// own is the table that comes with the program.
func (l *lexicon) own() *table.Table { return l.tables[len(l.tables)-1] }

// Default returns the dictionary of the tables that come with the program.
func Default() *Dictionary { return builtIn() }

var builtIn = sync.OnceValue(func() *Dictionary { return New(nil) })

// The tables are unpacked once, whatever dictionaries use them.
var (
	builtInRussian = sync.OnceValue(func() *table.Table { return mustOpen(russianTerms) })
	builtInChinese = sync.OnceValue(func() *table.Table { return mustOpen(chineseTerms) })
)

func mustOpen(file []byte) *table.Table {
	t, err := table.Open(file)
	if err != nil {
		panic("the program's own table: " + err.Error()) // a test opens them
	}
	return t
}

// New makes a dictionary of the tables that come with the program and those
// that more returns for a language; it is called once for each, when the
// language is first needed, and may be nil.
func New(more func(lang.Code) []*Table) *Dictionary {
	d := &Dictionary{}
	of := func(code lang.Code, own func() *table.Table) func() *lexicon {
		return sync.OnceValue(func() *lexicon {
			l := &lexicon{code: code}
			if more != nil {
				for _, t := range more(code) {
					switch {
					case t.t.Lang != code:
					case t.last:
						l.others = append(l.others, t.t)
					default:
						l.tables = append(l.tables, t.t)
					}
				}
			}
			l.tables = append(l.tables, own())
			return l
		})
	}
	d.russian, d.chinese = of(lang.Russian, builtInRussian), of(lang.Chinese, builtInChinese)
	d.pool.New = func() any { return new(table.Keyer) }
	return d
}

// Table is a dictionary of a [Shelf].
type Table struct {
	t    *table.Table
	last bool // asked only for what the others don't know
}

// Pair reports whether there are tables from one language to the other.
func Pair(from, to lang.Code) bool {
	known := func(c lang.Code) bool { return c == lang.English || c == lang.Russian || c == lang.Chinese }
	return from != to && known(from) && known(to)
}

// lexicon returns what is known of Russian or Chinese.
func (d *Dictionary) lexicon(code lang.Code) *lexicon {
	if code == lang.Chinese {
		return d.chinese()
	}
	return d.russian()
}

// maxTranslations is how many translations a term has for the most.
const maxTranslations = 10

// Lookup returns the translations of one word or phrase, the best first, and
// none if the languages are not a pair or no table has it. Names that no table
// has are not looked for: see Translate.
func (d *Dictionary) Lookup(term string, from, to lang.Code) []Translation {
	if !Pair(from, to) {
		return nil
	}
	k := d.pool.Get().(*table.Keyer)
	defer d.pool.Put(k)
	return d.lookup(k, term, from, to)
}

func (d *Dictionary) lookup(k *table.Keyer, term string, from, to lang.Code) []Translation {
	var out translations
	if from != lang.English && to != lang.English {
		english := d.lookup(k, term, from, lang.English)
		for _, e := range english[:min(byWay, len(english))] {
			other := d.lookup(k, e.Text, lang.English, to)
			for _, o := range other[:min(byWay, len(other))] {
				out.add(o.Text, e.Weight*o.Weight)
			}
		}
		return out.best()
	}
	l, look := d.lexicon(from), (*lexicon).toEnglish
	if from == lang.English {
		l, look = d.lexicon(to), (*lexicon).fromEnglish
	}
	look(l, k, l.tables, term, &out)
	if len(out.list) == 0 {
		look(l, k, l.others, term, &out)
	}
	return out.best()
}

// byWay is how many translations go from one language to another by way of
// English, at each of the two steps.
const byWay = 4

// otherTerm lowers the weight of what a term means that only has the same stem.
const otherTerm = 0.6

// toEnglish adds what a term means by some of the tables.
func (l *lexicon) toEnglish(k *table.Keyer, tables []*table.Table, term string, out *translations) {
	if l.code == lang.Chinese {
		for _, t := range tables {
			found := t.FromOther(k, term)
			if len(found) == 0 {
				found = t.FromOther(k, l.own().Simplified(term))
			}
			for _, f := range found {
				out.addAll(f.Meanings, 1)
			}
		}
		return
	}
	folded := table.Fold(term)
	key := k.Key(term, l.code)
	if key == "" {
		return
	}
	for _, t := range tables {
		found := t.FromOther(k, key)
		exact, most := false, 0
		for _, f := range found {
			exact, most = exact || f.Term == folded, max(most, f.Common)
		}
		for _, f := range found {
			share := math.Sqrt(float64(1+f.Common) / float64(1+most)) // of words that look alike, the common one
			if exact {
				share = otherTerm
				if f.Term == folded {
					share = 1
				}
			}
			out.addAll(f.Meanings, share)
		}
	}
}

// fromEnglish adds what an English term is called by some of the tables.
func (l *lexicon) fromEnglish(k *table.Keyer, tables []*table.Table, term string, out *translations) {
	folded := table.Fold(term)
	key := k.Key(term, lang.English)
	if key == "" {
		return
	}
	for _, t := range tables {
		found := t.FromEnglish(k, key)
		meant := "" // the term itself, or the one that looks least derived
		for _, f := range found {
			if s := table.Fold(f.Term); s == folded || meant == "" || meant != folded && len(s) < len(meant) {
				meant = s
			}
		}
		for _, f := range found {
			share := 1.0
			if table.Fold(f.Term) != meant {
				share = otherTerm
			}
			out.addAll(f.Meanings, share)
			if l.code == lang.Chinese {
				for _, m := range f.Meanings {
					if written := l.own().Traditional(k, m.Text); written != m.Text {
						out.add(written, share*m.Weight)
					}
				}
			}
		}
	}
}
