package supervised

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"dossier/report"
)

// memory is what the documents of a research say.
type memory struct {
	insights []string // main.md
	notes    []string // supervisor.md
	draft    string   // draft_report.md
	said     []string // what the user said to the team
}

func (m *memory) note(text string) { m.notes = append(m.notes, "- "+text) }

// main is the main document: insights, and nothing else.
func (m *memory) main() string {
	if len(m.insights) == 0 {
		return ""
	}
	return "- " + strings.Join(m.insights, "\n- ")
}

// has says whether the main document has an insight.
func (m *memory) has(insight string) bool {
	return slices.ContainsFunc(m.insights, func(known string) bool { return strings.HasPrefix(known, oneLine(insight)) })
}

// append adds a part to the draft.
func (m *memory) append(title, text string) {
	if m.draft != "" {
		m.draft += "\n\n"
	}
	m.draft += "## " + title + "\n\n" + text
}

// Sessions are the folders in which people can follow what teams write. The run's
// record is the truth: a folder is made anew from it when the run is taken up
// again.
type Sessions struct {
	// Dir holds a folder for each run; empty shows none.
	Dir string
	// Keep is how long a folder that nobody changes is kept; 0 is for ever.
	Keep time.Duration
}

// folder is that of one run.
type folder struct {
	path  string
	keep  time.Duration
	shown map[string]string // by name
}

func (s Sessions) of(run string) folder {
	if s.Dir == "" {
		return folder{}
	}
	return folder{path: filepath.Join(s.Dir, run), keep: s.Keep, shown: make(map[string]string)}
}

// write brings files up to date; each is replaced at once, so that a reader never
// sees half of one. It is a view: what can't be written is left out.
func (f *folder) write(files map[string]string) {
	if len(f.shown) == 0 {
		f.tidy()
	}
	for name, text := range files {
		if was, ok := f.shown[name]; ok && was == text {
			continue
		}
		path := filepath.Join(f.path, filepath.FromSlash(name))
		if os.MkdirAll(filepath.Dir(path), 0o700) != nil || replace(path, text) != nil {
			return
		}
		f.shown[name] = text
	}
}

// replace writes a file whole.
func replace(path, text string) error {
	made, err := os.CreateTemp(filepath.Dir(path), ".dossier-*")
	if err != nil {
		return err
	}
	_, err = made.WriteString(text)
	if err = cmp.Or(err, made.Close()); err == nil {
		err = os.Rename(made.Name(), path)
	}
	if err != nil {
		_ = os.Remove(made.Name())
	}
	return err
}

// tidy removes the folders of other runs that nobody has changed for too long.
func (f *folder) tidy() {
	if f.keep <= 0 {
		return
	}
	all, err := os.ReadDir(filepath.Dir(f.path))
	if err != nil {
		return
	}
	for _, other := range all {
		path := filepath.Join(filepath.Dir(f.path), other.Name())
		if !other.IsDir() || path == f.path || time.Since(lastChange(path)) < f.keep {
			continue
		}
		_ = os.RemoveAll(path)
	}
}

// lastChange is when something in a folder was last changed; now where that is
// not known.
func lastChange(path string) time.Time {
	var last time.Time
	err := filepath.WalkDir(path, func(_ string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if info.ModTime().After(last) {
			last = info.ModTime()
		}
		return nil
	})
	if err != nil {
		return time.Now()
	}
	return last
}

// show brings the folder of the run up to date.
func (t *team) show() {
	if t.folder.path == "" {
		return
	}
	t.scope.Aside(func() { t.folder.write(t.documents()) })
}

// documents are the files of the folder.
func (t *team) documents() map[string]string {
	title := t.plan.Title
	out := map[string]string{
		"main.md":         "# " + title + "\n\n" + t.memory.main() + "\n",
		"draft_report.md": "# " + title + "\n\n" + t.memory.draft + "\n",
		"supervisor.md":   t.supervisorFile(),
	}
	for _, r := range t.members {
		out["agents/"+r.name+".md"] = r.file()
	}
	for i, f := range t.book.Findings {
		var b strings.Builder
		fmt.Fprintf(&b, "# %s\n\n%s · %s\n\n%s\n\n", f.Task, f.ID, f.By, f.Text)
		for _, n := range f.Sources() {
			if src, ok := t.book.Ledger.Source(n); ok {
				fmt.Fprintf(&b, "[%d] %s — %s\n", n, cmp.Or(src.Title, src.URI), src.URI)
			}
		}
		out[fmt.Sprintf("items/item_%d.md", i+1)] = b.String()
	}
	return out
}

func (t *team) supervisorFile() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n%s\n\n", supervisorName, strings.Join(t.memory.notes, "\n"))
	for _, i := range t.plan.Rubric {
		mark := map[bool]string{true: "x", false: " "}[len(i.Findings) > 0]
		fmt.Fprintf(&b, "- [%s] %s %s (%s)\n", mark, i.ID, i.Question, i.State)
	}
	return b.String()
}

func (r *researcher) file() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s: %s\n\n%s\n\n", r.name, r.Role, r.Style)
	for _, d := range r.todos {
		mark := map[bool]string{true: "x", false: " "}[d.state == done]
		fmt.Fprintf(&b, "- [%s] %s (%s)\n", mark, d.title, d.state)
	}
	for _, n := range slices.Backward(r.notes) {
		fmt.Fprintf(&b, "\n%s\n", n)
	}
	return b.String()
}

// keepReport puts the finished report into the folder.
func (t *team) keepReport(r *report.Report) {
	if t.folder.path == "" {
		return
	}
	t.scope.Aside(func() { t.folder.write(map[string]string{"final_report.md": report.Markdown(r)}) })
}
