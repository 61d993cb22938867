package haiku

import (
	"context"
	"embed"
	"strconv"
	"strings"

	"dossier/lang"
	"dossier/llm"
	"dossier/prompt"
)

// Writer writes poems about themes.
type Writer struct {
	// Model continues a conversation; nil where there is none.
	Model func(ctx context.Context, messages []llm.Message) (string, error)
	// IntN returns a number below n, for what is made of fragments.
	IntN func(n int) int
}

// tries is how often a model is asked for a poem that has the form.
const tries = 3

// Write has the model write a poem, tells it what is wrong with the form and asks
// again. Where there is no model, or it does not find the form, the poem is made of
// fragments, and composed says so. It fails with what the model fails with.
func (w Writer) Write(ctx context.Context, theme string, code lang.Code) (p Poem, composed bool, err error) {
	in := input{Theme: theme, Language: code.Name()}
	for range tries {
		if w.Model == nil {
			break
		}
		messages, err := task.Messages(in)
		if err != nil {
			return Poem{}, false, err
		}
		text, err := w.Model(ctx, messages)
		if err != nil {
			return Poem{}, false, err
		}
		p := Measure(bare(text))
		if p.Right() {
			return p, false, nil
		}
		in.Tried = append(in.Tried, attempt{p.Text(), Dashed(p.Syllables)})
	}
	return Compose(theme, code, w.IntN), true, nil
}

// bare is a poem without what models put around it.
func bare(text string) string {
	text = strings.NewReplacer("`", "", "*", "", "#", "", "“", "", "”", "", "«", "", "»", "", `"`, "", " | ", "\n", " / ", "\n").Replace(text)
	lines := strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' })
	var out []string
	for _, line := range lines {
		if line = strings.TrimSpace(line); line != "" && !strings.HasSuffix(line, ":") {
			out = append(out, line)
		}
	}
	return strings.Join(out, "\n")
}

// Dashed writes the syllables of the lines as 5-7-5.
func Dashed(syllables []int) string {
	parts := make([]string, len(syllables))
	for i, n := range syllables {
		parts[i] = strconv.Itoa(n)
	}
	return strings.Join(parts, "-")
}

type attempt struct{ Text, Counts string }

type input struct {
	Theme    string
	Language string
	Tried    []attempt
}

//go:embed write.md
var prompts embed.FS

// task is only rendered here: whoever has the model knows how it is called.
var task = &prompt.Task[input, string]{Name: "haiku", Template: prompt.Parse(prompts, "write.md")}
