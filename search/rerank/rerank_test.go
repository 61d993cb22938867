package rerank

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"dossier/search"
)

// server speaks the formats of Cohere and of TEI, the best first, as they do. A
// text scores by how many of the query's words it has.
type server struct {
	cohere, tei bool
	most        int // texts at once

	mu      sync.Mutex
	asked   []string // format and number of texts
	longest int
	auth    string
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var q struct {
		Model     *string  `json:"model"`
		Query     string   `json:"query"`
		Documents []string `json:"documents"`
		TopN      *int     `json:"top_n"`
		Texts     []string `json:"texts"`
		Truncate  *bool    `json:"truncate"`
	}
	refuse := func(status int, text string) {
		w.WriteHeader(status)
		fmt.Fprintf(w, `{"error":%q,"error_type":"validation"}`, text)
	}
	if err := json.NewDecoder(r.Body).Decode(&q); err != nil || r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/json" {
		refuse(400, "not JSON")
		return
	}
	format, texts := "cohere", q.Documents
	if q.Texts != nil {
		format, texts = "tei", q.Texts
	}
	s.mu.Lock()
	s.asked = append(s.asked, fmt.Sprint(format, " ", len(texts)))
	s.auth = r.Header.Get("Authorization")
	for _, text := range texts {
		s.longest = max(s.longest, len(text))
	}
	s.mu.Unlock()
	switch {
	case !strings.HasSuffix(r.URL.Path, "/rerank"):
		refuse(404, "no such path")
		return
	case format == "tei" && (!s.tei || q.Truncate == nil || !*q.Truncate):
		refuse(422, "missing field `documents`")
		return
	case format == "cohere" && (!s.cohere || q.TopN == nil || *q.TopN != len(texts)):
		refuse(422, "missing field `texts`")
		return
	case s.most > 0 && len(texts) > s.most:
		refuse(413, fmt.Sprintf("batch size %d > maximum allowed batch size %d", len(texts), s.most))
		return
	}
	type result struct {
		Index int      `json:"index"`
		Cohen *float64 `json:"relevance_score,omitempty"`
		Score *float64 `json:"score,omitempty"`
	}
	results := []result{}
	for i, text := range texts {
		score := 0.0
		for word := range strings.FieldsSeq(q.Query) {
			if strings.Contains(text, word) {
				score += 0.25
			}
		}
		if format == "tei" {
			results = append(results, result{Index: i, Score: &score})
		} else {
			results = append(results, result{Index: i, Cohen: &score})
		}
	}
	slices.SortStableFunc(results, func(a, b result) int { // the best first
		if a.Score == nil {
			a.Score, b.Score = a.Cohen, b.Cohen
		}
		return int(100 * (*b.Score - *a.Score))
	})
	var reply any = results
	if format == "cohere" {
		reply = map[string]any{"id": "07734bd2", "results": results, "meta": map[string]any{"billed_units": map[string]int{"search_units": 1}}}
	}
	_ = json.NewEncoder(w).Encode(reply)
}

func start(t *testing.T, h http.Handler, conf Config) *Client {
	t.Helper()
	web := httptest.NewServer(h)
	t.Cleanup(web.Close)
	conf.URL = web.URL + conf.URL
	c, err := New(conf, web.Client())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func texts(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = []string{"bees and honey", "мёд", "蜂蜜 and bees", "honey bees roof city"}[i%4]
	}
	return out
}

func TestFormats(t *testing.T) {
	for name, c := range map[string]struct {
		server *server
		conf   Config
		asked  []string // of the first call; the second asks only in what worked
	}{
		"Cohere":                      {&server{cohere: true}, Config{URL: "/v2/rerank", Model: "m", Format: Cohere}, []string{"cohere 5"}},
		"TEI":                         {&server{tei: true}, Config{Format: TEI}, []string{"tei 5"}},
		"TEI by its endpoint":         {&server{tei: true}, Config{URL: "/rerank/", Format: TEI}, []string{"tei 5"}},
		"auto, Cohere by its path":    {&server{cohere: true}, Config{URL: "/v1/rerank"}, []string{"cohere 5"}},
		"auto, Cohere by its model":   {&server{cohere: true}, Config{URL: "/v1/?version=3", Model: "m"}, []string{"cohere 5"}},
		"auto, TEI":                   {&server{tei: true}, Config{Format: Auto}, []string{"tei 5"}},
		"auto, TEI with a model":      {&server{tei: true}, Config{Model: "m"}, []string{"cohere 5", "tei 5"}},
		"auto, Cohere without a sign": {&server{cohere: true}, Config{URL: "/rerank"}, []string{"tei 5", "cohere 5"}},
	} {
		t.Run(name, func(t *testing.T) {
			c.conf.Key = "secret"
			client := start(t, c.server, c.conf)
			for range 2 {
				got, err := client.Rerank(t.Context(), "bees honey roof", texts(5))
				if want := "[0.5 0 0.25 0.75 0.5]"; err != nil || fmt.Sprint(got) != want {
					t.Fatalf("%v, %v", got, err)
				}
			}
			want := slices.Concat(c.asked, c.asked[len(c.asked)-1:])
			if !slices.Equal(c.server.asked, want) || c.server.auth != "Bearer secret" {
				t.Errorf("asked %v, not %v, as %q", c.server.asked, want, c.server.auth)
			}
		})
	}
}

func TestBatches(t *testing.T) {
	for name, c := range map[string]struct {
		server *server
		conf   Config
		n      int
		want   string
	}{
		"TEI":                     {&server{tei: true}, Config{Format: TEI}, 70, "[tei 32 tei 32 tei 6]"},
		"Cohere":                  {&server{cohere: true}, Config{URL: "/rerank", Format: Cohere}, 210, "[cohere 100 cohere 100 cohere 10]"},
		"TEI that takes fewer":    {&server{tei: true, most: 10}, Config{Format: TEI}, 20, "[tei 20 tei 10 tei 10]"},
		"fewer, in another shape": {&server{cohere: true, most: 20}, Config{URL: "/rerank"}, 50, "[tei 32 cohere 50 cohere 25 cohere 12 cohere 12 cohere 12 cohere 12 cohere 2]"},
		"none":                    {&server{tei: true}, Config{Format: TEI}, 0, "[]"},
	} {
		client := start(t, c.server, c.conf)
		got, err := client.Rerank(t.Context(), "bees honey roof", texts(c.n))
		if err != nil || len(got) != c.n || fmt.Sprint(c.server.asked) != c.want {
			t.Errorf("%s: %d scores, %v, asked %v", name, len(got), err, c.server.asked)
		}
		for i, score := range got {
			if want := []float64{0.5, 0, 0.25, 0.75}[i%4]; score != want {
				t.Fatalf("%s: text %d scores %v", name, i, score)
			}
		}
	}
}

func TestOddTexts(t *testing.T) {
	s := &server{tei: true}
	client := start(t, s, Config{})
	got, err := client.Rerank(t.Context(), "bees roof", []string{"", "bees", " \n", strings.Repeat("я", mostText) + " roof", "bees roof"})
	if want := "[0 0.25 0 0 0.5]"; err != nil || fmt.Sprint(got) != want || fmt.Sprint(s.asked) != "[tei 3]" || s.longest > mostText {
		t.Errorf("%v, %v, asked %v with %d bytes", got, err, s.asked, s.longest)
	}
	if text := cut("a" + strings.Repeat("я", mostText)); !utf8.ValidString(text) || len(text) != mostText-1 {
		t.Errorf("cut to %d bytes", len(text))
	}
	if got, err := client.Rerank(t.Context(), "q", []string{"", " "}); err != nil || len(got) != 2 || len(s.asked) != 1 {
		t.Error(got, err, s.asked)
	}
}

func TestFaults(t *testing.T) {
	cohere := func(results string) string { return `{"results":[` + results + `]}` }
	for what, c := range map[string]struct {
		format Format
		status int
		body   string
		want   search.Reason
	}{
		"too many":          {Auto, 429, `{"error":"Model is overloaded","error_type":"overloaded"}`, search.RateLimited},
		"no key":            {Auto, 401, `{"message":"invalid api token"}`, search.Unauthorized},
		"broken":            {Auto, 500, "oops", search.Unavailable},
		"no reranker":       {TEI, 424, `{"error":"model is not a re-ranker model","error_type":"backend"}`, search.Rejected},
		"not understood":    {Auto, 422, `{"error":"what?"}`, search.Rejected},
		"a page":            {Auto, 200, "<html>Welcome</html>", search.Malformed},
		"nothing":           {Auto, 200, "", search.Malformed},
		"other JSON":        {Cohere, 200, `{"data":[]}`, search.Malformed},
		"null":              {TEI, 200, `null`, search.Malformed},
		"missing":           {Cohere, 200, cohere(`{"index":0,"relevance_score":1}`), search.Malformed},
		"twice":             {Cohere, 200, cohere(`{"index":0,"relevance_score":1},{"index":0,"relevance_score":1}`), search.Malformed},
		"out of range":      {TEI, 200, `[{"index":0,"score":1},{"index":2,"score":1}]`, search.Malformed},
		"below range":       {TEI, 200, `[{"index":0,"score":1},{"index":-1,"score":1}]`, search.Malformed},
		"no index":          {TEI, 200, `[{"index":0,"score":1},{"score":1}]`, search.Malformed},
		"no score":          {TEI, 200, `[{"index":0,"score":1},{"index":1,"score":null}]`, search.Malformed},
		"one too many":      {TEI, 200, `[{"index":0,"score":1},{"index":1,"score":1},{"index":1,"score":1}]`, search.Malformed},
		"one text too much": {TEI, 413, `{"error":"batch size"}`, search.Rejected},
	} {
		t.Run(what, func(t *testing.T) {
			client := start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				w.WriteHeader(c.status)
				fmt.Fprint(w, c.body)
			}), Config{URL: "/rerank", Key: "secret", Format: c.format})
			got, err := client.Rerank(t.Context(), "q", []string{"a", "b"})
			fault, ok := errors.AsType[*search.Error](err)
			if !ok || fault.Reason != c.want || fault.Engine != name || got != nil || strings.Contains(fmt.Sprintf("%+v", fault), "secret") {
				t.Errorf("%v, %v", got, err)
			}
		})
	}
}

// A mistaken guess is not what the user is told.
func TestErrorsOfAGuess(t *testing.T) {
	client := start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if strings.Contains(string(body), `"texts"`) {
			w.WriteHeader(422)
			return
		}
		w.WriteHeader(401)
	}), Config{URL: "/rerank"})
	if _, err := client.Rerank(t.Context(), "q", []string{"a"}); search.ReasonOf(err) != search.Unauthorized {
		t.Error(err)
	}
}

type deaf struct{}

func (deaf) RoundTrip(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

func TestTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, err := New(Config{URL: "http://rerank.example", Timeout: 3 * time.Second}, &http.Client{Transport: deaf{}})
		if err != nil {
			t.Fatal(err)
		}
		begin := time.Now()
		if _, err := client.Rerank(t.Context(), "q", []string{"a"}); search.ReasonOf(err) != search.TooSlow || time.Since(begin) != 3*time.Second {
			t.Errorf("%v after %v", err, time.Since(begin))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := client.Rerank(ctx, "q", []string{"a"}); !errors.Is(err, context.DeadlineExceeded) || search.ReasonOf(err) != "" {
			t.Error(err)
		}
	})
}

func TestConfig(t *testing.T) {
	for _, conf := range []Config{{}, {URL: "localhost:8080"}, {URL: "ftp://a.example"}, {URL: "http://a.example", Format: "jina"}, {URL: "http://user:secret@ /"}} {
		if _, err := New(conf, http.DefaultClient); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%+v: %v", conf, err)
		}
	}
}

func TestMany(t *testing.T) {
	client := start(t, &server{tei: true}, Config{Model: "m"})
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if got, err := client.Rerank(t.Context(), "bees", texts(40)); err != nil || len(got) != 40 {
				t.Error(len(got), err)
			}
		})
	}
	wg.Wait()
}
