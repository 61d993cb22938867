package responses

import (
	"fmt"
	"slices"
	"strings"

	"dossier/event"
	"dossier/toolkit"
)

// pending is an item that is open, by what will close it.
type pending struct {
	key   string
	index int
}

// close takes the first item with a key from those that are open.
func (t *teller) close(key string) (index int, ok bool) {
	i := slices.IndexFunc(t.open, func(p pending) bool { return p.key == key })
	if i < 0 {
		return 0, false
	}
	index = t.open[i].index
	t.open = slices.Delete(t.open, i, i+1)
	return index, true
}

// add opens an item.
func (t *teller) add(item any) (index int) {
	index = len(t.items)
	t.items = append(t.items, item)
	t.say(streamed{Type: "response.output_item.added", OutputIndex: &index, Item: item})
	return index
}

// done closes it.
func (t *teller) done(index int, item any) {
	t.items[index] = item
	t.say(streamed{Type: "response.output_item.done", OutputIndex: &index, Item: item})
}

// item names an item after the event with which it begins.
func (t *teller) item(kind string, seq int64) string {
	return fmt.Sprintf("%s_%s_%d", kind, t.key, seq)
}

// make tells what an event adds to the output beside the answer.
func (t *teller) make(ev event.Event) {
	switch d := ev.Data.(type) {
	case event.SearchStarted:
		item := searchItem{ID: t.item("ws", ev.Seq), Type: typeSearch, Status: inProgress, Action: searchAction{Type: "search", Query: d.Query, Queries: []string{d.Query}}}
		index := t.add(item)
		t.open = append(t.open, pending{searched(ev.Agent, d.Query), index})
		t.about(typeSearch+".in_progress", index, item.ID)
		t.about(typeSearch+".searching", index, item.ID)
	case event.SearchResults:
		if index, ok := t.close(searched(ev.Agent, d.Query)); ok {
			t.found(index, d.Error == "")
		}
	case event.SourceRead:
		t.page(ev.Seq, d.URL, true)
	case event.SourceFailed:
		t.page(ev.Seq, d.URL, false)
	case event.AgentAction:
		t.call(ev, d)
	case event.AgentReasoning:
		t.thought(ev.Seq, strings.Join(append([]string{d.Text}, d.Steps...), "\n"))
	case event.AgentReflected:
		t.thought(ev.Seq, d.Text)
	case event.NoteAdded:
		t.thought(ev.Seq, d.Text)
	case event.SupervisorDecision:
		t.thought(ev.Seq, d.Reason)
	case event.SearchRound:
		t.thought(ev.Seq, d.Reason)
	}
}

// about tells of an item that something happens to it.
func (t *teller) about(kind string, index int, id string) {
	t.say(streamed{Type: "response." + kind, OutputIndex: &index, ItemID: id})
}

// searched names a search that is under way.
func searched(agent, query string) string { return "search\x00" + agent + "\x00" + query }

// found closes a search.
func (t *teller) found(index int, ok bool) {
	item, is := t.items[index].(searchItem)
	if !is {
		return
	}
	item.Status = failed
	if ok {
		item.Status = completed
		t.about(typeSearch+".completed", index, item.ID)
	}
	t.done(index, item)
}

// page tells of a page that was read, or could not be.
func (t *teller) page(seq int64, url string, ok bool) {
	item := searchItem{ID: t.item("ws", seq), Type: typeSearch, Status: inProgress, Action: searchAction{Type: "open_page", URL: url}}
	index := t.add(item)
	t.about(typeSearch+".in_progress", index, item.ID)
	t.found(index, ok)
}

// inner are the tools whose calls are no items: what they say is the answer, or
// the question, and what is thought is told as such.
var inner = map[string]bool{toolkit.FinalAnswer: true, toolkit.Clarification: true, toolkit.Reasoning: true}

// call tells of a tool that an agent calls, and of what it returned.
func (t *teller) call(ev event.Event, d event.AgentAction) {
	if inner[d.Tool] {
		return
	}
	key := fmt.Sprintf("call\x00%s\x00%d\x00%s", ev.Agent, d.Iteration, d.CallID)
	if d.Result == "" && !d.Failed {
		item := callItem{ID: t.item("mcp", ev.Seq), Type: typeCall, Status: inProgress, Server: "dossier", Name: d.Tool}
		index := t.add(item)
		t.open = append(t.open, pending{key, index})
		t.about(typeCall+".in_progress", index, item.ID)
		item.Arguments = string(d.Arguments)
		t.items[index] = item
		t.say(streamed{Type: "response.mcp_call_arguments.delta", OutputIndex: &index, ItemID: item.ID, Delta: &item.Arguments})
		t.say(streamed{Type: "response.mcp_call_arguments.done", OutputIndex: &index, ItemID: item.ID, Arguments: &item.Arguments})
		return
	}
	index, ok := t.close(key)
	if !ok {
		return // it began in another response
	}
	item, ok := t.items[index].(callItem)
	if !ok {
		return
	}
	if d.Failed {
		item.Status, item.Error = failed, &d.Result
	} else {
		item.Status, item.Output = completed, &d.Result
	}
	t.about(typeCall+"."+item.Status, index, item.ID)
	t.done(index, item)
}

// functions tells which of the client's own functions are to be called.
func (t *teller) functions(calls []event.Call) {
	for i, c := range calls {
		item := functionItem{ID: fmt.Sprintf("%s_%d", t.item("fc", t.last), i+1), Type: typeFunction, Status: inProgress, CallID: c.ID, Name: c.Name}
		index := t.add(item)
		t.say(streamed{Type: "response.function_call_arguments.delta", OutputIndex: &index, ItemID: item.ID, Delta: &c.Arguments})
		t.say(streamed{Type: "response.function_call_arguments.done", OutputIndex: &index, ItemID: item.ID, Name: c.Name, Arguments: &c.Arguments})
		item.Status, item.Arguments = completed, c.Arguments
		t.done(index, item)
	}
}

// think tells what was thought for the answer itself.
func (t *teller) think(text string) { t.thought(t.last, text) }

// thought tells of a thought, whole.
func (t *teller) thought(seq int64, text string) {
	if text = strings.TrimSpace(text); text == "" {
		return
	}
	item := reasoningItem{ID: t.item("rs", seq), Type: typeReasoning, Status: inProgress, Summary: []summaryPart{}}
	index := t.add(item)
	of := func(kind string, s streamed) {
		s.Type, s.ItemID, s.OutputIndex, s.SummaryIndex = "response.reasoning_summary_"+kind, item.ID, &index, new(0)
		t.say(s)
	}
	part := summaryPart{Type: "summary_text", Text: text}
	of("part.added", streamed{Part: summaryPart{Type: part.Type}})
	of("text.delta", streamed{Delta: &text})
	of("text.done", streamed{Text: &text})
	of("part.done", streamed{Part: part})
	item.Status, item.Summary = completed, []summaryPart{part}
	t.done(index, item)
}
