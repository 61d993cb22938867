package openai

import (
	"fmt"
	"net/http"
	"slices"

	"dossier/internal/server"
	"dossier/internal/server/internal/models"
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

func (a *api) directory() models.Directory {
	return models.Directory{Modes: a.Modes, Default: a.Default}
}

func (a *api) models(w http.ResponseWriter, r *http.Request) error {
	names, err := a.directory().Names(r.Context())
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
	names, err := a.directory().Names(r.Context())
	if err != nil {
		return err
	}
	if !slices.Contains(names, name) {
		return &server.Problem{Code: "not_found", Message: fmt.Sprintf("there is no model %q", name), Hint: "GET /v1/models lists them"}
	}
	return server.Reply(w, http.StatusOK, aModel(name))
}
