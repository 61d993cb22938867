package main

import (
	"context"
	"errors"
	"fmt"

	"dossier"
	"dossier/event"
	"dossier/internal/config"
	"dossier/internal/store"
	"dossier/mode"
	"dossier/run"
	"dossier/sources"
)

// searching is what a child is told that searches the web with the product's
// own engine, instead of working through scripted runs.
type searching struct {
	Mode     string `json:"mode"`
	Agent    string `json:"agent,omitempty"`
	Question string `json:"question"`
	// Reply is what is answered to each question of the run.
	Reply string            `json:"reply,omitempty"`
	Set   map[string]string `json:"set"`
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
	var id string
	if len(there) > 0 {
		id = there[0].ID
	} else {
		rec, err := e.Start(ctx, dossier.Request{Mode: s.Mode, Request: mode.Request{
			Question: s.Question, Agent: s.Agent, In: sources.Target{Web: &sources.WebScope{}},
		}})
		if err != nil {
			return err
		}
		id = rec.ID
	}
	fmt.Println(sayWorking)
	for ev, err := range e.Events(ctx, id, 0) {
		if err != nil {
			return err
		}
		if told, ok := ev.Data.(event.RunStatus); !ok || told.Status != string(run.Waiting) {
			continue
		}
		// A question may have had its answer before.
		if err := e.Answer(ctx, id, "", s.Reply); err != nil && !errors.Is(err, store.ErrNotWaiting) && !errors.Is(err, store.ErrAnswered) {
			return err
		}
	}
	return nil
}
