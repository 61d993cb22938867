package study

import (
	"context"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"dossier/lang"
	"dossier/run"
)

// PlanReview says who looks at a plan before anything is spent on it.
type PlanReview string

// The ways to look at a plan.
const (
	PlanAuto PlanReview = "auto" // it is told, and the work goes on
	PlanShow PlanReview = "show" // the work goes on when the user has seen it
	PlanEdit PlanReview = "edit" // the user may answer with a changed plan
)

// reviewRounds is how often a user can change the plan.
const reviewRounds = 10

// Review shows the plan to the user before anything is spent: as an event, and,
// unless how is PlanAuto, as a question. With PlanEdit the answer may be a whole
// plan in the form of Plan.Text, or lines like "drop 2" and "add TITLE"; after
// such a line the plan is shown again. Any other answer lets the work begin.
func Review(ctx context.Context, s *run.Scope, how PlanReview, b Brief, p Plan) (Plan, error) {
	tell := func() error {
		refined := ""
		if b.Refined != b.Question {
			refined = b.Refined
		}
		return s.Emit(p.Event(refined, "pending"))
	}
	if err := tell(); err != nil {
		return p, err
	}
	for range reviewRounds {
		if how != PlanShow && how != PlanEdit {
			return p, nil
		}
		hint := lang.Text(b.Language, "plan.show")
		if how == PlanEdit {
			hint = lang.Text(b.Language, "plan.edit")
		}
		answer, err := s.Ask(ctx, run.Question{Questions: []string{p.Text() + "\n" + hint}, Options: []string{lang.Text(b.Language, "plan.start")}})
		if err != nil || answer.Skipped || how == PlanShow {
			return p, err
		}
		changed, done := edited(p, answer.Text)
		if done {
			return p, nil
		}
		p = changed
		if err := tell(); err != nil {
			return p, err
		}
		if strings.Contains(answer.Text, "## ") { // a whole plan: there is nothing to add to it
			return p, nil
		}
	}
	return p, nil
}

var (
	dropLine = regexp.MustCompile(`(?i)^(?:drop|delete|remove|удали(?:ть)?|убери|убрать|删除|去掉)\s*#?\s*(\d+)$`)
	addLine  = regexp.MustCompile(`(?i)^(?:add|добавь|добавить|添加|增加|加上)[\s:：]*(.+)$`)
)

// edited applies what the user said to a plan. Done says that nothing is changed.
func edited(p Plan, answer string) (changed Plan, done bool) {
	if whole, ok := ParsePlan(answer); ok {
		if whole.Title == "" {
			whole.Title = p.Title
		}
		p.Title, p.Sections, p.Tasks = whole.Title, whole.Sections, nil
		return p.relisted(), false
	}
	sections, tasks := slices.Clone(p.Sections), slices.Clone(p.Tasks)
	var dropped []int
	edits := 0
	for _, line := range strings.FieldsFunc(answer, func(r rune) bool { return r == '\n' || r == ';' || r == '；' }) {
		line = strings.TrimSpace(line)
		if m := dropLine.FindStringSubmatch(line); m != nil {
			if n, err := strconv.Atoi(m[1]); err == nil {
				dropped = append(dropped, n)
				edits++
			}
		} else if m := addLine.FindStringSubmatch(line); m != nil {
			edits++
			if len(p.Sections) > 0 || len(p.Tasks) == 0 {
				sections = append(sections, PlanSection{Title: oneLine(m[1])})
			} else {
				tasks = append(tasks, oneLine(m[1]))
				p.Want(oneLine(m[1]))
			}
		}
	}
	if edits == 0 {
		return p, true
	}
	slices.Sort(dropped)
	for _, n := range slices.Backward(slices.Compact(dropped)) {
		if n >= 1 && n <= len(sections) && len(sections) > 1 {
			sections = slices.Delete(sections, n-1, n)
		} else if len(sections) == 0 && n >= 1 && n <= len(tasks) && len(tasks) > 1 {
			p = p.without(tasks[n-1])
			tasks = slices.Delete(tasks, n-1, n)
		}
	}
	p.Sections, p.Tasks = sections, tasks
	return p.relisted(), false
}

// without is a plan whose rubric does not ask for a task of it.
func (p Plan) without(task string) Plan {
	for _, i := range p.Rubric {
		if i.Kind == SubQuestion && asksSame(i.Question, task) {
			p.Drop(i.ID)
		}
	}
	return p
}

// Steered applies what a user said while the work goes on: it changes the plan, or
// is a remark.
func (p Plan) Steered(b *Brief, said []string) Plan {
	for _, text := range said {
		if changed, same := edited(p, text); !same {
			p = changed
		} else if text = oneLine(text); text != "" {
			b.Remarks = append(b.Remarks, text)
		}
	}
	return p
}

// relisted is a changed plan, made whole, with the rubric of its sections: items
// of sections that were dropped go, those of new ones come.
func (p Plan) relisted() Plan {
	p = p.Cleaned(len(p.Sections))
	if len(p.Sections) == 0 {
		return p
	}
	kept := slices.DeleteFunc(slices.Clone(p.Rubric), func(i Item) bool { return i.Kind == SubQuestion })
	items := RubricOf(p.Sections)
	for i := range items {
		for _, was := range p.Rubric {
			if was.Kind == SubQuestion && was.Question == items[i].Question {
				items[i].State, items[i].Findings = was.State, was.Findings
			}
		}
	}
	for i := range kept {
		kept[i].ID = "r" + strconv.Itoa(len(items)+i+1)
	}
	p.Rubric = slices.Concat(items, kept)
	return p
}
