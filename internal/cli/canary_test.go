package cli_test

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"dossier/internal/base/trace/tracetest"
	"dossier/llm/llmtest"
)

// birds are secrets that look like nothing in particular, each planted in one place,
// and what was heard of them.
type birds struct {
	t     *testing.T
	names map[string]string // by the secret
	mu    sync.Mutex
	sent  map[string]bool             // places whose secret an endpoint got
	heard map[string]*strings.Builder // what came out, by where
}

// plant is a secret for a place.
func (b *birds) plant(place string) string {
	secret := fmt.Sprintf("Qx%02dtweet%sVbn", len(b.names), strings.NewReplacer(" ", "", "-", "").Replace(place))
	b.names[secret] = place
	return secret
}

// hear keeps what came out somewhere.
func (b *birds) hear(where string, what []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.heard[where] == nil {
		b.heard[where] = &strings.Builder{}
	}
	b.heard[where].Write(what)
}

// arrived notes which secrets an endpoint was sent, and returns them.
func (b *birds) arrived(r *http.Request) (secrets []string) {
	text := fmt.Sprint(r.Header, r.URL.String())
	if user, password, ok := r.BasicAuth(); ok {
		text += user + password
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for secret, place := range b.names {
		if strings.Contains(text, secret) {
			b.sent[place] = true
			secrets = append(secrets, secret)
		}
	}
	return secrets
}

// echo is an endpoint that refuses whoever comes, and repeats all that it was told:
// secrets also by themselves, where nothing beside them shows what they are.
func (b *birds) echo() string {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		told, _ := json.Marshal(fmt.Sprint("nobody knows ", b.arrived(r), " here; refused: ", r.Header, " at ", r.URL))
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprintf(w, `{"error":{"message":%s},"message":%[1]s,"detail":%[1]s}`, told)
	}))
	b.t.Cleanup(srv.Close)
	return srv.URL
}

// No secret is in anything that comes out: what commands print, replies of the
// server, its figures, the log, the traces, and all that is kept on disk.
func TestCanaries(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("it starts programs of a shell")
	}
	b := &birds{t: t, names: map[string]string{}, sent: map[string]bool{}, heard: map[string]*strings.Builder{}}
	model := llmtest.New(llmtest.Script{})
	t.Cleanup(model.Close)
	works := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b.arrived(r)
		r.Header.Set("Authorization", "Bearer "+llmtest.Key)
		model.ServeHTTP(w, r)
	}))
	t.Cleanup(works.Close)
	collector := tracetest.Start(t)
	collector.Before(func(_ http.ResponseWriter, r *http.Request) bool { b.arrived(r); return true })
	echo := b.echo()
	withUser := strings.Replace(echo, "http://", "http://user:"+b.plant("userinfo")+"@", 1)

	dir := t.TempDir()
	data := filepath.Join(dir, "data")
	folder := filepath.Join(dir, "papers")
	config := func(modelAt, format string) string {
		return fmt.Sprintf(`
models:
  default: {provider: openai-compatible, base_url: %q, model: scripted, api_key: %q}
governor: {retries: 0}
log: {level: debug, verbose: true, format: %s}
traces: {endpoint: %q, headers: "x-collector=%s"}
server: {token: %q, folders: [%q]}
search:
  engines: [brave, tavily, searxng]
  brave: {base_url: %q, api_key: %q}
  tavily_api_base_url: %q
  tavily_api_key: %q
  searxng: {base_url: %q}
  rerank_url: %q
  rerank_api_key: %q
mcp:
  mcpServers:
    remote: {url: %q, headers: {Authorization: "Bearer %s"}}
    local: {command: sh, args: ["-c", "echo the token is $MCP_TOKEN >&2; exit 1"], env: {MCP_TOKEN: %q}}
a2a: {agents: {colleague: {url: %q, headers: {X-Key: %q}}}}
webhooks: {team: {url: %q, secret: %q}}
agents:
  weigher: {base_class: ToolCallingAgent, tools: [final_answer_tool, web_search_tool, "mcp:remote", "mcp:local"]}
`, modelAt, b.secret("model"), format, collector.URL, b.secret("collector"), b.secret("operator"), folder, echo, b.secret("brave"), echo, b.secret("tavily"), withUser,
			echo+"/rerank?key="+b.secret("query"), b.secret("rerank"), echo+"/mcp", b.secret("mcp header"), b.secret("mcp env"), echo, b.secret("a2a"),
			withUser+"/hook?key="+b.secret("webhook query"), "whsec_"+base64.StdEncoding.EncodeToString([]byte(b.secret("what signs webhooks"))))
	}
	write := func(path, text string) string {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write(filepath.Join(folder, "pump.md"), "# The pump\n\nThe warranty of the pump lasts seven years.\n")
	files := map[string]string{
		"works": write(filepath.Join(dir, "works.yaml"), config(works.URL+"/v1", "json")),
		"fails": write(filepath.Join(dir, "fails.yaml"), config(withUser+"/v1", "text")),
	}
	command := func(with string, args ...string) *exec.Cmd {
		cmd := exec.Command("dossier", args...)
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "DOSSIER_CONFIG=" + files[with], "DOSSIER_DATA=" + data}
		return cmd
	}
	do := func(with string, args ...string) string {
		cmd := command(with, args...)
		cmd.Stdin = strings.NewReader("hello\n") // what the console is told
		out, _ := cmd.CombinedOutput()           // many are meant to fail
		b.hear(strings.Join(args, " ")+", whose model "+with, out)
		return string(out)
	}
	made := do("works", "tokens", "create", "ann", "--json")
	var token struct{ Token string }
	if err := json.Unmarshal([]byte(made), &token); err != nil || token.Token == "" {
		t.Fatalf("%v: %s", err, made)
	}
	b.names[token.Token] = "token"
	clear(b.heard) // it is printed once, there

	for with := range files {
		for _, args := range [][]string{
			{"ask", "-v", "hello"}, {"ask", "--mode", "web_search", "-v", "How long is the Keldra Bridge?"},
			{"research", "--no-input", "-v", "How long is the Keldra Bridge?"}, {"research", "--in", folder, "How long is the warranty?"},
			{"agents", "run", "--no-input", "-v", "weigher", "Weigh the parcel"}, {"mcp", "test"}, {"doctor"}, {"models"}, {"config"}, {"config", "--json"},
			{"config", "explain", "traces.headers"}, {"config", "explain", "mcp"}, {"tools", "list"}, {"tokens", "list"}, {"runs", "list", "--json"},
			{"console"}, {"webhooks"}, {"webhooks", "test", "team"}, {"webhooks", "deliveries", "--json"},
		} {
			do(with, args...)
		}
	}

	// The same over HTTP, and whoever shows what is no token.
	for with := range files {
		serve := command(with, "serve", "--port", "0", "--json")
		stdout, err := serve.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		var stderr bytes.Buffer
		serve.Stderr = &stderr
		if err := serve.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewReader(stdout)
		first, err := lines.ReadString('\n')
		var at struct{ URL string }
		if err != nil || json.Unmarshal([]byte(first), &at) != nil {
			_ = serve.Process.Kill()
			t.Fatalf("%v: %s\n%s", err, first, stderr.String())
		}
		b.hear("serve", []byte(first))
		call := func(token, method, path, body string) []byte {
			req, err := http.NewRequestWithContext(t.Context(), method, at.URL+path, strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Authorization", "Bearer "+token)
			req.Header.Set("Content-Type", "application/json")
			req.Header.Set("Accept", "application/json, text/event-stream")
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			raw, _ := io.ReadAll(resp.Body)
			b.hear(method+" "+path+", whose model "+with, append(fmt.Appendf(nil, "%v\n", resp.Header), raw...))
			return raw
		}
		for i, body := range []string{
			`{"mode":"chat","question":"hello"}`, `{"mode":"web_search","question":"How long is the Keldra Bridge?"}`,
			`{"mode":"deep_research","question":"How long is the Keldra Bridge?","no_input":true}`, `{"mode":"agent","agent":"weigher","question":"Weigh it","no_input":true}`,
			fmt.Sprintf(`{"mode":"web_search","question":"How long is the warranty of the pump?","in":{"paths":[%q]}}`, folder),
			`{"question":7}`, `{"mode":"nothing","question":"x"}`,
		} {
			who := []string{b.secret("operator"), token.Token}[i%2]
			var run struct{ ID string }
			if json.Unmarshal(call(who, "POST", "/api/runs", body), &run) != nil || run.ID == "" {
				continue
			}
			for _, path := range []string{"/events", "", "/report.md", "/report.html", "/report.json", "/bundle", "/bundle.zip", "/snapshots"} {
				call(who, "GET", "/api/runs/"+run.ID+path, "")
			}
			call(who, "POST", "/api/runs/"+run.ID+"/replay", "")
		}
		operator := b.secret("operator")
		call(operator, "POST", "/v1/chat/completions", `{"model":"chat","messages":[{"role":"user","content":"hello"}]}`)
		call(operator, "POST", "/v1/responses", `{"model":"web_search","input":"How long is the Keldra Bridge?"}`)
		call(operator, "POST", "/v1/embeddings", `{"model":"x","input":"hello"}`)
		call(operator, "POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search","arguments":{"query":"bridge"}}}`)
		for _, path := range []string{"/api/runs", "/metrics", "/api/tools", "/api/directory", "/api/doctor", "/api/mcp", "/openapi.json", "/health", "/ready", "/v1/models", "/api/tokens"} {
			call(operator, "GET", path, "")
		}
		call(b.secret("wrong token"), "GET", "/api/runs?token="+b.secret("wrong query"), "")
		call(operator, "GET", "/nothing?access_token="+b.secret("wrong query"), "")
		_ = serve.Process.Signal(os.Interrupt)
		rest, _ := io.ReadAll(lines)
		_ = serve.Wait()
		b.hear("serve", append(rest, stderr.Bytes()...))
	}

	b.hear("the traces", collector.Raw())
	if len(collector.Spans()) == 0 {
		t.Error("there are no traces")
	}
	logged := false
	err := filepath.WalkDir(data, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path)
		logged = logged || strings.HasSuffix(path, "dossier.log") && bytes.Contains(raw, []byte(`"msg":"request"`)) && bytes.Contains(raw, []byte("[redacted]"))
		b.hear("the file "+strings.TrimPrefix(path, data), raw)
		return err
	})
	if err != nil || !logged {
		t.Errorf("the log was not found, or has no requests in it: %v", err)
	}
	for _, place := range []string{"model", "collector", "brave", "tavily", "userinfo", "mcp header", "webhook query", "a2a"} {
		if !b.sent[place] {
			t.Errorf("the secret of %s was never used: what this test says of it is nothing", place)
		}
	}
	for where, text := range b.heard {
		for secret, place := range b.names {
			for _, form := range []string{secret, url.QueryEscape(secret), base64.StdEncoding.EncodeToString([]byte(secret)), base64.StdEncoding.EncodeToString([]byte("user:" + secret))} {
				if at := strings.Index(text.String(), form); at >= 0 {
					said := text.String()
					t.Errorf("the secret of %s is in %s: …%q…", place, where, said[max(0, at-150):min(len(said), at+len(form)+50)])
					break
				}
			}
		}
	}
}

// secret is that of a place, planted when it is first asked for.
func (b *birds) secret(place string) string {
	for secret, known := range b.names {
		if known == place {
			return secret
		}
	}
	return b.plant(place)
}
