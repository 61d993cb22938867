package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime/pprof"
	"strconv"
	"strings"
	"syscall"

	"dossier/internal/cli"
	"dossier/internal/webtest"
)

// childVar has the arguments of a process that is to be the server.
const childVar = "DOSSIER_SOAK_ARGUMENTS"

// serve is `dossier` with arguments in JSON.
func serve(raw string) int {
	var args []string
	if err := json.Unmarshal([]byte(raw), &args); err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
		return 1
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGUSR1)
	go func() {
		for range asked {
			_ = pprof.Lookup("goroutine").WriteTo(os.Stderr, 1)
		}
	}()
	return cli.Main(cli.Process{
		Args: args, Env: []string{"HOME=" + os.Getenv("HOME"), "LANG=C"}, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Terminal: cli.Terminal, Terminate: ctx,
	})
}

// server is one at work.
type server struct {
	url string
	cmd *exec.Cmd
}

var listens = regexp.MustCompile(`http://127\.0\.0\.1:\d+`)

// startServer has another process serve from a directory, with a model and a web.
func startServer(ctx context.Context, dir, model string, web *webtest.Web) (*server, error) {
	at, err := url.Parse(web.Searx())
	if err != nil {
		return nil, err
	}
	args := []string{"serve", "--port", "0", "--data", filepath.Join(dir, "data"), "--config", "none"}
	for key, value := range map[string]string{
		"models.default.base_url": model + "/v1", "models.default.model": "scripted", "deep_research.engine": "supervisor",
		"search.engines": "searxng", "search.searxng.base_url": web.Searx(), "search.allow_networks": "127.0.0.0/8", "search.allow_ports": at.Port(),
		"search.page_delay": "0s", "search.browser": "false",
	} {
		args = append(args, "--set", key+"="+value)
	}
	raw, err := json.Marshal(args)
	if err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, self)
	cmd.Env = append(os.Environ(), childVar+"="+string(raw), "HOME="+dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if at := listens.FindString(lines.Text()); at != "" {
			go func() { _, _ = io.Copy(io.Discard, out) }()
			return &server{at, cmd}, nil
		}
	}
	return nil, errors.Join(errors.New("the server does not start"), cmd.Wait())
}

func (s *server) stop() error {
	return errors.Join(s.cmd.Process.Signal(syscall.SIGTERM), s.cmd.Wait())
}

// tellGoroutines has the server write its goroutines to standard error.
func (s *server) tellGoroutines() error { return s.cmd.Process.Signal(syscall.SIGUSR1) }

// memory is what the process has in memory, in bytes.
func (s *server) memory() (int64, error) {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(raw), "VmRSS:")
	size, _, _ := strings.Cut(rest, "kB")
	n, err := strconv.ParseInt(strings.TrimSpace(size), 10, 64)
	return n << 10, err
}

// goroutines is how many the process has, over a connection that is then closed.
func (s *server) goroutines(ctx context.Context) (int, error) {
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+"/metrics", nil)
	if err != nil {
		return 0, err
	}
	resp, err := client.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, err
	}
	_, rest, found := strings.Cut(string(raw), "\ngo_goroutines ")
	if !found {
		return 0, errors.New("the server does not tell its goroutines")
	}
	line, _, _ := strings.Cut(rest, "\n")
	return strconv.Atoi(strings.TrimSpace(line))
}
