package cli_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A program that starts its servers itself asks about a folder, over standard
// input and output, and the run is kept as any other.
func TestMCPServeWithTheOfficialClient(t *testing.T) {
	dir := t.TempDir()
	folder := filepath.Join(dir, "contracts")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string]string{
		filepath.Join(folder, "pump.md"):  "# The pump\n\nThe warranty of the pump lasts seven years from the day of delivery.\n",
		filepath.Join(dir, "config.yaml"): fmt.Sprintf("server: {folders: [%q]}\nsearch: {engines: none}\n", folder),
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "DOSSIER_CONFIG=" + filepath.Join(dir, "config.yaml"), "DOSSIER_DATA=" + filepath.Join(dir, "data")}
	for _, version := range []string{"2026-07-28", "2025-11-25"} {
		cmd := exec.Command("dossier", "mcp", "serve")
		cmd.Env, cmd.Stderr = env, os.Stderr
		c, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, &mcp.ClientSessionOptions{ProtocolVersion: version})
		if err != nil {
			t.Fatal(err)
		}
		if got := c.InitializeResult().ProtocolVersion; got != version {
			t.Errorf("the version is %s, want %s", got, version)
		}
		res, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: "research", Arguments: map[string]any{"question": "How long is the warranty of the pump?", "folders": []string{folder}}})
		if err != nil {
			t.Fatal(err)
		}
		fields, _ := res.StructuredContent.(map[string]any)
		if answer, _ := fields["answer"].(string); !strings.Contains(answer, "seven years") {
			t.Errorf("%s: %+v", version, fields)
		}
		if report, err := c.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: fmt.Sprint(fields["report"])}); err != nil || !strings.Contains(report.Contents[0].Text, "seven years") {
			t.Errorf("%s: the report %v: %v", version, fields["report"], err)
		}
		if err := c.Close(); err != nil {
			t.Errorf("%s: %v", version, err)
		}
		show := exec.Command("dossier", "runs", "show", fmt.Sprint(fields["run"]))
		show.Env = env
		if out, err := show.CombinedOutput(); err != nil || !strings.Contains(string(out), "warranty") {
			t.Errorf("%s: %v\n%s", version, err, out)
		}
	}
}
