package cli_test

import (
	"net/http/httptest"
	"strings"
	"testing"

	"dossier/internal/studytest"
	"dossier/llm/llmtest"
)

// unclear is a model of both engines of deep research that asks once what is meant.
func unclear(t *testing.T) (*llmtest.Server, []string) {
	t.Helper()
	doubt := studytest.Doubt{Unclear: "Which lamp do you mean?", Asks: 1}
	const question = "How many steps lead up to the lamp?"
	team := studytest.Team{Doubt: doubt, Rubric: []string{question}, Tasks: []string{question}}
	loop := studytest.Scholar{Doubt: doubt, Title: "The lamp", Enough: 1, Sections: []studytest.Section{
		{Title: "Steps", Description: question, Queries: []string{"steps to the lamp"}}, {Title: "Height", Description: "How high is the tower?", Queries: []string{"tower high"}},
		{Title: "Ground", Description: "What does the tower stand on?", Queries: []string{"tower granite"}},
	}}
	rules := loop.Rules()[1:2] // what only the loop asks for
	srv := llmtest.New(llmtest.Script{Models: []string{"gpt-4o-mini"}, Rules: append(rules, team.Rules()...)})
	h := httptest.NewServer(srv)
	t.Cleanup(func() { srv.Close(); h.Close() })
	return srv, []string{"OPENAI_API_KEY=" + secret, "OPENAI_BASE_URL=" + h.URL + "/v1"}
}

// answered says whether the model was told an answer.
func answered(srv *llmtest.Server, text string) bool {
	for _, c := range srv.Calls() {
		if c.Schema == "clarity" && strings.Contains(c.Request.Question(), "The user answered: "+text) {
			return true
		}
	}
	return false
}

// A question of a deep research is answered on the terminal: in place while the
// run is parked, and in place while the time runs in which it waits. Who says
// nothing in that time, or presses Ctrl-C, gets the report all the same.
func TestDeepResearchIsAnsweredOnATerminal(t *testing.T) {
	for _, engine := range []string{"supervisor", "loop"} {
		for name, c := range map[string]struct {
			wait, keys string
			told       string // what the model is told, "" for nothing
		}{
			"parked": {"0s", "the big one\r", "the big one"}, "in time": {"1h", "the big one\r", "the big one"}, "skipped": {"1h", "skip\r", ""},
			"too late": {"1s", "", ""}, "interrupted": {"1h", "\x03", ""},
		} {
			t.Run(engine+"/"+name, func(t *testing.T) {
				t.Parallel()
				home := t.TempDir()
				files(t, home, lighthouse)
				srv, env := unclear(t)
				tty := startTTY(t, home, 100, 60, env, "research", "--deep-research", "--engine", engine, "--set", "deep_research.clarify_wait="+c.wait,
					"How many steps lead up to the lamp?", "--in", "cape")
				if c.keys != "" { // else the time may be over before anybody is asked
					tty.until("the question", func() bool {
						_, after, found := strings.Cut(tty.raw.String(), "Which lamp do you mean?")
						return found && strings.Contains(after, "> ")
					})
					tty.send(c.keys)
				}
				if code := tty.end(); code != 0 {
					t.Errorf("exit code %d\n%s", code, tty.written())
				}
				if got := answered(srv, "the big one"); got != (c.told != "") {
					t.Errorf("the model was told the answer: %t", got)
				}
				if !strings.Contains(tty.written(), "187") {
					t.Errorf("there is no report:\n%s", tty.written())
				}
				if assumed := strings.Contains(tty.written(), "was not answered; the question was taken as"); assumed != (c.told == "") {
					t.Errorf("what was assumed is said: %t\n%s", assumed, tty.written())
				}
			})
		}
	}
}

// The plan of a team is changed on the terminal before anybody searches for it.
func TestTeamPlanOnATerminal(t *testing.T) {
	home := t.TempDir()
	files(t, home, lighthouse)
	tty := startTTY(t, home, 100, 60, nil, "research", "--deep-research", "--plan", "edit", "--set", "deep_research.run_deep_search_first=false",
		"How many steps lead up to the lamp, and how high is the tower?", "--in", "cape")
	asked := func(n int) {
		tty.until("the plan", func() bool { return strings.Count(tty.raw.String(), "1. start\r\n> ") == n })
	}
	asked(1)
	if strings.Contains(tty.written(), "begins: ") {
		t.Errorf("somebody has begun:\n%s", tty.written())
	}
	tty.send("drop 1; add What does the tower stand on?\r")
	asked(2)
	tty.send("1\r")
	if code := tty.end(); code != 0 {
		t.Errorf("exit code %d\n%s", code, tty.written())
	}
	_, after, _ := strings.Cut(tty.written(), "1. start\r\n> 1")
	if !strings.Contains(after, "What does the tower stand on?") || !strings.Contains(after, "granite") {
		t.Errorf("the plan was not changed:\n%s", after)
	}
}
