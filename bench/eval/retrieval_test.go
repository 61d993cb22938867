package main

import (
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"dossier/index"
)

func TestNDCG(t *testing.T) {
	relevant := map[string]float64{"a": 3, "b": 1}
	for _, c := range []struct {
		order string
		want  float64
	}{
		{"a b x", 1}, {"x y z", 0},
		{"b a", (1 + 3/math.Log2(3)) / (3 + 1/math.Log2(3))},
		{"x a", 3 / math.Log2(3) / (3 + 1/math.Log2(3))},
	} {
		var r ranking
		for id := range strings.FieldsSeq(c.order) {
			r = append(r, index.Hit{ID: id})
		}
		if got := nDCG(topic{Relevant: relevant}, r); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s: %v, want %v", c.order, got, c.want)
		}
	}
}

func TestRetrievalFigures(t *testing.T) {
	dir, runs := t.TempDir(), t.TempDir()
	write(t, dir, "retrieval_cranfield_en/corpus.jsonl.gz", `{"_id":"1","title":"Wings","text":"Lift of a wing in a slipstream."}
{"_id":"2","title":"Heat","text":"Heat transfer in layers."}`)
	write(t, dir, "retrieval_cranfield_en/queries.jsonl", `{"_id":"q1","text":"what is the lift of wings"}
{"_id":"q2","text":"not judged"}`)
	write(t, dir, "retrieval_cranfield_en/qrels.tsv", "query-id\tcorpus-id\tscore\nq1\t1\t1\nq1\t2\t0\n")
	write(t, dir, "qa_2wiki_en/corpus.jsonl.gz", `{"title":"Wings","text":"Lift."}
{"title":"Heat","text":"Layers."}`)
	write(t, dir, "qa_2wiki_en/questions.jsonl", `{"question":"lift or heat","gold_titles":["Wings","Heat"]}
{"question":"lift","gold_titles":["Wings","Heat"]}`)
	code, stdout, stderr := eval(t, t.TempDir(), "-dir", dir, "-runs", runs)
	const want = `qa_2wiki_en all@8.oneshot 0.5000 n=2
qa_2wiki_en all@8.iterative 0.5000 n=2
retrieval_cranfield_en ndcg@10 1.0000 n=1
retrieval_cranfield_en recall@10 1.0000 n=1
retrieval_cranfield_en mrr@10 1.0000 n=1
`
	// What modes make of documents of one word says nothing: see TestDeepFigures.
	modes := regexp.MustCompile(`(?m)^\S+ (?:gold-cited|sources|words)\..*\n`)
	if code != 0 || modes.ReplaceAllString(stdout, "") != want {
		t.Fatalf("exit code %d, stderr %q, output\n%swant\n%s", code, stderr, stdout, want)
	}
	run, err := os.ReadFile(filepath.Join(runs, "retrieval_cranfield_en.run"))
	if err != nil {
		t.Fatal(err)
	}
	if f := strings.Fields(string(run)); len(f) != 6 || f[0] != "q1" || f[1] != "Q0" || f[2] != "1" || f[3] != "1" {
		t.Errorf("run file %q", run)
	}
}
