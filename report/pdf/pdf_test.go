package pdf

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestLook(t *testing.T) {
	dir := os.Getenv("LOOK")
	if dir == "" {
		t.Skip()
	}
	for name, r := range samples() {
		began := time.Now()
		got := Render(r, Options{})
		t.Log(name, got.Pages, len(got.Data), string(got.Missing), time.Since(began))
		if err := os.WriteFile(filepath.Join(dir, name+".pdf"), got.Data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
}
