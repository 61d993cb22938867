package main

import (
	"context"
	"fmt"
	"time"

	"dossier"
	"dossier/internal/config"
	"dossier/internal/fleet"
	"dossier/internal/store"
	"dossier/mode"
	"dossier/run"
)

// queueing is what a child is told that gives runs to instances of an agent, or
// goes on with those that are there.
type queueing struct {
	// Runs is how many to start; 0 starts none and works until all are over.
	Runs int               `json:"runs"`
	Set  map[string]string `json:"set"`
}

// The instances, how many sessions use each, and what each takes at once and
// lets wait.
const (
	queueInstances   = 10
	queueSessions    = 5
	allQueueSessions = queueInstances * queueSessions
	queueSlots       = 2
	queueRoom        = 200
)

const clerkTemplate = "base_class: ToolCallingAgent\ndescription: Takes a note and answers.\ntools: [add_note_tool, final_answer_tool]\nexecution: {logs_dir: \"\"}\n"

func sessionName(n int) string  { return fmt.Sprintf("session-%02d", n%allQueueSessions) }
func instanceName(n int) string { return fmt.Sprintf("clerk-%d", n%queueInstances) }

func queueMain(ctx context.Context, dir string, q queueing) error {
	e, err := dossier.Open(ctx, dossier.Options{DataDir: dir, ConfigFile: config.NoFile, Env: []string{"HOME=" + dir}, Set: q.Set, Resume: true})
	if err != nil {
		return err
	}
	defer e.Close()
	fmt.Println(sayWorking)
	if q.Runs == 0 {
		return untilOver(ctx, e)
	}
	if _, _, err := e.SaveTemplate(ctx, "clerk", fleet.Text{Document: clerkTemplate}); err != nil {
		return err
	}
	for i := range queueInstances {
		if _, err := e.RegisterInstance(ctx, fleet.Instance{Template: "clerk", Name: instanceName(i), Slots: queueSlots, Queue: queueRoom}); err != nil {
			return err
		}
	}
	for n := range q.Runs {
		_, err := e.Start(ctx, dossier.Request{Mode: "agent", Session: sessionName(n), Request: mode.Request{
			Question: fmt.Sprintf("job-%04d", n), Instance: instanceName(n),
		}})
		if err != nil {
			return fmt.Errorf("job %d: %w", n, err)
		}
	}
	fmt.Println(sayQueued)
	select {} // until it is killed
}

// untilOver waits until no run is left that is not over.
func untilOver(ctx context.Context, e *dossier.Engine) error {
	for tick := time.NewTicker(50 * time.Millisecond); ; <-tick.C {
		left := 0
		for _, status := range []run.Status{run.Queued, run.Running, run.Waiting, run.Paused} {
			there, err := e.List(ctx, store.Filter{Status: status, Limit: 1})
			if err != nil {
				return err
			}
			left += len(there)
		}
		if left == 0 {
			return nil
		}
	}
}
