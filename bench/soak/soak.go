package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"sync"
	"time"

	"dossier/agent"
	"dossier/internal/agenttest"
	"dossier/internal/followtest"
	"dossier/internal/studytest"
	"dossier/internal/webtest"
	"dossier/llm/llmtest"
)

// slowly is in questions that the model takes its time for, aPool in all that it just
// answers.
const (
	slowly = "slowly"
	aPool  = "the newts of pool"
)

// soak has clients use a server for a while, after a warm-up of a tenth of that.
func soak(ctx context.Context, clients int, lasts time.Duration) (*figures, error) {
	dir, err := os.MkdirTemp("", "bench-soak-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	web, err := webtest.Start(webtest.Options{Loopback: true})
	if err != nil {
		return nil, err
	}
	defer web.Close()
	script := agenttest.Beside(agent.Hybrid, studytest.TheTeam.Rules())
	chat := llmtest.JSON(map[string]any{"reasoning": "It is known.", "answer": "They live for up to 11 years, as the pools of the Aune are clean.", "key_points": []string{"11 years"}})
	script.Rules = append([]llmtest.Rule{{Contains: slowly, Latency: 300 * time.Millisecond, Reply: chat}, {Contains: aPool, Reply: chat}}, script.Rules...)
	script.Keep = 1
	model := llmtest.New(script)
	defer model.Close()
	models := httptest.NewServer(model)
	defer models.Close()
	s, err := startServer(ctx, dir, models.URL, web)
	if err != nil {
		return nil, err
	}
	stopped := false
	defer func() {
		if !stopped {
			_ = s.stop()
		}
	}()
	f := &figures{done: map[string]int{}}
	if _, err := load(ctx, s, clients, max(lasts/10, time.Second), &figures{done: map[string]int{}}); err != nil {
		return nil, err
	}
	// Connections that the server keeps to those it asks are no clients' of it. Runs
	// whose readers left go on for a while, and use some.
	letGo := func() {
		models.Config.SetKeepAlivesEnabled(false)
		models.Config.SetKeepAlivesEnabled(true)
		web.LetGo()
	}
	if f.before, err = settled(ctx, s, 0, letGo); err != nil {
		return nil, err
	}
	if f.lasted, err = load(ctx, s, clients, lasts, f); err != nil {
		return nil, err
	}
	after, err := settled(ctx, s, f.before, letGo)
	if err != nil {
		return nil, err
	}
	if f.left = max(after-f.before, 0); f.left > 0 {
		if err := s.tellGoroutines(); err != nil {
			return nil, err
		}
	}
	if f.after, err = s.memory(); err != nil {
		return nil, err
	}
	stopped = true
	return f, s.stop()
}

// load has clients use the server, and samples its memory meanwhile.
func load(ctx context.Context, s *server, clients int, lasts time.Duration, f *figures) (time.Duration, error) {
	began := time.Now()
	end := began.Add(lasts)
	var mu sync.Mutex
	var over sync.WaitGroup
	all := make(chan struct{})
	for n := range clients {
		over.Go(func() {
			transport := &http.Transport{}
			defer transport.CloseIdleConnections()
			c := &client{Site: followtest.Site{URL: s.url, Client: &http.Client{Transport: transport}}, rand: rand.New(rand.NewPCG(uint64(n), 1))}
			for time.Now().Before(end) && ctx.Err() == nil {
				name, do := c.choose()
				err := do(ctx)
				if ctx.Err() != nil {
					return
				}
				mu.Lock()
				f.done[name]++
				if err != nil {
					f.troubles = append(f.troubles, fmt.Sprintf("%s: %v", name, err))
				}
				mu.Unlock()
			}
		})
	}
	go func() { over.Wait(); close(all) }()
	every := time.NewTicker(max(lasts/400, 100*time.Millisecond))
	defer every.Stop()
	for {
		n, err := s.memory()
		if err != nil {
			return 0, errors.Join(err, ctx.Err())
		}
		f.memory = append(f.memory, n)
		select {
		case <-every.C:
		case <-all:
			return time.Since(began), ctx.Err()
		}
	}
}

// settleFor is how long goroutines of what is over may take to end.
const settleFor = time.Minute

// settled waits until the server has no more goroutines than wanted, or, where that
// is 0, until they are no longer fewer each time; and says how many it has. Whom the
// server asks lets go of it each time.
func settled(ctx context.Context, s *server, wanted int, letGo func()) (int, error) {
	least, same := 1<<30, 0
	for until := time.Now().Add(settleFor); time.Now().Before(until) && same < 10; {
		letGo()
		n, err := s.goroutines(ctx)
		if err != nil {
			return 0, err
		}
		if n < least {
			least, same = n, 0
		} else if wanted == 0 {
			same++
		}
		if least <= wanted {
			break
		}
		select {
		case <-time.After(200 * time.Millisecond):
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
	return least, nil
}
