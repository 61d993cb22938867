package main

import (
	"strconv"
	"strings"
	"testing"

	"dossier/index"
)

func TestHolds(t *testing.T) {
	for _, c := range []struct {
		quoted, answer string
		exact, stems   bool
	}{
		{"It cost US$1,361 (in 2014).", "1361", true, true},
		{"It was 2010.", "10", false, false},
		{"The Saxon  Garden—«Ogród Saski»", "ogród saski", true, true},
		{"Построен архитектором Растрелли в Камбодже.", "Камбоджа", false, true},
		{"新增就业1361 万人，", "1361万", true, true},
		{"共18个", "8", false, false},
		{"a 5km run", "5 km", true, false},
		{"nothing", "", false, false},
	} {
		parts := [][]string{{c.answer}}
		if got := holds([]string{c.quoted}, parts); got != c.exact {
			t.Errorf("%q holds %q: %v", c.quoted, c.answer, got)
		}
		if got := holdsStems([]string{c.quoted}, parts); got != c.stems {
			t.Errorf("%q holds the stems of %q: %v", c.quoted, c.answer, got)
		}
	}
	if holds([]string{"one", "two"}, [][]string{{"one"}, {"three", "four"}}) {
		t.Error("one part of two is enough")
	}
}

func TestPacked(t *testing.T) {
	text := "One is here. Two is here. 三在这里。Four."
	var got []string
	for _, s := range packed(text, 26) {
		got = append(got, s.In(text))
	}
	if want := "One is here. Two is here.|三在这里。Four."; strings.Join(got, "|") != want {
		t.Errorf("packed %q", got)
	}
}

func TestAnswerFigures(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "qa_rgb_zh_en/en_fact.jsonl.gz",
		`{"id":1,"query":"Who acquired WhatsApp in 2014?","answer":"Facebook","fakeanswer":["Apple","Apple Inc."],`+
			`"positive":["WhatsApp was acquired in 2014 by Facebook, which paid 19 billion."],`+
			`"positive_wrong":["In 2014 it was Apple that acquired WhatsApp, for a price that nobody had thought of before then."],"negative":["Bananas are yellow."]}`)
	write(t, dir, "qa_rgb_zh_en/zh_refine.jsonl.gz", `{"id":1,"query":"谁发明了电话？","answer":["贝尔"],"positive":["电话是贝尔在1876年发明的。"],"negative":["香蕉是黄色的。"]}`)
	code, stdout, stderr := eval(t, t.TempDir(), "-dir", dir)
	const want = `qa_rgb_zh_en rejection 1.0000 n=2
qa_rgb_zh_en false-answer 0.0000 n=2
qa_rgb_zh_en rejection.positive 0.0000 n=2
qa_rgb_zh_en false-answer.positive 0.0000 n=2
qa_rgb_zh_en answer-in-citation.positive 1.0000 n=2
qa_rgb_zh_en answer-in-citation.positive.kb_agent 1.0000 n=2
qa_rgb_zh_en answer-in-citation.positive.kb_agent.minus-research 0.0000 n=2
qa_rgb_zh_en rejection.positive.kb_agent 0.0000 n=2
qa_rgb_zh_en rejection.positive.kb_agent.minus-research 0.0000 n=2
qa_rgb_zh_en false-answer.positive.kb_agent 0.0000 n=2
qa_rgb_zh_en false-answer.positive.kb_agent.minus-research 0.0000 n=2
qa_rgb_zh_en answer-in-citation.positive.kb_agent-unrefined 1.0000 n=2
qa_rgb_zh_en answer-in-citation.positive.kb_agent-unrefined.minus-research 0.0000 n=2
qa_rgb_zh_en rejection.positive.kb_agent-unrefined 0.0000 n=2
qa_rgb_zh_en rejection.positive.kb_agent-unrefined.minus-research 0.0000 n=2
qa_rgb_zh_en false-answer.positive.kb_agent-unrefined 0.0000 n=2
qa_rgb_zh_en false-answer.positive.kb_agent-unrefined.minus-research 0.0000 n=2
qa_rgb_zh_en answer-in-citation.negative.kb_agent 0.0000 n=2
qa_rgb_zh_en answer-in-citation.negative.kb_agent.minus-research 0.0000 n=2
qa_rgb_zh_en rejection.negative.kb_agent 1.0000 n=2
qa_rgb_zh_en rejection.negative.kb_agent.minus-research 0.0000 n=2
qa_rgb_zh_en false-answer.negative.kb_agent 0.0000 n=2
qa_rgb_zh_en false-answer.negative.kb_agent.minus-research 0.0000 n=2
qa_rgb_zh_en answer-in-citation.negative.kb_agent-unrefined 0.0000 n=2
qa_rgb_zh_en answer-in-citation.negative.kb_agent-unrefined.minus-research 0.0000 n=2
qa_rgb_zh_en rejection.negative.kb_agent-unrefined 1.0000 n=2
qa_rgb_zh_en rejection.negative.kb_agent-unrefined.minus-research 0.0000 n=2
qa_rgb_zh_en false-answer.negative.kb_agent-unrefined 0.0000 n=2
qa_rgb_zh_en false-answer.negative.kb_agent-unrefined.minus-research 0.0000 n=2
qa_rgb_zh_en answer-in-citation.web 1.0000 n=2
qa_rgb_zh_en rejection.positive.web 0.0000 n=2
qa_rgb_zh_en rejection.web 1.0000 n=2
qa_rgb_zh_en false-answer.web 0.0000 n=2
qa_rgb_zh_en fake-quoted.web 1.0000 n=1
qa_rgb_zh_en fake-unshown.web 0.0000 n=1
qa_rgb_zh_en fake-alone.web 0.0000 n=1
qa_rgb_zh_en answer-in-citation.web.en_fact 1.0000 n=1
qa_rgb_zh_en rejection.positive.web.en_fact 0.0000 n=1
qa_rgb_zh_en rejection.web.en_fact 1.0000 n=1
qa_rgb_zh_en false-answer.web.en_fact 0.0000 n=1
qa_rgb_zh_en fake-quoted.web.en_fact 1.0000 n=1
qa_rgb_zh_en fake-unshown.web.en_fact 0.0000 n=1
qa_rgb_zh_en fake-alone.web.en_fact 0.0000 n=1
qa_rgb_zh_en answer-in-citation.web.zh_refine 1.0000 n=1
qa_rgb_zh_en rejection.positive.web.zh_refine 0.0000 n=1
qa_rgb_zh_en rejection.web.zh_refine 1.0000 n=1
qa_rgb_zh_en false-answer.web.zh_refine 0.0000 n=1
`
	if code != 0 || stdout != want {
		t.Errorf("exit code %d, stderr %q, output\n%s", code, stderr, stdout)
	}
}

func TestPagesAsTheyWere(t *testing.T) {
	dir := t.TempDir()
	page := "<html><head><title>Lighthouse</title></head><body><nav>Home</nav><article><h1>Pellin Point</h1><p>The lighthouse at Pellin Point was built in 1871 by Ada Quill.</p>" +
		"<p>It is painted white and stands on a rock that the sea has hollowed out.</p></article></body></html>"
	write(t, dir, "qa_crag_html_en/questions_with_html.jsonl.gz",
		`{"interaction_id":"a","query":"Who built the lighthouse at Pellin Point?","answer":"Quill, Ada","alternative_answers":"[\"Ada Quill\"]",`+
			`"search_results":[{"page_name":"Gone","page_url":"https://gone.example/?utm_source=x","page_snippet":"The lighthouse at <b>Pellin Point</b>","page_result":""},`+
			`{"page_name":"Ada&#x27;s lighthouse","page_url":"https://www.lights.example/pellin","page_snippet":"Pellin Point &amp; its lighthouse","page_result":`+strconv.Quote(page)+`}]}
{"interaction_id":"b","query":"What is the capital of Peru?","answer":"Lima","alternative_answers":[],"search_results":[]}`)
	code, stdout, stderr := eval(t, t.TempDir(), "-dir", dir)
	const want = `qa_crag_html_en address-refused 0.0000 n=1
qa_crag_html_en answer-in-citation.web 0.5000 n=2
qa_crag_html_en rejection.web 0.5000 n=2
qa_crag_html_en false-answer.web 0.0000 n=2
qa_crag_html_en truthfulness.web 0.5000 n=2
`
	if code != 0 || stdout != want {
		t.Errorf("exit code %d, stderr %q, output\n%s", code, stderr, stdout)
	}
}

func TestQuotesAreExact(t *testing.T) {
	l, err := shelve([]index.Doc{{ID: "a", Text: "The Neva flows to the sea. It is short."}})
	if err != nil {
		t.Fatal(err)
	}
	if n := l.exact([]quotation{{"a", 0, 26}, {"a", 27, 39}, {"a", 2, 8}}); n != 2 {
		t.Errorf("%d quotations of two whole ones and a torn one are exact", n)
	}
}
