package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"

	"dossier/event"
	"dossier/internal/agenttest"
	"dossier/internal/followtest"
	"dossier/internal/studytest"
	"dossier/run"
)

// client does one thing after the other.
type client struct {
	followtest.Site
	rand *rand.Rand
}

// choose chooses what to do next.
func (c *client) choose() (name string, do func(context.Context) error) {
	all := []struct {
		name  string
		often int
		do    func(context.Context) error
	}{
		{"completion", 20, c.completion}, {"streamed completion", 20, c.streamed}, {"run followed", 20, c.followed}, {"run cancelled", 10, c.cancelled},
		{"reader came back", 20, c.cameBack}, {"reader left", 10, c.left}, {"list searched", 10, c.searched}, {"web search", 4, c.webSearch},
		{"agent asked and answered", 3, c.agent}, {"deep research", 1, c.research}, {"mistake", 10, c.mistake},
	}
	total := 0
	for _, a := range all {
		total += a.often
	}
	at := c.rand.IntN(total)
	for _, a := range all {
		if at -= a.often; at < 0 {
			return a.name, a.do
		}
	}
	panic("the shares add up")
}

// ask makes a request and wants a status.
func (c *client) ask(ctx context.Context, method, path, body string, want int, into any) error {
	req, err := http.NewRequestWithContext(ctx, method, c.URL+path, strings.NewReader(body))
	if err != nil {
		return err
	}
	resp, err := c.Client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if resp.StatusCode != want {
		return fmt.Errorf("%s %s: %s %.300s", method, path, resp.Status, raw)
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(raw, into)
}

func (c *client) topic() string {
	return fmt.Sprintf("What is known of "+aPool+" %d?", c.rand.IntN(1000))
}

func (c *client) completion(ctx context.Context) error {
	body, err := json.Marshal(map[string]any{"model": "chat", "messages": []any{map[string]any{"role": "user", "content": c.topic()}}})
	if err != nil {
		return err
	}
	var got struct {
		Choices []struct{ Message struct{ Content string } }
	}
	err = c.ask(ctx, http.MethodPost, "/v1/chat/completions", string(body), http.StatusOK, &got)
	if err == nil && (len(got.Choices) != 1 || got.Choices[0].Message.Content == "") {
		err = errors.New("there is no answer")
	}
	return err
}

func (c *client) streamed(ctx context.Context) error {
	body := fmt.Sprintf(`{"model":"chat","stream":true,"messages":[{"role":"user","content":%q}]}`, c.topic())
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.URL+"/v1/chat/completions", strings.NewReader(body))
	if err != nil {
		return err
	}
	resp, err := c.Client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err == nil && !strings.HasSuffix(strings.TrimSpace(string(raw)), "[DONE]") {
		err = fmt.Errorf("the stream ends with %.200q", raw[max(len(raw)-200, 0):])
	}
	return err
}

// start starts a run.
func (c *client) start(ctx context.Context, request map[string]any) (string, error) {
	raw, err := json.Marshal(request)
	if err != nil {
		return "", err
	}
	var rec run.Record
	err = c.ask(ctx, http.MethodPost, "/api/runs", string(raw), http.StatusCreated, &rec)
	return rec.ID, err
}

// protocol is one of those by which a run is followed.
func (c *client) protocol() (name string, follow followtest.Follow) {
	name = []string{"sse", "socket.io", "responses"}[c.rand.IntN(3)]
	return name, followtest.Protocols[name]
}

// whole wants all messages of a run in a stream that was joined: each once.
func whole(protocol string, seen []followtest.Message) error {
	if len(seen) == 0 {
		return errors.New("nothing came")
	}
	for i, m := range seen {
		if protocol != "responses" && m.Number != int64(i+1) || i > 0 && m.Number <= seen[i-1].Number {
			return fmt.Errorf("over %s message %d has the number %d", protocol, i+1, m.Number)
		}
	}
	return nil
}

// to follows a run to its end, and leaves after so many messages each time but comes
// back; 0 is not to leave.
func (c *client) to(ctx context.Context, id string, leaveAfter int, seen func(followtest.Message)) error {
	name, follow := c.protocol()
	var all []followtest.Message
	last := int64(followtest.Begin)
	for over := false; !over; {
		over = true
		n := 0
		for m, err := range follow(ctx, c.Site, id, last) {
			if err != nil {
				return err
			}
			all, last = append(all, m), m.Number
			if seen != nil {
				seen(m)
			}
			if n++; n == leaveAfter {
				over = false
				break
			}
		}
	}
	return whole(name, all)
}

func (c *client) followed(ctx context.Context) error {
	id, err := c.start(ctx, map[string]any{"mode": "chat", "question": c.topic()})
	if err != nil {
		return err
	}
	if err := c.to(ctx, id, 0, nil); err != nil {
		return err
	}
	return c.ask(ctx, http.MethodDelete, "/api/runs/"+id, "", http.StatusNoContent, nil)
}

func (c *client) cameBack(ctx context.Context) error {
	id, err := c.start(ctx, map[string]any{"mode": "chat", "question": c.topic()})
	if err != nil {
		return err
	}
	return c.to(ctx, id, 1+c.rand.IntN(3), nil)
}

// left leaves in the middle, and the run goes on.
func (c *client) left(ctx context.Context) error {
	id, err := c.start(ctx, map[string]any{"mode": "chat", "question": slowly + ": " + c.topic()})
	if err != nil {
		return err
	}
	_, follow := c.protocol()
	for _, err := range follow(ctx, c.Site, id, followtest.Begin) {
		if err != nil {
			return err
		}
		break
	}
	return nil
}

func (c *client) cancelled(ctx context.Context) error {
	id, err := c.start(ctx, map[string]any{"mode": "chat", "question": slowly + ": " + c.topic()})
	if err != nil {
		return err
	}
	if err := c.ask(ctx, http.MethodPost, "/api/runs/"+id+"/cancel", "", http.StatusNoContent, nil); err != nil {
		return err
	}
	return c.to(ctx, id, 0, nil)
}

func (c *client) searched(ctx context.Context) error {
	var list []run.Record
	return c.ask(ctx, http.MethodGet, "/api/runs?limit=20&q=newts", "", http.StatusOK, &list)
}

func inTheWeb(mode, question string) map[string]any {
	return map[string]any{"mode": mode, "question": question, "in": map[string]any{"web": map[string]any{}}}
}

func (c *client) webSearch(ctx context.Context) error {
	id, err := c.start(ctx, inTheWeb("web_search", "How many years does an Aune spotted newt live?"))
	if err != nil {
		return err
	}
	return c.to(ctx, id, 20, nil)
}

func (c *client) agent(ctx context.Context) error {
	request := inTheWeb("agent", agenttest.Task)
	request["agent"] = "research_sgr_tool_calling_agent"
	id, err := c.start(ctx, request)
	if err != nil {
		return err
	}
	var wrong error
	var all []followtest.Message
	for m, err := range followtest.Events(ctx, c.Site, id, followtest.Begin) {
		if err != nil {
			return err
		}
		all = append(all, m)
		var ev event.Event
		if err := json.Unmarshal([]byte(m.Text), &ev); err != nil {
			return err
		}
		if d, ok := ev.Data.(event.RunStatus); ok && d.Status == string(run.Waiting) {
			wrong = errors.Join(wrong, c.ask(ctx, http.MethodPost, "/api/runs/"+id+"/answer", fmt.Sprintf(`{"text":%q}`, agenttest.Reply), http.StatusNoContent, nil))
		}
	}
	return errors.Join(wrong, whole("sse", all))
}

func (c *client) research(ctx context.Context) error {
	id, err := c.start(ctx, inTheWeb("deep_research", studytest.TeamQuestion))
	if err != nil {
		return err
	}
	return c.to(ctx, id, 100, nil)
}

func (c *client) mistake(ctx context.Context) error {
	bad := []struct {
		method, path, body string
		status             int
	}{
		{http.MethodPost, "/api/runs", `{`, http.StatusBadRequest}, {http.MethodPost, "/v1/chat/completions", `{"model":"none","messages":[]}`, http.StatusBadRequest},
		{http.MethodGet, "/api/runs/nothing", "", http.StatusNotFound}, {http.MethodGet, "/nowhere", "", http.StatusNotFound},
		{http.MethodPost, "/api/runs", `{"mode":7}`, http.StatusBadRequest},
	}[c.rand.IntN(5)]
	return c.ask(ctx, bad.method, bad.path, bad.body, bad.status, nil)
}
