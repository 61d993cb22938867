package logs

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/slogtest"
	"time"
	"unicode/utf8"
)

// lineOf logs into a handler and returns the line without its time.
func lineOf(t *testing.T, r *Redactor, log func(*slog.Logger)) string {
	t.Helper()
	var buf bytes.Buffer
	log(slog.New(NewHandler(&buf, slog.LevelDebug, r)))
	line := strings.TrimSuffix(buf.String(), "\n")
	at, rest, _ := strings.Cut(line, " ")
	if _, err := time.Parse("2006-01-02T15:04:05.000Z", at); err != nil {
		t.Errorf("time %q: %v", at, err)
	}
	if strings.Contains(line, "\n") {
		t.Errorf("more than a line: %q", line)
	}
	return rest
}

func TestLines(t *testing.T) {
	cases := []struct {
		want string
		log  func(*slog.Logger)
	}{
		{`DEBUG [main] AgentStart`, func(l *slog.Logger) { WithStep(l, "main").Debug("AgentStart") }},
		{`INFO [b] m`, func(l *slog.Logger) { WithStep(WithStep(l, "a"), "b").Info("m") }},
		{`CRITICAL [cls] classify_intent // LLM Error: no`, func(l *slog.Logger) {
			WithStep(l, "cls").Log(t.Context(), LevelCritical, "classify_intent // LLM Error: no")
		}},
		{`WARN m n=1 s="a b" g.x=true`, func(l *slog.Logger) { l.Warn("m", "n", 1, "s", "a b", slog.Group("g", "x", true)) }},
		{`INFO m g.k=v`, func(l *slog.Logger) { l.WithGroup("g").Info("m", "k", "v") }},
		{`ERROR m err="it \"broke\""`, func(l *slog.Logger) { l.Error("m", "err", errors.New(`it "broke"`)) }},
		{`INFO Привет текст="да нет"`, func(l *slog.Logger) { l.Info("Привет", "текст", "да нет") }},
		{`INFO a\nb stack="x\n\ty"`, func(l *slog.Logger) { l.Info("a\nb", "stack", "x\n\ty") }},
		{`INFO m p="{\"messages\":[],\"n\":1}"`, func(l *slog.Logger) { l.Info("m", "p", map[string]any{"n": 1, "messages": []any{}}) }},
		{`INFO red page=evil`, func(l *slog.Logger) { l.Info("\x1b[31mred\x1b[0m", "page", "\x1b]0;title\x07ev\u202eil\x00") }},
		{`INFO m api_key=[redacted]`, func(l *slog.Logger) { l.Info("m", "api_key", "abc") }},
	}
	for _, c := range cases {
		if got := lineOf(t, nil, c.log); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}

func TestRedact(t *testing.T) {
	var r Redactor
	r.Add("hunter2hunter2", `pa"ss&word`, "tiny")
	cases := []struct{ in, secret string }{
		{"Authorization: Bearer abc123def456", "abc123def456"},
		{"authorization=Basic dXNlcjpwYXNz", "dXNlcjpwYXNz"},
		{`{"Authorization":"Bearer abcdefgh"}`, "abcdefgh"},
		{`{"api_key": "qwertyuiop", "model": "m"}`, "qwertyuiop"},
		{`"{\"api_key\":\"qwertyuiop\"}"`, "qwertyuiop"},
		{"OPENAI_API_KEY=qwertyuiop rest", "qwertyuiop"},
		{"key sk-proj-abcdefghijkl123456 was refused", "abcdefghijkl123456"},
		{"https://user:s3cretpw@host/path", "s3cretpw"},
		{"https://host/?access_token=abcdef&x=1", "abcdef"},
		{"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abcdefghijk", "eyJzdWIiOiIxIn0"},
		{"the key hunter2hunter2 appears", "hunter2hunter2"},
		{"?k=pa%22ss%26word", "pa%22ss%26word"},
		{`{"k":"pa\"ss\u0026word"}`, `pa\"ss\u0026word`},
		{"x-api-key: 0123456789", "0123456789"},
		{"password='open sesame'", "sesame"},
	}
	for _, c := range cases {
		got := r.Redact(c.in)
		if strings.Contains(got, c.secret) || !strings.Contains(got, mask) {
			t.Errorf("%s became %s", c.in, got)
		}
	}
	for _, keep := range []string{
		"max_tokens=100 prompt_tokens: 5", `{"total_tokens":7,"model":"sk"}`, "a basic idea", "tiny words", "https://host:8080/a@b",
		"the token was read", "task-related-and-long-words", "вопрос: ответ",
	} {
		if got := r.Redact(keep); got != keep {
			t.Errorf("%q became %q", keep, got)
		}
	}
	if got := r.Redact(`{"api_key": "qwertyuiop", "model": "m"}`); got != `{"api_key": [redacted], "model": "m"}` {
		t.Errorf("more than the value went: %s", got)
	}
}

func TestPrintable(t *testing.T) {
	for in, want := range map[string]string{
		"plain\ttext\n":              "plain\ttext\n",
		"\x1b[1;31mred\x1b[m":        "red",
		"\x1b]8;;http://x\x1b\\link": "link",
		"\u009b31mred":               "red",
		"a\rb\bc\x7f":                "abc",
		"bad \xff byte":              "bad \ufffd byte",
		"“quotes” é 你好":              "“quotes” é 你好",
		"\x1b]0;no end":              "0;no end",
		"\x1b":                       "",
		"\x1b[":                      "",
		"left\u202eright\u2066":      "leftright",
	} {
		if got := Printable(in); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
}

func FuzzPrintable(f *testing.F) {
	f.Add("\x1b[31m\u009b x \xff")
	f.Fuzz(func(t *testing.T, s string) {
		out := Printable(s)
		if !utf8.ValidString(out) || strings.ContainsAny(out, "\x1b\r\x00\u009b\u202e") {
			t.Errorf("%q became %q", s, out)
		}
		if again := Printable(out); again != out {
			t.Errorf("not stable: %q, %q", out, again)
		}
	})
}

func TestHandlerKeepsSlogRules(t *testing.T) {
	var buf bytes.Buffer
	slogtest.Run(t, func(*testing.T) slog.Handler {
		buf.Reset()
		return NewHandler(&buf, slog.LevelDebug, nil)
	}, func(t *testing.T) map[string]any {
		return parseLine(t, buf.String())
	})
}

// parseLine reads a line back, for values without blanks.
func parseLine(t *testing.T, line string) map[string]any {
	fields := strings.Fields(line)
	out := map[string]any{}
	if _, err := time.Parse("2006-01-02T15:04:05.000Z", fields[0]); err == nil {
		out[slog.TimeKey] = fields[0]
		fields = fields[1:]
	}
	out[slog.LevelKey] = fields[0]
	for _, f := range fields[1:] {
		key, value, ok := strings.Cut(f, "=")
		if !ok {
			out[slog.MessageKey] = f
			continue
		}
		m := out
		parts := strings.Split(key, ".")
		for _, p := range parts[:len(parts)-1] {
			if m[p] == nil {
				m[p] = map[string]any{}
			}
			m = m[p].(map[string]any)
		}
		m[parts[len(parts)-1]] = value
	}
	return out
}
