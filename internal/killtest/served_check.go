package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"sync"

	"dossier/event"
	"dossier/internal/cli"
	"dossier/internal/followtest"
	"dossier/internal/store/sqlite"
	"dossier/llm/llmtest"
)

// serveMain is `dossier serve` with some settings.
func serveMain(ctx context.Context, dir string, set map[string]string) error {
	args := []string{"serve", "--port", "0", "--data", dir, "--config", "none"}
	for key, value := range set {
		args = append(args, "--set", key+"="+value)
	}
	code := cli.Main(cli.Process{
		Args: args, Env: []string{"HOME=" + dir, "LANG=C"}, Dir: dir, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Terminal: cli.Terminal, Terminate: ctx,
	})
	if code != 0 {
		return fmt.Errorf("dossier serve exits with %d", code)
	}
	return nil
}

// paidModel is a scripted model whose replies have a number, as the tokens that
// they say they have read: the log of a run tells by it which of them it has.
type paidModel struct {
	url  string
	http *httptest.Server

	mu    sync.Mutex
	asked [][sha256.Size]byte // by number, from 1
}

var promptTokens = regexp.MustCompile(`"prompt_tokens":\d+`)

// newPaidModel starts one. before, unless it is nil, is called with the number of
// each reply before it is given.
func newPaidModel(script llmtest.Script, before func(number int)) *paidModel {
	m := &paidModel{}
	model := llmtest.New(script)
	m.http = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the child is gone
		}
		m.mu.Lock()
		m.asked = append(m.asked, sha256.Sum256(body))
		number := len(m.asked)
		m.mu.Unlock()
		if before != nil {
			before(number)
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		said := httptest.NewRecorder()
		model.ServeHTTP(said, r)
		for key, values := range said.Header() {
			if key != "Content-Length" {
				w.Header()[key] = values
			}
		}
		w.WriteHeader(said.Code)
		_, _ = w.Write(promptTokens.ReplaceAll(said.Body.Bytes(), []byte(`"prompt_tokens":`+strconv.Itoa(number))))
	}))
	m.url = m.http.URL
	return m
}

func (m *paidModel) close() {
	m.http.CloseClientConnections()
	m.http.Close()
}

// again counts the calls that were made although their reply was recorded, given
// the numbers of those that are.
func (m *paidModel) again(recorded map[int]bool) (calls, repeated int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	known := map[[sha256.Size]byte]bool{}
	for i, asked := range m.asked {
		if known[asked] {
			repeated++
		}
		known[asked] = known[asked] || recorded[i+1]
	}
	return len(m.asked), repeated
}

// judge holds what readers got against the logs, and calls against what is recorded.
func (r *servedRound) judge(ctx context.Context, ids []string) error {
	s, err := sqlite.Open(filepath.Join(r.dir, "dossier.db"), sqlite.Options{})
	if err != nil {
		return err
	}
	defer s.Close()
	logs, recorded := map[string][]followtest.Message{}, map[int]bool{}
	for _, id := range ids {
		events, err := s.Events(ctx, id, 0, 0)
		if err != nil {
			return err
		}
		for _, e := range events {
			if d, ok := e.Data.(event.Usage); ok {
				recorded[d.Input] = true
			}
			raw, err := e.Event.MarshalJSON()
			if err != nil {
				return err
			}
			logs[id] = append(logs[id], followtest.Message{Number: e.Seq, Text: string(raw)})
		}
		r.events += len(events)
		if rec, err := s.Run(ctx, id); err != nil || rec.Status != "done" {
			r.blamef("the run %s is %s: %+v, %v", id, rec.Status, rec.Failure, err)
		}
	}
	calls, repeated := r.model.again(recorded)
	r.runs, r.calls, r.recorded, r.repeated = r.runs+len(ids), r.calls+calls, r.recorded+len(recorded), r.repeated+repeated
	for _, j := range r.streams {
		r.readers++
		if j.protocol != "responses" {
			if !slices.Equal(j.messages, logs[j.run]) {
				r.blamef("over %s %d messages came, the log has %d", j.protocol, len(j.messages), len(logs[j.run]))
			}
			continue
		}
		var whole []followtest.Message
		for m, err := range followtest.Response(ctx, r.at, j.run, followtest.Begin) {
			if err != nil {
				return err
			}
			whole = append(whole, m)
		}
		if why := otherResponse(j.messages, whole); why != "" {
			r.blamef("over responses: %s", why)
		}
	}
	return nil
}

func (r *servedRound) blamef(format string, args ...any) {
	r.wrong++
	r.trouble = append(r.trouble, fmt.Sprintf(format, args...))
}

// otherResponse says how what a reader got of a response differs from all of it. An
// answer that was shown while it was written has other numbers, and stands before
// what happened meanwhile: then the pieces have to be the text, and the end the end.
func otherResponse(got, whole []followtest.Message) string {
	if slices.Equal(got, whole) {
		return ""
	}
	last, text, early := int64(followtest.Begin), "", false
	var end [2]string
	for i, stream := range [][]followtest.Message{got, whole} {
		for _, m := range stream {
			var said struct {
				Type     string          `json:"type"`
				Delta    string          `json:"delta"`
				Text     string          `json:"text"`
				Response json.RawMessage `json:"response"`
			}
			if err := json.Unmarshal([]byte(m.Text), &said); err != nil {
				return err.Error()
			}
			end[i] = said.Type + string(said.Response)
			if i == 1 {
				continue
			}
			if m.Number <= last {
				return fmt.Sprintf("%d follows %d", m.Number, last)
			}
			last, early = m.Number, early || m.Number%1_000_000 >= 500_000
			switch said.Type {
			case "response.output_text.delta":
				text += said.Delta
			case "response.output_text.done":
				if text != said.Text {
					return fmt.Sprintf("the pieces are %q, the text %q", text, said.Text)
				}
				text = ""
			}
		}
	}
	if !early || end[0] != end[1] {
		return fmt.Sprintf("%d messages of %d, and they are others", len(got), len(whole))
	}
	return ""
}
