package supervised

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"dossier/cite"
	"dossier/prompt"
	"dossier/run"
	"dossier/sources"
	"dossier/tool"
)

// The tools of a researcher.
const (
	searchName = "web_search"
	scrapeName = "scrape_url"
	doneName   = "done"
	helpName   = "request_help"
)

// toldKey is where the state of the loop keeps what a researcher says beside its
// note.
const toldKey = "told"

// work is a tool whose calls are branches of the run: its code runs whenever the
// run does, so that it may change what the goroutine of the caller owns.
type work[In any] struct {
	spec tool.Spec
	do   func(ctx context.Context, s *run.Scope, in In) (tool.Result, error)
}

func newWork[In any](spec tool.Spec, do func(ctx context.Context, s *run.Scope, in In) (tool.Result, error)) tool.Tool {
	w := &work[In]{do: do}
	w.spec = *tool.New(spec, func(context.Context, *tool.Call, In) (tool.Result, error) { return tool.Result{}, nil }).Spec()
	return w
}

// Spec implements tool.Tool.
func (w *work[In]) Spec() *tool.Spec { return &w.spec }

// Call implements tool.Tool; the loop calls Branch.
func (w *work[In]) Call(ctx context.Context, c *tool.Call) (tool.Result, error) {
	return w.Branch(ctx, c.Scope, c)
}

// Branch implements tool.Branch.
func (w *work[In]) Branch(ctx context.Context, s *run.Scope, c *tool.Call) (tool.Result, error) {
	in, err := tool.Args[In](c)
	if err != nil {
		return tool.Result{}, &tool.ArgumentError{Tool: w.spec.Name, Err: err}
	}
	return w.do(ctx, s, in)
}

type searchArgs struct {
	Query string `json:"query" jsonschema:"what to search for, as one would type it into a browser"`
}

type scrapeArgs struct {
	URLs []string `json:"urls" min:"1" max:"5" jsonschema:"addresses that web_search gave"`
}

type doneArgs struct {
	Note   string   `json:"note" jsonschema:"what was found out, each statement with the numbers of its sources in brackets; no metadata"`
	Covers []string `json:"covers" jsonschema:"IDs of the items of the rubric that the note answers"`
}

type helpArgs struct {
	Problem string `json:"problem" jsonschema:"what you can't do by yourself"`
	Note    string `json:"note" jsonschema:"what was found out so far, each statement with the numbers of its sources in brackets; empty if nothing"`
}

// tools are those of a researcher at work.
func (w *atWork) tools() []tool.Tool {
	return []tool.Tool{
		newWork(tool.Spec{Name: searchName, Kind: tool.Searching, Description: "Search. The result lists titles, addresses and snippets; what a page says is known once it is read."}, w.search),
		newWork(tool.Spec{Name: scrapeName, Kind: tool.Reading, Description: "Read pages that a search found. The result has what each says about the task, under the number by which it is cited. A page that was read before is shown again without being fetched."}, w.scrape),
		tool.New(tool.Spec{Name: doneName, Kind: tool.Final, System: true, Effect: run.Pure, Description: "End the task with its note."},
			func(_ context.Context, _ *tool.Call, in doneArgs) (tool.Result, error) {
				return ended(in.Note, told{Covers: in.Covers})
			}),
		tool.New(tool.Spec{Name: helpName, Kind: tool.Final, System: true, Effect: run.Pure, Description: "End the task because it can't be done like this, and ask the supervisor for another one."},
			func(_ context.Context, _ *tool.Call, in helpArgs) (tool.Result, error) {
				return ended(in.Note, told{Help: oneLine(in.Problem)})
			}),
	}
}

// told is what a researcher says beside its note.
type told struct {
	Covers []string `json:"covers,omitempty"`
	Help   string   `json:"help,omitempty"`
}

func ended(note string, t told) (tool.Result, error) {
	raw, err := json.Marshal(t)
	if err != nil {
		return tool.Result{}, err
	}
	return tool.Result{Text: "noted", Change: tool.Change{
		Answer: &tool.Answer{Text: note, Status: tool.Completed}, Custom: map[string]json.RawMessage{toldKey: raw},
	}}, nil
}

// mostSnippet bounds what is shown of a result, in characters.
const mostSnippet = 300

func (w *atWork) search(ctx context.Context, s *run.Scope, in searchArgs) (tool.Result, error) {
	found, err := w.browsing.Search(ctx, s, in.Query)
	if err != nil {
		if run.Stopped(err) {
			return tool.Result{}, err
		}
		w.steps = append(w.steps, fmt.Sprintf("searched for %q: failed", oneLine(in.Query)))
		return tool.Result{}, fmt.Errorf("the search failed: %s. Use other words, or end the task with what there is", faultOf(err))
	}
	change := tool.Change{Searches: 1}
	var b strings.Builder
	seen := make(map[string]bool)
	for _, l := range found.Leads {
		if seen[l.URI] {
			continue
		}
		seen[l.URI] = true
		change.Sources = append(change.Sources, tool.Source{Title: oneLine(l.Title), URL: l.URI, Snippet: cut(oneLine(l.Text), mostSnippet)})
		fmt.Fprintf(&b, "- title: %s\n  url: %s\n  snippet: %s\n", prompt.Label(oneLine(l.Title)), l.URI, prompt.Data(cut(oneLine(l.Text), mostSnippet)))
	}
	w.steps = append(w.steps, fmt.Sprintf("searched for %q: %d results", oneLine(in.Query), len(change.Sources)))
	if len(change.Sources) == 0 {
		b.WriteString("No results. Word the query anew.")
	}
	return tool.Result{Text: b.String(), Change: change}, nil
}

func (w *atWork) scrape(ctx context.Context, s *run.Scope, in scrapeArgs) (tool.Result, error) {
	pages, err := w.browsing.Read(ctx, s, in.URLs)
	if err != nil {
		if run.Stopped(err) {
			return tool.Result{}, err
		}
		return tool.Result{}, errors.New(faultOf(err))
	}
	var change tool.Change
	var b strings.Builder
	for _, p := range pages {
		if p.Failure != "" {
			fmt.Fprintf(&b, "%s could not be read: %s\n\n", prompt.Label(p.Address), prompt.Data(p.Failure))
			w.steps = append(w.steps, fmt.Sprintf("could not read %s", p.Address))
			continue
		}
		change.Sources = append(change.Sources, tool.Source{Title: oneLine(p.Title), URL: p.Address, Text: p.Snapshot})
		b.WriteString(shownPage(p))
		said := p.Summary
		if said == "" && len(p.Excerpts) > 0 {
			said = p.Excerpts[0].Text
		}
		w.steps = append(w.steps, fmt.Sprintf("read [%d] %s: %s", p.Number, oneLine(p.Title), cut(oneLine(said), mostSnippet)))
	}
	if len(change.Sources) == 0 {
		return tool.Result{}, errors.New(strings.TrimSpace(b.String()))
	}
	return tool.Result{Text: strings.TrimSpace(b.String()), Change: change}, nil
}

// shownPage is a page as a model reads it.
func shownPage(p sources.Page) string {
	var b strings.Builder
	fmt.Fprintf(&b, "[%d] %s\n", p.Number, prompt.Label(p.Title))
	if p.Summary != "" {
		fmt.Fprintf(&b, "Summary: %s\n", prompt.Data(cite.Sanitize(p.Summary)))
	}
	for _, x := range p.Excerpts {
		if x.Place != "" {
			fmt.Fprintf(&b, "(%s)\n", prompt.Label(x.Place))
		}
		fmt.Fprintf(&b, "> %s\n\n", strings.ReplaceAll(strings.TrimSpace(prompt.Data(x.Text)), "\n", "\n> "))
	}
	b.WriteByte('\n')
	return b.String()
}
