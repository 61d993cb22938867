package dossier

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"dossier/event"
	"dossier/internal/store/memory"
	"dossier/internal/webtest"
	"dossier/llm/llmtest"
)

// webLogs are the runs whose logs are frozen: each searching mode with a model
// and with none, in the three languages.
var webLogs = []struct {
	name, mode, question string
	model                *scribe
}{
	{"web-search-model", "web_search", "How many inhabitants does Oststrand have, and who is its mayor?", &scribe{
		Facets: []facet{
			{Title: "How many inhabitants does Oststrand have?", Queries: []string{"Oststrand inhabitants"}},
			{Title: "Who is the mayor of Oststrand?", Queries: []string{"mayor of Oststrand", "Oststrand town council"}},
		},
		Lie: "The town hall of Oststrand is built of chocolate [1].",
	}},
	{"web-search-quotes", "web_search", "云汀镇的常住人口是多少？", nil},
	{"web-deep-model", "deep_search", "Когда открыли Заречный виадук и кто выиграл чемпионат Яросельска по шахматам в 1977 году?", &scribe{
		Facets: []facet{
			{Title: "Когда открыли Заречный виадук?", Queries: []string{"Заречный виадук открытие"}},
			{Title: "Кто выиграл чемпионат Яросельска по шахматам в 1977 году?", Queries: []string{"чемпионат Яросельска шахматы 1977"}},
		},
		FollowUps: []string{"Яросельск спорт", "Платон Верховцев биография", "завод «Северплёнка»", "студёнский хариус", "маяк Белый Рог", "Яросельск"},
	}},
	{"web-deep-quotes", "deep_search", "What is the telephone number of the keeper of the Skarrow windmill?", nil},
	{"web-quality-model", "quality", "银尾雀鹛现在有多少只？鹤屿岛上的第一家咖啡馆叫什么名字？", &scribe{
		Facets: []facet{
			{Title: "银尾雀鹛现在有多少只？", Queries: []string{"银尾雀鹛 数量"}},
			{Title: "鹤屿岛上的第一家咖啡馆叫什么名字？", Queries: []string{"鹤屿岛 咖啡馆"}},
		},
		FollowUps: []string{"鹤屿岛", "望潮灯塔", "云汀镇", "梧溪瓷厂", "方砚之", "墨舟", "鹤屿岛 旅游", "云汀桥"},
		Lie:       "鹤屿岛的第一家咖啡馆开在月亮上 [1]。",
	}},
	{"web-quality-quotes", "quality", "Кто выиграл чемпионат Яросельска по шахматам в 1977 году?", nil},
}

// TestWebEventLogs freezes what is told and recorded of searching the web.
func TestWebEventLogs(t *testing.T) {
	for _, c := range webLogs {
		t.Run(c.name, func(t *testing.T) {
			w := startWeb(t, webtest.Options{})
			e := engine(t, memory.New(memory.Options{}), onWeb(t, w, modelled(t, c.model)))
			events := follow(t, e, onTheWeb(c.mode, c.question))
			reportOf(t, e)
			golden(t, c.name+".golden", []byte(frozen(t, e, w, events)))
		})
	}
}

// modelled are the settings for a scripted model; none without one.
func modelled(t *testing.T, s *scribe) map[string]string {
	t.Helper()
	if s == nil {
		return nil
	}
	return connected(llmtest.Start(t, llmtest.Script{Rules: s.Rules()}))
}

// frozen is a run as a golden file keeps it: its events, and what has no order
// of its own, sorted. What is another on each start has a name instead.
func frozen(t *testing.T, e *Engine, w *webtest.Web, events []event.Event) string {
	t.Helper()
	var out strings.Builder
	var aside []string
	for _, ev := range events {
		if u, ok := ev.Data.(event.Usage); ok {
			aside = append(aside, fmt.Sprintf("  usage of %s as %s\n", u.Model, u.Role))
			continue
		}
		if ev.Transient() {
			continue
		}
		data, err := event.EncodeData(ev.Data)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&out, "%s %s\n", ev.Kind(), data)
	}
	d, err := e.Show(t.Context(), "last")
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range d.Steps {
		aside = append(aside, fmt.Sprintf("  %s %s\n", entry.Kind, entry.Key))
	}
	slices.Sort(aside)
	text := sameOnEachStart(t, w, out.String()+strings.Join(aside, ""))
	return strings.ReplaceAll(text, d.Record.ID, "RUN")
}

var (
	runDate  = regexp.MustCompile(`\d{4}-\d\d-\d\d ((?:生成 )?· )`)
	blobHash = regexp.MustCompile(`sha256-[0-9a-f]{64}`)
	blobSize = regexp.MustCompile(`"hash":"HASH","bytes":\d+`)
	uuid     = regexp.MustCompile(`_[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}\b`)
)

// sameOnEachStart takes out of a text what depends on the port of the web, the
// day and the run.
func sameOnEachStart(t *testing.T, w *webtest.Web, text string) string {
	t.Helper()
	u, err := url.Parse(w.Searx())
	if err != nil {
		t.Fatal(err)
	}
	text = strings.NewReplacer(":"+u.Port(), ":PORT", "%3A"+u.Port(), "%3APORT").Replace(text)
	text = runDate.ReplaceAllString(text, "DATE $1")
	text = blobHash.ReplaceAllString(text, "HASH")
	text = uuid.ReplaceAllString(text, "_UUID")
	return blobSize.ReplaceAllString(text, `"hash":"HASH","bytes":0`)
}
