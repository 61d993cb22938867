package mcp

import (
	"context"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"dossier/event"
	"dossier/lang"
)

// aliveEvery is how often a client who listens hears of a run that does nothing
// worth telling.
const aliveEvery = 15 * time.Second

// telling tells a client how a run goes on, if it listens.
type telling struct {
	ctx   context.Context
	req   *sdk.CallToolRequest
	token any
	over  chan struct{}
	wg    sync.WaitGroup

	mu   sync.Mutex
	n    int
	last string
	at   time.Time
}

func newTelling(ctx context.Context, req *sdk.CallToolRequest) *telling {
	t := &telling{ctx: ctx, req: req, token: req.Params.GetProgressToken(), over: make(chan struct{}), at: time.Now()}
	if t.token != nil {
		t.wg.Go(t.beat)
	}
	return t
}

// beat says again what was said last when nothing else is.
func (t *telling) beat() {
	tick := time.NewTicker(aliveEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			t.mu.Lock()
			if time.Since(t.at) >= aliveEvery {
				t.send(t.last)
			}
			t.mu.Unlock()
		case <-t.over:
			return
		}
	}
}

// say tells a line.
func (t *telling) say(line string) {
	if t.token == nil || line == "" {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.send(line)
}

// send needs the lock.
func (t *telling) send(line string) {
	t.n++
	t.last, t.at = line, time.Now()
	// Who has left hears nothing, and the run goes on.
	_ = t.req.Session.NotifyProgress(t.ctx, &sdk.ProgressNotificationParams{ProgressToken: t.token, Progress: float64(t.n), Message: line})
}

func (t *telling) end() {
	close(t.over)
	t.wg.Wait()
}

// mostLine is how much of a line is told, in characters.
const mostLine = 200

// said is an event in a line; most events have none.
func said(ev event.Event, code lang.Code) string {
	text := ""
	switch d := ev.Data.(type) {
	case event.PlanUpdated:
		text = lang.Text(code, "line.plan", "n", len(d.Steps))
	case event.AgentStarted:
		text = lang.Text(code, "line.agent", "name", d.Name, "text", d.Task)
	case event.AgentReasoning:
		text = lang.Text(code, "line.thinks", "text", d.Text)
	case event.AgentReflected:
		text = lang.Text(code, "line.reflects", "text", d.Text)
	case event.AgentAction:
		switch {
		case d.Failed:
			text = lang.Text(code, "line.tool-failed", "tool", d.Tool, "text", d.Result)
		case d.Result == "":
			text = lang.Text(code, "line.calls", "tool", d.Tool)
		}
	case event.TodoUpdated:
		text = lang.Text(code, "line.todo-"+d.State, "agent", d.Agent, "title", d.Title)
	case event.NoteAdded:
		text = lang.Text(code, "line.note", "text", d.Text)
	case event.SearchStarted:
		text = lang.Text(code, "line.searches", "query", d.Query)
	case event.SearchResults:
		if text = lang.Text(code, "line.found", "found", d.Found, "new", d.New, "query", d.Query); d.Error != "" {
			text = lang.Text(code, "line.search-failed", "reason", d.Error)
		}
	case event.SourceRead:
		if text = lang.Text(code, "line.read", "number", d.Number, "place", d.URL); d.Number == 0 {
			text = lang.Text(code, "line.read-only", "place", d.URL)
		}
	case event.SourceFailed:
		text = lang.Text(code, "line.unread", "place", d.URL, "reason", d.Reason)
	case event.ModelWaiting:
		text = lang.Text(code, "line.model-silent", "model", d.Model, "seconds", int(d.Wait))
	case event.ReportSection:
		text = lang.Text(code, "line.wrote", "title", d.Title)
	case event.Coverage:
		text = lang.Text(code, "line."+d.Of, "covered", d.Covered, "total", d.Total)
	case event.RunStatus:
		text = lang.Text(code, "status."+d.Status)
	}
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > mostLine {
		text = string(runes[:mostLine-1]) + "…"
	}
	return text
}
