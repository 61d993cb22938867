package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"dossier/cite"
)

// verifyCase is a claim, what is known about it, and the class that people
// gave it, in the words of cite's verdicts.
type verifyCase struct {
	Claim    string   `json:"claim"`
	Passages []string `json:"passages"`
	Label    string   `json:"label"`
}

// verifyAnswer is what Record gets for a case.
type verifyAnswer struct {
	verifyCase
	cite.Support
}

// verifySet says how a set's lines become cases and how verdicts become its
// labels.
type verifySet struct {
	files string
	read  func(line json.RawMessage) ([]verifyCase, error)
	// fold maps verdicts to labels; a verdict not in it is its own label.
	fold map[string]string
}

// Binary sets know support and the lack of it.
var supportedOrNot = map[string]string{"partial": "unsupported", "contradicted": "unsupported"}

// Sets without partial support.
var threeWay = map[string]string{"partial": "unsupported"}

// Sets in which the rest is refuted.
var trueOrFalse = map[string]string{"partial": "contradicted", "unsupported": "contradicted"}

var verifySets = map[string]verifySet{
	"verify_attributionbench_en": {"*.jsonl*", readAttribution, supportedOrNot},
	"verify_averitec_en":         {"*.jsonl*", readAveritec, threeWay},
	"verify_climatefever_en":     {"*.jsonl*", readClimate, threeWay},
	"verify_covidfact_en":        {"*.jsonl*", readCovid, trueOrFalse},
	"verify_danetqa_ru":          {"*.jsonl*", readDaNet, trueOrFalse},
	"verify_factcheckgpt_en":     {"claim_evidence_stance.jsonl*", readStance, nil},
	"verify_faithbench_en":       {"*.jsonl*", readFaith, supportedOrNot},
	"verify_healthver_en":        {"*.jsonl*", readHealth, threeWay},
	"verify_ocnli_zh":            {"*.jsonl*", readInference, threeWay},
	"verify_runli_ru":            {"*.jsonl*", readInference, supportedOrNot},
	"verify_uhgeval_zh":          {"*.jsonl*", readNews, supportedOrNot},
	"verify_xnli_ru":             {"*.jsonl*", readInference, threeWay},
}

// runVerify measures the check of claims without a model on a verify_* set.
func runVerify(ctx context.Context, env *Env) error {
	set, ok := verifySets[env.Set]
	if !ok {
		return fmt.Errorf("no reader for %s", env.Set)
	}
	cases, err := readVerify(env, set)
	if err != nil {
		return err
	}
	got, err := checkAll(ctx, env, cases)
	if err != nil {
		return err
	}
	reportF1(env, "", cases, got, set.fold)
	return nil
}

// runWiCE measures support against the rest, and all three labels.
func runWiCE(ctx context.Context, env *Env) error {
	cases, err := readVerify(env, verifySet{files: "claims.jsonl*", read: readWiCE})
	if err != nil {
		return err
	}
	got, err := checkAll(ctx, env, cases)
	if err != nil {
		return err
	}
	reportF1(env, "", cases, got, supportedOrNot)
	reportF1(env, ".3", cases, got, map[string]string{"contradicted": "unsupported"})
	return nil
}

// runSciFact measures the ranking of abstracts and the labels of claims.
func runSciFact(ctx context.Context, env *Env) error {
	return errors.Join(runJudged(ctx, env), runSciFactLabels(ctx, env))
}

// runSciFactLabels measures the labels of SciFact's claims from the abstracts
// that they cite.
func runSciFactLabels(ctx context.Context, env *Env) error {
	type document struct {
		ID        json.Number `json:"_id"`
		Title     string      `json:"title"`
		Sentences []string    `json:"sentences"`
	}
	docs, err := readLines[document](env, "corpus.jsonl.gz")
	if err != nil {
		return err
	}
	texts := map[string]string{}
	for _, d := range docs {
		texts[d.ID.String()] = d.Title + "\n" + strings.Join(d.Sentences, " ")
	}
	cases, err := readVerify(env, verifySet{files: "claims.jsonl*", read: func(line json.RawMessage) ([]verifyCase, error) {
		var in struct {
			Text  string        `json:"text"`
			Label string        `json:"label"`
			Cited []json.Number `json:"cited_doc_ids"`
		}
		err := json.Unmarshal(line, &in)
		c := verifyCase{Claim: in.Text, Label: labelOf(in.Label)}
		for _, id := range in.Cited {
			c.Passages = append(c.Passages, texts[id.String()])
		}
		return []verifyCase{c}, err
	}})
	if err != nil {
		return err
	}
	got, err := checkAll(ctx, env, cases)
	if err != nil {
		return err
	}
	reportF1(env, "", cases, got, threeWay)
	return nil
}

func readVerify(env *Env, set verifySet) ([]verifyCase, error) {
	files, err := env.Files(set.files)
	if err != nil {
		return nil, err
	}
	var out []verifyCase
	for _, file := range files {
		lines, err := readLines[json.RawMessage](env, file)
		if err != nil {
			return nil, err
		}
		for n, line := range lines {
			cases, err := set.read(line)
			if err != nil {
				return nil, fmt.Errorf("%s:%d: %w", file, n+1, err)
			}
			out = append(out, cases...)
		}
	}
	return out, nil
}

func checkAll(ctx context.Context, env *Env, cases []verifyCase) ([]string, error) {
	got := make([]string, len(cases))
	for i, c := range cases {
		s, err := cite.Lexical{}.Check(ctx, c.Claim, c.Passages)
		if err != nil {
			return nil, err
		}
		got[i] = string(s.Verdict)
		if err := env.Record(verifyAnswer{c, s}); err != nil {
			return nil, err
		}
	}
	return got, nil
}

// reportF1 prints the macro-F1 of the verdicts and of always giving the most
// frequent label.
func reportF1(env *Env, suffix string, cases []verifyCase, got []string, fold map[string]string) {
	folded := func(label string) string {
		if to, ok := fold[label]; ok {
			return to
		}
		return label
	}
	want, have := make([]string, len(cases)), make([]string, len(cases))
	counts := map[string]int{}
	for i := range cases {
		want[i], have[i] = folded(cases[i].Label), folded(got[i])
		counts[want[i]]++
	}
	labels := slices.Sorted(maps.Keys(counts))
	most := slices.MaxFunc(labels, func(a, b string) int { return counts[a] - counts[b] })
	env.Score("macro-f1"+suffix, macroF1(labels, want, have), len(cases))
	env.Score("majority-f1"+suffix, macroF1(labels, want, slices.Repeat([]string{most}, len(cases))), len(cases))
}

// macroF1 is the mean F1 of the labels that occur in want.
func macroF1(labels, want, have []string) float64 {
	sum := 0.0
	for _, l := range labels {
		hit, said, is := 0, 0, 0
		for i := range want {
			if want[i] == l {
				is++
			}
			if have[i] == l {
				said++
			}
			if want[i] == l && have[i] == l {
				hit++
			}
		}
		if hit > 0 {
			sum += 2 * float64(hit) / float64(said+is)
		}
	}
	return sum / float64(len(labels))
}
