package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"dossier/report"
)

// runRAMDocs asks questions of a few documents each, which tell of several
// things of one name and, some, what is wrong. What is right is to be quoted and
// what is wrong is not; where they differ, both sides are to be shown as
// differing.
func runRAMDocs(ctx context.Context, e *Env) error {
	questions, err := readLines[struct {
		ID        string `json:"_id"`
		Question  string `json:"question"`
		Documents []struct {
			Text   string `json:"text"`
			Type   string `json:"type"`
			Answer string `json:"answer"`
		} `json:"documents"`
		Gold  []string `json:"gold_answers"`
		Wrong []string `json:"wrong_answers"`
	}](e, "questions.jsonl.gz")
	if err != nil {
		return err
	}
	var files []file
	for _, q := range questions {
		for i, d := range q.Documents {
			files = append(files, file{ID: fmt.Sprintf("%s/%d", q.ID, i), Name: fmt.Sprintf("%s/%d.txt", q.ID, i), Body: []byte(d.Text)})
		}
	}
	s, err := e.shelve(files)
	if err != nil {
		return err
	}
	defer s.close()
	var all, disagree, shown, marked, refused, gold, wrong, unmarked int
	for n, q := range questions {
		if err := ctx.Err(); err != nil {
			return err
		}
		s.paths[q.ID] = filepath.Join(s.dir, "documents", q.ID)
		r, err := s.research(ctx, q.ID, q.Question)
		if err != nil {
			return fmt.Errorf("%s: %w", q.ID, err)
		}
		quoted := quotedIn(r)
		has := func(answer string) bool { return holds(quoted, [][]string{{answer}}) }
		hasGold, hasWrong := !slices.ContainsFunc(q.Gold, func(g string) bool { return !has(g) }), slices.ContainsFunc(q.Wrong, has)
		if hasGold {
			gold++
		}
		if hasWrong {
			wrong++
		}
		if hasGold && !hasWrong {
			all++
		}
		if r.Outcome == report.Nothing {
			refused++
		}
		contrast := false
		sides := distinctAnswers(append(slices.Clone(q.Gold), q.Wrong...))
		for i, a := range sides {
			for _, b := range sides[i+1:] {
				contrast = contrast || contrasts(r, [][]string{{a}}, [][]string{{b}})
			}
		}
		if len(sides) > 1 {
			disagree++
			if contrast {
				shown++
			}
		}
		if len(r.Conflicts) > 0 {
			marked++
			if !contrast {
				unmarked++
			}
		}
		if err := e.Record(map[string]any{"id": q.ID, "question": q.Question, "gold": q.Gold, "wrong": q.Wrong, "quotes": quoted, "conflicts": r.Conflicts, "outcome": r.Outcome}); err != nil {
			return err
		}
		if n%100 == 99 {
			e.Progressf("%d of %d questions", n+1, len(questions))
		}
	}
	e.Ratio("all-gold-no-wrong", all, len(questions))
	e.Ratio("conflict-shown", shown, disagree)
	e.Ratio("conflict-unfounded", unmarked, marked)
	e.Ratio("all-gold", gold, len(questions))
	e.Ratio("some-wrong", wrong, len(questions))
	e.Ratio("rejection", refused, len(questions))
	return nil
}

// distinctAnswers leaves out answers that hold another one.
func distinctAnswers(answers []string) []string {
	var out []string
	for _, a := range answers {
		if !slices.ContainsFunc(out, func(o string) bool {
			return holds([]string{a}, [][]string{{o}}) || holds([]string{o}, [][]string{{a}})
		}) {
			out = append(out, a)
		}
	}
	return out
}
