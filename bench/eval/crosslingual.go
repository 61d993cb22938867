package main

import (
	"context"
	"strings"

	"dossier/index"
)

// runNTREX measures news articles across languages: the first sentence of a
// Russian or Chinese article is to find the rest of the English one.
func runNTREX(ctx context.Context, e *Env) error {
	type sentence struct {
		Doc string `json:"doc"`
		EN  string `json:"en"`
		RU  string `json:"ru"`
		ZH  string `json:"zh"`
	}
	sentences, err := readLines[sentence](e, "sentences.jsonl.gz")
	if err != nil {
		return err
	}
	first := map[string]sentence{}
	rest := map[string]*strings.Builder{}
	var order []string
	for _, s := range sentences {
		if rest[s.Doc] == nil {
			first[s.Doc], rest[s.Doc] = s, &strings.Builder{}
			order = append(order, s.Doc)
			continue
		}
		rest[s.Doc].WriteString(s.EN + "\n")
	}
	var docs []index.Doc
	topics := map[string][]topic{}
	for _, doc := range order {
		docs = append(docs, index.Doc{ID: doc, Text: rest[doc].String()})
		for _, q := range [][2]string{{".en", first[doc].EN}, {".ru-en", first[doc].RU}, {".zh-en", first[doc].ZH}} {
			topics[q[0]] = append(topics[q[0]], topic{ID: doc, Text: q[1], Relevant: map[string]float64{doc: 1}})
		}
	}
	c, err := collect(docs)
	if err != nil {
		return err
	}
	for _, suffix := range []string{".en", ".ru-en", ".zh-en"} {
		if err := e.retrieval(ctx, suffix, topics[suffix], c.rank); err != nil {
			return err
		}
	}
	return nil
}
