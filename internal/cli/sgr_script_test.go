package cli_test

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// served is a `dossier serve` that a script has started.
type served struct {
	process *exec.Cmd
	said    bytes.Buffer // on standard error
	shown   []byte       // on standard output
	read    chan struct{}
}

type servedKey struct{}

// handedOn are the variables of a script that its server gets.
var handedOn = []string{
	"PATH", "HOME", "LANG", "TMPDIR", "OPENAI_BASE_URL", "OPENAI_API_KEY", "DOSSIER_SEARCH_ENGINES",
	"HOST", "PORT", "CONFIG_FILE", "AGENTS_FILE", "LOGGING_FILE",
}

var listening = regexp.MustCompile(`http://\S+`)

// listen DIR ARGS... starts `dossier serve` with the arguments in a directory, and
// waits until it listens; URL is where.
func listen(ts *testscript.TestScript, _ bool, args []string) {
	program := ""
	for _, dir := range filepath.SplitList(ts.Getenv("PATH")) {
		at := filepath.Join(dir, "dossier")
		if _, err := os.Stat(at); program == "" && err == nil {
			program = at
		}
	}
	s := &served{process: exec.Command(program, append([]string{"serve"}, args[1:]...)...), read: make(chan struct{})}
	s.process.Dir, s.process.Stderr = ts.MkAbs(args[0]), &s.said
	for _, name := range handedOn {
		if value := ts.Getenv(name); value != "" {
			s.process.Env = append(s.process.Env, name+"="+value)
		}
	}
	out, err := s.process.StdoutPipe()
	ts.Check(err)
	ts.Check(s.process.Start())
	ts.Defer(func() { _ = s.process.Process.Kill() })
	lines := bufio.NewReader(out)
	first, err := lines.ReadString('\n')
	if err != nil {
		_ = s.process.Wait()
		ts.Fatalf("the server does not listen: %s%s", first, s.said.String())
	}
	go func() {
		defer close(s.read)
		rest, _ := io.ReadAll(lines)
		s.shown = append([]byte(first), rest...)
	}()
	ts.Setenv("URL", listening.FindString(first))
	*ts.Value(servedKey{}).(**served) = s
}

// halt interrupts the server, and puts what it has shown and said into the files
// serve.out and serve.err.
func halt(ts *testscript.TestScript, _ bool, _ []string) {
	s := *ts.Value(servedKey{}).(**served)
	ts.Check(s.process.Process.Signal(os.Interrupt))
	select {
	case <-s.read:
	case <-time.After(stuck):
		ts.Fatalf("the server does not stop")
	}
	ts.Check(s.process.Wait())
	ts.Check(os.WriteFile(ts.MkAbs("serve.out"), s.shown, 0o600))
	ts.Check(os.WriteFile(ts.MkAbs("serve.err"), s.said.Bytes(), 0o600))
}

// request STATUS METHOD PATH [BODY] asks the server, which has to answer with the
// status. The file reply gets the body, and AGENT the agent that is named in the
// head.
func request(ts *testscript.TestScript, _ bool, args []string) {
	body := ""
	if len(args) > 3 {
		body = args[3]
	}
	req, err := http.NewRequest(args[1], ts.Getenv("URL")+args[2], strings.NewReader(body))
	ts.Check(err)
	client := &http.Client{Timeout: stuck}
	resp, err := client.Do(req)
	ts.Check(err)
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	ts.Check(err)
	if want, err := strconv.Atoi(args[0]); err != nil || resp.StatusCode != want {
		ts.Fatalf("%s %s: %d: %s", args[1], args[2], resp.StatusCode, raw)
	}
	ts.Check(os.WriteFile(ts.MkAbs("reply"), raw, 0o600))
	if id := resp.Header.Get("X-Agent-ID"); id != "" {
		ts.Setenv("AGENT", id)
	}
}
