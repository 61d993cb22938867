// Package services offers what the console agent calls as services of their own:
// /rag answers questions from the collection in use, as the caller sees it, and
// /haiku writes haiku. Each has a /health that says ok.
package services

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"unicode/utf8"

	"dossier"
	"dossier/extract"
	"dossier/internal/access"
	"dossier/internal/server"
	"dossier/kb"
	"dossier/lang"
	"dossier/mode/console"
	"dossier/sources/qa"
)

// Options of the services.
type Options struct {
	// Passages finds those of a collection, by its id.
	Passages func(collection string) qa.Find
	// Write has a model continue a conversation; nil where there is none.
	Write console.Write
	// Lang is the language of what is said where the question tells none.
	Lang lang.Code
	// TopK is how many passages an answer is made of where the request does not say.
	TopK int
	// IntN returns a number below n.
	IntN func(n int) int
}

// The longest that is read, in characters, and most passages.
const (
	longest      = 4000
	mostPassages = 50
)

// Protocol returns the routes.
func Protocol(o Options) server.Protocol {
	return server.Protocol{Name: "services", Routes: []server.Route{
		{Pattern: "GET /rag/health", Scope: server.Open, Serve: health, Doc: &server.Doc{Summary: "Whether the RAG service works", Reply: healthBody{}}},
		{Pattern: "POST /rag/search", Scope: access.Run, Serve: o.search, Doc: &server.Doc{
			Summary: "Answer a question from the collection in use", Body: searchBody{}, Reply: console.Found{},
		}},
		{Pattern: "GET /haiku/health", Scope: server.Open, Serve: health, Doc: &server.Doc{Summary: "Whether the haiku service works", Reply: healthBody{}}},
		{Pattern: "POST /haiku/generate_haiku", Scope: access.Run, Serve: o.generate, Doc: &server.Doc{Summary: "Write a haiku about a theme", Body: themeBody{}, Reply: console.Haiku{}}},
	}}
}

type healthBody struct {
	Status string `json:"status"`
}

func health(w http.ResponseWriter, _ *http.Request) error {
	return server.Reply(w, http.StatusOK, healthBody{console.Healthy})
}

type searchBody struct {
	Question string `json:"question"`
	TopK     int    `json:"top_k,omitempty"`
}

func (o Options) search(w http.ResponseWriter, r *http.Request) error {
	var body searchBody
	if err := server.Read(w, r, &body); err != nil {
		return err
	}
	question, err := said("question", body.Question)
	if err != nil {
		return err
	}
	if body.TopK < 0 || body.TopK > mostPassages {
		return &dossier.UsageError{Message: fmt.Sprintf("top_k is %d: 1 to %d passages are taken", body.TopK, mostPassages)}
	}
	if body.TopK == 0 {
		body.TopK = o.TopK
	}
	engine := server.EngineOf(r.Context())
	rag := &console.LocalRAG{Write: o.Write, Lang: o.Lang, Find: func(ctx context.Context, question string, topK int) ([]kb.Hit, extract.Weights, error) {
		list, err := engine.Collections(ctx)
		if err != nil {
			return nil, nil, err
		}
		c, ok := console.Choose(list.Collections, list.Active)
		if !ok {
			return nil, nil, errors.New(lang.Text(o.Lang, "console.no-documents"))
		}
		return o.Passages(c.ID)(ctx, question, topK)
	}}
	found, err := rag.Search(r.Context(), question, body.TopK)
	if err != nil {
		return err
	}
	return server.Reply(w, http.StatusOK, found)
}

type themeBody struct {
	Theme string `json:"theme"`
}

func (o Options) generate(w http.ResponseWriter, r *http.Request) error {
	var body themeBody
	if err := server.Read(w, r, &body); err != nil {
		return err
	}
	theme, err := said("theme", body.Theme)
	if err != nil {
		return err
	}
	poet := &console.LocalPoet{Write: o.Write, Lang: o.Lang, IntN: o.IntN}
	poem, err := poet.Generate(r.Context(), theme)
	if err != nil {
		return err
	}
	return server.Reply(w, http.StatusOK, poem)
}

// said is a text that was sent, if it can be worked on.
func said(what, text string) (string, error) {
	text = strings.TrimSpace(text)
	switch n := utf8.RuneCountInString(text); {
	case n == 0:
		return "", &dossier.UsageError{Message: "the field " + what + " is missing or empty"}
	case n > longest:
		return "", &dossier.UsageError{Message: fmt.Sprintf("the field %s has %d characters: %d are read at most", what, n, longest)}
	}
	return text, nil
}
