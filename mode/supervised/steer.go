package supervised

import (
	"regexp"
	"slices"
	"strings"

	"dossier/event"
	"dossier/lang"
)

// What a user says to the team while it works: a task more, one less, another
// one instead, or anything else, which everybody reads from then on.
var (
	steerAdd    = regexp.MustCompile(`(?is)^\s*(?:add|добавить|добавь|添加|增加)(?:\s+(?:a\s+)?(?:task|todo|задачу|задание)|任务)?\s*[:：]\s*(.+)$`)
	steerDrop   = regexp.MustCompile(`(?is)^\s*(?:drop|remove|убрать|убери|удалить|удали|删除|去掉)(?:\s+(?:task|todo|задачу|задание)|任务)?\s*[:：]\s*(.+)$`)
	steerChange = regexp.MustCompile(`(?is)^\s*(?:change|replace|изменить|измени|заменить|замени|更改|修改)(?:\s+(?:task|todo|задачу|задание)|任务)?\s*[:：]\s*(.+?)\s*(?:->|→|=>)\s*(.+)$`)
)

// steer takes in what the user said since the last time.
func (t *team) steer() error {
	said, err := t.scope.Steer()
	if err != nil {
		return err
	}
	for _, text := range said {
		if err := t.steered(text); err != nil {
			return err
		}
	}
	return nil
}

func (t *team) steered(text string) error {
	if m := steerAdd.FindStringSubmatch(text); m != nil && oneLine(m[1]) != "" {
		t.finished = false // the user wants more
		return t.want(t.free(), oneLine(m[1]))
	}
	if m := steerChange.FindStringSubmatch(text); m != nil && oneLine(m[2]) != "" {
		if r, d := t.todoLike(m[1]); d != nil {
			if err := t.drop(r, d); err != nil {
				return err
			}
			return t.want(r, oneLine(m[2]))
		}
		return t.want(t.free(), oneLine(m[2]))
	}
	if m := steerDrop.FindStringSubmatch(text); m != nil {
		r, d := t.todoLike(m[1])
		if d == nil {
			return t.scope.Emit(event.RunError{Code: "no_such_task", Message: lang.Text(t.language, "team.no-task", "task", oneLine(m[1]))})
		}
		if err := t.drop(r, d); err != nil {
			return err
		}
		return t.tellPlan()
	}
	t.memory.said = append(t.memory.said, oneLine(text))
	return t.scope.Emit(event.NoteAdded{ID: "user", Text: oneLine(text)})
}

// want gives a researcher a task of the user, which the rubric asks for from now
// on.
func (t *team) want(r *researcher, question string) error {
	d := &todo{title: question, items: []string{t.plan.Want(question)}}
	if err := t.tellCoverage(); err != nil {
		return err
	}
	return t.give(r, d)
}

// drop takes back a task that the user does not want, and off the rubric what it was for and
// nobody has found.
func (t *team) drop(r *researcher, d *todo) error {
	if err := t.mark(r, d, dropped); err != nil {
		return err
	}
	for _, i := range t.plan.OpenItems() {
		if slices.Contains(d.items, i.ID) && !t.underWay(i.ID) {
			t.plan.Drop(i.ID)
		}
	}
	return t.tellCoverage()
}

// todoLike finds a task that is not done by its ID or by words of its title. One
// that is under way and is dropped is finished, and what it brings is left out.
func (t *team) todoLike(text string) (*researcher, *todo) {
	text = strings.ToLower(oneLine(text))
	for _, whole := range []bool{true, false} {
		for _, r := range t.members {
			for _, d := range r.todos {
				if d.state != pending && d.state != active {
					continue
				}
				title := strings.ToLower(d.title)
				if whole && (d.id == text || title == text) || !whole && text != "" && strings.Contains(title, text) {
					return r, d
				}
			}
		}
	}
	return nil, nil
}
