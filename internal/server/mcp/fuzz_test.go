package mcp_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"dossier"
	"dossier/internal/access"
	"dossier/internal/server"
	"dossier/internal/server/mcp"
)

// Whatever a client sends is answered, and with a status that blames the client.
func FuzzRequest(f *testing.F) {
	for _, seed := range []struct{ version, body string }{
		{"2025-11-25", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`},
		{"2025-11-25", `{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"run_status","arguments":{"run":"x"},"_meta":{"progressToken":1}}}`},
		{"2025-11-25", `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"dossier://runs/x/report.md"}}`},
		{"2025-11-25", `{"jsonrpc":"2.0","id":1,"method":"resources/list","params":{"cursor":"x"}}`},
		{"2026-07-28", `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`},
		{"2026-07-28", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"research","arguments":{"question":"x"},"requestState":"x","inputResponses":{"?1":{"action":"accept","content":{"answer":7}}}}}`},
		{"", `[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}]`},
		{"2025-11-25", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"research","arguments":` + strings.Repeat("[", 5000)},
	} {
		f.Add(seed.version, seed.body)
	}
	e, err := dossier.Open(f.Context(), dossier.Options{DataDir: f.TempDir(), Env: []string{"HOME=" + f.TempDir(), "DOSSIER_CONFIG=none", "DOSSIER_SEARCH_ENGINES=none"}})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = e.Close() })
	serve := mcp.Protocol(mcp.Options{Version: "test"}).Routes[0].Serve
	// Who may only look starts nothing.
	looks := server.Admit(context.Background(), e, access.Caller{User: "eve", Scopes: []access.Scope{access.Read}}, &server.Policy{}, nil)
	f.Fuzz(func(t *testing.T, version, body string) {
		ctx, cancel := context.WithTimeout(looks, 10*time.Second)
		defer cancel()
		r := httptest.NewRequestWithContext(ctx, http.MethodPost, mcp.Path, strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		if version != "" {
			r.Header.Set("Mcp-Protocol-Version", version)
		}
		w := httptest.NewRecorder()
		if err := serve(w, r); err != nil || w.Code >= http.StatusInternalServerError {
			t.Errorf("%d %s, %v", w.Code, w.Body, err)
		}
	})
}
