// Package agui serves runs to clients that speak AG-UI: they POST a conversation
// and get a stream of events about how a run answers it.
//
// The stream is a projection of the run's event log (Projection, a pure function).
// A question of the run ends the stream with an interrupt; the client's answer to
// it begins the next one, of the same run. What names a question is its run and its
// id, so nothing is kept between the two.
package agui

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"

	"dossier"
	"dossier/event"
	"dossier/internal/access"
	"dossier/internal/server"
	"dossier/internal/store"
	"dossier/llm"
	"dossier/run"
)

// Path is where it is served.
const Path = "/agui"

// Protocol is AG-UI for a server.
func Protocol() server.Protocol {
	doc := &server.Doc{Summary: "Answer a conversation, as a stream of AG-UI events", Body: Input{}, Media: "text/event-stream"}
	return server.Protocol{Name: "ag-ui", Routes: []server.Route{
		{Pattern: "POST " + Path, Scope: access.Run, Serve: serve, Doc: doc},
		{Pattern: "POST " + Path + "/{mode}", Scope: access.Run, Serve: serve, Doc: doc},
		{Pattern: "POST " + Path + "/agents/{agent}", Scope: access.Run, Serve: serve, Doc: doc},
	}}
}

func serve(w http.ResponseWriter, r *http.Request) error {
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
			return &server.Problem{Code: "too_large", Message: "the conversation is too long", Hint: "put the material into a file and ask about it"}
		}
		return err
	}
	in, said, err := readInput(raw)
	if err != nil {
		return err
	}
	ctx := r.Context()
	e := server.EngineOf(ctx)
	messages := make([]any, len(in.Messages))
	for i, m := range in.Messages {
		messages[i] = m
	}
	p := NewProjection(in.ThreadID, in.RunID, messages)
	var rec run.Record
	var after int64
	switch {
	case len(in.Resume) > 0:
		rec, after, err = answer(ctx, e, p, in.Resume)
	case said.Run != "":
		rec, after, err = follow(ctx, e, p, said.Run)
	default:
		if said.Mode = cmp.Or(r.PathValue("mode"), said.Mode); r.PathValue("agent") != "" {
			said.Mode, said.Agent = "agent", r.PathValue("agent")
		}
		rec, err = start(ctx, e, in, said.Request)
	}
	if err != nil {
		return err
	}
	w.Header().Set("X-Run-ID", rec.ID)
	return stream(w, r, p, rec, after)
}

// start begins a run that answers a conversation. A thread that is one of our
// sessions is continued as such; others are what the client says they are.
func start(ctx context.Context, e server.Engine, in Input, req dossier.Request) (run.Record, error) {
	turns, err := in.turns()
	if err != nil {
		return run.Record{}, err
	}
	req.Messages, req.Question, req.History = turns, "", nil
	req.Context += in.material()
	last := len(turns) - 1
	switch _, err := e.Session(ctx, in.ThreadID); {
	case err == nil && last >= 0 && turns[last].Role == llm.RoleUser:
		req.Session, req.Question, req.Messages = in.ThreadID, turns[last].Content, nil
	case err != nil && !errors.Is(err, store.ErrNotFound):
		return run.Record{}, err
	}
	return e.Start(ctx, req)
}

// answer answers what a run asks and returns from where on its log is news.
func answer(ctx context.Context, e server.Engine, p *Projection, answers []resumption) (rec run.Record, after int64, err error) {
	type said struct{ ask, text string }
	var all []said
	for _, r := range answers {
		id, ask, err := parseInterruptID(r.InterruptID)
		if err != nil {
			return rec, 0, err
		}
		if rec.ID != "" && rec.ID != id {
			return rec, 0, wrong("the interrupts are of several runs")
		}
		rec.ID = id
		text, err := r.answer()
		if err != nil {
			return rec, 0, err
		}
		all = append(all, said{ask, text})
	}
	if rec, err = e.Get(ctx, rec.ID); err != nil {
		return rec, 0, err
	}
	if after, err = recall(ctx, e, p, rec.ID, func(event.Event) bool { return true }); err != nil {
		return rec, 0, err
	}
	for _, s := range all {
		if err := e.Answer(ctx, rec.ID, s.ask, s.text); err != nil {
			return rec, 0, err
		}
	}
	return rec, after, nil
}

// follow makes ready to tell a run again that is there already, from where it was
// taken up or answered last.
func follow(ctx context.Context, e server.Engine, p *Projection, id string) (rec run.Record, after int64, err error) {
	if rec, err = e.Get(ctx, id); err != nil {
		return rec, 0, err
	}
	after, err = recall(ctx, e, p, rec.ID, func(ev event.Event) bool {
		switch ev.Data.(type) {
		case event.RunReopened, event.ClarifyAnswered:
			return true
		}
		return false
	})
	return rec, after, err
}

// recall tells the projection of the log up to the last event that is a mark, and
// returns the sequence of that. What is void is left out.
func recall(ctx context.Context, e server.Engine, p *Projection, id string, mark func(event.Event) bool) (after int64, err error) {
	log, err := e.Log(ctx, id, 0)
	if err != nil {
		return 0, err
	}
	var void [][2]int64
	end := 0
	for i, ev := range log {
		if mark(ev) {
			end = i + 1
		}
	}
	for _, ev := range log[:end] {
		if d, ok := ev.Data.(event.RunReopened); ok {
			void = append(void, d.Void...)
		}
	}
	for _, ev := range log[:end] {
		after = ev.Seq
		if !slices.ContainsFunc(void, func(v [2]int64) bool { return v[0] <= ev.Seq && ev.Seq <= v[1] }) {
			p.Recall(ev)
		}
	}
	return after, nil
}

// stream tells a run behind a sequence until it ends or asks.
func stream(w http.ResponseWriter, r *http.Request, p *Projection, rec run.Record, after int64) error {
	out, err := server.NewStream(w, r)
	if err != nil {
		return err
	}
	defer out.Close()
	out.Gap = func(string) (string, []byte) {
		raw, err := json.Marshal(failure("gap", "the stream was read too slowly", "forwardedProps.run follows the run again"))
		if err != nil {
			panic(err) // it is plain text
		}
		return "", raw
	}
	send := func(events []Event) bool {
		for _, e := range events {
			if !out.SendJSON("", "", e) {
				return false
			}
		}
		return true
	}
	if !send(p.Start(rec)) {
		return nil
	}
	for ev, err := range server.EngineOf(r.Context()).Events(out.Context(), rec.ID, after) {
		if err != nil {
			problem := server.Explain(r.Context(), err)
			send([]Event{failure(problem.Code, problem.Message, problem.Hint)})
			return nil
		}
		if !send(p.Next(ev)) || p.Over {
			return nil
		}
	}
	send([]Event{failure("ended", "the run has ended, and said nothing more", "")})
	return nil
}
