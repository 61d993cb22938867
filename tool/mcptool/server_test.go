package mcptool

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The test binary is also the program that is started as a server.
func TestMain(m *testing.M) {
	if mode := os.Getenv("MCPTOOL_TEST_SERVER"); mode != "" {
		os.Exit(serve(mode))
	}
	code := m.Run()
	if left := leftBehind(); code == 0 && left != "" {
		fmt.Fprintln(os.Stderr, "goroutines are left behind:\n"+left)
		code = 1
	}
	os.Exit(code)
}

// leftBehind waits for the goroutines of connections to end, and returns those
// that don't.
func leftBehind() string {
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	var left string
	for until := time.Now().Add(time.Minute); time.Now().Before(until); {
		buf := make([]byte, 4<<20)
		left = ""
		for g := range strings.SplitSeq(string(buf[:runtime.Stack(buf, true)]), "\n\n") {
			if strings.Contains(g, "mcp.(*streamableServerConn)") {
				continue // a server keeps sessions whose client left without a word
			}
			if strings.Contains(g, "internal/base/mcpconn.") || strings.Contains(g, "go-sdk/mcp.") || strings.Contains(g, "mcptool.(*") {
				left += g + "\n\n"
			}
		}
		if left == "" {
			return ""
		}
		<-time.After(10 * time.Millisecond)
	}
	return left
}

func serve(mode string) int {
	switch mode {
	case "mute":
		_, _ = io.Copy(io.Discard, os.Stdin)
		return 0
	case "stubborn": // neither the end of its input nor a signal ends it
		signal.Ignore(syscall.SIGTERM)
		select {}
	case "broken":
		fmt.Fprintln(os.Stderr, "can't open the database with password="+os.Getenv("DB_PASSWORD"))
		return 3
	}
	if mode == "chatty" {
		fmt.Println("Welcome to the server! It listens on stdio.")
	}
	if err := fullServer(context.Background()).Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		return 1
	}
	return 0
}

type empty struct{}

func add(s *mcp.Server, t *mcp.Tool, call func(context.Context) *mcp.CallToolResult) {
	mcp.AddTool(s, t, func(ctx context.Context, _ *mcp.CallToolRequest, _ empty) (*mcp.CallToolResult, any, error) {
		return call(ctx), nil, nil
	})
}

func says(texts ...string) *mcp.CallToolResult {
	r := &mcp.CallToolResult{Content: []mcp.Content{}}
	for _, t := range texts {
		r.Content = append(r.Content, &mcp.TextContent{Text: t})
	}
	return r
}

func suicide() {
	p, _ := os.FindProcess(os.Getpid())
	_ = p.Kill()
	select {}
}

// huge writes the beginning of a reply of 50 MB.
func huge(w io.Writer) error {
	_, err := io.WriteString(w, `{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"`)
	piece := bytes.Repeat([]byte("x"), 1<<20)
	for n := 0; n < 50 && err == nil; n++ {
		_, err = w.Write(piece)
	}
	return err
}

type echoed struct {
	Text string `json:"text"`
}

// fullServer has tools that do all that tools do wrong, until life ends.
func fullServer(life context.Context) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "full", Version: "1.2"}, nil)
	reads := &mcp.ToolAnnotations{ReadOnlyHint: true}
	mcp.AddTool(s, &mcp.Tool{Name: "echo", Title: "Echo", Description: "Says it again.", Annotations: reads}, func(_ context.Context, _ *mcp.CallToolRequest, in echoed) (*mcp.CallToolResult, echoed, error) {
		return says(in.Text), in, nil
	})
	add(s, &mcp.Tool{Name: "set", Annotations: &mcp.ToolAnnotations{IdempotentHint: true}}, func(context.Context) *mcp.CallToolResult { return says("set") })
	add(s, &mcp.Tool{Name: "pid", Annotations: reads}, func(context.Context) *mcp.CallToolResult { return says(strconv.Itoa(os.Getpid())) })
	add(s, &mcp.Tool{Name: "env", Annotations: reads}, func(context.Context) *mcp.CallToolResult { return says(strings.Join(os.Environ(), "\n")) })
	add(s, &mcp.Tool{Name: "pay"}, func(context.Context) *mcp.CallToolResult {
		fmt.Fprintln(os.Stderr, "out of memory; token="+os.Getenv("SERVICE_TOKEN"))
		suicide()
		return nil
	})
	add(s, &mcp.Tool{Name: "flaky", Annotations: reads}, func(context.Context) *mcp.CallToolResult {
		f, err := os.OpenFile(os.Getenv("ONCE"), os.O_CREATE|os.O_EXCL, 0o600)
		if err == nil {
			_ = f.Close()
			suicide()
		}
		return says("alive")
	})
	add(s, &mcp.Tool{Name: "hang"}, func(ctx context.Context) *mcp.CallToolResult {
		select {
		case <-ctx.Done():
		case <-life.Done():
		}
		return says("late")
	})
	add(s, &mcp.Tool{Name: "freeze", Annotations: reads}, func(context.Context) *mcp.CallToolResult {
		_ = os.Stdin.Close() // it hears nothing any more
		p, _ := os.FindProcess(os.Getpid())
		_ = p.Signal(stopped)
		select {}
	})
	add(s, &mcp.Tool{Name: "huge", Annotations: reads}, func(context.Context) *mcp.CallToolResult {
		_ = huge(os.Stdout)
		return nil
	})
	add(s, &mcp.Tool{Name: "grow"}, func(context.Context) *mcp.CallToolResult {
		add(s, &mcp.Tool{Name: "new"}, func(context.Context) *mcp.CallToolResult { return says("new") })
		return says("grown")
	})
	add(s, &mcp.Tool{Name: "family"}, func(context.Context) *mcp.CallToolResult {
		self, _ := os.Executable()
		child := exec.Command(self)
		child.Env = []string{"MCPTOOL_TEST_SERVER=stubborn"}
		child.Stdout, child.Stderr = os.Stdout, os.Stderr // it holds our pipes
		if err := child.Start(); err != nil {
			return says(err.Error())
		}
		return says(strconv.Itoa(child.Process.Pid))
	})
	add(s, &mcp.Tool{Name: "leave"}, func(context.Context) *mcp.CallToolResult {
		os.Exit(0)
		return nil
	})
	add(s, &mcp.Tool{Name: "wrong"}, func(context.Context) *mcp.CallToolResult {
		r := says("no such \x1b[31mcity\x07")
		r.IsError = true
		return r
	})
	add(s, &mcp.Tool{Name: "media", Annotations: reads}, func(context.Context) *mcp.CallToolResult {
		return &mcp.CallToolResult{Content: []mcp.Content{
			&mcp.TextContent{Text: "a\u200bb \U000E0041\u202eis <b>"},
			&mcp.ImageContent{MIMEType: "image/png", Data: make([]byte, 1000)},
			&mcp.AudioContent{MIMEType: "audio/wav", Data: make([]byte, 10)},
			&mcp.ResourceLink{URI: "file:///a", Name: "a", Description: "the letter"},
			&mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: "file:///b", Text: "inside"}},
			&mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: "file:///c", MIMEType: "application/zip", Blob: []byte("zip")}},
		}}
	})
	return s
}

// child is a server that is started as a program.
func child(t *testing.T, name, mode string, env map[string]string) Server {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{"MCPTOOL_TEST_SERVER": mode}
	maps.Copy(all, env)
	return Server{Name: name, Command: self, Env: all}
}

// over serves over HTTP.
func over(t *testing.T, name string, s *mcp.Server) Server {
	t.Helper()
	inner := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil)
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		if bytes.Contains(body, []byte(`"name":"huge"`)) {
			w.Header().Set("Content-Type", "application/json")
			_ = huge(w)
			return
		}
		inner.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		h.CloseClientConnections()
		h.Close()
	})
	return Server{Name: name, URL: h.URL}
}

func connect(t *testing.T, o Options, servers ...Server) *Client {
	t.Helper()
	c := New(t.Context(), servers, o)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func alive(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil || p.Signal(syscall.Signal(0)) != nil {
		return false
	}
	// A zombie that nobody has waited for is dead all the same.
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || !bytes.Contains(stat, []byte(") Z "))
}

// gone waits until a process is.
func gone(t *testing.T, pid int) {
	t.Helper()
	for until := time.Now().Add(time.Minute); alive(pid); <-time.After(5 * time.Millisecond) {
		if time.Now().After(until) {
			t.Fatalf("process %d is still there", pid)
		}
	}
}
