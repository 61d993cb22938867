package supervised

import (
	"context"
	"embed"
	"fmt"
	"slices"
	"strings"

	"dossier/cite"
	"dossier/event"
	"dossier/extract"
	"dossier/lang"
	"dossier/llm"
	"dossier/prompt"
	"dossier/run"
	"dossier/sources"
	"dossier/study"
)

//go:embed *.md
var files embed.FS

// prepare makes ready what the team works on: what is asked, what a deep search
// finds, what the user means, the plan, and who works on it.
func (t *team) prepare(ctx context.Context) error {
	history, err := t.req.Conversation(ctx, t.scope, t.parts.History, t.set.HistoryLimit)
	if err != nil {
		return err
	}
	t.open, err = t.parts.Holdings.Open(ctx, t.scope, sources.Asked{In: t.req.In, Material: t.req.Context, Language: t.language, Secret: study.Secrets(history, t.set.FollowUps > 0), Known: t.known})
	if err != nil {
		return err
	}
	if t.set.Tuning.PerRound = 0; t.open.Web {
		t.set.Tuning.PerRound = t.set.Tuning.Queries
	}
	asked := t.req.Question
	if t.set.FollowUps > 0 { // from here on nobody looks at the conversation
		if asked, err = t.goOn(ctx, history); err != nil {
			return err
		}
		history = nil
	}
	if err := t.searchFirst(ctx, asked); err != nil {
		return err
	}
	t.brief = study.Brief{Question: t.req.Question, Refined: sources.StandAlone(asked, history), Language: t.language}
	if t.set.Clarify {
		t.brief, err = study.Clarify(ctx, t.scope, study.Clarification{
			Models: t.parts.Models, Model: t.req.Model, Question: asked, History: history, Language: t.language,
			NoInput: t.req.NoInput, Wait: t.set.ClarifyWait,
		})
		if err != nil {
			return err
		}
		t.brief.Question = t.req.Question
	}
	if err := t.makePlan(ctx); err != nil {
		return err
	}
	return t.cast(ctx)
}

// faultOf is what went wrong, as it is recorded.
func faultOf(err error) string {
	if f, ok := run.FaultOf(err); ok {
		return f.Message
	}
	return err.Error()
}

// cut is the beginning of a text, ended between words.
func cut(text string, most int) string {
	if runes := []rune(text); len(runes) > most {
		text = string(runes[:most])
		if at := strings.LastIndexAny(text, " \n"); at > most/2 {
			text = text[:at]
		}
		return text + " …"
	}
	return text
}

// Analysis is what kind of question it is, and how to go about it.
type Analysis struct {
	Class      string `json:"class" jsonschema:"factual, comparison, cause, how_to, overview, forecast or opinion"`
	Complexity string `json:"complexity" jsonschema:"simple, moderate or complex"`
	Strategy   string `json:"strategy" jsonschema:"how to go about it, in two or three sentences"`
}

type analyseInput struct {
	Question, Context, DeepSearch, Language, Date, Where string
}

var analyse = &prompt.Task[analyseInput, Analysis]{
	Name:     "analyse",
	Role:     llm.ForSummarizer,
	Template: prompt.Parse(files, "analyse.md"),
	Fallback: func(in analyseInput) (Analysis, error) {
		a := Analysis{Class: "overview", Complexity: "simple", Strategy: lang.Text(lang.Detect(in.Question), "team.strategy")}
		switch n := len(extract.Facets(in.Question)); {
		case n > 3:
			a.Complexity = "complex"
		case n > 1:
			a.Complexity = "moderate"
		}
		return a, nil
	},
}

// planned is what a model is asked for.
type planned struct {
	Title   string        `json:"title" jsonschema:"a title for the research"`
	Aspects []string      `json:"aspects" jsonschema:"the key aspects of the topic, a few words each"`
	Rubric  []plannedItem `json:"rubric" jsonschema:"the checklist by which the research is complete or not"`
	Tasks   []string      `json:"tasks" jsonschema:"the first tasks, each for one researcher and a question that stands by itself"`
}

type plannedItem struct {
	Question string         `json:"question" jsonschema:"what has to be known, as a question that stands by itself"`
	Kind     study.ItemKind `json:"kind" jsonschema:"question for a part of the question, must for what has to be covered, trap for what is easily got wrong"`
	Sources  []string       `json:"sources" jsonschema:"kinds of sources that it needs"`
}

// Validate implements the check of llm.Object.
func (p *planned) Validate() error {
	if len(p.Tasks) == 0 {
		return fmt.Errorf("the field tasks is empty: give at least one")
	}
	if len(p.Rubric) == 0 {
		return fmt.Errorf("the field rubric is empty: say what has to be known")
	}
	return nil
}

type planInput struct {
	analyseInput
	Analysis Analysis
	Agents   int
	rules    func() planned
}

var plan = &prompt.Task[planInput, planned]{
	Name:     "plan",
	Role:     llm.ForSummarizer,
	Template: prompt.Parse(files, "plan.md"),
	Fallback: func(in planInput) (planned, error) { return in.rules(), nil },
}

const (
	mostItems = 12 // of a rubric
	mostTasks = 10 // of a plan
)

// makePlan decides what is to be found out, and shows it before anything is
// spent on it.
func (t *team) makePlan(ctx context.Context) error {
	in := planInput{Agents: t.set.Agents, analyseInput: analyseInput{
		Question: t.brief.Refined, Context: t.brief.Context(), DeepSearch: cut(t.deepResult, mostResult/2), Language: t.language.Name(),
		Date: t.scope.Record().Created.Format("2006-01-02"), Where: t.open.Where,
	}}
	seen, err := analyse.Do(ctx, t.scope, t.parts.Models, in.analyseInput, prompt.Options[Analysis]{Model: t.req.Model})
	if err != nil {
		return err
	}
	t.analysis, in.Analysis = seen.Value, seen.Value
	in.rules = t.planByRules
	made, err := plan.Do(ctx, t.scope, t.parts.Models, in, prompt.Options[planned]{Model: t.req.Model})
	if err != nil {
		return err
	}
	t.overruled(seen.Overruled(), seen.Why)
	t.overruled(made.Overruled(), made.Why)
	p := t.cleaned(made.Value)
	if !made.Extractive && !t.brief.InLanguage(p.Said()) {
		t.overruled(true, lang.Text(t.language, "study.other-language"))
		p.Tasks = nil
	}
	if len(p.Tasks) == 0 || len(p.Rubric) == 0 {
		p = t.cleaned(t.planByRules())
	}
	how := t.set.Plan
	if t.req.NoInput {
		how = study.PlanAuto
	}
	t.plan, err = study.Review(ctx, t.scope, how, t.brief, p)
	if err != nil {
		return err
	}
	if len(t.plan.Tasks) == 0 { // the user has written sections
		for _, s := range t.plan.Sections {
			t.plan.Tasks = append(t.plan.Tasks, s.Description)
		}
		t.plan.Sections = nil
	}
	return t.cover(ctx)
}

// cover notes which items of the rubric the deep search has answered already, and
// which ones earlier runs.
func (t *team) cover(ctx context.Context) error {
	covered, err := run.EffectStep(ctx, t.scope, run.Pure, "covers-deep_search", func(context.Context, *run.Scope) ([][]string, error) {
		out := make([][]string, len(t.book.Findings))
		for i, f := range t.book.Findings {
			if f.FromEarlier() {
				continue // see below
			}
			open := t.plan.OpenItems()
			for n, got := range t.book.Evidence(t.brief.Refined, f.ID).Answers(questionsOf(open)...) {
				if got.Answered && (got.Confidence >= extract.Sure || strings.EqualFold(open[n].Question, f.Task)) {
					out[i] = append(out[i], open[n].ID)
				}
			}
		}
		return out, nil
	})
	if err != nil {
		return err
	}
	for i, items := range covered {
		f := &t.book.Findings[i]
		f.Items = items
		for _, item := range items {
			t.plan.Cover(item, f.ID)
		}
	}
	var open []string
	for _, item := range t.plan.OpenItems() {
		open = append(open, item.Question)
	}
	for _, task := range t.plan.Tasks {
		if !slices.Contains(open, task) {
			open = append(open, task)
		}
	}
	if t.settled, err = t.remember(ctx, "recall-items", open); err != nil {
		return err
	}
	return t.tellCoverage()
}

// overruled notes that rules stood in for a model that was there.
func (t *team) overruled(yes bool, why string) {
	if yes {
		t.book.Note(lang.Text(t.language, "research.by-rules", "why", prompt.Told(t.language, why)))
	}
}

// planByRules is a plan without a model: the parts of the question, and what
// names in what was found so far lead on to.
func (t *team) planByRules() planned {
	question := t.brief.Refined
	p := planned{Title: question}
	facets := extract.Facets(question)
	for _, f := range facets {
		p.Aspects = append(p.Aspects, f)
		p.Tasks = append(p.Tasks, f)
		p.Rubric = append(p.Rubric, plannedItem{Question: f, Kind: study.SubQuestion})
	}
	if len(facets) > 1 {
		p.Tasks = append(p.Tasks, question)
	}
	if len(t.book.Findings) == 0 {
		return p
	}
	var read []extract.Passage
	var ids []string
	for _, f := range t.book.Findings {
		ids = append(ids, f.ID)
	}
	for _, passage := range t.book.Evidence(question, ids...).Passages {
		read = append(read, extract.Passage{ID: passage.ID, Title: passage.Title, Headings: passage.HeadingPath, Text: passage.Text})
	}
	for _, f := range facets {
		for _, q := range extract.FollowUps(f, read) {
			if len(p.Tasks) < max(t.set.Agents, len(facets)) && !slices.Contains(p.Tasks, t.byWords(q)) {
				p.Tasks = append(p.Tasks, t.byWords(q))
			}
		}
	}
	return p
}

// byWords is a task that consists of words to search for, as people read it. Runs
// of earlier programs tell the bare words.
func (t *team) byWords(query string) string {
	if t.set.FollowUps == 0 {
		return query
	}
	return lang.Text(t.language, "team.words", "query", query)
}

// wordsOf is what byWords made a title of, "" where it made none.
func (t *team) wordsOf(title string) string {
	before, after, _ := strings.Cut(t.byWords("\x00"), "\x00")
	inner, ok := strings.CutPrefix(title, before)
	if inner, is := strings.CutSuffix(inner, after); ok && is && before != "" {
		return inner
	}
	return ""
}

// cleaned is a plan as it may be used: without addresses, and nothing twice.
func (t *team) cleaned(made planned) study.Plan {
	p := study.Plan{Title: oneLine(made.Title)}
	if p.Title == "" {
		p.Title = t.brief.Refined
	}
	for _, a := range made.Aspects {
		if a = oneLine(a); a != "" {
			p.Aspects = append(p.Aspects, a)
		}
	}
	for _, text := range made.Tasks {
		text = oneLine(text)
		same := func(o string) bool { return strings.EqualFold(o, text) || extract.Same(o, text) }
		if text != "" && len(p.Tasks) < mostTasks && !slices.ContainsFunc(p.Tasks, same) {
			p.Tasks = append(p.Tasks, text)
		}
	}
	for _, i := range made.Rubric {
		question := oneLine(i.Question)
		same := func(o study.Item) bool {
			return strings.EqualFold(o.Question, question) || extract.Same(o.Question, question)
		}
		if question == "" || len(p.Rubric) == mostItems || slices.ContainsFunc(p.Rubric, same) {
			continue
		}
		if i.Kind != study.Must && i.Kind != study.Trap {
			i.Kind = study.SubQuestion
		}
		p.Rubric = append(p.Rubric, study.Item{ID: fmt.Sprintf("r%d", len(p.Rubric)+1), Question: question, Kind: i.Kind, Sources: i.Sources, State: study.Open})
	}
	return p
}

// oneLine is a text that a model wrote, without addresses, in one line.
func oneLine(text string) string {
	return strings.Join(strings.Fields(cite.Sanitize(text)), " ")
}

// Character is who a researcher is.
type Character struct {
	Role    string   `json:"role" jsonschema:"a specialisation, such as Technical Expert or Historical Analyst"`
	Style   string   `json:"style" jsonschema:"how this researcher works, in a few words"`
	Sources []string `json:"sources" jsonschema:"kinds of sources that this researcher prefers"`
}

type characters struct {
	Agents []Character `json:"agents" jsonschema:"one for each researcher, all different"`
}

type castInput struct {
	Question, Language string
	Agents             int
	Aspects, Tasks     []string
	code               lang.Code
}

var castTeam = &prompt.Task[castInput, characters]{
	Name:     "cast",
	Role:     llm.ForSummarizer,
	Template: prompt.Parse(files, "cast.md"),
	Fallback: func(in castInput) (characters, error) { return characters{castByRules(in.code)}, nil },
}

// castByRules are the characters of a team that no model made.
func castByRules(code lang.Code) []Character {
	out := make([]Character, mostAgents)
	for i := range out {
		n := i + 1
		out[i] = Character{
			Role: lang.Text(code, fmt.Sprintf("team.role-%d", n)), Style: lang.Text(code, fmt.Sprintf("team.style-%d", n)),
			Sources: []string{lang.Text(code, fmt.Sprintf("team.sources-%d", n))},
		}
	}
	return out
}

// cast makes the team and hands out the first tasks.
func (t *team) cast(ctx context.Context) error {
	made, err := castTeam.Do(ctx, t.scope, t.parts.Models, castInput{
		Question: t.brief.Refined, Language: t.language.Name(), Agents: t.set.Agents, Aspects: t.plan.Aspects, Tasks: t.plan.Tasks, code: t.language,
	}, prompt.Options[characters]{Model: t.req.Model})
	if err != nil {
		return err
	}
	t.overruled(made.Overruled(), made.Why)
	stock := castByRules(t.language)
	var roles []string
	for n := range t.set.Agents {
		c := stock[n]
		if n < len(made.Value.Agents) {
			if own := made.Value.Agents[n]; oneLine(own.Role) != "" && !slices.Contains(roles, oneLine(own.Role)) {
				c = Character{Role: cut(oneLine(own.Role), 100), Style: cut(oneLine(own.Style), 300)}
				for _, s := range own.Sources {
					c.Sources = append(c.Sources, cut(oneLine(s), 100))
				}
			}
		}
		roles = append(roles, c.Role)
		name := fmt.Sprintf("agent_%d", n+1)
		r := &researcher{number: n + 1, name: name, Character: c, scope: t.scope.Child(name)}
		t.members = append(t.members, r)
		if err := t.scope.Emit(event.AgentStarted{Name: r.name, Role: r.Role}); err != nil {
			return err
		}
	}
	for i, task := range t.plan.Tasks {
		r := t.members[i%len(t.members)]
		d := &todo{id: fmt.Sprintf("%s-%d", r.name, len(r.todos)+1), title: task, question: t.wordsOf(task), items: t.itemsOf(task)}
		r.todos = append(r.todos, d)
		state := pending
		if t.answeredBefore(d) {
			state = done
		}
		if err := t.mark(r, d, state); err != nil {
			return err
		}
	}
	return nil
}

// itemsOf are the items of the rubric that a task of the plan is to cover: those
// that are nearer to it than to any other task.
func (t *team) itemsOf(task string) []string {
	var out []string
	for _, item := range t.plan.Rubric {
		best, most := "", 0
		for _, other := range t.plan.Tasks {
			if n := inCommon(item.Question, other); n > most {
				best, most = other, n
			}
		}
		if best == task {
			out = append(out, item.ID)
		}
	}
	return out
}

// inCommon counts the telling words that two questions share.
func inCommon(a, b string) int {
	if strings.EqualFold(a, b) {
		return 1 << 20
	}
	words := extract.Content(b)
	n := 0
	for _, w := range extract.Content(a) {
		if slices.Contains(words, w) {
			n++
		}
	}
	return n
}
