package cli_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// A server that is killed while files are put into a collection, and again while
// they are read, loses none of those that it said were stored, and has nothing of
// those that did not come to their end.
func TestKilledUnderAnUpload(t *testing.T) {
	dir := t.TempDir()
	var process *exec.Cmd
	at := ""
	start := func() {
		t.Helper()
		process = exec.Command("dossier", "serve", "--port", "0", "--json")
		process.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "DOSSIER_CONFIG=none", "DOSSIER_DATA=" + filepath.Join(dir, "data")}
		var stderr bytes.Buffer
		process.Stderr = &stderr
		out, err := process.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := process.Start(); err != nil {
			t.Fatal(err)
		}
		line, err := bufio.NewReader(out).ReadString('\n')
		var said struct{ URL string }
		if err != nil || json.Unmarshal([]byte(line), &said) != nil {
			t.Fatalf("%v: %s\n%s", err, line, stderr.String())
		}
		at = said.URL + "/api/kb/collections"
	}
	kill := func() {
		_ = process.Process.Kill()
		_ = process.Wait()
	}
	start()
	defer func() { kill() }()
	call := func(method, url string, body io.Reader) (string, error) {
		req, err := http.NewRequestWithContext(t.Context(), method, url, body)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return "", err
		}
		defer resp.Body.Close()
		said, err := io.ReadAll(resp.Body)
		if err == nil && resp.StatusCode >= 300 {
			err = fmt.Errorf("%s: %s", resp.Status, said)
		}
		return string(said), err
	}
	must := func(said string, err error) string {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return said
	}
	must(call("POST", at, strings.NewReader(`{"name":"shelf"}`)))

	// Several send at once, one of them a file that never ends.
	stored := map[string]bool{}
	var mu sync.Mutex
	var wg sync.WaitGroup
	enough := make(chan struct{})
	text := func(name string) string {
		return name + " is about the harbour. " + strings.Repeat("Ropes and lamps. ", 500)
	}
	endless, more := io.Pipe()
	wg.Go(func() { _, _ = call("PUT", at+"/shelf/files?path=half.txt", endless) })
	for w := range 4 {
		wg.Go(func() {
			for i := 0; ; i++ {
				name := fmt.Sprintf("part-%d/note-%d.txt", w, i)
				if _, err := call("PUT", at+"/shelf/files?path="+name, strings.NewReader(text(name))); err != nil {
					return // killed
				}
				mu.Lock()
				if stored[name] = true; len(stored) == 60 {
					close(enough)
				}
				mu.Unlock()
			}
		})
	}
	if _, err := more.Write(bytes.Repeat([]byte("half "), 40_000)); err != nil {
		t.Fatal(err)
	}
	<-enough
	kill()
	_ = more.Close()
	wg.Wait()

	// What is there is what was said, and at most what was being said; it is read by
	// a run that is killed too.
	start()
	var shelf struct{ Unread int }
	if err := json.Unmarshal([]byte(must(call("GET", at+"/shelf", nil))), &shelf); err != nil || shelf.Unread < len(stored) || shelf.Unread > len(stored)+4 {
		t.Fatalf("%d files are there, and %d were stored: %v", shelf.Unread, len(stored), err)
	}
	var reading struct{ ID string }
	if err := json.Unmarshal([]byte(must(call("POST", at+"/shelf/ingest", nil))), &reading); err != nil {
		t.Fatal(err)
	}
	kill()
	start()
	log := must(call("GET", strings.TrimSuffix(at, "/kb/collections")+"/runs/"+reading.ID+"/events", nil))
	if !strings.Contains(log, `"status":"done"`) {
		t.Errorf("the run did not come to its end: %s", log)
	}
	found := map[string]bool{}
	for skip, total := 0, 1; skip < total; skip += 200 {
		var list struct {
			Total     int
			Documents []struct {
				Path   string
				Size   int
				Chunks int
			}
		}
		if err := json.Unmarshal([]byte(must(call("GET", fmt.Sprintf("%s/shelf/documents?limit=200&skip=%d", at, skip), nil))), &list); err != nil {
			t.Fatal(err)
		}
		total = list.Total
		for _, d := range list.Documents {
			if found[d.Path] = true; d.Size != len(text(d.Path)) || d.Chunks == 0 {
				t.Errorf("%s has %d bytes and %d passages", d.Path, d.Size, d.Chunks)
			}
		}
	}
	for name := range stored {
		if !found[name] {
			t.Errorf("%s is lost", name)
		}
	}
}
