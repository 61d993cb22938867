package study

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"dossier/cite"
	"dossier/event"
	"dossier/extract"
	"dossier/sources"
)

// Plan is what is to be found out, made before anything is searched.
type Plan struct {
	Title string `json:"title"`
	// Aspects are the sides of the question, in a few words each.
	Aspects  []string      `json:"aspects,omitempty"`
	Sections []PlanSection `json:"sections,omitempty"`
	// Tasks are the first ones for those who search.
	Tasks []string `json:"tasks,omitempty"`
	// Rubric is the checklist by which the work is done or not.
	Rubric []Item `json:"rubric,omitempty"`
}

// PlanSection is a part of the report to come, and how to find what it needs.
type PlanSection struct {
	Title       string   `json:"title"`
	Description string   `json:"description"` // the question that it answers
	Queries     []string `json:"search_queries"`
}

// ItemKind says what an item of a rubric is.
type ItemKind string

// The kinds of items.
const (
	SubQuestion ItemKind = "question" // part of the question
	Must        ItemKind = "must"     // has to be covered
	Trap        ItemKind = "trap"     // is easily got wrong
)

// ItemState says what has become of an item of a rubric.
type ItemState string

// The states of items.
const (
	Open    ItemState = "open"    // nobody has found anything yet
	Covered ItemState = "covered" // findings answer it
	Missing ItemState = "missing" // it was looked for and not found
)

// Item is a line of the rubric. Code keeps its state.
type Item struct {
	ID       string    `json:"id"`
	Question string    `json:"question"`
	Kind     ItemKind  `json:"kind"`
	Sources  []string  `json:"sources,omitempty"` // kinds of sources that it asks for
	State    ItemState `json:"state"`
	Findings []string  `json:"findings,omitempty"` // IDs of those that cover it
}

// RubricOf is the rubric of sections: each is to be answered.
func RubricOf(sections []PlanSection) []Item {
	var out []Item
	for i, s := range sections {
		question := s.Description
		if question == "" {
			question = s.Title
		}
		out = append(out, Item{ID: fmt.Sprintf("r%d", i+1), Question: question, Kind: SubQuestion, State: Open})
	}
	return out
}

// Cover notes that a finding answers an item.
func (p *Plan) Cover(item, finding string) {
	for i := range p.Rubric {
		if r := &p.Rubric[i]; r.ID == item {
			r.State = Covered
			if !slices.Contains(r.Findings, finding) {
				r.Findings = append(r.Findings, finding)
			}
		}
	}
}

// Miss notes that an item was looked for in vain; one that is covered stays so.
func (p *Plan) Miss(item string) {
	for i := range p.Rubric {
		if r := &p.Rubric[i]; r.ID == item && r.State == Open {
			r.State = Missing
		}
	}
}

// Want puts a question of the user on the rubric and returns its ID; an item that
// asks the same is it.
func (p *Plan) Want(question string) string {
	highest := 0
	for _, i := range p.Rubric {
		if asksSame(i.Question, question) {
			return i.ID
		}
		if n, err := strconv.Atoi(strings.TrimPrefix(i.ID, "r")); err == nil {
			highest = max(highest, n)
		}
	}
	item := Item{ID: fmt.Sprintf("r%d", highest+1), Question: question, Kind: SubQuestion, State: Open}
	p.Rubric = append(slices.Clone(p.Rubric), item)
	return item.ID
}

// Drop takes an item off the rubric: nobody wants to know it any more.
func (p *Plan) Drop(item string) {
	p.Rubric = slices.DeleteFunc(slices.Clone(p.Rubric), func(i Item) bool { return i.ID == item })
}

func asksSame(a, b string) bool { return strings.EqualFold(a, b) || extract.Same(a, b) }

// OpenItems are those that are neither covered nor known to be missing.
func (p *Plan) OpenItems() []Item {
	return slices.DeleteFunc(slices.Clone(p.Rubric), func(i Item) bool { return i.State != Open })
}

// Coverage is how much of the rubric is covered, as the run's log tells it.
func (p *Plan) Coverage() event.Coverage {
	covered := 0
	for _, i := range p.Rubric {
		if i.State == Covered {
			covered++
		}
	}
	c := event.Coverage{Of: "rubric", Covered: covered, Total: len(p.Rubric)}
	if c.Total > 0 {
		c.Share = float64(covered) / float64(c.Total)
	}
	return c
}

// Itemised is Coverage with the items of the rubric.
func (p *Plan) Itemised() event.Coverage {
	c := p.Coverage()
	for _, i := range p.Rubric {
		c.Items = append(c.Items, event.RubricItem{Question: i.Question, State: string(i.State)})
	}
	return c
}

// Event is the plan as the run's log tells it; state is that of all its steps.
func (p *Plan) Event(question, state string) event.PlanUpdated {
	told := event.PlanUpdated{Title: p.Title, Question: question}
	for _, s := range p.Sections {
		told.Steps = append(told.Steps, event.PlanStep{Title: s.Title, State: state, Queries: s.Queries})
	}
	if len(p.Sections) == 0 {
		for _, t := range p.Tasks {
			told.Steps = append(told.Steps, event.PlanStep{Title: t, State: state})
		}
	}
	return told
}

// Text is the plan as a person reads and changes it: a heading for each section,
// what it answers, and its queries as a list. ParsePlan reads it.
func (p *Plan) Text() string {
	var out strings.Builder
	fmt.Fprintf(&out, "# %s\n", p.Title)
	for _, s := range p.Sections {
		fmt.Fprintf(&out, "\n## %s\n", s.Title)
		if s.Description != "" && s.Description != s.Title {
			fmt.Fprintf(&out, "%s\n", s.Description)
		}
		for _, q := range s.Queries {
			fmt.Fprintf(&out, "- %s\n", q)
		}
	}
	if len(p.Sections) == 0 {
		for _, t := range p.Tasks {
			fmt.Fprintf(&out, "\n## %s\n", t)
		}
	}
	return out.String()
}

// Said is what a plan says to its reader, without its queries, which may be in any
// language.
func (p *Plan) Said() string {
	var out strings.Builder
	fmt.Fprintf(&out, "%s\n", p.Title)
	for _, s := range p.Sections {
		fmt.Fprintf(&out, "%s\n%s\n", s.Title, s.Description)
	}
	for _, t := range p.Tasks {
		fmt.Fprintf(&out, "%s\n", t)
	}
	for _, i := range p.Rubric {
		fmt.Fprintf(&out, "%s\n", i.Question)
	}
	return out.String()
}

// ParsePlan reads a plan in the form of Plan.Text. It is false where there is no
// section.
func ParsePlan(text string) (Plan, bool) {
	var p Plan
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch last := len(p.Sections) - 1; {
		case strings.HasPrefix(line, "## "):
			p.Sections = append(p.Sections, PlanSection{Title: oneLine(line[3:])})
		case strings.HasPrefix(line, "# "):
			p.Title = oneLine(line[2:])
		case last < 0 || line == "":
		case strings.HasPrefix(line, "- ") || strings.HasPrefix(line, "* "):
			p.Sections[last].Queries = append(p.Sections[last].Queries, sources.Searchable(line[2:]))
		default:
			p.Sections[last].Description = oneLine(p.Sections[last].Description + " " + line)
		}
	}
	p.Sections = slices.DeleteFunc(p.Sections, func(s PlanSection) bool { return s.Title == "" })
	return p, len(p.Sections) > 0
}

// Cleaned is a plan as it may be used: without addresses, without sections that
// say the same, each with a description and at least one query.
func (p Plan) Cleaned(most int) Plan {
	p.Title = oneLine(cite.Sanitize(p.Title))
	var sections []PlanSection
	seen := make(map[string]bool)
	for _, s := range p.Sections {
		s.Title, s.Description = oneLine(cite.Sanitize(s.Title)), oneLine(cite.Sanitize(s.Description))
		if s.Title == "" || seen[strings.ToLower(s.Title)] || len(sections) == most {
			continue
		}
		seen[strings.ToLower(s.Title)] = true
		if s.Description == "" {
			s.Description = s.Title
		}
		var queries []string
		for _, q := range s.Queries {
			if q = sources.Searchable(q); q != "" && !slices.Contains(queries, q) {
				queries = append(queries, q)
			}
		}
		if len(queries) == 0 {
			queries = []string{sources.Searchable(s.Description)}
		}
		s.Queries = queries
		sections = append(sections, s)
	}
	p.Sections = sections
	return p
}
