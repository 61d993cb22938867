package cli_test

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/rogpeppe/go-internal/testscript"

	"dossier/internal/cli"
	"dossier/internal/webtest"
	"dossier/llm/llmtest"
	"dossier/reader"
)

// secret is the key that must not appear anywhere.
const secret = "sk-test-4f1e9b7c2a8d6e3f5a0b"

// TestMain makes the test binary the program itself for the scripts.
func TestMain(m *testing.M) {
	reader.WorkerMain()
	testscript.Main(m, map[string]func(){"mcp-weather": serveWeather, "call": callServer, "dossier": func() {
		interrupts := make(chan os.Signal, 4)
		signal.Notify(interrupts, os.Interrupt)
		os.Exit(cli.Main(cli.Process{
			Args: os.Args[1:], Env: os.Environ(), Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
			Terminal: cli.Terminal, Interrupts: interrupts, Terminate: context.Background(),
		}))
	}})
}

// gate holds the model's replies back until the script lets them go.
type gate struct {
	called chan struct{}
	mu     sync.Mutex
	shut   chan struct{} // closed to let all go that wait now
}

func (g *gate) wait() {
	g.mu.Lock()
	shut := g.shut
	g.mu.Unlock()
	g.called <- struct{}{}
	<-shut
}

func (g *gate) open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	close(g.shut)
	g.shut = make(chan struct{})
}

type gateKey struct{}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script", RequireExplicitExec: true, UpdateScripts: *cli.Update,
		Setup: func(env *testscript.Env) error {
			g := &gate{called: make(chan struct{}, 16), shut: make(chan struct{})}
			srv := llmtest.New(llmtest.Script{Models: []string{"gpt-4o-mini", "text-embedding-3-small", "other"}, Rules: []llmtest.Rule{
				{Contains: "escapes", Reply: llmtest.JSON(map[string]any{
					"reasoning": "none", "answer": "red \x1b[31malert\x1b]0;title\x07 \u202etxt\u202c end", "key_points": []string{"one\x1b[2J"},
				})},
				{Contains: "gated", Reply: llmtest.Do(func(*llmtest.Request) *llmtest.Reply {
					g.wait()
					return llmtest.JSON(map[string]any{"reasoning": "none", "answer": "the gate is open", "key_points": []string{}})
				})},
			}})
			h := httptest.NewServer(srv)
			env.Defer(h.Close)
			env.Defer(srv.Close)
			env.Defer(g.open)
			env.Values[gateKey{}] = g
			env.Values[servedKey{}] = new(*served)
			env.Setenv("LLM", h.URL+"/v1")
			env.Setenv("SECRET", secret)
			env.Setenv("HOME", filepath.Join(env.WorkDir, "home"))
			env.Setenv("DATA", filepath.Join(env.WorkDir, "home", ".local", "share", "dossier"))
			env.Setenv("LANG", "en_US.UTF-8")
			env.Setenv("DOSSIER_SEARCH_ENGINES", "none") // the scripts ask nobody outside
			keys := []string{"OPENAI_BASE_URL", "OPENAI_API_KEY", "HOST", "PORT", "CONFIG_FILE", "AGENTS_FILE", "LOGGING_FILE", "BROWSER"}
			for _, v := range env.Vars {
				key, _, _ := strings.Cut(v, "=")
				keys = append(keys, key)
			}
			env.Values[servingKey{}] = &serving{keys: keys}
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"exits": exits, "model": model, "called": called, "release": release, "ndjson": ndjson, "clean": clean, "big": big, "bytes": writeBytes, "id": id, "samples": samples, "sparse": sparse, "web": web, "flip": flip,
			"serve": startServer, "end": stopServer, "line": line,
			"listen": listen, "halt": halt, "request": request,
		},
	})
}

// exits CODE COMMAND... runs a command that has to end with the code.
func exits(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	if e, ok := errors.AsType[*exec.ExitError](err); ok {
		got = e.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d\n%s%s", got, want, ts.ReadFile("stdout"), ts.ReadFile("stderr"))
	}
}

// model connects the scripted model: model [FILE] has it follow the file.
func model(ts *testscript.TestScript, _ bool, args []string) {
	at := ts.Getenv("LLM")
	if len(args) > 0 {
		script, err := llmtest.Load(ts.MkAbs(args[0]))
		ts.Check(err)
		srv := llmtest.New(script)
		h := httptest.NewServer(srv)
		ts.Defer(h.Close)
		ts.Defer(srv.Close)
		at = h.URL + "/v1"
	}
	ts.Setenv("OPENAI_BASE_URL", at)
	ts.Setenv("OPENAI_API_KEY", secret)
}

// serveWeather is an MCP server on standard input and output.
func serveWeather() {
	type place struct {
		City string `json:"city" jsonschema:"name of the city"`
	}
	s := mcp.NewServer(&mcp.Implementation{Name: "weather", Version: "1.0"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "forecast", Description: "Says what the weather will be.\x1b[31m", Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true}},
		func(_ context.Context, _ *mcp.CallToolRequest, in place) (*mcp.CallToolResult, any, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "It will rain in " + in.City + "."}}}, nil, nil
		})
	if err := s.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		os.Exit(1)
	}
	os.Exit(0)
}

// web starts the web of the tests and makes it the only one: web [FAULT] has its
// engine fail.
func web(ts *testscript.TestScript, _ bool, args []string) {
	w, err := webtest.Start(webtest.Options{Loopback: true, Slow: time.Millisecond})
	ts.Check(err)
	ts.Defer(w.Close)
	for _, kind := range args {
		w.Break(webtest.Fault{Kind: webtest.FaultKind(kind)})
	}
	at, err := url.Parse(w.Searx())
	ts.Check(err)
	for name, value := range map[string]string{
		"ENGINES": "searxng,brave", "SEARXNG_BASE_URL": w.Searx(), "ALLOW_NETWORKS": "127.0.0.0/8", "ALLOW_PORTS": at.Port(),
		"PAGE_DELAY": "0s", "PAGES_PER_SITE": "16", "BROWSER": "false", "BLOCKED_DOMAINS": "",
	} {
		ts.Setenv("DOSSIER_SEARCH_"+name, value)
	}
}

// called waits until the model was asked something gated; release lets it answer.
func called(ts *testscript.TestScript, _ bool, _ []string) {
	select {
	case <-ts.Value(gateKey{}).(*gate).called:
	case <-time.After(stuck):
		ts.Fatalf("the model was not called")
	}
}

func release(ts *testscript.TestScript, _ bool, _ []string) { ts.Value(gateKey{}).(*gate).open() }

// stuck is when a script, or whoever sits at a terminal, gives up: late, because a
// machine that does much beside takes its time.
const stuck = 2 * time.Minute

// ndjson FILE checks that each line is a JSON object.
func ndjson(ts *testscript.TestScript, _ bool, args []string) {
	lines := strings.Split(strings.TrimSuffix(ts.ReadFile(args[0]), "\n"), "\n")
	for i, line := range lines {
		var v map[string]any
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			ts.Fatalf("line %d of %s: %v: %q", i+1, args[0], err, line)
		}
	}
}

// clean checks that the key is in no file below the work directory and in
// neither output of the last command.
func clean(ts *testscript.TestScript, _ bool, _ []string) {
	for _, name := range []string{"stdout", "stderr"} {
		if strings.Contains(ts.ReadFile(name), secret) {
			ts.Fatalf("the key is in %s", name)
		}
	}
	ts.Check(filepath.WalkDir(ts.Getenv("WORK"), func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || !d.Type().IsRegular() {
			return err
		}
		raw, err := os.ReadFile(path)
		if bytes.Contains(raw, []byte(secret)) {
			ts.Fatalf("the key is in %s", path)
		}
		return err
	}))
}

// big FILE BYTES writes a long question.
func big(ts *testscript.TestScript, _ bool, args []string) {
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), bytes.Repeat([]byte("why so long? "), n/13+1)[:n], 0o600))
}

// bytes FILE GO-STRING writes any bytes.
func writeBytes(ts *testscript.TestScript, _ bool, args []string) {
	text, err := strconv.Unquote(`"` + args[1] + `"`)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o600))
}

// samples DIR writes a small document of each format.
func samples(ts *testscript.TestScript, _ bool, args []string) {
	docs, err := reader.Samples()
	ts.Check(err)
	ts.Check(os.MkdirAll(ts.MkAbs(args[0]), 0o755))
	for _, d := range docs {
		ts.Check(os.WriteFile(filepath.Join(ts.MkAbs(args[0]), d.Path), d.Body, 0o600))
	}
}

// sparse FILE BYTES makes a file that is that long and takes no space.
func sparse(ts *testscript.TestScript, _ bool, args []string) {
	n, err := strconv.ParseInt(args[1], 10, 64)
	ts.Check(err)
	f, err := os.Create(ts.MkAbs(args[0]))
	ts.Check(err)
	ts.Check(errors.Join(f.Truncate(n), f.Close()))
}

// id NAME keeps the first word of the last output, which is a run's id.
func id(ts *testscript.TestScript, _ bool, args []string) {
	word, _, _ := strings.Cut(ts.ReadFile("stdout"), " ")
	ts.Setenv(args[0], word)
}

// line NAME keeps the last output, which is one line.
func line(ts *testscript.TestScript, _ bool, args []string) {
	ts.Setenv(args[0], strings.TrimSpace(ts.ReadFile("stdout")))
}

// flip FILE NAME changes one byte of the file NAME in a zip.
func flip(ts *testscript.TestScript, _ bool, args []string) {
	file := ts.MkAbs(args[0])
	data, err := os.ReadFile(file)
	ts.Check(err)
	archive, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	ts.Check(err)
	for _, f := range archive.File {
		if f.Name == args[1] {
			at, err := f.DataOffset()
			ts.Check(err)
			data[at+int64(f.CompressedSize64)/2] ^= 1
			ts.Check(os.WriteFile(file, data, 0o600))
			return
		}
	}
	ts.Fatalf("%s has no %s", args[0], args[1])
}
