package cite_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"dossier/cite"
	"dossier/event"
	"dossier/llm"
)

const (
	nevaEn = "The Neva is a river in northwestern Russia. It flows from Lake Ladoga to the Gulf of Finland and is 74 kilometres long. The river carries more water than any other river of the region.\n\nSaint Petersburg was founded on its banks in 1703 by Peter the Great."
	nevaRu = "Нева — река на северо-западе России. Она вытекает из Ладожского озера и впадает в Финский залив, её длина составляет 74 км.\n\nСанкт-Петербург основан на её берегах в 1703 году Петром Великим. Наводнения бывают осенью."
	nevaZh = "涅瓦河是俄罗斯西北部的一条河流。它从拉多加湖流入芬兰湾，全长74公里。\n\n圣彼得堡于1703年由彼得大帝在河畔建立。"
)

// library is a ledger with the three texts about the Neva as sources 1 to 3.
func library(t *testing.T) (*cite.Ledger, cite.Snapshots) {
	t.Helper()
	l, snaps := cite.NewLedger(), cite.Snapshots{}
	for i, text := range []string{nevaEn, nevaRu, nevaZh} {
		s := l.Add(cite.Source{URI: fmt.Sprintf("https://example.org/%d", i+1), Date: fmt.Sprintf("202%d", i)})
		if _, err := l.Read(s.Number, snaps.Add(text)); err != nil {
			t.Fatal(err)
		}
	}
	return l, snaps
}

func TestVerify(t *testing.T) {
	l, snaps := library(t)
	for _, c := range []struct {
		answer  string
		verdict cite.Verdict
	}{
		{"The Neva flows from Lake Ladoga to the Gulf of Finland and is 74 kilometres long [1].", cite.Supported},
		{"The river Neva is 74 kilometres long and flows from Lake Ladoga [1].", cite.Supported},
		{"Peter the Great founded Saint Petersburg on the banks of the Neva in 1703 [1].", cite.Supported},
		{"It is said that “the river carries more water than any other river of the region” [1].", cite.Misquoted}, // The, not the
		{"It is said that “carries more water than any other river of the region” [1].", cite.Supported},
		{"It is said that “carries more water than any other river of the regions” [1].", cite.Misquoted},
		{"Bananas are rich in potassium and grow in Ecuador [1].", cite.Unsupported},
		{"The Neva is 94 kilometres long [7].", cite.UnknownSource},
		{"The Neva is a river.", cite.UnknownSource},
		{"Нева вытекает из Ладожского озера и впадает в Финский залив [2].", cite.Supported},
		{"Длина Невы составляет 74 км [2].", cite.Supported},
		{"В источнике сказано: «её длина составляет 74 км» [2].", cite.Supported},
		{"В источнике сказано: «её длина составляет 75 км» [2].", cite.Misquoted},
		{"Бананы богаты калием и растут в Эквадоре [2].", cite.Unsupported},
		{"涅瓦河从拉多加湖流入芬兰湾，全长74公里[3]。", cite.Supported},
		{"彼得大帝于1703年在涅瓦河畔建立圣彼得堡【3】。", cite.Supported},
		{"书中写道：“它从拉多加湖流入芬兰湾，全长75公里”[3]。", cite.Misquoted},
		{"香蕉富含钾元素[3]。", cite.Unsupported},
	} {
		r, err := cite.Verify(context.Background(), c.answer, l, snaps, cite.Lexical{}, cite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Claims) != 1 || r.Claims[0].Verdict != c.verdict {
			t.Errorf("%s\n is %+v, want %s", c.answer, r.Claims, c.verdict)
			continue
		}
		got := r.Claims[0]
		if got.Verified != (c.verdict == cite.Supported) || got.Verified != (r.Coverage == 1) {
			t.Errorf("%s: verified %v, coverage %v", c.answer, got.Verified, r.Coverage)
		}
		for _, p := range got.Passages {
			src, _ := l.Source(p.Source)
			if _, err := p.Quote(snaps[src.Snapshot]); err != nil {
				t.Error(err)
			}
		}
	}
}

// A number that the source doesn't have is never verified.
func TestWrongNumber(t *testing.T) {
	l, snaps := library(t)
	for _, answer := range []string{
		"The Neva flows from Lake Ladoga to the Gulf of Finland and is 94 kilometres long [1].",
		"Saint Petersburg was founded on its banks in 1803 by Peter the Great [1].",
		"Её длина составляет 47 км [2].", "圣彼得堡于1803年由彼得大帝在河畔建立[3]。",
	} {
		r, err := cite.Verify(context.Background(), answer, l, snaps, cite.Lexical{}, cite.Options{})
		if err != nil || len(r.Claims) != 1 || r.Claims[0].Verified {
			t.Errorf("%s: %+v, %v", answer, r.Claims, err)
		}
	}
}

func TestVerifyText(t *testing.T) {
	l, snaps := library(t)
	answer := "# Neva\n\nThe Neva is a river in northwestern Russia. It flows from Lake Ladoga to the Gulf of Finland [1, 9]. Bananas are rich in potassium [8].\n\n- Ducks live there [1]\n- Её длина составляет 74 км [2](https://evil.example).\n"
	for _, c := range []struct {
		opts cite.Options
		want string
	}{
		{cite.Options{}, "# Neva\n\nThe Neva is a river in northwestern Russia [1]. It flows from Lake Ladoga to the Gulf of Finland [1]. Bananas are rich in potassium [?].\n\n- Ducks live there [1] [?]\n- Её длина составляет 74 км [2]."},
		{cite.Options{Drop: true}, "# Neva\n\nThe Neva is a river in northwestern Russia [1]. It flows from Lake Ladoga to the Gulf of Finland [1].\n\n- Её длина составляет 74 км [2]."},
	} {
		r, err := cite.Verify(context.Background(), answer, l, snaps, cite.Lexical{}, c.opts)
		if err != nil {
			t.Fatal(err)
		}
		if r.Text != c.want {
			t.Errorf("text is\n%s\nwant\n%s", r.Text, c.want)
		}
		if r.Covered != 3 || len(r.Claims) != 5 || r.Coverage != 0.6 || r.Dropped+r.Marked != 2 || len(r.Failing()) != 2 || r.Independent != 2 {
			t.Errorf("result %+v", r)
		}
		if e := r.Event(); !reflect.DeepEqual(e, event.Coverage{Of: "claims", Covered: 3, Total: 5, Share: 0.6}) {
			t.Errorf("event %+v", e)
		}
		if e := r.Claims[2].Event(); e.Verdict != "unknown_source" {
			t.Errorf("event %+v", e)
		}
	}
}

func TestJudge(t *testing.T) {
	passages := []string{"The Neva is 74 km long.", "It is wide."}
	broken := errors.New("no route")
	for _, c := range []struct {
		said cite.Judgement
		err  error
		want cite.Support
	}{
		{cite.Judgement{Verdict: cite.Supported, Passage: 2}, nil, cite.Support{Verdict: cite.Supported, Score: 0.95, Best: 1}},
		{cite.Judgement{Verdict: cite.Supported}, nil, cite.Support{Verdict: cite.Unsupported, Score: 0.1, Best: -1}},
		{cite.Judgement{Verdict: cite.Supported, Passage: 3}, nil, cite.Support{Verdict: cite.Unsupported, Score: 0.1, Best: -1}},
		{cite.Judgement{Verdict: cite.Contradicted, Passage: 1}, nil, cite.Support{Verdict: cite.Contradicted, Score: 0.02}},
	} {
		j := cite.Judge{Ask: func(context.Context, string, []string) (cite.Judgement, error) { return c.said, c.err }}
		got, err := j.Check(context.Background(), "The Neva is long.", passages)
		if got != c.want || err != nil {
			t.Errorf("%+v gives %+v, %v", c.said, got, err)
		}
	}
	for _, no := range []struct {
		said cite.Judgement
		err  error
	}{{cite.Judgement{}, &llm.NoObjectError{}}, {cite.Judgement{Verdict: "maybe"}, nil}} {
		j := cite.Judge{Ask: func(context.Context, string, []string) (cite.Judgement, error) { return no.said, no.err }}
		got, err := j.Check(context.Background(), "The Neva is 74 km long.", passages)
		want, _ := cite.Lexical{}.Check(context.Background(), "The Neva is 74 km long.", passages)
		if got != want || err != nil {
			t.Errorf("without a judgement: %+v, %v", got, err)
		}
	}
	j := cite.Judge{Ask: func(context.Context, string, []string) (cite.Judgement, error) { return cite.Judgement{}, broken }}
	if _, err := j.Check(context.Background(), "x", passages); !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
	if _, err := llm.SchemaOf[cite.Judgement](); err != nil {
		t.Error(err)
	}
}

func TestConflicts(t *testing.T) {
	l, snaps := cite.NewLedger(), cite.Snapshots{}
	texts := []string{
		"The population of the city reached 5.4 million people in 2019. The bridge is 300 metres long.",
		"The population of the city reached 5.6 million people in 2019.",
		"The bridge was built in 1916 over the river by an engineer.",
		"The bridge was built in 1850 over the river by an engineer.",
		"Население города составляет 5,4 млн человек.",
		"Население города составляет 5 600 000 человек.",
		"该市人口约为540万人，面积很大。", "该市人口约为560万人，面积很大。",
		"Население города составляет 5,41 млн человек.",
		// Other things, told in the same words.
		"The old mill of the village 17 was repaired by the miller in 1870.", "The old mill of the village 23 was repaired by the miller in 1911.",
		"The station near Turin was opened by the minister in 1871.", "The station near Genoa was opened by the minister in 1854.",
	}
	var passages []cite.Passage
	for i, text := range texts {
		s := l.Add(cite.Source{URI: fmt.Sprint("file", i), Date: fmt.Sprint(2000 + i)})
		snap := snaps.Add(text)
		if _, err := l.Read(s.Number, snap); err != nil {
			t.Fatal(err)
		}
		passages = append(passages, cite.Passage{Source: s.Number, Start: 0, End: len(text)})
	}
	var got []string
	for _, c := range cite.Conflicts(l, snaps, passages) {
		got = append(got, fmt.Sprintf("%d %s %q, %d %s %q", c.A.Passage.Source, c.A.Date, c.A.Value, c.B.Passage.Source, c.B.Date, c.B.Value))
	}
	want := []string{
		`1 2000 "5.4 million", 2 2001 "5.6 million"`,
		`3 2002 "1916", 4 2003 "1850"`,
		`5 2004 "5,4 млн", 6 2005 "5 600 000"`,
		`6 2005 "5 600 000", 9 2008 "5,41 млн"`,
		`7 2006 "540万", 8 2007 "560万"`,
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("conflicts\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestResultIsJSON(t *testing.T) {
	l, snaps := library(t)
	r, err := cite.Verify(context.Background(), "Нева впадает в Финский залив [2].", l, snaps, cite.Lexical{}, cite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var back cite.Result
	if err := json.Unmarshal(data, &back); err != nil || back.Text != r.Text || len(back.Claims) != 1 || back.Claims[0].Start != r.Claims[0].Start {
		t.Errorf("%v: %s", err, data)
	}
}
