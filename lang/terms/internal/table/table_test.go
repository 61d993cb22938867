package table

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"dossier/lang"
)

// TestBuiltInTables opens the tables that the program carries along. Terms are
// found by binary search over keys that the stemmer makes: with another
// version of it the tables have to be made anew.
func TestBuiltInTables(t *testing.T) {
	for _, name := range []string{"russian.terms", "chinese.terms"} {
		data, err := os.ReadFile(filepath.Join("..", "..", name))
		if err != nil {
			t.Fatal(err)
		}
		table, err := Open(data)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var k Keyer
		for _, list := range []terms{table.english, table.other} {
			last := ""
			for i := range list.len() {
				key := k.Key(list.term(i), list.code)
				if key < last || key == "" && list.code != lang.English {
					t.Fatalf("%s: %q has key %q after %q", name, list.term(i), key, last)
				}
				last = key
			}
		}
		if table.other.len() != table.Terms || table.Terms < 50_000 {
			t.Errorf("%s: %d terms, it says %d", name, table.other.len(), table.Terms)
		}
	}
}

func small(t testing.TB) []byte {
	b := NewBuilder(About{Name: "x", Lang: lang.Russian})
	b.Add("Счёт", "to account", 2)
	b.Add("счет", "bill", 1)
	b.Add("счет", "Bill", 1)
	b.Add("счет", "invoice", 0.02)
	b.Add("опись", "account", 1)
	b.Add("latin", "no", 1)
	b.Add("слово", "слово", 1)
	b.Add("слово", "", 1)
	b.Common("счет", 1e-3)
	data, err := b.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestBuildAndFind(t *testing.T) {
	table, err := Open(small(t))
	if err != nil {
		t.Fatal(err)
	}
	var k Keyer
	found := table.FromOther(&k, k.Key("Счета", lang.Russian))
	if len(found) != 1 || found[0].Term != "счет" || found[0].Common != 6 || len(found[0].Meanings) != 3 {
		t.Fatalf("%+v", found)
	}
	// The same word in capitals is the same; the weakest still counts.
	for i, want := range []Meaning{{"account", 1}, {"bill", 1}, {"invoice", 0.125}} {
		if m := found[0].Meanings[i]; m != want {
			t.Errorf("%+v, want %+v", m, want)
		}
	}
	back := table.FromEnglish(&k, k.Key("accounts", lang.English))
	if len(back) != 1 || len(back[0].Meanings) != 2 || back[0].Meanings[0] != (Meaning{"счет", 1}) || math.Abs(back[0].Meanings[1].Weight-math.Sqrt(1.0/7)) > 1e-9 {
		t.Errorf("%+v", back)
	}
	if table.FromOther(&k, "нет") != nil || table.FromEnglish(&k, "no") != nil || table.HasEnglish(&k, "zzz") {
		t.Error("found what is not there")
	}
}

// FuzzOpen: whatever the file holds, it is a table or an error.
func FuzzOpen(f *testing.F) {
	f.Add(small(f))
	f.Add(small(f)[:40])
	f.Add([]byte(Magic + "{\"lang\":\"zh\"}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		table, err := Open(data)
		if err != nil {
			return
		}
		var k Keyer
		table.FromOther(&k, "счет")
		table.FromEnglish(&k, "account")
		for i := range table.other.len() {
			table.otherAt(i)
		}
		table.Traditional(&k, table.Simplified("資料"))
	})
}
