package lang

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode"
)

func allPhrases() []*phrase {
	return append(slices.Collect(maps.Values(phrases().exact)), phrases().patterns...)
}

// A translation must have no placeholder that the English lacks, and be in its
// language.
func TestPhrasesAgree(t *testing.T) {
	script := map[Code]*unicode.RangeTable{Russian: unicode.Cyrillic, Chinese: unicode.Han}
	for _, p := range allPhrases() {
		for code, text := range p.in {
			if !slices.Contains(Locales[1:], code) {
				t.Errorf("%q is told in %q", p.english, code)
			}
			for _, name := range placeholders(text) {
				if !strings.Contains(p.english, name) {
					t.Errorf("%s: %q has no %s", code, p.english, name)
				}
			}
			bare := placeholder.ReplaceAllString(text, "")
			if strings.ContainsFunc(bare, unicode.IsLetter) && !strings.ContainsFunc(bare, func(r rune) bool { return unicode.Is(script[code], r) }) {
				t.Errorf("%s: %q is not translated", code, text)
			}
		}
	}
}

// No phrase must stand in the way of another.
func TestPhrasesAreFound(t *testing.T) {
	for _, p := range phrases().patterns {
		if p.in[Russian] == "{why}" {
			continue
		}
		said := strings.NewReplacer("{n}", "7", "{http}", " (HTTP 500)", "{why}", "ẅhy", "{what}", "ẅhat").Replace(p.english)
		said = gap.ReplaceAllString(said, "$1")
		want := strings.NewReplacer("{n}", "7", "{http}", " (HTTP 500)", "{why}", "ẅhy", "{what}", "ẅhat").Replace(p.in[Russian])
		want = gap.ReplaceAllString(want, "$1")
		if got, _ := Retell(Russian, said); got != want {
			t.Errorf("%q is told as %q, want %q", said, got, want)
		}
	}
}

func TestRetell(t *testing.T) {
	for _, c := range []struct {
		to         Code
		said, want string
	}{
		{Russian, `there is no mode "x"`, "режима «x» нет"},
		{Chinese, `there is no mode "x"`, "没有模式“x”"},
		{Russian, "no such\n run", "такого запуска нет"},
		{Russian, `collection "a": the collection was changed meanwhile`, "коллекция «a»: за это время коллекция изменилась"},
		{Russian, "model m at h: auth (HTTP 401): bad key", "модель m на h: ключ не принят (HTTP 401): bad key"},
		{Russian, "model m at h: cut", "модель m на h: ответ оборвался"},
		{Russian, "no search engine answered: a: too slow: it did not answer within 5s; b: blocked (HTTP 403)", "не ответила ни одна поисковая система: a: не ответила вовремя: нет ответа за 5s; b: не пускает (HTTP 403)"},
		{Russian, `run "a" is done: the run is over`, "запуск уже завершён"},
		{Russian, "the limit of tokens is less than nothing", "лимит (токены) не может быть отрицательным"},
		{Chinese, "the bundle can't be taken: strange", "无法导入证据包：strange"},
	} {
		if got, ok := Retell(c.to, c.said); got != c.want || !ok {
			t.Errorf("%q in %s is %q, %v, want %q", c.said, c.to, got, ok, c.want)
		}
	}
	for _, said := range []string{"", "nobody has said this", `run "a": strange`, strings.Repeat("a: ", 10_000), strings.Repeat(`template "`, 1000)} {
		if got, ok := Retell(Russian, said); ok || got != said {
			t.Errorf("%q is told as %q", said, got)
		}
	}
	if got, ok := Retell(English, "anything"); got != "anything" || !ok {
		t.Errorf("English is told as %q", got)
	}
	if got, ok := Retell("fr", "the question is empty"); got != "the question is empty" || ok {
		t.Errorf("French is told as %q", got)
	}
}

func TestParsePhrasesRefuses(t *testing.T) {
	for _, data := range []string{"\tru x", "a\n\tru x", "a\n\tru x\n\tzh y\na\n\tru x\n\tzh y", "a\n\tru x\n\tru z\n\tzh y", "a\n\tru"} {
		if b, err := parsePhrases(data); err == nil {
			t.Errorf("%q gives %v", data, b)
		}
	}
}
