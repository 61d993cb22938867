// Command openresponses runs the suite of Open Responses against `dossier serve`
// and writes what it found.
//
//	go run ./bench/openresponses [-out FILE]
//
// The suite is the Python package llm-comply, as it is pinned in the folder clients.
// The model behind the server is scripted: it is the form of what is served that is
// looked at. A test that fails for a reason that is not listed here makes the
// program fail.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"dossier/bench/internal/lab"
	"dossier/llm/llmtest"
)

// explained is why something is said.
type explained struct {
	says *regexp.Regexp
	why  string
}

// reasons why a test does not pass, or is passed over, by its id and what it says.
var reasons = []explained{
	{regexp.MustCompile(`^image-input: `), "what comes along can be text only, and a picture is refused with a sentence that says so"},
	{regexp.MustCompile(`^streaming-\w+: unknown SSE event type: response\.reasoning_summary_text\.(delta|done)$`), "the suite's table of events lacks two that its own schema has, and that the official clients read"},
	{regexp.MustCompile(`^reasoning-summary: reasoning requires`), "asked of models with certain names only; reasoning items are there unasked: TestAResponse"},
}

// reason is why a test does not pass; empty if one of the things that it says has
// no known one.
func reason(id string, said []string) (why string) {
	for _, line := range said {
		i := slices.IndexFunc(reasons, func(e explained) bool { return e.says.MatchString(id + ": " + line) })
		if i < 0 {
			return ""
		}
		why = reasons[i].why
	}
	return why
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "openresponses:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	out := flag.String("out", "bench/results/conformance-responses.txt", "`file` for the results; empty writes none")
	flag.Parse()
	root, err := lab.ProjectRoot()
	if err != nil {
		return err
	}
	suite := filepath.Join(root, "clients", ".venv", "bin", "llm-comply")
	version, err := exec.CommandContext(ctx, suite, "--version").Output()
	if err != nil {
		return fmt.Errorf("the suite is not installed, `make clients` does it: %w", err)
	}
	dir, err := os.MkdirTemp("", "openresponses")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	model := httptest.NewServer(llmtest.New(script))
	defer model.Close()
	url, stop, err := lab.Serve(ctx, root, dir, "--config", "none",
		"--set", "models.default.base_url="+model.URL+"/v1", "--set", "models.default.model=scripted", "--set", "search.engines=none")
	if err != nil {
		return err
	}
	defer stop()
	said, err := exec.CommandContext(ctx, suite, "--base-url", url+"/v1", "--api-key", "none", "--model", "chat", "--json").Output()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) { // it exits with 1 where something fails
		return err
	}
	var found results
	if err := json.Unmarshal(said, &found); err != nil {
		return fmt.Errorf("what the suite says is not JSON: %w\n%s", err, said)
	}
	text, unexplained := found.describe(strings.TrimSpace(string(version)))
	fmt.Print(text)
	if *out != "" {
		if err := os.WriteFile(filepath.Join(root, *out), []byte(text), 0o644); err != nil {
			return err
		}
	}
	if unexplained > 0 {
		return fmt.Errorf("%d tests don't pass for a reason that is not known", unexplained)
	}
	return nil
}

// script is a model that calls the function of the suite and answers everything
// else.
var script = llmtest.Script{Rules: []llmtest.Rule{
	{Contains: "weather in San Francisco", Reply: llmtest.CallTool("get_weather", map[string]any{"location": "San Francisco"})},
	{Reply: llmtest.JSON(map[string]any{"reasoning": "It is a greeting.", "answer": "Hello to you.", "key_points": []string{"hello"}})},
}}

// results are what the suite says.
type results struct {
	Results []struct {
		ID       string   `json:"id"`
		Name     string   `json:"name"`
		Status   string   `json:"status"`
		Errors   []string `json:"errors"`
		Warnings []string `json:"warnings"`
	} `json:"results"`
}

// describe says how the tests went, and how many fail for no known reason.
func (r results) describe(suite string) (text string, unexplained int) {
	var b strings.Builder
	count := map[string]int{}
	for _, t := range r.Results {
		count[t.Status]++
	}
	fmt.Fprintf(&b, "make conformance-responses\n%s, %s against `dossier serve` at /v1/responses\n\n", time.Now().UTC().Format("2006-01-02 15:04 UTC"), suite)
	fmt.Fprintf(&b, "%d tests pass, %d don't, %d passed over\n", count["passed"], count["failed"], count["skipped"])
	for _, t := range r.Results {
		fmt.Fprintf(&b, "  %-8s %-30s %s\n", t.Status, t.ID, t.Name)
		for _, line := range t.Warnings {
			fmt.Fprintf(&b, "           warning: %s\n", line)
		}
		if t.Status == "passed" {
			continue
		}
		for _, line := range t.Errors {
			fmt.Fprintf(&b, "           %s\n", line)
		}
		why := reason(t.ID, t.Errors)
		if why == "" {
			why = "UNEXPLAINED"
			unexplained++
		}
		fmt.Fprintf(&b, "           reason: %s\n", why)
	}
	return b.String(), unexplained
}
