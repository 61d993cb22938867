package kbqa

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"dossier/tool"
	"dossier/toolkit"
)

// legible is a tool whose results a person can read, within the time that tools
// of this agent have. Programs still get the data.
type legible struct {
	tool.Tool
	spec tool.Spec
}

// legibleTool makes a tool legible, with a time limit in seconds.
func legibleTool(t tool.Tool, seconds float64) tool.Tool {
	spec := *t.Spec()
	if seconds > 0 {
		spec.Timeout = time.Duration(seconds * float64(time.Second))
	}
	return &legible{t, spec}
}

// Spec implements tool.Tool.
func (t *legible) Spec() *tool.Spec { return &t.spec }

// Call implements tool.Tool.
func (t *legible) Call(ctx context.Context, c *tool.Call) (tool.Result, error) {
	r, err := t.Tool.Call(ctx, c)
	if err != nil {
		return r, err
	}
	if r.Data == nil && json.Valid([]byte(r.Text)) {
		r.Data = json.RawMessage(r.Text)
	}
	if text := observation(t.spec.Name, r.Data); text != "" {
		r.Text = text
	}
	return r, nil
}

// hit is a passage as tools list it.
type hit struct {
	ID       string   `json:"id"`
	Title    string   `json:"title"`
	Headings []string `json:"headings"`
	Page     int      `json:"page"`
	Score    float64  `json:"score"`
	Text     string   `json:"text"`
}

// observed is what results have, all together.
type observed struct {
	Route   string   `json:"route"`
	Reason  string   `json:"reason"`
	Note    string   `json:"note"`
	Hits    []hit    `json:"hits"`
	Missing []string `json:"missing"`
	Docs    []hit    `json:"documents"`
	Facets  []struct {
		Question string   `json:"question"`
		Queries  []string `json:"queries"`
	} `json:"facets"`
	Confidence float64 `json:"confidence"`
	Claims     []struct {
		Claim      string  `json:"claim"`
		Verdict    string  `json:"verdict"`
		Confidence float64 `json:"confidence"`
		Evidence   *struct {
			Title string `json:"title"`
			Text  string `json:"text"`
		} `json:"evidence"`
	} `json:"claims"`
}

// How much of a passage is shown, in characters.
const (
	shownHit   = 240
	shownClaim = 160
)

// observation is the result of a tool in words; empty leaves it as it is.
func observation(name string, data json.RawMessage) string {
	var o observed
	if json.Unmarshal(data, &o) != nil {
		return ""
	}
	var b strings.Builder
	switch name {
	case toolkit.RouterSelect:
		fmt.Fprintf(&b, "Route: %s (%s)", o.Route, o.Reason)
	case toolkit.QueryPlan:
		fmt.Fprintf(&b, "Parts of the question: %d", len(o.Facets))
		for i, f := range o.Facets {
			fmt.Fprintf(&b, "\n%d. %s\n   queries: %s", i+1, f.Question, strings.Join(f.Queries, " | "))
		}
	case toolkit.Search, toolkit.Rerank:
		fmt.Fprintf(&b, "Found %d passages", len(o.Hits))
		if o.Route != "" {
			b.WriteString(" by " + o.Route)
		}
		o.list(&b, o.Hits, shownHit)
	case toolkit.FetchDocs:
		fmt.Fprintf(&b, "Passages: %d", len(o.Docs))
		o.list(&b, o.Docs, 0)
	case toolkit.Verify:
		fmt.Fprintf(&b, "Confidence: %.2f", o.Confidence)
		for i, c := range o.Claims {
			fmt.Fprintf(&b, "\n%d. %s (%.2f): %s", i+1, c.Verdict, c.Confidence, cut(c.Claim, shownClaim))
			if e := c.Evidence; e != nil {
				fmt.Fprintf(&b, "\n   %s: %s", e.Title, cut(e.Text, shownHit))
			}
		}
	}
	if o.Note != "" && name == toolkit.Search {
		b.WriteString("\nNote: " + o.Note)
	}
	return b.String()
}

// list writes passages, each shortened; 0 leaves them whole.
func (o *observed) list(b *strings.Builder, hits []hit, most int) {
	for _, h := range hits {
		place := h.Title
		if len(h.Headings) > 0 {
			place += " / " + strings.Join(h.Headings, " / ")
		}
		if h.Page > 0 {
			place += fmt.Sprintf(", p. %d", h.Page)
		}
		text := h.Text
		if most > 0 {
			text = cut(text, most)
		}
		fmt.Fprintf(b, "\n%s %s", h.ID, place)
		if h.Score != 0 {
			fmt.Fprintf(b, " (%.2f)", h.Score)
		}
		b.WriteString(": " + text)
	}
	if len(o.Missing) > 0 {
		b.WriteString("\nNot found: " + strings.Join(o.Missing, ", "))
	}
}

// cut is the beginning of a text, in one line.
func cut(text string, most int) string {
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > most {
		return strings.TrimSpace(string(runes[:most])) + "…"
	}
	return text
}
