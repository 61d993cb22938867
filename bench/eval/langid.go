package main

import (
	"context"
	"maps"
	"slices"
	"strings"

	"dossier/lang"
)

// langCase is a text and the code of its language.
type langCase struct {
	Lang string `json:"lang"`
	Text string `json:"text"`
}

// langAnswer is what Record gets for a case.
type langAnswer struct {
	langCase
	Got lang.Code `json:"got"`
}

// langClasses are the length classes of langid_lingua by the names of their
// files.
var langClasses = map[string]string{
	"single-words": "words",
	"word-pairs":   "pairs",
	"sentences":    "sentences",
}

// tally counts hits by name.
type tally struct{ hits, n map[string]int }

func (t *tally) add(name string, hit bool) {
	t.n[name]++
	if hit {
		t.hits[name]++
	}
}

// runLanguages measures language identification: over all, by language and,
// where the set has classes of lengths, by class and language.
func runLanguages(ctx context.Context, env *Env) error {
	files, err := env.Files("*.jsonl*")
	if err != nil {
		return err
	}
	t := tally{hits: map[string]int{}, n: map[string]int{}}
	for _, file := range files {
		cases, err := readLines[langCase](env, file)
		if err != nil {
			return err
		}
		base, _, _ := strings.Cut(file, ".")
		class := langClasses[base]
		for _, c := range cases {
			if err := ctx.Err(); err != nil {
				return err
			}
			got := lang.Detect(c.Text)
			hit := string(got) == c.Lang
			t.add("accuracy.all", hit)
			t.add("accuracy."+c.Lang, hit)
			if class != "" {
				t.add("accuracy."+class+".all", hit)
				t.add("accuracy."+class+"."+c.Lang, hit)
			}
			if err := env.Record(langAnswer{c, got}); err != nil {
				return err
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(t.n)) {
		env.Ratio(name, t.hits[name], t.n[name])
	}
	return nil
}
