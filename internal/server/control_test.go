package server_test

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"dossier"
	"dossier/event"
	"dossier/internal/server"
	"dossier/run"
)

func TestDialNobody(t *testing.T) {
	dir := t.TempDir()
	if _, err := server.Dial(t.Context(), dir, "w"); !errors.Is(err, server.ErrNoPeer) {
		t.Errorf("an empty directory: %v", err)
	}
	stale := `{"network":"unix","address":"` + filepath.ToSlash(filepath.Join(dir, "none.sock")) + `","token":"x"}`
	for _, text := range []string{stale, "", "{", `{"network":"tcp","address":"127.0.0.1:1"}`} {
		if err := os.MkdirAll(filepath.Join(dir, "control"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "control", "w.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := server.Dial(t.Context(), dir, "w"); !errors.Is(err, server.ErrNoPeer) {
			t.Errorf("control file %q: %v", text, err)
		}
	}
}

func TestServeLeavesNothingBehind(t *testing.T) {
	for name, dir := range map[string]string{
		"short": t.TempDir(),
		"long":  filepath.Join(t.TempDir(), strings.Repeat("long", 30)),
	} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		b := remoteIn(t, dir)
		file := controlFile(t, dir)
		address := control(t, dir)["address"].(string)
		for _, file := range []string{file, address} {
			info, err := os.Stat(file)
			if runtime.GOOS == "windows" {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if info.Mode().Perm() != 0o600 {
				t.Errorf("%s: %s has mode %v", name, file, info.Mode())
			}
		}
		if err := b.serving.Close(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, file := range []string{file, address} {
			if _, err := os.Stat(file); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("%s: %s is left: %v", name, file, err)
			}
		}
		if _, err := b.List(t.Context(), dossier.Filter{}); !errors.Is(err, server.ErrNoPeer) {
			t.Errorf("%s: a client of a closed server: %v", name, err)
		}
	}
}

// controlFile is that of the only process in a directory.
func controlFile(t *testing.T, dir string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "control", "*.json"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	return files[0]
}

func control(t *testing.T, dir string) map[string]any {
	t.Helper()
	raw, err := os.ReadFile(controlFile(t, dir))
	if err != nil {
		t.Fatal(err)
	}
	var c map[string]any
	if err := json.Unmarshal(raw, &c); err != nil {
		t.Fatal(err)
	}
	return c
}

func TestOnlyTheTokenOpens(t *testing.T) {
	dir := t.TempDir()
	remoteIn(t, dir)
	c := control(t, dir)
	get := func(token string) int {
		client := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, c["network"].(string), c["address"].(string))
		}}}
		defer client.CloseIdleConnections()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://dossier/api/runs", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+token)
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		return resp.StatusCode
	}
	if got := get("wrong"); got != http.StatusForbidden {
		t.Errorf("a wrong token gets %d", got)
	}
	if got := get(c["token"].(string)); got != http.StatusOK {
		t.Errorf("the right token gets %d", got)
	}
}

func TestLeavingIsNotCancelling(t *testing.T) {
	b := remote(t)
	rec := b.start("wait")
	ctx, cancel := context.WithCancel(t.Context())
	for ev, err := range b.Events(ctx, rec.ID, 0) {
		if err != nil {
			if !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
			break
		}
		if s, ok := ev.Data.(event.RunStatus); ok && s.Status == string(run.Running) {
			cancel()
		}
	}
	cancel()
	b.release <- struct{}{}
	b.until(rec.ID, run.Done)
}

func TestStreamsHearOfTheEnd(t *testing.T) {
	b := remote(t)
	rec := b.start("wait")
	var last error
	for ev, err := range b.Events(t.Context(), rec.ID, 0) {
		if err != nil {
			last = err
			break
		}
		if s, ok := ev.Data.(event.RunStatus); ok && s.Status == string(run.Running) {
			go func() { _ = b.serving.Close() }()
		}
	}
	if !errors.Is(last, run.ErrShutdown) {
		t.Errorf("the stream ended with %v", last)
	}
}
