package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"dossier/llm"
	"dossier/llm/anthropic"
	"dossier/llm/openai"
)

// recording is one reply of a provider as it went over the wire.
type recording struct {
	status int
	stream bool
	body   []byte
}

// fixture is a file of a set: the replies of one conversation.
type fixture struct {
	name     string
	provider string
	replies  []recording
}

// runStreamVercel scores transcripts that are one file each: the chunks of a
// stream, without the lines of the event format, or a JSON body.
func runStreamVercel(ctx context.Context, env *Env) error {
	files, err := env.Files("fixtures*.jsonl*")
	if err != nil {
		return err
	}
	var fixtures []fixture
	for _, file := range files {
		rows, err := readLines[struct{ Path, Provider, Kind, Body string }](env, file)
		if err != nil {
			return err
		}
		for _, row := range rows {
			replies := []recording{{status: http.StatusOK, body: []byte(row.Body)}}
			if row.Kind == "sse_chunks" {
				replies = streams(row.Body)
			}
			fixtures = append(fixtures, fixture{row.Path, row.Provider, replies})
		}
	}
	return scoreStreams(ctx, env, fixtures)
}

// streams writes chunks, one in a line, as server-sent events. A file may hold
// the streams of several calls, one after the other: each ends with its
// message_stop.
func streams(chunks string) []recording {
	var all []recording
	var b bytes.Buffer
	flush := func() {
		if b.Len() > 0 {
			all = append(all, recording{http.StatusOK, true, bytes.Clone(b.Bytes())})
			b.Reset()
		}
	}
	for line := range strings.Lines(chunks) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		var e struct{ Type string }
		if json.Unmarshal([]byte(line), &e) == nil && e.Type != "" {
			fmt.Fprintf(&b, "event: %s\n", e.Type)
		}
		fmt.Fprintf(&b, "data: %s\n\n", line)
		if e.Type == "message_stop" {
			flush()
		}
	}
	flush()
	return all
}

// runStreamCassettes scores recorded conversations; each may hold several
// replies.
func runStreamCassettes(ctx context.Context, env *Env) error {
	files, err := env.Files("cassettes*.jsonl*")
	if err != nil {
		return err
	}
	var fixtures []fixture
	for _, file := range files {
		rows, err := readLines[struct {
			Path     string
			Cassette string `json:"cassette_yaml"`
		}](env, file)
		if err != nil {
			return err
		}
		for _, row := range rows {
			var c struct {
				Interactions []struct {
					Request  struct{ URL string }
					Response struct {
						Body string
						Code int
					}
				}
			}
			if err := yaml.Unmarshal([]byte(row.Cassette), &c); err != nil {
				return fmt.Errorf("%s: %s: %w", file, row.Path, err)
			}
			f := fixture{name: row.Path}
			for _, i := range c.Interactions {
				f.provider = host(i.Request.URL)
				body := []byte(i.Response.Body)
				f.replies = append(f.replies, recording{i.Response.Code, isEvents(body), body})
			}
			fixtures = append(fixtures, f)
		}
	}
	return scoreStreams(ctx, env, fixtures)
}

// host names the service behind a recorded URL; OpenAI's newer API counts as
// one of its own.
func host(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return "unknown"
	}
	name := u.Hostname()
	for _, known := range []string{"bedrock", "aiplatform", "generativelanguage", "azure", "openai"} {
		if strings.Contains(name, known) {
			name = known
			break
		}
	}
	if strings.HasSuffix(u.Path, "/responses") {
		name += "-responses"
	}
	return name
}

func isEvents(body []byte) bool {
	body = bytes.TrimSpace(body)
	for _, start := range []string{"data:", "event:", ":", "id:"} {
		if bytes.HasPrefix(body, []byte(start)) {
			return true
		}
	}
	return false
}

// streamAnswer is what Record gets for a fixture.
type streamAnswer struct {
	Fixture string   `json:"fixture"`
	Dialect string   `json:"dialect,omitempty"`
	Parsed  bool     `json:"parsed"`
	Why     []string `json:"why,omitempty"` // what differs
}

// scoreStreams replays each fixture of a dialect that we speak over a local
// connection and compares what the provider makes of it with a reassembly of
// the raw JSON.
func scoreStreams(ctx context.Context, env *Env, fixtures []fixture) error {
	replay, err := startReplay()
	if err != nil {
		return err
	}
	defer replay.close()
	parsed, ours := 0, 0
	skipped := map[string]int{}
	for _, f := range fixtures {
		if err := ctx.Err(); err != nil {
			return err
		}
		answer := streamAnswer{Fixture: f.name, Parsed: true}
		for i, r := range f.replies {
			want := reassemble(f.provider, r)
			if want == nil {
				answer.Dialect = ""
				break
			}
			answer.Dialect = want.dialect
			if why := replay.compare(ctx, want, r); why != "" {
				answer.Parsed = false
				answer.Why = append(answer.Why, fmt.Sprintf("reply %d: %s", i, why))
			}
		}
		if answer.Dialect == "" {
			skipped[f.provider]++
			answer.Parsed = false
		} else {
			ours++
			if answer.Parsed {
				parsed++
			}
		}
		if err := env.Record(answer); err != nil {
			return err
		}
	}
	env.Ratio("parsed", parsed, ours)
	names := make([]string, 0, len(skipped))
	for name := range skipped {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		env.Count("skipped."+name, skipped[name], len(fixtures))
	}
	return nil
}

// replay is a local endpoint that answers with a recording.
type replay struct {
	server *http.Server
	base   string
	mu     sync.Mutex
	now    recording
}

func startReplay() (*replay, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	r := &replay{base: "http://" + l.Addr().String()}
	r.server = &http.Server{Handler: r}
	go r.server.Serve(l)
	return r, nil
}

func (r *replay) close() { r.server.Close() }

func (r *replay) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	r.mu.Lock()
	now := r.now
	r.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	if now.stream {
		w.Header().Set("Content-Type", "text/event-stream")
	}
	w.WriteHeader(now.status)
	w.Write(now.body)
}

// compare says what differs, or nothing.
func (r *replay) compare(ctx context.Context, want *reply, rec recording) string {
	r.mu.Lock()
	r.now = rec
	r.mu.Unlock()
	var model llm.Model
	var err error
	if want.dialect == dialectAnthropic {
		model, err = anthropic.New(anthropic.Config{BaseURL: r.base, Model: "recorded"})
	} else {
		model, err = openai.New(openai.Config{BaseURL: r.base, Model: "recorded"})
	}
	if err != nil {
		return err.Error()
	}
	var got reply
	var sink func(llm.Chunk)
	if rec.stream {
		sink = got.take
	}
	resp, err := model.Stream(ctx, &llm.Request{Messages: []llm.Message{{Role: llm.RoleUser, Content: "hi"}}}, sink)
	if want.failed {
		var e *llm.Error
		if !errors.As(err, &e) || e.Kind == "" || e.Message == "" {
			return fmt.Sprintf("an error was recorded, the provider says %v, %v", resp, err)
		}
		return ""
	}
	if want.finish == "" {
		if llm.KindOf(err) != llm.ErrCut {
			return fmt.Sprintf("the recording is cut, the provider says %v, %v", resp, err)
		}
		return ""
	}
	if err != nil {
		return err.Error()
	}
	whole := reply{dialect: want.dialect, text: resp.Message.Content, reasoning: resp.Message.Reasoning, finish: resp.Finish,
		usage: [4]int{resp.Usage.Input, resp.Usage.Output, resp.Usage.CachedInput, resp.Usage.Reasoning}}
	for _, c := range resp.Message.ToolCalls {
		whole.calls = append(whole.calls, toolCall{c.Name, c.Arguments})
	}
	if rec.stream && (got.text != whole.text || got.reasoning != whole.reasoning || !reflect.DeepEqual(got.calls, whole.calls)) {
		return fmt.Sprintf("the sink saw %+v, the response says %+v", got, whole)
	}
	return whole.differs(want)
}
