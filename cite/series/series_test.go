package series

import (
	"fmt"
	"strings"
	"testing"

	"dossier/cite"
	"dossier/lang"
)

// found runs Find over texts, each a source that is cited whole, or only where it
// says «…».
func found(t *testing.T, texts ...string) []Plot {
	t.Helper()
	ledger, snapshots := cite.NewLedger(), cite.Snapshots{}
	var passages []cite.Passage
	for i, text := range texts {
		start := strings.Index(text, "«")
		end := strings.Index(text, "»") - len("«")
		text = strings.NewReplacer("«", "", "»", "").Replace(text)
		if start < 0 {
			start, end = 0, len(text)
		}
		n := ledger.Add(cite.Source{URI: fmt.Sprintf("https://example.org/%d", i), Kind: cite.Web, Lang: lang.Detect(text)}).Number
		snap := snapshots.Add(text)
		if _, err := ledger.Read(n, snap); err != nil {
			t.Fatal(err)
		}
		passages = append(passages, snap.PassageAt(n, lang.Span{Start: start, End: end}))
	}
	plots := Find(ledger, snapshots, passages)
	for _, p := range plots {
		for _, l := range p.Lines {
			for _, point := range l.Points {
				source, _ := ledger.Source(point.Passage.Source)
				if !point.Stands(snapshots[source.Snapshot]) {
					t.Errorf("%q: %+v does not stand in its passage", texts, point)
				}
			}
		}
	}
	return plots
}

// brief is a plot in a line.
func brief(plots []Plot) string {
	var out []string
	for _, p := range plots {
		kind := "bars"
		if p.Dated {
			kind = "time"
		}
		text := fmt.Sprintf("%s (%s) %s", p.Title, p.Unit, kind)
		for _, l := range p.Lines {
			text += " / " + l.Name + ":"
			for _, point := range l.Points {
				text += fmt.Sprintf(" %s=%v", point.Label, point.Value)
			}
		}
		out = append(out, text)
	}
	return strings.Join(out, "\n")
}

func TestTables(t *testing.T) {
	for name, tc := range map[string]struct{ text, want string }{
		"Markdown, of which one row is cited": {
			"# Power\n\n| Year | Output, TWh | Plants |\n| --- | --- | --- |\n| 2019 | 5.2 | 12 |\n«| 2020 | 6.1 | 13 |»\n| 2021 | 1,200.5 | 17 |\n\nMore.",
			"Power: Output (TWh) time / Output: 2019=5.2 2020=6.1 2021=1200.5\nPower: Plants () time / Plants: 2019=12 2020=13 2021=17",
		},
		"rows of a page, columns of one unit together": {
			"Table 3. Sales by kind\n\nYear | Air (units) | Ground (units) | Price (EUR)\n2021 | 100 | 40 | 9 000\n2020 | 90 | 35 | 8 000\n2019 | 70 | 30 | 7 500",
			"Sales by kind (units) time / Air: 2019=70 2020=90 2021=100 / Ground: 2019=30 2020=35 2021=40\nSales by kind: Price (EUR) time / Price: 2019=7500 2020=8000 2021=9000",
		},
		"members of a group, without their total": {
			"Country | Share\nGermany | 12,5 %\nFrance | 30,1 %\nSpain | 7 %\nTotal | 49,6 %",
			"Share (%) bars / Share: Germany=12.5 France=30.1 Spain=7",
		},
		"columns that are years": {
			"Installed heat pumps (thousand)\n\nX\n\nCountry | 2019 | 2020 | 2021\nNorway | 90 | 95 | 125\nSweden | 100 | 104 | 135",
			"Norway () time / Norway: 2019=90 2020=95 2021=125\nSweden () time / Sweden: 2019=100 2020=104 2021=135",
		},
		"columns that are years under a caption with a unit": {
			"Table 1. Installed heat pumps (thousand)\n\nCountry | 2019 | 2020 | 2021\nNorway | 90 | 95 | 125\nSweden | 100 | 104 | 135",
			"Installed heat pumps (thousand) (thousand) time / Norway: 2019=90 2020=95 2021=125 / Sweden: 2019=100 2020=104 2021=135",
		},
		"fields behind their names": {
			"Месяц: январь 2024; Цена, руб.: 100,5; Код: 7\nМесяц: февраль 2024; Цена, руб.: 102; Код: 8\nМесяц: март 2024; Цена, руб.: 99,25; Код: 9",
			"Цена (руб.) time / Цена: январь 2024=100.5 февраль 2024=102 март 2024=99.25",
		},
		"a list": {
			"Установленная мощность:\n- 2019: 5 ГВт\n- 2020: 6,5 ГВт\n- 2021: 8 ГВт",
			"Установленная мощность (ГВт) time / : 2019=5 2020=6.5 2021=8",
		},
		"Chinese": {
			"表1 粮食产量\n\n年份 | 产量（万吨）\n2019年 | 66384\n2020年 | 66949\n2021年 | 68285",
			"粮食产量 (万吨) time / 产量: 2019年=66384 2020年=66949 2021年=68285",
		},
		"quarters and signs": {
			"Quarter | Growth\nQ1 2023 | −0.5 %\nQ2 2023 | 0.1 %\nQ3 2023 | +1.2 %",
			"Growth (%) time / Growth: Q1 2023=-0.5 Q2 2023=0.1 Q3 2023=1.2",
		},
		"columns set with spaces": {
			"Model        Output\nAlpha        5 kW\nBeta         7 kW\nGamma        9 kW",
			"Output (kW) bars / Output: Alpha=5 Beta=7 Gamma=9",
		},
		"members that are measures": {
			"Outside | COP\n-15 °C | 1.9\n-7 °C | 2.4\n7 °C | 3.9",
			"COP () bars / COP: -15 °C=1.9 -7 °C=2.4 7 °C=3.9",
		},
		"the same in two years": {
			"Town | People in 2011 | People in 2023 | Schools\nOslo | 600 000 | 700 000 | 90\nBergen | 260 000 | 290 000 | 40\nTrondheim | 170 000 | 210 000 | 30",
			"People in 2011 · People in 2023 () bars / People in 2011: Oslo=600000 Bergen=260000 Trondheim=170000 / People in 2023: Oslo=700000 Bergen=290000 Trondheim=210000\nSchools () bars / Schools: Oslo=90 Bergen=40 Trondheim=30",
		},
		"numbered rows": {
			"No. | City | People\n1 | Oslo | 700 000\n2 | Bergen | 290 000\n3 | Trondheim | 210 000",
			"People () bars / People: Oslo=700000 Bergen=290000 Trondheim=210000",
		},

		"a table whose caption is cited": {
			"«Table 1. Output»\n\nYear | Output, TWh\n2019 | 5\n2020 | 6\n2021 | 7", "Output (TWh) time / Output: 2019=5 2020=6 2021=7",
		},
		"a table of which the next paragraph speaks": {
			"Year | Output, TWh\n2019 | 5\n2020 | 6\n2021 | 7\n\n«It grew.»", "Output (TWh) time / Output: 2019=5 2020=6 2021=7",
		},

		"two rows are no series":              {"Year | Output, TWh\n2019 | 5\n2020 | 6", ""},
		"units that differ":                   {"Year | Output\n2019 | 5 MW\n2020 | 6 GW\n2021 | 7 GW", ""},
		"all the same":                        {"Year | Output, TWh\n2019 | 5\n2020 | 5\n2021 | 5", ""},
		"a year twice":                        {"Year | Output, TWh\n2019 | 5\n2019 | 6\n2021 | 7", ""},
		"words":                               {"Year | What\n2019 | began\n2020 | went on\n2021 | ended", ""},
		"numbers that say which":              {"Name | Code | Version | Founded\nA | 12 | 3 | 1999\nB | 13 | 4 | 2001\nC | 14 | 7 | 2005", ""},
		"ranges":                              {"Year | Output, TWh\n2019 | 5–6\n2020 | 6–7\n2021 | 7–8", ""},
		"a list without units":                {"Contents:\n- Summary: 3\n- Limits: 5\n- Costs: 9", ""},
		"telephone numbers":                   {"Name | Phone\nA | 555 12 34\nB | 555 12 35\nC | 555 12 39", ""},
		"a table that nothing cites":          {"«Nothing.»\n\nNor this.\n\nYear | Output, TWh\n2019 | 5\n2020 | 6\n2021 | 7", ""},
		"cells that are missing at the start": {"Year | Output, TWh | Plants\n5 | 12\n2020 | 6 | 13\n7 | 17", ""},
	} {
		if got := brief(found(t, tc.text)); got != tc.want {
			t.Errorf("%s:\n%s\nnot\n%s", name, got, tc.want)
		}
	}
}

func TestSentences(t *testing.T) {
	for _, tc := range []struct {
		want  string
		texts []string
	}{
		{"In 2019 the capacity was 5 GW, in 2020 it rose to 7 GW and in 2021 to 9.5 GW. (GW) time / : 2019=5 2020=7 2021=9.5", []string{"In 2019 the capacity was 5 GW, in 2020 it rose to 7 GW and in 2021 to 9.5 GW."}},
		{"Sales were 12 million units in 2019, 15 million units in 2020 and 11 million units in 2021. (million units) time / : 2019=12 2020=15 2021=11", []string{"Sales were 12 million units in 2019, 15 million units in 2020 and 11 million units in 2021."}},
		{"В 2019 году доля составляла 5 %, в 2020 году — 7 %, а в 2021 году выросла до 9,5 %. (%) time / : 2019=5 2020=7 2021=9.5", []string{"В 2019 году доля составляла 5 %, в 2020 году — 7 %, а в 2021 году выросла до 9,5 %."}},
		{"2019年产量为5万吨，2020年为7万吨，2021年增至9万吨。 (万吨) time / : 2019=5 2020=7 2021=9", []string{"2019年产量为5万吨，2020年为7万吨，2021年增至9万吨。"}},
		{"In 2019, 2020 and 2021 the share was 5 %, 7 % and 9 % respectively. (%) time / : 2019=5 2020=7 2021=9", []string{"In 2019, 2020 and 2021 the share was 5 %, 7 % and 9 % respectively."}},
		{ // of several sources
			"The installed capacity of heat pumps was 5 GW in 2019. (GW) time / : 2019=5 2020=7 2021=9",
			[]string{"The installed capacity of heat pumps was 5 GW in 2019.", "In 2021 the installed capacity of heat pumps reached 9 GW.", "The installed capacity of heat pumps rose to 7 GW in 2020."},
		},

		{"", []string{"In 2019 it was 5 GW, in 2020 7 GW."}}, // a pair
		{"", []string{"In 2019 France had 5 GW, in 2020 Germany had 7 GW, in 2021 Spain had 9 GW."}},
		{"", []string{"In 2019 the share of coal was 5 %, in 2020 the share of gas was 7 %, in 2021 the share of wind was 9 %."}},
		{"", []string{"2019年法国为5万吨，2020年德国为7万吨，2021年西班牙为9万吨。"}},
		{"", []string{"In 2019 it was 5 GW, in 2020 7 MW and in 2021 9 GW."}}, // other units
		{"", []string{"In 2019, 2020 and 2021 there were 5 %, 7 % and 9 %."}}, // whose is which?
		{"", []string{"In 2019 it rose to 5, in 2020 to 7, in 2021 to 9."}},   // of what?
		{"", []string{ // they disagree
			"The installed capacity of heat pumps was 5 GW in 2019.", "The installed capacity of heat pumps was 6 GW in 2019.", "In 2021 the installed capacity of heat pumps reached 9 GW.", "The installed capacity of heat pumps rose to 7 GW in 2020.",
		}},
		{"", []string{ // of different parts
			"The pump has part number 1, which weighs 100 grams and was made in the year 1801.", "The pump has part number 2, which weighs 107 grams and was made in the year 1802.", "The pump has part number 3, which weighs 114 grams and was made in the year 1803.",
		}},
		{"", []string{ // of different things
			"The share of coal in electricity generation was 5 % in 2019.", "The share of gas in electricity generation was 6 % in 2020.", "The share of wind in electricity generation was 7 % in 2021.",
		}},
	} {
		if got := brief(found(t, tc.texts...)); got != tc.want {
			t.Errorf("%q:\n%s\nnot\n%s", tc.texts, got, tc.want)
		}
	}
}

// The same series in two sources is found once.
func TestOnce(t *testing.T) {
	text := "Year | Output, TWh\n2019 | 5\n2020 | 6\n2021 | 7"
	if got := found(t, text, "As published:\n\n"+text); len(got) != 1 || len(got[0].Sources()) != 1 {
		t.Errorf("%d plots", len(got))
	}
}

func TestWhen(t *testing.T) {
	for label, want := range map[string]float64{
		"2019": 2019, "2019 г.": 2019, "2019年": 2019, "2019/20": 2019, "2019–2020": 2019, "FY2021": 2021, "2020-07": 2020.5, "2020-07-01": 2020.5, "July 2020": 2020.5, "июль 2020": 2020.5, "1 июля 2020 г.": 2020.5, "май 2020": 2020 + 4./12,
		"2020年7月": 2020.5, "Q3 2020": 2020.5, "2020 Q3": 2020.5, "3 кв. 2020": 2020.5, "2020年第三季度": 2020.5, "2030F": 2030,
	} {
		if got, ok := when(label); !ok || got != want {
			t.Errorf("%q is %v %v", label, got, ok)
		}
	}
	for _, label := range []string{"", "12", "1234", "2500", "Germany", "2020-13", "5 GW", "Marchpane 2020x", "20190"} {
		if got, ok := when(label); ok {
			t.Errorf("%q is %v", label, got)
		}
	}
}

func FuzzFind(f *testing.F) {
	f.Add("Year | Output, TWh\n2019 | 5\n2020 | 6\n2021 | 7")
	f.Add("- 2019: 5 GW\n- 2020: −6,5 GW\n- 2021: 8 GW")
	f.Add("In 2019 it was 5 GW, in 2020 7 GW and 9 GW in 2021.")
	f.Add("Year: 2019; Output: 5\nYear: 2020; Output: 6\nYear: 2021; Output: 7")
	f.Fuzz(func(t *testing.T, text string) {
		if text == "" || strings.ContainsAny(text, "«»") {
			return
		}
		for _, p := range found(t, text) {
			for _, l := range p.Lines {
				if len(l.Points) < fewest {
					t.Errorf("%q: %d points", text, len(l.Points))
				}
			}
		}
	})
}
