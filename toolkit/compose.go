package toolkit

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"dossier/cite"
	"dossier/event"
	"dossier/extract"
	"dossier/kb"
	"dossier/lang"
	"dossier/sources"
	"dossier/tool"
)

type composeArgs struct {
	HitIDs    []string `json:"hit_ids,omitempty" max:"200" jsonschema:"ids of passages; those of the searches so far when left out"`
	MaxTokens int      `json:"max_tokens" default:"3000" min:"200" max:"30000" jsonschema:"how long the context may be"`
}

// composed is the context for programs.
type composed struct {
	Context   string          `json:"context"`
	Citations []shownCitation `json:"citations"`
	Coverage  float64         `json:"context_coverage"`    // share of the plan's questions that it has a passage for
	Uncovered []string        `json:"uncovered,omitempty"` // questions
	Missing   []string        `json:"missing,omitempty"`   // ids
}

type shownCitation struct {
	Number int      `json:"number"`
	Title  string   `json:"title"`
	IDs    []string `json:"hit_ids"`
}

func composeContext(s *collection) tool.Tool {
	spec := librarySpec(ComposeContext, "Put passages that searches of the user's documents found together as numbered sources to cite, and tell how much of the question they cover.",
		"collect the passages for the answer")
	spec.Kind = tool.Gathering
	return tool.New(spec,
		func(ctx context.Context, c *tool.Call, in composeArgs) (tool.Result, error) {
			var made []librarySearch
			custom(c.State, KeySearches, &made)
			ids := in.HitIDs
			if len(ids) == 0 {
				for _, m := range made {
					ids = append(ids, m.IDs...)
				}
				slices.Sort(ids)
				ids = slices.Compact(ids)
			}
			passages, missing, err := s.fetch(ctx, c, 0, ids)
			if err != nil {
				return tool.Result{}, err
			}
			facets := facetsOf(c.State, made, passages)
			packed := kb.Compose(facets, cmp.Or(in.MaxTokens, 3000), func(path string, after int) (int, bool) {
				return c.State.Number(sources.Address(path), after)
			})
			out := composed{Context: packed.Text, Citations: []shownCitation{}, Missing: missing}
			if err := s.cover(ctx, c, facets, packed, &out); err != nil {
				return tool.Result{}, err
			}
			change, err := s.cited(ctx, c, packed.Citations)
			if err != nil {
				return tool.Result{}, err
			}
			covered, err := setting(KeyCoverage, out.Coverage)
			if err != nil {
				return tool.Result{}, err
			}
			change.Custom = covered.Custom
			for _, cited := range packed.Citations {
				shown := shownCitation{Number: cited.Number, Title: cited.Title}
				for _, e := range cited.Excerpts {
					shown.IDs = append(shown.IDs, e.ChunkIDs...)
				}
				out.Citations = append(out.Citations, shown)
			}
			told := event.Coverage{Of: "facets", Covered: len(facets) - len(out.Uncovered), Total: len(facets), Share: out.Coverage}
			if err := c.Scope.Emit(told); err != nil {
				return tool.Result{}, err
			}
			data, err := json.Marshal(out)
			return tool.Result{Text: out.text(), Data: data, Change: change}, err
		})
}

// text is the context for a model.
func (o *composed) text() string {
	var b strings.Builder
	b.WriteString(o.Context)
	fmt.Fprintf(&b, "\n\nContext coverage: %.2f", o.Coverage)
	if len(o.Uncovered) > 0 {
		b.WriteString("\nNot covered: " + strings.Join(o.Uncovered, "; "))
	}
	if len(o.Missing) > 0 {
		b.WriteString("\nNot found: " + strings.Join(o.Missing, ", "))
	}
	return b.String()
}

// facetsOf gives each part of the planned question the passages that searches
// for it found, and then those of searches that are nobody's. Without a plan
// the searches themselves are the parts.
func facetsOf(s *tool.State, made []librarySearch, passages []kb.Passage) []kb.Facet {
	byID := make(map[string]kb.Passage, len(passages))
	for _, p := range passages {
		byID[p.ID] = p
	}
	given := func(ids []string) []kb.Hit {
		var out []kb.Hit
		for _, id := range ids {
			if p, ok := byID[id]; ok {
				out = append(out, kb.Hit{Passage: p})
			}
		}
		return out
	}
	var p plan
	custom(s, KeyPlan, &p)
	if len(p.Facets) == 0 {
		for _, m := range slices.Backward(made) {
			if hits := given(m.IDs); len(hits) > 0 || len(m.IDs) == 0 {
				p.Facets = append(p.Facets, facet{m.Query, []string{m.Query}})
			}
		}
	}
	if len(p.Facets) == 0 {
		p.Facets = []facet{{Question: s.Task}}
	}
	owned := make(map[string]bool)
	out := make([]kb.Facet, len(p.Facets))
	for i, f := range p.Facets {
		out[i].Question = f.Question
		for _, m := range slices.Backward(made) { // the first is the question in its own words
			mine := func(q string) bool { return strings.EqualFold(q, m.Query) }
			if !mine(f.Question) && !slices.ContainsFunc(f.Queries, mine) {
				continue
			}
			out[i].Hits = append(out[i].Hits, given(m.IDs)...)
			for _, id := range m.IDs {
				owned[id] = true
			}
		}
	}
	var others []string
	for _, p := range passages {
		if !owned[p.ID] {
			others = append(others, p.ID)
		}
	}
	for i := range out {
		out[i].Hits = append(out[i].Hits, given(others)...)
	}
	return out
}

// cover says which parts of the question the context answers: a passage that
// merely shares a word with it does not.
func (s *collection) cover(ctx context.Context, c *tool.Call, facets []kb.Facet, packed kb.Context, out *composed) error {
	name, err := s.name(ctx, c)
	if err != nil {
		return err
	}
	weights, err := s.parts.Library.Words(ctx, name)
	if err != nil {
		return err
	}
	taken := make(map[string]bool)
	for _, cited := range packed.Citations {
		for _, e := range cited.Excerpts {
			for _, id := range e.ChunkIDs {
				taken[id] = true
			}
		}
	}
	for _, f := range facets {
		var passages []extract.Passage
		for _, h := range f.Hits {
			if taken[h.ID] {
				passages = append(passages, extract.Passage{ID: h.ID, Title: h.Title, Headings: h.Headings, Text: h.Text, Near: h.Near})
			}
		}
		if len(passages) == 0 || !extract.Select(f.Question, passages, weights, extract.Options{}).Answered {
			out.Uncovered = append(out.Uncovered, f.Question)
		}
	}
	out.Coverage = float64(len(facets)-len(out.Uncovered)) / float64(len(facets))
	return nil
}

// cited makes sources of the documents in a context.
func (s *collection) cited(ctx context.Context, c *tool.Call, citations []kb.Citation) (tool.Change, error) {
	var change tool.Change
	name, err := s.name(ctx, c)
	if err != nil {
		return change, err
	}
	for _, cited := range citations {
		docs, err := s.parts.Library.Documents(ctx, name, cited.Document)
		if err != nil {
			return change, err
		}
		// A document that went since keeps its number: its passages are cited.
		src := tool.Source{Number: cited.Number, Title: oneLine(cited.Title), URL: sources.Address(cited.Path)}
		words := 0
		if len(docs) > 0 {
			if src.Text, err = s.parts.Blobs.PutBlob(ctx, []byte(docs[0].Text)); err != nil {
				return change, err
			}
			src.Letters, words = utf8.RuneCountInString(docs[0].Text), lang.Words(docs[0].Text)
		}
		old, known := c.State.Source(cited.Number)
		if !known {
			if err := c.Scope.Emit(event.SourceFound{Number: src.Number, Title: src.Title, URL: src.URL}); err != nil {
				return change, err
			}
		}
		change.Sources = append(change.Sources, src)
		if known && old.Text == src.Text {
			continue // it was read before
		}
		if err := c.Scope.Emit(event.SourceRead{Number: src.Number, Title: src.Title, URL: src.URL, Hash: src.Text, Words: words}); err != nil {
			return change, err
		}
	}
	return change, nil
}

type verifyArgs struct {
	Claims []string `json:"claims" min:"1" max:"20" jsonschema:"statements to check, each a whole sentence in the language of the documents"`
	TopK   int      `json:"top_k" default:"5" min:"1" max:"20" jsonschema:"how many passages each is held against"`
}

// verified is a claim and what the documents say to it.
type verified struct {
	Claim      string        `json:"claim"`
	Verdict    cite.Verdict  `json:"verdict"`
	Confidence float64       `json:"confidence"`
	Evidence   *libraryQuote `json:"evidence,omitempty"`
}

type libraryQuote struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	Text  string `json:"text"`
}

func verifyClaims(s *collection) tool.Tool {
	return tool.New(librarySpec(Verify, "Check statements against the user's documents: each is searched for and compared with what stands there, with a confidence from 0 to 1.",
		"is this statement true according to the documents", "check the facts", "проверь утверждение", "核实说法"),
		func(ctx context.Context, c *tool.Call, in verifyArgs) (tool.Result, error) {
			name, err := s.name(ctx, c)
			if err != nil {
				return tool.Result{}, err
			}
			out := struct {
				Confidence float64    `json:"confidence"` // of all claims
				Claims     []verified `json:"claims"`
			}{}
			for _, claim := range in.Claims {
				got, err := s.parts.Library.Search(ctx, name, kb.Query{Text: claim, Limit: cmp.Or(in.TopK, 5)})
				if err != nil {
					return tool.Result{}, err
				}
				texts := make([]string, len(got.Hits))
				for i, h := range got.Hits {
					texts[i] = h.Text
				}
				support, err := cite.Lexical{}.Check(ctx, claim, texts)
				if err != nil {
					return tool.Result{}, err
				}
				v := verified{Claim: claim, Verdict: support.Verdict, Confidence: support.Score}
				if support.Best >= 0 && support.Best < len(got.Hits) {
					h := got.Hits[support.Best]
					v.Evidence = &libraryQuote{h.ID, h.Title, cut(h.Text, shownPassage)}
				}
				out.Claims = append(out.Claims, v)
				out.Confidence += support.Score / float64(len(in.Claims))
				told := event.CitationVerified{Claim: claim, Verdict: string(cite.Unsupported), Score: support.Score}
				if v.Verdict == cite.Supported {
					told.Verdict = string(cite.Supported)
				}
				if err := c.Scope.Emit(told); err != nil {
					return tool.Result{}, err
				}
			}
			return asJSON(out, tool.Change{})
		})
}
