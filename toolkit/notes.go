package toolkit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"dossier/cite"
	"dossier/event"
	"dossier/tool"
)

// The names of the tools for notes.
const (
	AddNote   = "add_note_tool"
	ReadNotes = "read_notes_tool"
)

func noteMakers() []maker {
	return []maker{
		plain(AddNote, func(Settings) tool.Tool { return addNote() }),
		plain(ReadNotes, func(Settings) tool.Tool { return readNotes() }),
	}
}

type addNoteArgs struct {
	Text    string `json:"text" max:"4000" jsonschema:"what to keep, with names and numbers"`
	Sources []int  `json:"sources,omitempty" max:"20" jsonschema:"numbers of the sources that say it"`
}

// Validate refuses an empty note.
func (a *addNoteArgs) Validate() error {
	if strings.TrimSpace(a.Text) == "" {
		return errors.New("text is empty: write down what to keep")
	}
	return nil
}

func addNote() tool.Tool {
	return tool.New(tool.Spec{
		Name: AddNote, Tags: []string{"notes", "memory"},
		Description: "Keep a finding for later, with the numbers of its sources.",
		Examples:    []string{"remember this", "take a note", "запиши", "记下来"},
	}, func(_ context.Context, c *tool.Call, in addNoteArgs) (tool.Result, error) {
		note := tool.Note{Text: strings.TrimSpace(cite.Sanitize(in.Text))}
		for _, n := range in.Sources {
			if _, ok := c.State.Source(n); ok && !slices.Contains(note.Sources, n) {
				note.Sources = append(note.Sources, n)
			}
		}
		number := len(c.State.Notes) + 1
		if err := c.Scope.Emit(event.NoteAdded{ID: fmt.Sprint(number), Text: note.Text, Sources: note.Sources}); err != nil {
			return tool.Result{}, err
		}
		return tool.Result{Text: fmt.Sprintf("Note %d is kept.", number), Change: tool.Change{Notes: []tool.Note{note}}}, nil
	})
}

type readNotesArgs struct{}

func readNotes() tool.Tool {
	return tool.New(tool.Spec{
		Name: ReadNotes, Tags: []string{"notes", "memory"},
		Description: "Read all notes that were kept in this task.",
		Examples:    []string{"what did I note so far", "read the notes"},
	}, func(_ context.Context, c *tool.Call, _ readNotesArgs) (tool.Result, error) {
		if len(c.State.Notes) == 0 {
			return tool.Result{Text: "There are no notes."}, nil
		}
		var b strings.Builder
		for i, n := range c.State.Notes {
			fmt.Fprintf(&b, "%d. %s", i+1, n.Text)
			if len(n.Sources) > 0 {
				b.WriteString(" " + cite.Marker(n.Sources))
			}
			b.WriteString("\n")
		}
		return tool.Result{Text: b.String()}, nil
	})
}
