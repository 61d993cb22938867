package logs

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/slogtest"
	"time"
)

// objectOf logs into a JSON handler and returns the object without its time.
func objectOf(t *testing.T, r *Redactor, log func(*slog.Logger)) string {
	t.Helper()
	var buf bytes.Buffer
	log(slog.New(NewJSONHandler(&buf, slog.LevelDebug, r)))
	var at struct{ Time string }
	if err := json.Unmarshal(buf.Bytes(), &at); err != nil {
		t.Fatalf("%v in %s", err, buf.String())
	}
	if _, err := time.Parse(time.RFC3339Nano, at.Time); err != nil || !strings.HasSuffix(at.Time, "Z") {
		t.Errorf("time %q: %v", at.Time, err)
	}
	return strings.TrimSuffix(strings.Replace(buf.String(), `"time":"`+at.Time+`",`, "", 1), "\n")
}

func TestObjects(t *testing.T) {
	var r Redactor
	r.Add("hunter2hunter2")
	for _, c := range []struct {
		want string
		log  func(*slog.Logger)
	}{
		{`{"level":"DEBUG","msg":"AgentStart","step":"main"}`, func(l *slog.Logger) { WithStep(l, "main").Debug("AgentStart") }},
		{`{"level":"INFO","msg":"m","step":"b","k":1,"n":2}`, func(l *slog.Logger) { WithStep(WithStep(l, "a").With("k", 1), "b").Info("m", "n", 2) }},
		{`{"level":"INFO","msg":"m","step":"a","g":{"k":"v"}}`, func(l *slog.Logger) { WithStep(l, "a").WithGroup("g").Info("m", "k", "v") }},
		{`{"level":"CRITICAL","msg":"no"}`, func(l *slog.Logger) { l.Log(t.Context(), LevelCritical, "no") }},
		{`{"level":"ERROR","msg":"m","error":"it \"broke\" with [redacted]"}`, func(l *slog.Logger) { l.Error("m", "error", errors.New(`it "broke" with hunter2hunter2`)) }},
		{`{"level":"INFO","msg":"the key [redacted]","took":"1.5s"}`, func(l *slog.Logger) { l.Info("the key hunter2hunter2", "took", 1500*time.Millisecond) }},
		{`{"level":"INFO","msg":"m","api_key":"[redacted]","g":{"authorization":"[redacted]","url":"https://[redacted]@host/"}}`, func(l *slog.Logger) {
			l.Info("m", "api_key", "abc", slog.Group("g", "authorization", "Basic abcdefgh", "url", "https://user:s3cretpw@host/"))
		}},
		{`{"level":"INFO","msg":"red","payload":"{\"key\":\"[redacted]\"}"}`, func(l *slog.Logger) {
			l.Info("\x1b[31mred\x1b[0m", "payload", map[string]any{"key": "hunter2hunter2"})
		}},
	} {
		if got := objectOf(t, &r, c.log); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}

func TestJSONHandlerKeepsSlogRules(t *testing.T) {
	var buf bytes.Buffer
	slogtest.Run(t, func(*testing.T) slog.Handler {
		buf.Reset()
		return NewJSONHandler(&buf, slog.LevelDebug, nil)
	}, func(t *testing.T) map[string]any {
		var out map[string]any
		if err := json.Unmarshal(buf.Bytes(), &out); err != nil {
			t.Fatal(err)
		}
		return out
	})
}
