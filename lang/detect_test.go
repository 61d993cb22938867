package lang

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestDetect(t *testing.T) {
	for _, c := range []struct {
		want Code
		text string
	}{
		// Questions as they are asked.
		{Russian, "как работают тепловые насосы зимой"},
		{Russian, "погода"},
		{Russian, "привет"},
		{Russian, "ПОЧЕМУ НЕБО ГОЛУБОЕ?"},
		{Russian, "Что такое Kubernetes и зачем нужен Docker Compose"},
		{Russian, "как настроить nginx reverse proxy"},
		{Russian, "iPhone 15 Pro Max цена"},
		{Russian, "отзывы о Tesla Model 3"},
		{Russian, "ёлка"},
		{Russian, "какой сегодня день"},
		{English, "how do heat pumps work in winter"},
		{English, "weather"},
		{English, "hello"},
		{English, "climate change"},
		{English, "What does привет mean?"},
		{English, "What is the meaning of 你好?"},
		{English, "best laptop 2026"},
		{English, "TGF-β signaling pathway"},
		{English, "value of π"},
		{English, "Go generics vs Rust traits performance comparison"},
		{English, "https://ru.wikipedia.org/wiki/Россия explain this page"},
		{Chinese, "热泵在冬天怎么工作"},
		{Chinese, "熱泵在冬天如何運作"},
		{Chinese, "你好"},
		{Chinese, "Kubernetes 是什么？"},
		{Chinese, "iPhone 15 和 Samsung Galaxy 哪个好"},
		{Chinese, "「ありがとう」是什么意思？"},
		{Chinese, "看https://example.com/some/long/english/path/here，这个怎么样"},
		{Russian, "напиши на someone.long.name@example.com письмо"},
		// Other languages.
		{"uk", "як працюють теплові насоси взимку"},
		{"be", "як працуюць цеплавыя помпы зімой"},
		{"bg", "как работят термопомпите през зимата"},
		{"sr", "како раде топлотне пумпе током зиме"},
		{"kk", "жылу сорғылары қыста қалай жұмыс істейді"},
		{"mk", "како работат топлинските пумпи во зима"},
		{"de", "wie funktionieren Wärmepumpen im Winter"},
		{"es", "cómo funcionan las bombas de calor en invierno"},
		{"fr", "comment fonctionnent les pompes à chaleur en hiver"},
		{"it", "come funzionano le pompe di calore in inverno"},
		{"nl", "hoe werken warmtepompen in de winter"},
		{"pl", "jak działają pompy ciepła zimą"},
		{"pt", "como funcionam as bombas de calor no inverno"},
		{"sv", "hur fungerar värmepumpar på vintern"},
		{"fi", "miten lämpöpumput toimivat talvella"},
		{"cs", "jak fungují tepelná čerpadla v zimě"},
		{"tr", "ısı pompaları kışın nasıl çalışır"},
		{"hu", "hogyan működnek a hőszivattyúk télen"},
		{"ro", "cum funcționează pompele de căldură iarna"},
		{"vi", "máy bơm nhiệt hoạt động thế nào vào mùa đông"},
		{"ar", "كيف تعمل المضخات الحرارية في الشتاء"},
		{"fa", "پمپ‌های حرارتی در زمستان چگونه کار می‌کنند"},
		{"ur", "ہیٹ پمپ سردیوں میں کیسے کام کرتے ہیں"},
		{"he", "איך עובדות משאבות חום בחורף"},
		{"el", "πώς λειτουργούν οι αντλίες θερμότητας"},
		{"ja", "ヒートポンプは冬にどう動くのか"},
		{"ja", "東京都知事選の結果"},
		{"ja", "鉄道駅営業"},
		{"ko", "열펌프는 겨울에 어떻게 작동하나요"},
		{"hi", "सर्दियों में हीट पंप कैसे काम करते हैं"},
		{"th", "ปั๊มความร้อนทำงานอย่างไรในฤดูหนาว"},
		{"ka", "როგორ მუშაობს"},
		{"hy", "ինչպես են աշխատում"},
		// No letters.
		{Unknown, ""},
		{Unknown, "12345 + 67 = ?"},
		{Unknown, "🙂🙂"},
		{Unknown, "\xff\xfe"},
	} {
		if got := Detect(c.text); got != c.want {
			t.Errorf("Detect(%q) = %s, want %s; %v", c.text, got, c.want, head(DetectAll(c.text)))
		}
	}
}

func head(g []Guess) []Guess { return g[:min(3, len(g))] }

func TestDetectAmong(t *testing.T) {
	for _, c := range []struct {
		text  string
		codes []Code
		want  Code
	}{
		{"как дела", []Code{English, Russian}, Russian},
		{"wie geht es", []Code{English, Russian}, English},
		{"你好", []Code{Russian, English}, Russian},
		{"", []Code{Chinese, English}, Chinese},
		{"text", nil, Unknown},
	} {
		if got := DetectAmong(c.text, c.codes...); got != c.want {
			t.Errorf("DetectAmong(%q, %v) = %s, want %s", c.text, c.codes, got, c.want)
		}
	}
}

func TestForAnswer(t *testing.T) {
	for _, c := range []struct {
		text     string
		fallback Code
		want     Code
	}{
		{"почему небо голубое", English, Russian},
		{"why is the sky blue", Russian, English},
		{"天空为什么是蓝色的", English, Chinese},
		{"warum ist der Himmel blau", Russian, "de"},
		{"сравни React и Vue", Russian, Russian}, // as good Bulgarian as Russian
		{"сравни React и Vue", "bg", "bg"},
		{"42", Russian, Russian},
		{"", "", English},
		{"?!", Unknown, English},
	} {
		if got := ForAnswer(c.text, c.fallback); got != c.want {
			t.Errorf("ForAnswer(%q, %q) = %s, want %s", c.text, c.fallback, got, c.want)
		}
	}
}

func TestDetectReadsOnlyTheBeginning(t *testing.T) {
	text := strings.Repeat("почему небо голубое ", 1000) + strings.Repeat("why is the sky blue ", 10000)
	if got := Detect(text); got != Russian {
		t.Errorf("Detect = %s", got)
	}
}

func TestGuessesAreRanked(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := anyText(t)
		guesses := DetectAll(text)
		code := Detect(text)
		if len(guesses) == 0 {
			if code != Unknown {
				t.Fatalf("Detect = %s without guesses", code)
			}
			return
		}
		if guesses[0].Code != code && guesses[0].Prob > guesses[1].Prob {
			t.Fatalf("Detect = %s, best guess %v", code, guesses[0])
		}
		var sum float64
		last := 2.0
		for _, g := range guesses {
			if !(g.Prob >= 0 && g.Prob <= last) {
				t.Fatalf("out of order: %v", guesses)
			}
			last = g.Prob
			sum += g.Prob
		}
		if sum < 0.999 || sum > 1.001 {
			t.Fatalf("probabilities sum to %v", sum)
		}
	})
}

// anyText draws texts of several scripts, with broken UTF-8 among them.
func anyText(t *rapid.T) string {
	piece := rapid.OneOf(
		rapid.SampledFrom([]string{"привет", "т. е. ", "и т. д. ", "г. ", "Dr. ", "e.g. ", "3.14", "。", "！”", "\n", "\n\n", "- ", "1. ",
			"你好", "カタカナ", "한국어", "سلام", "\xff", "\xe4\xbd", " ", "...", "…", "\u0301", "http://x.y/z", "a@b.cc", "?", "»"}),
		rapid.StringN(0, 12, -1),
		rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 8), func(b []byte) string { return string(b) }),
	)
	return strings.Join(rapid.SliceOfN(piece, 0, 20).Draw(t, "pieces"), "")
}

func FuzzDetect(f *testing.F) {
	for _, s := range []string{"привет world", "你好，世界", "\xff\xfea", "http://a", "İIı", "の"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if code := Detect(text); code == "" {
			t.Errorf("Detect(%q) is empty", text)
		}
	})
}

var benchTexts = map[string]string{
	"short": "как работают тепловые насосы зимой",
	"word":  "weather",
	"long":  strings.Repeat("The heat pump moves heat from a cool space to a warm one, using a refrigerant cycle. ", 60),
}

func BenchmarkDetect(b *testing.B) {
	for _, name := range []string{"word", "short", "long"} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Detect(benchTexts[name])
			}
		})
	}
}
