// Package bocha searches with Bocha (博查), whose index is strong in Chinese:
// https://bocha-ai.feishu.cn/wiki/RXEOw02rFiwzGSkd9mUcqoeAnNK. Its results have
// the form of the former Bing Search API.
package bocha

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"dossier/lang"
	"dossier/search"
)

const (
	name        = "bocha"
	defaultBase = "https://api.bocha.cn"
	// mostCount is how many results the service gives at most.
	mostCount = 50
)

// Config is how to reach the service.
type Config struct {
	// URL of the service; "" is its own.
	URL string
	Key string
}

// Engine asks the service.
type Engine struct {
	client *http.Client
	conf   Config
}

// New returns the engine.
func New(client *http.Client, c Config) *Engine {
	c.URL = strings.TrimRight(cmp.Or(c.URL, defaultBase), "/")
	return &Engine{client: client, conf: c}
}

// Info describes the engine.
func (e *Engine) Info() search.Info {
	return search.Info{
		Name: name, Topics: []search.Topic{search.General},
		Document: "https://bocha-ai.feishu.cn/wiki/RXEOw02rFiwzGSkd9mUcqoeAnNK",
	}
}

type question struct {
	Query     string `json:"query"`
	Freshness string `json:"freshness,omitempty"` // 2006-01-02..2006-01-02
	Summary   bool   `json:"summary"`
	Count     int    `json:"count,omitempty"`
	Include   string `json:"include,omitempty"` // domains with | between them
}

type reply struct {
	Code code   `json:"code"`
	Msg  string `json:"msg"`
	// Message is what errors have in place of Msg.
	Message string `json:"message"`
	Data    *struct {
		Type  string `json:"_type"` // "SearchResponse"
		Pages *struct {
			Value []struct {
				URL       string `json:"url"`
				Name      string `json:"name"`
				Snippet   string `json:"snippet"`
				Summary   string `json:"summary"`
				SiteName  string `json:"siteName"`
				Published string `json:"datePublished"`
				Language  string `json:"language"`
			} `json:"value"`
		} `json:"webPages"`
	} `json:"data"`
}

// code is a number in results and a text in errors.
type code int

func (c *code) UnmarshalJSON(data []byte) error {
	n, err := strconv.Atoi(strings.Trim(string(data), `"`))
	if err == nil {
		*c = code(n)
	}
	return nil
}

// Search passes on the limit up to mostCount, both bounds of time and the
// sites. The service has no parameter for a language.
func (e *Engine) Search(ctx context.Context, q search.Query) ([]search.Hit, error) {
	if e.conf.Key == "" {
		return nil, search.NoKey(name)
	}
	body, err := json.Marshal(question{
		Query: q.Text, Freshness: q.Span("..", time.Now()), Summary: true, Count: min(q.Limit, mostCount), Include: strings.Join(q.Sites, "|"),
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.conf.URL+"/v1/web-search", bytes.NewReader(body))
	if err != nil {
		return nil, search.BadAddress(name)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+e.conf.Key)
	body, err = search.Call(ctx, e.client, name, req)
	if err != nil {
		if fault, ok := errors.AsType[*search.Error](err); ok && fault.Status == http.StatusForbidden && fault.Detail != "" {
			fault.Reason = reasonFor(fault.Status)
		}
		return nil, err
	}
	var r reply
	if err := search.Decode(name, body, &r); err != nil {
		return nil, err
	}
	return r.hits(q.Limit)
}

func (r reply) hits(limit int) ([]search.Hit, error) {
	if r.Code != 0 && r.Code != http.StatusOK {
		return nil, &search.Error{
			Engine: name, Reason: reasonFor(int(r.Code)), Status: http.StatusOK, Detail: fmt.Sprintf("%d %s", r.Code, search.Line(cmp.Or(r.Message, r.Msg))),
		}
	}
	if r.Data == nil || r.Data.Pages == nil && r.Data.Type != "SearchResponse" {
		return nil, search.Missing(name, "data.webPages")
	}
	if r.Data.Pages == nil {
		return nil, nil
	}
	var hits []search.Hit
	for _, page := range r.Data.Pages.Value {
		if page.URL == "" {
			continue
		}
		if limit > 0 && len(hits) == limit {
			break
		}
		hits = append(hits, search.Hit{
			URL: page.URL, Title: search.Line(page.Name), Snippet: search.Line(page.Snippet), Text: strings.TrimSpace(page.Summary),
			Site: search.Line(page.SiteName), Date: search.Day(page.Published), Lang: lang.Code(page.Language), Engine: name,
		})
	}
	return hits, nil
}

// reasonFor is the reason in a code of the service, which are those of HTTP. It
// uses 403 for an account that has run out of money.
func reasonFor(code int) search.Reason {
	switch {
	case code == http.StatusUnauthorized, code == http.StatusPaymentRequired, code == http.StatusForbidden:
		return search.Unauthorized
	case code == http.StatusTooManyRequests:
		return search.RateLimited
	case code >= 500:
		return search.Unavailable
	}
	return search.Rejected
}
