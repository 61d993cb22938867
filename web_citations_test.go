package dossier

import (
	"encoding/json"
	"html"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"dossier/cite"
	"dossier/event"
	"dossier/internal/store/memory"
	"dossier/internal/webtest"
	"dossier/llm/llmtest"
	"dossier/report"
)

// tally is what was found in many answers.
type tally struct {
	liar *liar

	mu                       sync.Mutex
	answers, written, quoted int
	invented, unresolved     int
	misquotes, caught        map[string]int
	fabricated, exposed      int
	trueQuotes, doubted      int
	coverage                 [11]int // answers by tenths of coverage
	claims, covered          int
}

// TestWebCitesOnlyWhatWasRead asks every question of the web of a model that
// lies in each of its ways. Nothing is delivered that points to what was not
// read, no number without a source, and no misquotation that is not marked.
func TestWebCitesOnlyWhatWasRead(t *testing.T) {
	w := startWeb(t, webtest.Options{})
	for _, p := range w.Pages() {
		// One takes its time, and the parser of the other takes longer to start
		// than all the rest here.
		if p.Kind == webtest.Slow || p.Kind == webtest.PDF {
			if err := w.BreakPage(p.URL, webtest.Fault{Kind: webtest.ServerError}); err != nil {
				t.Fatal(err)
			}
		}
	}
	l := &liar{unread: neverRead(w)}
	srv := llmtest.Start(t, llmtest.Script{Rules: l.rules()})
	e := engine(t, memory.New(memory.Options{}), onWeb(t, w, connected(srv)))
	sum := &tally{liar: l, misquotes: map[string]int{}, caught: map[string]int{}}
	t.Run("answers", func(t *testing.T) {
		for _, q := range w.Questions() {
			if q.After != "" {
				continue
			}
			for _, how := range liars {
				t.Run(how+"/"+q.Text, func(t *testing.T) {
					t.Parallel()
					req := onTheWeb("web_search", q.Text)
					req.Model = how
					events := follow(t, e, req)
					r, err := e.Report(t.Context(), events[0].Run)
					if err != nil {
						t.Fatal(err)
					}
					checkQuotes(t, e.store, r)
					sum.add(t, w, events, r, how)
				})
			}
		}
	})
	for _, q := range w.Searches() {
		if strings.Contains(strings.ToLower(q), inventions+".") || strings.Contains(q, "://") {
			t.Errorf("the engine was asked for an address: %q", q)
		}
	}
	for at := range w.Fetches() {
		if strings.Contains(strings.ToLower(at), inventions) || strings.Contains(at, "collector.example") {
			t.Errorf("%s was opened", at)
		}
	}
	t.Logf("%d answers, %d written by the model and %d of quotes: %d invented or unread addresses, %d numbers without a source",
		sum.answers, sum.written, sum.quoted, sum.invented, sum.unresolved)
	t.Logf("misquotes caught: %v of %v; %d of %d true quotes doubted", sum.caught, sum.misquotes, sum.doubted, sum.trueQuotes)
	t.Logf("sentences that no source has: %d of %d marked", sum.exposed, sum.fabricated)
	t.Logf("coverage: %d of %d claims; answers by tenths of coverage %v", sum.covered, sum.claims, sum.coverage)
	if sum.answers < 200 || sum.written < 100 {
		t.Errorf("%d answers, %d of them written", sum.answers, sum.written)
	}
	if sum.invented+sum.unresolved+sum.doubted > 0 || sum.fabricated == 0 || sum.exposed != sum.fabricated || !maps.Equal(sum.misquotes, sum.caught) {
		t.Error("something was delivered that nobody read")
	}
	for _, how := range []string{"number", "name", "negation", "words"} {
		if sum.misquotes[how] < 20 {
			t.Errorf("only %d misquotes of a %s", sum.misquotes[how], how)
		}
	}
}

// neverRead are addresses of pages that a question does not lead to.
func neverRead(w *webtest.Web) []string {
	return []string{w.Searx() + "/nowhere.example/a", w.Searx() + "/encyclo.example/wiki/never-written", "http://nowhere.example/b"}
}

// add looks at an answer in all its forms.
func (s *tally) add(t *testing.T, w *webtest.Web, events []event.Event, r *report.Report, how string) {
	t.Helper()
	m, _ := answerOf(events)
	raw, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	markdown, page := report.Markdown(r), string(report.HTML(r))
	forms := map[string]string{
		"Markdown": withoutQuotes(markdown), "HTML": strings.Join(attribute.FindAllString(html.UnescapeString(page), -1), "\n"), "JSON": ownWords(t, raw),
		"message": withoutQuotes(m.Text) + "\n" + m.Reasoning + "\n" + strings.Join(m.KeyPoints, "\n"),
	}
	read := readIn(w, events, r)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers++
	for _, form := range slices.Sorted(maps.Keys(forms)) {
		for _, at := range pointers(forms[form]) {
			if !read[at] {
				s.invented++
				t.Errorf("%s points to %q, which was not read:\n%s", form, at, markdown)
			}
		}
	}
	if all := strings.ToLower(markdown + page + string(raw) + forms["message"]); strings.Contains(all, inventions) {
		s.invented++
		t.Errorf("an invention is left:\n%s", markdown)
	}
	for _, text := range append([]string{r.Text, withoutQuotes(m.Text)}, m.KeyPoints...) {
		for _, n := range marker.FindAllStringSubmatch(text, -1) {
			if r.Source(number(n[1])) == nil {
				s.unresolved++
				t.Errorf("%s in %q has no source", n[0], text)
			}
		}
	}
	s.coverage[r.Coverage.Claims.Covered*10/max(1, r.Coverage.Claims.Total)]++
	s.claims, s.covered = s.claims+r.Coverage.Claims.Total, s.covered+r.Coverage.Claims.Covered
	if r.Extractive {
		s.quoted++
		return
	}
	s.written++
	switch how {
	case "misquotes":
		s.quotations(t, r)
	case "wrong-source":
		for _, c := range r.Claims {
			if strings.Contains(c.Text, "dragons") {
				s.fabricated++
				if !c.Verified && marked(r.Text, c.Text) {
					s.exposed++
				}
			}
		}
	}
}

var (
	marker    = regexp.MustCompile(`\[(\d{1,3})\]`)
	pointer   = regexp.MustCompile(`(?i)(?:\b[a-z][a-z0-9+.-]{1,20}:[/\\]{2}|\bwww\.|\bmailto:|\bjavascript:|\bdata:)[^\s"'<>()\[\]\\]*`)
	attribute = regexp.MustCompile(`\b(?:href|src|srcset|action|data|style|content)="[^"]*"`)
)

// pointers are the addresses in a text, without what leads to a place on a page.
func pointers(text string) []string {
	var out []string
	for _, at := range pointer.FindAllString(text, -1) {
		at, _, _ = strings.Cut(at, "#:~:text=")
		out = append(out, strings.TrimRight(at, ".,;:"))
	}
	return out
}

// withoutQuotes is Markdown without its quotations. They stand there as in the
// source, with what the source says of addresses and numbers, and are no links.
func withoutQuotes(markdown string) string {
	var b strings.Builder
	for line := range strings.Lines(markdown) {
		if !strings.HasPrefix(strings.TrimSpace(line), "> ") {
			b.WriteString(line)
		}
	}
	return b.String()
}

// readIn are the addresses of an answer's sources that were read.
func readIn(w *webtest.Web, events []event.Event, r *report.Report) map[string]bool {
	fetched := w.Fetches()
	out := make(map[string]bool)
	for _, ev := range events {
		d, ok := ev.Data.(event.SourceRead)
		if ok && fetched[d.URL] > 0 && slices.ContainsFunc(r.Sources, func(s report.Source) bool { return s.URI == d.URL && s.Snapshot == d.Hash }) {
			out[d.URL] = true
		}
	}
	return out
}

// ownWords is every text of a report in JSON but its quotations and its notes,
// which say what was not read.
func ownWords(t *testing.T, raw []byte) string {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	delete(v, "notes")
	var b strings.Builder
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			b.WriteString(v + "\n")
		case []any:
			for _, e := range v {
				walk(e)
			}
		case map[string]any:
			_, quotes := v["passage"]
			for _, k := range slices.Sorted(maps.Keys(v)) {
				if !quotes || k != "text" && k != "quote" {
					walk(v[k])
				}
			}
		}
	}
	walk(v)
	return b.String()
}

// quotations counts the misquotes of an answer and those that are marked. A
// claim that quotes exactly is not to be doubted.
func (s *tally) quotations(t *testing.T, r *report.Report) {
	t.Helper()
	for _, c := range r.Claims {
		if len(c.Quotes) == 0 {
			continue
		}
		quote := c.Quotes[0]
		how := s.liar.misquoted(quote)
		if how == "" {
			s.trueQuotes++
			if !c.Verified {
				s.doubted++
				t.Errorf("a true quotation is %s: %q", c.Verdict, quote)
			}
			continue
		}
		s.misquotes[how]++
		if !c.Verified && c.Verdict == cite.Misquoted && marked(r.Text, quote) {
			s.caught[how]++
		} else {
			t.Errorf("a misquotation by %s is %s: %q", how, c.Verdict, quote)
		}
	}
}

// marked says whether the text says that a quotation in it is not borne out.
func marked(text, quote string) bool {
	_, rest, ok := strings.Cut(text, strings.Trim(quote, ".。 "))
	line, _, _ := strings.Cut(rest, "\n")
	return ok && strings.Contains(line, "[?]")
}
