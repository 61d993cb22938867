package cli_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dossier/lang"
	"dossier/mode"
	"dossier/report"
	"dossier/run"
)

// printed is a mode whose runs deliver a report of research, after they were
// answered.
type printed struct{}

func (printed) Name() string  { return "printed" }
func (printed) Settings() any { return nil }
func (printed) Run(ctx context.Context, s *run.Scope, req mode.Request) (mode.Answer, error) {
	if _, err := s.Ask(ctx, run.Question{Questions: []string{"ready?"}}); err != nil {
		return mode.Answer{}, err
	}
	r := &report.Report{
		Version: report.Version, Run: s.Record().ID, Question: req.Question, Kind: report.Research, Title: "Тепловые насосы 🎩", Lang: lang.Russian, Outcome: report.Answered,
		Summary: "Кратко.", Sections: []report.Section{{Title: "Первое", Text: "Слова."}}, Conclusion: "Итог.",
	}
	return mode.Answer{Text: "done", Report: r}, nil
}

// A PDF is had of deep research, once it is done.
func TestPDFOfResearch(t *testing.T) {
	d := newDesk(t)
	d.modes = []mode.Mode{printed{}}
	if code := d.run(t, "ask", "--no-input", "--mode", "printed", "which?"); code != 4 {
		t.Fatalf("exit code %d\n%s", code, d.err)
	}
	file := filepath.Join(d.home, "report.pdf")
	if code := d.run(t, "runs", "report", "last", "-o", file); code != 4 || !strings.Contains(d.err.String(), "is not done yet") {
		t.Errorf("before the end: exit code %d\n%s", code, d.err)
	}
	if code := d.run(t, "runs", "answer", "last", "yes"); code != 0 {
		t.Fatalf("exit code %d\n%s", code, d.err)
	}
	if code := d.run(t, "runs", "report", "last", "--format", "pdf"); code != 2 || !strings.Contains(d.err.String(), "on a terminal") {
		t.Errorf("to a terminal: exit code %d\n%s", code, d.err)
	}
	if code := d.run(t, "runs", "report", "last", "-o", file); code != 0 {
		t.Fatalf("exit code %d\n%s", code, d.err)
	}
	data, err := os.ReadFile(file)
	if err != nil || !bytes.HasPrefix(data, []byte("%PDF-1.7")) {
		t.Errorf("%v %q", err, data[:min(len(data), 20)])
	}
	d.terminal = false
	if code := d.run(t, "runs", "report", "last", "--format", "pdf"); code != 0 || !strings.Contains(d.out.String(), "%PDF-1.7") {
		t.Errorf("to a pipe: exit code %d\n%s", code, d.err)
	}
	for _, format := range []string{"md", "html", "json", "docx", "bib", "ris"} {
		if code := d.run(t, "runs", "report", "last", "-o", filepath.Join(d.home, "report."+format)); code != 0 {
			t.Errorf("%s: exit code %d\n%s", format, code, d.err)
		}
	}
}
