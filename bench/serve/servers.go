package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"dossier"
	"dossier/event"
	"dossier/internal/access"
	"dossier/internal/base/headroom"
	"dossier/internal/server"
	"dossier/internal/server/openai"
	"dossier/mode"
	"dossier/run"
)

// telling is what a run, or the bare server, is to tell.
type telling struct {
	Messages int           `json:"messages"`
	Every    time.Duration `json:"every"`
	// Kept is how many messages lie between two that are recorded.
	Kept int `json:"kept"`
}

// message is what is told, about as long as a few words of an answer.
const message = "and so it was that the bridge over the Aune "

// ticker is a mode that tells something when it may begin.
type ticker struct{ begin *gate }

func (ticker) Name() string  { return "ticker" }
func (ticker) Settings() any { return struct{}{} }

func (t ticker) Run(ctx context.Context, s *run.Scope, req mode.Request) (mode.Answer, error) {
	var what telling
	if err := json.Unmarshal([]byte(req.Question), &what); err != nil {
		return mode.Answer{}, err
	}
	if err := s.Emit(event.NoteAdded{Text: "ready"}); err != nil {
		return mode.Answer{}, err
	}
	if err := t.begin.wait(ctx); err != nil {
		return mode.Answer{}, err
	}
	beat := time.NewTicker(what.Every)
	defer beat.Stop()
	for i := range what.Messages {
		select {
		case <-beat.C:
		case <-ctx.Done():
			return mode.Answer{}, context.Cause(ctx)
		}
		if what.Kept > 0 && i%what.Kept == 0 {
			if err := s.Emit(event.NoteAdded{Text: message}); err != nil {
				return mode.Answer{}, err
			}
			continue
		}
		_ = s.Emit(event.AnswerDelta{Text: message})
	}
	return mode.Answer{Text: "done"}, nil
}

// gate holds all back until it is opened.
type gate struct {
	mu   sync.Mutex
	open chan struct{}
}

func newGate() *gate { return &gate{open: make(chan struct{})} }

func (g *gate) wait(ctx context.Context) error {
	g.mu.Lock()
	open := g.open
	g.mu.Unlock()
	select {
	case <-open:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// pass lets those through who wait, and holds the next ones back.
func (g *gate) pass() {
	g.mu.Lock()
	defer g.mu.Unlock()
	close(g.open)
	g.open = make(chan struct{})
}

// ours is the product as `dossier serve` is, with the ticker.
func ours(ctx context.Context, model string) error {
	defer headroom.Keep(headroom.Default)()
	dir, err := os.MkdirTemp("", "bench-serve-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	begin := newGate()
	set := map[string]string{"workers": "4096"}
	if model != "" {
		set["models.default.base_url"], set["models.default.model"] = model+"/v1", "scripted"
	}
	engine, err := dossier.Open(ctx, dossier.Options{
		DataDir: filepath.Join(dir, "data"), ConfigFile: "none", Env: []string{"HOME=" + dir}, Resume: true, Set: set, Modes: []mode.Mode{ticker{begin}},
	})
	if err != nil {
		return err
	}
	defer engine.Close()
	public, err := server.Listen(server.Options{
		Engine: engine, Version: "bench", Host: "127.0.0.1",
		Protocols: []server.Protocol{
			openai.Protocol(openai.Options{Modes: engine.Modes(), Embed: engine.Embed}),
			{Name: "bench", Routes: []server.Route{{Pattern: "POST /bench/begin", Scope: access.Read, Serve: func(w http.ResponseWriter, _ *http.Request) error {
				begin.pass()
				return server.Reply(w, http.StatusOK, struct{}{})
			}}}},
		},
	})
	if err != nil {
		return err
	}
	defer public.Close()
	fmt.Println(public.URL())
	<-ctx.Done()
	return nil
}

// bare is the least that can serve streams: a message is encoded once and written
// to everybody as it is. What it tells comes with the request to begin.
func bare(ctx context.Context) error {
	var mu sync.Mutex
	readers := map[chan []byte]bool{}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /events", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		ch := make(chan []byte, 16)
		mu.Lock()
		readers[ch] = true
		mu.Unlock()
		defer func() {
			mu.Lock()
			delete(readers, ch)
			mu.Unlock()
		}()
		flush := http.NewResponseController(w).Flush
		_, _ = w.Write([]byte("data: ready\n\n"))
		_ = flush()
		for {
			select {
			case <-r.Context().Done():
				return
			case b := <-ch:
				if _, err := w.Write(b); err != nil || flush() != nil {
					return
				}
			}
		}
	})
	mux.HandleFunc("POST /begin", func(_ http.ResponseWriter, r *http.Request) {
		var what telling
		if json.NewDecoder(r.Body).Decode(&what) != nil {
			return
		}
		go func() {
			for range what.Messages {
				time.Sleep(what.Every)
				raw, err := json.Marshal(event.Event{Run: "bare", Time: time.Now(), Data: event.AnswerDelta{Text: message}})
				if err != nil {
					return
				}
				b := append(append([]byte("data: "), raw...), "\n\n"...)
				mu.Lock()
				for ch := range readers {
					ch <- b
				}
				mu.Unlock()
			}
		}()
	})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	srv := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = srv.Serve(l) }()
	defer srv.Close()
	fmt.Println("http://" + l.Addr().String())
	<-ctx.Done()
	return nil
}

// process is a server at work.
type process struct {
	url string
	cmd *exec.Cmd
}

// start has another process be a server.
func start(ctx context.Context, as, model string) (*process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, self, "-as", as, "-model", model)
	cmd.Stderr = os.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGINT) }
	cmd.WaitDelay = 20 * time.Second
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return nil, fmt.Errorf("the server %s does not start: %w", as, err)
	}
	return &process{strings.TrimSpace(line), cmd}, nil
}

func (p *process) stop() {
	_ = p.cmd.Process.Signal(os.Interrupt)
	_ = p.cmd.Wait()
}

// memory is what the process has in memory, in bytes.
func (p *process) memory() int64 {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(raw), "VmRSS:")
	size, _, _ := strings.Cut(rest, "kB")
	n, err := strconv.ParseInt(strings.TrimSpace(size), 10, 64)
	if err != nil {
		return 0
	}
	return n << 10
}

// cpu is the time that the process has computed.
func (p *process) cpu() time.Duration {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(raw), ") ")
	fields := strings.Fields(rest)
	if len(fields) < 13 {
		return 0
	}
	var ticks int64
	for _, f := range fields[11:13] { // in user mode and in the kernel
		n, err := strconv.ParseInt(f, 10, 64)
		if err != nil {
			return 0
		}
		ticks += n
	}
	return time.Duration(ticks) * (time.Second / 100)
}
