package mcptool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"dossier/run"
	"dossier/tool"
)

func names(tools []tool.Tool) string {
	var out []string
	for _, t := range tools {
		out = append(out, t.Spec().Name)
	}
	return strings.Join(out, " ")
}

// get returns a tool of a server.
func get(t *testing.T, c *Client, server, name string) tool.Tool {
	t.Helper()
	tools, err := c.Tools(t.Context(), server)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(tools, func(o tool.Tool) bool { return o.Spec().Name == name })
	if i < 0 {
		t.Fatalf("no %s among %s", name, names(tools))
	}
	return tools[i]
}

func call(t *testing.T, one tool.Tool, args string) (tool.Result, error) {
	t.Helper()
	return one.Call(t.Context(), &tool.Call{Args: json.RawMessage(args)})
}

// text calls a tool that has to answer with one text.
func text(t *testing.T, one tool.Tool, args string) string {
	t.Helper()
	r, err := call(t, one, args)
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	if err := json.Unmarshal([]byte(r.Text), &texts); err != nil || len(texts) != 1 {
		t.Fatalf("%v in %.200s", err, r.Text)
	}
	return texts[0]
}

func number(t *testing.T, s string) int {
	t.Helper()
	n, err := strconv.Atoi(s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestSpecs(t *testing.T) {
	for _, s := range []Server{child(t, "local", "full", nil), over(t, "far", fullServer(t.Context()))} {
		c := connect(t, Options{}, s)
		tools, err := c.Tools(t.Context(), s.Name)
		if err != nil {
			t.Fatal(err)
		}
		if got := names(tools); got != "echo env family flaky freeze grow hang huge leave media pay pid set wrong" {
			t.Error(got)
		}
		for name, want := range map[string]run.Effect{"echo": run.Read, "set": run.Idempotent, "pay": run.Effectful} {
			if got := get(t, c, s.Name, name).Spec(); got.Effect != want || got.Origin != "mcp:"+s.Name || got.Timeout != tool.DefaultTimeout {
				t.Errorf("%+v", got)
			}
		}
		echo := get(t, c, s.Name, "echo")
		if d := echo.Spec().Description; d != "Echo. Says it again." {
			t.Error(d)
		}
		if _, err := echo.Spec().Schema.Read(`{"text": "x"}`); err != nil {
			t.Error(err)
		}
		if _, err := echo.Spec().Schema.Read(`{}`); err == nil {
			t.Error("arguments without text fit")
		}
		r, err := call(t, echo, `{"text":"héllo"}`)
		if err != nil || r.Text != `["héllo"]` || string(r.Data) != `{"text":"héllo"}` {
			t.Errorf("%+v, %v", r, err)
		}
		if again, _ := c.Tools(t.Context(), s.Name); names(again) != names(tools) {
			t.Error("another order")
		}
	}
}

func TestResults(t *testing.T) {
	c := connect(t, Options{}, over(t, "far", fullServer(t.Context())))
	r, err := call(t, get(t, c, "far", "media"), `{}`)
	if want := `["ab is <b>","[an image, image/png, 1000 bytes]","[a sound, audio/wav, 10 bytes]","a file:///a the letter","file:///b\ninside","[a file, file:///c, application/zip, 3 bytes]"]`; err != nil || r.Text != want {
		t.Errorf("%s, %v", r.Text, err)
	}
	if _, err := call(t, get(t, c, "far", "wrong"), `{}`); err == nil || err.Error() != "wrong failed: no such city" {
		t.Errorf("%q", err)
	}
	if _, err := call(t, get(t, c, "far", "echo"), `{"text": 5}`); err == nil || !strings.HasPrefix(err.Error(), "echo failed: ") {
		t.Error(err)
	}
	long := Limited([]tool.Tool{get(t, c, "far", "echo")}, 100)[0]
	args, _ := json.Marshal(echoed{Text: strings.Repeat("жук\n", 1000)})
	r, err = call(t, long, string(args))
	var texts []string
	if err != nil || len([]rune(r.Text)) > 100 || json.Unmarshal([]byte(r.Text), &texts) != nil || !strings.HasSuffix(texts[0], " more characters]") {
		t.Errorf("%s, %v", r.Text, err)
	}
}

// A server that is killed in the middle of a call gives an error that says that
// nothing is known, without its key, and the next call starts it anew.
func TestKilledInACall(t *testing.T) {
	c := connect(t, Options{}, child(t, "local", "full", map[string]string{"SERVICE_TOKEN": "t0ps3cret-value"}))
	first := number(t, text(t, get(t, c, "local", "pid"), `{}`))
	_, err := call(t, get(t, c, "local", "pay"), `{}`)
	if err == nil || !strings.Contains(err.Error(), "is unknown: find out") || !strings.Contains(err.Error(), "out of memory") || strings.Contains(err.Error(), "t0ps3cret") {
		t.Error(err)
	}
	second := number(t, text(t, get(t, c, "local", "pid"), `{}`))
	gone(t, first)
	if first == second || !alive(second) {
		t.Error(first, second)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if alive(second) {
		t.Error("it lives on after Close")
	}
	if _, err := call(t, get2(c), `{}`); err == nil {
		t.Error("it answered after Close")
	}
}

// get2 is a tool of a client that was closed.
func get2(c *Client) tool.Tool { return c.servers[0].tool(&mcp.Tool{Name: "pid"}) }

// A call that only reads is made again by itself.
func TestReadsAreRepeated(t *testing.T) {
	once := filepath.Join(t.TempDir(), "once")
	c := connect(t, Options{}, child(t, "local", "full", map[string]string{"ONCE": once}))
	if got := text(t, get(t, c, "local", "flaky"), `{}`); got != "alive" {
		t.Error(got)
	}
}

func TestSilence(t *testing.T) {
	t.Parallel()
	for _, s := range []Server{child(t, "s", "full", nil), over(t, "s", fullServer(t.Context()))} {
		c := connect(t, Options{Timeout: 4 * time.Second}, s) // enough for a tool that answers
		if _, err := c.Tools(t.Context(), "s"); err != nil {
			t.Fatal(err)
		}
		_, err := call(t, get(t, c, "s", "hang"), `{}`)
		if err == nil || !strings.Contains(err.Error(), "it gave no answer in 4s") || !strings.Contains(err.Error(), "is unknown") {
			t.Error(err)
		}
		// The rest of the server is still there.
		if got := text(t, get(t, c, "s", "echo"), `{"text":"x"}`); got != "x" {
			t.Error(got)
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		why := errors.New("the run was stopped")
		time.AfterFunc(10*time.Millisecond, func() { cancel(why) })
		if _, err := get(t, c, "s", "hang").Call(ctx, &tool.Call{Args: json.RawMessage(`{}`)}); !errors.Is(err, why) {
			t.Error(err)
		}
	}
}

// A program that stands still is noticed and started anew.
func TestFrozen(t *testing.T) {
	t.Parallel()
	c := connect(t, Options{Timeout: 5 * time.Second}, child(t, "local", "full", nil))
	pid := number(t, text(t, get(t, c, "local", "pid"), `{}`))
	if _, err := call(t, get(t, c, "local", "freeze"), `{}`); err == nil {
		t.Error("it answered")
	}
	gone(t, pid)
	if got := text(t, get(t, c, "local", "echo"), `{"text":"x"}`); got != "x" {
		t.Error(got)
	}
}

func TestHuge(t *testing.T) {
	t.Parallel()
	for _, s := range []Server{child(t, "s", "full", nil), over(t, "s", fullServer(t.Context()))} {
		c := connect(t, Options{}, s)
		if _, err := call(t, get(t, c, "s", "huge"), `{}`); err == nil || !strings.Contains(err.Error(), "longer than 8 MB") {
			t.Error(err)
		}
		if got := text(t, get(t, c, "s", "echo"), `{"text":"x"}`); got != "x" {
			t.Error(got)
		}
	}
}

// Whoever a server started is gone with it, also when it ends by itself.
func TestFamily(t *testing.T) {
	c := connect(t, Options{}, child(t, "local", "full", nil))
	grandchild := number(t, text(t, get(t, c, "local", "family"), `{}`))
	if !alive(grandchild) {
		t.Fatal("it never was")
	}
	if _, err := call(t, get(t, c, "local", "leave"), `{}`); err == nil {
		t.Error("it answered")
	}
	gone(t, grandchild)
	grandchild = number(t, text(t, get(t, c, "local", "family"), `{}`))
	_ = c.Close()
	gone(t, grandchild)
}

// The end of the program's context ends what was started.
func TestLife(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	c := New(ctx, []Server{child(t, "local", "full", nil)}, Options{})
	pid := number(t, text(t, get(t, c, "local", "pid"), `{}`))
	cancel()
	gone(t, pid)
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if _, troubles := all(t.Context(), c); len(troubles) != 1 {
		t.Error(troubles)
	}
}

func TestEnvironment(t *testing.T) {
	t.Setenv("OUR_SECRET", "x")
	c := connect(t, Options{}, child(t, "local", "full", map[string]string{"API_KEY": "k3y-of-the-service", "GIVEN": "yes"}))
	got := text(t, get(t, c, "local", "env"), `{}`)
	if strings.Contains(got, "OUR_SECRET") || !strings.Contains(got, "PATH=") || !strings.Contains(got, "GIVEN=yes") {
		t.Error(got)
	}
	if strings.Contains(got, "k3y-of") {
		t.Error("the key is in the result")
	}
}

// A program that greets whoever started it is understood all the same.
func TestChatty(t *testing.T) {
	c := connect(t, Options{}, child(t, "local", "chatty", nil))
	if got := text(t, get(t, c, "local", "echo"), `{"text":"x"}`); got != "x" {
		t.Error(got)
	}
}

func TestPages(t *testing.T) {
	s := mcp.NewServer(&mcp.Implementation{Name: "pages"}, &mcp.ServerOptions{PageSize: 2})
	for i := range 7 {
		add(s, &mcp.Tool{Name: fmt.Sprintf("t%d", i)}, func(context.Context) *mcp.CallToolResult { return says("x") })
	}
	c := connect(t, Options{}, over(t, "far", s))
	tools, err := c.Tools(t.Context(), "far")
	if err != nil || names(tools) != "t0 t1 t2 t3 t4 t5 t6" {
		t.Error(names(tools), err)
	}
}

// A server whose list never ends is listened to for a while.
func TestEndlessList(t *testing.T) {
	s := fullServer(t.Context())
	s.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			result, err := next(ctx, method, req)
			if list, ok := result.(*mcp.ListToolsResult); ok && list != nil {
				list.NextCursor = "more"
			}
			if err != nil && method == "tools/list" {
				return &mcp.ListToolsResult{Tools: []*mcp.Tool{{Name: "again", InputSchema: json.RawMessage(`{"type":"object"}`)}}, NextCursor: "more"}, nil
			}
			return result, err
		}
	})
	c := connect(t, Options{}, over(t, "far", s))
	tools, err := c.Tools(t.Context(), "far")
	if err != nil || len(tools) != 15 {
		t.Error(len(tools), err)
	}
}

// A list that is too long is told as such, not as silence.
func TestAListTooLong(t *testing.T) {
	s := fullServer(t.Context())
	s.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			if method == "tools/list" {
				return &mcp.ListToolsResult{Tools: []*mcp.Tool{{Name: "x", Description: strings.Repeat("x", 9<<20), InputSchema: json.RawMessage(`{"type":"object"}`)}}}, nil
			}
			return next(ctx, method, req)
		}
	})
	c := connect(t, Options{}, over(t, "far", s))
	_, err := c.Tools(t.Context(), "far")
	if err == nil || !strings.Contains(err.Error(), "longer than 8 MB") || strings.Contains(err.Error(), "no answer") {
		t.Error(err)
	}
}

func TestBrokenSchemas(t *testing.T) {
	local := filepath.Join(t.TempDir(), "schema.json")
	if err := os.WriteFile(local, []byte(`{"type":"string"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	odd := []*mcp.Tool{
		{Name: "a.b/c d", InputSchema: json.RawMessage(`{"type":"object","properties":{"x":{"type":"colour"}}}`)},
		{Name: "array", InputSchema: json.RawMessage(`{"type":"array"}`)},
		{Name: "file", InputSchema: json.RawMessage(fmt.Sprintf(`{"type":"object","properties":{"x":{"$ref":%q}}}`, "file://"+filepath.ToSlash(local)))},
		{Name: "lookahead", InputSchema: json.RawMessage(`{"type":"object","properties":{"x":{"type":"string","pattern":"(?=a)b"}}}`)},
		{Name: "null", InputSchema: json.RawMessage(`null`)},
		{Name: "text", InputSchema: json.RawMessage(`"object"`)},
		{Name: "untyped", InputSchema: json.RawMessage(`{"properties":{"x":{"type":"string"}},"required":["x"]}`)},
		{Name: "untyped", InputSchema: json.RawMessage(`{}`)},
		{Name: strings.Repeat("й", 100), Description: strings.Repeat("long ", 1000), InputSchema: json.RawMessage(`{"type":"object"}`)},
	}
	s := fullServer(t.Context())
	s.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			result, err := next(ctx, method, req)
			if list, ok := result.(*mcp.ListToolsResult); ok {
				list.Tools = odd
			}
			return result, err
		}
	})
	c := connect(t, Options{}, over(t, "far", s))
	tools, err := c.Tools(t.Context(), "far")
	if err != nil || names(tools) != "a_b_c_d array file lookahead null text untyped tool" {
		t.Fatal(names(tools), err)
	}
	for _, one := range tools {
		spec := one.Spec()
		own := spec.Name == "untyped" || spec.Name == "tool"
		if own == strings.Contains(spec.Description, "infer them") {
			t.Errorf("%s: %s", spec.Name, spec.Description)
		}
		if _, err := spec.Schema.Read(`{"y": 1}`); (err != nil) != (spec.Name == "untyped") {
			t.Errorf("%s: %v", spec.Name, err)
		}
		if len([]rune(spec.Description)) > mostDescription+4100 {
			t.Errorf("%s: %d characters", spec.Name, len([]rune(spec.Description)))
		}
	}
}

func TestHeaders(t *testing.T) {
	inner := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return fullServer(t.Context()) }, nil)
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer k3y-of-the-service" {
			http.Error(w, "who are you, "+r.Header.Get("Authorization"), http.StatusUnauthorized)
			return
		}
		inner.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		h.CloseClientConnections()
		h.Close()
	})
	c := connect(t, Options{},
		Server{Name: "known", URL: h.URL, Headers: map[string]string{"Authorization": "Bearer k3y-of-the-service"}},
		Server{Name: "unknown", URL: h.URL, Headers: map[string]string{"Authorization": "Bearer 0ther-value"}})
	if got := text(t, get(t, c, "known", "echo"), `{"text":"x k3y-of-the-service"}`); got != "x [redacted]" {
		t.Error(got)
	}
	_, troubles := all(t.Context(), c)
	if len(troubles) != 1 || troubles[0].Server != "unknown" || !strings.Contains(troubles[0].Problem, "HTTP 401") || !strings.Contains(troubles[0].Hint, "headers") {
		t.Errorf("%+v", troubles)
	}
}

func TestAllAndStatus(t *testing.T) {
	t.Parallel()
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte("<html>hello"))
	}))
	defer page.Close()
	dead := httptest.NewServer(http.NotFoundHandler())
	dead.Close()
	missing := child(t, "missing", "full", nil)
	missing.Command += "-that-is-not-there"
	c := connect(t, Options{},
		over(t, "b", fullServer(t.Context())), over(t, "a", fullServer(t.Context())), child(t, "broken", "broken", map[string]string{"DB_PASSWORD": "hunter2-hunter2"}),
		Server{Name: "page", URL: page.URL}, Server{Name: "dead", URL: dead.URL + "/?key=s3cret-in-the-address"}, missing)
	mute := connect(t, Options{Connect: 200 * time.Millisecond}, child(t, "mute", "mute", nil))
	tools, troubles := all(t.Context(), c)
	_, silent := all(t.Context(), mute)
	troubles = append(troubles, silent...)
	if len(tools) != 28 || tools[0].Spec().Name != "echo" || tools[14].Spec().Name != "b_echo" || tools[14].Spec().Origin != "mcp:b" {
		t.Error(names(tools))
	}
	if got := text(t, tools[14], `{"text":"x"}`); got != "x" {
		t.Error(got)
	}
	if _, err := tool.NewSet(tools...); err != nil {
		t.Error(err)
	}
	want := []string{
		"broken: it ended during the handshake; its last words: can't open the database with password=[redacted]",
		"dead: it can't be reached: ",
		"missing: its program ",
		"page: a web page answered instead",
		"mute: it did not answer the handshake in 200ms",
	}
	if len(troubles) != len(want) {
		t.Fatalf("%+v", troubles)
	}
	for i, tr := range troubles {
		if !strings.HasPrefix(tr.Error(), "MCP server "+want[i]) || tr.Hint == "" || strings.Contains(tr.Error(), "s3cret") {
			t.Errorf("%+v", tr)
		}
	}
	for _, s := range append(c.Status(t.Context()), mute.Status(t.Context())...) {
		good := s.Server == "a" || s.Server == "b"
		if s.OK != good || good && (s.Tools != 14 || s.ServerInfo != "full 1.2") || !good && (s.Error == "" || s.Hint == "") {
			t.Errorf("%+v", s)
		}
	}
	if _, err := c.Tools(t.Context(), "none"); err == nil || !strings.Contains(err.Error(), "those there are: a, b, broken") {
		t.Error(err)
	}
}

// A server that is restarted over HTTP has forgotten the session, and so can't
// have carried out the call: also one with an effect is made again.
func TestForgotten(t *testing.T) {
	var paid atomic.Int32
	handler := func() http.Handler {
		s := mcp.NewServer(&mcp.Implementation{Name: "shop"}, nil)
		add(s, &mcp.Tool{Name: "pay"}, func(context.Context) *mcp.CallToolResult {
			paid.Add(1)
			return says("paid")
		})
		// The newest protocol knows no sessions that could be forgotten.
		s.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
			return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
				if method == "server/discover" {
					return nil, errors.New("unknown method")
				}
				return next(ctx, method, req)
			}
		})
		return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil)
	}
	var current atomic.Pointer[http.Handler]
	set := func() {
		h := handler()
		current.Store(&h)
	}
	set()
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { (*current.Load()).ServeHTTP(w, r) }))
	t.Cleanup(func() {
		h.CloseClientConnections()
		h.Close()
	})
	c := connect(t, Options{}, Server{Name: "shop", URL: h.URL})
	pay := get(t, c, "shop", "pay")
	for n := range int32(3) {
		if got := text(t, pay, `{}`); got != "paid" || paid.Load() != n+1 {
			t.Error(got, paid.Load())
		}
		set()
	}
}

func TestListChanges(t *testing.T) {
	for _, s := range []Server{child(t, "s", "full", nil), over(t, "s", fullServer(t.Context()))} {
		changed := make(chan string, 10)
		c := connect(t, Options{Changed: func(server string) { changed <- server }}, s)
		grow := get(t, c, "s", "grow")
		if got := text(t, grow, `{}`); got != "grown" {
			t.Error(got)
		}
		if got := <-changed; got != "s" {
			t.Error(got)
		}
		if got := text(t, get(t, c, "s", "new"), `{}`); got != "new" {
			t.Error(got)
		}
	}
}

func TestStubborn(t *testing.T) {
	t.Parallel()
	c := connect(t, Options{Connect: 100 * time.Millisecond}, child(t, "local", "stubborn", nil))
	if _, troubles := all(t.Context(), c); len(troubles) != 1 {
		t.Error(troubles)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}
