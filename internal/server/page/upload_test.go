package page_test

import (
	"os"
	"path/filepath"
	"testing"

	"dossier/internal/server/internal/sitetest"
	"dossier/internal/studytest"
	"dossier/llm/llmtest"
)

// A folder is uploaded, with names in three languages and a file that can't be read,
// and asked: with a model, and with none. The server is restarted under an upload.
func TestUpload(t *testing.T) {
	folder := put(t, "harbour", map[string]string{
		"lamp.md":         "# The lamp\n\nMany ask about it.\n\nThe lamp is kept in the tower by the old harbour. It was lit in 1871 and weighs 40 kg.\n",
		"отчёты/маяк.md":  "# Маяк\n\nМаяк построен в 1871 году. Его высота 30 метров.\n",
		"报告/灯.txt":        "灯塔建于一八七一年，高三十米。\n",
		"broken.pdf":      "%PDF-1.7 and then nothing of one",
		".hidden/note.md": "nobody's",
	})
	dropped := put(t, "dropped", map[string]string{"new.md": "# New\n\nThe keeper sings on Sundays.", "deep/er.txt": "The stairs have 199 steps."})
	for name, o := range map[string]sitetest.Options{
		"with a model": {Script: llmtest.Script{Rules: studytest.Scribe{}.Rules()}},
		"without one":  {Set: map[string]string{"models.default.base_url": "", "models.default.model": ""}},
	} {
		t.Run(name, func(t *testing.T) {
			o.Protocols, o.Open = served, true
			if o.Set == nil {
				o.Set = map[string]string{}
			}
			o.Set["kb.max_uploads_mb"] = "1"
			s := sitetest.Start(t, o)
			g := newGate(t)
			g.restart, g.leave = s.Restart, s.Leave
			drive(t, "upload.mjs", object{"url": s.URL, "gate": g.url, "folder": folder, "dropped": dropped})
		})
	}
}

// put makes a folder of files.
func put(t *testing.T, name string, files map[string]string) string {
	t.Helper()
	folder := filepath.Join(t.TempDir(), name)
	for name, text := range files {
		at := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}
