package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// world is a directory with the repository owner/name, a list of its documents
// and nothing fetched.
func world(t *testing.T, lines ...string) (dir, commit string) {
	t.Helper()
	dir = t.TempDir()
	repo := filepath.Join(dir, "copies", "owner+name", "repo")
	work := filepath.Join(dir, "work")
	write(t, filepath.Join(work, "docs", "a file.txt"), "one\n")
	for _, args := range [][]string{
		{"init", "--quiet", work},
		{"-C", work, "add", "."},
		{"-C", work, "-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "--quiet", "-m", "x"},
		{"clone", "--quiet", "--bare", work, repo},
	} {
		if out, err := exec.CommandContext(t.Context(), "git", args...).CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	out, err := exec.CommandContext(t.Context(), "git", "-C", work, "rev-parse", "HEAD").Output()
	if err != nil {
		t.Fatal(err)
	}
	commit = strings.TrimSpace(string(out))
	list := strings.ReplaceAll(strings.Join(lines, "\n"), "COMMIT", commit)
	write(t, filepath.Join(dir, "list.tsv"), "# folder\tfile\n"+list+"\n")
	return dir, commit
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func fetch(ctx context.Context, dir string) (out, complaints string, err error) {
	var o, c strings.Builder
	err = run(ctx, []string{"-from", filepath.Join(dir, "copies"), "-list", filepath.Join(dir, "list.tsv"), "-to", filepath.Join(dir, "to"), "-remote", ""}, &o, &c)
	return o.String(), c.String(), err
}

const oneSum = "2c8b08da5ce60398e1f19af0e5dccc744df274b826abe585eaba68c525434806" // of "one\n"

func TestDocumentsComeFromACopyOnce(t *testing.T) {
	dir, _ := world(t, "manuals\tone.txt\towner/name\tCOMMIT\tdocs/a file.txt\t"+oneSum+"\t4\tMIT")
	out, complaints, err := fetch(t.Context(), dir)
	if err != nil || complaints != "" || !strings.Contains(out, "1 fetched") {
		t.Fatalf("%q %q %v", out, complaints, err)
	}
	place := filepath.Join(dir, "to", "manuals", "one.txt")
	if got, err := os.ReadFile(place); err != nil || string(got) != "one\n" {
		t.Fatalf("%q %v", got, err)
	}
	if out, _, err = fetch(t.Context(), dir); err != nil || !strings.Contains(out, "0 fetched, 1 were there") {
		t.Fatalf("again: %q %v", out, err)
	}
	write(t, place, "spoilt")
	if _, _, err = fetch(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(place); err != nil || string(got) != "one\n" {
		t.Fatalf("a spoilt document stayed: %q %v", got, err)
	}
}

func TestWhatIsMissingIsNamed(t *testing.T) {
	dir, _ := world(t,
		"manuals\tother.txt\towner/name\tCOMMIT\tdocs/a file.txt\t"+strings.Repeat("0", 64)+"\t4\tMIT",
		"manuals\tgone.txt\towner/name\tCOMMIT\tdocs/gone.txt\t"+oneSum+"\t4\tMIT",
		"manuals\tfar.txt\tsomebody/else\tCOMMIT\tdocs/a.txt\t"+oneSum+"\t4\tMIT",
		"manuals\tone.txt\towner/name\tCOMMIT\tdocs/a file.txt\t"+oneSum+"\t4\tMIT",
	)
	out, complaints, err := fetch(t.Context(), dir)
	if err == nil || !strings.Contains(err.Error(), "3 of 4") || !strings.Contains(out, "1 fetched") {
		t.Fatalf("%q %v", out, err)
	}
	for _, want := range []string{"manuals/other.txt", "its SHA-256 is", "manuals/gone.txt", "manuals/far.txt", "no copy of somebody/else"} {
		if !strings.Contains(complaints, want) {
			t.Errorf("%q is not among\n%s", want, complaints)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "to", "manuals", "other.txt")); err == nil {
		t.Error("a document with another sum was written")
	}
}

func TestAListThatLeavesItsFolderIsRefused(t *testing.T) {
	commit := strings.Repeat("a", 40)
	rest := "\tp\t" + oneSum + "\t4\tMIT"
	if _, err := parse("manuals\tone.txt\towner/name\t" + commit + rest); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"..\tone.txt\towner/name\t" + commit + rest,
		"manuals\t../../one.txt\towner/name\t" + commit + rest,
		"manuals\tone.txt\t--upload-pack=x/y\t" + commit + rest,
		"manuals\tone.txt\towner/name\t--all" + rest,
		"manuals\tone.txt",
	} {
		if got, err := parse(line); err == nil {
			t.Errorf("%q gave %v", line, got)
		}
	}
}
