package dossier_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"

	"dossier"
	"dossier/event"
	"dossier/llm"
	"dossier/mode"
	"dossier/run"
	"dossier/search"
	"dossier/tool"
)

// alone are the options of a program that depends on nothing around it.
func alone() (options dossier.Options, stop func()) {
	dir, err := os.MkdirTemp("", "dossier")
	if err != nil {
		log.Fatal(err)
	}
	options = dossier.Options{DataDir: dir, ConfigFile: "none", Env: []string{"HOME=" + dir, "DOSSIER_SEARCH_ENGINES=none"}}
	return options, func() { _ = os.RemoveAll(dir) }
}

// ask runs a request and returns its answer.
func ask(options dossier.Options, req dossier.Request) string {
	ctx := context.Background()
	engine, err := dossier.Open(ctx, options)
	if err != nil {
		log.Fatal(err)
	}
	defer engine.Close()
	answer := ""
	for ev, err := range engine.Run(ctx, req) {
		if err != nil {
			log.Fatal(err)
		}
		if m, ok := ev.Data.(event.Message); ok && m.Role == "assistant" {
			answer = m.Text
		}
	}
	return answer
}

// shout is a way to carry out a run: what it does is recorded in steps, so that
// the run goes on where it was if the program dies.
type shout struct{}

func (shout) Name() string  { return "shout" }
func (shout) Settings() any { return nil }

func (shout) Run(ctx context.Context, s *run.Scope, req mode.Request) (mode.Answer, error) {
	loud, err := run.Step(ctx, s, "shout", func(context.Context, *run.Scope) (string, error) {
		return strings.ToUpper(req.Question) + "!", nil
	})
	return mode.Answer{Text: loud}, err
}

// A program adds a mode of its own.
func ExampleOptions_modes() {
	options, stop := alone()
	defer stop()
	options.Modes = []mode.Mode{shout{}}

	fmt.Println(ask(options, dossier.Request{Mode: "shout", Request: mode.Request{Question: "land in sight"}}))
	// Output: LAND IN SIGHT!
}

// tides looks up when the water is high. Its name, description and examples are
// what agents find it by; its schema is made of the arguments' type.
func tides() tool.Tool {
	type arguments struct {
		Harbour string `json:"harbour" jsonschema:"name of the harbour"`
	}
	spec := tool.Spec{Name: "tide_tool", Description: "Tells when the tide is high in a harbour.", Examples: []string{"when is high water in Dover?"}, Effect: run.Read}
	return tool.New(spec, func(_ context.Context, _ *tool.Call, in arguments) (tool.Result, error) {
		if in.Harbour != "Dover" {
			return tool.Result{}, errors.New("only Dover is known here")
		}
		return tool.Result{Text: "High water in Dover is at 06:12 and 18:40."}, nil
	})
}

// A program adds a tool. Agents are given it by its name in their definitions,
// and find it when they look for tools; here it is looked for and called.
func ExampleOptions_tools() {
	options, stop := alone()
	defer stop()
	options.Tools = []tool.Tool{tides()}

	engine, err := dossier.Open(context.Background(), options)
	if err != nil {
		log.Fatal(err)
	}
	found, err := engine.SearchTools(context.Background(), "high tide in the harbour", 1)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(found.Tools[0].Name)
	if err := engine.Close(); err != nil {
		log.Fatal(err)
	}
	fmt.Println(ask(options, dossier.Request{Mode: "tool", Request: mode.Request{Agent: "tide_tool", Question: `{"harbour": "Dover"}`}}))
	// Output:
	// tide_tool
	// High water in Dover is at 06:12 and 18:40.
}

// archive searches the pages of one server.
type archive struct{ address string }

// Info says what the engine is asked for: without a topic, only for what it is
// named for.
func (a archive) Info() search.Info {
	return search.Info{Name: "archive", Topics: []search.Topic{search.General}}
}

func (a archive) Search(_ context.Context, q search.Query) ([]search.Hit, error) {
	if !strings.Contains(q.Text, "lighthouse") {
		return nil, nil
	}
	return []search.Hit{{URL: a.address + "/lighthouse", Title: "The lighthouse of Skerry Point", Snippet: "Its history since 1867."}}, nil
}

// A program adds a search engine. What it finds is read, and since there is no
// model the answer is made of what was read.
func ExampleOptions_engines() {
	options, stop := alone()
	defer stop()
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, "The lighthouse of Skerry Point was built in 1867 by the brothers Anders. Its lamp was lit with oil until 1921.")
	}))
	defer site.Close()
	// Servers of the own machine are not read otherwise.
	_, port, _ := strings.Cut(strings.TrimPrefix(site.URL, "http://"), ":")
	options.Set = map[string]string{"search.allow_networks": "127.0.0.0/8", "search.allow_ports": port, "search.browser": "false"}
	options.Engines = []search.Engine{archive{site.URL}}

	answer := ask(options, dossier.Request{Mode: "web_search", Request: mode.Request{Question: "When was the lighthouse of Skerry Point built?"}})
	_, quotation, _ := strings.Cut(answer, "**") // the sentence that answers is marked
	quotation, _, _ = strings.Cut(quotation, "**")
	fmt.Println(quotation)
	// Output: The lighthouse of Skerry Point was built in 1867 by the brothers Anders.
}

// oracle is a model: it streams its reply where somebody listens, and returns the
// whole of it.
type oracle struct{}

func (oracle) Stream(_ context.Context, req *llm.Request, sink func(llm.Chunk)) (*llm.Response, error) {
	const reply = `{"reasoning": "Nobody knows.", "answer": "Ask again at high water.", "key_points": []}`
	if sink != nil {
		sink(llm.Chunk{Text: reply})
	}
	return &llm.Response{Message: llm.Message{Role: llm.RoleAssistant, Content: reply}, Finish: llm.FinishStop, Usage: llm.Usage{Input: 10, Output: 20}}, nil
}

// A program brings a model of its own, which every role calls that has no other.
func ExampleOptions_models() {
	options, stop := alone()
	defer stop()
	options.Models = map[llm.RoleName]llm.Setting{llm.ForDefault: {Name: "oracle", Model: oracle{}}}

	fmt.Println(ask(options, dossier.Request{Request: mode.Request{Question: "Will it rain?"}}))
	// Output: Ask again at high water.
}
