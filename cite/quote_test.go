package cite_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"

	"dossier/cite"
	"dossier/lang"
)

func TestFind(t *testing.T) {
	text := "The Neva flows out of Lake Ladoga. It is «short but wide»: 74 km — no more.\n" +
		"Нева́ вытекает из Ладожского озера, её длина — 74 км. Ширина\u00a0достигает 1250 метров.\n" +
		"涅瓦河从拉多加湖流出，\n全长七十四公里。它流经圣彼得堡。 co\u00adoperation ﬁnds cafe\u0301 **bold** word"
	snap := cite.NewSnapshot(text)
	for _, c := range []struct{ quote, want string }{
		{"flows out of Lake Ladoga", "flows out of Lake Ladoga"},
		{"flows  out\nof Lake Ladoga,", "flows out of Lake Ladoga"},
		{`"short but wide": 74 km - no more`, "short but wide»: 74 km — no more"},
		{"Ширина достигает 1250 метров", "Ширина\u00a0достигает 1250 метров"},
		{"涅瓦河从拉多加湖流出，全长七十四公里", "涅瓦河从拉多加湖流出，\n全长七十四公里"},
		{"cooperation finds café", "co\u00adoperation ﬁnds cafe\u0301"},
		{"finds café bold word", "ﬁnds cafe\u0301 **bold** word"},
		{"The Neva flows … It is «short but wide»", "The Neva flows|It is «short but wide"},
		{"The Neva flows [...] 74 km — no more", "The Neva flows|74 km — no more"},
		{"flows out of Lake Onega", ""},
		{"flow out of Lake Ladoga", ""},
		{"lows out of Lake Ladoga", ""},
		{"Its is short but wide", ""},
		{"74 km — no more … The Neva flows", ""},
		{"The … wide", ""},
		{"длина — 75 км", ""},
		{"全长八十四公里", ""},
		{"cafe", ""},
		{"", ""}, {" … ", ""}, {"—", ""},
	} {
		spans, ok := snap.Find(c.quote)
		var got []string
		for _, s := range spans {
			got = append(got, s.In(text))
		}
		if joined := strings.Join(got, "|"); joined != c.want || ok != (c.want != "") {
			t.Errorf("Find(%q) = %q, %v; want %q", c.quote, joined, ok, c.want)
		}
	}
}

// pieces have what quotations stumble on: ligatures, marks on letters, spaces
// of all kinds, quotation marks, dashes, invisible characters.
var pieces = []string{"a", "b", "c", "d", "e", "A", "B", "é", "e\u0301", "ﬁ", "½", "ж", "ё", "е\u0308", "й", "я", "Б", "中", "文", "字", "の",
	"각", "ᄀ\u1161\u11a8", "1", "2", "Ⅳ", "²", " ", " ", " ", "\n", "\t", "\u00a0", "\u3000", ".", ",", "。", "，", "«", "»", "“", "”", "'", "’", "—", "-", "–",
	"…", "\u00ad", "\u200b", "*", "`", "٣", "ﷺ", "𝔘", "\U0001F600", "👩\u200d🔬"}

func drawText(t *rapid.T) string {
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 1, 60).Draw(t, "pieces"), "")
}

// starts returns the offsets between which whole characters and words lie.
func starts(text string) []int {
	var out []int
	for i := 0; i <= len(text); i++ {
		if i < len(text) && !utf8.RuneStart(text[i]) {
			continue
		}
		if i == 0 || i == len(text) || boundaryAt(text, i) {
			out = append(out, i)
		}
	}
	return out
}

func boundaryAt(text string, i int) bool {
	if !norm.NFKC.PropertiesString(text[i:]).BoundaryBefore() {
		return false
	}
	before, _ := utf8.DecodeLastRuneInString(text[:i])
	after, _ := utf8.DecodeRuneInString(text[i:])
	glue := func(r rune) bool {
		return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r) || strings.ContainsRune("\u00ad\u200b\u200d*`", r)
	}
	han := func(r rune) bool { return unicode.Is(unicode.Han, r) || unicode.Is(unicode.Hiragana, r) }
	return !glue(before) || !glue(after) || han(before) && han(after)
}

func TestAnySpanIsFound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := drawText(t)
		at := starts(text)
		i := rapid.IntRange(0, len(at)-1).Draw(t, "from")
		j := rapid.IntRange(i, len(at)-1).Draw(t, "to")
		quote := text[at[i]:at[j]]
		spans, ok := cite.NewSnapshot(text).Find(quote)
		wordy := strings.ContainsFunc(norm.NFKC.String(quote), func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
		if !wordy {
			return
		}
		if !ok {
			t.Fatalf("%q is not found in %q", quote, text)
		}
		for _, s := range spans {
			p := cite.Passage{Source: 1, Start: s.Start, End: s.End}
			found, err := p.Quote(cite.NewSnapshot(text))
			if err != nil {
				t.Fatal(err)
			}
			if _, again := cite.NewSnapshot(found).Find(quote); !again {
				t.Fatalf("%q maps back to %q", quote, found)
			}
		}
	})
}

// Every sentence of any text is a quotation that verifies, and none does when
// its span is shifted into another snapshot.
func TestQuotedSentencesVerify(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := drawText(t)
		ledger, snaps := cite.NewLedger(), cite.Snapshots{}
		source := ledger.Add(cite.Source{URI: "notes.txt"})
		snap := snaps.Add(text)
		if _, err := ledger.Read(source.Number, snap); err != nil {
			t.Fatal(err)
		}
		var passages []cite.Passage
		for _, s := range lang.Sentences(text) {
			if strings.ContainsFunc(norm.NFKC.String(s.In(text)), func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) &&
				boundaryOrEnd(text, s.Start) && boundaryOrEnd(text, s.End) {
				passages = append(passages, snap.PassageAt(source.Number, s))
			}
		}
		r := cite.VerifyQuotes(ledger, snaps, passages)
		if r.Covered != len(passages) || len(passages) > 0 && r.Coverage != 1 {
			t.Fatalf("%+v of %q", r, text)
		}
		foreign := cite.Passage{Source: 2, Start: 0, End: len(text)}
		beyond := cite.Passage{Source: 1, Start: 0, End: len(text) + 1}
		if r := cite.VerifyQuotes(ledger, snaps, []cite.Passage{foreign, beyond}); r.Covered != 0 {
			t.Fatalf("%+v", r)
		}
	})
}

func boundaryOrEnd(text string, i int) bool { return i == 0 || i == len(text) || boundaryAt(text, i) }

func TestBrokenQuoteIsNotFound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := drawText(t)
		at := starts(text)
		i := rapid.IntRange(0, len(at)-1).Draw(t, "from")
		j := rapid.IntRange(i, len(at)-1).Draw(t, "to")
		quote := []rune(text[at[i]:at[j]])
		var lettersAt []int
		for k, r := range quote {
			if unicode.IsLetter(r) || unicode.IsDigit(r) {
				lettersAt = append(lettersAt, k)
			}
		}
		if len(lettersAt) == 0 {
			return
		}
		k := rapid.SampledFrom(lettersAt).Draw(t, "letter")
		quote[k] = rapid.SampledFrom([]rune("zщ龍Z9")).Draw(t, "instead") // none of them in pieces
		if _, ok := cite.NewSnapshot(text).Find(string(quote)); ok {
			t.Fatalf("%q is found in %q", string(quote), text)
		}
	})
}

func BenchmarkFind(b *testing.B) {
	var text strings.Builder
	for i := 0; text.Len() < 1<<20; i++ {
		text.WriteString("The river number ")
		text.WriteString(strings.Repeat("x", i%17))
		text.WriteString(" — «широкая» и длинная, 河流 flows on.\n")
	}
	text.WriteString("Only here stands the sentence that is looked for.")
	b.Run("first", func(b *testing.B) {
		b.SetBytes(int64(text.Len()))
		for b.Loop() {
			if _, ok := cite.NewSnapshot(text.String()).Find("stands the sentence that is looked for"); !ok {
				b.Fatal("not found")
			}
		}
	})
	b.Run("next", func(b *testing.B) {
		snap := cite.NewSnapshot(text.String())
		snap.Find("x")
		for b.Loop() {
			if _, ok := snap.Find("stands the sentence that is looked for"); !ok {
				b.Fatal("not found")
			}
		}
	})
}

func TestFindWithinWhatIsNoWord(t *testing.T) {
	key := strings.Repeat("Ab3xQ", 300)
	snap := cite.NewSnapshot("The key is " + key + " and it expires. The plan is unsafe.")
	for quote, want := range map[string]bool{
		"The key is " + key[:500]: true, key[200:900]: true, key[1000:] + " and it expires": true,
		"safe": false, "The plan is un": false,
	} {
		if _, ok := snap.Find(quote); ok != want {
			t.Errorf("%.30q: %v", quote, ok)
		}
	}
}
