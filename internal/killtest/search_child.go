package main

import (
	"context"

	"dossier"
	"dossier/internal/config"
	"dossier/mode"
	"dossier/sources"
)

// searching is what a child is told that searches the web with the product's
// own engine, instead of working through scripted runs.
type searching struct {
	Mode     string            `json:"mode"`
	Question string            `json:"question"`
	Set      map[string]string `json:"set"`
}

// searchMain works on the run of its directory to the end: the one that is
// there, or else a new one.
func searchMain(ctx context.Context, dir string, s searching) error {
	e, err := dossier.Open(ctx, dossier.Options{DataDir: dir, ConfigFile: config.NoFile, Env: []string{"HOME=" + dir}, Set: s.Set, Resume: true})
	if err != nil {
		return err
	}
	defer e.Close()
	there, err := e.List(ctx, dossier.Filter{Limit: 1})
	if err != nil {
		return err
	}
	id := ""
	if len(there) > 0 {
		id = there[0].ID
	} else {
		rec, err := e.Start(ctx, dossier.Request{Mode: s.Mode, Request: mode.Request{
			Question: s.Question, In: sources.Place{Web: &sources.WebScope{}},
		}})
		if err != nil {
			return err
		}
		id = rec.ID
	}
	for _, err := range e.Events(ctx, id, 0) {
		if err != nil {
			return err
		}
	}
	return nil
}
