package main

import (
	"os"
	"strings"
	"testing"

	"dossier/reader"
)

func TestMain(m *testing.M) {
	reader.WorkerMain()
	os.Exit(m.Run())
}

func TestOverlap(t *testing.T) {
	var o overlap
	o.add(words("a b c d e", false), words("a b c d", false)) // one of two shingles, nothing wrong
	o.add(words("a b", false), words("", false))              // recall 0, no precision
	o.add(words("x y z w", false), words("x y z w v u", false))
	f1, precision, recall := o.means()
	if want := (1 + 1.0/3) / 2; precision != want {
		t.Errorf("precision %v, want %v", precision, want)
	}
	if want := (0.5 + 0 + 1) / 3; recall != want {
		t.Errorf("recall %v, want %v", recall, want)
	}
	if want := 2 * precision * recall / (precision + recall); f1 != want {
		t.Errorf("f1 %v, want %v", f1, want)
	}
	if got := words("旧桥 is_closed, 2nd", true); strings.Join(got, "|") != "旧|桥|is_closed|2nd" {
		t.Errorf("%q", got)
	}
}

func TestReaderFigures(t *testing.T) {
	const text = "The council voted on Monday to close the old bridge, after engineers had found cracks in two of its pillars."
	const page = `<html><head><title>Old bridge is closed</title><meta name=date content=2020-05-06></head><body><p>` + text + `</p></body></html>`
	dir := t.TempDir()
	write(t, dir, "html_aeb_en/pages.jsonl.gz", `{"id": "a", "url": "http://x/", "articleBody": "`+text+`", "html": "`+page+`"}`)
	write(t, dir, "html_trafilatura_multi/pages.jsonl.gz", `{"file": "a", "with": ["old bridge", "absent"], "without": ["cracks"], "date": "2020-05-06", "html_b64": "PHA+b2xkIGJyaWRnZTwvcD4="}`)
	write(t, dir, "html_readability_multi/pages.jsonl.gz", `{"id": "a", "expected_html": "<p>`+text+`</p>", "metadata": {"title": "OLD bridge is closed", "publishedTime": "2020-05-07"}, "html": "`+page+`"}`)
	write(t, dir, "html_fundus_multi/pages.jsonl.gz", `{"id": "a", "expected": {"title": "x", "body": {"summary": [], "sections": [{"headline": [], "paragraphs": ["`+text+`"]}]}}, "html": "`+page+`"}`)
	write(t, dir, "html_newspaper4k_multi/pages.jsonl.gz", `{"id": "a", "text": "`+text+`", "metadata": null, "html": "`+page+`"}`)
	write(t, dir, "malformed_html5lib/tree.jsonl.gz", `{"file": "a", "data": "<a><p></a></p>"}`)
	code, stdout, stderr := eval(t, t.TempDir(), "-dir", dir)
	const want = `html_aeb_en f1 1.0000 n=1
html_aeb_en precision 1.0000 n=1
html_aeb_en recall 1.0000 n=1
html_fundus_multi text-f1 1.0000 n=1
html_fundus_multi title 0.0000 n=1
html_newspaper4k_multi text-f1 1.0000 n=1
html_readability_multi text-f1 1.0000 n=1
html_readability_multi title 1.0000 n=1
html_readability_multi date 0.0000 n=1
html_trafilatura_multi text-f1 0.6667 n=1
html_trafilatura_multi date 0.0000 n=1
malformed_html5lib panics 0 n=1
malformed_html5lib hangs 0 n=1
`
	if code != 0 || stdout != want {
		t.Fatalf("exit code %d, stderr %q, output\n%swant\n%s", code, stderr, stdout, want)
	}
}
