package dictfile

import (
	"bytes"
	"encoding/binary"
	"reflect"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"
)

func TestReadCEDICT(t *testing.T) {
	const file = "\ufeff# CC-CEDICT\n" +
		"資料庫 资料库 [zi1 liao4 ku4] /database/CL:個|个[ge4]/\n" +
		"北大 北大 [Bei3 Da4] /Peking University (abbr. for 北京大學|北京大学[Bei3 jing1 Da4 xue2])/\n" +
		"王 王 [Wang2] /surname Wang/\n" +
		"拆 拆 [chai1] /to tear open; to tear down; to take apart, to open/\n" +
		"no entry\n"
	var got []Character
	if err := ReadCEDICT(strings.NewReader(file), func(c Character) { got = append(got, c) }); err != nil {
		t.Fatal(err)
	}
	want := []Character{
		{Entry: Entry{Head: "资料库", Senses: [][]string{{"database"}}}, Traditional: "資料庫", Pinyin: "zi1 liao4 ku4"},
		{Entry: Entry{Head: "北大", Senses: [][]string{{"Peking University"}}, Like: []string{"北京大学"}}, Traditional: "北大", Pinyin: "Bei3 Da4"},
		{Entry: Entry{Head: "王", Senses: [][]string{{"Wang"}}}, Traditional: "王", Pinyin: "Wang2"},
		{Entry: Entry{Head: "拆", Senses: [][]string{{"to tear open", "to tear down", "to take apart", "to open"}}}, Traditional: "拆", Pinyin: "chai1"},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v", got)
	}
	for _, wrong := range []string{"", "# only remarks\n", strings.Repeat("just prose\n", 100)} {
		if err := ReadCEDICT(strings.NewReader(wrong), func(Character) {}); err == nil {
			t.Errorf("%.20q was taken for CEDICT", wrong)
		}
	}
}

func TestReadDSL(t *testing.T) {
	const file = "#NAME \"English-Russian\"\n\n" +
		"gird\n\t[b][c darkblue]~[/c][/b] [p]<v>[/p] [c gray]/ɡɝd/[/c] (to bind)\n\t[m1]свя́зывать [p]<impf>[/p] [c gray]/sv'ázyvat'/[/c], связать \\[to the end\\], , опоясывать[/m]\n\n" +
		"girl band\n\t[i](of females)[/i] \n\tSEE: <<girl group>>\n"
	want := []Entry{
		{Head: "gird", Senses: [][]string{{"связывать", "связать", "опоясывать"}}},
		{Head: "girl band", Like: []string{"girl group"}},
	}
	units := utf16.Encode([]rune(file))
	wide := make([]byte, 2*len(units))
	for i, u := range units {
		binary.LittleEndian.PutUint16(wide[2*i:], u)
	}
	for _, data := range [][]byte{[]byte(file), wide, append([]byte{0xff, 0xfe}, wide...)} {
		var got []Entry
		if err := ReadDSL(bytes.NewReader(data), func(e Entry) { got = append(got, e) }); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v", got)
		}
	}
}

func TestReadDictd(t *testing.T) {
	definition := "account\n   [ɜ↗kaʊnt]\n   1. _n.\n      1) счёт, расчёт; for account of smb. за счёт кого-л.; to lay\n      account with smth. рассчитывать на что-л.\n      2) отчёт\n      (о делах)\n   2. _v.\n      считать за\n"
	var got []Entry
	_, err := ReadDictd(strings.NewReader("account\tA\tF0\n"), strings.NewReader(definition+strings.Repeat(" ", 400)), func(e Entry) bool { got = append(got, e); return true })
	if err != nil {
		t.Fatal(err)
	}
	want := []Entry{{Head: "account", Senses: [][]string{{"счёт", "расчёт"}, {"отчёт"}, {"считать за"}}}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v", got)
	}
	for index, ok := range map[string]bool{"a\tZZZZ\tB\n": true, "": false, "a\tb!\tc\n": false, "no tabs\n": false} {
		if _, err := ReadDictd(strings.NewReader(index), strings.NewReader("text"), func(Entry) bool { return true }); (err == nil) != ok {
			t.Errorf("%q: %v", index, err)
		}
	}
}

// checkEntry holds of whatever a reader makes.
func checkEntry(t *testing.T, e Entry) {
	if e.Head == "" || len(e.Head) > maxText || len(e.Senses) > maxMean {
		t.Errorf("entry %q with %d senses", e.Head, len(e.Senses))
	}
	for _, sense := range e.Senses {
		for _, term := range sense {
			if term == "" || len(term) > maxText || strings.ContainsAny(term, "\n\t") || utf8.ValidString(e.Head) && !utf8.ValidString(term) {
				t.Errorf("%q: %q", e.Head, term)
			}
		}
	}
}

func FuzzReadCEDICT(f *testing.F) {
	f.Add("資料庫 资料库 [zi1 liao4 ku4] /database/CL:個|个[ge4]/\n")
	f.Add("a b [c] /(/;),/\xff/")
	f.Fuzz(func(t *testing.T, text string) {
		_ = ReadCEDICT(strings.NewReader(text), func(c Character) { checkEntry(t, c.Entry) })
	})
}

func FuzzReadDSL(f *testing.F) {
	f.Add([]byte("gird\n\t[m1]связывать [p]<impf>[/p], \\[x\\][/m]\n\tSEE: <<a>>\n"))
	f.Add([]byte("g\x00i\x00\n\x00"))
	f.Fuzz(func(t *testing.T, text []byte) {
		_ = ReadDSL(bytes.NewReader(text), func(e Entry) { checkEntry(t, e) })
	})
}

func FuzzReadDictd(f *testing.F) {
	f.Add("a\tA\tF\n00-database-short\tB\tC\n", "a\n 1. _n. счёт, (дела); x\n")
	f.Add("a\t////////\t//////////\n", "")
	f.Fuzz(func(t *testing.T, index, text string) {
		_, _ = ReadDictd(strings.NewReader(index), strings.NewReader(text), func(e Entry) bool { checkEntry(t, e); return true })
	})
}

func FuzzReadTSV(f *testing.F) {
	f.Add("кот\tcat, tomcat; (zool.) feline\n#\n\t\n")
	f.Fuzz(func(t *testing.T, text string) {
		_ = ReadTSV(strings.NewReader(text), func(e Entry) { checkEntry(t, e) })
	})
}
