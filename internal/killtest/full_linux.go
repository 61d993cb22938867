package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"dossier/agent"
	"dossier/event"
	"dossier/internal/agenttest"
	"dossier/internal/followtest"
	"dossier/internal/studytest"
	"dossier/internal/webtest"
	"dossier/llm/llmtest"
	"dossier/run"
)

// diskSize is that of the disk which is filled, in bytes.
const diskSize = 48 << 20

// fullAt is the call of the run's model that is answered when it is full.
const fullAt = 15

// mostFitting is how many bulky requests may find room in what files have already.
const mostFitting = 100

// greeting begins questions that the model just answers.
const greeting = "hello "

// bulky is a question that does not become small in any way.
func bulky() string {
	raw := make([]byte, 128<<10)
	_, _ = rand.Read(raw) // never fails
	return greeting + hex.EncodeToString(raw)
}

// alone has a process live in a namespace of its own, in which it may mount.
func alone(cmd *exec.Cmd) {
	one := func(id int) []syscall.SysProcIDMap {
		return []syscall.SysProcIDMap{{ContainerID: 0, HostID: id, Size: 1}}
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS, UidMappings: one(os.Getuid()), GidMappings: one(os.Getgid()),
	}
}

// What a child on a small disk says when it has been told by a signal to fill it,
// or to make room again.
const (
	sayFull = "full"
	sayRoom = "room"
)

// onSmallDisk mounts a disk at a directory, and fills it when told to.
func onSmallDisk(dir string) error {
	if err := syscall.Mount("none", dir, "tmpfs", 0, fmt.Sprintf("size=%d", diskSize)); err != nil {
		return fmt.Errorf("mounting a small disk: %w", err)
	}
	told := make(chan os.Signal, 1)
	signal.Notify(told, syscall.SIGUSR1, syscall.SIGUSR2)
	go func() {
		ballast := filepath.Join(dir, "ballast")
		for s := range told {
			if s == syscall.SIGUSR2 {
				_ = os.Remove(ballast)
				fmt.Println(sayRoom)
				continue
			}
			f, err := os.Create(ballast)
			for piece := make([]byte, 4<<10); err == nil; {
				_, err = f.Write(piece)
			}
			if !errors.Is(err, syscall.ENOSPC) {
				fmt.Fprintln(os.Stderr, "filling the disk:", err)
			}
			fmt.Println(sayFull)
		}
	}()
	return nil
}

// full fills the disk under `dossier serve` in the middle of a research: requests
// that have to write are told so, others are served, the research rests, and when
// there is room it goes on by itself, without loss.
func (t *test) full(ctx context.Context) (bool, error) {
	dir := filepath.Join(t.dir, "full")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return false, err
	}
	web, err := webtest.Start(webtest.Options{Loopback: true})
	if err != nil {
		return false, err
	}
	defer web.Close()
	v := &servedVerdict{}
	script := agenttest.Beside(agent.Hybrid, studytest.TheTeam.Rules())
	script.Rules = append([]llmtest.Rule{{Contains: greeting, Reply: llmtest.JSON(map[string]any{"reasoning": "short", "answer": "Hello.", "key_points": []string{}})}}, script.Rules...)
	// The run can't be over before the disk is full: its model waits for that.
	fill, full := make(chan struct{}), make(chan struct{})
	goOn := sync.OnceFunc(func() { close(full) })
	r := &servedRound{test: t, servedVerdict: v, dir: dir, moved: make(chan struct{}), model: newPaidModel(script, func(number int) {
		if number == fullAt {
			close(fill)
			<-full
		}
	})}
	defer r.model.close()
	defer goOn()
	r.told = (&outside{web: web}).order(dir, r.model.url)
	r.told.Serve, r.told.Search, r.told.SmallDisk = r.told.Search.Set, nil, true
	r.told.Serve["deep_research.engine"] = "supervisor"
	ctx, r.cancel = context.WithCancelCause(ctx)
	defer r.cancel(nil)
	cmd, said, err := r.start(ctx, r.told)
	if err != nil {
		return false, err
	}
	defer func() { _ = kill(cmd) }()
	heard := func(wanted string) error {
		for line := range said {
			if at := listens.FindString(line); at != "" {
				r.move(at)
			}
			if line == wanted || wanted == "" && r.at.URL != "" {
				return nil
			}
		}
		return errors.New("the child is gone")
	}
	if err := heard(""); err != nil {
		return false, err
	}
	var rec run.Record
	if status, err := r.post(ctx, r.at, "/api/runs", research(), &rec); err != nil || status != http.StatusCreated {
		return false, fmt.Errorf("a run does not start: %d, %w", status, err)
	}
	stopped, room := make(chan error, 1), make(chan struct{})
	var got []followtest.Message
	over := make(chan error, 1)
	go func() {
		var err error
		got, err = followtest.Joined(ctx, followtest.Events, rec.ID, func(cut error) (followtest.Site, error) {
			if cut != nil {
				select {
				case stopped <- cut:
				default: // it has been told before
				}
				<-room
			}
			return r.at, context.Cause(ctx)
		}, func(followtest.Message) {})
		over <- err
	}()
	select {
	case <-fill:
	case err := <-over:
		return false, fmt.Errorf("the run ends before its disk is full: %w", err)
	}
	if err := cmd.Process.Signal(syscall.SIGUSR1); err != nil {
		return false, err
	}
	if err := heard(sayFull); err != nil {
		return false, err
	}
	goOn()
	why := <-stopped
	fmt.Fprintf(t.out, "the reader is told: %v\n", why)
	good := true
	expect := func(what string, status, want int, code string) {
		fmt.Fprintf(t.out, "%s: %d %s\n", what, status, code)
		good = good && status == want
	}
	for _, q := range []struct {
		path string
		body func(text string) map[string]any
	}{
		{"/api/runs", func(text string) map[string]any { return map[string]any{"mode": "chat", "question": text} }},
		{"/v1/chat/completions", func(text string) map[string]any {
			return map[string]any{"model": "chat", "messages": []any{map[string]any{"role": "user", "content": text}}}
		}},
		{"/v1/responses", func(text string) map[string]any { return map[string]any{"model": "chat", "input": text} }},
	} {
		var said struct {
			Code, Message string
			Error         struct{ Code, Message string }
		}
		status := 0
		for range mostFitting {
			if status, err = r.post(ctx, r.at, q.path, q.body(bulky()), &said); err != nil {
				return false, err
			}
			if status >= http.StatusBadRequest {
				break
			}
		}
		expect("POST "+q.path, status, http.StatusInsufficientStorage, said.Code+said.Error.Code+": "+said.Message+said.Error.Message)
	}
	for _, path := range []string{"/health", "/api/runs", "/api/runs/" + rec.ID, "/metrics"} {
		resp, err := r.at.Client.Get(r.at.URL + path)
		if err != nil {
			return false, err
		}
		var is struct{ Run run.Record }
		_ = json.NewDecoder(resp.Body).Decode(&is)
		_ = resp.Body.Close()
		expect("GET "+path, resp.StatusCode, http.StatusOK, string(is.Run.Status))
	}
	if err := cmd.Process.Signal(syscall.SIGUSR2); err != nil {
		return false, err
	}
	if err := heard(sayRoom); err != nil {
		return false, err
	}
	close(room)
	if err := <-over; err != nil {
		return false, err
	}
	log, recorded, err := r.logged(ctx, rec.ID)
	if err != nil {
		return false, err
	}
	calls, repeated := r.model.again(recorded)
	fmt.Fprintf(t.out, "with room again: %d messages came of %d, %d model calls of which %d are recorded, repeated_calls=%d\n", len(got), len(log), calls, len(recorded), repeated)
	return good && slices.Equal(got, log) && strings.Contains(got[len(got)-1].Text, `"status":"done"`) && repeated == 0, nil
}

// logged is the log of a run as the server has it, and which replies of the model
// are in it.
func (r *servedRound) logged(ctx context.Context, id string) (log []followtest.Message, recorded map[int]bool, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.at.URL+"/api/runs/"+id+"/events", nil)
	if err != nil {
		return nil, nil, err
	}
	req.Header.Set("Accept", "application/json")
	resp, err := r.at.Client.Do(req)
	if err != nil {
		return nil, nil, err
	}
	defer resp.Body.Close()
	var all []json.RawMessage
	if err := json.NewDecoder(resp.Body).Decode(&all); err != nil {
		return nil, nil, err
	}
	recorded = map[int]bool{}
	for _, raw := range all {
		var ev event.Event
		if err := json.Unmarshal(raw, &ev); err != nil {
			return nil, nil, err
		}
		if d, ok := ev.Data.(event.Usage); ok {
			recorded[d.Input] = true
		}
		log = append(log, followtest.Message{Number: ev.Seq, Text: string(raw)})
	}
	return log, recorded, nil
}
