package sgr

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"dossier"
	"dossier/internal/server"
	"dossier/internal/server/internal/completion"
	"dossier/internal/store"
	"dossier/llm"
	"dossier/mode"
	"dossier/run"
)

// clarify gives an agent the answer that it waits for, and streams what it does
// then.
func (a *api) clarify(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	last, err := completion.LastRun(ctx, r.PathValue("id"))
	if err != nil {
		return err
	}
	if last.ID == "" {
		return errNone
	}
	text, err := said(w, r)
	if wrong, ok := errors.AsType[*fault](err); ok {
		return wrong.reply(w)
	}
	if err != nil {
		return err
	}
	asked, err := completion.Asked(last)
	if err != nil {
		return err
	}
	notWaiting := &dossier.UsageError{Message: "Agent is not waiting for clarification", Hint: "GET /agents/ID/state tells what it does"}
	if last.Status != run.Waiting {
		return notWaiting
	}
	err = server.EngineOf(ctx).Answer(ctx, last.ID, "", text)
	if errors.Is(err, store.ErrNotWaiting) || errors.Is(err, store.ErrAnswered) {
		return notWaiting // somebody was faster
	}
	if err != nil {
		return err
	}
	w.Header().Set("X-Agent-ID", last.Agent)
	w.Header().Set("X-Run-ID", last.ID)
	return completion.Stream(w, r, last.ID, last.LastSeq, &completion.Agent{
		Head: completion.Head{Model: last.Agent, Created: last.Created}, WebUI: completion.WebUI(ctx, asked.Agent, a.Generator), Continued: true,
	})
}

// said reads the answer of a request. It fails with a fault where there is none.
func said(w http.ResponseWriter, r *http.Request) (string, error) {
	var body json.RawMessage
	if err := server.Read(w, r, &body); err != nil {
		if server.Describe(err).Code == "usage" {
			return "", &fault{[]any{"body"}, err.Error(), "json_invalid"}
		}
		return "", err
	}
	return textOf(body)
}

// textOf is the answer in a body: all that the user says in its messages, or its
// text. It fails with a fault.
func textOf(raw json.RawMessage) (string, error) {
	var body struct{ Messages, Clarifications json.RawMessage }
	if json.Unmarshal(raw, &body) != nil {
		return "", &fault{[]any{"body"}, "Input should be a valid dictionary or object to extract fields from", "model_attributes_type"}
	}
	switch {
	case len(body.Messages) > 0 && string(body.Messages) != "null":
		return fromMessages(body.Messages)
	case len(body.Clarifications) > 0:
		at := []any{"body", "clarifications"}
		var text *string
		if json.Unmarshal(body.Clarifications, &text) != nil || text == nil {
			return "", &fault{at, "Input should be a valid string", "string_type"}
		}
		if strings.TrimSpace(*text) == "" {
			return "", &fault{at, "String should have at least 1 character", "string_too_short"}
		}
		return *text, nil
	}
	return "", &fault{[]any{"body", "messages"}, "Field required", "missing"}
}

func fromMessages(raw json.RawMessage) (string, error) {
	at := []any{"body", "messages"}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		return "", &fault{at, "Input should be a valid list", "list_type"}
	}
	var texts []string
	for i, item := range list {
		var turn mode.Turn
		var typ *json.UnmarshalTypeError
		switch err := json.Unmarshal(item, &turn); {
		case errors.As(err, &typ):
			return "", &fault{append(at, i), "Input should be a valid message", "model_type"}
		case err != nil:
			return "", &fault{append(at, i), "Value error, " + err.Error(), "value_error"}
		}
		if text := strings.TrimSpace(turn.Content); turn.Role == llm.RoleUser && text != "" {
			texts = append(texts, text)
		}
	}
	if len(texts) == 0 {
		return "", &fault{at, "Value error, one of the messages has to be the user's, with text in it", "value_error"}
	}
	return strings.Join(texts, "\n\n"), nil
}
