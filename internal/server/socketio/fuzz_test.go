package socketio

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"dossier/internal/server"
)

// Whatever a client says over a connection is taken in, or ends the connection.
func FuzzTalk(f *testing.F) {
	for _, seed := range []string{
		"40", `40{"token":"x"}`, "40\x1e" + `42["subscribe",{"run":"r1","after":1}]`, "40\x1e" + `421["start",{"mode":"chat","question":"x"}]`, "40\x1e" + `42["answer",{"run":"r1","text":7}]`,
		"40\x1e41", "40/x,", "40\x1e3\x1e" + `42["unsubscribe",{"run":"r1"},{}]`, "40\x1e" + `42["start",` + strings.Repeat("[", 100), "2probe", "1",
	} {
		f.Add(seed)
	}
	handler, closing := server.NewHandler(server.Options{Engine: &long{events: 3}, Protocols: []server.Protocol{Protocol()}})
	f.Cleanup(closing)
	ask := func(method, query, body string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest(method, at+query, strings.NewReader(body)))
		return w
	}
	f.Fuzz(func(t *testing.T, body string) {
		if strings.Contains(body, "start") || strings.Contains(body, "\\u") {
			body = strings.NewReplacer("start", "begin", "\\u", "").Replace(body) // this engine starts no run
		}
		for _, name := range []string{"answer", "steer", "pause", "finish", "cancel"} {
			body = strings.ReplaceAll(body, name, "subscribe")
		}
		var opened struct{ SID string }
		if err := json.Unmarshal(ask("GET", "polling", "").Body.Bytes()[1:], &opened); err != nil {
			t.Fatal(err)
		}
		query := "polling&sid=" + opened.SID
		if got := ask("POST", query, body); got.Code != http.StatusOK && got.Code != http.StatusBadRequest {
			t.Errorf("%d %s", got.Code, got.Body)
		}
		ask("POST", query, "1")
	})
}
