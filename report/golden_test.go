package report

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"dossier/cite"
	"dossier/cite/series"
	"dossier/lang"
)

var update = flag.Bool("update", false, "rewrite golden files")

// words are what a report in one language is made of.
type words struct {
	code                        lang.Code
	question, facet, other      string
	manual, page                string // texts of the sources
	quote, second, nearest      string // stand in manual
	foreign                     string // stands in page
	answer, oldTitle, pageTitle string
	note                        string
	figures, groups             string // texts with series of numbers
}

var inLanguages = []words{
	{
		code: lang.English, question: "How cold may it be for a heat pump?", facet: "lowest temperature", other: "what it costs",
		manual: "# Heat pumps\n\nA heat pump moves heat from outside into the house. The outdoor unit of the pump works down to -25 °C, see [the table](http://evil.example/x) and `install.md`.\n\n" +
			"## Winter\n\n- Below -15 °C the fan runs faster.\n- Ice is melted | every | hour.\n",
		page:  "Der Hersteller gibt an: The outdoor unit of the pump works down to -15 °C outside.",
		quote: "The outdoor unit of the pump works down to -25 °C, see [the table](http://evil.example/x) and `install.md`.", second: "- Below -15 °C the fan runs faster.\n- Ice is melted | every | hour.",
		nearest: "A heat pump moves heat from outside into the house.", foreign: "The outdoor unit of the pump works down to -15 °C outside.",
		answer:   "# Short answer\n\nThe outdoor unit of the pump works down to -25 °C [1]. A heat pump moves heat into the house [1].\n\n| what | value |\n| --- | --- |\n| limit | -25 °C [1] |\n\nIt is [very](http://evil.example) cheap <script>alert(1)</script> in winter [1].",
		oldTitle: "Heat pumps", pageTitle: "Test of *heat* pumps", note: "notes.bin could not be read: a binary file",
		figures: "Table 1. Heat pumps sold <b>\n\nYear | Air, thousand | Ground, thousand\n2019 | 70.5 | 30\n2020 | 90 | 35\n2022 | 100 | 40",
		groups:  "Country | Share\nNorway | 60 %\nFinland | 41 %\nSpain | -3 %",
	},
	{
		code: lang.Russian, question: "При каком морозе работает тепловой насос?", facet: "самая низкая температура", other: "сколько он стоит",
		manual: "# Тепловые насосы\n\nТепловой насос переносит тепло с улицы в дом. Блок работает при морозе до -25 °C, см. [таблицу](http://evil.example/x) и `install.md`.\n\n" +
			"## Зима\n\n- Ниже -15 °C вентилятор вращается быстрее.\n- Лёд растапливается | раз | в час.\n",
		page:  "Из обзора: Блок работает при морозе до -15 °C на улице.",
		quote: "Блок работает при морозе до -25 °C, см. [таблицу](http://evil.example/x) и `install.md`.", second: "- Ниже -15 °C вентилятор вращается быстрее.\n- Лёд растапливается | раз | в час.",
		nearest: "Тепловой насос переносит тепло с улицы в дом.", foreign: "Блок работает при морозе до -15 °C на улице.",
		answer:   "# Коротко\n\nБлок работает при морозе до -25 °C [1]. Тепловой насос переносит тепло в дом [1].\n\n| что | значение |\n| --- | --- |\n| предел | -25 °C [1] |\n\nЗимой он [очень](http://evil.example) дёшев <script>alert(1)</script> в обслуживании [1].",
		oldTitle: "Тепловые насосы", pageTitle: "Проверка *тепловых* насосов", note: "notes.bin не удалось прочитать: двоичный файл",
		figures: "Таблица 1. Продажи насосов <b>\n\nГод | Воздушные, тыс. | Грунтовые, тыс.\n2019 | 70,5 | 30\n2020 | 90 | 35\n2022 | 100 | 40",
		groups:  "Страна | Доля\nНорвегия | 60 %\nФинляндия | 41 %\nИспания | -3 %",
	},
	{
		code: lang.Chinese, question: "热泵在多低的温度下还能工作？", facet: "最低温度", other: "价格",
		manual: "# 热泵\n\n热泵把室外的热量搬进屋里。本机可在零下 25 度工作，参见[表格](http://evil.example/x)和 `install.md`。\n\n" +
			"## 冬季\n\n- 低于零下 15 度时风扇转得更快。\n- 冰每小时 | 融化 | 一次。\n",
		page:  "评测：本机可在零下 15 度工作。",
		quote: "本机可在零下 25 度工作，参见[表格](http://evil.example/x)和 `install.md`。", second: "- 低于零下 15 度时风扇转得更快。\n- 冰每小时 | 融化 | 一次。",
		nearest: "热泵把室外的热量搬进屋里。", foreign: "本机可在零下 15 度工作。",
		answer:   "# 简答\n\n本机可在零下 25 度工作 [1]。热泵把热量搬进屋里 [1]。\n\n| 项目 | 数值 |\n| --- | --- |\n| 极限 | 零下 25 度 [1] |\n\n冬天它[非常](http://evil.example)便宜 <script>alert(1)</script>，维护简单 [1]。",
		oldTitle: "热泵", pageTitle: "热泵*评测*", note: "notes.bin 无法读取：二进制文件",
		figures: "表1 热泵销量 <b>\n\n年份 | 空气源（万台） | 地源（万台）\n2019年 | 70.5 | 30\n2020年 | 90 | 35\n2022年 | 100 | 40",
		groups:  "国家 | 占比\n挪威 | 60 %\n芬兰 | 41 %\n西班牙 | -3 %",
	},
}

// fixture is a ledger with a manual in a folder, a page on the web and a
// scanned brochure.
type fixture struct {
	words
	ledger    *cite.Ledger
	snapshots cite.Snapshots
}

func newFixture(t testing.TB, w words) *fixture {
	t.Helper()
	f := &fixture{w, cite.NewLedger(), cite.Snapshots{}}
	f.add(t, cite.Source{URI: "/home/ann/docs/pumps/manual.md", Title: w.oldTitle, Lang: w.code, Kind: cite.File, Date: "2021-05-01"}, w.manual)
	f.add(t, cite.Source{URI: "https://example.org/test?a=1&b=<2>", Title: w.pageTitle, Author: "Anna <b>Schmidt</b>", Lang: "de", Kind: cite.Web, Site: "Example"}, w.page)
	f.add(t, cite.Source{URI: "/home/ann/docs/brochure.pdf", Title: "brochure.pdf", Lang: lang.English, Kind: cite.File}, "A page of the brochure.\n\nHeat pumps are quiet.")
	return f
}

func (f *fixture) add(t testing.TB, s cite.Source, text string) {
	t.Helper()
	if _, err := f.ledger.Read(f.ledger.Add(s).Number, f.snapshots.Add(text)); err != nil {
		t.Fatal(err)
	}
}

// quote finds words in a source.
func (f *fixture) quote(t testing.TB, source int, text string, page int, headings ...string) Quote {
	t.Helper()
	s, _ := f.ledger.Source(source)
	snap := f.snapshots[s.Snapshot]
	at := strings.Index(snap.Text, text)
	if at < 0 {
		t.Fatalf("source %d has no %q", source, text)
	}
	q, err := QuoteAt(s, snap, cite.Passage{Start: at, End: at + len(text), HeadingPath: headings, Page: page})
	if err != nil {
		t.Fatal(err)
	}
	return q
}

func (f *fixture) report(t testing.TB, kind string) *Report {
	t.Helper()
	r := &Report{
		Version: Version, Run: "r7", Created: time.Date(2026, 11, 15, 5, 30, 0, 0, time.UTC), Question: f.question, Lang: f.code,
		Outcome: Answered, Base: "/home/ann/docs",
	}
	quotes := []Quote{f.quote(t, 1, f.quote0(), 0, f.oldTitle), f.quote(t, 1, f.second, 0, f.oldTitle, "Winter")}
	var passages []cite.Passage
	switch kind {
	case "quotes":
		r.Extractive = true
		quotes[0] = f.marked(t)
		r.Sections = []Section{
			{Title: f.facet, Quotes: quotes},
			{Title: f.other, Quotes: []Quote{f.quote(t, 3, "Heat pumps are quiet.", 2)}},
		}
		r.Coverage = Coverage{Claims: Share{3, 3}, Facets: Share{2, 2}, Independent: 2}
	case "model":
		r.Model, r.Title = "model-1", f.facet
		result, err := cite.Verify(context.Background(), f.answer, f.ledger, f.snapshots, cite.Lexical{}, cite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		r.Text, r.Claims = result.Text, result.Claims
		r.Coverage = Coverage{Claims: Share{result.Covered, len(result.Claims)}, Independent: result.Independent}
	case "research":
		r.Kind, r.Model, r.Title = Research, "model-1", f.oldTitle
		verified := func(text string) string {
			result, err := cite.Verify(context.Background(), text, f.ledger, f.snapshots, cite.Lexical{}, cite.Options{})
			if err != nil {
				t.Fatal(err)
			}
			r.Claims = append(r.Claims, result.Claims...)
			r.Coverage.Claims.Covered += result.Covered
			return result.Text
		}
		r.Summary = verified(f.nearest + " [1]")
		r.Sections = []Section{{Title: f.facet, Text: verified(f.answer)}, {Title: f.other, Text: verified(f.foreign + " [2]")}}
		r.Conclusion = verified(f.foreign + " [2] " + f.nearest + " [2]")
		r.Coverage.Claims.Total, r.Coverage.Independent = len(r.Claims), 2
		r.Conflicts = cite.Conflicts(f.ledger, f.snapshots, []cite.Passage{quotes[0].Passage, f.quote(t, 2, f.foreign, 0).Passage})
		r.Notes, r.FollowUps = []string{f.note}, []string{f.other, f.question + " <b>[1]</b>"}
	case "plots":
		r.Kind, r.Model, r.Title = Research, "model-1", f.oldTitle
		f.add(t, cite.Source{URI: "https://example.org/figures", Title: "Figures", Lang: f.code, Kind: cite.Web}, f.figures)
		f.add(t, cite.Source{URI: "https://example.org/groups", Title: "Groups", Lang: f.code, Kind: cite.Web}, f.groups)
		var cited []cite.Passage
		for n := 4; n <= 5; n++ {
			s, _ := f.ledger.Source(n)
			cited = append(cited, f.snapshots[s.Snapshot].PassageAt(n, lang.Span{End: len(f.snapshots[s.Snapshot].Text)}))
		}
		r.Sections = []Section{{Title: f.facet, Text: f.nearest + " [1]", Plots: series.Find(f.ledger, f.snapshots, cited)}}
		r.Coverage = Coverage{Claims: Share{1, 1}, Independent: 1}
	case "foreign":
		r.Extractive = true
		r.Sections = []Section{{Quotes: []Quote{f.quote(t, f.elsewhere(t), elsewhere[f.code], 0)}}}
		r.Coverage = Coverage{Claims: Share{1, 1}, Facets: Share{1, 1}, Independent: 1}
	case "partial":
		r.Extractive, r.Outcome = true, Partial
		r.Sections = []Section{{Title: f.facet, Quotes: []Quote{quotes[0], f.quote(t, 2, f.foreign, 0)}}}
		r.Coverage = Coverage{Claims: Share{2, 2}, Facets: Share{1, 2}, Missing: []string{f.other}, Independent: 2}
		passages = []cite.Passage{quotes[0].Passage, f.quote(t, 2, f.foreign, 0).Passage}
		r.Conflicts = cite.Conflicts(f.ledger, f.snapshots, passages)
		r.Notes = []string{f.note}
	case "changes":
		r.Extractive = true
		r.Sections = []Section{{Title: f.facet, Quotes: []Quote{quotes[0], f.quote(t, 3, "Heat pumps are quiet.", 2)}}}
		r.Coverage = Coverage{Claims: Share{2, 2}, Facets: Share{1, 1}, Independent: 2}
	case "nothing":
		r.Extractive, r.Outcome = true, Nothing
		r.Nearest = []Quote{f.quote(t, 1, f.nearest, 0, f.oldTitle), f.quote(t, 2, f.foreign, 0)}
		r.Coverage = Coverage{Facets: Share{0, 1}, Missing: []string{f.other}}
	}
	if err := r.Gather(f.ledger, f.snapshots); err != nil {
		t.Fatal(err)
	}
	if err := r.Check(f.snapshots); err != nil {
		t.Fatal(err)
	}
	if kind == "changes" {
		r.Changes = Compare(f.earlier(t, r), r)
	}
	return r
}

// earlier is a report as it was before some of what it rests on had changed.
func (f *fixture) earlier(t testing.TB, r *Report) *Report {
	t.Helper()
	old := *r
	old.Run, old.Created, old.Outcome = "r6", r.Created.AddDate(0, 0, -1), Partial
	changed := r.Sections[0].Quotes[0]
	changed.Text = strings.ReplaceAll(changed.Text, "25", "20")
	page := f.quote(t, 2, f.foreign, 0)
	old.Sections = []Section{{Title: f.facet, Quotes: []Quote{changed, page}}}
	s, _ := f.ledger.Source(2)
	old.Sources = []Source{r.Sources[0], {Source: s, Passages: []Quote{page}}}
	old.Sources[0].Snapshot = "sha256-other"
	return &old
}

// marked is the paragraph of the manual in which one sentence is the answer.
func (f *fixture) marked(t testing.TB) Quote {
	t.Helper()
	from := strings.Index(f.manual, f.nearest)
	mark := strings.Index(f.manual, f.quote0())
	q := f.quote(t, 1, f.manual[from:mark+len(f.quote0())], 0, f.oldTitle)
	q.Passage.MarkStart, q.Passage.MarkEnd = mark, mark+len(f.quote0())
	return q
}

// elsewhere are sentences in another language than the question's.
var elsewhere = map[lang.Code]string{
	lang.English: "Насос работает при морозе до двадцати пяти градусов.",
	lang.Russian: "The pump works in frost of down to twenty-five degrees.",
	lang.Chinese: "The pump works in frost of down to twenty-five degrees.",
}

// elsewhere adds a source with such a sentence.
func (f *fixture) elsewhere(t testing.TB) int {
	text := elsewhere[f.code]
	f.add(t, cite.Source{URI: "/home/ann/docs/frost.txt", Lang: lang.Detect(text), Kind: cite.File}, text)
	return 4
}

func (f *fixture) quote0() string { return f.words.quote }

var kinds = []string{"quotes", "model", "partial", "nothing", "foreign", "research", "plots", "changes"}

func TestGolden(t *testing.T) {
	for _, w := range inLanguages {
		for _, kind := range kinds {
			r := newFixture(t, w).report(t, kind)
			if kind == "partial" && len(r.Conflicts) == 0 {
				t.Errorf("%s: the sources don't disagree", w.code)
			}
			for ext, got := range map[string]string{
				".md": Markdown(r), ".html": HTML(r),
				".short.md": Form{Extent: Short}.Markdown(r), ".brief.md": Form{Extent: Brief}.Markdown(r), ".plain.txt": plainly(t, r),
			} {
				name := filepath.Join("testdata", string(w.code)+"-"+kind+ext)
				if *update {
					if err := os.WriteFile(name, []byte(got), 0o666); err != nil {
						t.Fatal(err)
					}
				}
				want, err := os.ReadFile(name)
				if err != nil {
					t.Fatal(err)
				}
				if got != string(want) {
					t.Errorf("%s is not what is rendered; -update rewrites it:\n%s", name, got)
				}
			}
		}
	}
}

// plainly is the answer of a report by itself with its marks below it.
func plainly(t *testing.T, r *Report) string {
	t.Helper()
	text, cited := Plain(r)
	var b strings.Builder
	b.WriteString(text + "\n\n")
	for _, c := range cited {
		runes := []rune(text)
		if mark := string(runes[c.Start:c.End]); mark != cite.Marker([]int{c.Number}) {
			t.Errorf("%+v is at %q", c, mark)
		}
		fmt.Fprintf(&b, "%d-%d [%d] %s | %s | %s\n", c.Start, c.End, c.Number, c.URL, c.Title, c.Quote)
	}
	return b.String()
}
