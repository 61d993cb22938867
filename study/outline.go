package study

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"dossier/cite"
	"dossier/event"
	"dossier/index"
	"dossier/lang"
	"dossier/llm"
	"dossier/prompt"
)

// Node is a section to be written and the material that it is written from.
type Node struct {
	Title       string   `json:"title" jsonschema:"title of the section"`
	Description string   `json:"description" jsonschema:"the question that it answers"`
	Findings    []string `json:"findings" jsonschema:"ids of the findings that it is written from"`
}

// outlined is what the model is asked for.
type outlined struct {
	Sections []Node `json:"sections" jsonschema:"the sections of the report in their order"`
}

// Validate implements the check of llm.Object.
func (o *outlined) Validate() error {
	if len(o.Sections) == 0 {
		return fmt.Errorf("the field sections is empty: give at least one")
	}
	for i, s := range o.Sections {
		if strings.TrimSpace(s.Title) == "" {
			return fmt.Errorf("sections[%d].title is empty", i)
		}
	}
	return nil
}

type outlineInput struct {
	Question string
	Context  string
	Language string
	Insights string
	Aspects  []string
	Least    int
	Most     int
	Findings []outlineFinding
	rules    func() outlined
}

type outlineFinding struct{ ID, Title, Gist string }

var outline = &prompt.Task[outlineInput, outlined]{
	Name:     "outline",
	Role:     llm.ForSummarizer,
	Template: prompt.Parse(files, "outline.md"),
	Fallback: func(in outlineInput) (outlined, error) { return in.rules(), nil },
}

const (
	mostSections = 8
	gistWords    = 60 // of a piece, shown to whoever makes the outline
)

// plan makes the outline: the plan's sections where there are some, what a model
// makes of the pieces otherwise, and what they were found for where there is no
// model. Each piece has a place in it; a node without one is left out.
func (x *writing) plan(ctx context.Context) error {
	var nodes []Node
	for _, s := range x.Plan.Sections {
		nodes = append(nodes, Node{Title: s.Title, Description: s.Description})
	}
	if len(nodes) == 0 {
		in := outlineInput{
			Question: x.Brief.Refined, Context: x.Brief.Context(), Language: x.Brief.Language.Name(), Insights: x.Insights,
			Aspects: x.Plan.Aspects, Least: x.Lengths.Sections, Most: mostSections, rules: x.outlineByRules,
		}
		for _, p := range x.pieces {
			in.Findings = append(in.Findings, outlineFinding{p.id, p.title, firstWords(p.text, gistWords)})
		}
		made, err := outline.Do(ctx, x.scope, x.Models, in, prompt.Options[outlined]{Model: x.Model})
		if err != nil {
			return err
		}
		if made.Overruled() {
			x.trouble = append(x.trouble, lang.Text(x.Brief.Language, "research.by-rules", "why", prompt.Told(x.Brief.Language, made.Why)))
		}
		var said strings.Builder
		for _, n := range made.Value.Sections {
			said.WriteString(n.Title + ". " + n.Description + "\n")
		}
		if !made.Extractive && !x.Brief.InLanguage(said.String()) {
			x.trouble = append(x.trouble, lang.Text(x.Brief.Language, "research.by-rules", "why", lang.Text(x.Brief.Language, "study.other-language")))
			made.Value = x.outlineByRules()
		}
		for _, n := range made.Value.Sections[:min(len(made.Value.Sections), mostSections)] {
			n.Title, n.Description = oneLine(cite.Sanitize(n.Title)), oneLine(cite.Sanitize(n.Description))
			nodes = append(nodes, n)
		}
	}
	x.outline = slices.DeleteFunc(x.placed(nodes), func(n Node) bool { return len(n.Findings) == 0 })
	told := event.PlanUpdated{Title: x.Plan.Title}
	for _, n := range x.outline {
		told.Steps = append(told.Steps, event.PlanStep{Title: n.Title, State: "active"})
	}
	return x.scope.Emit(told)
}

// outlineByRules makes a node of each aspect, or of each thing that was looked
// for. Words that were searched for are no title: what was found by them has the
// one that its authors gave it.
func (x *writing) outlineByRules() outlined {
	var out outlined
	titles := x.Plan.Aspects
	if len(titles) < x.Lengths.Sections {
		titles = nil
		for _, p := range x.pieces {
			if title := oneLine(p.title); title != "" && !slices.Contains(titles, title) && len(titles) < mostSections {
				titles = append(titles, title)
			}
		}
	}
	for _, t := range titles {
		n := Node{Title: t, Description: t}
		if heading := x.headingFor(t); heading != "" && !slices.ContainsFunc(out.Sections, func(o Node) bool { return strings.EqualFold(o.Title, heading) }) {
			n.Title = heading
			for _, p := range x.pieces {
				if oneLine(p.title) == t {
					n.Findings = append(n.Findings, p.id)
				}
			}
		}
		out.Sections = append(out.Sections, n)
	}
	if len(out.Sections) == 0 {
		out.Sections = []Node{{Title: x.Brief.Refined, Description: x.Brief.Refined}}
	}
	return out
}

// headingFor is the heading under which most stands that was found for a title,
// the first of equals; empty where the title is a question that the run has.
func (x *writing) headingFor(title string) string {
	if x.asked(title) {
		return ""
	}
	var order []string
	count := make(map[string]int)
	for _, p := range x.pieces {
		if oneLine(p.title) != title {
			continue
		}
		for _, id := range p.findings {
			f, _ := x.Book.Finding(id)
			for _, at := range f.Passages {
				if heading := headingOf(at); heading != "" {
					if count[heading]++; count[heading] == 1 {
						order = append(order, heading)
					}
				}
			}
		}
	}
	if len(order) == 0 {
		return ""
	}
	return slices.MaxFunc(order, func(a, b string) int { return count[a] - count[b] })
}

// asked says whether a text is what the user asked or the plan asks.
func (x *writing) asked(text string) bool {
	same := func(other string) bool { return strings.EqualFold(oneLine(other), text) }
	return same(x.Brief.Question) || same(x.Brief.Refined) || slices.ContainsFunc(x.Plan.Aspects, same) ||
		slices.ContainsFunc(x.Plan.Rubric, func(i Item) bool { return same(i.Question) })
}

// placed gives each piece that has no place in the outline one: the node that it
// was found for, or the one whose words it has most of.
func (x *writing) placed(nodes []Node) []Node {
	has := make(map[string]bool)
	byID := make(map[string]piece)
	for _, p := range x.pieces {
		byID[p.id] = p
	}
	for i := range nodes {
		nodes[i].Findings = slices.DeleteFunc(slices.Clone(nodes[i].Findings), func(id string) bool {
			_, known := byID[id]
			return !known
		})
		for _, id := range nodes[i].Findings {
			has[id] = true
		}
	}
	for _, p := range x.pieces {
		if has[p.id] {
			continue
		}
		at := slices.IndexFunc(nodes, func(n Node) bool { return strings.EqualFold(n.Title, p.title) })
		if at < 0 {
			at = nearest(p, nodes)
		}
		nodes[at].Findings = append(nodes[at].Findings, p.id)
	}
	return nodes
}

// nearest is the node whose words a piece has most of, the first of equals.
func nearest(p piece, nodes []Node) int {
	terms := make(map[string]bool)
	for _, t := range index.Tokens(p.title+"\n"+p.text, lang.Detect(p.text)) {
		terms[t.Term] = true
	}
	best, at := -1., 0
	for i, n := range nodes {
		has, all := 0, 0
		for _, t := range index.Tokens(n.Title+" "+n.Description, lang.Detect(n.Description)) {
			if all++; terms[t.Term] {
				has++
			}
		}
		if all > 0 && float64(has)/float64(all) > best {
			best, at = float64(has)/float64(all), i
		}
	}
	return at
}

// firstWords is the beginning of a text in one line.
func firstWords(text string, n int) string {
	words := strings.Fields(text)
	if len(words) > n {
		return strings.Join(words[:n], " ") + " …"
	}
	line := strings.Join(words, " ")
	if runes := []rune(line); len(runes) > 8*n { // a language without spaces
		line = string(runes[:8*n]) + "…"
	}
	return line
}
