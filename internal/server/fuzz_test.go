package server

import (
	"bufio"
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"strings"
	"testing"

	"dossier"
	"dossier/run"
)

// Whatever comes as the body of any route is taken or refused as what the client did
// wrong, in words.
func FuzzBodies(f *testing.F) {
	var bodies []reflect.Type
	for _, route := range (&api{}).routes().Routes {
		if route.Doc != nil && route.Doc.Body != nil {
			bodies = append(bodies, reflect.TypeOf(route.Doc.Body))
		}
	}
	for _, seed := range []string{
		`{"mode":"chat","question":"hello","in":{"web":{"sites":["a.example"]}},"limits":{"tokens":7,"time":"1m"},"custom_context":{"a":{"b":[1]}}}`,
		`{"messages":[{"role":"user","content":[{"type":"text","text":"x"}]},{"role":"tool","tool_call_id":"c","content":null}]}`,
		`{"at":"plan","question":"again"}`, `{"ask":"?1","text":"yes"}`, `{"document":"base_class: ToolCallingAgent"}`, `{"user":"ann","scopes":["read"],"expires":"2030-01-01T00:00:00Z"}`,
		`{"arguments":{"x":1e999}}`, `[`, `null`, `{} {}`, strings.Repeat(`{"in":`, 20), "\xff\xfe{}",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, body := range bodies {
			for _, strict := range []bool{true, false} {
				err := decode(bytes.NewReader(raw), reflect.New(body).Interface(), strict)
				if err == nil {
					continue
				}
				if p := Describe(err); statusFor(p)/100 != 4 || p.Message == "" {
					t.Errorf("%s: %+v", body, p)
				}
			}
		}
	})
}

// listed is an engine without runs.
type listed struct{ Engine }

func (listed) List(context.Context, dossier.Filter) ([]run.Record, error) { return nil, nil }

// Whatever is asked of the list of runs is answered, or is the client's mistake.
func FuzzQuery(f *testing.F) {
	for _, seed := range []string{"limit=7&since=2026-03-01&q=a+b", "until=2026-03-01T12:00:00Z&mode=deep", "limit=-1", "since=yesterday", "%zz&;", "after=9223372036854775808"} {
		f.Add(seed)
	}
	a := &api{engine: listed{}, closing: context.Background()}
	f.Fuzz(func(t *testing.T, query string) {
		r := (&http.Request{Method: http.MethodGet, URL: &url.URL{Path: "/api/runs", RawQuery: query}, Header: http.Header{"Last-Event-Id": {query}}}).WithContext(a.as(context.Background()))
		w := httptest.NewRecorder()
		if err := list(w, r); err != nil && statusFor(Describe(err)) != http.StatusBadRequest {
			t.Errorf("%v", err)
		}
		if _, err := After(r); err != nil && statusFor(Describe(err)) != http.StatusBadRequest {
			t.Errorf("%v", err)
		}
	})
}

// A stream of another process is read to its end, whatever is in it.
func FuzzReadMessage(f *testing.F) {
	for _, seed := range []string{": c\n\nid: 1\ndata: a\ndata: b\n\n", "event: end\ndata: {}\n\n", "data\n\n\r\n", "id: 1"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		in := bufio.NewReader(bytes.NewReader(raw))
		for n := 0; ; n++ {
			if _, _, err := readMessage(in); err != nil {
				return
			}
			if n > len(raw) {
				t.Fatal("it has no end")
			}
		}
	})
}
