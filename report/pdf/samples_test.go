package pdf

import (
	"fmt"
	"strings"
	"time"

	"dossier/cite"
	"dossier/lang"
	"dossier/report"
)

// sample is what a report in one language is made of.
type sample struct {
	code                                            lang.Code
	title, question, section, sentence, cell, quote string
}

var languages = map[string]sample{
	"en": {
		lang.English, "Heat pumps in cold climates", "How well do air-source heat pumps work below −20 °C, and what do they cost to run?",
		"What limits the output", "An air-source heat pump moves heat from outside into the house, and with falling temperature it has to lift that heat further",
		"Rated output", "The outdoor unit works down to −25 °C; below −15 °C its output falls to about 60 % of the rated value.",
	},
	"ru": {
		lang.Russian, "Тепловые насосы в холодном климате", "Насколько хорошо воздушные тепловые насосы работают ниже −20 °C и во что обходится их работа?",
		"Что ограничивает мощность", "Воздушный тепловой насос переносит тепло с улицы в дом, и чем холоднее, тем выше приходится его поднимать",
		"Номинальная мощность", "Наружный блок работает до −25 °C; ниже −15 °C мощность падает примерно до 60 % номинальной.",
	},
	"zh": {
		lang.Chinese, "寒冷气候下的热泵", "空气源热泵在零下二十度以下的效果如何？运行成本是多少？",
		"哪些因素限制制热量", "空气源热泵把室外的热量搬进屋里，气温越低，它就必须把热量提升得越高，因此压缩机的耗电也随之增加",
		"额定制热量", "室外机可在零下二十五度工作；低于零下十五度时，制热量约为额定值的百分之六十。",
	},
	"ko": {
		lang.English, "추운 기후에서의 히트 펌프", "영하 20도 이하에서 공기열 히트 펌프는 얼마나 잘 작동하며 운영 비용은 얼마인가?",
		"출력을 제한하는 것", "공기열 히트 펌프는 바깥의 열을 집 안으로 옮기며 기온이 낮을수록 열을 더 높이 끌어올려야 한다",
		"정격 출력", "실외기는 영하 25도까지 작동하며 영하 15도 아래에서는 출력이 정격의 약 60%로 떨어진다.",
	},
	"ja": {
		lang.English, "寒冷地のヒートポンプ", "氷点下二十度でヒートポンプはどのくらい働くか。", "出力を制限するもの",
		"ヒートポンプは外の熱を家の中へ運び、気温が下がるほど熱を高く汲み上げなければならない", "定格出力", "室外機はマイナス二十五度まで動作し、出力は定格の約六割に落ちる。",
	},
	"el": {
		lang.English, "Αντλίες θερμότητας σε ψυχρά κλίματα", "Πόσο καλά λειτουργούν κάτω από τους −20 °C;", "Τι περιορίζει την ισχύ",
		"Η αντλία θερμότητας μεταφέρει θερμότητα από έξω μέσα στο σπίτι", "Ονομαστική ισχύς", "Η εξωτερική μονάδα λειτουργεί έως τους −25 °C.",
	},
}

func samples() map[string]*report.Report {
	out := map[string]*report.Report{}
	for name, s := range languages {
		out[name] = s.report(5, 4)
	}
	return out
}

// report makes a report of research with so many sections, and in each so many
// paragraphs.
func (s sample) report(sections, paragraphs int) *report.Report {
	ledger, snapshots := cite.NewLedger(), cite.Snapshots{}
	for i := range 12 {
		text := fmt.Sprintf("%s %s. (%d)\n\n%s %s", s.section, s.sentence, i, code(i+300), s.quote)
		number := ledger.Add(cite.Source{
			URI: fmt.Sprintf("https://example.org/%d/article-about-heat-pumps", i), Title: fmt.Sprintf("%s %s", s.title, code(i+100)), Author: "A. Author",
			Date: fmt.Sprintf("2024-%02d-11", i+1), Lang: s.code, Kind: cite.Web, Site: "Example",
		}).Number
		if _, err := ledger.Read(number, snapshots.Add(text)); err != nil {
			panic(err)
		}
	}
	stop := ". "
	if s.code == lang.Chinese {
		stop = "。"
	}
	r := &report.Report{
		Version: report.Version, Run: "1m7enjj7", Created: time.Date(2026, 11, 15, 5, 30, 0, 0, time.UTC), Question: s.question, Title: s.title, Lang: s.code,
		Outcome: report.Answered, Kind: report.Research, Model: "model-1",
	}
	count := 0 // so that no two lines are alike
	paragraph := func(n int) string {
		var b strings.Builder
		for i := range 5 {
			count++
			fmt.Fprintf(&b, "%s %s [%d]%s", code(count), s.sentence, (n+i)%12+1, stop)
		}
		return b.String()
	}
	r.Summary = paragraph(0)
	for i := range sections {
		var b strings.Builder
		for j := range paragraphs + i%3 { // pages are not alike
			b.WriteString(paragraph(i+j) + "\n\n")
		}
		fmt.Fprintf(&b, "### %s\n\n- **%s**: %s [2]\n- %s [3]\n  - %s\n\n1. %s\n2. %s\n\n", s.cell, s.cell, s.sentence, code(i+500)+s.sentence, code(i+900)+s.cell, s.cell, s.sentence)
		fmt.Fprintf(&b, "| %s | %s | kW | COP |\n| --- | --- | --- | --- |\n| −7 °C | %s [1] | 8,2 | 3.1 |\n| −25 °C | %s | 4.9 → 5 | 1.7 [?] |\n\n", s.section, s.cell, s.sentence, s.cell)
		fmt.Fprintf(&b, "> %s [4]\n\n```\nfor %s := range 10 {\n\tfmt.Println(i, \"%s\") // ≤ ±5 %% ✓\n}\n```\n\n*%s* `x := %d` ~~%s~~\n", code(i+800)+s.quote+" "+code(i+600), code(i+700), s.cell, s.cell, i, s.cell)
		r.Sections = append(r.Sections, report.Section{Title: fmt.Sprintf("%s %s", s.section, code(i+50)), Text: b.String()})
	}
	r.Conclusion = paragraph(5)
	r.Coverage = report.Coverage{Claims: report.Share{Covered: 41, Total: 44}, Facets: report.Share{Covered: 5, Total: 5}, Independent: 12}
	for i := range 12 {
		source, _ := ledger.Source(i + 1)
		snap := snapshots[source.Snapshot]
		quote := code(i+300) + " " + s.quote
		at := strings.Index(snap.Text, quote)
		p := cite.Passage{Source: i + 1, Start: at, End: at + len(quote)}
		r.Claims = append(r.Claims, cite.Checked{Claim: cite.Claim{Text: s.quote, Sources: []int{i + 1}}, Verified: true, Passages: []cite.Passage{p}})
		if i == 1 {
			a := r.Claims[0].Passages[0]
			r.Conflicts = []cite.Conflict{{
				A: cite.Statement{Value: "25", Passage: a, Quote: code(300) + " " + s.quote, Date: "2024-01-11"}, B: cite.Statement{Value: "60", Passage: p, Quote: quote},
			}}
		}
	}
	r.Notes = []string{"example.org/13: 404", s.quote}
	if err := r.Gather(ledger, snapshots); err != nil {
		panic(err)
	}
	return r
}

// code is a word for a number.
func code(n int) string {
	n = n*7919%17576 + 17576
	var b []byte
	for ; n > 0; n /= 26 {
		b = append(b, byte('a'+n%26))
	}
	return string(b)
}
