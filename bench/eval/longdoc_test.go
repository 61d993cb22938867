package main

import (
	"strings"
	"testing"
)

func TestLongDocumentFigures(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "longdoc_financebench_en/pages.jsonl.gz", `{"doc":"A","page":0,"text":"Acme Corporation\nAnnual report of the company."}
{"doc":"A","page":1,"text":"The capital expenditure of Acme was 1,577 million dollars in 2018."}`)
	write(t, dir, "longdoc_financebench_en/questions.jsonl.gz", `{"_id":"q","doc":"A","pdf":false,"question":"What was the capital expenditure of Acme in 2018?","answer":"$1577.00","evidence":[{"doc":"A","page":1}]}`)
	write(t, dir, "longdoc_covidqa_en/docs.jsonl.gz", `{"_id":"d","text":"\ufeffМасло и вода.\n\nThe incubation period is five days."}`)
	// The questions have come in pieces.
	write(t, dir, "longdoc_covidqa_en/questions_1.jsonl.gz", `{"_id":"q1","doc":"d","question":"How long is the incubation period?","span":[16,51]}`)
	write(t, dir, "longdoc_covidqa_en/questions_2.jsonl.gz", `{"_id":"q2","doc":"d","question":"incubation period","span":[16,20]}`)
	write(t, dir, "longdoc_qmsum_en/docs.jsonl.gz", `{"_id":"m","turns":[["Anna","Let us begin ."],["Boris","The remote control should be yellow ."]]}`)
	write(t, dir, "longdoc_qmsum_en/questions.jsonl.gz", `{"_id":"q","doc":"m","question":"What colour should the remote control be?","turn_spans":[[1,1]]}`)
	code, stdout, stderr := eval(t, t.TempDir(), "-dir", dir)
	for _, want := range []string{
		"longdoc_financebench_en page-hit@1 1.0000 n=1",
		"longdoc_financebench_en page-hit@10.pooled.bm25 1.0000 n=1",
		"longdoc_financebench_en answered@100w 1.0000 n=1",
		"longdoc_covidqa_en hit@1 1.0000 n=2",
		"longdoc_covidqa_en hit@5.pooled.bm25 1.0000 n=2",
		"longdoc_qmsum_en ndcg@10 1.0000 n=1",
		"longdoc_qmsum_en ndcg@10.bm25 1.0000 n=1",
	} {
		if code != 0 || !strings.Contains(stdout, want+"\n") {
			t.Errorf("exit code %d, no %q in\n%s%s", code, want, stdout, stderr)
		}
	}
}

func TestConversationFigures(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "conv_rewrite_en/passages.jsonl.gz", `{"_id":"p1","text":"Frank Zappa broke up the band because of money."}
{"_id":"p2","text":"A band of Nirvana fans broke up."}`)
	write(t, dir, "conv_rewrite_en/turns.jsonl.gz", `{"_id":"t1","turn":1,"history":[],"utterance":"not a follow-up","rewrite":"not a follow-up","gold":["p1"]}
{"_id":"t2","turn":"1-3","history":[{"user":"Who was Frank Zappa?","system":"A musician."}],"utterance":"Why did his band break up?","rewrite":"Why did Frank Zappa's band break up?","gold":["p1"]}`)
	write(t, dir, "conv_rewrite_zh/turns.jsonl.gz", `{"_id":"z","history":["青岛","青岛挺好的"],"utterance":"温度是多少","rewrite":"青岛的温度是多少"}`)
	code, stdout, stderr := eval(t, t.TempDir(), "-dir", dir)
	for _, want := range []string{"conv_rewrite_en ndcg@10.human 1.0000 n=1", "conv_rewrite_en ndcg@10.ours 1.0000 n=1", "conv_rewrite_zh added-recall ", "conv_rewrite_zh bleu4 "} {
		if code != 0 || !strings.Contains(stdout, want) {
			t.Errorf("exit code %d, no %q in\n%s%s", code, want, stdout, stderr)
		}
	}
}

func TestConflictFigures(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "qa_ramdocs_conflict_en/questions.jsonl.gz", `{"_id":"r","question":"When was the lighthouse of Kovda built?","documents":[`+
		`{"text":"The lighthouse of Kovda was built in 1911 on the northern cape.","type":"correct","answer":"1911"},`+
		`{"text":"The lighthouse of Kovda was built in 1931 on the northern cape.","type":"misinfo","answer":"1931"}],"gold_answers":["1911"],"wrong_answers":["1931"]}`)
	code, stdout, stderr := eval(t, t.TempDir(), "-dir", dir)
	for _, want := range []string{"qa_ramdocs_conflict_en all-gold-no-wrong 1.0000 n=1", "qa_ramdocs_conflict_en conflict-shown 1.0000 n=1"} {
		if code != 0 || !strings.Contains(stdout, want) {
			t.Errorf("exit code %d, no %q in\n%s%s", code, want, stdout, stderr)
		}
	}
}

func TestPlainBM25(t *testing.T) {
	x := newLexicon([]string{"a", "b", "c"}, []string{"the cat sat", "the dog", "中国人民大学"})
	if r := x.search("Dog!", 10); len(r) != 1 || r[0].ID != "b" {
		t.Errorf("dog: %v", r)
	}
	if r := x.search("人民", 10); len(r) != 1 || r[0].ID != "c" {
		t.Errorf("a pair of characters: %v", r)
	}
	if r := x.search("dogs", 10); len(r) != 0 {
		t.Errorf("words are stemmed: %v", r)
	}
}

func TestWrittenNumbers(t *testing.T) {
	for in, want := range map[string]string{"$1577.00": "$1577.00 1577 1,577", "0.40": "0.40 0.4 0.4", "12345678%": "12345678% 12345678% 12,345,678%", "Acme": "Acme"} {
		if got := strings.Join(written(in), " "); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}

func TestShareOfCharacters(t *testing.T) {
	q := &spanQuestion{Doc: "d"}
	q.gold = append(q.gold, stretch{}.Span)
	q.gold[0].Start, q.gold[0].End = 10, 30
	at := func(doc string, start, end int) stretch {
		s := stretch{Doc: doc}
		s.Start, s.End = start, end
		return s
	}
	recall, precision := q.characters([]stretch{at("d", 0, 20), at("other", 0, 20)})
	if recall != 0.5 || precision != 0.25 {
		t.Errorf("recall %v, precision %v", recall, precision)
	}
}

func TestFiguresAboveOthersOfTheRun(t *testing.T) {
	r := reference{figure: "s ndcg@10", above: "ndcg@10.bm25"}
	values := map[string]string{"s ndcg@10.bm25": "0.5000"}
	if said := r.beside("0.6000", values); said != " [> 0.5000 ndcg@10.bm25]" {
		t.Error(said)
	}
	if said := r.beside("0.5000", values); !strings.HasSuffix(said, " missed") {
		t.Error(said)
	}
}
