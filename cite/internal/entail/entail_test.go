package entail

import (
	"fmt"
	"strings"
	"testing"
)

func TestNumbers(t *testing.T) {
	for text, want := range map[string]string{
		"It has 1,250 rooms and 3.5% of 5.4 million people": "1250 rooms, 3.5 %, 5.4e+06 people",
		"in 1990, twelve men; from 1990 to 1995":            "1990 year, 1990 year, 1995 year, 12 men",
		"vitamin B12 and mp3 files":                         "",
		"длина 74 км, 5,4 млн человек, 1 250 000 рублей":    "74 км, 5.4e+06 человек, 1.25e+06 рублей",
		"в 1703 году, два моста":                            "1703 year, 2 моста",
		"人口540万，1703年建立，三个人":                                "5.4e+06 , 1703 year, 3 个",
		"it cost $5 or €7.50":                               "5 or, 7.5 €",
	} {
		var got []string
		for _, n := range Numbers(text) {
			unit := n.Unit
			if n.Year {
				unit = "year"
			}
			got = append(got, fmt.Sprintf("%g %s", n.Value, unit))
		}
		if s := strings.Join(got, ", "); s != want {
			t.Errorf("%s: %s, want %s", text, s, want)
		}
	}
}

func TestSigns(t *testing.T) {
	for _, c := range []struct {
		text      string
		negations int
	}{
		{"It isn’t so, and nobody said it was", 2}, {"It is so", 0}, {"a notable knot", 0},
		{"Это не так, и никто этого не говорил", 3}, {"Это так", 0},
		{"这不是真的", 1}, {"这是非常好的，不仅如此", 0},
	} {
		if got := signsOf(c.text).negations; got != c.negations {
			t.Errorf("%s: %d negations, want %d", c.text, got, c.negations)
		}
	}
	for _, c := range [][2]string{
		{"Prices increased", "Prices decreased"}, {"Цены выросли", "Цены упали"}, {"价格上升", "价格下降"},
	} {
		if opposed(signsOf(c[0]), signsOf(c[1])) == 0 {
			t.Errorf("%s and %s are not opposed", c[0], c[1])
		}
		if opposed(signsOf(c[0]), signsOf(c[0])) != 0 {
			t.Errorf("%s is opposed to itself", c[0])
		}
	}
}

// TestOrderOfScores says what the score must never get the wrong way round.
func TestOrderOfScores(t *testing.T) {
	for _, c := range []struct{ passage, same, near, far string }{
		{"The bridge over the Neva was opened in 1850 and is 300 metres long. It has eight spans.",
			"The bridge over the Neva was opened in 1850 and is 300 metres long.", "The Neva bridge was opened in 1950.", "Penguins eat fish in winter."},
		{"Мост через Неву был открыт в 1850 году и имеет длину 300 метров. В нём восемь пролётов.",
			"Мост через Неву был открыт в 1850 году.", "Мост через Неву был открыт в 1950 году.", "Пингвины зимой едят рыбу."},
		{"涅瓦河上的大桥于1850年通车，全长300米。它有八个桥孔。", "涅瓦河上的大桥于1850年通车。", "涅瓦河上的大桥于1950年通车。", "企鹅冬天吃鱼。"},
	} {
		passage := []*Passage{ReadPassage(c.passage, "")}
		score := func(claim string) float64 {
			f, _ := Features(ReadClaim(claim, ""), passage)
			return Classify(f)[Supported]
		}
		if same, near, far := score(c.same), score(c.near), score(c.far); same <= near || near <= far || same < 0.6 || far > 0.3 {
			t.Errorf("%s: %.2f, %.2f, %.2f", c.same, same, near, far)
		}
	}
	if f, best := Features(ReadClaim("", ""), nil); best.Passage != -1 || f[0] != 1 {
		t.Error("nothing has a passage")
	}
}
