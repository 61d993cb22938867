package dossier

import (
	"context"

	"dossier/internal/config"
	"dossier/llm"
	"dossier/run"
)

// Abilities are what an engine has to work with: what somebody who asks can
// choose from, and expect.
type Abilities struct {
	Modes []string `json:"modes"`
	// Models are those that are set up, by role. Without one of the role default
	// answers consist of quotations.
	Models []RoleModel `json:"models"`
	// Engines that search the web, in the order of preference.
	Engines []string `json:"engines"`
	// Limits of a run that names none.
	Limits run.Limits `json:"limits"`
}

// RoleModel is the model of a role.
type RoleModel struct {
	Role  string `json:"role"`
	Model string `json:"model"`
}

// Abilities says what there is to work with.
func (e *Engine) Abilities(context.Context) (Abilities, error) {
	a := Abilities{Modes: e.Modes(), Models: []RoleModel{}, Engines: e.SearchEngines(), Limits: e.limits}
	if a.Engines == nil {
		a.Engines = []string{}
	}
	if e.models == nil {
		return a, nil
	}
	for _, role := range config.Roles() {
		if s := e.models.Setting(llm.RoleName(role)); s.Model != nil {
			a.Models = append(a.Models, RoleModel{string(role), s.Name})
		}
	}
	return a, nil
}
