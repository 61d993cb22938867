package responses

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"dossier"
	"dossier/event"
	"dossier/internal/server"
	"dossier/llm"
	"dossier/run"
)

func (a *api) create(w http.ResponseWriter, r *http.Request) error {
	var req createRequest
	if err := server.Read(w, r, &req); err != nil {
		return err
	}
	rs, err := a.begin(r.Context(), &req)
	if err != nil {
		return err
	}
	w.Header().Set("X-Run-ID", rs.run.ID)
	switch {
	case req.Stream:
		return stream(w, r, rs, -1)
	case req.Background:
		return rs.reply(w, r)
	}
	t, err := rs.wait(r.Context())
	if err != nil {
		return err
	}
	return server.Reply(w, http.StatusOK, t.snapshot())
}

// reply shows a response as far as it is.
func (rs *response) reply(w http.ResponseWriter, r *http.Request) error {
	t, err := rs.now(r.Context())
	if err != nil {
		return err
	}
	return server.Reply(w, http.StatusOK, t.snapshot())
}

func (a *api) get(w http.ResponseWriter, r *http.Request) error {
	rs, err := find(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	q := r.URL.Query()
	if q.Get("stream") != "true" {
		return rs.reply(w, r)
	}
	after := int64(-1)
	if text := q.Get("starting_after"); text != "" {
		if after, err = strconv.ParseInt(text, 10, 64); err != nil || after < 0 {
			return &dossier.UsageError{Message: fmt.Sprintf("starting_after %q is not a sequence number", text)}
		}
	}
	return stream(w, r, rs, after)
}

// stream serves the events of a response after a number.
func stream(w http.ResponseWriter, r *http.Request, rs *response, after int64) error {
	out, err := server.NewStream(w, r)
	if err != nil {
		return err
	}
	defer out.Close()
	last := max(after, 0)
	out.Gap = func(id string) (string, []byte) {
		if id == "" {
			id = strconv.FormatInt(last, 10)
		}
		return "error", []byte(`{"type":"error","sequence_number":` + id + `,"code":"gap","message":"the reader was too slow; the rest comes after this number","param":null}`)
	}
	t := newTeller(rs, openedAfter(after))
	tell := func() bool {
		for _, s := range t.told() {
			if s.Number <= after {
				continue
			}
			if !out.SendJSON(strconv.FormatInt(s.Number, 10), s.Type, s) {
				return false
			}
			last = s.Number
		}
		return true
	}
	if !tell() {
		return nil
	}
	for ev, err := range server.EngineOf(r.Context()).Events(out.Context(), rs.run.ID, rs.after) {
		if err != nil {
			p := server.For(server.CallerOf(r.Context()), err)
			out.SendJSON("", "error", errorEvent{Type: "error", Number: last, Code: p.Code, Message: p.Message})
			return nil
		}
		if t.take(ev); !tell() {
			return nil
		}
		if t.over {
			break
		}
	}
	out.Send("", "", []byte("[DONE]"))
	return nil
}

// cancel ends a run at once and shows what has become of the response. One that is
// over stays as it is.
func (a *api) cancel(w http.ResponseWriter, r *http.Request) error {
	rs, err := find(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	if !rs.run.Status.Ended() {
		if err := server.EngineOf(r.Context()).Cancel(r.Context(), rs.run.ID); err != nil && !errors.Is(err, run.ErrEnded) {
			return err
		}
	}
	t, err := rs.wait(r.Context())
	if err != nil {
		return err
	}
	return server.Reply(w, http.StatusOK, t.snapshot())
}

func (a *api) delete(w http.ResponseWriter, r *http.Request) error {
	rs, err := find(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	if err := server.EngineOf(r.Context()).Delete(r.Context(), rs.run.ID); err != nil {
		return err
	}
	return server.Reply(w, http.StatusOK, deleted{ID: rs.id(), Object: "response", Deleted: true})
}

// Pages of what a response was asked.
const (
	somePage = 20
	mostPage = 100
)

func (a *api) inputItems(w http.ResponseWriter, r *http.Request) error {
	rs, err := find(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	items, err := rs.inputs(r)
	if err != nil {
		return err
	}
	q, limit := r.URL.Query(), somePage
	if text := q.Get("limit"); text != "" {
		if limit, err = strconv.Atoi(text); err != nil || limit < 1 || limit > mostPage {
			return &dossier.UsageError{Message: fmt.Sprintf("limit %q is not a number from 1 to %d", text, mostPage)}
		}
	}
	if q.Get("order") != "asc" {
		slices.Reverse(items)
	}
	if after := q.Get("after"); after != "" {
		i := slices.IndexFunc(items, func(m messageItem) bool { return m.ID == after })
		if i < 0 {
			return &dossier.UsageError{Message: fmt.Sprintf("there is no item %q", after)}
		}
		items = items[i+1:]
	}
	list := itemList{Object: "list", Data: items, HasMore: len(items) > limit}
	list.Data = append([]messageItem{}, items[:min(limit, len(items))]...)
	if n := len(list.Data); n > 0 {
		list.First, list.Last = &list.Data[0].ID, &list.Data[n-1].ID
	}
	return server.Reply(w, http.StatusOK, list)
}

// inputs are what the response was asked, in the order in which it was said.
func (rs *response) inputs(r *http.Request) ([]messageItem, error) {
	var said []llm.Message
	if rs.after == 0 {
		said = append(slices.Clone(rs.asked.History), llm.Message{Role: llm.RoleUser, Content: rs.asked.Question})
		if on := rs.asked.Relay; on != nil {
			said = slices.DeleteFunc(slices.Clone(on.Messages), func(m llm.Message) bool { return m.Content == "" || m.Role == llm.RoleTool })
		}
	} else {
		log, err := server.EngineOf(r.Context()).Log(r.Context(), rs.run.ID, rs.after)
		if err != nil {
			return nil, err
		}
		for _, ev := range log {
			if d, ok := ev.Data.(event.ClarifyAnswered); ok {
				said = append(said, llm.Message{Role: llm.RoleUser, Content: d.Answer})
				break
			}
		}
	}
	var out []messageItem
	for i, m := range said {
		part := textPart{Type: "input_text", Text: m.Content}
		if m.Role == llm.RoleAssistant {
			part = outputText(m.Content, nil)
		}
		out = append(out, messageItem{ID: fmt.Sprintf("msg_%s_in%d", rs.key(), i+1), Type: typeMessage, Status: completed, Role: string(m.Role), Content: []textPart{part}})
	}
	return out, nil
}
