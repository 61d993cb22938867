package main

import (
	"compress/gzip"
	"os"
	"path/filepath"
	"testing"

	"dossier/lang"
	"dossier/lang/terms/internal/table"
)

func put(t *testing.T, path, text string) string {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if filepath.Ext(path) == ".gz" {
		z := gzip.NewWriter(f)
		defer z.Close()
		_, err = z.Write([]byte(text))
	} else {
		_, err = f.WriteString(text)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func TestMakesTables(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	from := sources{
		cedict: put(t, in("cedict.txt.gz"), "乾燥 干燥 [gan1 zao4] /to dry/dry; arid (of weather)/\n乾 干 [gan1] /dry/clean/\n"+
			"數據 数据 [shu4 ju4] /data/CL:組|组[zu3]/\n數據庫 数据库 [shu4 ju4 ku4] /database/\n庫 库 [ku4] /warehouse/\n北大 北大 [Bei3 Da4] /abbr. for 北京大學|北京大学[Bei3 jing1 Da4 xue2]/\n"+
			"北京大學 北京大学 [Bei3 jing1 Da4 xue2] /Peking University/\n"),
		russian: put(t, in("ru.dsl"), "bank\n\t[m1]банк [p]<m>[/p], берег[/m]\n\nshore\n\t[m1]берег[/m]\n\ncoast\n\tSEE: <<shore>>\n\n"+
			"the\n\t[m1]not used in Russian[/m]\n"),
		chinese:     put(t, in("zh.dsl"), "database\n\t[m1]資料庫, 资料库 [c gray]/zīliàokù/[/c], 数据库[/m]\n"),
		openRussian: put(t, in("others.csv"), "bare\taccented\ttranslations_en\ttranslations_de\nи\tи\tand; also, too\tund\nплохая строка\n"),
		wordfreq:    dir,
	}
	// [{"format": "cB"}, ["банк"], [], … and nothing for Chinese]
	put(t, in("large_ru.msgpack.gz"), "\x92\x81\xa6format\xa2cB\x91\xa8банк")
	put(t, in("large_zh.msgpack.gz"), "\x91\x81\xa6format\xa2cB")
	if err := from.make(dir); err != nil {
		t.Fatal(err)
	}
	first := map[string]string{}
	for _, name := range []string{"russian.terms", "chinese.terms"} {
		data, err := os.ReadFile(in(name))
		if err != nil {
			t.Fatal(err)
		}
		first[name] = string(data)
	}
	if err := from.make(dir); err != nil {
		t.Fatal(err)
	}
	var k table.Keyer
	meanings := func(name, term string) string {
		data, err := os.ReadFile(in(name))
		if err != nil {
			t.Fatal(err)
		}
		if string(data) != first[name] {
			t.Errorf("%s is another one the second time", name)
		}
		tab, err := table.Open(data)
		if err != nil {
			t.Fatal(err)
		}
		out := ""
		for _, f := range tab.FromOther(&k, k.Key(term, tab.Lang)) {
			for _, m := range f.Meanings {
				out += m.Text + ";"
			}
		}
		if term == "干燥" && (tab.Traditional(&k, term) != "乾燥" || tab.Simplified("數據庫") != "数据库" || tab.Pinyin('库') != "ku") {
			t.Errorf("characters: %s, %s, %s", tab.Traditional(&k, term), tab.Simplified("數據庫"), tab.Pinyin('库'))
		}
		if common, _ := tab.HasOther(&k, k.Key("банк", lang.Russian)); name == "russian.terms" && common != table.MostCommon {
			t.Errorf("банк is common: %d", common)
		}
		return out
	}
	for _, c := range [][3]string{
		{"russian.terms", "берега", "shore;bank;coast;"}, {"russian.terms", "банков", "bank;"}, {"russian.terms", "и", "and;also;too;"},
		{"chinese.terms", "数据库", "database;"}, {"chinese.terms", "资料库", "database;"}, {"chinese.terms", "北大", "Peking University;"},
		{"chinese.terms", "干燥", "dry;arid;"}, {"chinese.terms", "数据", "data;"},
	} {
		if got := meanings(c[0], c[1]); got != c[2] {
			t.Errorf("%s: %q, want %q", c[1], got, c[2])
		}
	}
	if err := (sources{}).make(dir); err == nil {
		t.Error("made of nothing")
	}
}
