package cli_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"dossier/llm/llmtest"
)

// doorway stands before the model. While it is shut, calls that hold a text wait
// in it until it opens or the caller is gone.
type doorway struct {
	model   http.Handler
	holds   string
	arrived chan struct{}
	mu      sync.Mutex
	open    chan struct{} // closed while the doorway is open
}

func (d *doorway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	d.mu.Lock()
	open := d.open
	d.mu.Unlock()
	if bytes.Contains(body, []byte(d.holds)) {
		select {
		case <-open:
		default:
			d.arrived <- struct{}{}
			select {
			case <-open:
			case <-r.Context().Done():
				return
			}
		}
	}
	d.model.ServeHTTP(w, r)
}

func (d *doorway) set(open bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	select {
	case <-d.open:
		if !open {
			d.open = make(chan struct{})
		}
	default:
		if open {
			close(d.open) // those who wait go on
		}
	}
}

// errand is a command that ends with an exit code.
type errand struct {
	name string
	code int
	args []string
	// holds is in the call of the model during which the run is disturbed.
	holds string
	rules []llmtest.Rule
	// whole says that nothing follows that call: a run that is told to pause in
	// it ends.
	whole bool
	// cancelled has the run be cancelled during that call, after all else.
	cancelled bool
}

// stand is a user's machine, for one run of an errand.
type stand struct {
	t    *testing.T
	door *doorway
	env  []string
	dir  string
	path string
}

func newStand(t *testing.T, e errand) *stand {
	t.Helper()
	model := llmtest.New(llmtest.Script{Rules: e.rules})
	s := &stand{t: t, dir: t.TempDir(), door: &doorway{model: model, holds: e.holds, arrived: make(chan struct{}, 16), open: make(chan struct{})}}
	server := httptest.NewServer(s.door)
	t.Cleanup(func() { s.door.set(true); model.Close(); server.CloseClientConnections(); server.Close() })
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s.path = filepath.Join(t.TempDir(), "dossier") // TestMain goes by the name
	if err := os.Symlink(self, s.path); err != nil {
		t.Fatal(err)
	}
	cape := filepath.Join(s.dir, "cape")
	if err := os.Mkdir(cape, 0o700); err != nil {
		t.Fatal(err)
	}
	text := "# The lighthouse\n\nThe tower is 41 metres high. It stands on granite, and 187 steps lead up to the lamp.\n"
	if err := os.WriteFile(filepath.Join(cape, "tower.md"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s.env = []string{
		"HOME=" + s.dir, "PATH=" + os.Getenv("PATH"), "LANG=en_US.UTF-8", "DOSSIER_SEARCH_ENGINES=none", "DOSSIER_GOVERNOR_RETRIES=0",
		"OPENAI_BASE_URL=" + server.URL + "/v1", "OPENAI_API_KEY=" + secret,
	}
	return s
}

// command is one that runs; what it says can be read when it has ended.
type command struct {
	*exec.Cmd
	args  []string
	out   bytes.Buffer
	ended chan struct{}
}

func (s *stand) start(args ...string) *command {
	s.t.Helper()
	c := &command{Cmd: exec.Command(s.path, args...), args: args, ended: make(chan struct{})}
	c.Env, c.Dir, c.Stdout, c.Stderr = s.env, s.dir, &c.out, &c.out
	if err := c.Start(); err != nil {
		s.t.Fatal(err)
	}
	go func() { _ = c.Wait(); close(c.ended) }()
	s.t.Cleanup(func() { _ = c.Process.Kill(); <-c.ended })
	return c
}

// end waits for a command and returns its exit code.
func (s *stand) end(c *command) int {
	s.t.Helper()
	select {
	case <-c.ended:
	case <-time.After(stuck):
		s.t.Fatalf("%q does not end", c.args)
	}
	s.t.Logf("%q ends with %d\n%s", c.args, c.ProcessState.ExitCode(), c.out.String())
	return c.ProcessState.ExitCode()
}

// inCall waits until the model is called.
func (s *stand) inCall(c *command) {
	s.t.Helper()
	select {
	case <-s.door.arrived:
	case <-c.ended:
		s.t.Fatalf("%q ended without a call\n%s", c.args, c.out.String())
	case <-time.After(stuck):
		s.t.Fatal("the model was not called")
	}
}

// finish lets the command end, or cancels its run.
func (s *stand) finish(e errand, c *command) int {
	s.t.Helper()
	if e.cancelled {
		s.inCall(c)
		if code := s.end(s.start("runs", "cancel", "last")); code != 0 {
			s.t.Errorf("cancelling ends with %d", code)
		}
	}
	return s.end(c)
}

// disturbances are what may befall a run before it is resumed.
var disturbances = map[string]func(s *stand, c *command){
	"killed": func(s *stand, c *command) {
		if err := c.Process.Kill(); err != nil {
			s.t.Fatal(err)
		}
		<-c.ended
		// Nothing says that it is running, and it is said how it goes on.
		for _, args := range [][]string{{"runs", "list"}, {"runs", "show", "last"}} {
			look := s.start(args...)
			if code, text := s.end(look), look.out.String(); code != 0 || strings.Contains(text, "running") || !strings.Contains(text, "to go on: dossier runs resume ") {
				s.t.Errorf("after a kill %q ends with %d: %s", args, code, text)
			}
		}
	},
	"paused": func(s *stand, c *command) {
		if code := s.end(s.start("runs", "pause", "last")); code != 0 {
			s.t.Errorf("pausing ends with %d", code)
		}
		s.door.set(true)
		if code := s.end(c); code != 4 {
			s.t.Errorf("a command whose run is paused ends with %d", code)
		}
	},
}

func finalAnswer(status string) *llmtest.Reply {
	return llmtest.CallTool("final_answer_tool", map[string]any{"reasoning": "r", "completed_steps": []string{"thought"}, "answer": "so it is", "status": status})
}

// errands end with each code that a run can bring about.
func errands() []errand {
	written := func(answer string) []llmtest.Rule {
		return []llmtest.Rule{
			{Schema: "plan", Reply: llmtest.JSON(map[string]any{"question": "How many steps lead to the lamp?", "facets": []any{
				map[string]any{"title": "How many steps lead to the lamp?", "queries": []string{"steps to the lamp"}},
			}})},
			{Schema: "synthesized_answer", Reply: llmtest.JSON(map[string]any{"reasoning": "", "answer": answer, "key_points": []string{}, "unanswered": false})},
			{Schema: "judgements", Reply: llmtest.JSON(map[string]any{"judgements": []any{map[string]any{"claim": 1, "verdict": "unsupported", "passage": 0}}})},
			{Schema: "rewritten", Reply: llmtest.JSON(map[string]any{"answer": answer})},
		}
	}
	fails := func(f llmtest.Fault) []llmtest.Rule { return []llmtest.Rule{{Fault: &f}} }
	steps := []string{"research", "How many steps lead to the lamp?", "--in", "cape"}
	with := func(args []string, more ...string) []string { return slices.Concat(args, more) }
	half := written("187 steps lead up to the lamp [1]. The keeper speaks Latin with the gulls [1].")
	agent := []string{"agents", "run", "tool_calling_agent", "what is it?"}
	return []errand{
		{name: "answered", code: 0, args: []string{"ask", "why?"}, whole: true},
		{name: "found", code: 0, args: steps, rules: half},
		{name: "covered enough", code: 0, args: with(steps, "--min-coverage", "0.5"), rules: half},
		{name: "agent", code: 0, args: agent, rules: []llmtest.Rule{{Reply: finalAnswer("completed")}}},
		{name: "refused", code: 1, args: []string{"ask", "why?"}, rules: fails(llmtest.Fault{Kind: llmtest.Status, Status: 400})},
		{name: "no key", code: 3, args: []string{"ask", "why?"}, rules: fails(llmtest.Fault{Kind: llmtest.Auth})},
		{name: "agent without a model", code: 3, args: agent, rules: fails(llmtest.Fault{Kind: llmtest.Auth})},
		{name: "no engine", code: 3, args: []string{"research", "What is a heat pump?", "--in", "cape", "--search", "--set", "models.embeddings.model=any"}},
		{name: "nothing found", code: 4, args: []string{"research", "What is the boiling point of tungsten?", "--in", "cape"}, rules: []llmtest.Rule{
			{Schema: "plan", Reply: llmtest.JSON(map[string]any{"question": "What is the boiling point of tungsten?", "facets": []any{
				map[string]any{"title": "What is the boiling point of tungsten?", "queries": []string{"boiling point of tungsten"}},
			}})},
			{Schema: "note", Reply: llmtest.JSON(map[string]any{"relevant": false, "summary": "", "quotes": []string{}})},
			{Schema: "synthesized_answer", Reply: llmtest.JSON(map[string]any{"reasoning": "", "answer": "No passage says it.", "key_points": []string{}, "unanswered": true})},
		}},
		{name: "covered too little", code: 4, args: with(steps, "--min-coverage", "0.9"), rules: half},
		{name: "covered too little, by the end", code: 4, args: with(steps, "--min-coverage", "0.9"), holds: "synthesized_answer", rules: half},
		{name: "agent gave up", code: 4, args: agent, rules: []llmtest.Rule{{Reply: finalAnswer("failed")}}},
		{name: "agent asks", code: 4, args: agent, rules: []llmtest.Rule{{Reply: llmtest.CallTool("clarification_tool", map[string]any{
			"reasoning": "r", "unclear_terms": []string{"it"}, "assumptions": []string{"a", "b"}, "questions": []string{"what?"},
		})}}},
		{name: "tokens are spent", code: 5, args: with(agent, "--max-tokens", "1")},
		{name: "searches are spent before", code: 5, args: with(steps, "--max-searches", "1", "--max-pages", "1"), holds: "synthesized_answer", rules: half},
		{name: "cancelled", code: 130, args: []string{"ask", "why?"}, whole: true, cancelled: true},
		{name: "agent cancelled", code: 130, args: agent, cancelled: true},
	}
}

// A run that was killed or paused and then resumed ends its command with the
// exit code that it would have ended with.
func TestResumedRunsEndAsUndisturbedOnes(t *testing.T) {
	for _, e := range errands() {
		t.Run(strings.ReplaceAll(e.name, " ", "-"), func(t *testing.T) {
			t.Parallel()
			s := newStand(t, e)
			s.door.set(!e.cancelled)
			if code := s.finish(e, s.start(e.args...)); code != e.code {
				t.Errorf("undisturbed, it ends with %d, not %d", code, e.code)
			}
			for name, disturb := range disturbances {
				if name == "paused" && e.whole {
					continue
				}
				t.Run(name, func(t *testing.T) {
					s := newStand(t, e)
					s.door.set(false)
					c := s.start(e.args...)
					s.inCall(c)
					disturb(s, c)
					s.door.set(!e.cancelled)
					if code := s.finish(e, s.start("runs", "resume", "last")); code != e.code {
						t.Errorf("resumed, it ends with %d, not %d", code, e.code)
					}
				})
			}
		})
	}
}
