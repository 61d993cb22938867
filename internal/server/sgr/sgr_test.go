package sgr_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"dossier"
	"dossier/agent"
	"dossier/internal/agenttest"
	"dossier/internal/clienttest"
	"dossier/internal/server"
	"dossier/internal/server/internal/sitetest"
	"dossier/internal/server/openai"
	"dossier/internal/server/sgr"
	"dossier/llm/llmtest"
	"dossier/reader"
)

var update = flag.Bool("update", false, "rewrite golden files")

func TestMain(m *testing.M) {
	reader.WorkerMain()
	os.Exit(m.Run())
}

// definition of the agent that works in these tests.
const definition = "research_sgr_tool_calling_agent"

// client is a client of a site.
type client struct {
	t *testing.T
	*sitetest.Site
	token string
}

func start(t *testing.T, script llmtest.Script) *client {
	s := sitetest.Start(t, sitetest.Options{Script: script, Protocols: func(e *dossier.Engine) []server.Protocol {
		return []server.Protocol{openai.Protocol(openai.Options{Modes: e.Modes(), Default: definition}), sgr.Protocol(sgr.Options{})}
	}})
	return &client{t, s, s.Ann}
}

// researches is a site whose agent asks the user something and answers then.
func researches(t *testing.T) *client { return start(t, agenttest.Script(agent.Hybrid)) }

func (c *client) ask(method, path, body string) (*http.Response, string) {
	c.t.Helper()
	req, err := http.NewRequestWithContext(c.t.Context(), method, c.URL+path, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+c.token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		c.t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	return resp, string(raw)
}

// want is ask of something that has to come to a status.
func (c *client) want(status int, method, path, body string) string {
	c.t.Helper()
	resp, said := c.ask(method, path, body)
	if resp.StatusCode != status {
		c.t.Fatalf("%s %s: %d, want %d: %s", method, path, resp.StatusCode, status, said)
	}
	return said
}

// say sends a message to a model, as a client does that takes streams, and returns
// the agent's id.
func (c *client) say(model, text string) (id, stream string) {
	c.t.Helper()
	resp, body := c.ask("POST", "/v1/chat/completions", fmt.Sprintf(`{"model":%q,"messages":%s,"stream":true,"max_tokens":1500,"temperature":0,"user_id":null}`, model, user(text)))
	if resp.StatusCode != http.StatusOK || resp.Header.Get("X-Agent-ID") == "" {
		c.t.Fatalf("%d %v: %s", resp.StatusCode, resp.Header, body)
	}
	return resp.Header.Get("X-Agent-ID"), body
}

// user is a list of one message of the user.
func user(text string) string {
	raw, err := json.Marshal([]map[string]string{{"role": "user", "content": text}})
	if err != nil {
		panic(err)
	}
	return string(raw)
}

// state is that of an agent.
func (c *client) state(id string) string {
	c.t.Helper()
	var body struct{ State string }
	if err := json.Unmarshal([]byte(c.want(http.StatusOK, "GET", "/agents/"+id+"/state", "")), &body); err != nil {
		c.t.Fatal(err)
	}
	return body.State
}

// answered says whether a stream ends with the answer of the research.
func answered(stream string) bool {
	return strings.Contains(stream, `-final"`) && strings.Contains(stream, `"content":"`+agenttest.Answer+`"`) && strings.HasSuffix(stream, "data: [DONE]\n\n")
}

// TestAWholeFlow freezes the bodies that a client sees on the way of an agent: it
// asks, is answered, is done, gets its next task, and is deleted.
func TestAWholeFlow(t *testing.T) {
	c := researches(t)
	var told strings.Builder
	note := func(method, path, body string) {
		told.WriteString("\n> " + method + " " + path + "\n" + indented(t, c.want(http.StatusOK, method, path, body)) + "\n")
	}
	id, _ := c.say(definition, agenttest.Task)
	note("GET", "/agents", "")
	note("GET", "/agents/"+id+"/state", "")

	resp, stream := c.ask("POST", "/agents/"+id+"/provide_clarification", `{"messages":`+user(agenttest.Reply)+`}`)
	if resp.StatusCode != http.StatusOK || !answered(stream) || resp.Header.Get("Content-Type") != "text/event-stream" || resp.Header.Get("X-Agent-ID") != id || resp.Header.Get("X-Agent-Model") != "" {
		t.Fatalf("%d %v: %s", resp.StatusCode, resp.Header, stream)
	}
	if strings.Contains(stream, "started") {
		t.Errorf("the stream begins anew: %s", stream)
	}
	note("GET", "/agents/"+id+"/state", "")
	note("GET", "/v1/chats/"+id+"/history", "")

	if again, stream := c.say(id, "And where does it live?"); again != id || strings.Contains(stream, agenttest.Answer) {
		t.Fatalf("the next run is of %s: %s", again, stream)
	}
	if got := c.state(id); got != "waiting_for_clarification" {
		t.Errorf("the next run: %s", got)
	}
	if stream := c.want(http.StatusOK, "POST", "/agents/"+id+"/provide_clarification", `{"clarifications":"The same one."}`); !answered(stream) {
		t.Fatalf("%s", stream)
	}
	note("GET", "/v1/chats?page=1&page_size=5", "")
	note("GET", "/v1/chats/"+id, "")
	note("POST", "/agents/"+id+"/cancel", "")
	note("DELETE", "/agents/"+id, "")
	note("GET", "/agents", "")
	note("GET", "/v1/chats", "")
	frozen(t, "flow.txt", told.String(), id)
	c.want(http.StatusNotFound, "GET", "/agents/"+id+"/state", "")
	left, err := c.Engine.List(t.Context(), dossier.Filter{})
	if err != nil || len(left) != 0 {
		t.Errorf("%d runs are left: %v", len(left), err)
	}
}

// A clarification reaches its agent in each of the ways that clients have.
func TestClarificationInEveryWay(t *testing.T) {
	c := researches(t)
	for name, answer := range map[string]func(id string) string{
		"the model": func(id string) string { _, stream := c.say(id, agenttest.Reply); return stream },
		"an id in the text": func(id string) string {
			again, stream := c.say(definition, "For "+id+": "+agenttest.Reply)
			if again != id {
				t.Errorf("%s answers, not %s", again, id)
			}
			return stream
		},
		"an id without a space before it": func(id string) string { _, stream := c.say(definition, "这是给"+id+"的回答"); return stream },
		"a conversation with the id in it": func(id string) string {
			messages := fmt.Sprintf(`[{"role":"user","content":%q},{"role":"assistant","content":"Agent %s started\nWhich newt do you mean?"},{"role":"user","content":%q}]`, agenttest.Task, id, agenttest.Reply)
			return c.want(http.StatusOK, "POST", "/v1/chat/completions", `{"stream":true,"messages":`+messages+`}`)
		},
		"messages": func(id string) string {
			return c.want(http.StatusOK, "POST", "/agents/"+id+"/provide_clarification", `{"messages":[{"role":"system","content":"x"},{"role":"user","content":[{"type":"text","text":"The newt"}]},{"role":"user","content":"of the Aune."}]}`)
		},
		"clarifications": func(id string) string {
			return c.want(http.StatusOK, "POST", "/agents/"+id+"/provide_clarification", `{"clarifications":"The newt of the Aune."}`)
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := *c
			c.t = t
			id, asked := c.say(definition, agenttest.Task)
			if !strings.Contains(asked, `"content":"Which newt do you mean?"`) || strings.Contains(asked, "self._context") || c.state(id) != "waiting_for_clarification" {
				t.Fatalf("%s: %s", c.state(id), asked)
			}
			if stream := answer(id); !answered(stream) || c.state(id) != "completed" {
				t.Errorf("%s: %s", c.state(id), stream)
			}
		})
	}
}

// Who waits for an answer gets it, whoever else is named.
func TestWhoWaitsIsMeant(t *testing.T) {
	c := researches(t)
	done, _ := c.say(definition, agenttest.Task)
	c.say(done, agenttest.Reply)
	waits, _ := c.say(definition, agenttest.Task)
	if got, stream := c.say(waits, "As I told "+done+": "+agenttest.Reply); got != waits || !answered(stream) {
		t.Errorf("%s answers: %s", got, stream)
	}
	if got, _ := c.say(waits, "As I told "+done+": once more."); got != waits {
		t.Errorf("the next task of %s is that of %s", waits, got)
	}
	if got, _ := c.say(definition, "As I told "+done+": once more."); got != done {
		t.Errorf("the next task of %s is that of %s", done, got)
	}
}

// held is a site whose model says nothing until the test is over, and called hears
// of each call.
func held(t *testing.T) (c *client, called chan struct{}) {
	called = make(chan struct{}, 16)
	over := make(chan struct{})
	c = start(t, llmtest.Script{Rules: []llmtest.Rule{{Reply: llmtest.Do(func(*llmtest.Request) *llmtest.Reply {
		called <- struct{}{}
		<-over
		return llmtest.Say("too late")
	})}}})
	t.Cleanup(func() { close(over) })
	return c, called
}

// begin starts an agent and waits until it is at work. The stream of it comes
// through the channel once it is over.
func (c *client) begin(called chan struct{}, text string) (id string, stream chan string) {
	c.t.Helper()
	req, err := http.NewRequestWithContext(c.t.Context(), "POST", c.URL+"/v1/chat/completions", strings.NewReader(`{"model":"`+definition+`","stream":true,"messages":`+user(text)+`}`))
	if err != nil {
		c.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+c.token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		c.t.Fatal(err)
	}
	<-called
	stream = make(chan string, 1)
	go func() {
		defer resp.Body.Close()
		raw, _ := io.ReadAll(resp.Body)
		stream <- string(raw)
	}()
	return resp.Header.Get("X-Agent-ID"), stream
}

func TestRunningIsResearchingAndCanBeCancelled(t *testing.T) {
	c, called := held(t)
	id, stream := c.begin(called, "How?")
	if got := c.state(id); got != "researching" {
		t.Errorf("a running agent is %s", got)
	}
	body := c.want(http.StatusBadRequest, "POST", "/agents/"+id+"/provide_clarification", `{"clarifications":"x"}`)
	if !strings.Contains(body, `"detail":"Agent is not waiting for clarification"`) {
		t.Errorf("%s", body)
	}
	if got := c.want(http.StatusBadRequest, "POST", "/v1/chat/completions", `{"model":"`+id+`","messages":`+user("x")+`}`); !strings.Contains(got, "is not done") {
		t.Errorf("a message to one at work: %s", got)
	}
	if other, _ := c.begin(called, "As "+id+" does: how?"); other == id || c.state(other) != "researching" {
		t.Errorf("a message that names one at work is for %s", other)
	}
	if got, want := c.want(http.StatusOK, "POST", "/agents/"+id+"/cancel", ""), `{"agent_id":"`+id+`","cancelled":true,"state":"cancelled"}`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got := <-stream; !strings.Contains(got, `-final"`) || !strings.Contains(got, "cancelled") || !strings.HasSuffix(got, "data: [DONE]\n\n") {
		t.Errorf("the stream of one that was cancelled: %s", got)
	}
	if got := c.want(http.StatusOK, "POST", "/agents/"+id+"/cancel", ""); !strings.Contains(got, `"state":"cancelled"`) {
		t.Errorf("again: %s", got)
	}

	id, stream = c.begin(called, "How?")
	if got, want := c.want(http.StatusOK, "DELETE", "/agents/"+id, ""), `{"agent_id":"`+id+`","deleted":true,"final_state":"cancelled"}`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	<-stream
	c.want(http.StatusNotFound, "GET", "/agents/"+id+"/state", "")
	c.want(http.StatusNotFound, "DELETE", "/agents/"+id, "")
}

// One that waits can be cancelled and deleted too, and gets its next task after.
func TestOneThatWaitsCanBeCancelled(t *testing.T) {
	c := researches(t)
	id, _ := c.say(definition, agenttest.Task)
	if got := c.want(http.StatusOK, "POST", "/agents/"+id+"/cancel", ""); !strings.Contains(got, `"cancelled":true,"state":"cancelled"`) {
		t.Errorf("%s", got)
	}
	c.want(http.StatusBadRequest, "POST", "/agents/"+id+"/provide_clarification", `{"clarifications":"too late"}`)
	if again, _ := c.say(id, agenttest.Task); again != id || c.state(id) != "waiting_for_clarification" {
		t.Errorf("%s is %s", again, c.state(id))
	}
	if got, want := c.want(http.StatusOK, "DELETE", "/v1/chats/"+id, ""), `{"success":true,"message":"Chat deleted","agent_id":"`+id+`"}`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	c.want(http.StatusNotFound, "GET", "/v1/chats/"+id, "")
}

// routes are all that name an agent.
var routes = []struct{ method, path, body string }{
	{"GET", "/agents/%s/state", ""},
	{"POST", "/agents/%s/provide_clarification", `{"clarifications":"mine"}`},
	{"POST", "/agents/%s/provide_clarification", `{"messages":[{"role":"user","content":"mine"}]}`},
	{"POST", "/agents/%s/cancel", ""},
	{"DELETE", "/agents/%s", ""},
	{"GET", "/v1/chats/%s", ""},
	{"GET", "/v1/chats/%s/history", ""},
	{"DELETE", "/v1/chats/%s", ""},
}

// What is another's is not there.
func TestOthersAgentsAreNotThere(t *testing.T) {
	c := researches(t)
	id, _ := c.say(definition, agenttest.Task)
	bob := *c
	bob.token = c.Bob
	for _, r := range routes {
		for _, who := range []string{id, id[:len(id)-1], "nobody"} {
			body := bob.want(http.StatusNotFound, r.method, fmt.Sprintf(r.path, who), r.body)
			if !strings.Contains(body, `"detail":"Agent not found"`) {
				t.Errorf("%s %s: %s", r.method, r.path, body)
			}
		}
	}
	for _, path := range []string{"/agents", "/v1/chats"} {
		if body := bob.want(http.StatusOK, "GET", path, ""); strings.Contains(body, id) || !strings.Contains(body, `"total":0`) {
			t.Errorf("%s tells of another's: %s", path, body)
		}
	}
	bob.want(http.StatusBadRequest, "POST", "/v1/chat/completions", `{"model":"`+id+`","messages":`+user("mine")+`}`)
	if got := c.state(id); got != "waiting_for_clarification" {
		t.Errorf("after all that it is %s", got)
	}
}

// TestWhatIsWrong freezes the errors.
func TestWhatIsWrong(t *testing.T) {
	c := researches(t)
	id, _ := c.say(definition, agenttest.Task)
	clarify := "/agents/" + id + "/provide_clarification"
	var told strings.Builder
	for _, r := range []struct {
		status             int
		method, path, body string
	}{
		{422, "POST", clarify, ``},
		{422, "POST", clarify, `{`},
		{422, "POST", clarify, `[]`},
		{422, "POST", clarify, `{}`},
		{422, "POST", clarify, `{"messages":"x"}`},
		{422, "POST", clarify, `{"messages":[7]}`},
		{422, "POST", clarify, `{"messages":[]}`},
		{422, "POST", clarify, `{"messages":[{"role":"assistant","content":"x"}]}`},
		{422, "POST", clarify, `{"messages":[{"role":"user","content":[{"type":"image_url"}]}]}`},
		{422, "POST", clarify, `{"clarifications":7}`},
		{422, "POST", clarify, `{"clarifications":"  "}`},
		{422, "GET", "/v1/chats?page=x", ""},
		{422, "GET", "/v1/chats?page_size=0", ""},
		{422, "GET", "/agents?limit=-1", ""},
		{404, "GET", "/agents/nobody/state", ""},
		{400, "POST", "/v1/chat/completions", `{"model":"nobody","messages":` + user("x") + `}`},
	} {
		body := c.want(r.status, r.method, r.path, r.body)
		fmt.Fprintf(&told, "\n> %s %s %s\n%d %s\n", r.method, r.path, r.body, r.status, body)
	}
	frozen(t, "errors.txt", told.String(), id)
	if got := c.state(id); got != "waiting_for_clarification" {
		t.Errorf("after all that it is %s", got)
	}
}

// The official client does a whole flow.
func TestOpenAIClientInPython(t *testing.T) {
	c := researches(t)
	out := clienttest.Python(t, "sgr.py", c.URL, c.token, definition)
	want := "asked: Which newt do you mean?\nstate: waiting_for_clarification\nmodel: " + agenttest.Answer + "\nstate: completed\ntext: " + agenttest.Answer + "\nclarification: " + agenttest.Answer + "\nagents: 3\ndeleted: completed\n"
	if out != want {
		t.Errorf("%s\nwant\n%s", out, want)
	}
}

func indented(t *testing.T, body string) string {
	t.Helper()
	var out bytes.Buffer
	if err := json.Indent(&out, []byte(body), "", "  "); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	return out.String()
}

var (
	address = regexp.MustCompile(`127\.0\.0\.1:\d+`)
	moment  = regexp.MustCompile(`\d{8}_\d{6}|\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[.\d]*(Z|[+-]\d\d:\d\d)?`)
	folder  = regexp.MustCompile(`[^"\\ ]*/data/`)
	runID   = regexp.MustCompile(`"id": "([\w]+)-\d+[-a-z]*"`)
)

// frozen compares a text with a golden file.
func frozen(t *testing.T, name, text, id string) {
	t.Helper()
	for _, m := range runID.FindAllStringSubmatch(text, -1) {
		text = strings.ReplaceAll(text, m[1], "RUN")
	}
	text = strings.ReplaceAll(text, id, "AGENT")
	for re, with := range map[*regexp.Regexp]string{address: "WEB", moment: "TIME", folder: "DATA/"} {
		text = re.ReplaceAllString(text, with)
	}
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(want, []byte(text)) {
		t.Errorf("%s is otherwise (-update rewrites it): %v\n%s", path, err, text)
	}
}
