package lang

import (
	"slices"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"
)

func TestWords(t *testing.T) {
	for text, want := range map[string]int{
		"":                                  0,
		" — … ， 。":                          0,
		"one two  three":                    3,
		"don't stop":                        2,
		"state-of-the-art 3.14 1,000":       3,
		"see https://example.com/a?b=c now": 3,
		"Съешь ещё этих мягких булок": 5,
		"слово—слово, кто-то":         3,
		"Он сказал — да":              3,
		"你好，世界！":                      4,
		"我有2只猫和1个iPhone 15":           10,
		"熱泵運作":                        4,
		"ヒートポンプ":                      6,
		"한국어 문장":                      2,
		"e\u0301tude":                 1,
		"\xff\xfe":                    0,
	} {
		if got := Words(text); got != want {
			t.Errorf("Words(%q) = %d, want %d", text, got, want)
		}
	}
}

func TestSentences(t *testing.T) {
	// Sentences are separated by | in the golden cases.
	for _, golden := range []string{
		// English
		"It works. |It really does! |Does it?",
		"«Учёные женщины» (фр. Les Femmes savantes) — комедия. |Её написал Мольер.",
		"Океан (др.-греч. Ὠκεανός) велик. |Он глубок.",
		"Актёр (род. 18 октября 1960 года) известен. |Это старый род. |Он угас.",
		"如果没有连接模型，程序会说明如何连接，并以退出码 3 结束。|没有密钥也可以先试：自带的测试模型并不思考，但它的行为\n和真实的服务一样。|下一句。",
		"Dr. Smith met Mr. Jones at 5 p.m. on Monday. |They talked.",
		"Pi is 3.14. |See example.com for more, e.g. the FAQ.",
		"Fruit, i.e. apples, pears, etc. |They are cheap.",
		"J. R. R. Tolkien wrote it. |So did I. |Then we left.",
		"\"Stop!\" he said. |\"Why?\" |She left.",
		"He said \"no.\" |Then he left.",
		"Wait... what? |Well... |Never mind.",
		"See Fig. 3 and Sec. 2 of vol. 5. |Done.",
		"The U.S. economy grew by 2.5%. |Inflation fell.",
		"Acme Inc. was sold. |Acme Inc. |It was big.",
		"Version 1.2.3 is out (see the notes). |Update now.",
		"Then Dr.\nSmith came. |He left.\n\n|Who knows?",
		// Russian
		"Длина 5 см. |Ширина, см. рис. 2, меньше. |В книге 300 стр. |Она тонкая.",
		"Это, т. е. первое, верно. |А это нет.",
		"Яблоки, груши и т. д. |Они дешёвые.",
		"Яблоки, груши и т.д. и т.п. лежат. |Они дешёвые.",
		"Он родился в 1799 г. в Москве. |Потом уехал.",
		"Это было в 2020 г. |Потом всё изменилось.",
		"Он живёт в г. Москве на ул. Ленина, д. 5. |Там тихо.",
		"А. С. Пушкин родился в Москве. |А.С. Пушкин — поэт.",
		"«Стой!» — крикнул он. |«Зачем?» |Она ушла.",
		"— Стой! — крикнул он. |— Зачем?",
		"Ну... ладно. |Что ж… |Пойдём.",
		"В III в. до н. э. город вырос. |Это было в V в. |Потом он пал.",
		"См. рис. 5 и табл. 2. |Там всё есть.",
		"Цена 5 тыс. руб. за штуку. |Дорого.",
		// Chinese
		"你好。|你是谁？|我很好！",
		"他说：“走吧！”|我们就走了。",
		"“走吧！”他说。|我们走了。",
		"圆周率是3.14。|网址是 example.com。",
		"他想了想……然后走了。|再见。",
		"真的?|是的!|好。",
		// Mixed and laid out
		"Heading\n\n|First paragraph. |Second one.",
		"# Heading\n|Text follows.",
		"Нужно:\n|- хлеб\n|- молоко\n|1. Первое дело.\n|2. Второе дело.",
		"this line is wrapped because it is longer than the width of a usual\nterminal window. |Next.",
		"one\ntwo three. |Four.",
		"你好。|Hello there. |Привет.",
	} {
		text := strings.ReplaceAll(golden, "|", "")
		var want []string
		for s := range strings.SplitSeq(golden, "|") {
			want = append(want, strings.TrimSpace(s))
		}
		var got []string
		for _, s := range Sentences(text) {
			got = append(got, s.In(text))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q\n got %q\nwant %q", text, got, want)
		}
	}
}

func checkSpans(t interface{ Fatalf(string, ...any) }, text string) {
	at := 0
	for _, s := range Sentences(text) {
		if s.Start < at || s.End <= s.Start || s.End > len(text) {
			t.Fatalf("%q: span %v after %d", text, s, at)
		}
		if strings.TrimSpace(text[at:s.Start]) != "" {
			t.Fatalf("%q: lost %q", text, text[at:s.Start])
		}
		if strings.TrimFunc(s.In(text), unicode.IsSpace) != s.In(text) {
			t.Fatalf("%q: untrimmed %q", text, s.In(text))
		}
		at = s.End
	}
	if strings.TrimSpace(text[at:]) != "" {
		t.Fatalf("%q: lost %q", text, text[at:])
	}
}

func TestSpansCoverTheText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { checkSpans(t, anyText(t)) })
}

func TestWordsOfParts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := anyText(t), anyText(t)
		if got, want := Words(a+" "+b), Words(a)+Words(b); got != want {
			t.Fatalf("%d words together, %d apart", got, want)
		}
	})
}

func FuzzSentences(f *testing.F) {
	for _, s := range []string{"т. е. вот. Да", "“走吧！”他说。", "1. a\n2. b", "\xff. A", "...", "a.\n\n\nb"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		checkSpans(t, text)
		if Words(text) > len(text) {
			t.Errorf("more words than bytes in %q", text)
		}
	})
}

func BenchmarkSentences(b *testing.B) {
	text := strings.Repeat("Он родился в 1799 г. в Москве. Потом, т. е. позже, уехал! ", 100)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		Sentences(text)
	}
}

func BenchmarkWords(b *testing.B) {
	b.SetBytes(int64(len(benchTexts["long"])))
	for b.Loop() {
		Words(benchTexts["long"])
	}
}

func TestSharedPrefix(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"read", "", 0}, {"reader", "reading", 4}, {"книга", "книжный", 3}, {"蜜蜂", "蜜月", 1}, {"a\xffb", "a\ufffdb", 3}} {
		if got := SharedPrefix(c.a, c.b); got != c.want {
			t.Errorf("%q, %q: %d, not %d", c.a, c.b, got, c.want)
		}
	}
}
