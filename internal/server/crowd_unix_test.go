//go:build unix

package server_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"runtime"
	"sync"
	"syscall"
	"testing"
)

// idlers is how many connections do nothing.
const idlers = 3000

// Thousands of connections that do nothing, or stop in the middle of a request, keep
// nobody from being served, and are gone without a trace when they close.
func TestThousandsOfIdleConnections(t *testing.T) {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	many := min(idlers, (int(limit.Cur)-500)/2) // both ends are here
	if many < 100 {
		t.Fatalf("only %d files may be open", limit.Cur)
	}
	s := serve(t, nil)
	before := runtime.NumGoroutine()
	conns := make([]net.Conn, many)
	var opening sync.WaitGroup
	for part := range 4 {
		opening.Go(func() {
			for i := part; i < many; i += 4 {
				conn, err := net.Dial("tcp", s.public.URL()[len("http://"):])
				if err != nil {
					t.Error(err)
					return
				}
				conns[i] = conn
				var said string
				switch i % 3 {
				case 0: // a request, and then nothing
					said = "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"
				case 1: // half of one
					said = "POST /api/runs HTTP/1.1\r\nHost: local"
				}
				if _, err := io.WriteString(conn, said); err != nil {
					t.Error(err)
					return
				}
				if i%3 != 0 {
					continue
				}
				resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
				if err != nil || resp.StatusCode != http.StatusOK {
					t.Errorf("connection %d: %v", i, err)
				}
			}
		})
	}
	opening.Wait()
	for range 20 {
		if status, said := s.ask("operator-secret", "GET", "/api/runs", ""); status != http.StatusOK {
			t.Fatalf("%d %s", status, said)
		}
	}
	s.runOf("ann", "one two")
	for _, conn := range conns {
		if conn != nil {
			_ = conn.Close()
		}
	}
	for runtime.NumGoroutine() > before+20 { // those of clients that the test itself keeps
		runtime.Gosched()
	}
}
