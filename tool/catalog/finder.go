package catalog

import (
	"context"
	"fmt"
	"strings"

	"dossier/run"
	"dossier/tool"
)

// FinderName is the name by which a model calls a tool of Finder.
const FinderName = "searchtoolstool"

// wish is what a model asks for.
type wish struct {
	Query string `json:"query" jsonschema:"What you need a tool for, in your own words"`
}

// Validate refuses an empty query.
func (w *wish) Validate() error {
	if strings.TrimSpace(w.Query) == "" {
		return fmt.Errorf("query is empty: say what you need a tool for")
	}
	return nil
}

// Finder returns the tool with which an agent of this policy looks for more
// tools itself. What it finds is put before the model from then on.
func (c *Catalog) Finder(p Policy) tool.Tool {
	return tool.New(tool.Spec{
		Name: FinderName,
		Description: "Search the catalog for tools that you don't have yet. " +
			"Say what you want to do; the tools that fit can be called from the next step on.",
		Effect: run.Read, Kind: tool.Finding, System: true,
	}, func(ctx context.Context, call *tool.Call, w wish) (tool.Result, error) {
		found, err := c.find(ctx, c.look(ctx), w.Query, &p, nil)
		if err != nil {
			return tool.Result{}, err
		}
		var b strings.Builder
		var names []string
		if len(found.tools) == 0 {
			b.WriteString("No tool of the catalog fits. Ask in other words, or do without.\n")
		} else {
			b.WriteString("Tools that can be called from now on:\n")
		}
		for _, t := range found.tools {
			s := t.Spec()
			names = append(names, s.Name)
			fmt.Fprintf(&b, "- %s: %s\n", s.Name, line(s.Description))
		}
		for _, n := range found.notes {
			b.WriteString(n + "\n")
		}
		return tool.Result{Text: strings.TrimSuffix(b.String(), "\n"), Change: tool.Change{Found: names}}, nil
	})
}

// lineLength is how much of a description a list shows, in characters.
const lineLength = 160

// line is the beginning of a description, on one line.
func line(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if i := strings.Index(text, ". "); i >= 0 {
		text = text[:i+1]
	}
	runes := []rune(text)
	if len(runes) > lineLength {
		return string(runes[:lineLength-1]) + "…"
	}
	return text
}
