package server_test

import (
	"bufio"
	"fmt"
	"net"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
)

// idleStream is the most that a stream to which nothing happens may take, in
// bytes: with the system's buffers and the rest of the program, ten thousand of them
// fit into 500 MiB. What lies on its stack while it waits decides: beyond 3 kB the
// stack is one of 16 kB.
func idleStream() int64 {
	if info, ok := debug.ReadBuildInfo(); ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"}) {
		return 60 << 10 // whoever looks for races has larger frames
	}
	return 40 << 10
}

// A stream to which nothing happens costs little.
func TestIdleStreamsAreSmall(t *testing.T) {
	s := serve(t, nil)
	rec := s.start("one wait two")
	const streams = 300
	before := inUse()
	var conns []*bufio.Reader
	for range streams {
		conn, err := net.Dial("tcp", strings.TrimPrefix(s.public.URL(), "http://"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		if _, err := fmt.Fprintf(conn, "GET /api/runs/%s/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer operator-secret\r\n\r\n", rec.ID); err != nil {
			t.Fatal(err)
		}
		in := bufio.NewReaderSize(conn, 256)
		for line := ""; !strings.HasPrefix(line, "id: 2"); { // by then it waits for more
			if line, err = in.ReadString('\n'); err != nil {
				t.Fatal(err)
			}
		}
		conns = append(conns, in)
	}
	each := (inUse() - before) / streams
	t.Logf("%d bytes for each stream", each)
	if each > idleStream() {
		t.Errorf("a stream takes %d bytes, more than %d", each, idleStream())
	}
	s.release <- struct{}{}
	for _, in := range conns {
		for line := ""; line != "event: end\n"; {
			var err error
			if line, err = in.ReadString('\n'); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// inUse is what the process uses of its memory, stacks included.
func inUse() int64 {
	for range 3 { // stacks shrink by half at a time
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapInuse + m.StackInuse)
}
