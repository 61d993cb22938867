// Command dossier-llmtest is a model server that needs no key: it answers
// every call at once, by a script or by deterministic default replies.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"dossier/llm/llmtest"
)

const usage = `dossier-llmtest is a model server for trying Dossier without a key and for
testing how programs cope with models that fail. It speaks OpenAI's, Anthropic's
and GigaChat's protocols; the same request always gets the same reply.

Usage:
  dossier-llmtest [flags]

Flags:
  -addr HOST:PORT   where to listen (127.0.0.1:8089; port 0 picks a free one)
  -public           allow an -addr that other machines can reach
  -script FILE      rules for replies and faults, in YAML or JSON
  -latency D        wait before each reply, e.g. 200ms
  -seed N           seed of the faults with a probability
  -log FILE         append each call to FILE as a line of JSON

Try it:
  dossier-llmtest &
  curl -s 127.0.0.1:8089/v1/chat/completions \
    -d '{"model":"test","messages":[{"role":"user","content":"hello"}]}'

Without a script it answers in the language of the question, fills in any JSON
schema, and calls the first tool when a call is required. A script changes that.
Rules are tried in order; a rule without a reply lets the next ones give it:

  models: [test, small]          # any other name gets a 404
  support: {json_schema: refuse} # or ignore; also json_object, tools, stream
  limits: [{at: 0s, rps: 20}, {at: 40s, rps: 5, concurrency: 4}]
  rules:
    - schema: plan               # name of the JSON schema or of the forced tool
      reply: {json: {steps: [search, read]}}
    - contains: weather          # in the last user message
      tool_results: 0            # so many tool results in the conversation
      reply: {tool_calls: [{name: web_search, arguments: {query: "${question}"}}]}
    - contains: weather
      reply: {text: It rains.}
    - model: writer              # models: {writer: {model: writer}} tells roles apart
      turn: 3                    # the third such call
      fault: {kind: rate_limit, retry_after: 2s}
    - fault: {kind: cut, after: 2, probability: 0.1}

Faults:
  refusals   rate_limit quota status auth no_model too_long html
  the wire   slow stall keep_alive endless cut eof malformed stream_error
             content_type empty
  the words  broken_json fenced_json truncated_json wrong_schema repeated_ids
             huge invalid_utf8
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := run(ctx, os.Args[1:], os.Stdout)
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
	case errors.As(err, new(usageError)):
		fmt.Fprintf(os.Stderr, "dossier-llmtest: %v\nRun dossier-llmtest -help for the flags.\n", err)
		os.Exit(2)
	default:
		fmt.Fprintf(os.Stderr, "dossier-llmtest: %v\n", err)
		os.Exit(1)
	}
}

// usageError is a mistake in the command line.
type usageError struct{ error }

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("dossier-llmtest", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	addr := flags.String("addr", "127.0.0.1:8089", "")
	public := flags.Bool("public", false, "")
	scriptFile := flags.String("script", "", "")
	latency := flags.Duration("latency", 0, "")
	seed := flags.Uint64("seed", 0, "")
	logFile := flags.String("log", "", "")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			fmt.Fprint(out, usage)
			return err
		}
		return usageError{err}
	}
	if flags.NArg() > 0 {
		return usageError{fmt.Errorf("unexpected argument %q", flags.Arg(0))}
	}

	var script llmtest.Script
	if *scriptFile != "" {
		var err error
		if script, err = llmtest.Load(*scriptFile); err != nil {
			return err
		}
	}
	flags.Visit(func(f *flag.Flag) {
		switch f.Name {
		case "latency":
			script.Latency = *latency
		case "seed":
			script.Seed = *seed
		}
	})
	if script.Keep == 0 {
		script.Keep = 1000
	}

	srv := llmtest.New(script)
	if *logFile != "" {
		f, err := os.OpenFile(*logFile, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
		if err != nil {
			return fmt.Errorf("call log: %w", err)
		}
		defer f.Close()
		srv.LogTo(f)
	}
	l, err := listen(*addr, *public)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, `The test model listens on http://%[1]s. To use it, in another terminal:

  export OPENAI_BASE_URL=http://%[1]s/v1 OPENAI_API_KEY=test
  dossier ask "hello"

Ctrl-C stops it.
`, l.Addr())
	return serve(ctx, l, srv)
}

// listen opens the address, which has to be a loopback one unless public.
func listen(addr string, public bool) (net.Listener, error) {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, usageError{fmt.Errorf("-addr %q is not HOST:PORT", addr)}
	}
	ip := net.ParseIP(host)
	if !public && host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return nil, usageError{fmt.Errorf("-addr %s can be reached from other machines; add -public if that is meant", addr)}
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("%w (choose another port with -addr)", err)
	}
	return l, nil
}

// serve runs until ctx is done; calls under way get a second to end.
func serve(ctx context.Context, l net.Listener, srv *llmtest.Server) error {
	h := &http.Server{Handler: srv, ReadHeaderTimeout: 10 * time.Second}
	failed := make(chan error, 1)
	go func() { failed <- h.Serve(l) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	srv.Close()
	grace, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if err := h.Shutdown(grace); err != nil {
		return h.Close()
	}
	return nil
}
