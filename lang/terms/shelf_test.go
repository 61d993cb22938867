package terms

import (
	"compress/gzip"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dossier/lang"
)

// put writes a file, packed if its name says so.
func put(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if ext := filepath.Ext(path); ext == ".gz" || ext == ".dz" {
		z := gzip.NewWriter(f)
		defer z.Close()
		if _, err := z.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		return path
	}
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
	return path
}

const dictText = `00-database-short
     A small dictionary
quorum
   [k]
   1. _n.
      1) кворум; to have a quorum иметь кворум
whatsit /x/
шмяклина, хреновина
`

// dictIndex points into dictText: its three entries begin at bytes 0, 42 and 128.
func dictIndex() string {
	at := func(of string) string {
		const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
		number := func(n int) string { return string(digits[n/64]) + string(digits[n%64]) }
		start := strings.Index(dictText, of)
		end := len(dictText)
		for _, next := range []string{"quorum\n", "whatsit /"} {
			if i := strings.Index(dictText, next); i > start {
				end = min(end, i)
			}
		}
		return number(start) + "\t" + number(end-start)
	}
	return "00-database-short\t" + at("00-data") + "\nquorum\t" + at("quorum\n") + "\nwhatsit\t" + at("whatsit /") + "\n"
}

func TestShelf(t *testing.T) {
	dir, files := t.TempDir(), t.TempDir()
	shelf := Shelf{Dir: filepath.Join(dir, "dictionaries")}
	if list, err := shelf.List(); err != nil || len(list) != 0 {
		t.Fatalf("an empty shelf: %v, %v", list, err)
	}
	for _, c := range []struct {
		name, text string
		lang       lang.Code
		terms      int
		format     string
	}{
		{"trade.tsv", "# ours\nкомпот\tstewed fruit, compote; punch\tnoted\n\nбез перевода\nшмяклик\tglitcher\n", lang.Russian, 2, "tsv"},
		{"turned.txt", "glitcher\tшмяклик, шмякер\n", lang.Russian, 2, "tsv"},
		{"cedict.u8.gz", "# CC\n囧圖 囧图 [jiong3 tu2] /silly picture/CL:個|个[ge4]/\n", lang.Chinese, 1, "cedict"},
		{"cards.dsl", "#NAME \"x\"\n\nglitcher\n\t[m1]шмяклик [p]<n>[/p][/m]\n", lang.Russian, 1, "dsl"},
	} {
		e, err := shelf.Add(put(t, filepath.Join(files, c.name), c.text), "")
		if err != nil || e.Lang != c.lang || e.Terms != c.terms || e.Format != c.format || e.Name != strings.Split(c.name, ".")[0] {
			t.Errorf("%s: %+v, %v", c.name, e, err)
		}
	}
	put(t, filepath.Join(files, "d.dict.dz"), dictText)
	e, err := shelf.Add(put(t, filepath.Join(files, "d.index"), dictIndex()), "small")
	if err != nil || e.Title != "A small dictionary" || e.Terms != 3 {
		t.Errorf("dictd: %+v, %v", e, err)
	}

	d := New(shelf.Tables)
	for _, c := range []struct {
		term     string
		from, to lang.Code
		want     string
	}{
		{"шмякликами", lang.Russian, lang.English, "glitcher"},
		{"glitchers", lang.English, lang.Russian, "шмяклик"},
		{"囧圖", lang.Chinese, lang.English, "silly picture"},
		{"хреновины", lang.Russian, lang.English, "whatsit"},
		{"банк", lang.Russian, lang.English, "bank"}, // what comes with the program is still there
	} {
		if got := d.Lookup(c.term, c.from, c.to); !slices.ContainsFunc(got, func(tr Translation) bool { return tr.Text == c.want }) {
			t.Errorf("%s: %+v, want %s", c.term, got, c.want)
		}
	}

	if _, err := shelf.Add(filepath.Join(files, "trade.tsv"), ""); !errors.Is(err, ErrKnown) {
		t.Errorf("added twice: %v", err)
	}
	if err := shelf.Remove("trade"); err != nil {
		t.Error(err)
	}
	for _, name := range []string{"trade", "../x", ""} {
		if err := shelf.Remove(name); !errors.Is(err, ErrNoDictionary) {
			t.Errorf("removing %q: %v", name, err)
		}
	}
	// What is damaged is said and left out.
	put(t, filepath.Join(shelf.Dir, "small.terms"), "dossier terms 1\n{\"lang\":\"ru\"}\nnothing of the sort")
	put(t, filepath.Join(shelf.Dir, "other.terms"), "something else")
	list, err := shelf.List()
	if err != nil || len(list) != 5 || list[2].Name != "other" || list[2].Problem == "" {
		t.Errorf("%+v, %v", list, err)
	}
	if got := len(shelf.Tables(lang.Russian)); got != 2 {
		t.Errorf("%d tables are left", got)
	}
}

func TestWhatIsNoDictionary(t *testing.T) {
	files := t.TempDir()
	shelf := Shelf{Dir: t.TempDir()}
	for name, c := range map[string]struct{ text, want string }{
		"prose.txt":  {"Dear Sir,\nthank you.\n", "none of the formats"},
		"empty.tsv":  {"", "no line is"},
		"german.tsv": {"Haus\thouse\n", "no terms between English and Russian or Chinese"},
		"binary.txt": {"a\x00b\tc\n", "none of the formats"},
		"lone.index": {"a\tA\tB\n", "there is no lone.dict.dz"},
		"lone2.dict": {"a", "two files"},
		"bad.gz":     {"", "bad.gz"},
		"cards.dsl":  {"word\n", "not a DSL dictionary"},
	} {
		path := put(t, filepath.Join(files, name), c.text)
		if name == "bad.gz" {
			if err := os.WriteFile(path, []byte("not packed"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := shelf.Add(path, "x"); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	if _, err := shelf.Add(filepath.Join(files, "absent.tsv"), ""); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("absent: %v", err)
	}
	if _, err := shelf.Add(put(t, filepath.Join(files, "g.tsv"), "кот\tcat\n"), "a/b"); err == nil {
		t.Error("a name with a slash was taken")
	}
	if files, err := os.ReadDir(shelf.Dir); err != nil || len(files) > 0 {
		t.Errorf("something was kept: %v, %v", files, err)
	}
}

func TestInstalledDictionariesAreFound(t *testing.T) {
	installed := t.TempDir()
	put(t, filepath.Join(installed, "small.index"), dictIndex())
	put(t, filepath.Join(installed, "small.dict"), dictText)
	put(t, filepath.Join(installed, "german.index"), "Haus\tA\tL\n")
	put(t, filepath.Join(installed, "german.dict"), "Haus\nhouse\n")
	shelf := Shelf{Dir: filepath.Join(t.TempDir(), "d"), Installed: installed}
	for range 2 { // the second time from the packed copy
		list, err := shelf.List()
		if err != nil || len(list) != 1 || list[0].Name != "small" || !list[0].Installed || list[0].Terms != 3 {
			t.Fatalf("%+v, %v", list, err)
		}
	}
	copied := filepath.Join(shelf.Dir, "installed", "small.terms")
	if _, err := os.Stat(copied); err != nil {
		t.Error(err)
	}
	if got := New(shelf.Tables).Lookup("шмяклину", lang.Russian, lang.English); len(got) == 0 || got[0].Text != "whatsit" {
		t.Errorf("%+v", got)
	}
	// Another version takes the place of the copy.
	put(t, filepath.Join(installed, "small.index"), dictIndex()+"xyzzy\tA\tB\n")
	before, err := os.ReadFile(copied)
	if err != nil {
		t.Fatal(err)
	}
	shelf.Tables(lang.Russian)
	if after, err := os.ReadFile(copied); err != nil || string(after) == string(before) {
		t.Errorf("the copy of an older version is used, %v", err)
	}
	if err := shelf.Remove("small"); !errors.Is(err, ErrNoDictionary) {
		t.Errorf("removing what is installed: %v", err)
	}
}
