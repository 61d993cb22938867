package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dossier/internal/cli"
)

// TestHelp holds the help of every command to its golden text.
func TestHelp(t *testing.T) {
	for _, command := range []string{
		"", "research", "ask", "chat", "kb", "kb add", "kb list", "kb search", "kb docs", "kb reindex", "kb tag", "kb use", "kb rm", "dict", "dict add", "dict list", "dict remove", "doctor", "runs report", "runs", "runs list", "runs show", "runs watch", "runs answer", "runs pause", "runs resume", "runs cancel",
		"runs finish", "runs steer", "runs fork", "runs replay", "runs export", "runs rm", "verify", "models", "models show", "models list",
		"models test", "config", "config show", "config explain", "config init", "config path", "completion", "version",
		"agents", "agents list", "agents show", "agents run", "templates", "templates list", "templates show", "templates save", "templates diff", "templates publish",
		"templates rollback", "templates deprecate", "templates stats", "templates rm", "instances", "instances list", "instances show", "instances add", "instances run",
		"instances start", "instances drain", "instances stop", "instances upgrade", "instances rm", "tools", "tools list", "tools show", "tools search", "tools test",
		"schedules", "schedules list", "schedules add", "schedules show", "schedules change", "schedules pause", "schedules resume", "schedules run", "schedules rm",
		"webhooks", "webhooks list", "webhooks deliveries", "webhooks test", "webhooks retry", "webhooks secret", "mcp", "mcp list", "mcp test", "mcp serve",
	} {
		d := newDesk(t)
		if code := d.run(t, append(strings.Fields(command), "--help")...); code != 0 || d.err.String() != "" {
			t.Errorf("%s --help: exit code %d, %s", command, code, d.err)
		}
		name := filepath.Join("testdata", "help", strings.ReplaceAll("dossier "+command, " ", "_")+".txt")
		name = strings.ReplaceAll(name, "dossier_.txt", "dossier.txt")
		if *cli.Update {
			if err := os.WriteFile(name, []byte(d.out.String()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if d.out.String() != string(want) {
			t.Errorf("%s --help differs from %s (-update rewrites it):\n%s", command, name, d.out)
		}
		if command != "" && !strings.Contains(d.out.String(), "Examples:\n  ") {
			t.Errorf("%s --help has no example", command)
		}
	}
}
