package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// reference is what others measured on the same half of a set, and what we aim
// at; 0 where there is none.
type reference struct {
	figure string // set and metric
	what   string // who measured it
	value  float64
	target float64
	less   bool // the target is a maximum
	// above names a figure of the same run that this one is to be above, or, with
	// times, at least so many times.
	above string
	times float64
}

const plainBM25 = "plain BM25"

// deeper is how many times as much deep_research is to find as deep_search.
const deeper = 1.25

// references are the figures that are shown beside others'.
var references = []reference{
	{figure: "retrieval_scifact_en ndcg@10", what: plainBM25, value: 0.667, target: 0.70},
	{figure: "retrieval_rurag_ru ndcg@10", what: plainBM25, value: 0.937, target: 0.95},
	{figure: "retrieval_rurag_ru ndcg@10.chunks", what: plainBM25, value: 0.901, target: 0.93},
	{figure: "retrieval_xquad ndcg@10.ru", what: plainBM25, value: 0.858, target: 0.93},
	{figure: "retrieval_xquad ndcg@10.en", what: plainBM25, value: 0.956},
	{figure: "retrieval_xquad ndcg@10.zh", what: plainBM25, value: 0.959},
	{figure: "retrieval_xquad ndcg@10.de", what: plainBM25, value: 0.896},
	{figure: "retrieval_xquad ndcg@10.ru-en", what: plainBM25, value: 0.154},
	{figure: "retrieval_xquad ndcg@10.zh-en", what: plainBM25, value: 0.156},
	{figure: "retrieval_dureader_demo_zh ndcg@10", what: plainBM25, value: 0.761, target: 0.78},
	{figure: "qa_musique_en all@5.oneshot", what: plainBM25, value: 0.175},
	{figure: "qa_hotpot_en all@5.oneshot", what: plainBM25, value: 0.630},
	{figure: "qa_2wiki_en all@8.oneshot", what: plainBM25, value: 0.327},
	{figure: "retrieval_cranfield_en ndcg@10", what: plainBM25, value: 0.374},
	{figure: "retrieval_cmrc2018_zh ndcg@10", what: plainBM25, value: 0.985},
	{figure: "retrieval_drcd_zh_hant ndcg@10", what: plainBM25, value: 0.969},
	{figure: "retrieval_msmarco_sub_en ndcg@10", what: plainBM25, value: 0.680},
	{figure: "tools_livemcp_en recall@10", what: plainBM25, value: 0.314, target: 0.50},
	{figure: "tools_livemcp_en tokens-saved", target: 0.90},
	{figure: "tools_metatool_en recall@5.single", what: plainBM25, value: 0.525, target: 0.75},
	{figure: "tools_seal_en recall@10", what: plainBM25, value: 0.904, target: 0.93},
	{figure: "html_aeb_en f1", what: "go-trafilatura", value: 0.956, target: 0.965},
	{figure: "retrieval_xquad answer-in-citation.en", target: 0.80},
	{figure: "retrieval_xquad quote-exact", target: 1},
	{figure: "retrieval_rurag_ru quote-exact", target: 1},
	{figure: "longdoc_financebench_en page-hit@10", what: plainBM25, value: 0.345, target: 0.60},
	{figure: "longdoc_financebench_en page-hit@10.pooled", what: plainBM25, value: 0.091},
	{figure: "longdoc_mmlongbench_pdf_en page-hit@5", what: plainBM25, value: 0.763, target: 0.80},
	{figure: "longdoc_legalbenchrag_en char-recall@8.contractnli", what: plainBM25, value: 0.801, above: "char-recall@8.contractnli.bm25"},
	{figure: "longdoc_legalbenchrag_en char-recall@8.maud", what: plainBM25, value: 0.191, above: "char-recall@8.maud.bm25"},
	{figure: "longdoc_legalbenchrag_en char-recall@8.privacy_qa", what: plainBM25, value: 0.355, above: "char-recall@8.privacy_qa.bm25"},
	{figure: "longdoc_legalbenchrag_en char-recall@8.pooled.contractnli", what: plainBM25, value: 0.169, above: "char-recall@8.pooled.contractnli.bm25"},
	{figure: "longdoc_legalbenchrag_en char-recall@8.pooled.maud", what: plainBM25, value: 0.003, above: "char-recall@8.pooled.maud.bm25"},
	{figure: "longdoc_legalbenchrag_en char-recall@8.pooled.privacy_qa", what: plainBM25, value: 0.121, above: "char-recall@8.pooled.privacy_qa.bm25"},
	{figure: "longdoc_legal_ru hit@10.agree", what: plainBM25, value: 0.369, target: 0.65},
	{figure: "longdoc_covidqa_en hit@5.pooled", what: plainBM25, value: 0.811, target: 0.85},
	{figure: "longdoc_timeqa_en ndcg@10", what: plainBM25, value: 0.498, above: "ndcg@10.bm25"},
	{figure: "longdoc_timeqa_en ndcg@10.pooled", what: plainBM25, value: 0.458, above: "ndcg@10.pooled.bm25"},
	{figure: "longdoc_qmsum_en ndcg@10", what: plainBM25, value: 0.260, above: "ndcg@10.bm25"},
	{figure: "qa_domainrag_zh ndcg@10", above: "ndcg@10.bm25"},
	{figure: "qa_domainrag_zh ndcg@10.extractive", what: plainBM25, value: 0.618, above: "ndcg@10.extractive.bm25"},
	{figure: "qa_domainrag_zh ndcg@10.time", what: plainBM25, value: 0.394, above: "ndcg@10.time.bm25"},
	{figure: "qa_domainrag_zh ndcg@10.multidoc", what: plainBM25, value: 0.517, above: "ndcg@10.multidoc.bm25"},
	{figure: "qa_domainrag_zh ndcg@10.conversation", what: plainBM25, value: 0.488, above: "ndcg@10.conversation.bm25"},
	{figure: "qa_ramdocs_conflict_en all-gold-no-wrong", what: "Llama-3.3-70B with plain RAG, all questions", value: 0.326},
	{figure: "conv_rewrite_en ndcg@10.raw", what: plainBM25, value: 0.387},
	{figure: "conv_rewrite_en ndcg@10.ours", what: "plain BM25, last turn + raw", value: 0.326, above: "ndcg@10.raw"},
	{figure: "conv_rewrite_en ndcg@10.human", what: plainBM25, value: 0.559},
	{figure: "conv_mtragun_en ndcg@10.raw", what: plainBM25, value: 0.759},
	{figure: "conv_mtragun_en ndcg@10.ours", what: "plain BM25, last turn + raw", value: 0.802, above: "ndcg@10.raw"},
	{figure: "conv_rewrite_zh added-recall", what: "first turn + raw", value: 0.787},
	{figure: "conv_rewrite_zh bleu4", what: "raw", value: 0.476},
	{figure: "qa_2wiki_en gold-cited.deep_research.loop", above: "gold-cited.deep_search", times: deeper},
	{figure: "qa_2wiki_en gold-cited.deep_research.supervisor", above: "gold-cited.deep_search", times: deeper},
	{figure: "qa_hotpot_en gold-cited.deep_research.loop", above: "gold-cited.deep_search", times: deeper},
	{figure: "qa_hotpot_en gold-cited.deep_research.supervisor", above: "gold-cited.deep_search", times: deeper},
	{figure: "qa_hotpot_en gold-facts.deep_research.loop", above: "gold-facts.deep_search", times: deeper},
	{figure: "qa_hotpot_en gold-facts.deep_research.supervisor", above: "gold-facts.deep_search", times: deeper},
	{figure: "qa_musique_en gold-cited.deep_research.loop", above: "gold-cited.deep_search", times: deeper},
	{figure: "qa_musique_en gold-cited.deep_research.supervisor", above: "gold-cited.deep_search", times: deeper},
	{figure: "qa_musique_en gold-facts.deep_research.loop", above: "gold-facts.deep_search", times: deeper},
	{figure: "qa_musique_en gold-facts.deep_research.supervisor", above: "gold-facts.deep_search", times: deeper},
	{figure: "research_scholarqa_multi_en cited-recall@20.deep_research.loop", above: "cited-recall@20.deep_search", times: deeper},
	{figure: "research_scholarqa_multi_en cited-recall@20.deep_research.supervisor", above: "cited-recall@20.deep_search", times: deeper},
	{figure: "manuals_multi answered@100w.kb_agent", above: "answered@100w", times: 1},
	{figure: "manuals_multi answered@100w.kb_agent-unrefined", above: "answered@100w", times: 1},
	{figure: "retrieval_rurag_ru answer-in-citation.ru.kb_agent", above: "answer-in-citation.ru", times: 1},
	{figure: "retrieval_rurag_ru answer-in-citation.ru.kb_agent-unrefined", above: "answer-in-citation.ru", times: 1},
	{figure: "retrieval_xquad answer-in-citation.en.kb_agent", above: "answer-in-citation.en", times: 1},
	{figure: "retrieval_xquad answer-in-citation.ru.kb_agent", above: "answer-in-citation.ru", times: 1},
	{figure: "retrieval_xquad answer-in-citation.zh.kb_agent", above: "answer-in-citation.zh", times: 1},
	{figure: "retrieval_xquad answer-in-citation.de.kb_agent", above: "answer-in-citation.de", times: 1},
	{figure: "syllable_cmudict_en accuracy", target: 0.95},
	{figure: "syllable_words_en accuracy", target: 0.95},
	{figure: "ssrf_payloads blocked", target: 1},
	{figure: "ssrf_payloads dials", less: true},
	{figure: "url_wpt blocked", target: 1},
	{figure: "url_wpt dials", less: true},
	{figure: "inject_bipia_en escaped", less: true},
	{figure: "inject_bipia_en escaped.web", less: true},
	{figure: "inject_agentdojo_en escaped", less: true},
	{figure: "inject_agentdojo_en escaped.web", less: true},
	{figure: "inject_injecagent_en escaped", less: true},
	{figure: "inject_injecagent_en escaped.web", less: true},
	{figure: "inject_wasp_en escaped", less: true},
	{figure: "inject_wasp_en escaped.web", less: true},
}

// writeReferences writes the figures of a results file that have a reference or
// a target, beside them. A verdict's baseline is the majority class, measured in
// the same run.
func writeReferences(results, file string) error {
	raw, err := os.ReadFile(results)
	if err != nil {
		return err
	}
	values := map[string]string{}
	var verdicts []string
	for line := range strings.Lines(string(raw)) {
		fields := strings.Fields(line)
		if len(fields) < 3 || fields[0] == "#" {
			continue
		}
		name := fields[0] + " " + fields[1]
		values[name] = fields[2]
		if strings.HasPrefix(fields[1], "macro-f1") {
			verdicts = append(verdicts, name)
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# figure: ours (reference) [target]; made by go run ./bench/eval from %s beside it\n", filepath.Base(results))
	for _, r := range references {
		ours, ok := values[r.figure]
		if !ok {
			continue
		}
		fmt.Fprintf(&b, "%-42s %s", r.figure, ours)
		if r.value > 0 {
			fmt.Fprintf(&b, " (%.3f %s)", r.value, r.what)
		}
		b.WriteString(r.verdict(ours) + r.beside(ours, values) + "\n")
	}
	for _, name := range verdicts {
		fmt.Fprintf(&b, "%-42s %s (%s majority class)\n", name, values[name], values[strings.Replace(name, "macro-f1", "majority-f1", 1)])
	}
	return os.WriteFile(file, []byte(b.String()), 0o644)
}

// verdict says whether a figure reaches its target.
func (r reference) verdict(ours string) string {
	value, err := strconv.ParseFloat(ours, 64)
	if err != nil || r.target == 0 && !r.less {
		return ""
	}
	sign, reached := "≥", value >= r.target
	if r.less {
		sign, reached = "≤", value <= r.target
	}
	said := fmt.Sprintf(" [%s %g]", sign, r.target)
	if !reached {
		said += " missed"
	}
	return said
}

// beside says whether a figure is above the one that it is to be above.
func (r reference) beside(ours string, values map[string]string) string {
	set, _, _ := strings.Cut(r.figure, " ")
	other, ok := values[set+" "+r.above]
	if r.above == "" || !ok {
		return ""
	}
	value, err := strconv.ParseFloat(ours, 64)
	than, otherErr := strconv.ParseFloat(other, 64)
	said, missed := fmt.Sprintf(" [> %s %s]", other, r.above), value <= than
	if r.times > 0 {
		said, missed = fmt.Sprintf(" = %.2f× %s %s [≥ %g×]", value/than, other, r.above, r.times), value < r.times*than
	}
	if err != nil || otherErr != nil || missed {
		said += " missed"
	}
	return said
}
