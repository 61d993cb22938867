package mcp_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"dossier"
	"dossier/event"
	"dossier/internal/access"
	"dossier/internal/clienttest"
	"dossier/internal/server"
	"dossier/internal/server/mcp"
	"dossier/run"
)

var versions = []string{"2026-07-28", "2025-11-25"}

// What can be asked for is the same in each version: documents, with a report as a
// resource, and the web.
func TestToolsAndReports(t *testing.T) {
	for _, version := range versions {
		t.Run(version, func(t *testing.T) {
			w := newWorld(t)
			c := w.dial(w.ann, version, nil)
			list, err := c.ListTools(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, tool := range list.Tools {
				names = append(names, tool.Name)
			}
			slices.Sort(names)
			if got := strings.Join(names, " "); got != "ask_collection read research run_answer run_cancel run_status search" {
				t.Errorf("the tools are %s", got)
			}

			res := c.try("research", map[string]any{"question": "How long is the warranty of the pump?", "folders": []string{w.folder}}, "p1")
			fields, _ := res.StructuredContent.(map[string]any)
			if !strings.Contains(words(res), "seven years") || fields["status"] != "done" || fields["run"] == "" {
				t.Fatalf("%s\n%v", words(res), fields)
			}
			c.hears("searches: ", "pump.md")

			reports, err := c.ListResources(t.Context(), nil)
			if err != nil || len(reports.Resources) != 1 || reports.Resources[0].URI != fields["report"] {
				t.Fatalf("%+v, %v, want %v", reports, err, fields["report"])
			}
			for format, want := range map[string]string{"md": "seven years", "json": `"sources"`, "html": "<!doctype html>", "docx": ""} {
				got, err := c.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: strings.TrimSuffix(reports.Resources[0].URI, "md") + format})
				if err != nil {
					t.Fatal(err)
				}
				one := got.Contents[0]
				if !strings.Contains(strings.ToLower(one.Text), want) || (format == "docx") != (len(one.Blob) > 0) {
					t.Errorf("the report as %s: %.200s, %d bytes", format, one.Text, len(one.Blob))
				}
			}
			for _, format := range []string{"pdf", "exe", "md/../../x"} { // a PDF is of deep research
				if _, err := c.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: strings.TrimSuffix(reports.Resources[0].URI, "md") + format}); err == nil {
					t.Errorf("there is a report as %s", format)
				}
			}

			q := w.web.Questions()[0]
			if text, _ := c.call("search", map[string]any{"query": q.Text, "max_results": 3}); !strings.Contains(text, "http") {
				t.Errorf("the search found %s", text)
			}
			if text, _ := c.call("read", map[string]any{"urls": q.Pages[:1], "about": q.Text}); !strings.Contains(text, q.Answer) {
				t.Errorf("%s does not tell %q: %s", q.Pages[0], q.Answer, text)
			}
		})
	}
}

func TestAskCollection(t *testing.T) {
	w := newWorld(t)
	c := w.dial(w.ann, versions[0], nil)
	if said := c.refused("ask_collection", map[string]any{"question": "How long is the warranty?"}); !strings.Contains(said, "no collection is named") {
		t.Error(said)
	}
	c.call("research", map[string]any{"question": "pump", "folders": []string{w.folder}, "collection": "contracts"})
	text, _ := c.call("ask_collection", map[string]any{"question": "How long is the warranty of the pump?", "collection": "contracts"})
	if !strings.Contains(text, "seven years") {
		t.Error(text)
	}
	if said := w.dial(w.bob, versions[0], nil).refused("ask_collection", map[string]any{"question": "pump", "collection": "contracts"}); !strings.Contains(said, "contracts") || strings.Contains(said, "seven") {
		t.Errorf("bob hears %s", said)
	}
}

// Whoever can be asked is asked in the form of their version; others get the
// question as a result and answer by the id of the run.
func TestClarification(t *testing.T) {
	w := newWorld(t)
	question := map[string]any{"question": "ask ask", "mode": "deep_research"}

	c := w.dial(w.ann, versions[0], accept("second"))
	if text, _ := c.call("research", question); text != "answered:second answered:second" || len(c.asked) != 2 || !strings.Contains(c.asked[0], "which one?\n- first") {
		t.Errorf("%q after %q", text, c.asked)
	}
	c = w.dial(w.ann, versions[0], func(string) *sdk.ElicitResult { return &sdk.ElicitResult{Action: "decline"} })
	if text, _ := c.call("research", question); text != "answered:skip answered:skip" {
		t.Errorf("who declines gets %q", text)
	}
	c = w.dial(w.ann, versions[0], func(string) *sdk.ElicitResult { return &sdk.ElicitResult{Action: "cancel"} })
	if text, fields := c.call("research", question); fields["status"] != "waiting" || !strings.Contains(text, "which one?") {
		t.Errorf("who turns away gets %q, %v", text, fields)
	}

	for _, version := range versions {
		c = w.dial(w.ann, version, nil)
		text, fields := c.call("research", question)
		if fields["status"] != "waiting" || !strings.Contains(text, "which one?") || !strings.Contains(text, "run_answer") {
			t.Fatalf("%s: %q, %v", version, text, fields)
		}
		c.call("run_answer", map[string]any{"run": fields["run"], "answer": "first"})
		if text, _ = c.call("run_answer", map[string]any{"run": fields["run"], "answer": "second"}); text != "answered:first answered:second" {
			t.Errorf("%s: %q", version, text)
		}
		if said := c.refused("run_answer", map[string]any{"run": fields["run"], "answer": "third"}); !strings.Contains(said, "over") && !strings.Contains(said, "wait") {
			t.Errorf("%s: %s", version, said)
		}
	}
	if text, _ := c.call("research", map[string]any{"question": "спроси ask", "mode": "deep_research"}); !strings.Contains(text, "ждёт ответа") {
		t.Errorf("in Russian: %s", text)
	}
}

// An input_required that is sent again, as after a lost reply, answers once.
func TestInputIsTakenOnce(t *testing.T) {
	w := newWorld(t)
	session, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, &sdk.ClientOptions{
		MultiRoundTrip:     &sdk.MultiRoundTripOptions{Disabled: true},
		ElicitationHandler: func(context.Context, *sdk.ElicitRequest) (*sdk.ElicitResult, error) { return nil, io.EOF },
	}).Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: w.public.URL() + mcp.Path, HTTPClient: &http.Client{Transport: bearer(w.ann)}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	p := &sdk.CallToolParams{Name: "research", Arguments: map[string]any{"question": "ask", "mode": "deep_research"}}
	res, err := session.CallTool(t.Context(), p)
	if err != nil || !res.NeedsInput() || len(res.InputRequests) != 1 || res.RequestState == "" {
		t.Fatalf("%+v, %v", res, err)
	}
	p.RequestState = res.RequestState
	if again, err := session.CallTool(t.Context(), p); err != nil || !again.NeedsInput() || again.RequestState != res.RequestState {
		t.Fatalf("without a response it is asked again: %+v, %v", again, err)
	}
	p.RequestState += "x"
	if tampered, err := session.CallTool(t.Context(), p); err != nil || !tampered.IsError {
		t.Fatalf("a state that is none: %+v, %v", tampered, err)
	}
	p.RequestState, p.InputResponses = res.RequestState, sdk.InputResponseMap{}
	for ask := range res.InputRequests {
		p.InputResponses[ask] = accept("first")("")
	}
	for range 2 {
		again, err := session.CallTool(t.Context(), p)
		if err != nil || words(again) != "answered:first" {
			t.Fatalf("%s, %v", words(again), err)
		}
	}
	runs, err := w.engine.List(t.Context(), dossier.Filter{})
	if err != nil || len(runs) != 1 {
		t.Errorf("%d runs, %v", len(runs), err)
	}
}

// What is another user's is not there, whichever way it is named.
func TestOthersRunsAreNotThere(t *testing.T) {
	w := newWorld(t)
	ann, bob := w.dial(w.ann, versions[0], nil), w.dial(w.bob, versions[0], nil)
	_, fields := ann.call("research", map[string]any{"question": "How long is the warranty of the pump?", "folders": []string{w.folder}})
	_, asks := ann.call("research", map[string]any{"question": "ask", "mode": "deep_research"})
	for _, id := range []any{fields["run"], asks["run"]} {
		for tool, args := range map[string]map[string]any{
			"run_status": {"run": id}, "run_answer": {"run": id, "answer": "x"}, "run_cancel": {"run": id},
			"research": {"question": "x", "mode": "deep_research", "session": id},
		} {
			if said := bob.refused(tool, args); strings.Contains(said, "ask") || strings.Contains(said, "pump") {
				t.Errorf("%s tells bob %s", tool, said)
			}
		}
		res, err := bob.CallTool(t.Context(), &sdk.CallToolParams{Name: "research", Arguments: map[string]any{"question": "x"}, RequestState: id.(string)})
		if err != nil || !res.IsError {
			t.Errorf("bob goes on with ann's run: %+v, %v", res, err)
		}
	}
	if _, err := bob.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: fields["report"].(string)}); err == nil {
		t.Error("bob reads ann's report")
	}
	if _, err := bob.ListResources(t.Context(), &sdk.ListResourcesParams{Cursor: fields["run"].(string)}); err == nil {
		t.Error("bob lists from ann's run on")
	}
	list, err := bob.ListResources(t.Context(), nil)
	if err != nil || len(list.Resources) != 0 {
		t.Errorf("bob sees %+v, %v", list.Resources, err)
	}
	w.until(asks["run"].(string), run.Waiting)
	if rec, err := w.engine.Get(t.Context(), asks["run"].(string)); err != nil || rec.Status != run.Waiting {
		t.Errorf("ann's run is %s, %v", rec.Status, err)
	}
}

func TestWhoMayDoWhat(t *testing.T) {
	w := newWorld(t)
	eyes := w.dial(w.eyes, versions[0], nil)
	list, err := eyes.ListTools(t.Context(), nil)
	if err != nil || len(list.Tools) != 1 || list.Tools[0].Name != "run_status" {
		t.Errorf("who may only look sees %+v, %v", list, err)
	}
	for tool, args := range map[string]map[string]any{"research": {"question": "x"}, "search": {"query": "x"}, "read": {"urls": []string{"http://x.example/"}}, "run_cancel": {"run": "x"}} {
		if said := eyes.refused(tool, args); !strings.Contains(said, "scope") {
			t.Errorf("%s: %s", tool, said)
		}
	}
	ann := w.dial(w.ann, versions[0], nil)
	for _, folder := range []string{"/etc", w.folder + "/..", "~"} {
		if said := ann.refused("research", map[string]any{"question": "x", "folders": []string{folder}}); !strings.Contains(said, "server.folders") {
			t.Errorf("%s: %s", folder, said)
		}
	}
	for _, args := range []map[string]any{{}, {"question": 7}, {"question": "x", "mode": "chat"}, {"question": "x", "base_url": "http://evil.example"}, {"question": " "}} {
		ann.refused("research", args)
	}
	resp, err := http.Post(w.public.URL()+mcp.Path, "application/json", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	said, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusUnauthorized || !strings.Contains(string(said), `"jsonrpc":"2.0"`) || resp.Header.Get("WWW-Authenticate") == "" {
		t.Errorf("nobody gets %d %s, %v", resp.StatusCode, said, err)
	}
}

// Leaving is not cancelling: the run goes on, and is found by its id.
func TestLeavingAndComingBack(t *testing.T) {
	for _, version := range versions {
		t.Run(version, func(t *testing.T) {
			w := newWorld(t)
			c := w.dial(w.ann, version, nil)
			_, fields := c.call("research", map[string]any{"question": "wait here", "mode": "deep_research", "wait_seconds": 0})
			id := fields["run"].(string)
			ctx, leave := context.WithCancel(t.Context())
			left := make(chan error, 1)
			go func() {
				p := &sdk.CallToolParams{Name: "run_status", Arguments: map[string]any{"run": id}}
				p.SetProgressToken("p")
				_, err := c.CallTool(ctx, p)
				left <- err
			}()
			w.until(id, run.Running)
			leave()
			if <-left == nil {
				t.Error("the call ended well")
			}
			if _, fields := c.call("run_status", map[string]any{"run": id}); fields["status"] != "running" {
				t.Errorf("after leaving: %v", fields)
			}
			close(w.release)
			if text := words(c.try("run_status", map[string]any{"run": id}, "again")); text != "waited here" {
				t.Errorf("after coming back: %s", text)
			}
		})
	}
}

func TestEndsOfRuns(t *testing.T) {
	w := newWorld(t)
	c := w.dial(w.ann, versions[0], nil)
	if said := c.refused("research", map[string]any{"question": "fail", "mode": "deep_research"}); !strings.Contains(said, "it broke") {
		t.Error(said)
	}
	_, fields := c.call("research", map[string]any{"question": "wait", "mode": "deep_research", "wait_seconds": 0})
	if _, fields = c.call("run_cancel", map[string]any{"run": fields["run"]}); fields["status"] != "cancelled" {
		t.Errorf("%v", fields)
	}
	c.call("run_cancel", map[string]any{"run": fields["run"]}) // it is
	if said := c.refused("run_status", map[string]any{"run": "nothing"}); !strings.Contains(said, "nothing") {
		t.Error(said)
	}
}

// Streams that wait don't keep the server from closing.
func TestClosingEndsCalls(t *testing.T) {
	w := newWorld(t)
	c := w.dial(w.ann, versions[1], nil)
	_, fields := c.call("research", map[string]any{"question": "wait", "mode": "deep_research", "wait_seconds": 0})
	over := make(chan struct{})
	go func() {
		defer close(over)
		p := &sdk.CallToolParams{Name: "run_status", Arguments: fields}
		p.Arguments = map[string]any{"run": fields["run"]}
		p.SetProgressToken("p")
		_, _ = c.CallTool(t.Context(), p)
	}()
	w.until(fields["run"].(string), run.Running)
	if err := w.public.Close(); err != nil {
		t.Error(err)
	}
	<-over
}

func (w *world) until(id string, want run.Status) {
	w.t.Helper()
	for ev, err := range w.engine.Events(w.t.Context(), id, 0) {
		if err != nil {
			w.t.Fatal(err)
		}
		if s, ok := ev.Data.(event.RunStatus); ok && s.Status == string(want) {
			return
		}
	}
}

// Over standard input and output whoever started the program is the operator,
// and clients of the version before can be called back.
func TestServeOverPipes(t *testing.T) {
	w := newWorld(t)
	for _, version := range versions {
		in, fromClient := io.Pipe()
		toClient, out := io.Pipe()
		ctx := server.Admit(t.Context(), w.engine, access.Operator(), &server.Policy{}, nil)
		served := make(chan error, 1)
		go func() { served <- mcp.Serve(ctx, mcp.Options{Version: "test"}, in, out) }()
		c := connect(t, version, accept("first"), &sdk.IOTransport{Reader: toClient, Writer: fromClient})
		if text, _ := c.call("research", map[string]any{"question": "ask ask", "mode": "deep_research"}); text != "answered:first answered:first" || len(c.asked) != 2 {
			t.Errorf("%s: %q, asked %q", version, text, c.asked)
		}
		if said := c.refused("research", map[string]any{"question": "x", "folders": []string{w.folder}}); !strings.Contains(said, "server.folders") {
			t.Errorf("%s: folders that nobody allows: %s", version, said)
		}
		_ = c.Close()
		if err := <-served; err != nil {
			t.Errorf("%s: %v", version, err)
		}
	}
}

// What was asked before the input ended is replied to, though nothing is left to read.
func TestLastRepliesOverPipes(t *testing.T) {
	w := newWorld(t)
	ctx := server.Admit(t.Context(), w.engine, access.Operator(), &server.Policy{}, nil)
	in := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"research","arguments":{"question":"why","mode":"deep_research"}}}
{"jsonrpc":"2.0","id":3,"method":"tools/list"}`
	var out bytes.Buffer
	if err := mcp.Serve(ctx, mcp.Options{Version: "test"}, strings.NewReader(in), &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"id":1,`, `"id":"a",`, `"id":3,`} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no reply with %s in\n%s", want, out.String())
		}
	}
}

// The official client in JavaScript does the same things.
func TestClientInJavaScript(t *testing.T) {
	w := newWorld(t)
	out := clienttest.Node(t, "mcp.mjs", w.public.URL()+mcp.Path, w.ann, w.folder)
	for _, want := range []string{
		"tools: ask_collection read research run_answer run_cancel run_status search", "progress: true", "answer: seven years", "report: seven years",
		"waiting: which one?", "answered: answered:first", "unknown: true",
	} {
		if !strings.Contains(out, want+"\n") {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}
