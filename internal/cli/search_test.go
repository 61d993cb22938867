package cli_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"dossier/event"
	"dossier/lang"
	"dossier/mode"
	"dossier/report"
	"dossier/run"
	"dossier/search"
	"dossier/sources"
)

// seeking stands in for the mode web_search: its question says how it ends.
type seeking struct{}

func (seeking) Name() string  { return "web_search" }
func (seeking) Settings() any { return nil }

func (seeking) Run(ctx context.Context, s *run.Scope, req mode.Request) (mode.Answer, error) {
	switch req.Question {
	case "missing":
		web := &sources.Web{Missing: map[string]string{"brave": "a key in BRAVE_API_KEY"}}
		_, err := web.Corpus(*req.In.Web, lang.English)
		return mode.Answer{}, err
	case "down":
		return run.Step(ctx, s, "find", func(context.Context, *run.Scope) (mode.Answer, error) {
			return mode.Answer{}, &search.ExhaustedError{Query: "q", Tried: []*search.Error{
				{Engine: "brave", Reason: search.RateLimited, Status: 429}, {Engine: "duckduckgo", Reason: search.Blocked, Detail: "a captcha"},
			}}
		})
	case "nothing":
		r := &report.Report{Version: report.Version, Run: s.Record().ID, Question: req.Question, Lang: lang.English, Outcome: report.Nothing, Extractive: true}
		return mode.Answer{Text: report.Markdown(r), Report: r}, nil
	}
	_ = s.Emit(event.SearchStarted{Query: "heat pumps", Engine: "brave"})
	_ = s.Emit(event.SearchResults{
		Query: "heat pumps", Found: 2, New: 2,
		Engines: []event.EngineReply{{Engine: "brave", Found: 3}, {Engine: "arxiv", Error: "too slow: no answer in 15s"}},
		Dropped: []event.DroppedResult{{URL: "http://10.0.0.1/", Reason: "refused-url"}},
	})
	raw, err := json.Marshal(req.In.Web)
	return mode.Answer{Text: string(raw)}, err
}

func TestSearchEndsWithItsExitCode(t *testing.T) {
	for _, tc := range []struct {
		line string
		code int
		says []string
	}{
		{"research missing --search brave", 3, []string{"dossier: the search engine brave is not set up: it needs a key in BRAVE_API_KEY", "hint: set it in the configuration", "dossier runs resume "}},
		{"ask missing --search=brave", 3, []string{"the search engine brave is not set up"}},
		{"ask missing --search", 3, []string{"dossier: no search engine is configured"}},
		{"research down --search", 3, []string{"brave: rate-limited (HTTP 429); duckduckgo: blocked: a captcha", "`dossier doctor` tests each engine"}},
		{"ask --search down", 3, []string{"brave: rate-limited (HTTP 429); duckduckgo: blocked: a captcha"}},
		{"research nothing --search", 4, nil},
		{"ask --search nothing", 4, nil},
		{"ask --search nothing -o answer.md", 4, nil},
	} {
		d := newDesk(t)
		d.terminal, d.modes = false, []mode.Mode{seeking{}}
		t.Chdir(d.home)
		if code := d.run(t, strings.Fields(tc.line)...); code != tc.code {
			t.Errorf("%s: exit code %d\n%s", tc.line, code, d.err)
		}
		for _, want := range tc.says {
			if !strings.Contains(d.err.String(), want) {
				t.Errorf("%s: %q is missing in\n%s", tc.line, want, d.err)
			}
		}
	}
}

func TestSearchTellsWhatItDoes(t *testing.T) {
	d := newDesk(t)
	d.terminal, d.modes = false, []mode.Mode{seeking{}}
	if code := d.run(t, "ask", "--search=brave,arxiv", "--site", "example.org", "--block", "a.example.org", "anything"); code != 0 {
		t.Errorf("exit code %d", code)
	}
	for _, want := range []string{
		"searches brave: heat pumps\n",
		"found 2, 2 new: heat pumps · brave 3, arxiv failed: too slow: no answer in 15s · dropped 1: 1 refused-url\n",
	} {
		if !strings.Contains(d.err.String(), want) {
			t.Errorf("%q is missing in\n%s", want, d.err)
		}
	}
	if got, want := d.out.String(), `{"engines":["brave","arxiv"],"sites":["example.org"],"block":["a.example.org"]}`+"\n"; got != want {
		t.Errorf("asked of %s, want %s", got, want)
	}
	d = newDesk(t)
	d.modes = []mode.Mode{seeking{}}
	if code := d.run(t, "ask", "--search", "anything"); code != 0 || !strings.Contains(d.err.String(), "✗ arxiv: too slow · ✓ brave") {
		t.Errorf("exit code %d, the board showed\n%q", code, d.err)
	}
}
