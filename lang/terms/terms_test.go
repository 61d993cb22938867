package terms

import (
	"flag"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"dossier/lang"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestLookups holds some lookups to what they were: a change of the tables or
// of the code shows here.
func TestLookups(t *testing.T) {
	d := Default()
	var b strings.Builder
	for _, l := range []struct {
		from, to lang.Code
		terms    []string
	}{
		{lang.Russian, lang.English, []string{
			"банк", "банках", "железной дороге", "отца", "Организация Объединенных Наций", "жёсткий диск", "расположенных",
			"учетную запись", "фъйцу",
		}},
		{lang.Chinese, lang.English, []string{"数据库", "資料庫", "铁路", "鐵路", "北京大学", "乾隆", "囧rz"}},
		{lang.English, lang.Russian, []string{"bank", "railways", "hard disk", "password", "qwrtz"}},
		{lang.English, lang.Chinese, []string{"bank", "railways", "hard disk", "password"}},
		{lang.Russian, lang.Chinese, []string{"железная дорога", "пароль"}},
		{lang.Chinese, lang.Russian, []string{"铁路", "密码"}},
	} {
		for _, term := range l.terms {
			fmt.Fprintf(&b, "%s-%s %s:", l.from, l.to, term)
			for _, tr := range d.Lookup(term, l.from, l.to) {
				fmt.Fprintf(&b, " %s %.2f;", tr.Text, tr.Weight)
			}
			b.WriteByte('\n')
		}
	}
	for _, q := range []struct {
		from, to lang.Code
		text     string
	}{
		{lang.Russian, lang.English, "Когда Кубернетес удаляет учётные записи в Петербурге?"},
		{lang.Chinese, lang.English, "王小明如何撤销数据库的操作？"},
		{lang.English, lang.Russian, "When does Kubernetes remove user accounts?"},
	} {
		fmt.Fprintf(&b, "%s-%s %s\n", q.from, q.to, q.text)
		for _, g := range d.Translate(q.text, q.from, q.to) {
			fmt.Fprintf(&b, "  %s:", g.Term)
			for _, tr := range g.Translations {
				fmt.Fprintf(&b, " %s %.2f;", tr.Text, tr.Weight)
			}
			b.WriteByte('\n')
		}
	}
	const file = "testdata/lookups.txt"
	if *update {
		if err := os.WriteFile(file, []byte(b.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got := b.String(); got != string(want) {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// TestForms looks for inflected and derived words in what they mean.
func TestForms(t *testing.T) {
	d := Default()
	for _, c := range []struct {
		from, to   lang.Code
		text, want string
	}{
		{lang.Russian, lang.English, "рукописями", "manuscript"},
		{lang.Russian, lang.English, "рек", "river"},
		{lang.Russian, lang.English, "ошибок", "mistake"}, // one that comes
		{lang.Russian, lang.English, "времени", "time"},
		{lang.Russian, lang.English, "учётных записях", "account"},
		{lang.Russian, lang.English, "отцом", "father"},         // a vowel that goes
		{lang.Russian, lang.English, "ПАРОЛЯ", "password"},      // shouted
		{lang.Russian, lang.English, "счёта", "account"},        // with ё
		{lang.Russian, lang.English, "ко́шка", "cat"},           // with a stress mark
		{lang.Russian, lang.English, "Хабаровск", "Khabarovsk"}, // a name
		{lang.Russian, lang.English, "Зворыкину", "zvorykin"},   // one that no table has
		{lang.Russian, lang.English, "железными дорогами", "railway"},
		{lang.English, lang.Russian, "manuscripts", "рукопись"},
		{lang.English, lang.Russian, "Kubernetes", "кубернетес"},
		{lang.Chinese, lang.English, "手稿", "manuscript"},
		{lang.Chinese, lang.English, "圖書館", "library"}, // traditional
		{lang.English, lang.Chinese, "library", "图书馆"},
		{lang.English, lang.Chinese, "library", "圖書館"},
		{lang.Russian, lang.Chinese, "библиотека", "图书馆"},
		{lang.Chinese, lang.Russian, "图书馆", "библиотека"},
	} {
		groups := d.Translate(c.text, c.from, c.to)
		if len(groups) != 1 || !slices.ContainsFunc(groups[0].Translations, func(tr Translation) bool { return strings.EqualFold(tr.Text, c.want) }) {
			t.Errorf("%s to %s: %+v, want %q among them", c.text, c.to, groups, c.want)
		}
	}
}

func TestChineseIsCutIntoWords(t *testing.T) {
	d := Default()
	for text, want := range map[string]string{
		"研究生命起源":     "研究 生命 起源",
		"数据库管理系统":    "数据库 管理 系统",
		"臺灣鐵路":       "臺灣 鐵路",
		"什么是硬盘？CPU呢": "什么 是 硬盘 呢",
	} {
		var got []string
		for _, g := range d.Translate(text, lang.Chinese, lang.English) {
			if text[g.Start:g.End] != g.Term {
				t.Errorf("%s: %+v", text, g)
			}
			got = append(got, g.Term)
		}
		if g := strings.Join(got, " "); g != want {
			t.Errorf("%s is cut into %s, want %s", text, g, want)
		}
	}
	groups := d.Translate("王小明", lang.Chinese, lang.English)
	if !slices.ContainsFunc(groups[0].Translations, func(tr Translation) bool { return tr.Text == "wangxiaoming" }) {
		t.Errorf("a name: %+v", groups)
	}
}

func TestOtherLanguagesHaveNone(t *testing.T) {
	d := Default()
	for _, pair := range [][2]lang.Code{{"de", "en"}, {"en", "de"}, {"en", "en"}, {"", "ru"}} {
		if Pair(pair[0], pair[1]) || d.Lookup("bank", pair[0], pair[1]) != nil || d.Translate("bank", pair[0], pair[1]) != nil {
			t.Errorf("%v have terms", pair)
		}
	}
}

// TestTranslateProperties holds for any text: no panic, spans in order and
// inside the text, weights in (0, 1], the best first, and always the same.
func TestTranslateProperties(t *testing.T) {
	d := Default()
	codes := []lang.Code{lang.English, lang.Russian, lang.Chinese}
	letters := rapid.SampledFrom([]string{
		"банк", "отца", "железная", "дорога", "ё", "Санкт-", "-", " ", "，", "。", "\xff", "\u0301", "数", "据", "库", "資", "K8s", "don't", "bank", "X", "й",
	})
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(letters, 0, 20).Draw(t, "parts"), rapid.SampledFrom([]string{"", " "}).Draw(t, "between"))
		if rapid.Bool().Draw(t, "any") {
			text = rapid.String().Draw(t, "text")
		}
		from, to := rapid.SampledFrom(codes).Draw(t, "from"), rapid.SampledFrom(codes).Draw(t, "to")
		groups := d.Translate(text, from, to)
		end := 0
		for _, g := range groups {
			if g.Start < end || g.End <= g.Start || g.End > len(text) || text[g.Start:g.End] != g.Term || len(g.Translations) == 0 {
				t.Fatalf("%q: %+v after %d", text, g, end)
			}
			end = g.End
			for _, tr := range g.Translations {
				if tr.Text == "" || !(tr.Weight > 0 && tr.Weight <= 1) {
					t.Fatalf("%q: %+v", g.Term, tr)
				}
			}
			if !slices.IsSortedFunc(g.Translations, func(a, b Translation) int {
				if a.Weight > b.Weight {
					return -1
				}
				return 1
			}) && from != lang.Chinese { // how a name sounds comes last
				t.Fatalf("%q: %+v", g.Term, g.Translations)
			}
		}
		if again := d.Translate(text, from, to); !reflect.DeepEqual(groups, again) {
			t.Fatalf("%q: %+v and %+v", text, groups, again)
		}
	})
}

func TestManyAtOnce(t *testing.T) {
	d := New(nil)
	want := Default().Translate("Где железная дорога?", lang.Russian, lang.English)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if got := d.Translate("Где железная дорога?", lang.Russian, lang.English); !reflect.DeepEqual(got, want) {
				t.Errorf("%+v", got)
			}
			d.Lookup("bank", lang.English, lang.Chinese)
		})
	}
	all.Wait()
}

func BenchmarkTranslate(b *testing.B) {
	d := Default()
	for _, q := range []struct {
		from lang.Code
		text string
	}{
		{lang.Russian, "Где библиотека хранит редкие рукописи, которые подарил Зворыкин?"},
		{lang.Chinese, "图书馆的珍贵手稿保存在哪里？"},
	} {
		b.Run(string(q.from), func(b *testing.B) {
			for b.Loop() {
				d.Translate(q.text, q.from, lang.English)
			}
		})
	}
}
