package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// silence is how long nothing happens in a run behind nginx: more than twice the time
// after which nginx cuts a connection that is silent.
const silence = 130 * time.Second

// behindNginx has a run followed through nginx as it is when nobody has set anything:
// it buffers what it passes on, and cuts after a minute of silence.
func behindNginx(ctx context.Context, say func(string, ...any)) error {
	program, err := exec.LookPath("nginx")
	if err != nil {
		return errors.New("nginx is not there: install it with `apt-get install nginx-light`, and stop the service that comes with it")
	}
	version, err := exec.CommandContext(ctx, program, "-v").CombinedOutput()
	if err != nil {
		return err
	}
	p, err := start(ctx, "ours", "")
	if err != nil {
		return err
	}
	defer p.stop()
	at, stop, err := startNginx(ctx, program, p.url)
	if err != nil {
		return err
	}
	defer stop()
	id, err := tell(ctx, p, telling{Messages: 1, Every: time.Millisecond, Kept: 1})
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at+"/api/runs/"+id+"/events", nil)
	if err != nil {
		return err
	}
	began := time.Now()
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK || !strings.HasPrefix(resp.Header.Get("Server"), "nginx") {
		return fmt.Errorf("through nginx comes %s from %q", resp.Status, resp.Header.Get("Server"))
	}
	lines := make(chan string)
	go func() {
		defer close(lines)
		for in := bufio.NewScanner(resp.Body); in.Scan(); {
			lines <- in.Text()
		}
	}()
	var first, told time.Duration
	beats := 0
	quiet := time.NewTimer(silence)
	defer quiet.Stop()
	var spoke time.Time
	for told == 0 {
		select {
		case line, more := <-lines:
			switch {
			case !more:
				return fmt.Errorf("the stream was cut after %v, %d signs of life and %v without one", time.Since(began), beats, time.Since(began.Add(first)))
			case first == 0 && strings.HasPrefix(line, "data: "):
				first = time.Since(began)
			case line == ": alive":
				beats++
			case !spoke.IsZero() && strings.Contains(line, "bridge over the Aune"):
				told = time.Since(spoke)
			}
		case <-quiet.C:
			spoke = time.Now()
			if err := post(ctx, p.url+"/bench/begin", struct{}{}, nil); err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	say("nginx.version %s, with its own defaults", strings.TrimPrefix(strings.TrimSpace(string(version)), "nginx version: "))
	say("nginx.first %v until the first event [≤ 1s]", first.Round(100*time.Microsecond))
	say("nginx.silence %v without an event, %d signs of life, and the stream is open [> 120s]: what happens then is there after %v", silence, beats, told.Round(100*time.Microsecond))
	return nil
}

// startNginx has nginx pass on all requests to a server, and says where it listens.
func startNginx(ctx context.Context, program, to string) (at string, stop func(), err error) {
	dir, err := os.MkdirTemp("", "bench-nginx-")
	if err != nil {
		return "", nil, err
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	listen := free.Addr().String()
	_ = free.Close()
	var temp strings.Builder
	for _, kind := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
		fmt.Fprintf(&temp, "\t%s_temp_path %s;\n", kind, filepath.Join(dir, kind))
	}
	config := fmt.Sprintf("daemon off;\nmaster_process off;\npid %s/pid;\nerror_log %s/error.log;\nevents {}\nhttp {\n\taccess_log off;\n%s\tserver {\n\t\tlisten %s;\n\t\tlocation / { proxy_pass %s; }\n\t}\n}\n",
		dir, dir, temp.String(), listen, to)
	file := filepath.Join(dir, "nginx.conf")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		return "", nil, err
	}
	cmd := exec.CommandContext(ctx, program, "-p", dir, "-c", file)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		return "", nil, err
	}
	stop = func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		_ = os.RemoveAll(dir)
	}
	for range 200 {
		conn, err := net.Dial("tcp", listen)
		if err == nil {
			_ = conn.Close()
			return "http://" + listen, stop, nil
		}
		time.Sleep(20 * time.Millisecond)
	}
	stop()
	return "", nil, errors.New("nginx does not listen")
}
