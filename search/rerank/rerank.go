// Package rerank asks an HTTP endpoint how well texts answer a query, in the
// two formats that such endpoints speak:
//
//   - Cohere's, which Jina, vLLM, Infinity, Xinference and others share: POST
//     with model, query, documents and top_n; the reply has results with index
//     and relevance_score. Built from https://docs.cohere.com/reference/rerank
//     (v2), https://docs.cohere.com/v1/reference/rerank and
//     https://jina.ai/reranker (the API's schema is at
//     https://api.jina.ai/redoc).
//   - That of Text Embeddings Inference: POST /rerank with query, texts and
//     truncate; the reply is a list of index and score. Built from
//     https://huggingface.github.io/text-embeddings-inference (version 1.7).
package rerank

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"dossier/search"
)

// Format is how an endpoint wants to be asked.
type Format string

// The formats.
const (
	Auto   Format = "auto" // found out by asking; the default
	Cohere Format = "cohere"
	TEI    Format = "tei"
)

// Config says where the endpoint is.
type Config struct {
	// URL of the endpoint: in Cohere's format the whole of it
	// (https://api.jina.ai/v1/rerank), for TEI the server's. With Auto both will
	// do.
	URL string
	// Key is sent as a bearer token, if there is one.
	Key string
	// Model that is asked for; TEI serves one and wants no name.
	Model  string
	Format Format
	// Timeout is how long one request may take; 20 s if it is 0.
	Timeout time.Duration
}

const (
	// The most texts of one request: TEI refuses more unless it is told
	// otherwise, and Cohere counts that many as one search.
	mostTEI, mostCohere = 32, 100
	// mostText bounds the bytes of one text. Models read less.
	mostText = 16 << 10
	// name of the endpoint in errors.
	name = "reranker"
)

// Client asks an endpoint. It is safe for concurrent use.
type Client struct {
	conf   Config
	base   *url.URL
	client *http.Client
	// known is the format that the endpoint turned out to speak.
	known atomic.Pointer[Format]
	// most is how many texts the endpoint turned out to take at once; 0 is not
	// known.
	most atomic.Int64
}

var _ search.Reranker = (*Client)(nil)

// New returns a client for the endpoint in conf, which it checks but does not
// ask.
func New(conf Config, client *http.Client) (*Client, error) {
	u, err := url.Parse(strings.TrimSpace(conf.URL))
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, errors.New("rerank: the URL is none; write it like https://api.jina.ai/v1/rerank or http://localhost:8080")
	}
	u.Path = strings.TrimSuffix(u.Path, "/")
	switch conf.Format {
	case "":
		conf.Format = Auto
	case Auto, Cohere, TEI:
	default:
		return nil, fmt.Errorf("rerank: there is no format %q; use %s, %s or %s", conf.Format, Auto, Cohere, TEI)
	}
	if conf.Timeout <= 0 {
		conf.Timeout = 20 * time.Second
	}
	return &Client{conf: conf, base: u, client: client}, nil
}

// Rerank implements search.Reranker. Long lists go out in several requests,
// whose scores are taken to be comparable, as they are with models that look at
// one text at a time. The end of a very long text is not read. A text without
// letters is not sent: it gets the lowest score of the others.
func (c *Client) Rerank(ctx context.Context, query string, texts []string) ([]float64, error) {
	var sent []string
	var places []int
	for i, text := range texts {
		if text = strings.TrimSpace(text); text != "" {
			sent, places = append(sent, cut(text)), append(places, i)
		}
	}
	scores := make([]float64, len(texts))
	got, err := c.all(ctx, query, sent)
	if err != nil {
		return nil, err
	}
	if len(got) == 0 {
		return scores, nil
	}
	lowest := slices.Min(got)
	for i := range scores {
		scores[i] = lowest
	}
	for i, at := range places {
		scores[at] = got[i]
	}
	return scores, nil
}

func cut(text string) string {
	if len(text) <= mostText {
		return text
	}
	end := mostText
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end]
}

// all asks in as many requests as it takes, in the format that the endpoint
// understands.
func (c *Client) all(ctx context.Context, query string, texts []string) ([]float64, error) {
	var scores []float64
	var first error
	formats := c.formats()
	for len(texts) > 0 {
		n := min(len(texts), c.batch(formats[0]))
		got, err := c.ask(ctx, formats[0], query, texts[:n])
		switch {
		case err == nil:
			c.known.Store(&formats[0])
			formats = formats[:1]
			scores, texts = append(scores, got...), texts[n:]
		case tooMany(err) && n > 1:
			c.most.Store(int64(n / 2)) // it was set up to take fewer
		case lost(err) && len(formats) > 1:
			first, formats = err, formats[1:]
		case lost(err) && first != nil:
			return nil, first // neither was understood: the likelier one tells more
		default:
			return nil, err
		}
	}
	return scores, nil
}

// formats are those to ask in, the likeliest first: the configured one, the one
// that worked, or both.
func (c *Client) formats() []Format {
	known := c.known.Load()
	switch {
	case c.conf.Format != Auto:
		return []Format{c.conf.Format}
	case known != nil:
		return []Format{*known}
	case c.conf.Model != "" || strings.HasSuffix(c.base.Path, "/v1/rerank") || strings.HasSuffix(c.base.Path, "/v2/rerank"):
		return []Format{Cohere, TEI}
	}
	return []Format{TEI, Cohere}
}

// batch is how many texts may go into one request.
func (c *Client) batch(f Format) int {
	most := mostCohere
	if f == TEI {
		most = mostTEI
	}
	if told := int(c.most.Load()); told > 0 {
		return min(most, told)
	}
	return most
}

func tooMany(err error) bool {
	e, ok := errors.AsType[*search.Error](err)
	return ok && e.Status == http.StatusRequestEntityTooLarge
}

// lost says whether the endpoint may not have understood the question.
func lost(err error) bool {
	reason := search.ReasonOf(err)
	return reason == search.Rejected || reason == search.Malformed
}

// ask makes one request.
func (c *Client) ask(ctx context.Context, f Format, query string, texts []string) ([]float64, error) {
	var question any
	if f == TEI {
		question = teiQuestion{query, texts, true}
	} else {
		question = cohereQuestion{c.conf.Model, query, texts, len(texts)}
	}
	body, err := json.Marshal(question)
	if err != nil {
		return nil, err
	}
	timed, cancel := context.WithTimeout(ctx, c.conf.Timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(timed, http.MethodPost, c.address(), bytes.NewReader(body))
	if err != nil {
		return nil, search.BadAddress(name)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	if c.conf.Key != "" {
		req.Header.Set("Authorization", "Bearer "+c.conf.Key)
	}
	reply, err := search.Call(timed, c.client, name, req)
	if err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, err
	}
	ranks, err := read(f, reply)
	if err != nil {
		return nil, err
	}
	return placed(ranks, len(texts))
}

// address is where to ask. A configured format is taken at its word about
// Cohere's; everything else ends in /rerank.
func (c *Client) address() string {
	if c.conf.Format == Cohere || strings.HasSuffix(c.base.Path, "/rerank") {
		return c.base.String()
	}
	return c.base.JoinPath("rerank").String()
}

type cohereQuestion struct {
	Model     string   `json:"model,omitempty"`
	Query     string   `json:"query"`
	Documents []string `json:"documents"`
	TopN      int      `json:"top_n"`
}

type teiQuestion struct {
	Query    string   `json:"query"`
	Texts    []string `json:"texts"`
	Truncate bool     `json:"truncate"`
}

// rank is what both formats say about a text.
type rank struct {
	Index     *int     `json:"index"`
	Relevance *float64 `json:"relevance_score"` // Cohere
	Score     *float64 `json:"score"`           // TEI
}

func read(f Format, reply []byte) ([]rank, error) {
	if f == TEI {
		var ranks []rank
		err := search.Decode(name, reply, &ranks)
		return ranks, err
	}
	var object struct {
		Results *[]rank `json:"results"`
	}
	if err := search.Decode(name, reply, &object); err != nil {
		return nil, err
	}
	if object.Results == nil {
		return nil, search.Missing(name, "results")
	}
	return *object.Results, nil
}

// placed puts scores in the order of the texts, each of which has one.
func placed(ranks []rank, n int) ([]float64, error) {
	wrong := func(detail string) error {
		return &search.Error{Engine: name, Reason: search.Malformed, Detail: detail}
	}
	scores, seen := make([]float64, n), make([]bool, n)
	for _, r := range ranks {
		score := r.Relevance
		if score == nil {
			score = r.Score
		}
		switch {
		case r.Index == nil || score == nil:
			return nil, wrong("a result has no index or no score")
		case *r.Index < 0 || *r.Index >= n:
			return nil, wrong(fmt.Sprintf("it ranks text %d of %d", *r.Index, n))
		case seen[*r.Index]:
			return nil, wrong(fmt.Sprintf("it ranks text %d twice", *r.Index))
		}
		scores[*r.Index], seen[*r.Index] = *score, true
	}
	if len(ranks) != n {
		return nil, wrong(fmt.Sprintf("it ranks %d of %d texts", len(ranks), n))
	}
	return scores, nil
}
