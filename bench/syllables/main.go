// Command syllables learns the rules by which package haiku counts the syllables of
// English words. It reads words with their numbers of syllables, prints as a
// comment how many are counted right by rules that were learned from other words,
// in five folds, and then the rules that were learned from all of them:
//
//	go run ./bench/syllables [-words FILE] > internal/haiku/english.txt
//
// Rules are about a few letters next to each other. No word of the file is kept.
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
	"os"
	"path/filepath"

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

func run(out io.Writer) error {
	root, err := lab.ProjectRoot()
	if err != nil {
		return err
	}
	file := flag.String("words", filepath.Join(root, "..", "shared", "eval", "syllable_cmudict_en", "words.jsonl.gz"), "gzipped lines of {word, syllables}")
	flag.Parse()
	words, err := read(*file)
	if err != nil {
		return err
	}
	l := learning{longest: 4, gain: 2, share: 0.6}
	right := 0
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
			if w.right(counted(rules, w.Word)) {
				right++
			}
		}
	}
	fmt.Fprintf(out, "# Learned by go run ./bench/syllables; of %d words that the rules were not learned from, %.1f %% are counted right.\n", len(words), 100*float64(right)/float64(len(words)))
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
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(z)
	for lines.Scan() {
		var w word
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
