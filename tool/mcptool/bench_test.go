package mcptool

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"dossier/tool"
)

// BenchmarkCall is a call of a tool that does nothing, over each transport.
func BenchmarkCall(b *testing.B) {
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	server := fullServer(b.Context())
	h := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil))
	b.Cleanup(func() {
		h.CloseClientConnections()
		h.Close()
	})
	for _, s := range []Server{
		{Name: "stdio", Command: self, Env: map[string]string{"MCPTOOL_TEST_SERVER": "full"}},
		{Name: "http", URL: h.URL},
	} {
		b.Run(s.Name, func(b *testing.B) {
			c := New(context.WithoutCancel(b.Context()), []Server{s}, Options{})
			defer c.Close()
			tools, troubles := all(b.Context(), c)
			if len(tools) == 0 {
				b.Fatal(troubles)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := tools[0].Call(b.Context(), &tool.Call{Args: json.RawMessage(`{"text":"x"}`)}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
