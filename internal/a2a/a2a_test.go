package a2a

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	wire "github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"
	"github.com/a2aproject/a2a-go/v2/a2aclient/agentcard"
)

var bindings = []wire.TransportProtocol{wire.TransportProtocolJSONRPC, wire.TransportProtocolHTTPJSON}

// each runs a test with the library's client over each binding.
func each(t *testing.T, path string, test func(t *testing.T, c *a2aclient.Client, f *fake)) {
	for _, binding := range bindings {
		t.Run(string(binding), func(t *testing.T) {
			f := newFake()
			server := httptest.NewServer(Handler(f, Options{}))
			t.Cleanup(server.Close)
			card, err := agentcard.NewResolver(server.Client()).Resolve(t.Context(), server.URL+path)
			if err != nil {
				t.Fatal(err)
			}
			c, err := a2aclient.NewFromCard(t.Context(), card, a2aclient.WithConfig(a2aclient.Config{PreferredTransports: []wire.TransportProtocol{binding}}))
			if err != nil {
				t.Fatal(err)
			}
			test(t, c, f)
		})
	}
}

func says(text string) *wire.SendMessageRequest {
	return &wire.SendMessageRequest{Message: wire.NewMessage(wire.MessageRoleUser, wire.NewTextPart(text))}
}

func send(t *testing.T, c *a2aclient.Client, r *wire.SendMessageRequest) *wire.Task {
	t.Helper()
	result, err := c.SendMessage(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return result.(*wire.Task)
}

func TestCards(t *testing.T) {
	server := httptest.NewServer(Handler(newFake(), Options{}))
	defer server.Close()
	for path, want := range map[string]string{"": "researcher", "/a2a/researcher": "researcher", "/a2a/writer": "writer"} {
		card, err := agentcard.NewResolver(server.Client()).Resolve(t.Context(), server.URL+path)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.EqualFold(card.Name, want) || len(card.SupportedInterfaces) != 2 || card.SupportedInterfaces[0].URL != server.URL+"/a2a/"+want || !card.Capabilities.Streaming {
			t.Errorf("%+v", card)
		}
		if want == "researcher" && (card.Version != "3" || len(card.Skills) != 2 || card.Skills[0].Tags[1] != "news") {
			t.Errorf("%+v", card)
		}
	}
	resp, err := server.Client().Get(server.URL + "/a2a/nobody/.well-known/agent-card.json")
	if err != nil || resp.StatusCode != http.StatusNotFound {
		t.Error(resp, err)
	}
	own := httptest.NewServer(Handler(newFake(), Options{URL: "https://agents.example/"}))
	defer own.Close()
	card, err := agentcard.NewResolver(own.Client()).Resolve(t.Context(), own.URL)
	if err != nil || card.SupportedInterfaces[1].URL != "https://agents.example/a2a/researcher" {
		t.Error(card, err)
	}
}

func TestAnswers(t *testing.T) {
	each(t, "/a2a/writer", func(t *testing.T, c *a2aclient.Client, _ *fake) {
		task := send(t, c, says("hello"))
		if task.Status.State != wire.TaskStateCompleted || task.ContextID != "session-run-1" || task.Artifacts[0].Parts[0].Text() != "answer to hello in session-run-1" {
			t.Errorf("%+v", task)
		}
		again, err := c.GetTask(t.Context(), &wire.GetTaskRequest{ID: task.ID})
		if err != nil || again.Artifacts[0].Parts[0].Text() != task.Artifacts[0].Parts[0].Text() {
			t.Error(again, err)
		}
		next := says("more")
		next.Message.ContextID = task.ContextID
		if task = send(t, c, next); task.ContextID != "session-run-1" || task.ID != "run-2" {
			t.Errorf("%+v", task)
		}
		if task = send(t, c, says("fail")); task.Status.State != wire.TaskStateFailed || task.Status.Message.Parts[0].Text() != "no sources" {
			t.Errorf("%+v", task)
		}
	})
}

func TestAsks(t *testing.T) {
	each(t, "", func(t *testing.T, c *a2aclient.Client, _ *fake) {
		task := send(t, c, says("ask"))
		if task.Status.State != wire.TaskStateInputRequired || task.Status.Message.Parts[0].Text() != "Which city?" {
			t.Fatalf("%+v", task)
		}
		answer := &wire.SendMessageRequest{Message: wire.NewMessageForTask(wire.MessageRoleUser, task, wire.NewTextPart("Paris"))}
		if task = send(t, c, answer); task.Status.State != wire.TaskStateCompleted || task.Artifacts[0].Parts[0].Text() != "so it is Paris" {
			t.Errorf("%+v", task)
		}
		if _, err := c.SendMessage(t.Context(), answer); !errors.Is(err, wire.ErrUnsupportedOperation) {
			t.Error(err)
		}
	})
}

func TestStreams(t *testing.T) {
	each(t, "", func(t *testing.T, c *a2aclient.Client, _ *fake) {
		var last wire.TaskState
		var text string
		n := 0
		for event, err := range c.SendStreamingMessage(t.Context(), says("hello")) {
			if err != nil {
				t.Fatal(err)
			}
			switch e := event.(type) {
			case *wire.Task:
				if n > 0 {
					t.Error("a task in the middle")
				}
				last = e.Status.State
				if len(e.Artifacts) > 0 { // it was faster than we
					text = e.Artifacts[0].Parts[0].Text()
				}
			case *wire.TaskStatusUpdateEvent:
				last = e.Status.State
			case *wire.TaskArtifactUpdateEvent:
				text = e.Artifact.Parts[0].Text()
			}
			n++
		}
		if last != wire.TaskStateCompleted || text != "answer to hello in session-run-1" {
			t.Error(last, text, n)
		}
		for _, err := range c.SubscribeToTask(t.Context(), &wire.SubscribeToTaskRequest{ID: "run-1"}) {
			if !errors.Is(err, wire.ErrUnsupportedOperation) {
				t.Error(err)
			}
		}
	})
}

func TestReturnsAtOnceAndCancels(t *testing.T) {
	each(t, "", func(t *testing.T, c *a2aclient.Client, f *fake) {
		r := says("wait")
		r.Config = &wire.SendMessageConfig{ReturnImmediately: true}
		task := send(t, c, r)
		if task.Status.State != wire.TaskStateWorking {
			t.Errorf("%+v", task)
		}
		followed := make(chan wire.TaskState, 1)
		subscribed := make(chan struct{})
		go func() {
			var last wire.TaskState
			first := true
			for event, err := range c.SubscribeToTask(t.Context(), &wire.SubscribeToTaskRequest{ID: task.ID}) {
				if err != nil {
					t.Error(err)
				}
				if first {
					close(subscribed)
					first = false
				}
				if e, ok := event.(*wire.TaskStatusUpdateEvent); ok {
					last = e.Status.State
				}
			}
			followed <- last
		}()
		<-subscribed
		cancelled, err := c.CancelTask(t.Context(), &wire.CancelTaskRequest{ID: task.ID})
		if err != nil || cancelled.Status.State != wire.TaskStateCanceled {
			t.Error(cancelled, err)
		}
		if got := <-followed; got != wire.TaskStateCanceled {
			t.Error(got)
		}
		if _, err := c.CancelTask(t.Context(), &wire.CancelTaskRequest{ID: task.ID}); !errors.Is(err, wire.ErrTaskNotCancelable) {
			t.Error(err)
		}
	})
}

func TestRefusals(t *testing.T) {
	each(t, "", func(t *testing.T, c *a2aclient.Client, _ *fake) {
		file := &wire.SendMessageRequest{Message: wire.NewMessage(wire.MessageRoleUser, wire.NewRawPart([]byte("x")))}
		elsewhere := says("hello")
		elsewhere.Message.ContextID = "of somebody else"
		lost := says("hello")
		lost.Message.TaskID = "run-99"
		for name, test := range map[string]struct {
			r    *wire.SendMessageRequest
			want error
		}{
			"a file":            {file, wire.ErrUnsupportedContentType},
			"no text":           {says("  "), wire.ErrInvalidParams},
			"another context":   {elsewhere, wire.ErrInvalidParams},
			"no task":           {lost, wire.ErrTaskNotFound},
			"a fault of ours":   {says("secret"), wire.ErrInternalError},
			"a mistake of ours": {says("panic"), wire.ErrInternalError},
		} {
			_, err := c.SendMessage(t.Context(), test.r)
			if !errors.Is(err, test.want) || strings.Contains(err.Error(), "/var/secret") {
				t.Errorf("%s: %v", name, err)
			}
		}
		if _, err := c.GetTask(t.Context(), &wire.GetTaskRequest{ID: "run-99"}); !errors.Is(err, wire.ErrTaskNotFound) {
			t.Error(err)
		}
		if _, err := c.ListTasks(t.Context(), &wire.ListTasksRequest{}); !errors.Is(err, wire.ErrUnsupportedOperation) {
			t.Error(err)
		}
	})
}

// A task of one agent can't be seen through another.
func TestTasksBelongToAgents(t *testing.T) {
	each(t, "/a2a/writer", func(t *testing.T, c *a2aclient.Client, own *fake) {
		id, err := own.Start(t.Context(), "researcher", "", "wait")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.GetTask(t.Context(), &wire.GetTaskRequest{ID: wire.TaskID(id)}); !errors.Is(err, wire.ErrTaskNotFound) {
			t.Error(err)
		}
		if _, err := c.CancelTask(t.Context(), &wire.CancelTaskRequest{ID: wire.TaskID(id)}); !errors.Is(err, wire.ErrTaskNotFound) {
			t.Error(err)
		}
	})
}

// Who leaves does not take the work with him.
func TestCallerLeaves(t *testing.T) {
	each(t, "", func(t *testing.T, c *a2aclient.Client, f *fake) {
		ctx, cancel := context.WithCancel(t.Context())
		for event, err := range c.SendStreamingMessage(ctx, says("wait")) {
			if err == nil && event.TaskInfo().TaskID != "run-1" {
				t.Error(event)
			}
			break
		}
		cancel()
		task, err := c.GetTask(t.Context(), &wire.GetTaskRequest{ID: "run-1"})
		if err != nil || task.Status.State != wire.TaskStateWorking {
			t.Error(task, err)
		}
		_ = f.Cancel(t.Context(), "run-1")
	})
}

func FuzzJSONRPC(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"1","role":"ROLE_USER","parts":[{"text":"hello"}]}}}`))
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"parts":[null]}}}`))
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"method":"GetTask","params":null}`))
	f.Add([]byte(`[]`))
	handler := Handler(newFake(), Options{})
	f.Fuzz(func(t *testing.T, body []byte) {
		if bytes.Contains(body, []byte("wait")) || bytes.Contains(body, []byte("Stream")) || bytes.Contains(body, []byte("Subscribe")) {
			return // these take their time
		}
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/a2a/researcher", bytes.NewReader(body)))
		said, _ := io.ReadAll(w.Body)
		if !json.Valid(said) {
			t.Errorf("%d: %s", w.Code, said)
		}
	})
}
