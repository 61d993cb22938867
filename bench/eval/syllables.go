package main

import (
	"context"
	"encoding/json"
	"slices"

	"dossier/internal/haiku"
)

// spokenWord is a word with the numbers of syllables that it may have: a list, or
// one.
type spokenWord struct {
	Word      string          `json:"word"`
	Syllables json.RawMessage `json:"syllables"`
}

// spokenAnswer is what Record gets for a word.
type spokenAnswer struct {
	spokenWord
	Got int `json:"got"`
}

// runSyllables measures how many words have the syllables that are counted.
func runSyllables(ctx context.Context, env *Env) error {
	files, err := env.Files("*.jsonl*")
	if err != nil {
		return err
	}
	right, n := 0, 0
	for _, file := range files {
		words, err := readLines[spokenWord](env, file)
		if err != nil {
			return err
		}
		for _, w := range words {
			if err := ctx.Err(); err != nil {
				return err
			}
			var counts []int
			if json.Unmarshal(w.Syllables, &counts) != nil {
				counts = make([]int, 1)
				if err := json.Unmarshal(w.Syllables, &counts[0]); err != nil {
					return err
				}
			}
			got := haiku.Syllables(w.Word)
			n++
			if slices.Contains(counts, got) {
				right++
			}
			if err := env.Record(spokenAnswer{w, got}); err != nil {
				return err
			}
		}
	}
	env.Ratio("accuracy", right, n)
	return nil
}
