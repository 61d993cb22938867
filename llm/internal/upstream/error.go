package upstream

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"dossier/llm"
)

// maxRefusal is how much of an error's body is looked at.
const maxRefusal = 1 << 20

// refusal reads the body of a reply whose status is not 2xx.
func (c *Call) refusal() error {
	body, err := c.lines.Rest()
	if err != nil && c.parent.Err() != nil {
		return c.parent.Err()
	}
	body = body[:min(len(body), maxRefusal)]
	e := c.Failure(c.resp.StatusCode, body)
	if e.Status == http.StatusNotFound && !json.Valid(body) {
		e.Message += "; check the base URL, which mostly ends in /v1"
	}
	if e.RetryAfter == 0 && (e.Kind == llm.ErrRateLimited || e.Kind == llm.ErrServer) {
		e.RetryAfter = retryAfter(c.resp.Header, string(body), time.Now())
	}
	return e
}

// Failure makes an *llm.Error of what a provider said. The status is 0 for an
// error object inside a stream.
func (c *Call) Failure(status int, body []byte) *llm.Error {
	s := statement(body)
	if status == 0 {
		status = s.status
	}
	e := c.Error("", s.message)
	e.Status = status
	if e.Message == "" {
		e.Message = http.StatusText(status)
	}
	e.Kind = classify(status, s)
	if e.Kind == llm.ErrBadRequest {
		e.Unsupported = unsupported(s)
	}
	if e.Kind == llm.ErrRateLimited || e.Kind == llm.ErrServer {
		e.RetryAfter = retryText(string(body))
	}
	return e
}

// said is a provider's error in the many shapes that they have.
type said struct {
	message string // for the user
	text    string // all of it in lower case, for the rules below
	code    string // code and type, in lower case
	param   string
	status  int // a code that is an HTTP status
	html    bool
}

func statement(body []byte) said {
	var s said
	trimmed := strings.TrimSpace(strings.TrimPrefix(string(body), "\ufeff"))
	var v any
	if json.Unmarshal([]byte(trimmed), &v) != nil {
		if strings.HasPrefix(trimmed, "<") {
			s.html = true
			s.message = "the endpoint answered with a web page instead of JSON; check the base URL"
			return s
		}
		s.message = shorten(trimmed)
		s.text = strings.ToLower(trimmed)
		return s
	}
	s.collect(v, 0)
	if s.message == "" {
		s.message = trimmed
	}
	s.message = shorten(s.message)
	s.text = strings.ToLower(s.text + " " + s.code)
	s.code = strings.ToLower(s.code)
	return s
}

func (s *said) collect(v any, depth int) {
	if depth > 6 {
		return
	}
	switch v := v.(type) {
	case string:
		s.say(v)
	case []any:
		for _, e := range v {
			s.collect(e, depth+1)
		}
	case map[string]any:
		for _, k := range []string{"message", "msg", "detail", "error_description"} {
			if m, ok := v[k]; ok {
				s.collect(m, depth+1)
			}
		}
		for _, k := range []string{"code", "type", "status"} {
			switch m := v[k].(type) {
			case string:
				s.code += " " + m
				if n, err := strconv.Atoi(m); err == nil {
					s.setStatus(n)
				}
			case float64:
				s.setStatus(int(m))
			}
		}
		if p, ok := v["param"].(string); ok && s.param == "" {
			s.param = p
		}
		if loc, ok := v["loc"].([]any); ok && len(loc) > 0 && s.param == "" {
			s.param = fmt.Sprint(loc[len(loc)-1])
			s.text += " " + s.param
		}
		for _, k := range []string{"error", "errors", "response"} {
			if m, ok := v[k]; ok {
				s.collect(m, depth+1)
			}
		}
		// OpenRouter wraps what the model's own host said.
		if meta, ok := v["metadata"].(map[string]any); ok {
			if raw, ok := meta["raw"].(string); ok {
				inner := statement([]byte(raw))
				s.text += " " + inner.text
				s.code += " " + inner.code
				if s.param == "" {
					s.param = inner.param
				}
				if inner.message != "" && !strings.Contains(s.message, inner.message) {
					s.message += " (" + inner.message + ")"
				}
			}
		}
	}
}

func (s *said) say(text string) {
	s.text += " " + text
	if s.message == "" {
		s.message = text
	}
}

func (s *said) setStatus(n int) {
	if n >= 400 && n < 600 && s.status == 0 {
		s.status = n
	}
}

func shorten(s string) string {
	const most = 600
	s = strings.Join(strings.Fields(s), " ")
	if len(s) <= most {
		return s
	}
	n := most
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}

func has(s string, words ...string) bool {
	for _, w := range words {
		if strings.Contains(s, w) {
			return true
		}
	}
	return false
}

// What providers write, in lower case. Several say the same thing in their own
// words and with a status of their own, so the text goes before the status.
var (
	tooLong = []string{"context_length_exceeded", "context length", "context window", "maximum context", "max_model_len",
		"context size", "exceeds the available context", "prompt is too long", "input is too long", "too many tokens",
		"input length and `max_tokens` exceed", "reduce the length", "exceeds the maximum number of tokens",
		"range of input length", "maximum prompt length", "string_above_max_length", "request too large", "request_too_large",
		"input tokens exceed", "larger than the maximum context", "n_ctx", "превышен размер контекста", "tokens limit exceeded"}
	noMoney = []string{"insufficient_quota", "insufficient balance", "insufficient_balance", "credit balance", "insufficient credits",
		"billing", "exceeded your current quota", "payment required", "arrearage", "out of credits", "more credits",
		"quota exhausted", "allocationquota", "account balance", "overdue"}
	noModel = []string{"model_not_found", "model not found", "no such model", "model not exist", "unknown model", "invalid model",
		"not a valid model", "model_not_available", "try pulling it first", "no endpoints found for", "model does not exist"}
	badKey = []string{"invalid_api_key", "incorrect api key", "invalid api key", "api key not valid", "authentication_error",
		"invalid x-api-key", "no auth credentials", "unauthorized", "api_key_invalid", "permission_error", "invalid_authentication"}
	slowDown = []string{"rate_limit", "rate limit", "ratelimit", "too many requests", "throttl", "resource_exhausted", "engine_overloaded"}
	troubled = []string{"overloaded", "server_error", "internal_error", "api_error", "service_unavailable", "unavailable",
		"bad gateway", "timed out", "upstream error", "internal server error"}
)

// modelMissing finds sentences like "the model x does not exist".
func modelMissing(text string) bool {
	const near = 160
	_, after, ok := strings.Cut(text, "model")
	return ok && has(after[:min(len(after), near)], "does not exist", "not found", "not_found", "not exist", "is not available", "no longer available")
}

func classify(status int, s said) llm.ErrorKind {
	model := has(s.text, noModel...) || modelMissing(s.text)
	switch {
	case status == http.StatusPaymentRequired:
		return llm.ErrQuota
	case status == http.StatusRequestEntityTooLarge:
		return llm.ErrTooLong
	case status == http.StatusTooManyRequests && has(s.text, "request too large"):
		return llm.ErrTooLong // more than a minute's whole allowance
	case has(s.text, tooLong...) && status != http.StatusUnauthorized && status != http.StatusTooManyRequests:
		return llm.ErrTooLong
	case has(s.text, noMoney...) && status < 500:
		return llm.ErrQuota
	case status == http.StatusTooManyRequests:
		return llm.ErrRateLimited
	case status == http.StatusUnauthorized || status == http.StatusForbidden && !model:
		return llm.ErrAuth
	case status == http.StatusRequestTimeout:
		return llm.ErrTimeout
	case status >= 500:
		return llm.ErrServer
	case status == http.StatusConflict || status == http.StatusTooEarly:
		return llm.ErrServer
	case model:
		return llm.ErrNoModel
	case has(s.text, badKey...):
		return llm.ErrAuth
	case s.html:
		return llm.ErrMalformed
	case status >= 300:
		return llm.ErrBadRequest
	case has(s.text, slowDown...):
		return llm.ErrRateLimited
	case has(s.text, troubled...):
		return llm.ErrServer
	case has(s.code, "invalid_request", "bad_request", "invalid_parameter"):
		return llm.ErrBadRequest
	}
	return llm.ErrServer
}

// fields of a request that endpoints are known to refuse, and how they call
// them.
var fields = []string{"stream_options", "response_format", "json_schema", "output_config", "output_format", "max_completion_tokens", "max_tokens",
	"parallel_tool_calls", "tool_choice", "tool choice", "tools", "functions", "function calling", "tool use", "tool calling", "temperature", "top_p",
	"reasoning_content", "reasoning_effort"}

// words are fields whose names are everyday words: they count only where they
// are marked as a name.
var words = []string{"stop", "seed", "stream", "system", "strict", "thinking"}

var refusals = []string{"not support", "unsupported", "unrecognized", "unrecognised", "unknown", "not permitted", "not allowed",
	"extra_forbidden", "unexpected", "not available", "invalid parameter", "is not enabled", "not implemented", "requires --enable",
	"no endpoints found that support", "must be set", "only the default", "deprecated for this model", "not compatible", "unavailable", "missing", "cannot be used"}

// unsupported names the field of the request that the endpoint refused.
func unsupported(s said) string {
	if !has(s.text, refusals...) {
		return ""
	}
	name := strings.ToLower(s.param)
	if i := strings.IndexAny(name, ".["); i >= 0 {
		name = name[:i]
	}
	found := name
	if !slices.Contains(fields, name) && !slices.Contains(words, name) {
		found = firstField(s.text)
	}
	switch found {
	case "json_schema", "output_config", "output_format":
		return "response_format"
	case "functions", "function calling", "tool use", "tool calling":
		return "tools"
	case "tool_choice", "tool choice":
		// vLLM without a tool parser: no tool will ever work there.
		if has(s.text, "requires --enable") {
			return "tools"
		}
		return "tool_choice"
	}
	return found
}

// firstField is the field that a text mentions first.
func firstField(text string) string {
	found, first := "", len(text)
	for _, f := range fields {
		if i := strings.Index(text, f); i >= 0 && i < first {
			found, first = f, i
		}
	}
	for _, w := range words {
		for rest, from := text, 0; ; {
			i := strings.Index(rest, w)
			if i < 0 {
				break
			}
			end := i + len(w)
			named := i > 0 && end < len(rest) && strings.IndexByte("'\"`.", rest[i-1]) >= 0 && strings.IndexByte("'\"`:", rest[end]) >= 0
			if named && from+i < first {
				found, first = w, from+i
			}
			rest, from = rest[end:], from+end
		}
	}
	return found
}

const longestWait = 24 * time.Hour

// retryAfter reads how long the provider asks to wait.
func retryAfter(h http.Header, body string, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms > 0 {
		return bounded(time.Duration(ms * float64(time.Millisecond)))
	}
	if v := h.Get("Retry-After"); v != "" {
		if s, err := strconv.ParseFloat(v, 64); err == nil && s > 0 {
			return bounded(time.Duration(min(s, 1e6) * float64(time.Second)))
		}
		if at, err := http.ParseTime(v); err == nil {
			if date, err := http.ParseTime(h.Get("Date")); err == nil {
				now = date // the server's clock, which the answer refers to
			}
			return bounded(at.Sub(now))
		}
	}
	if d := retryText(body); d > 0 {
		return d
	}
	// Of the budgets that are used up, the one that is refilled last; when none
	// is known to be used up, the one that is refilled first.
	var spent, first time.Duration
	for _, name := range []string{"Requests", "Tokens", ""} {
		for _, prefix := range []string{"X-Ratelimit-", "Anthropic-Ratelimit-"} {
			reset, remaining := prefix+"Reset", prefix+"Remaining"
			if name != "" {
				reset, remaining = reset+"-"+name, remaining+"-"+name
			}
			if prefix == "Anthropic-Ratelimit-" {
				reset, remaining = prefix+name+"-Reset", prefix+name+"-Remaining"
			}
			d := resetTime(h.Get(reset), now)
			if d <= 0 {
				continue
			}
			if h.Get(remaining) == "0" {
				spent = max(spent, d)
			}
			if first == 0 || d < first {
				first = d
			}
		}
	}
	if spent > 0 {
		return bounded(spent)
	}
	return bounded(first)
}

// resetTime reads "6m0s", "20ms", seconds, a Unix time in seconds or
// milliseconds, or a date.
func resetTime(v string, now time.Time) time.Duration {
	if v == "" {
		return 0
	}
	if d, err := time.ParseDuration(v); err == nil {
		return d
	}
	if n, err := strconv.ParseFloat(v, 64); err == nil {
		switch {
		case n > 1e11:
			return time.UnixMilli(int64(n)).Sub(now)
		case n > 1e8:
			return time.Unix(int64(n), 0).Sub(now)
		}
		return time.Duration(n * float64(time.Second))
	}
	if at, err := time.Parse(time.RFC3339, v); err == nil {
		return at.Sub(now)
	}
	return 0
}

// retryText finds the wait in what the provider wrote.
func retryText(body string) time.Duration {
	for _, mark := range []string{"try again in ", "retry after ", "retry in ", `"retryDelay": "`, `"retryDelay":"`} {
		_, rest, ok := strings.Cut(body, mark)
		if !ok {
			continue
		}
		n := 0
		for n < len(rest) && strings.IndexByte("0123456789.hmsu", rest[n]) >= 0 {
			n++
		}
		v, unit := strings.TrimRight(rest[:n], "."), rest[n:]
		if d, err := time.ParseDuration(v); err == nil {
			return bounded(d)
		}
		if s, err := strconv.ParseFloat(v, 64); err == nil {
			unit = strings.TrimSpace(unit)
			switch {
			case strings.HasPrefix(unit, "minute"):
				s *= 60
			case strings.HasPrefix(unit, "millisecond"):
				s /= 1000
			case !strings.HasPrefix(unit, "second"):
				continue
			}
			return bounded(time.Duration(min(s, 1e6) * float64(time.Second)))
		}
	}
	return 0
}

func bounded(d time.Duration) time.Duration { return max(0, min(d, longestWait)) }

const redacted = "[redacted]"

// Clean takes the target's secrets out of a text, also when they are escaped
// or partly masked.
func (t *Target) Clean(s string) string {
	for _, key := range t.secrets {
		if len(key) < 4 {
			continue
		}
		s = strings.ReplaceAll(s, key, redacted)
		if e := url.QueryEscape(key); e != key {
			s = strings.ReplaceAll(s, e, redacted)
		}
		s = cleanMasked(s, key)
	}
	return s
}

// cleanMasked removes words like "sk-ab****wxyz" that show a part of the key,
// and any word that begins with a good part of it.
func cleanMasked(s, key string) string {
	head := key[:min(len(key), 8)]
	words := strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune(" \t\n\"'`,;:()[]{}<>=", r) })
	for _, w := range words {
		masked := strings.Contains(w, "**") || strings.Contains(w, "...") || strings.Contains(w, "…")
		if strings.HasPrefix(w, head) && len(key) >= 12 || masked && w[0] == key[0] && strings.HasPrefix(w, key[:min(len(key), 3)]) {
			s = strings.ReplaceAll(s, w, redacted)
		}
	}
	return s
}
