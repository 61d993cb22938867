package terms

import (
	"errors"
	"fmt"
	"unicode"

	"dossier/lang"
	"dossier/lang/terms/internal/dictfile"
	"dossier/lang/terms/internal/table"
)

// ErrLanguages is the error for a dictionary that is not between English and
// Russian or Chinese.
var ErrLanguages = errors.New("no terms between English and Russian or Chinese")

// compile makes a table of a dictionary in a file.
func compile(path string, about table.About) ([]byte, table.About, error) {
	builders := map[lang.Code]*table.Builder{}
	for _, code := range []lang.Code{lang.Russian, lang.Chinese} {
		of := about
		of.Lang = code
		builders[code] = table.NewBuilder(of)
	}
	title, err := dictfile.ReadFile(path, func(e dictfile.Entry) {
		pairs(e, func(code lang.Code, other, english string, score float64) { builders[code].Add(other, english, score) })
	})
	if err != nil {
		return nil, table.About{}, err
	}
	code := lang.Russian
	if builders[lang.Chinese].Len() > builders[code].Len() {
		code = lang.Chinese
	}
	if builders[code].Len() == 0 {
		return nil, table.About{}, fmt.Errorf("%s: %w", path, ErrLanguages)
	}
	builders[code].Describe(func(a *table.About) {
		a.Format = string(title.Format)
		if title.Name != "" {
			a.Title = title.Name
		}
	})
	data, err := builders[code].Bytes()
	if err != nil {
		return nil, table.About{}, err
	}
	about, err = table.Describe(data)
	return data, about, err
}

// pairs calls yield with the terms of an entry that are a pair, whichever way
// round they stand. Later senses and later terms are less usual ones.
func pairs(e dictfile.Entry, yield func(code lang.Code, other, english string, score float64)) {
	head := languageOf(e.Head)
	for i, sense := range e.Senses {
		for j, term := range sense {
			score := 1 / ((1 + 0.15*float64(i)) * (1 + 0.15*float64(j)))
			switch meaning := languageOf(term); {
			case head == lang.English && meaning != lang.English && meaning != "":
				yield(meaning, term, e.Head, score)
			case head != lang.English && head != "" && meaning == lang.English:
				yield(head, e.Head, term, score)
			}
		}
	}
}

// languageOf returns the language that a term seems to be in by its letters.
func languageOf(term string) lang.Code {
	for _, r := range term {
		switch {
		case unicode.Is(unicode.Han, r):
			return lang.Chinese
		case unicode.Is(unicode.Cyrillic, r):
			return lang.Russian
		}
	}
	for _, r := range term {
		if unicode.IsLetter(r) {
			if unicode.Is(unicode.Latin, r) {
				return lang.English
			}
			return ""
		}
	}
	return ""
}
