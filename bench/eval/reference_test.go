package main

import (
	"os"
	"path/filepath"
	"testing"
)

func TestReferencesStandBesideFigures(t *testing.T) {
	dir := t.TempDir()
	results, out := filepath.Join(dir, "eval.txt"), filepath.Join(dir, "out.txt")
	text := "# command\nretrieval_scifact_en ndcg@10 0.6900 n=809\nssrf_payloads dials 1 n=81\nverify_x macro-f1 0.5000 n=4\nverify_x majority-f1 0.2500 n=4\n"
	if err := os.WriteFile(results, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := writeReferences(results, out); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	want := "# figure: ours (reference) [target]; made by go run ./bench/eval from eval.txt beside it\n" +
		"retrieval_scifact_en ndcg@10               0.6900 (0.667 plain BM25) [≥ 0.7] missed\n" +
		"ssrf_payloads dials                        1 [≤ 0] missed\n" +
		"verify_x macro-f1                          0.5000 (0.2500 majority class)\n"
	if string(got) != want {
		t.Errorf("%s", got)
	}
}
