package search_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"dossier/search"
)

func call(t *testing.T, h http.HandlerFunc) *search.Error {
	t.Helper()
	server := httptest.NewServer(h)
	defer server.Close()
	req, err := http.NewRequest(http.MethodGet, server.URL+"/?key=secret", nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = search.Call(t.Context(), server.Client(), "test", req)
	fault, ok := errors.AsType[*search.Error](err)
	if !ok {
		t.Fatalf("%v", err)
	}
	return fault
}

func TestCountsDownToItsLimit(t *testing.T) {
	for name, c := range map[string]struct {
		status           int
		remaining, reset string
		after            string // Retry-After
		want             search.Reason
		least, most      time.Duration
	}{
		"since 1970":        {403, "0", strconv.FormatInt(time.Now().Add(time.Minute).Unix(), 10), "", search.RateLimited, 50 * time.Second, time.Minute},
		"from now":          {429, "0", "30", "", search.RateLimited, 30 * time.Second, 30 * time.Second},
		"already over":      {403, "0", strconv.FormatInt(time.Now().Add(-time.Minute).Unix(), 10), "", search.RateLimited, 0, 0},
		"far away":          {403, "0", "99999999999", "", search.RateLimited, 24 * time.Hour, 24 * time.Hour},
		"negative":          {403, "0", "-5", "", search.RateLimited, 0, 0},
		"no number":         {403, "0", "soon", "", search.RateLimited, 0, 0},
		"the other header":  {403, "0", "30", "7", search.RateLimited, 7 * time.Second, 7 * time.Second},
		"some left":         {403, "12", "30", "", search.Blocked, 0, 0},
		"not a refusal":     {500, "0", "30", "", search.Unavailable, 0, 0},
		"says it in a word": {403, "", "", "", search.Blocked, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			fault := call(t, func(w http.ResponseWriter, _ *http.Request) {
				for key, value := range map[string]string{"X-RateLimit-Remaining": c.remaining, "X-RateLimit-Reset": c.reset, "Retry-After": c.after} {
					if value != "" {
						w.Header().Set(key, value)
					}
				}
				w.WriteHeader(c.status)
			})
			if fault.Reason != c.want || fault.RetryAfter < c.least || fault.RetryAfter > c.most {
				t.Errorf("%v, %v", fault, fault.RetryAfter)
			}
		})
	}
}

func TestDecodeXML(t *testing.T) {
	type feed struct {
		XMLName struct{} `xml:"feed"`
	}
	for body, want := range map[string]search.Reason{
		`<?xml version="1.0"?><feed/>`:                        "",
		`<html><body><div class="g-recaptcha"></body></html>`: search.Blocked,
		`<!DOCTYPE html><p>hello`:                             search.Malformed,
		`<rss/>`:                                              search.Malformed,
		`{"a":1}`:                                             search.Malformed,
		``:                                                    search.Malformed,
		`<feed>`:                                              search.Malformed,
	} {
		err := search.DecodeXML("test", []byte(body), &feed{})
		if search.ReasonOf(err) != want || (want == "") != (err == nil) {
			t.Errorf("%q: %v", body, err)
		}
	}
}

func TestErrorsKeepTheRequest(t *testing.T) {
	fault := call(t, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	if fault.Reason != search.Unreachable || strings.Contains(fmt.Sprint(fault, fault.Err), "secret") {
		t.Error(fault)
	}
}
