package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"syscall"
	"time"

	"dossier/agent"
	"dossier/event"
	"dossier/internal/agenttest"
	"dossier/internal/followtest"
	"dossier/internal/studytest"
	"dossier/internal/webtest"
	"dossier/run"
)

// served kills `dossier serve` while clients follow its runs over each protocol,
// and starts it again in the same directory: the clients come back where they
// were. Whatever a client has got is held against the log in the end, and each call
// of the model against the steps that were recorded when it came.
func (t *test) served(ctx context.Context) (bool, error) {
	fmt.Fprintf(t.out, "killing dossier serve %d times, seed %d\n", t.cycles, t.seed)
	draw := rand.New(rand.NewPCG(t.seed, 1))
	v := &servedVerdict{}
	for rounds := 0; v.kills < t.cycles; rounds++ {
		if rounds > t.cycles {
			return false, errors.New("the runs end before the server can be killed")
		}
		r := &servedRound{test: t, draw: draw, servedVerdict: v, dir: filepath.Join(t.dir, fmt.Sprintf("served-%d", rounds))}
		if err := r.play(ctx); err != nil {
			return false, err
		}
	}
	for _, line := range v.trouble {
		fmt.Fprintln(t.out, line)
	}
	slices.Sort(v.takeovers)
	fmt.Fprintf(t.out, "%d runs with %d events, followed by %d readers who came back %d times; %d model calls, of which %d were cut off by a kill before they were recorded\n",
		v.runs, v.events, v.readers, v.returns, v.calls, v.calls-v.recorded)
	if n := len(v.takeovers); n > 0 {
		fmt.Fprintf(t.out, "from the restart until a reader hears of something new: %v median, %v at most [≤ 5s]\n", v.takeovers[n/2].Round(time.Millisecond), v.takeovers[n-1].Round(time.Millisecond))
	}
	fmt.Fprintf(t.out, "kills=%d lost_or_twice=%d repeated_calls=%d\n", v.kills, v.wrong, v.repeated)
	return v.wrong == 0 && v.repeated == 0 && v.kills == t.cycles && v.returns > 0, nil
}

type servedVerdict struct {
	kills, runs, events, readers, returns, calls, recorded int
	wrong, repeated                                        int
	trouble                                                []string
	takeovers                                              []time.Duration
}

// servedRound is one data directory with its runs, until these are over.
type servedRound struct {
	*test
	*servedVerdict
	draw   *rand.Rand
	dir    string
	model  *paidModel
	told   order
	cancel context.CancelCauseFunc
	over   sync.WaitGroup // readers

	mu      sync.Mutex
	at      followtest.Site
	moved   chan struct{} // closed when the server is somewhere else
	started time.Time     // the server
	news    bool          // somebody has heard of something since
	got     int           // messages since the start of the server
	due     int           // as many, and it is killed
	enough  chan struct{} // closed then
	streams []*joinedStream
}

// joinedStream is what one reader got, in all.
type joinedStream struct {
	protocol, run string
	messages      []followtest.Message
}

// mostBetween is how many messages clients get at most between two kills.
const mostBetween = 400

func (r *servedRound) play(ctx context.Context) error {
	if err := os.MkdirAll(r.dir, 0o700); err != nil {
		return err
	}
	web, err := webtest.Start(webtest.Options{Loopback: true})
	if err != nil {
		return err
	}
	defer web.Close()
	r.model = newPaidModel(agenttest.Beside(agent.Hybrid, studytest.TheTeam.Rules()), nil)
	defer r.model.close()
	o := (&outside{web: web}).order(r.dir, r.model.url)
	o.Serve, o.Search = o.Search.Set, nil
	o.Serve["deep_research.engine"] = "supervisor"
	r.told = o
	r.moved = make(chan struct{})
	ctx, r.cancel = context.WithCancelCause(ctx)
	defer r.cancel(nil)
	done := make(chan struct{})
	var ids []string
	for first := true; ; first = false {
		s, err := r.serve(ctx)
		if err != nil {
			return err
		}
		if first {
			if ids, err = r.begin(ctx); err != nil {
				return errors.Join(err, s.kill())
			}
			go func() { r.over.Wait(); close(done) }()
		}
		var enough <-chan struct{}
		if r.kills < r.cycles {
			enough = r.enough
		}
		select {
		case <-enough:
			if err := s.kill(); err != nil {
				return err
			}
			r.kills++
			fmt.Fprintf(r.errs, "\r%d kills", r.kills)
			continue
		case <-done:
		case <-ctx.Done():
		}
		if err := context.Cause(ctx); err != nil {
			return errors.Join(err, s.kill())
		}
		err = r.judge(ctx, ids)
		return errors.Join(err, s.stop())
	}
}

// servedProcess is a server that was started.
type servedProcess struct {
	kill, stop func() error
}

var listens = regexp.MustCompile(`http://127\.0\.0\.1:\d+`)

// serve starts the server and tells the readers where it is.
func (r *servedRound) serve(ctx context.Context) (*servedProcess, error) {
	r.mu.Lock()
	r.started, r.news, r.got, r.due, r.enough = time.Now(), false, 0, 1+r.draw.IntN(mostBetween), make(chan struct{})
	r.mu.Unlock()
	cmd, said, err := r.start(ctx, r.told)
	if err != nil {
		return nil, err
	}
	for line := range said {
		if at := listens.FindString(line); at != "" {
			r.move(at)
			break
		}
	}
	go func() {
		for range said {
		}
	}()
	return &servedProcess{
		kill: func() error { return kill(cmd) },
		stop: func() error { return errors.Join(cmd.Process.Signal(syscall.SIGTERM), cmd.Wait()) },
	}, nil
}

func (r *servedRound) move(at string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.at = followtest.Site{URL: at, Client: &http.Client{Transport: &http.Transport{}}}
	close(r.moved)
	r.moved = make(chan struct{})
}

// back is where a reader goes on: where the server is, or will be.
func (r *servedRound) back(ctx context.Context, was followtest.Site) (followtest.Site, error) {
	for {
		r.mu.Lock()
		at, moved := r.at, r.moved
		r.mu.Unlock()
		if at.Client != was.Client { // by chance it may listen where it did before
			return at, nil
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return at, context.Cause(ctx)
		}
	}
}

// begin starts the runs and their readers.
func (r *servedRound) begin(ctx context.Context) (ids []string, err error) {
	for _, body := range []map[string]any{
		research(),
		{"mode": "agent", "agent": "research_sgr_tool_calling_agent", "question": agenttest.Task, "in": map[string]any{"web": map[string]any{}}},
	} {
		var rec run.Record
		if status, err := r.post(ctx, r.at, "/api/runs", body, &rec); err != nil || status != http.StatusCreated {
			return nil, fmt.Errorf("a run does not start: %d, %w", status, err)
		}
		ids = append(ids, rec.ID)
		talk := &talker{round: r, run: rec.ID}
		for _, protocol := range []string{"sse", "socket.io", "responses"} {
			seen := func(followtest.Message) {}
			if protocol == "sse" {
				seen = func(m followtest.Message) { talk.hear(ctx, m) }
			}
			r.follow(ctx, protocol, rec.ID, seen)
		}
	}
	return ids, nil
}

// research is a request for one by a team.
func research() map[string]any {
	return map[string]any{"mode": "deep_research", "question": studytest.TeamQuestion, "in": map[string]any{"web": map[string]any{}}}
}

// follow has a reader follow a run to its end, over as many servers as it takes.
func (r *servedRound) follow(ctx context.Context, protocol, id string, seen func(followtest.Message)) {
	j := &joinedStream{protocol: protocol, run: id}
	r.mu.Lock()
	r.streams = append(r.streams, j)
	r.mu.Unlock()
	r.over.Go(func() {
		var was followtest.Site
		var err error
		j.messages, err = followtest.Joined(ctx, followtest.Protocols[protocol], id, func(cut error) (followtest.Site, error) {
			r.mu.Lock()
			if cut != nil {
				r.returns++
			}
			r.mu.Unlock()
			var err error
			was, err = r.back(ctx, was)
			return was, err
		}, func(m followtest.Message) {
			r.count()
			seen(m)
		})
		if err != nil {
			r.cancel(fmt.Errorf("%s over %s: %w", id, protocol, err))
		}
	})
}

// count counts a message, and says when it is time for a kill.
func (r *servedRound) count() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.got++; r.got == r.due {
		close(r.enough)
	}
}

// talker answers what a run asks, as its reader hears of it, and then has the next
// response of it followed.
type talker struct {
	round *servedRound
	run   string
	waits int64 // from this event on; 0 for not
}

func (k *talker) hear(ctx context.Context, m followtest.Message) {
	r := k.round
	var ev event.Event
	if err := json.Unmarshal([]byte(m.Text), &ev); err != nil {
		r.cancel(err)
		return
	}
	r.mu.Lock()
	if !r.news && r.kills > 0 && ev.Time.After(r.started) {
		r.news = true
		r.takeovers = append(r.takeovers, time.Since(r.started))
	}
	r.mu.Unlock()
	if k.waits != 0 { // it goes on
		r.follow(ctx, "responses", fmt.Sprintf("resp_%s_%d", k.run, k.waits), func(followtest.Message) {})
		k.waits = 0
	}
	if d, ok := ev.Data.(event.RunStatus); ok && d.Status == string(run.Waiting) {
		k.waits = ev.Seq
		r.over.Go(func() {
			if err := r.answer(ctx, k.run); err != nil {
				r.cancel(err)
			}
		})
	}
}

// answer answers a run, over as many servers as it takes.
func (r *servedRound) answer(ctx context.Context, id string) error {
	var at followtest.Site
	for {
		var err error
		if at, err = r.back(ctx, at); err != nil {
			return err
		}
		status, err := r.post(ctx, at, "/api/runs/"+id+"/answer", map[string]string{"text": agenttest.Reply}, nil)
		switch {
		case err != nil: // the server is gone
		case status == http.StatusNoContent, status == http.StatusConflict: // 409: it has arrived before
			return nil
		default:
			return fmt.Errorf("an answer gets %d", status)
		}
	}
}

func (r *servedRound) post(ctx context.Context, at followtest.Site, path string, body, into any) (int, error) {
	raw, err := json.Marshal(body)
	if err != nil {
		return 0, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, at.URL+path, bytes.NewReader(raw))
	if err != nil {
		return 0, err
	}
	resp, err := at.Client.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	said, err := io.ReadAll(resp.Body)
	if err == nil && into != nil {
		err = json.Unmarshal(said, into)
	}
	return resp.StatusCode, err
}
