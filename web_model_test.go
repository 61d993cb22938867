package dossier

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"dossier/event"
	"dossier/internal/store"
	"dossier/internal/store/memory"
	"dossier/internal/webtest"
	"dossier/llm"
	"dossier/llm/llmtest"
	"dossier/report"
	"dossier/run"
)

// impatient settings ask a model that fails no second time.
var impatient = map[string]string{"governor.retries": "0", "structured.max_retries": "0"}

// TestWebOutlivesItsModel lets the model fail in each way at each of its
// decisions: rules take that one over, the run is done, and its answer says so.
func TestWebOutlivesItsModel(t *testing.T) {
	c := longWebRuns[0]
	for step, schema := range schemaOf {
		for _, fault := range []llmtest.FaultKind{llmtest.Status, llmtest.Malformed, llmtest.WrongSchema, llmtest.Cut, llmtest.Empty} {
			if step == "answer" && fault == llmtest.WrongSchema {
				continue // it only lacks what is beside the answer
			}
			t.Run(fmt.Sprint(step, "/", fault), func(t *testing.T) {
				t.Parallel()
				w := startWeb(t, webtest.Options{})
				rules := append([]llmtest.Rule{{Schema: schema, Fault: &llmtest.Fault{Kind: fault, After: 1}}}, c.model.Rules()...)
				srv := llmtest.Start(t, llmtest.Script{Rules: rules})
				e := engine(t, memory.New(memory.Options{}), onWeb(t, w, connected(srv), impatient))
				follow(t, e, onTheWeb(c.mode, c.question))
				r := reportOf(t, e)
				if rec, err := e.Get(t.Context(), "last"); err != nil || rec.Status != run.Done || len(srv.CallsFor("", schema)) == 0 {
					t.Fatalf("%+v, %v, calls %v", rec, err, callsBySchema(srv, 0))
				}
				text := report.Markdown(r)
				if r.Outcome == report.Nothing || !strings.Contains(text, "11 years") {
					t.Errorf("%s\n%s", r.Outcome, text)
				}
				said := "a model's decision was made by rules instead"
				if step == "answer" {
					said = "the answer was made by rules instead of a model"
				}
				if !strings.Contains(strings.Join(r.Notes, "\n"), said) || !strings.Contains(text, said) {
					t.Errorf("the answer does not say that rules stood in: %q", r.Notes)
				}
				if r.Extractive != (step == "answer") {
					t.Errorf("extractive %t", r.Extractive)
				}
				for other, n := range callsBySchema(srv, 0) { // the others are still the model's
					if n == 0 {
						t.Errorf("no call for %s", other)
					}
				}
				if _, err := e.Replay(t.Context(), r.Run); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// A model that is not there at all is said once, and everything is done by
// rules.
func TestWebWithAModelThatIsGone(t *testing.T) {
	w := startWeb(t, webtest.Options{})
	gone := map[string]string{"models.default.base_url": "http://127.0.0.1:1/v1", "models.default.model": "gone"}
	e := engine(t, memory.New(memory.Options{}), onWeb(t, w, gone, impatient))
	m, _ := answerOf(follow(t, e, onTheWeb("web_search", "How many inhabitants does Oststrand have?")))
	r := reportOf(t, e)
	if !m.Extractive || r.Outcome != report.Answered || !strings.Contains(quotes(r), "18,240") {
		t.Errorf("%s", m.Text)
	}
	if n := strings.Count(strings.Join(r.Notes, "\n"), "a model's decision"); n != 1 {
		t.Errorf("said %d times: %q", n, r.Notes)
	}
}

// conversation is 10,000 messages, the last of which are about a place.
func conversation(about string) []llm.Message {
	out := make([]llm.Message, 0, 10_000)
	for i := range 4_999 {
		out = append(out, llm.Message{Role: llm.RoleUser, Content: fmt.Sprintf("What about thing number %d?", i)},
			llm.Message{Role: llm.RoleAssistant, Content: strings.Repeat(fmt.Sprintf("Thing %d is a thing. ", i), 40)})
	}
	return append(out, llm.Message{Role: llm.RoleUser, Content: about},
		llm.Message{Role: llm.RoleAssistant, Content: "I will look it up."})
}

// TestWebAfterALongConversation asks a question that makes sense only after the
// last of 10,000 messages, which the caller brings along or a session holds.
// What goes to the model of them is bounded.
func TestWebAfterALongConversation(t *testing.T) {
	w := startWeb(t, webtest.Options{})
	srv := llmtest.Start(t, llmtest.Script{Rules: scribe{
		Question: "Who is the mayor of Oststrand?", Facets: []facet{{Title: "Who is the mayor of Oststrand?", Queries: []string{"mayor of Oststrand"}}},
	}.Rules()})
	history := conversation("How many inhabitants does Oststrand have?")
	brought, held := onTheWeb("web_search", "Who is its mayor?"), onTheWeb("web_search", "Who is its mayor?")
	brought.History, held.Session = history, "old"
	for _, flags := range []map[string]string{connected(srv), nil} {
		for _, req := range []Request{brought, held} {
			s := memory.New(memory.Options{})
			hold(t, s, history)
			m, _ := answerOf(follow(t, engine(t, s, onWeb(t, w, flags)), req))
			if !strings.Contains(m.Text, "Halvor Quist") {
				t.Errorf("session %q, model %v:\n%s", req.Session, flags != nil, m.Text)
			}
		}
	}
	for _, c := range srv.CallsFor("", "plan") {
		size, n := 0, len(c.Request.Messages)
		for _, m := range c.Request.Messages {
			size += len(m.Content)
		}
		if n != 22 || size > 40_000 || !strings.Contains(c.Request.Messages[n-3].Content, "Oststrand") {
			t.Errorf("a plan is made of %d messages with %d bytes", n, size)
		}
	}
}

// hold puts a conversation into a session of the name "old".
func hold(t *testing.T, s store.Store, history []llm.Message) {
	t.Helper()
	var events []run.PlacedEvent
	for i, m := range history {
		events = append(events, run.PlacedEvent{Place: fmt.Sprint("message-", i), Event: event.Event{Seq: int64(i + 1), Data: event.Message{Role: string(m.Role), Text: m.Content}}})
	}
	rec := run.Record{ID: "old", Session: "old", Mode: "chat", Request: []byte(`{"question":"?"}`), Status: run.Done, Created: time.Now()}
	if err := s.Create(t.Context(), rec, nil, events); err != nil {
		t.Fatal(err)
	}
}

// TestWebFollowUps asks questions that make sense only after the one before
// them, in a session.
func TestWebFollowUps(t *testing.T) {
	w := startWeb(t, webtest.Options{})
	right, all := 0, 0
	for _, q := range w.Questions() {
		if q.After == "" || strings.Contains(q.After, "Keldra") { // whose survey is a PDF
			continue
		}
		all++
		e := engine(t, memory.New(memory.Options{}), onWeb(t, w))
		ask := onTheWeb("web_search", q.Text)
		ask.Session = follow(t, e, onTheWeb("web_search", q.After))[0].Session
		follow(t, e, ask)
		if r := reportOf(t, e); strings.Contains(quotes(r), q.Answer) {
			right++
		} else {
			t.Logf("without a model %q has the answer %q", q.Text, quotes(r))
		}

		// A model resolves what "it" is, from what was said.
		resolved := q.After + " " + q.Text
		s := scribe{Question: resolved, Facets: []facet{{Title: resolved, Queries: []string{resolved}}}}
		srv := llmtest.Start(t, llmtest.Script{Rules: s.Rules()})
		e = engine(t, memory.New(memory.Options{}), onWeb(t, w, connected(srv)))
		ask.Session = follow(t, e, onTheWeb("web_search", q.After))[0].Session
		m, _ := answerOf(follow(t, e, ask))
		plans := srv.CallsFor("", "plan")
		var before strings.Builder
		for _, msg := range plans[len(plans)-1].Request.Messages {
			before.WriteString(msg.Content + "\n")
		}
		if !strings.Contains(before.String(), q.After) || !strings.Contains(before.String(), q.Text) || !strings.Contains(m.Text, q.Answer) {
			t.Errorf("%s: planned with\n%s\nanswered\n%s", q.Text, before.String(), m.Text)
		}
	}
	t.Logf("without a model %d of %d follow-ups answered", right, all)
	if right*10 < all*6 || all < 4 {
		t.Errorf("only %d of %d answered", right, all)
	}
}
