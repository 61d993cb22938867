package main

import (
	"encoding/json"
	"fmt"
	"strings"
)

// labelOf translates the labels of the sets to cite's verdicts. Disputed
// claims are unsupported.
func labelOf(label string) string {
	switch strings.ToLower(label) {
	case "supported", "supports", "attributable", "entailment", "completely-support", "consistent":
		return "supported"
	case "partially_supported", "partially-support":
		return "partial"
	case "refuted", "refutes", "contradiction", "refute":
		return "contradicted"
	}
	return "unsupported"
}

func readAttribution(line json.RawMessage) ([]verifyCase, error) {
	var in struct {
		Claim      string   `json:"claim"`
		References []string `json:"references"`
		Label      string   `json:"attribution_label"`
	}
	err := json.Unmarshal(line, &in)
	return []verifyCase{{in.Claim, in.References, labelOf(in.Label)}}, err
}

func readAveritec(line json.RawMessage) ([]verifyCase, error) {
	var in struct {
		Claim     string `json:"claim"`
		Label     string `json:"label"`
		Questions []struct {
			Question string `json:"question"`
			Answers  []struct {
				Answer string `json:"answer"`
			} `json:"answers"`
		} `json:"questions"`
	}
	err := json.Unmarshal(line, &in)
	c := verifyCase{Claim: in.Claim, Label: labelOf(in.Label)}
	for _, q := range in.Questions {
		for _, a := range q.Answers {
			c.Passages = append(c.Passages, q.Question+" "+a.Answer)
		}
	}
	return []verifyCase{c}, err
}

func readClimate(line json.RawMessage) ([]verifyCase, error) {
	var in struct {
		Claim     string `json:"claim"`
		Label     string `json:"claim_label"`
		Evidences []struct {
			Evidence string `json:"evidence"`
		} `json:"evidences"`
	}
	err := json.Unmarshal(line, &in)
	c := verifyCase{Claim: in.Claim, Label: labelOf(in.Label)}
	for _, e := range in.Evidences {
		c.Passages = append(c.Passages, e.Evidence)
	}
	return []verifyCase{c}, err
}

func readCovid(line json.RawMessage) ([]verifyCase, error) {
	var in struct {
		Claim    string   `json:"claim"`
		Label    string   `json:"label"`
		Evidence []string `json:"evidence"`
	}
	err := json.Unmarshal(line, &in)
	return []verifyCase{{in.Claim, in.Evidence, labelOf(in.Label)}}, err
}

// readDaNet reads a yes-or-no question as the claim that the answer is yes.
func readDaNet(line json.RawMessage) ([]verifyCase, error) {
	var in struct {
		Question string `json:"question"`
		Passage  string `json:"passage"`
		Label    bool   `json:"label"`
	}
	err := json.Unmarshal(line, &in)
	label := "contradicted"
	if in.Label {
		label = "supported"
	}
	return []verifyCase{{strings.TrimRight(in.Question, "? "), []string{in.Passage}, label}}, err
}

func readStance(line json.RawMessage) ([]verifyCase, error) {
	var in struct {
		Claim    string `json:"claim"`
		Evidence string `json:"evidence"`
		Stance   string `json:"stance"`
	}
	err := json.Unmarshal(line, &in)
	return []verifyCase{{in.Claim, []string{in.Evidence}, labelOf(in.Stance)}}, err
}

// readFaith keeps the summaries on which annotators are clear.
func readFaith(line json.RawMessage) ([]verifyCase, error) {
	var in struct {
		Source  string `json:"source"`
		Summary string `json:"summary"`
		Worst   string `json:"worst-label"`
	}
	err := json.Unmarshal(line, &in)
	if in.Worst != "Consistent" && in.Worst != "Unwanted" {
		return nil, err
	}
	return []verifyCase{{in.Summary, []string{in.Source}, labelOf(in.Worst)}}, err
}

func readHealth(line json.RawMessage) ([]verifyCase, error) {
	var in struct {
		Claim    string `json:"claim"`
		Evidence string `json:"evidence"`
		Label    string `json:"label"`
	}
	err := json.Unmarshal(line, &in)
	return []verifyCase{{in.Claim, []string{in.Evidence}, labelOf(in.Label)}}, err
}

// readInference reads pairs of premise and hypothesis.
func readInference(line json.RawMessage) ([]verifyCase, error) {
	var in struct {
		Premise    string `json:"premise"`
		Hypothesis string `json:"hypothesis"`
		First      string `json:"sentence1"`
		Second     string `json:"sentence2"`
		Label      string `json:"label"`
	}
	if err := json.Unmarshal(line, &in); err != nil {
		return nil, err
	}
	if in.Label == "" || in.Label == "-" {
		return nil, fmt.Errorf("no label")
	}
	return []verifyCase{{in.Hypothesis + in.Second, []string{in.Premise + in.First}, labelOf(in.Label)}}, nil
}

// readNews makes two cases of a story: its real continuation and one that a
// model made up, checked against how the story begins and goes on.
func readNews(line json.RawMessage) ([]verifyCase, error) {
	var in struct {
		Beginning string `json:"newsBeginning"`
		Made      string `json:"hallucinatedContinuation"`
		Real      string `json:"realContinuation"`
		Remainder string `json:"newsRemainder"`
	}
	err := json.Unmarshal(line, &in)
	known := []string{in.Beginning, in.Remainder}
	return []verifyCase{{in.Real, known, "supported"}, {in.Made, known, "unsupported"}}, err
}

func readWiCE(line json.RawMessage) ([]verifyCase, error) {
	var in struct {
		Claim    string   `json:"claim"`
		Label    string   `json:"label"`
		Evidence []string `json:"evidence"`
	}
	err := json.Unmarshal(line, &in)
	return []verifyCase{{in.Claim, []string{strings.Join(in.Evidence, "\n")}, labelOf(in.Label)}}, err
}
