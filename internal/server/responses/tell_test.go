package responses

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"dossier/event"
	"dossier/run"
)

// recorded is a log with one of everything that a response shows.
func recorded(end ...event.Data) []event.Event {
	data := []event.Data{
		event.RunStatus{Status: string(run.Queued)},
		event.RunStatus{Status: string(run.Running)},
		event.Message{Role: "user", Text: "Why?"},
		event.AgentReasoning{Text: "look first", Steps: []string{"search", "answer"}},
		event.SearchStarted{Query: "why"},
		event.SearchStarted{Query: "why not"},
		event.Usage{Model: "m", Input: 10, Output: 5, CachedInput: 2},
		event.SearchResults{Query: "why not", Error: "blocked"},
		event.SearchResults{Query: "why", Found: 3, New: 3},
		event.SourceRead{URL: "https://a.example/", Number: 1},
		event.SourceFailed{URL: "https://b.example/", Reason: "404"},
		event.AgentAction{Tool: "calculator", CallID: "c1", Arguments: json.RawMessage(`{"x":1}`), Iteration: 1},
		event.AgentAction{Tool: "calculator", CallID: "c1", Result: "2", Iteration: 1},
		event.AgentAction{Tool: "calculator", CallID: "c1", Arguments: json.RawMessage(`{"x":2}`), Iteration: 2},
		event.NoteAdded{Text: "worth it"},
		event.Usage{Model: "m", Input: 1, Output: 1},
	}
	return placed(append(data, end...))
}

func placed(data []event.Data) []event.Event {
	var log []event.Event
	seq := int64(0)
	for _, d := range data {
		ev := event.Event{Run: "r", Time: time.Unix(1000, 0), Data: d}
		if !event.IsTransient(d) {
			seq++
			ev.Seq = seq
		}
		log = append(log, ev)
	}
	return log
}

const said = "Because light of short waves is scattered more [1], as was found long ago. 因为短波长的光更容易被空气中的分子散射，所以天空是蓝色的。"

var message = event.Message{Role: "assistant", Text: "# Report", Answer: said, Reasoning: "it is known", Citations: []event.Citation{{Number: 1, URL: "https://a.example/", Title: "A", Start: 47, End: 50}}}

// written are the pieces in which a model writes a text.
func written(text string, size int) []event.Data {
	var out []event.Data
	runes := []rune(text)
	for at := 0; len(runes) > 0; {
		n := min(size, len(runes))
		piece := string(runes[:n])
		out = append(out, event.AnswerDelta{Text: piece, At: at})
		at, runes = at+len(piece), runes[n:]
	}
	return out
}

func done() event.Data { return event.RunStatus{Status: string(run.Done)} }

// streamOf is what a reader gets who comes with a number; live are those who see
// what is transient.
func streamOf(t *testing.T, log []event.Event, after int64, live bool) []string {
	t.Helper()
	rs := &response{run: run.Record{ID: "r", Mode: "chat", Created: time.Unix(900, 0)}}
	teller := newTeller(rs, openedAfter(after))
	var out []string
	tell := func() {
		for _, s := range teller.told() {
			if s.Number > after {
				raw, err := json.Marshal(s)
				if err != nil {
					t.Fatal(err)
				}
				out = append(out, string(raw))
			}
		}
	}
	tell()
	for _, ev := range log {
		if live || ev.Seq != 0 {
			teller.take(ev)
			tell()
		}
	}
	return out
}

func number(t *testing.T, line string) int64 {
	t.Helper()
	var s struct {
		N int64 `json:"sequence_number"`
	}
	if err := json.Unmarshal([]byte(line), &s); err != nil {
		t.Fatal(err)
	}
	return s.N
}

// everywhere comes back after each number of a stream, and wants the rest: of this
// stream, or, as long as the answer was not opened early, of that of the log alone.
// Pieces of an answer that does not hold don't come again.
func everywhere(t *testing.T, name string, log []event.Event, whole []string, holds bool) {
	t.Helper()
	last, logged := int64(-1), streamOf(t, log, -1, false)
	for i, line := range whole {
		n := number(t, line)
		if n <= last {
			t.Fatalf("%s: %d follows %d", name, n, last)
		}
		last = n
		want, rest := whole, streamOf(t, log, n, false)
		if openedAfter(n) < 0 {
			want = logged
		}
		if got, want := joined(rest, holds), joined(want[i+1:], holds); got != want {
			t.Fatalf("%s: after %d comes\n%s\nand not\n%s", name, n, got, want)
		}
	}
}

func joined(lines []string, pieces bool) string {
	var b strings.Builder
	for _, line := range lines {
		if pieces || !strings.Contains(line, `"response.output_text.delta"`) {
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}

func TestReconnectAtEveryNumber(t *testing.T) {
	late := []event.Data{event.AgentReasoning{Text: "that was it"}, event.SearchStarted{Query: "late"}, event.SearchResults{Query: "late"}}
	for name, end := range map[string][]event.Data{
		"answered":  {message, done()},
		"asks":      {event.ClarifyAsked{ID: "?1", Questions: []string{"Which sky?", "Whose?"}}, event.RunStatus{Status: string(run.Waiting)}},
		"failed":    {event.RunError{Code: "budget", Message: "spent", Hint: "raise it", Fatal: true}, event.RunStatus{Status: string(run.Failed)}},
		"cancelled": {event.RunStatus{Status: string(run.Cancelled)}},
		"goes on":   nil,
	} {
		log := recorded(end...)
		everywhere(t, name, log, streamOf(t, log, -1, false), true)
		for _, size := range []int{1, 4, 9} {
			for _, between := range [][]event.Data{nil, late} {
				shown := append(written(said, size), between...)
				log := recorded(append(shown, end...)...)
				everywhere(t, fmt.Sprintf("%s, shown by %d, %d between", name, size, len(between)), log, streamOf(t, log, -1, true), name == "answered")
			}
		}
	}
}

// What is shown early is the answer in the pieces in which it is cut later.
func TestAnswersAreShownWhileTheyAreWritten(t *testing.T) {
	log := recorded(append(written(said, 3), message, done())...)
	deltas := func(lines []string) (out []string) {
		for _, line := range lines {
			var s streamed
			if err := json.Unmarshal([]byte(line), &s); err != nil {
				t.Fatal(err)
			}
			if s.Type == "response.output_text.delta" {
				out = append(out, *s.Delta)
			}
		}
		return out
	}
	early, late := streamOf(t, log, -1, true), streamOf(t, log, -1, false)
	if got, want := strings.Join(deltas(early), "|"), strings.Join(deltas(late), "|"); got != want || strings.ReplaceAll(got, "|", "") != said {
		t.Errorf("early %s\nlate %s", got, want)
	}
	before := streamOf(t, log[:len(log)-2], -1, true)
	if n := len(deltas(before)); n < len(deltas(late))-1 {
		t.Errorf("%d pieces before the answer was whole", n)
	}
	// A model that starts over with the same words goes on where it was.
	again := recorded(append(append(written(said[:40], 3), event.AnswerDelta{Reset: true}), append(written(said, 5), message, done())...)...)
	if got := strings.Join(deltas(streamOf(t, again, -1, true)), ""); got != said {
		t.Errorf("the model starts over: %q", got)
	}
	// Who comes in the middle of the writing waits for the log.
	middle := len(recorded()) + 5
	if n := len(deltas(streamOf(t, log[middle:len(log)-2], -1, true))); n != 0 {
		t.Errorf("%d pieces without their beginning", n)
	}
}

// What was shown and does not hold is followed by what does.
func TestVoidedAnswers(t *testing.T) {
	for name, reset := range map[string]event.Data{"a check": event.ReportReset{}, "the model": event.AnswerDelta{Reset: true}} {
		log := recorded(append(append(written("Something else entirely, at length", 4), reset), append(written(said, 4), message, done())...)...)
		lines := streamOf(t, log, -1, true)
		var text string
		for _, line := range lines {
			var s streamed
			if err := json.Unmarshal([]byte(line), &s); err != nil {
				t.Fatal(err)
			}
			if s.Type == "response.output_text.delta" {
				text += *s.Delta
			}
			if s.Type == "response.output_text.done" && *s.Text != said {
				t.Errorf("%s: in the end it is %q", name, *s.Text)
			}
		}
		if whole := "Something else entirely, at length"; !strings.HasPrefix(whole, text) {
			t.Errorf("%s: %q was shown", name, text)
		}
		if name == "a check" {
			everywhere(t, name, log, lines, false)
		}
	}
}

// A cut depends on nothing behind it.
func TestCut(t *testing.T) {
	text := strings.Repeat(said+" ", 40)
	var whole []int
	for from := 0; from < len(text); {
		from += cut(text[from:], from, true)
		whole = append(whole, from)
	}
	if len(whole) > 600 {
		t.Errorf("%d pieces", len(whole))
	}
	for n := range text {
		var part []int
		for from := 0; ; {
			more := cut(text[from:n], from, false)
			if more < 0 {
				break
			}
			from += more
			part = append(part, from)
		}
		for i, end := range part {
			if whole[i] != end {
				t.Fatalf("of %d bytes piece %d ends at %d, not %d", n, i, end, whole[i])
			}
		}
	}
}

func FuzzRequest(f *testing.F) {
	for _, seed := range []string{
		`{"model":"chat","input":"hello"}`, `{"input":[{"role":"user","content":[{"type":"input_text","text":"x"}]},{"type":"reasoning","summary":[]}]}`,
		`{"model":"m","input":[{"type":"function_call_output","call_id":"c","output":"x"}],"previous_response_id":"resp_r_3","metadata":{"a":"b"}}`,
		`{"input":[{"type":"item_reference","id":"x"}]}`, `{"input":null}`, `{"input":[null]}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var req createRequest
		if json.Unmarshal(raw, &req) != nil {
			return
		}
		if req.check() == nil && len(req.turns(nil)) == 0 {
			t.Error("a request that is fine says nothing")
		}
		kept, err := req.kept()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := json.Marshal(kept); err != nil {
			t.Fatal(err)
		}
	})
}
