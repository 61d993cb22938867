package sgr

import (
	"context"
	"errors"
	"net/http"
	"time"

	"dossier/internal/server"
	"dossier/run"
	"dossier/tool"
)

// What clients are told of chats. A chat is all that was said to one agent, and
// has its id.
type (
	chatItem struct {
		ID         string      `json:"id"`
		Agent      string      `json:"agent_id"`
		Type       string      `json:"agent_type"`
		Task       string      `json:"initial_task"`
		State      tool.Status `json:"state"`
		Created    time.Time   `json:"created_at"`
		Last       time.Time   `json:"last_message_at"`
		Messages   int         `json:"total_messages"`
		Iterations int         `json:"total_iterations"`
		Searches   int         `json:"searches_used"`
	}
	chatList struct {
		Chats []chatItem `json:"chats"`
		Total int        `json:"total"`
		Page  int        `json:"page"`
		Size  int        `json:"page_size"`
	}
	chatDetail struct {
		chatItem
		Updated  time.Time `json:"updated_at"`
		Archived bool      `json:"is_archived"`
	}
	history struct {
		Chat       string `json:"chat_id"`
		Agent      string `json:"agent_id"`
		Turns      []turn `json:"turns"`
		Total      int    `json:"total_turns"`
		Iterations int    `json:"total_iterations"`
		Page       int    `json:"page"`
		Size       int    `json:"page_size"`
	}
	chatDeleted struct {
		Success bool   `json:"success"`
		Message string `json:"message"`
		Agent   string `json:"agent_id"`
	}
)

// What a page has.
const (
	pageUsual = 20
	pageMost  = 100
)

// page is a part of a list.
type page struct{ number, size int }

func pageOf(r *http.Request) (p page, wrong *fault) {
	if p.number, wrong = whole(r, "page", 1, 1<<30); wrong != nil {
		return p, wrong
	}
	p.size, wrong = whole(r, "page_size", pageUsual, pageMost)
	return p, wrong
}

// of is the page of a list.
func of[T any](p page, list []T) []T {
	from := min((p.number-1)*p.size, len(list))
	return list[from:min(from+p.size, len(list))]
}

// chat is all runs of an agent, the oldest first.
type chat struct {
	id   string
	runs []work
}

// open reads the runs of an agent. One without any is gone.
func open(ctx context.Context, a worker) (chat, error) {
	c := chat{id: a.id}
	for i := range a.runs {
		w, err := read(ctx, a.runs[len(a.runs)-1-i].ID)
		if errors.Is(err, run.ErrUnknownRun) {
			continue // deleted meanwhile
		}
		if err != nil {
			return c, err
		}
		c.runs = append(c.runs, w)
	}
	if len(c.runs) == 0 {
		return c, errNone
	}
	return c, nil
}

func (c *chat) item() chatItem {
	first, last := &c.runs[0], &c.runs[len(c.runs)-1]
	item := chatItem{ID: c.id, Agent: c.id, Type: first.asked.Agent, Task: first.asked.Question, State: last.state(), Created: first.run.Created, Last: last.run.Updated}
	if item.Type == "" && len(c.id) > len(uuidTail) { // the agent that works when none is named
		item.Type = c.id[:len(c.id)-len(uuidTail)]
	}
	for i := range c.runs {
		w := &c.runs[i]
		item.Messages, item.Iterations, item.Searches = item.Messages+w.said, item.Iterations+w.iteration, item.Searches+w.searches
	}
	return item
}

// uuidTail is what ids of agents have behind the name, as long as this.
const uuidTail = "_00000000-0000-0000-0000-000000000000"

func listChats(w http.ResponseWriter, r *http.Request) error {
	p, wrong := pageOf(r)
	if wrong != nil {
		return wrong.reply(w)
	}
	all, err := workers(r.Context(), "")
	if err != nil {
		return err
	}
	list := chatList{Chats: []chatItem{}, Total: len(all), Page: p.number, Size: p.size}
	for _, a := range of(p, all) {
		c, err := open(r.Context(), a)
		if errors.Is(err, errNone) {
			continue
		}
		if err != nil {
			return err
		}
		list.Chats = append(list.Chats, c.item())
	}
	return server.Reply(w, http.StatusOK, list)
}

// opened is the chat that a request names.
func opened(r *http.Request) (chat, error) {
	a, err := find(r)
	if err != nil {
		return chat{}, err
	}
	return open(r.Context(), a)
}

func showChat(w http.ResponseWriter, r *http.Request) error {
	c, err := opened(r)
	if err != nil {
		return err
	}
	item := c.item()
	return server.Reply(w, http.StatusOK, chatDetail{chatItem: item, Updated: item.Last})
}

func showHistory(w http.ResponseWriter, r *http.Request) error {
	p, wrong := pageOf(r)
	if wrong != nil {
		return wrong.reply(w)
	}
	c, err := opened(r)
	if err != nil {
		return err
	}
	var turns []turn
	for i := range c.runs {
		turns = append(turns, c.runs[i].turns...)
	}
	item := c.item()
	return server.Reply(w, http.StatusOK, history{
		Chat: c.id, Agent: c.id, Turns: append([]turn{}, of(p, turns)...), Total: len(turns), Iterations: item.Iterations, Page: p.number, Size: p.size,
	})
}

func deleteChat(w http.ResponseWriter, r *http.Request) error {
	a, err := find(r)
	if err != nil {
		return err
	}
	if _, err := remove(r.Context(), a); err != nil {
		return err
	}
	return server.Reply(w, http.StatusOK, chatDeleted{Success: true, Message: "Chat deleted", Agent: a.id})
}
