package cli_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// serving is a server that a script has started.
type serving struct {
	keys   []string // of the variables that it gets
	cmd    *exec.Cmd
	stderr bytes.Buffer
	rest   chan []byte // what it writes after the first line
}

type servingKey struct{}

// startServer starts dossier serve on a free port and sets $URL to where it
// listens, and $URL_PORT to the port of that: serve ARGS...; with open as the first of them it is dossier open.
func startServer(ts *testscript.TestScript, _ bool, args []string) {
	s := ts.Value(servingKey{}).(*serving)
	*s = serving{keys: s.keys, rest: make(chan []byte, 1)}
	command := "serve"
	if len(args) > 0 && args[0] == "open" {
		command, args = args[0], args[1:]
	}
	s.cmd = exec.Command("dossier", append([]string{command, "--json", "--port", "0"}, args...)...)
	s.cmd.Dir, s.cmd.Stderr = ts.MkAbs("."), &s.stderr
	for _, key := range s.keys {
		if value := ts.Getenv(key); value != "" {
			s.cmd.Env = append(s.cmd.Env, key+"="+value)
		}
	}
	out, err := s.cmd.StdoutPipe()
	ts.Check(err)
	ts.Check(s.cmd.Start())
	ts.Defer(func() { _ = s.cmd.Process.Kill() })
	first := make(chan string, 1)
	go func() {
		in := bufio.NewReader(out)
		line, _ := in.ReadString('\n')
		first <- line
		rest, _ := io.ReadAll(in)
		s.rest <- rest
	}()
	select {
	case line := <-first:
		var said struct{ URL string }
		if err := json.Unmarshal([]byte(line), &said); err != nil {
			_ = s.cmd.Wait()
			ts.Fatalf("the server said %q: %v\n%s", line, err, s.stderr.String())
		}
		ts.Setenv("URL", said.URL)
		ts.Setenv("URL_PORT", said.URL[strings.LastIndexByte(said.URL, ':')+1:])
	case <-time.After(stuck):
		ts.Fatalf("the server said nothing")
	}
}

// stopServer interrupts the server, which has to end well, and shows what it said.
func stopServer(ts *testscript.TestScript, _ bool, _ []string) {
	s := ts.Value(servingKey{}).(*serving)
	ts.Check(s.cmd.Process.Signal(os.Interrupt))
	rest := <-s.rest
	err := s.cmd.Wait()
	_, _ = ts.Stdout().Write(rest)
	_, _ = ts.Stderr().Write(s.stderr.Bytes())
	if err != nil {
		ts.Fatalf("the server ended with %v\n%s", err, s.stderr.String())
	}
}

// callServer is a program that makes a request and prints status and body: call
// [-token TOKEN] [-header NAME:VALUE] METHOD URL [BODY].
func callServer() {
	token := flag.String("token", "", "")
	header := flag.String("header", "", "")
	flag.Parse()
	req, err := http.NewRequest(flag.Arg(0), flag.Arg(1), strings.NewReader(flag.Arg(2)))
	if err != nil {
		panic(err)
	}
	if *token != "" {
		req.Header.Set("Authorization", "Bearer "+*token)
	}
	if name, value, ok := strings.Cut(*header, ":"); ok {
		if req.Header.Set(name, value); name == "Host" {
			req.Host = value
		}
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(resp.Status)
	_, err = io.Copy(os.Stdout, resp.Body)
	fmt.Println()
	if err != nil || resp.StatusCode >= http.StatusBadRequest {
		os.Exit(1)
	}
	os.Exit(0)
}
