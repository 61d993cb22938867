package openai

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"dossier"
	"dossier/internal/server"
)

// owner of all models.
const owner = "dossier"

type modelBody struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	Created int64  `json:"created"`
	OwnedBy string `json:"owned_by"`
}

type modelList struct {
	Data   []modelBody `json:"data"`
	Object string      `json:"object"`
}

// created is when all models were: a client that needs a time gets one.
const created = 1234567890

func aModel(name string) modelBody {
	return modelBody{ID: name, Object: "model", Created: created, OwnedBy: owner}
}

// names are those of the models that can be asked for, modes first.
func (a *api) names(ctx context.Context, e server.Engine) ([]string, error) {
	list, err := e.Agents(ctx)
	if err != nil {
		return nil, err
	}
	names := slices.Clone(a.Modes)
	for _, entry := range list {
		if entry.Kind != remote && !slices.Contains(names, entry.Name) {
			names = append(names, entry.Name)
		}
	}
	return names, nil
}

func (a *api) models(w http.ResponseWriter, r *http.Request) error {
	names, err := a.names(r.Context(), server.EngineOf(r.Context()))
	if err != nil {
		return err
	}
	list := modelList{Object: "list", Data: []modelBody{}}
	for _, name := range names {
		list.Data = append(list.Data, aModel(name))
	}
	return server.Reply(w, http.StatusOK, list)
}

func (a *api) model(w http.ResponseWriter, r *http.Request) error {
	name := r.PathValue("model")
	names, err := a.names(r.Context(), server.EngineOf(r.Context()))
	if err != nil {
		return err
	}
	if !slices.Contains(names, name) {
		return &server.Problem{Code: "not_found", Message: fmt.Sprintf("there is no model %q", name), Hint: "GET /v1/models lists them"}
	}
	return server.Reply(w, http.StatusOK, aModel(name))
}

// unknown says that there is no such model.
func (a *api) unknown(ctx context.Context, e server.Engine, name string) error {
	names, err := a.names(ctx, e)
	if err != nil {
		return err
	}
	return &dossier.UsageError{Message: fmt.Sprintf("Invalid model '%s'. Available models: ['%s']", name, strings.Join(names, "', '"))}
}
