package responses_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"dossier"
	"dossier/agent"
	"dossier/internal/agenttest"
	"dossier/internal/server"
	"dossier/internal/server/internal/sitetest"
	"dossier/internal/server/responses"
	"dossier/llm/llmtest"
	"dossier/reader"
)

func TestMain(m *testing.M) {
	reader.WorkerMain()
	os.Exit(m.Run())
}

func protocols(e *dossier.Engine) []server.Protocol {
	return []server.Protocol{responses.Protocol(e.Modes())}
}

const blue = "The sky scatters blue light."

var answered = llmtest.JSON(map[string]any{"reasoning": "it is known", "answer": blue, "key_points": []string{"blue"}})

// talks is a site whose model answers what it is asked, and waits where a question
// has the word wait until it is let go.
func talks(t *testing.T) (s *sitetest.Site, letGo func()) {
	gate := make(chan struct{})
	return sitetest.Start(t, sitetest.Options{Protocols: protocols, Script: llmtest.Script{ChunkSize: 4, Rules: []llmtest.Rule{
		{Contains: "wait", Reply: llmtest.Do(func(*llmtest.Request) *llmtest.Reply { <-gate; return answered })},
		{Reply: answered},
	}}}), func() { close(gate) }
}

// works is a site whose model is an agent's.
func works(t *testing.T) *sitetest.Site {
	return sitetest.Start(t, sitetest.Options{Protocols: protocols, Script: agenttest.Script(agent.Hybrid)})
}

const worker = "research_sgr_tool_calling_agent"

// call makes a request and returns its status and body.
func call(t *testing.T, s *sitetest.Site, token, method, path, body string) (int, string) {
	t.Helper()
	resp := open(t, s, token, method, path, body)
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(raw)
}

func open(t *testing.T, s *sitetest.Site, token, method, path, body string) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, s.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	return resp
}

// reply is what the tests look at of a response.
type reply struct {
	ID, Object, Status, Model string
	Background                bool
	Previous                  string `json:"previous_response_id"`
	Instructions              string
	Metadata                  map[string]string
	Error                     *struct{ Code, Message string }
	Output                    []struct {
		ID, Type, Status, Name string
		Summary                []struct{ Text string }
		Action                 struct{ Type, Query, URL string }
		Content                []struct {
			Type, Text  string
			Annotations []struct {
				Type, URL string
				Start     int `json:"start_index"`
				End       int `json:"end_index"`
			}
		}
	}
	Usage struct {
		Total int `json:"total_tokens"`
	}
}

func (r reply) text() (text string) {
	for _, item := range r.Output {
		for _, part := range item.Content {
			text += part.Text
		}
	}
	return text
}

func (r reply) types() map[string]int {
	out := map[string]int{}
	for _, item := range r.Output {
		out[item.Type]++
	}
	return out
}

// ask creates a response that has to succeed.
func ask(t *testing.T, s *sitetest.Site, body map[string]any) reply {
	t.Helper()
	raw, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	return decoded(t)(call(t, s, s.Ann, "POST", "/v1/responses", string(raw)))
}

func decoded(t *testing.T) func(status int, body string) reply {
	t.Helper()
	return func(status int, body string) (r reply) {
		t.Helper()
		if err := json.Unmarshal([]byte(body), &r); err != nil || status != http.StatusOK {
			t.Fatalf("%d %s: %v", status, body, err)
		}
		return r
	}
}

// data are the messages of a stream of events.
func data(body string) (out []string) {
	lines := bufio.NewScanner(strings.NewReader(body))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if text, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
			out = append(out, text)
		}
	}
	return out
}

type line struct {
	Type   string
	Number int64 `json:"sequence_number"`
	Delta  string
	Text   string
}

func lineOf(t *testing.T, text string) (l line) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &l); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return l
}

func TestAResponse(t *testing.T) {
	s, _ := talks(t)
	made := ask(t, s, map[string]any{
		"model": "chat", "input": "Why is the sky blue?", "instructions": "Be short.", "metadata": map[string]string{"topic": "sky"},
		"temperature": 0.3, "a_field_of_tomorrow": map[string]any{"deep": []int{1}},
	})
	if made.Object != "response" || made.Status != "completed" || made.Model != "chat" || made.text() != blue || made.Usage.Total == 0 || made.Metadata["topic"] != "sky" || made.Instructions != "Be short." {
		t.Errorf("%+v", made)
	}
	if types := made.types(); types["reasoning"] != 1 || types["message"] != 1 || made.Output[0].Summary[0].Text != "it is known" {
		t.Errorf("%+v", made.Output)
	}
	at := "/v1/responses/" + made.ID
	if again := decoded(t)(call(t, s, s.Ann, "GET", at, "")); fmt.Sprint(again) != fmt.Sprint(made) {
		t.Errorf("%+v, and then %+v", made, again)
	}
	_, items := call(t, s, s.Ann, "GET", at+"/input_items?order=asc", "")
	var list struct {
		Data []struct {
			ID, Role string
			Content  []struct{ Type, Text string }
		}
		HasMore bool `json:"has_more"`
	}
	if err := json.Unmarshal([]byte(items), &list); err != nil || len(list.Data) != 2 || list.Data[0].Role != "system" || list.Data[1].Content[0].Text != "Why is the sky blue?" || list.HasMore {
		t.Errorf("%s: %v", items, err)
	}
	if _, items := call(t, s, s.Ann, "GET", at+"/input_items?limit=1", ""); !strings.Contains(items, `"has_more":true`) || !strings.Contains(items, "Why is the sky blue?") {
		t.Errorf("%s", items)
	}
	if status, said := call(t, s, s.Ann, "DELETE", at, ""); status != http.StatusOK || said != `{"id":"`+made.ID+`","object":"response","deleted":true}` {
		t.Errorf("%d %s", status, said)
	}
	if status, _ := call(t, s, s.Ann, "GET", at, ""); status != http.StatusNotFound {
		t.Errorf("after it was deleted: %d", status)
	}
}

// A conversation goes on from any of its responses.
func TestPreviousResponses(t *testing.T) {
	s, _ := talks(t)
	first := ask(t, s, map[string]any{"model": "chat", "input": "canary-one"})
	second := ask(t, s, map[string]any{"input": "canary-two", "previous_response_id": first.ID})
	if second.Previous != first.ID || second.Model != "chat" {
		t.Errorf("%+v", second)
	}
	seen := func() string {
		calls := s.Model.Calls()
		raw, err := json.Marshal(calls[len(calls)-1].Request.Messages)
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	if said := seen(); !strings.Contains(said, "canary-one") || !strings.Contains(said, blue) {
		t.Errorf("the model was not told what was said before: %s", said)
	}
	ask(t, s, map[string]any{"model": "chat", "input": "canary-three", "previous_response_id": first.ID, "instructions": "canary-instruction"})
	if said := seen(); !strings.Contains(said, "canary-one") || !strings.Contains(said, blue) || !strings.Contains(said, "canary-instruction") || strings.Contains(said, "canary-two") {
		t.Errorf("of another branch: %s", said)
	}
}

// An agent asks, is answered by who goes on with its response, and answers.
func TestAnAgentAsksAndIsAnswered(t *testing.T) {
	s := works(t)
	asked := ask(t, s, map[string]any{"model": worker, "input": agenttest.Task})
	if asked.Status != "completed" || asked.text() != "Which newt do you mean?" {
		t.Fatalf("%+v", asked)
	}
	done := ask(t, s, map[string]any{"model": worker, "input": agenttest.Reply, "previous_response_id": asked.ID})
	if done.Status != "completed" || done.text() != agenttest.Answer || done.ID == asked.ID || !strings.HasPrefix(done.ID, asked.ID+"_") {
		t.Fatalf("%+v", done)
	}
	if types := done.types(); types["message"] != 1 || types["web_search_call"] < 2 || types["mcp_call"] < 4 || types["reasoning"] == 0 || types["function_call"] != 0 {
		t.Errorf("%v", types)
	}
	last := done.Output[len(done.Output)-1]
	if marks := last.Content[0].Annotations; len(marks) != 1 || marks[0].Type != "url_citation" || marks[0].URL == "" || agenttest.Answer[marks[0].Start:marks[0].End] != "[1]" {
		t.Errorf("%+v", last)
	}
	_, items := call(t, s, s.Ann, "GET", "/v1/responses/"+done.ID+"/input_items", "")
	if !strings.Contains(items, agenttest.Reply) {
		t.Errorf("%s", items)
	}
	if status, said := call(t, s, s.Ann, "GET", "/v1/responses/"+asked.ID, ""); status != http.StatusOK || !strings.Contains(said, "Which newt") || strings.Contains(said, "11 years") {
		t.Errorf("the first one is now %s", said)
	}
	for _, id := range []string{asked.ID, done.ID} {
		reconnect(t, s, id)
	}
}

// reconnect comes back after every number of a response that is over.
func reconnect(t *testing.T, s *sitetest.Site, id string) {
	t.Helper()
	path := "/v1/responses/" + id + "?stream=true"
	_, body := call(t, s, s.Ann, "GET", path, "")
	whole := data(body)
	if len(whole) < 4 || whole[len(whole)-1] != "[DONE]" {
		t.Fatalf("%s", body)
	}
	for i, text := range whole[:len(whole)-1] {
		_, rest := call(t, s, s.Ann, "GET", fmt.Sprintf("%s&starting_after=%d", path, lineOf(t, text).Number), "")
		if got := slices.Concat(whole[:i+1], data(rest)); strings.Join(got, "\n") != strings.Join(whole, "\n") {
			t.Fatalf("after %s\n%s", text, rest)
		}
	}
}

// A reader sees the answer while it is written, and who comes back after any of its
// events gets the rest, also from another server.
func TestALiveStream(t *testing.T) {
	s, letGo := talks(t)
	resp := open(t, s, s.Ann, "POST", "/v1/responses", `{"model":"chat","input":"wait for it","stream":true}`)
	defer resp.Body.Close()
	var whole []string
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		text, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		if whole = append(whole, text); strings.Contains(text, `"response.in_progress"`) {
			letGo()
		}
	}
	if resp.StatusCode != http.StatusOK || whole[len(whole)-1] != "[DONE]" {
		t.Fatalf("%d %v", resp.StatusCode, whole)
	}
	text, shown := "", false
	for _, raw := range whole[:len(whole)-1] {
		l := lineOf(t, raw)
		if l.Type == "response.output_text.delta" {
			text += l.Delta
			shown = shown || l.Number%1_000_000 >= 500_000
		}
	}
	if text != blue || !shown {
		t.Errorf("%q, shown early: %v\n%s", text, shown, strings.Join(whole, "\n"))
	}
	other, err := server.Listen(server.Options{Engine: s.Engine, Version: "test", Host: "127.0.0.1", Access: server.Access{Required: true, Token: s.Root}, Protocols: protocols(s.Engine)})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	again := *s
	again.URL = other.URL()
	id := "resp_" + resp.Header.Get("X-Run-ID")
	begun := false
	for i, raw := range whole[:len(whole)-1] {
		l := lineOf(t, raw)
		if begun = begun || l.Number%1_000_000 >= 500_000; !begun {
			continue
		}
		_, rest := call(t, &again, s.Ann, "GET", fmt.Sprintf("/v1/responses/%s?stream=true&starting_after=%d", id, l.Number), "")
		if got := slices.Concat(whole[:i+1], data(rest)); strings.Join(got, "\n") != strings.Join(whole, "\n") {
			t.Fatalf("after %s\n%s\nnot\n%s", raw, rest, strings.Join(whole[i+1:], "\n"))
		}
	}
	reconnect(t, &again, id)
}

// Functions of the client's own go to the model, and their results with what went
// before.
func TestFunctions(t *testing.T) {
	none := 0
	s := sitetest.Start(t, sitetest.Options{Protocols: protocols, Script: llmtest.Script{Rules: []llmtest.Rule{
		{Contains: "weather", ToolResults: &none, Reply: llmtest.CallTool("get_weather", map[string]any{"city": "Oslo"})},
		{Schema: "sky", Reply: llmtest.JSON(map[string]any{"colour": "blue"})},
		{Reply: llmtest.Say("It rains.")},
	}}})
	tools := []any{map[string]any{"type": "function", "name": "get_weather", "parameters": map[string]any{"type": "object"}}, map[string]any{"type": "web_search"}}
	asked := ask(t, s, map[string]any{"model": "chat", "input": "weather?", "tools": tools, "instructions": "canary-instruction"})
	if len(asked.Output) != 1 || asked.Output[0].Type != "function_call" || asked.Output[0].Name != "get_weather" || asked.Model != "chat" {
		t.Fatalf("%+v", asked)
	}
	calls := func() string {
		all := s.Model.Calls()
		raw, err := json.Marshal(all[len(all)-1].Request.Messages)
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	_, raw := call(t, s, s.Ann, "GET", "/v1/responses/"+asked.ID, "")
	var out struct {
		Output []struct {
			CallID    string `json:"call_id"`
			Arguments string
		}
		Tools []struct{ Name string }
	}
	if err := json.Unmarshal([]byte(raw), &out); err != nil || !strings.Contains(out.Output[0].Arguments, "Oslo") || len(out.Tools) != 1 {
		t.Fatalf("%s: %v", raw, err)
	}
	result := map[string]any{"type": "function_call_output", "call_id": out.Output[0].CallID, "output": "canary-rain"}
	done := ask(t, s, map[string]any{"model": "chat", "input": []any{result}, "previous_response_id": asked.ID, "tools": tools})
	if done.text() != "It rains." {
		t.Errorf("%+v", done)
	}
	if said := calls(); !strings.Contains(said, "weather?") || !strings.Contains(said, "Oslo") || !strings.Contains(said, "canary-rain") || strings.Contains(said, "canary-instruction") {
		t.Errorf("the model was told %s", said)
	}
	for _, id := range []string{asked.ID, done.ID} {
		reconnect(t, s, id)
	}
	schema := map[string]any{"type": "object", "properties": map[string]any{"colour": map[string]any{"type": "string"}}, "required": []string{"colour"}, "additionalProperties": false}
	formed := ask(t, s, map[string]any{"model": "chat", "input": "sky?", "text": map[string]any{"format": map[string]any{"type": "json_schema", "name": "sky", "schema": schema, "strict": true}}})
	if formed.text() != `{"colour":"blue"}` {
		t.Errorf("%+v", formed)
	}
}

func TestBackgroundAndCancel(t *testing.T) {
	s, letGo := talks(t)
	defer letGo()
	made := ask(t, s, map[string]any{"model": "chat", "input": "wait for ever", "background": true})
	if made.Status != "queued" && made.Status != "in_progress" || !made.Background {
		t.Fatalf("%+v", made)
	}
	at := "/v1/responses/" + made.ID
	if status, said := call(t, s, s.Ann, "POST", "/v1/responses", `{"input":"and?","previous_response_id":"`+made.ID+`"}`); status != http.StatusConflict {
		t.Errorf("to go on with what is not done: %d %s", status, said)
	}
	for range 2 {
		if over := decoded(t)(call(t, s, s.Ann, "POST", at+"/cancel", "")); over.Status != "cancelled" {
			t.Errorf("%+v", over)
		}
	}
	if now := decoded(t)(call(t, s, s.Ann, "GET", at, "")); now.Status != "cancelled" || !now.Background {
		t.Errorf("%+v", now)
	}
	_, body := call(t, s, s.Ann, "GET", at+"?stream=true", "")
	if told := data(body); len(told) < 3 || lineOf(t, told[len(told)-2]).Type != "response.incomplete" {
		t.Errorf("%s", body)
	}
	reconnect(t, s, made.ID)
}

func TestAFailedResponse(t *testing.T) {
	s := sitetest.Start(t, sitetest.Options{Protocols: protocols, Script: llmtest.Script{Rules: []llmtest.Rule{{Fault: &llmtest.Fault{Kind: llmtest.Auth}}}}})
	made := ask(t, s, map[string]any{"model": "chat", "input": "hello"})
	if made.Status != "failed" || made.Error == nil || made.Error.Code == "" || made.Error.Message == "" {
		t.Errorf("%+v", made)
	}
	reconnect(t, s, made.ID)
}

// Every route answers 404 to a user whose response it is not, and to ids that are
// none.
func TestOthersResponsesAreNotThere(t *testing.T) {
	s, _ := talks(t)
	made := ask(t, s, map[string]any{"model": "chat", "input": "hello"})
	for _, route := range protocols(s.Engine)[0].Routes {
		method, path, _ := strings.Cut(route.Pattern, " ")
		if !strings.Contains(path, "{id}") {
			continue
		}
		for id, token := range map[string]string{
			made.ID: s.Bob, made.ID + "_1": s.Ann, made.ID + "_x": s.Ann, made.ID + "_01": s.Ann, made.ID[:len(made.ID)-1]: s.Ann, "resp_last": s.Root, "resp_": s.Ann,
			strings.TrimPrefix(made.ID, "resp_"): s.Ann, "resp_nothing_at_all": s.Ann,
		} {
			for _, query := range []string{"", "?stream=true"} {
				if status, said := call(t, s, token, method, strings.ReplaceAll(path, "{id}", id)+query, ""); status != http.StatusNotFound || !strings.Contains(said, `"detail"`) {
					t.Errorf("%s of %s: %d %s", route.Pattern, id, status, said)
				}
			}
		}
	}
	if status, said := call(t, s, s.Bob, "POST", "/v1/responses", `{"model":"chat","input":"x","previous_response_id":"`+made.ID+`"}`); status != http.StatusNotFound {
		t.Errorf("to go on with it: %d %s", status, said)
	}
	if status, _ := call(t, s, s.Ann, "GET", "/v1/responses/"+made.ID, ""); status != http.StatusOK {
		t.Errorf("it is gone: %d", status)
	}
}

func TestBadRequests(t *testing.T) {
	s, _ := talks(t)
	for name, body := range map[string]string{
		"nothing": ``, "no JSON": `{`, "no input": `{"model":"chat"}`, "empty input": `{"model":"chat","input":[]}`, "no model": `{"input":"x"}`,
		"unknown model": `{"model":"gpt-9","input":"x"}`, "wrong type": `{"model":"chat","input":7}`, "no question": `{"model":"chat","input":[{"role":"assistant","content":"x"}]}`,
		"an image":    `{"model":"chat","input":[{"role":"user","content":[{"type":"input_image","image_url":"data:,x"}]}]}`,
		"no schema":   `{"model":"chat","input":"x","text":{"format":{"type":"json_schema","name":"x"}}}`,
		"no form":     `{"model":"chat","input":"x","text":{"format":{"type":"xml"}}}`,
		"JSON of it":  `{"model":"web_search","input":"x","text":{"format":{"type":"json_object"}}}`,
		"a reference": `{"model":"chat","input":[{"type":"item_reference","id":"msg_1"}]}`, "deep": `{"model":"chat","input":` + strings.Repeat("[", 20_000) + `}`,
	} {
		status, said := call(t, s, s.Ann, "POST", "/v1/responses", body)
		var e struct {
			Error struct{ Message, Type string }
		}
		if err := json.Unmarshal([]byte(said), &e); err != nil || status != http.StatusBadRequest || e.Error.Type != "invalid_request_error" || e.Error.Message == "" {
			t.Errorf("%s: %d %s", name, status, said)
		}
	}
	if status, said := call(t, s, s.Ann, "POST", "/v1/responses/compact", `{"input":"x"}`); status != http.StatusNotFound || !strings.Contains(said, "compaction") {
		t.Errorf("%d %s", status, said)
	}
	if status, said := call(t, s, s.Ann, "GET", "/v1/responses/resp_x?stream=true&starting_after=-2", ""); status != http.StatusNotFound {
		t.Errorf("%d %s", status, said)
	}
	made := ask(t, s, map[string]any{"model": "chat", "input": "hello"})
	if status, said := call(t, s, s.Ann, "GET", "/v1/responses/"+made.ID+"?stream=true&starting_after=-2", ""); status != http.StatusBadRequest {
		t.Errorf("%d %s", status, said)
	}
}
