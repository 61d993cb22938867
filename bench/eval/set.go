package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Set is an evaluation set that the program knows.
type Set struct {
	Name string // of its folder, or a pattern that matches the folders it serves
	Run  func(ctx context.Context, env *Env) error
}

var sets = []Set{
	{"conv_mtragun_en", runConversations},
	{"conv_rewrite_en", runConversations},
	{"conv_rewrite_zh", runRewrites},
	{"html_aeb_en", runAEB},
	{"html_fundus_multi", runFundus},
	{"html_newspaper4k_multi", runNewspaper},
	{"html_readability_multi", runReadability},
	{"html_trafilatura_multi", runTrafilatura},
	{"inject_agentdojo_en", runAgentDojo},
	{"inject_bipia_en", runBIPIA},
	{"inject_injecagent_en", runInjecAgent},
	{"inject_wasp_en", runWASP},
	{"json_repair", runJSONRepair},
	{"json_testsuite", runJSONTestSuite},
	{"langid_*", runLanguages},
	{"syllable_*", runSyllables},
	{"longdoc_covidqa_en", runCovidQA},
	{"longdoc_financebench_en", runPages},
	{"longdoc_legal_ru", runLegalRu},
	{"longdoc_legalbenchrag_en", runLegalBench},
	{"longdoc_mmlongbench_pdf_en", runPages},
	{"longdoc_qmsum_en", runQMSum},
	{"longdoc_timeqa_en", runTimeQA},
	{"malformed_html5lib", runMalformedHTML},
	{"malformed_pdf_qpdf", runMalformedPDF},
	{"ssrf_payloads", runSSRF},
	{"manuals_multi", runManuals},
	{"qa_2wiki_en", runMultiHop},
	{"qa_crag_html_en", runCRAG},
	{"qa_domainrag_zh", runDomainRAG},
	{"qa_hotpot_en", runMultiHop},
	{"qa_musique_en", runMultiHop},
	{"qa_ramdocs_conflict_en", runRAMDocs},
	{"qa_rgb_zh_en", runRGB},
	{"research_scholarqa_multi_en", runScholar},
	{"retrieval_cmrc2018_zh", runPassages},
	{"retrieval_cranfield_en", runJudged},
	{"retrieval_drcd_zh_hant", runPassages},
	{"retrieval_dureader_demo_zh", runDuReader},
	{"retrieval_msmarco_sub_en", runJudged},
	{"retrieval_rurag_ru", runRuRAG},
	{"retrieval_scifact_en", runSciFact},
	{"retrieval_xquad", runXQuAD},
	{"stream_fantasy_cassettes", runStreamCassettes},
	{"stream_vercel", runStreamVercel},
	{"tools_bfcl_en", runBFCL},
	{"tools_livemcp_en", runTools},
	{"tools_metatool_en", runMetaTool},
	{"tools_seal_en", runTools},
	{"url_wpt", runWPT},
	{"verify_attributionbench_en", runVerify},
	{"verify_averitec_en", runVerify},
	{"verify_climatefever_en", runVerify},
	{"verify_covidfact_en", runVerify},
	{"verify_danetqa_ru", runVerify},
	{"verify_factcheckgpt_en", runVerify},
	{"verify_faithbench_en", runVerify},
	{"verify_healthver_en", runVerify},
	{"verify_ocnli_zh", runVerify},
	{"verify_runli_ru", runVerify},
	{"verify_uhgeval_zh", runVerify},
	{"verify_wice_en", runWiCE},
	{"verify_xnli_ru", runVerify},
	{"xling_ntrex_news", runNTREX},
}

// setFor returns the set that serves a folder, or nil.
func setFor(folder string) *Set {
	for i := range sets {
		if ok, _ := path.Match(sets[i].Name, folder); ok {
			return &sets[i]
		}
	}
	return nil
}

func setNames() []string {
	var names []string
	for _, s := range sets {
		names = append(names, s.Name)
	}
	return names
}

// Env is what a set reads from and reports to.
type Env struct {
	Set      string // the folder's name
	Embedder string // its endpoint; empty for none
	dirs     []string
	stdout   io.Writer
	stderr   io.Writer
	figures  []figure
	runsDir  string
	runs     *os.File
	enc      *json.Encoder
}

// Path returns where the set's file is: in -dir or, failing that, in -corpora.
func (e *Env) Path(file string) (string, error) {
	var missing []error
	for _, dir := range e.dirs {
		p := filepath.Join(dir, e.Set, file)
		_, err := os.Stat(p)
		if err == nil {
			return p, nil
		}
		missing = append(missing, err)
	}
	return "", errors.Join(missing...)
}

// Files returns the names of the set's files in -dir that match pattern, in
// order; that there is none is an error.
func (e *Env) Files(pattern string) ([]string, error) {
	paths, err := filepath.Glob(filepath.Join(e.dirs[0], e.Set, pattern))
	if err != nil {
		return nil, err
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("no %s in %s", pattern, filepath.Join(e.dirs[0], e.Set))
	}
	slices.Sort(paths)
	for i := range paths {
		paths[i] = filepath.Base(paths[i])
	}
	return paths, nil
}

// Ratio reports hits out of n.
func (e *Env) Ratio(metric string, hits, n int) {
	value := 0.0
	if n > 0 {
		value = float64(hits) / float64(n)
	}
	e.Score(metric, value, n)
}

// Score reports a mean over n cases.
func (e *Env) Score(metric string, value float64, n int) {
	e.report(metric, fmt.Sprintf("%.4f", value), n)
}

// Count reports how many of n cases something holds for.
func (e *Env) Count(metric string, count, n int) { e.report(metric, fmt.Sprint(count), n) }

func (e *Env) report(metric, value string, n int) {
	f := figure{e.Set, fmt.Sprintf("%s %s %s n=%d", e.Set, metric, value, n)}
	e.figures = append(e.figures, f)
	fmt.Fprintln(e.stdout, f.line)
}

// Progressf says how far a set is that takes long.
func (e *Env) Progressf(format string, a ...any) {
	fmt.Fprintf(e.stderr, "%s: %s\n", e.Set, fmt.Sprintf(format, a...))
}

// Record writes what was answered to one case, if -runs asks for it.
func (e *Env) Record(answer any) error {
	if e.enc == nil {
		return nil
	}
	return e.enc.Encode(answer)
}

// record makes Record write to the set's file in dir.
func (e *Env) record(dir string) error {
	if dir == "" {
		return nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	f, err := os.Create(filepath.Join(dir, e.Set+".jsonl"))
	if err != nil {
		return err
	}
	e.runsDir, e.runs, e.enc = dir, f, json.NewEncoder(f)
	e.enc.SetEscapeHTML(false)
	return nil
}

// close also removes a file to which nothing was recorded.
func (e *Env) close() error {
	if e.runs == nil {
		return nil
	}
	written, err := e.runs.Seek(0, io.SeekCurrent)
	err = errors.Join(err, e.runs.Close())
	if err == nil && written == 0 {
		err = os.Remove(e.runs.Name())
	}
	return err
}

// figure is a line of the results.
type figure struct{ set, line string }

// writeResults replaces the lines of the sets that ran in the results file.
// Lines are grouped by set, in order of their names, as each set reported
// them.
func writeResults(file, command string, figures []figure, ran map[string]bool) error {
	old, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	for line := range strings.Lines(string(old)) {
		line = strings.TrimSpace(line)
		set, _, _ := strings.Cut(line, " ")
		if line != "" && line[0] != '#' && !ran[set] {
			figures = append(figures, figure{set, line})
		}
	}
	slices.SortStableFunc(figures, func(a, b figure) int { return strings.Compare(a.set, b.set) })
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n", command)
	for _, f := range figures {
		b.WriteString(f.line + "\n")
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
		return err
	}
	return writeReferences(file, strings.TrimSuffix(file, filepath.Ext(file))+"-reference.txt")
}
