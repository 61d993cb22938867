package sources

import (
	"slices"
	"strings"
	"testing"

	"dossier/event"
	"dossier/lang"
	"dossier/lang/terms"
	"dossier/run"
)

func TestQuestionInEnglish(t *testing.T) {
	d := terms.Default()
	for question, want := range map[string][]string{
		"Какова высота маяка у гавани?":               {"height", "lighthouse", "harbour"},
		"Какое значение shared_buffers по умолчанию?": {"shared_buffers"},
		"灯塔有多高？":                         {"lighthouse"},
		"Как настроить TLS 1.3 в nginx?": {"TLS 1.3", "nginx"},
		"云汀镇的常住人口是多少？":                   nil, // of the name nothing is known
		"":                               nil,
	} {
		got := inEnglish(d, question)
		if want == nil && got != "" {
			t.Errorf("%q: %q", question, got)
		}
		for _, w := range want {
			if !strings.Contains(got, w) {
				t.Errorf("%q: %q lacks %q", question, got, w)
			}
		}
		if strings.ContainsFunc(got, func(r rune) bool { return r >= 0x400 }) {
			t.Errorf("%q: %q is not English", question, got)
		}
	}
}

// A question in Russian or Chinese goes out in English once, finds what only
// English pages say and quotes it; one in English, and one that a model plans,
// goes out as it is.
func TestWebIsAskedInEnglishToo(t *testing.T) {
	pages := map[string]string{
		"https://a.example/en": "The Cape lighthouse. The height of the lighthouse on the cape is forty-one metres, and its lamp is seen from far away.",
		"https://b.example/ru": "Погода на острове. Сегодня на острове будет дождь, а завтра ветер и туман до самого вечера.",
	}
	for _, c := range []struct {
		question string
		terms    *terms.Dictionary
		model    *script
		extra    bool
	}{
		{"Какова высота маяка на мысе?", terms.Default(), nil, true},
		{"海角上的灯塔高度是多少？", terms.Default(), nil, true},
		{"Какова высота маяка на мысе?", nil, nil, false},
		{"What is the height of the lighthouse on the cape?", terms.Default(), nil, false},
		{"Какова высота маяка на мысе?", terms.Default(), scripted(map[string]any{"plan": planOf("Какова высота маяка?", "Какова высота маяка?")}), false},
	} {
		engine := &fakeEngine{info: general("everything"), pages: pages}
		w, read := webOf(engine)
		w.Terms, read.texts = c.terms, pages
		e, d := gather(t, Job{Models: c.model.models(), Question: c.question, Corpus: corpusOf(t, w, WebScope{}), Tuning: Tuning{Queries: 2, PerRound: 2, Iterations: 1, MaxResults: 5, TopK: 5, ReadTop: 3}}, run.Limits{})
		var english []string
		for _, q := range engine.asked {
			if lang.Detect(q) == lang.English {
				english = append(english, q)
			}
		}
		planned := slices.ContainsFunc(d.log, func(data event.Data) bool {
			p, ok := data.(event.PlanUpdated)
			return ok && len(english) > 0 && slices.Contains(p.Steps[0].Queries, english[0])
		})
		switch {
		case c.extra && (len(english) != 1 || !planned || !strings.Contains(english[0], "lighthouse")):
			t.Errorf("%s: asked %q, planned %v", c.question, engine.asked, planned)
		case c.extra:
			if f := e.Facets[0]; len(f.Quotes) == 0 || !f.Answered || e.Ledger.Sources()[f.Quotes[0].Source-1].URI != "https://a.example/en" {
				t.Errorf("%s: %+v", c.question, f)
			}
		case lang.Detect(c.question) != lang.English && len(english) > 0:
			t.Errorf("%s was asked as %q", c.question, english)
		case lang.Detect(c.question) == lang.English && len(engine.asked) > 2:
			t.Errorf("%s was asked as %q", c.question, engine.asked)
		}
	}
}
