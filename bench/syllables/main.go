// Command syllables learns the rules by which package haiku counts the syllables of
// English words. It reads lists of words with their numbers of syllables, prints as
// a comment how many of each are counted right by rules that were learned from other
// words, in five folds, and then the rules that were learned from all of them:
//
//	go run ./bench/syllables [-dir DIR] > internal/haiku/english.txt
//
// Rules are about a few letters next to each other. No word of the lists is kept.
package main

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"dossier/bench/internal/lab"
	"dossier/internal/haiku"
)

func main() {
	if err := run(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "syllables:", err)
		os.Exit(1)
	}
}

const folds = 5

var lists = []string{"syllable_cmudict_en/words.jsonl.gz", "syllable_words_en/fixture.jsonl"}

func run(out io.Writer) error {
	root, err := lab.ProjectRoot()
	if err != nil {
		return err
	}
	dir := flag.String("dir", filepath.Join(root, "..", "shared", "eval"), "directory with the lists")
	flag.Parse()
	var words []word
	for _, name := range lists {
		list, err := read(filepath.Join(*dir, name))
		if err != nil {
			return err
		}
		words = append(words, list...)
	}
	l := learning{longest: 4, gain: 2, share: 0.6}
	right, of := map[string]int{}, map[string]int{}
	for fold := range uint32(folds) {
		var others, these []word
		for _, w := range words {
			if foldOf(w.Word) == fold {
				these = append(these, w)
			} else {
				others = append(others, w)
			}
		}
		rules := l.learn(others)
		for _, w := range these {
			of[w.list]++
			if w.right(counted(rules, w.Word)) {
				right[w.list]++
			}
		}
	}
	fmt.Fprintln(out, "# Learned by go run ./bench/syllables. Of words that rules were not learned from, these were counted right:")
	for _, name := range slices.Sorted(maps.Keys(of)) {
		fmt.Fprintf(out, "# %s %.4f n=%d\n", name, float64(right[name])/float64(of[name]), of[name])
	}
	for _, r := range l.learn(words) {
		fmt.Fprintf(out, "%s %d\n", r.Letters, r.Add)
	}
	return nil
}

// foldOf deals words out, the same each time.
func foldOf(word string) uint32 {
	h := fnv.New32a()
	_, _ = io.WriteString(h, word) // it takes everything
	return h.Sum32() % folds
}

func read(file string) (words []word, err error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	var r io.Reader = f
	if strings.HasSuffix(file, ".gz") {
		if r, err = gzip.NewReader(f); err != nil {
			return nil, err
		}
	}
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		w := word{list: filepath.Base(filepath.Dir(file))}
		if err := json.Unmarshal(lines.Bytes(), &w); err != nil {
			return nil, err
		}
		words = append(words, w)
	}
	return words, lines.Err()
}

// counted applies rules to a word.
func counted(rules []haiku.Rule, w string) int {
	n := 0
	for _, part := range haiku.Parts(w) {
		n += haiku.Groups(part)
		for _, r := range rules {
			if r.In(part) {
				n += r.Add
			}
		}
	}
	return max(n, 1)
}
