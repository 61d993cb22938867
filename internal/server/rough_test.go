package server_test

import (
	"bufio"
	"database/sql"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	_ "modernc.org/sqlite"

	"dossier"
	"dossier/internal/agenttest"
	"dossier/internal/followtest"
	"dossier/internal/server"
	"dossier/internal/server/agui"
	"dossier/internal/server/mcp"
	"dossier/internal/server/openai"
	"dossier/internal/server/responses"
	"dossier/internal/server/sgr"
	"dossier/internal/server/socketio"
	"dossier/mode"
	"dossier/run"
)

// cutting is a proxy that cuts each connection when the server has sent so many bytes
// over it.
func cutting(t *testing.T, to string, most func() int64) (url string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp", strings.TrimPrefix(to, "http://"))
			if err != nil {
				_ = near.Close()
				return
			}
			go func() { _, _ = io.Copy(far, near); _ = far.Close() }()
			go func() {
				_, _ = io.CopyN(near, far, most())
				_ = near.Close()
				_ = far.Close()
			}()
		}
	}()
	return "http://" + l.Addr().String()
}

// Readers behind a proxy that cuts connections again and again, in the middle of
// whatever comes, get everything once, while it happens and afterwards.
func TestProxyThatCuts(t *testing.T) {
	s := researches(t)
	draw := rand.New(rand.NewPCG(7, 7))
	sizes := make(chan int64)
	done := make(chan struct{})
	defer close(done)
	go func() {
		for {
			select {
			case sizes <- 300 + draw.Int64N(20_000):
			case <-done:
				return
			}
		}
	}()
	at := followtest.Site{URL: cutting(t, s.URL, func() int64 { return <-sizes }), Token: s.Ann, Client: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}}
	rec, log, waits := carriedOut(t, s, dossier.Request{Mode: "agent", Request: mode.Request{Question: agenttest.Task, Agent: "research_sgr_tool_calling_agent"}})
	parts := map[string]string{"sse": rec.ID, "socket.io": rec.ID, "responses": fmt.Sprintf("resp_%s_%d", rec.ID, waits[0])}
	for protocol, follow := range followtest.Protocols {
		cuts := 0
		got, err := followtest.Joined(t.Context(), follow, parts[protocol], func(cut error) (followtest.Site, error) {
			if cut != nil {
				cuts++
			}
			return at, nil
		}, nil)
		if err != nil {
			t.Fatal(err)
		}
		whole := readOn(t, follow, followtest.Site{URL: s.URL, Token: s.Ann}, parts[protocol], followtest.Begin)
		if !slices.Equal(got, whole) || protocol != "responses" && len(got) != len(log) || cuts == 0 {
			t.Errorf("over %s: %d messages of %d, with %d cuts", protocol, len(got), len(whole), cuts)
		}
	}
}

// all are the protocols of a server.
func all(e *dossier.Engine) []server.Protocol {
	return []server.Protocol{
		openai.Protocol(openai.Options{Modes: e.Modes(), Embed: e.Embed}), responses.Protocol(e.Modes()), sgr.Protocol(sgr.Options{}),
		mcp.Protocol(mcp.Options{Version: "test"}), socketio.Protocol(), agui.Protocol(),
	}
}

// Whatever is sent to a route that takes a body, the client is told in JSON what is
// wrong with it, nothing is started, and the server goes on.
func TestBadBodies(t *testing.T) {
	b := direct(t)
	s := serveOf(b, func(o *server.Options) { o.Protocols, o.MaxBody = all(b.engine), 1<<20 })
	rec := s.runOf("ann", "one")
	before, err := s.List(t.Context(), dossier.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	bad := map[string]string{
		"half an object": `{"question":`, "a word": `nonsense`, "a list": `[1,2]`, "a number": `7`, "a text": `"x"`, "nothing": ``, "NUL": "\x00", "no UTF-8": "{\"question\":\"\xff\xfe",
		"deep": strings.Repeat("[", 100_000), "deep objects": strings.Repeat(`{"question":`, 100_000), "two": `{}{}`, "huge": `{"question":"` + strings.Repeat("x", 2<<20) + `"}`,
		"wrong types": `{"question":{},"model":[],"messages":7,"input":{},"text":1,"at":[],"mode":{},"jsonrpc":2,"method":{},"params":7,"threadId":[],"user":[],"version":"x","name":{},"title":[],"arguments":7}`,
	}
	for _, path := range []string{
		"POST /api/runs", "POST /api/runs/{id}/answer", "POST /api/runs/{id}/steer", "POST /api/runs/{id}/fork", "PATCH /api/sessions/{session}", "POST /api/kb/search", "POST /api/kb/use",
		"POST /api/templates/x/publish", "POST /api/instances", "POST /api/tokens", "POST /v1/chat/completions", "POST /v1/embeddings", "POST /v1/responses",
		"POST /agents/sgr_agent_6f1c7a52-0000-4000-8000-000000000000/provide_clarification", "POST /agui", "POST /agui/chat", "POST /mcp", "POST /a2a/", "POST /socket.io/?EIO=4&transport=polling&sid=x",
	} {
		method, path, _ := strings.Cut(strings.NewReplacer("{id}", rec.ID, "{session}", rec.Session).Replace(path), " ")
		for name, body := range bad {
			status, said, err := s.try("operator-secret", method, path, body, "Content-Type", "application/json", "Accept", "application/json, text/event-stream")
			if err != nil {
				// A body that is not read to its end may find the connection closed
				// before the client has read the reply.
				if len(body) < 1<<20 {
					t.Errorf("%s %s with %s: %v", method, path, name, err)
				}
				continue
			}
			if status < 400 || status >= 500 {
				if path == "/mcp" && strings.Contains(said, `"error"`) { // JSON-RPC has its own
					continue
				}
				t.Errorf("%s %s with %s: %d %.200s", method, path, name, status, said)
			}
		}
	}
	after, err := s.List(t.Context(), dossier.Filter{})
	if err != nil || len(after) != len(before) {
		t.Errorf("%d runs were started, %v", len(after)-len(before), err)
	}
	if status, said := s.ask("", "GET", "/health", ""); status != http.StatusOK {
		t.Errorf("%d %s", status, said)
	}
}

// dial opens a connection to the server.
func (s *site) dial() net.Conn {
	s.t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.public.URL(), "http://"))
	if err != nil {
		s.t.Fatal(err)
	}
	return conn
}

// Clients that leave in the middle of a request, before its answer or in the middle of
// a stream leave nothing behind; runs that they have started go on.
func TestClientsThatLeaveInTheMiddle(t *testing.T) {
	b := direct(t)
	s := serveOf(b, func(o *server.Options) { o.Protocols = all(b.engine) })
	waits := s.start("one wait two")
	say := func(text string) net.Conn {
		conn := s.dial()
		if _, err := io.WriteString(conn, strings.ReplaceAll(text, "\n", "\r\n")); err != nil {
			t.Fatal(err)
		}
		return conn
	}
	const head = " HTTP/1.1\nHost: localhost\nAuthorization: Bearer operator-secret\n"
	for range 20 {
		for _, text := range []string{
			"POST /api/ru", "POST /api/runs" + head + "Content-Length: 1000\n\n{\"mode\":\"scripted\",\"question\":\"ne",
			"POST /api/runs" + head + "Transfer-Encoding: chunked\n\n10\n{\"mode\":\"s",
		} {
			_ = say(text).Close()
		}
		conn := say("GET /api/runs/" + waits.ID + "/events" + head + "\n")
		if _, err := bufio.NewReader(conn).ReadString('\n'); err != nil {
			t.Fatal(err)
		}
		if err := conn.(*net.TCPConn).SetLinger(0); err != nil { // it is torn off
			t.Fatal(err)
		}
		_ = conn.Close()
	}
	body := `{"model":"scripted","messages":[{"role":"user","content":"wait three"}]}`
	for n := range 3 {
		conn := say(fmt.Sprint("POST /v1/chat/completions", head, "Content-Length: ", len(body), "\n\n", body))
		for begun := 0; begun < n+2; {
			list, err := s.List(t.Context(), dossier.Filter{})
			if err != nil {
				t.Fatal(err)
			}
			begun = len(list)
		}
		_ = conn.Close()
	}
	for open := "1"; open != "0"; { // each request tells of those that are open
		_, said := s.ask("operator-secret", "GET", "/metrics", "")
		_, rest, _ := strings.Cut(said, "\ndossier_streams_open ")
		open, _, _ = strings.Cut(rest, "\n")
	}
	list, err := s.List(t.Context(), dossier.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	for range list {
		s.release <- struct{}{}
	}
	for _, rec := range list {
		s.until(rec.ID, run.Done)
	}
	if len(list) != 4 {
		t.Errorf("%d runs are there, half requests among them", len(list))
	}
}

// A clock that jumps while a worker is dead: leases seem to have ended long ago, or to
// last for hours. Whoever starts again takes the run up at once, and readers go on.
func TestClockJumpsOverARestart(t *testing.T) {
	for name, jump := range map[string]time.Duration{"ahead": 3 * time.Hour, "back": -3 * time.Hour} {
		first := open(t, t.TempDir())
		rec := first.start("one wait two")
		first.until(rec.ID, run.Running)
		dir := t.TempDir() // what a killed one leaves
		copied(t, filepath.Join(dir, "data"), first.dir)
		db, err := sql.Open("sqlite", filepath.Join(dir, "data", "dossier.db"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := db.Exec("UPDATE runs SET lease_until = lease_until - ?", int64(jump)); err != nil {
			t.Fatal(err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		second := serveOf(open(t, filepath.Join(dir, "data")), nil)
		if err := second.Resume(t.Context(), rec.ID, dossier.ResumeOptions{}); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		f := second.follow(rec.ID, 0)
		second.release <- struct{}{}
		seen, last := f.until(nil)
		if last.name != "end" {
			t.Errorf("%s: the last message is %+v", name, last)
		}
		second.whole(rec.ID, seen)
		close(first.release)
	}
}

// copied copies the files of a data directory; sockets stay where they are.
func copied(t *testing.T, to, from string) {
	t.Helper()
	err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		at := filepath.Join(to, strings.TrimPrefix(path, from))
		switch {
		case d.IsDir():
			return os.MkdirAll(at, 0o700)
		case !d.Type().IsRegular():
			return nil
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(at, raw, 0o600)
	})
	if err != nil {
		t.Fatal(err)
	}
}
