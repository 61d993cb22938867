package haiku

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"dossier/lang"
)

func TestSyllables(t *testing.T) {
	for text, want := range map[string]int{
		"Старый пруд.":         3,
		"Прыгнула в воду":      5,
		"Лягушка. Всплеск":     4,
		"ёжик":                 2,
		"мои\u0306 чаи\u0306":  2,
		"cafe\u0301":           2,
		"В лес":                1,
		"an old silent pond":   5,
		"a frog jumps":         3,
		"into the pond":        4,
		"homeland":             2,
		"hopelessly":           3,
		"table":                2,
		"wanted":               2,
		"walked":               1,
		"boxes":                2,
		"Baker's":              2,
		"bridge’s":             2,
		"idea":                 3,
		"café":                 2,
		"古池や":                  2,
		"古池蛙":                  3,
		"осень in the city, 秋": 7,
		"12 — !":               0,
		"":                     0,
		"state-of-the-art":     4,
	} {
		if got := Syllables(text); got != want {
			t.Errorf("%q has %d syllables, want %d", text, got, want)
		}
	}
}

func TestMeasure(t *testing.T) {
	p := Measure("  An old silent pond \n\nA frog jumps into the pond\n— splash! Silence again.\n")
	if !slices.Equal(p.Syllables, []int{5, 7, 5}) || p.Words != 13 || !p.Right() || p.Text() != "An old silent pond\nA frog jumps into the pond\n— splash! Silence again." {
		t.Errorf("%+v", p)
	}
	for _, wrong := range []string{"", "one", "a\nb\nc", "An old silent pond\nA frog jumps into the pond\nsplash, silence 2 again"} {
		if Measure(wrong).Right() {
			t.Errorf("%q is taken for a haiku", wrong)
		}
	}
}

// Whatever the theme and whatever is chosen, a poem comes of it.
func TestComposeHasTheForm(t *testing.T) {
	themes := []string{"осень", "весне", "кот Мурзик", "программирование", "гравитация", "дифференциальные уравнения", "зимний лес", "море", "любовь", "ночь", "лето",
		"autumn rain", "winter", "a cat", "quantum chromodynamics", "love", "the sea", "night", "summer", "spring", "code", "春天", "下雪", "量子力学", "秋", "夏", "大海",
		"", "42", "!!!", "año", "осень autumn 秋"}
	for _, theme := range themes {
		seen := map[string]bool{}
		for seed := range uint64(40) {
			r := rand.New(rand.NewPCG(seed, 1))
			p := Compose(theme, Language(theme, lang.Russian), r.IntN)
			if !p.Right() {
				t.Fatalf("%q, %d: %q %v", theme, seed, p.Lines, p.Syllables)
			}
			seen[p.Text()] = true
		}
		if len(seen) < 10 {
			t.Errorf("%q: only %d poems of 40 are different", theme, len(seen))
		}
	}
	p := Compose("осень", lang.Russian, rand.New(rand.NewPCG(1, 1)).IntN)
	if !strings.HasPrefix(p.Lines[0], "Осень, ") {
		t.Errorf("the theme is not named: %q", p.Lines)
	}
}

func TestLanguage(t *testing.T) {
	for theme, want := range map[string]lang.Code{"осень": lang.Russian, "rain": lang.English, "雪": lang.Chinese, "42": lang.Chinese} {
		if got := Language(theme, lang.Chinese); got != want {
			t.Errorf("%q: %s", theme, got)
		}
	}
}

func FuzzMeasure(f *testing.F) {
	f.Add("An old silent pond\nA frog jumps\n雪 снег ’s")
	f.Fuzz(func(t *testing.T, text string) {
		p := Measure(text)
		if len(p.Lines) != len(p.Syllables) {
			t.Errorf("%q: %+v", text, p)
		}
		if again := Measure(p.Text()); !slices.Equal(again.Syllables, p.Syllables) || again.Words != p.Words {
			t.Errorf("%q: %+v, then %+v", text, p, again)
		}
	})
}
