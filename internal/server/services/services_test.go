package services_test

import (
	"encoding/json"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"dossier"
	"dossier/internal/server"
	"dossier/internal/server/internal/sitetest"
	"dossier/internal/server/services"
	"dossier/lang"
	"dossier/llm/llmtest"
	"dossier/mode"
	"dossier/mode/console"
	"dossier/mode/ingest"
	"dossier/run"
	"dossier/sources"
)

var script = llmtest.Script{Rules: []llmtest.Rule{{Reply: llmtest.Do(func(q *llmtest.Request) *llmtest.Reply {
	if strings.Contains(q.Messages[0].Content, "You write haiku") {
		return llmtest.Say("Старый тихий пруд.\nЛягушка прыгнула вниз —\nвсплеск в тишине дня.")
	}
	return llmtest.Say("The harbour was built in 1874 [1].")
})}}}

// start serves the services to ann, whose collection is the one in use, and to bob.
func start(t *testing.T, withModel bool) *sitetest.Site {
	t.Helper()
	s := sitetest.Start(t, sitetest.Options{Script: script, Protocols: func(e *dossier.Engine) []server.Protocol {
		o := services.Options{Passages: e.Passages, Lang: lang.Russian, TopK: 2, IntN: rand.IntN}
		if withModel {
			o.Write = console.WriteBy(e.Completions(), false)
		}
		return []server.Protocol{services.Protocol(o)}
	}})
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "harbour.txt"), []byte("The harbour of Oststrand was built in 1874. It has two piers of granite."), 0o600); err != nil {
		t.Fatal(err)
	}
	rec, err := s.Engine.Start(t.Context(), dossier.Request{Mode: ingest.Name, User: "ann", Request: mode.Request{Question: "add", In: sources.Target{Paths: []string{dir}, Collection: "papers"}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range s.Engine.Events(t.Context(), rec.ID, 0) {
		if err != nil {
			t.Fatal(err)
		}
	}
	if got, err := s.Engine.Get(t.Context(), rec.ID); err != nil || got.Status != run.Done {
		t.Fatalf("%+v %v", got, err)
	}
	if _, err := s.Engine.UseCollection(t.Context(), "papers"); err != nil {
		t.Fatal(err)
	}
	return s
}

func ask(t *testing.T, s *sitetest.Site, token, method, path, body string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, s.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(raw)
}

func TestServices(t *testing.T) {
	s := start(t, true)
	for _, path := range []string{"/rag/health", "/haiku/health"} {
		if status, body := ask(t, s, "", "GET", path, ""); status != 200 || strings.TrimSpace(body) != `{"status":"ok"}` {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
	status, body := ask(t, s, s.Ann, "POST", "/rag/search", `{"question":"When was the harbour built?","top_k":1}`)
	var found console.Found
	if err := json.Unmarshal([]byte(body), &found); err != nil || status != 200 || found.Answer != "The harbour was built in 1874 [1]." || len(found.Titles) != 1 || !strings.Contains(found.Texts[0], "granite") || found.Error != "" {
		t.Errorf("%d %s", status, body)
	}
	status, body = ask(t, s, s.Bob, "POST", "/haiku/generate_haiku", `{"theme":"пруд"}`)
	var poem console.Haiku
	if err := json.Unmarshal([]byte(body), &poem); err != nil || status != 200 || poem.Words != 10 || len(poem.Syllables) != 3 || poem.Composed || !strings.HasPrefix(poem.Text, "Старый тихий пруд.\n") {
		t.Errorf("%d %s", status, body)
	}
}

// What is ann's is not there for bob, and nobody unknown is let in.
func TestSearchIsTheCallers(t *testing.T) {
	s := start(t, false)
	for _, token := range []string{s.Bob, ""} {
		status, body := ask(t, s, token, "POST", "/rag/search", `{"question":"When was the harbour built?"}`)
		if strings.Contains(body, "1874") || strings.Contains(body, "papers") || token == "" && status != http.StatusUnauthorized {
			t.Errorf("%d %s", status, body)
		}
		if token == s.Bob && (status != 200 || !strings.Contains(body, `"error":`)) {
			t.Errorf("%d %s", status, body)
		}
	}
	if status, _ := ask(t, s, "", "POST", "/haiku/generate_haiku", `{"theme":"x"}`); status != http.StatusUnauthorized {
		t.Errorf("%d", status)
	}
}

func TestBadRequests(t *testing.T) {
	s := start(t, false)
	for _, c := range [][2]string{
		{"/rag/search", `{}`}, {"/rag/search", `{"question":"  "}`}, {"/rag/search", `{"question":7}`}, {"/rag/search", `]`},
		{"/rag/search", `{"question":"a","top_k":-1}`}, {"/rag/search", `{"question":"a","top_k":1000}`}, {"/rag/search", `{"question":"` + strings.Repeat("a", 5000) + `"}`},
		{"/haiku/generate_haiku", `{}`}, {"/haiku/generate_haiku", `{"theme":[]}`}, {"/haiku/generate_haiku", ``},
	} {
		if status, body := ask(t, s, s.Ann, "POST", c[0], c[1]); status < 400 || status > 499 {
			t.Errorf("%s %.40s: %d %s", c[0], c[1], status, body)
		}
	}
}

// The console agent's own client reads what is served here.
func TestRemoteReadsThis(t *testing.T) {
	s := start(t, false)
	rag := &console.Remote{URL: s.URL + "/rag/", HTTP: http.DefaultClient, Timeout: time.Minute, Key: s.Ann}
	if status, err := rag.Health(t.Context()); status != console.Healthy || err != nil {
		t.Errorf("%q %v", status, err)
	}
	found, err := rag.Search(t.Context(), "When was the harbour built?", 2)
	if err != nil || !found.Extractive || !strings.Contains(found.Answer, "built in 1874") {
		t.Errorf("%+v %v", found, err)
	}
	poet := &console.Remote{URL: s.URL + "/haiku", HTTP: http.DefaultClient, Timeout: time.Minute, Key: s.Ann}
	poem, err := poet.Generate(t.Context(), "осень")
	if err != nil || !poem.Composed || len(poem.Syllables) != 3 || poem.Syllables[1] != 7 {
		t.Errorf("%+v %v", poem, err)
	}
}
