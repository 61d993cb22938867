package cite_test

import (
	"fmt"
	"strings"
	"testing"

	"dossier/cite"
)

func TestDisagreements(t *testing.T) {
	for _, c := range []struct {
		question string
		texts    []string
		want     string // values of the disagreements
	}{
		{"Who directed the film Silver Harbour?", []string{
			"Silver Harbour is a drama that was filmed in Odessa. The film Silver Harbour was directed by Anna Kern in one summer.",
			"Those who saw the film Silver Harbour, directed by Pavel Orlov, remember its last scene.",
		}, "Anna Kern <> Pavel Orlov"},
		{"Who directed the film Silver Harbour?", []string{ // the same person
			"The film Silver Harbour was directed by Anna Kern.", "Silver Harbour is a film directed by A. Kern.",
		}, ""},
		{"Who directed the film Silver Harbour?", []string{ // another film
			"The film Silver Harbour was directed by Anna Kern.", "The film Golden Harbour was directed by Pavel Orlov.",
		}, ""},
		{"When was the Mill House built?", []string{
			"The Mill House, built in 1859 for a brewer, was listed in 1983.", "Guides say that the Mill House was built about 1905 and burnt down in 1920.",
		}, "1859 <> 1905"},
		{"When was the Mill House built?", []string{ // both say one year, and another one of something else
			"The Mill House, built in 1859, was listed in 1983.", "The Mill House was built in 1859 and repaired in 1990.",
		}, ""},
		{"Who built the Mill House?", []string{"The Mill House was built in 1859.", "The Mill House was built in 1905."}, ""}, // not what is asked
		{"В каком году построен Троицкий мост?", []string{
			"Троицкий мост построен в 1903 году по проекту французов.", "По словам гида, Троицкий мост был построен в 1897 году.",
		}, "1903 <> 1897"},
		{"Какой город был столицей Хазарии?", []string{
			"В то время столицей Хазарии был город Итиль.", "Столицей Хазарии был в ту пору город Семендер.",
		}, "Итиль <> Семендер"},
		{"青山镇有多少人口？", []string{"青山镇人口为5万人，多数务农。", "据说青山镇的人口有8万人。"}, "5万 <> 8万"},
		{"青山镇有多少人口？", []string{"2010年青山镇人口为5万人。", "2020年青山镇的人口有8万人。"}, ""}, // of different years
		{"How many years does a cave newt live?", []string{
			"A cave newt lives for up to 11 years.", "In this pool the count of cave newts was 1,350 five years before.",
		}, ""}, // the second is not about how long they live
	} {
		l, snaps := cite.NewLedger(), cite.Snapshots{}
		var passages []cite.Passage
		for i, text := range c.texts {
			s := l.Add(cite.Source{URI: fmt.Sprint("file", i)})
			if _, err := l.Read(s.Number, snaps.Add(text)); err != nil {
				t.Fatal(err)
			}
			passages = append(passages, cite.Passage{Source: s.Number, Start: 0, End: len(text)})
		}
		var got []string
		for _, d := range cite.Disagreements(c.question, l, snaps, passages) {
			got = append(got, d.A.Value+" <> "+d.B.Value)
			if !strings.Contains(d.A.Quote, d.A.Value) || !strings.Contains(d.B.Quote, d.B.Value) {
				t.Errorf("%s: a value is not in its sentence: %+v", c.question, d)
			}
		}
		if strings.Join(got, "; ") != c.want {
			t.Errorf("%s: %q, want %q", c.question, got, c.want)
		}
	}
}
