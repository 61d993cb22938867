package llmtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"dossier/llm"
)

// FaultKind names a way to fail.
type FaultKind string

// Refusals: no reply at all.
const (
	RateLimit FaultKind = "rate_limit" // 429, with Retry-After when RetryAfter is set
	Quota     FaultKind = "quota"      // out of money
	Status    FaultKind = "status"     // the HTTP status of Fault.Status (500 by default)
	Auth      FaultKind = "auth"       // 401 that repeats the key it was given
	NoModel   FaultKind = "no_model"   // 404
	TooLong   FaultKind = "too_long"   // 400, context length
	HTML      FaultKind = "html"       // an HTML page with Fault.Status (502 by default)
)

// Failures on the wire.
const (
	Slow        FaultKind = "slow"         // nothing for Delay, or until the client leaves
	Stall       FaultKind = "stall"        // After pieces, then nothing for Delay, or until the client leaves
	KeepAlive   FaultKind = "keep_alive"   // After pieces, then only signs of life, until the client leaves
	Endless     FaultKind = "endless"      // After pieces, then the next one again and again, until the client leaves
	Cut         FaultKind = "cut"          // After pieces, then the connection breaks
	EOF         FaultKind = "eof"          // After pieces, then a clean end without finish or [DONE]
	Malformed   FaultKind = "malformed"    // the body, or the piece after After, is not JSON
	StreamError FaultKind = "stream_error" // After pieces, then an error in the stream; without a stream a 500
	ContentType FaultKind = "content_type" // a right body labelled text/html
	Empty       FaultKind = "empty"        // no choices
)

// Failures in what the model says.
const (
	BrokenJSON    FaultKind = "broken_json"    // a trailing comma
	FencedJSON    FaultKind = "fenced_json"    // prose and fences around the JSON
	TruncatedJSON FaultKind = "truncated_json" // cut in the middle, finish_reason length
	WrongSchema   FaultKind = "wrong_schema"   // JSON that violates the schema
	RepeatedIDs   FaultKind = "repeated_ids"   // two tool calls with one id
	Huge          FaultKind = "huge"           // a text of Size bytes (8 MiB by default)
	InvalidUTF8   FaultKind = "invalid_utf8"   // stray bytes in the text
)

// Fault is a failure and its size.
type Fault struct {
	Kind FaultKind `yaml:"kind"`
	// Probability of the fault for a call, drawn from the script's seed, the
	// request's body and how often it was seen. 0: always.
	Probability float64       `yaml:"probability"`
	Status      int           `yaml:"status"`
	RetryAfter  time.Duration `yaml:"retry_after"`
	Delay       time.Duration `yaml:"delay"`
	// After is how many pieces of the reply are streamed before the failure.
	// Without a stream, half of the body stands for them.
	After int `yaml:"after"`
	Size  int `yaml:"size"`
}

func (f *Fault) validate() error {
	switch f.Kind {
	case RateLimit, Quota, Status, Auth, NoModel, TooLong, HTML,
		Slow, Stall, KeepAlive, Endless, Cut, EOF, Malformed, StreamError, ContentType, Empty,
		BrokenJSON, FencedJSON, TruncatedJSON, WrongSchema, RepeatedIDs, Huge, InvalidUTF8:
	default:
		return fmt.Errorf("fault: unknown kind %q", f.Kind)
	}
	if f.Probability < 0 || f.Probability > 1 {
		return fmt.Errorf("fault: probability %v is not between 0 and 1", f.Probability)
	}
	if f.Status != 0 && (f.Status < 200 || f.Status > 599) {
		return fmt.Errorf("fault: status %d is not an HTTP status", f.Status)
	}
	return nil
}

func (f *Fault) is(k FaultKind) bool { return f != nil && f.Kind == k }

// drawn decides a probability from the hash of the request and its repetition
// instead of from a shared sequence, so that concurrency doesn't change it.
func (f *Fault) drawn(seed uint64, rule int, q *Request, repeat int) bool {
	if f.Probability == 0 {
		return true
	}
	h := hashOf(fmt.Sprintf("%d|%d|%d|%s", seed, rule, repeat, q.Hash))
	return float64(h>>11)/(1<<53) < f.Probability
}

// refusal is an error reply in no dialect yet.
type refusal struct {
	status     int
	code       string // OpenAI's error code
	param      string
	message    string
	retryAfter time.Duration
	html       bool
}

func (f *Fault) refusal(q *Request, key string) *refusal {
	if f == nil {
		return nil
	}
	status := f.Status
	switch f.Kind {
	case RateLimit:
		return &refusal{status: 429, code: "rate_limit_exceeded", message: "Rate limit reached for requests", retryAfter: f.RetryAfter}
	case Quota:
		if q.Dialect == "anthropic" {
			status = 400
		} else {
			status = 429
		}
		return &refusal{status: status, code: "insufficient_quota", message: "You exceeded your current quota, please check your plan and billing details."}
	case Status:
		if status == 0 {
			status = 500
		}
		return &refusal{status: status, code: "server_error", message: "The server had an error while processing your request.", retryAfter: f.RetryAfter}
	case StreamError:
		if q.Stream {
			return nil
		}
		return &refusal{status: 500, code: "server_error", message: "The server had an error while processing your request."}
	case Auth:
		return refuseKey(key)
	case NoModel:
		return refuseModel(q.Model)
	case TooLong:
		n := q.inputTokens()
		return refuseLength(n, max(n-1, 0))
	case HTML:
		if status == 0 {
			status = 502
		}
		return &refusal{status: status, html: true}
	}
	return nil
}

func refuseKey(key string) *refusal {
	return &refusal{status: 401, code: "invalid_api_key", message: "Incorrect API key provided: " + key + "."}
}

func refuseModel(model string) *refusal {
	return &refusal{status: 404, code: "model_not_found", param: "model",
		message: fmt.Sprintf("The model `%s` does not exist or you do not have access to it.", model)}
}

func refuseLength(n, window int) *refusal {
	return &refusal{status: 400, code: "context_length_exceeded", param: "messages",
		message: fmt.Sprintf("This model's maximum context length is %d tokens. However, your messages resulted in %d tokens. Please reduce the length of the messages.", window, n)}
}

func refuseField(field, what string) *refusal {
	return &refusal{status: 400, code: "unsupported_parameter", param: field,
		message: fmt.Sprintf("Invalid parameter: '%s' %sis not supported with this model.", field, what)}
}

func (e *refusal) write(w http.ResponseWriter, d dialect) {
	h := w.Header()
	if e.retryAfter > 0 {
		h.Set("Retry-After", fmt.Sprint(int64((e.retryAfter+time.Second-1)/time.Second)))
		if e.retryAfter%time.Second != 0 {
			h.Set("Retry-After-Ms", fmt.Sprint(e.retryAfter.Milliseconds()))
		}
	}
	if e.html {
		h.Set("Content-Type", "text/html; charset=utf-8")
		w.WriteHeader(e.status)
		fmt.Fprintf(w, "<html>\r\n<head><title>%d %s</title></head>\r\n<body><center><h1>%[1]d %[2]s</h1></center><hr><center>nginx</center></body>\r\n</html>\r\n",
			e.status, http.StatusText(e.status))
		return
	}
	h.Set("Content-Type", "application/json")
	w.WriteHeader(e.status)
	w.Write(d.errorBody(e))
}

// badByte stands in a text for a byte that is not UTF-8 until it is encoded.
const badByte = "\uE0FF"

// bend changes what the model says as the fault demands.
func (f *Fault) bend(o *output, q *Request) {
	if f == nil {
		return
	}
	switch f.Kind {
	case Empty:
		o.empty = true
	case Huge:
		size := f.Size
		if size <= 0 {
			size = 8 << 20
		}
		unit := "All work and no play makes a test model a dull model. "
		o.text, o.calls = strings.Repeat(unit, size/len(unit)+1)[:size], nil
		o.finish = llm.FinishStop
	case InvalidUTF8:
		half := len([]rune(o.text)) / 2
		o.text = string([]rune(o.text)[:half]) + badByte + string([]rune(o.text)[half:])
	case RepeatedIDs:
		o.repeatIDs(q)
	case BrokenJSON, FencedJSON, TruncatedJSON, WrongSchema:
		text := &o.text
		schema := json.RawMessage(nil)
		if q.Format != nil {
			schema = q.Format.Schema
		}
		if len(o.calls) > 0 {
			text = &o.calls[0].Arguments
			if t := q.tool(o.calls[0].Name); t != nil {
				schema = t.Parameters
			}
		}
		*text = f.spoil(*text, schema)
		if f.Kind == TruncatedJSON {
			o.finish = llm.FinishLength
		}
	}
}

func (f *Fault) spoil(text string, schema json.RawMessage) string {
	switch f.Kind {
	case TruncatedJSON:
		r := []rune(text)
		return string(r[:len(r)*3/5])
	case FencedJSON:
		return "Here is the JSON that you asked for:\n```json\n" + text + "\n```\nI hope that it helps!"
	case WrongSchema:
		return violate(text, schema)
	}
	if i := strings.LastIndexAny(text, "}]"); i > 0 {
		return text[:i] + "," + text[i:]
	}
	return text + ","
}

// violate makes valid JSON that the schema forbids: an object loses a required
// member, anything else becomes a value of another type.
func violate(text string, schema json.RawMessage) string {
	var s struct{ Required []string }
	var object map[string]json.RawMessage
	if json.Unmarshal(schema, &s) == nil && len(s.Required) > 0 &&
		json.Unmarshal([]byte(text), &object) == nil && object != nil {
		delete(object, s.Required[0])
		b, err := json.Marshal(object)
		if err == nil {
			return string(b)
		}
	}
	if strings.HasPrefix(text, "[") {
		return `{"wrong":true}`
	}
	return `["wrong"]`
}

func (o *output) repeatIDs(q *Request) {
	if len(o.calls) == 0 && len(q.Tools) > 0 {
		o.calls = []llm.ToolCall{callOf(&q.Tools[0], q)}
		o.text, o.finish = "", llm.FinishToolCalls
	}
	if len(o.calls) == 1 {
		o.calls = append(o.calls, o.calls[0])
	}
	for i := range o.calls {
		o.calls[i].ID = "call_0"
	}
}

// spoilBytes puts the bytes in that JSON encoding would not let through.
func (f *Fault) spoilBytes(b []byte) []byte {
	if f.is(InvalidUTF8) {
		return bytes.ReplaceAll(b, []byte(badByte), []byte{0xff, 0xfe})
	}
	return b
}
