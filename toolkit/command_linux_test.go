package toolkit

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestAPathIsNotSwapped has somebody put a link to a file outside in the place of
// one that is read, back and forth.
func TestAPathIsNotSwapped(t *testing.T) {
	w, dir := bench(t)
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for n := 0; ; n++ {
			select {
			case <-stop:
				return
			default:
			}
			next := filepath.Join(dir, "next")
			if n%2 == 0 {
				_ = os.Symlink("../secret.txt", next)
			} else {
				_ = os.WriteFile(next, []byte("fine\n"), 0o600)
			}
			_ = os.Rename(next, filepath.Join(dir, "a.txt"))
			_ = os.Remove(next)
		}
	}()
	for range 60 {
		for _, text := range []string{"cat a.txt", "grep -h a a.txt", "head -n 1 a.txt"} {
			if o := w.do(command(text)).last(); strings.Contains(o.Text, "canary") {
				t.Errorf("%s read what lies outside: %s", text, o.Text)
			}
		}
	}
	close(stop)
	<-stopped
}

// TestPinnedFilesKeepTheirNames holds that commands print the names that they were
// given, and that words which are no files stay.
func TestPinnedFilesKeepTheirNames(t *testing.T) {
	w, dir := bench(t)
	for _, name := range []string{"two", "1"} { // as a pattern and a number are written
		if err := os.WriteFile(filepath.Join(dir, name), []byte("bee\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for text, want := range map[string]string{
		"grep two a.txt sub/b.txt": "Exit code: 0\n\na.txt:two\n",
		"grep -r bee sub":          "Exit code: 0\n\nsub/b.txt:bee\n",
		"grep -rn bee sub two":     "Exit code: 0\n\nsub/b.txt:1:bee\ntwo:1:bee\n",
		"grep -c -e two a.txt":     "Exit code: 0\n\n1\n",
		"head -n 1 a.txt":          "Exit code: 0\n\none\n",
		"tail -n1 a.txt":           "Exit code: 0\n\ntwo\n",
		"wc -l a.txt sub/b.txt":    "Exit code: 0\n\n2 a.txt\n1 sub/b.txt\n3 total\n",
		"cat nothing":              "Exit code: 1\n\n\n\nErrors:\ncat: nothing: No such file or directory\n",
		"grep -rl bee":             "Exit code: 0\n\n./1\n./sub/b.txt\n./two\n",
	} {
		o := w.do(command(text)).last()
		got := strings.Split(strings.Join(strings.FieldsFunc(o.Text, func(r rune) bool { return r == ' ' }), " "), "\n")
		if text == "grep -rl bee" {
			slices.Sort(got[2 : len(got)-1])
		}
		for i := range got {
			got[i] = strings.TrimSpace(got[i])
			if at := strings.Index(got[i], "cat: "); at > 0 {
				got[i] = got[i][at:] // where the program lies is the system's
			}
		}
		if strings.Join(got, "\n") != want {
			t.Errorf("%s: %q, want %q", text, strings.Join(got, "\n"), want)
		}
	}
}
