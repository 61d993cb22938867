package lang_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"dossier/lang"
)

// article is a text of n words in sentences, the same for the same seed.
func article(seed uint64, n int) []string {
	r := rand.New(rand.NewPCG(seed, 1))
	var words []string
	for range n {
		// Common words come often, as in a language.
		k := int(float64(2000) * r.Float64() * r.Float64() * r.Float64())
		words = append(words, fmt.Sprintf("w%c%d", 'a'+rune(k%7), k))
	}
	return words
}

// TestCopies justifies the threshold: reprints with every tenth word changed,
// with a paragraph cut or boilerplate around them are copies; texts on one
// subject that share names, phrases and a quoted sentence are not.
func TestCopies(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.Uint64().Draw(t, "seed")
		n := rapid.IntRange(120, 3000).Draw(t, "words")
		original := article(seed, n)
		text := strings.Join(original, " ")
		sketch := lang.SketchOf(text)

		edited := append([]string{}, original...)
		for i := range edited {
			if i%10 == 3 {
				edited[i] = "changed" + edited[i]
			}
		}
		boilerplate := strings.Join(article(seed+1, 80), " ")
		for name, copied := range map[string]string{
			"itself":       strings.ToUpper(text),
			"edited":       strings.Join(edited, ", "),
			"boilerplate":  boilerplate + "\n" + text + "\n" + boilerplate,
			"first half":   strings.Join(original[:n/2], " "),
			"punctuation":  strings.Join(original, ". "),
			"with an end":  text + " " + strings.Join(article(seed+2, n/3), " "),
			"reordered":    strings.Join(append(append([]string{}, original[n/2:]...), original[:n/2]...), " "),
			"soft hyphens": strings.ReplaceAll(text, "wa", "w\u00ada"),
		} {
			if o := lang.SketchOf(copied); !sketch.Copies(o) || !o.Copies(sketch) {
				share, sample := sketch.Share(o)
				t.Fatalf("%s of %d words: share %.2f of %d", name, n, share, sample)
			}
		}

		other := article(seed+9, n)
		copy(other[n/3:], original[n/3:n/3+n/8]) // a long quotation
		if o := lang.SketchOf(strings.Join(other, " ")); sketch.Copies(o) {
			share, sample := sketch.Share(o)
			t.Fatalf("another text of %d words: share %.2f of %d", n, share, sample)
		}
	})
}

func TestCopiesInChinese(t *testing.T) {
	text := strings.Repeat("涅瓦河从拉多加湖流出，流经圣彼得堡，注入芬兰湾。", 1) + "全长七十四公里，平均宽度四百到六百米，最深处二十四米。河上有三百四十二座桥梁，其中二十一座是开合桥。每年春天冰雪融化时水位上涨。"
	other := "伏尔加河是欧洲最长的河流，发源于瓦尔代高地，流经莫斯科以东的平原，最后注入里海。全长三千五百三十公里，流域面积一百三十六万平方公里。"
	changed := strings.NewReplacer("七十四", "74", "二十四米", "24米").Replace(text)
	if !lang.SketchOf(text).Copies(lang.SketchOf(changed)) || lang.SketchOf(text).Copies(lang.SketchOf(other)) {
		t.Error("copies in Chinese")
	}
}

func TestShortCopies(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"The bridge is closed until spring", "the BRIDGE is closed, until spring!", true},
		{"The bridge is closed until spring", "The bridge is closed until autumn", false},
		{"", "", false},
		{"Home page", "Home page", false}, // too short for a shingle
	} {
		if got := lang.SketchOf(c.a).Copies(lang.SketchOf(c.b)); got != c.want {
			t.Errorf("%q and %q: %v", c.a, c.b, got)
		}
	}
}

func TestSketchJSON(t *testing.T) {
	for _, text := range []string{"", "one two three four", strings.Join(article(3, 900), " ")} {
		want := lang.SketchOf(text)
		data, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var got lang.Sketch
		if err := json.Unmarshal(data, &got); err != nil {
			t.Fatal(err)
		}
		if share, sample := got.Share(want); text != "" && (share != 1 || sample == 0) {
			t.Errorf("%s: share %v of %d", data, share, sample)
		}
	}
	for _, bad := range []string{`"%"`, `"AAA"`, `7`, `"AgAAAAEAAAA"`, `"` + strings.Repeat("AAAA", 400) + `"`} {
		if err := json.Unmarshal([]byte(bad), new(lang.Sketch)); err == nil {
			t.Errorf("%s is a sketch", bad)
		}
	}
}
