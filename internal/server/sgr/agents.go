package sgr

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"dossier"
	"dossier/event"
	"dossier/internal/server"
	"dossier/internal/server/internal/completion"
	"dossier/llm"
	"dossier/mode"
	"dossier/mode/agents"
	"dossier/run"
	"dossier/tool"
)

// What clients are told of agents. Task is what the earlier form of the API has
// for the messages of the task.
type (
	agentList struct {
		Agents []agentItem `json:"agents"`
		Total  int         `json:"total"`
	}
	agentItem struct {
		ID       string      `json:"agent_id"`
		Task     string      `json:"task"`
		Messages []mode.Turn `json:"task_messages"`
		State    tool.Status `json:"state"`
		Created  time.Time   `json:"creation_time"`
	}
	agentState struct {
		ID             string           `json:"agent_id"`
		Task           string           `json:"task"`
		Messages       []mode.Turn      `json:"task_messages"`
		State          tool.Status      `json:"state"`
		Iteration      int              `json:"iteration"`
		Searches       int              `json:"searches_used"`
		Clarifications int              `json:"clarifications_used"`
		Sources        int              `json:"sources_count"`
		Reasoning      *event.Reasoning `json:"current_step_reasoning"`
		Result         *string          `json:"execution_result"`
		// Error is why it failed.
		Error string `json:"error,omitempty"`
	}
	cancelled struct {
		ID        string      `json:"agent_id"`
		Cancelled bool        `json:"cancelled"`
		State     tool.Status `json:"state"`
	}
	deleted struct {
		ID      string      `json:"agent_id"`
		Deleted bool        `json:"deleted"`
		State   tool.Status `json:"final_state"`
	}
)

// worker is an agent that has worked, with its runs, the newest first.
type worker struct {
	id   string
	runs []run.Record
}

func (w *worker) newest() run.Record { return w.runs[0] }
func (w *worker) oldest() run.Record { return w.runs[len(w.runs)-1] }

// listed is how many runs are asked for at a time.
const listed = 1000

// workers are the agents that the caller sees, or the one with an id, that with
// the newest run first.
func workers(ctx context.Context, id string) ([]worker, error) {
	var all []worker
	at := map[string]int{}
	f := dossier.Filter{Mode: agents.Name, Agent: id, Limit: listed}
	for {
		list, err := server.EngineOf(ctx).List(ctx, f)
		if err != nil {
			return nil, err
		}
		for _, rec := range list {
			if rec.Agent == "" {
				continue // of a program that gave its agents no ids
			}
			i, known := at[rec.Agent]
			if !known {
				i = len(all)
				at[rec.Agent] = i
				all = append(all, worker{id: rec.Agent})
			}
			all[i].runs = append(all[i].runs, rec)
		}
		if len(list) < listed {
			return all, nil
		}
		f.Before = list[len(list)-1].ID
	}
}

// find is the agent that a request names.
func find(r *http.Request) (worker, error) {
	id := r.PathValue("id")
	if id == "" {
		return worker{}, errNone
	}
	found, err := workers(r.Context(), id)
	if err != nil {
		return worker{}, err
	}
	if len(found) == 0 {
		return worker{}, errNone
	}
	return found[0], nil
}

// work is a run of an agent as far as it is told here.
type work struct {
	run   run.Record
	asked mode.Request
	course
}

// read reads a run.
func read(ctx context.Context, id string) (w work, err error) {
	e := server.EngineOf(ctx)
	if w.run, err = e.Get(ctx, id); err != nil {
		return w, err
	}
	if w.asked, err = completion.Asked(w.run); err != nil {
		return w, err
	}
	log, err := e.Log(ctx, id, 0)
	w.course = follow(log)
	return w, err
}

func (w *work) state() tool.Status { return state(w.run, w.course) }

// messages are those that the agent was given as its task.
func (w *work) messages() []mode.Turn {
	var turns []mode.Turn
	for _, m := range w.asked.History {
		turns = append(turns, mode.Turn(m))
	}
	return append(turns, mode.Turn{Role: llm.RoleUser, Content: w.asked.Question})
}

// mostAgents is how many are listed.
const mostAgents = 100

func listAgents(w http.ResponseWriter, r *http.Request) error {
	limit, wrong := whole(r, "limit", mostAgents, mostAgents)
	if wrong != nil {
		return wrong.reply(w)
	}
	all, err := workers(r.Context(), "")
	if err != nil {
		return err
	}
	list := agentList{Agents: []agentItem{}, Total: len(all)}
	for _, a := range all[:min(limit, len(all))] {
		last, err := read(r.Context(), a.newest().ID)
		if errors.Is(err, run.ErrUnknownRun) {
			continue // deleted meanwhile
		}
		if err != nil {
			return err
		}
		list.Agents = append(list.Agents, agentItem{ID: a.id, Task: last.asked.Question, Messages: last.messages(), State: last.state(), Created: a.oldest().Created})
	}
	return server.Reply(w, http.StatusOK, list)
}

func showState(w http.ResponseWriter, r *http.Request) error {
	rec, err := completion.LastRun(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	if rec.ID == "" {
		return errNone
	}
	last, err := read(r.Context(), rec.ID)
	if err != nil {
		return err
	}
	body := agentState{
		ID: rec.Agent, Task: last.asked.Question, Messages: last.messages(), State: last.state(), Iteration: last.iteration, Searches: last.searches,
		Clarifications: last.clarifications, Sources: last.sources, Reasoning: last.reasoning, Result: last.result,
	}
	if f := last.run.Failure; f != nil {
		body.Error = f.Message
	}
	return server.Reply(w, http.StatusOK, body)
}

func cancelAgent(w http.ResponseWriter, r *http.Request) error {
	rec, err := completion.LastRun(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	if rec.ID == "" {
		return errNone
	}
	last, err := stop(r.Context(), rec)
	if err != nil {
		return err
	}
	now := last.state()
	return server.Reply(w, http.StatusOK, cancelled{ID: rec.Agent, Cancelled: now == tool.Cancelled, State: now})
}

// stopPatience is how long a run may take to end that is cancelled.
const stopPatience = 10 * time.Second

// stop cancels a run that is not over, and waits until it is.
func stop(ctx context.Context, rec run.Record) (work, error) {
	e := server.EngineOf(ctx)
	if !rec.Status.Ended() {
		if err := e.Cancel(ctx, rec.ID); err != nil && !errors.Is(err, run.ErrEnded) {
			return work{}, err
		}
		wait, done := context.WithTimeout(ctx, stopPatience)
		defer done()
		for _, err := range e.Events(wait, rec.ID, rec.LastSeq) {
			if err != nil {
				break // what came of it is read below
			}
		}
	}
	return read(ctx, rec.ID)
}

func deleteAgent(w http.ResponseWriter, r *http.Request) error {
	a, err := find(r)
	if err != nil {
		return err
	}
	final, err := remove(r.Context(), a)
	if err != nil {
		return err
	}
	return server.Reply(w, http.StatusOK, deleted{ID: a.id, Deleted: true, State: final})
}

// remove ends what an agent works on, deletes its runs, and returns the state that
// it was left in.
func remove(ctx context.Context, a worker) (tool.Status, error) {
	last, err := stop(ctx, a.newest())
	if err != nil {
		return "", err
	}
	for _, rec := range slices.Backward(a.runs) { // as long as there is one, the agent is found
		if err := server.EngineOf(ctx).Delete(ctx, rec.ID); err != nil && !errors.Is(err, run.ErrUnknownRun) {
			return "", err
		}
	}
	return last.state(), nil
}
