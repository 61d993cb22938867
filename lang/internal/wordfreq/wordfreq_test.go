package wordfreq

import (
	"compress/gzip"
	"math"
	"os"
	"path/filepath"
	"testing"
)

func TestRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "small_xx.msgpack.gz")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	z := gzip.NewWriter(f)
	// [{"format": "cB", "version": 1}, ["a", "bc"], [], ["d"]]
	z.Write([]byte("\x94\x82\xa6format\xa2cB\xa7version\x01\x92\xa1a\xa2bc\x90\xdc\x00\x01\xd9\x01d"))
	z.Close()
	f.Close()
	got := map[string]float64{}
	if err := Read(path, func(w string, p float64) { got[w] = p }); err != nil {
		t.Fatal(err)
	}
	if len(got) != 3 || got["a"] != 1 || got["bc"] != 1 || math.Abs(got["d"]-math.Pow(10, -0.02)) > 1e-9 {
		t.Errorf("got %v", got)
	}
}
