package toolkit

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode"

	"dossier/cite"
	"dossier/event"
	"dossier/lang"
	"dossier/run"
	"dossier/tool"
)

type reportArgs struct {
	Reasoning  string `json:"reasoning" jsonschema:"why there is enough for a report now"`
	Title      string `json:"title" jsonschema:"title of the report, in the user's language"`
	Reference  string `json:"user_request_language_reference" jsonschema:"the user's request word for word: the report is written in its language"`
	Content    string `json:"content" jsonschema:"the whole report in Markdown, in the user's language; cite sources by number as in [1], without a list of them"`
	Confidence string `json:"confidence" enum:"high,medium,low" jsonschema:"how sure the findings are"`
}

// Validate refuses a report without a title or content.
func (a *reportArgs) Validate() error {
	if strings.TrimSpace(a.Title) == "" {
		return errors.New("title is empty: give the report one")
	}
	if strings.TrimSpace(a.Content) == "" {
		return errors.New("content is empty: write the whole report there")
	}
	return nil
}

// reportResult is what clients read.
type reportResult struct {
	Title        string `json:"title"`
	Content      string `json:"content"`
	Confidence   string `json:"confidence"`
	SourcesCount int    `json:"sources_count"`
	WordCount    int    `json:"word_count"`
	Filepath     string `json:"filepath"`
	Timestamp    string `json:"timestamp"`
	// Removed are the numbers of sources that don't exist.
	Removed []int `json:"removed_citations,omitempty"`
}

func createReport(dir string) tool.Tool {
	return tool.New(tool.Spec{
		Name: CreateReport, Kind: tool.Reporting, System: true, Effect: run.Idempotent, Tags: []string{"system", "report"},
		Description: "Write the report on what was found, in Markdown with numbered citations. Call it when there is enough, before the final answer.",
		Examples:    []string{"write the report", "summarise the findings in a document"},
	}, func(_ context.Context, c *tool.Call, in reportArgs) (tool.Result, error) {
		title := oneLine(cite.Sanitize(in.Title))
		content, removed := cite.OnlyKnown(cite.Sanitize(in.Content), func(n int) bool { _, ok := c.State.Source(n); return ok })
		content = strings.TrimSpace(content)
		if content == "" {
			return tool.Result{}, errors.New("the report has nothing but links, images or HTML. Write it out in Markdown and cite sources by their numbers")
		}
		if title == "" {
			title = "Report"
		}
		// A step that runs again has to write the same file.
		created := c.Scope.Record().Created.UTC()
		out := reportResult{
			Title: title, Content: content, Confidence: in.Confidence, SourcesCount: len(c.State.Sources), WordCount: lang.Words(content),
			Timestamp: created.Format(time.RFC3339), Removed: removed,
		}
		if dir != "" {
			var err error
			if out.Filepath, err = writeReport(dir, title, content, c, created); err != nil {
				return tool.Result{}, fmt.Errorf("the report could not be written to its folder: %w. Give it as the final answer instead", err)
			}
		}
		if c.State.Report != nil {
			if err := c.Scope.Emit(event.ReportReset{Reason: "the report is written anew"}); err != nil {
				return tool.Result{}, err
			}
		}
		if err := c.Scope.Emit(event.ReportSection{Index: 1, Title: title, Text: content}); err != nil {
			return tool.Result{}, err
		}
		return asJSON(out, tool.Change{Report: &tool.Report{Title: title, Content: content, Confidence: in.Confidence, File: out.Filepath}})
	})
}

// writeReport writes a report and its sources into a file of its own. A file
// that says something else is not touched.
func writeReport(dir, title, content string, c *tool.Call, created time.Time) (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n*Created: %s*\n\n%s\n\n", title, created.Format(time.DateTime), content)
	if len(c.State.Sources) > 0 {
		b.WriteString("---\n\n## Sources\n")
		for _, s := range c.State.Sources {
			b.WriteString("\n" + sourceLine(s) + "\n")
		}
	}
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return "", err
	}
	name := created.Format("20060102_150405") + "_" + fileName(title)
	sum := sha256.Sum256([]byte(c.Scope.Record().ID + " " + c.Scope.Path()))
	for _, name := range []string{name, name + "_" + hex.EncodeToString(sum[:4])} {
		path := filepath.Join(dir, name+".md")
		written, err := writeNew(path, b.String())
		if written || err != nil {
			return path, err
		}
	}
	return "", errors.New("a file of that name is there already")
}

// writeNew makes a file as a whole. It says whether the file now has the text:
// one that is there with another is left as it is.
func writeNew(path, text string) (bool, error) {
	had, err := os.ReadFile(path)
	if err == nil || !errors.Is(err, os.ErrNotExist) {
		return err == nil && string(had) == text, err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".report-*")
	if err != nil {
		return false, err
	}
	defer os.Remove(f.Name())
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return false, err
	}
	if err := os.Link(f.Name(), path); err == nil || errors.Is(err, os.ErrExist) {
		return err == nil, nil
	}
	return true, os.Rename(f.Name(), path) // a file system without links
}

// fileName is a title as part of a file's name.
func fileName(title string) string {
	const most = 50
	var out []rune
	for _, r := range title {
		if len(out) < most && (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || strings.ContainsRune(" -_", r)) {
			out = append(out, r)
		}
	}
	if name := strings.TrimSpace(string(out)); name != "" {
		return name
	}
	return "report"
}

// sourceLine is a source as lists name it.
func sourceLine(s tool.Source) string {
	title := oneLine(s.Title)
	if title == "" {
		title = "Untitled"
	}
	return fmt.Sprintf("[%d] %s - %s", s.Number, title, s.URL)
}

// oneLine is a text in one line.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// cut is the beginning of a text.
func cut(text string, most int) string {
	n := 0
	for i := range text {
		if n == most {
			return text[:i]
		}
		n++
	}
	return text
}
