// Command gen trains the table of the language detector and writes it. It is
// run by hand when a language is added or a source changes; the product only
// embeds its result.
//
// Sources, none of which is kept in the repository:
//
//   - the word lists of the Python package wordfreq 3.1.1 (an unpacked wheel;
//     data CC BY-SA 4.0, Robyn Speer and others),
//   - the n-gram models of the Go module github.com/pemistahl/lingua-go v1.4.0
//     (go mod download; Apache-2.0, Peter M. Stahl),
//   - for languages that wordfreq doesn't have, the message catalogues of
//     LibreOffice 7.4 translations (Debian 12 packages libreoffice-l10n-be,
//     -kk, -sr, -et, unpacked with dpkg -x; MPL-2.0, The Document Foundation).
//
// For example:
//
//	go run ./lang/internal/gen -wordfreq wheel/wordfreq/data \
//	    -lingua $(go list -m -f '{{.Dir}}' github.com/pemistahl/lingua-go)/language-models \
//	    -mo unpacked -out lang/detect.table
//
// where unpacked holds a directory libreoffice-l10n-<code> for each package.
// The same sources and seed give the same table.
package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"sync"
	"unicode"

	"dossier/lang/internal/ngram"
)

// A group is one script whose languages only n-grams can tell apart.
type group struct {
	script string
	table  *unicode.RangeTable
	langs  []string
	dims   int
	bits   uint
	steps  int // training examples
}

var groups = []group{
	{"Latin", unicode.Latin, []string{
		"en", "de", "es", "fr", "it", "nl", "pl", "pt", "sv", "fi", "cs", "tr", "da", "nb", "ro", "hu",
		"sk", "hr", "sl", "ca", "id", "vi", "lt", "lv", "et", "is", "tl",
	}, 16, 15, 18_000_000},
	{"Cyrillic", unicode.Cyrillic, []string{"ru", "uk", "be", "bg", "sr", "mk", "kk"}, 6, 14, 6_000_000},
	{"Arabic", unicode.Arabic, []string{"ar", "fa", "ur"}, 2, 12, 2_000_000},
}

func main() {
	log.SetFlags(log.Ltime)
	wordfreq := flag.String("wordfreq", "", "directory of wordfreq's *.msgpack.gz lists")
	lingua := flag.String("lingua", "", "directory of lingua-go's language-models")
	mo := flag.String("mo", "", "directory of unpacked libreoffice-l10n-<code> packages")
	out := flag.String("out", "", "file to write")
	only := flag.String("script", "", "train this script only (for experiments)")
	scale := flag.Float64("steps", 1, "multiplies the number of training steps")
	flag.Parse()
	if *wordfreq == "" || *lingua == "" || *mo == "" || *out == "" {
		flag.Usage()
		os.Exit(2)
	}
	src := sources{wordfreq: *wordfreq, lingua: *lingua, mo: *mo}
	trained := make([]ngram.Trained, len(groups))
	var wg sync.WaitGroup
	for i, g := range groups {
		if *only != "" && *only != g.script {
			continue
		}
		g.steps = int(float64(g.steps) * *scale)
		wg.Go(func() {
			data, err := src.load(g)
			if err != nil {
				log.Fatal(err)
			}
			trained[i] = train(g, data)
		})
	}
	wg.Wait()
	var kept []ngram.Trained
	for _, t := range trained {
		if t.Script != "" {
			kept = append(kept, t)
		}
	}
	table, dropped := ngram.Write(kept)
	log.Printf("%d bytes, %d features without a slot", len(table), dropped)
	if err := os.WriteFile(filepath.Clean(*out), table, 0o644); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
