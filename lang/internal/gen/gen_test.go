package main

import (
	"archive/zip"
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"dossier/lang/internal/ngram"
)

func TestReadLingua(t *testing.T) {
	dir := t.TempDir()
	for i, name := range []string{"uni", "bi", "tri", "quadri", "five"} {
		var entry []byte
		entry = append(entry, 1<<3|1)
		entry = binary.LittleEndian.AppendUint64(entry, math.Float64bits(0.5))
		entry = append(entry, 2<<3|2, byte(i+1))
		entry = append(entry, "abcde"[:i+1]...)
		message := append([]byte{1 << 3, 7, 4<<3 | 2, byte(len(entry))}, entry...)
		f, err := os.Create(filepath.Join(dir, name+"grams.pb.bin.zip"))
		if err != nil {
			t.Fatal(err)
		}
		z := zip.NewWriter(f)
		w, err := z.Create("grams")
		if err != nil {
			t.Fatal(err)
		}
		w.Write(message)
		z.Close()
		f.Close()
	}
	got := map[string]float64{}
	if err := readLingua(dir, func(g string, p float64) { got[g] = p }); err != nil {
		t.Fatal(err)
	}
	if len(got) != 1 || got["abcde"] != 1.0/32 {
		t.Errorf("got %v", got)
	}
}

func TestReadMO(t *testing.T) {
	dir := t.TempDir()
	u32 := binary.LittleEndian.AppendUint32
	var b []byte
	for _, x := range []uint32{0x950412de, 0, 2, 28, 44, 0, 0} {
		b = u32(b, x)
	}
	for _, x := range []uint32{0, 60, 1, 60, 0, 60, 5, 60} { // originals, then translations
		b = u32(b, x)
	}
	b = append(b, "a\x00bcd"...)
	if err := os.WriteFile(filepath.Join(dir, "x.mo"), b, 0o600); err != nil {
		t.Fatal(err)
	}
	var got []string
	if err := readMO(dir, func(s string) { got = append(got, s) }); err != nil {
		t.Fatal(err)
	}
	if len(got) != 1 || got[0] != "a bcd" {
		t.Errorf("got %q", got)
	}
}

// A model of two invented languages must tell words apart that it never saw.
func TestTrain(t *testing.T) {
	syllables := map[string][]string{"aa": strings.Fields("ka ro mi tu ne"), "bb": strings.Fields("gor blen strak wust nold")}
	data := map[string]*corpus{}
	for lang, s := range syllables {
		c := &corpus{}
		for _, x := range s {
			for _, y := range s {
				for _, z := range s {
					c.words = append(c.words, item{x + y + z, 1.0 / 125})
					c.fragments = append(c.fragments, item{(x + y + z)[1:5], 1.0 / 125})
				}
			}
		}
		data[lang] = c
	}
	g := group{script: "Latin", table: unicode.Latin, langs: []string{"aa", "bb"}, dims: 2, bits: 6, steps: 5000}
	table, _ := ngram.Write([]ngram.Trained{train(g, data)})
	models, err := ngram.Open(string(table))
	if err != nil {
		t.Fatal(err)
	}
	for i, word := range []string{"kanetumiro", "wustnold"} {
		var v ngram.Vector
		logits := make([]float64, 2)
		models[0].Add(&v, ngram.Append(nil, []rune(word)))
		models[0].Logits(logits, &v)
		if (logits[1] > logits[0]) != (i == 1) {
			t.Errorf("%s scores %v", word, logits)
		}
	}
}
