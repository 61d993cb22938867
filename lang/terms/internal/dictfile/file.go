package dictfile

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// Format is how a dictionary is written.
type Format string

// The formats.
const (
	CEDICT Format = "cedict"
	DSL    Format = "dsl"
	Dictd  Format = "dictd"
	TSV    Format = "tsv"
)

// Title is what ReadFile finds out about a dictionary beside its entries.
type Title struct {
	Format Format
	Name   string // as the dictionary calls itself, or ""
}

// ReadFile calls entry with the entries of a dictionary in a file. The name of
// the file and its first lines tell the format; of dictd's two files either
// may be named.
func ReadFile(path string, entry func(Entry)) (Title, error) {
	return readFile(path, MaxFile, func(e Entry) bool { entry(e); return true })
}

// Sample calls entry with some entries of a dictionary of dictd, without
// reading all of it.
func Sample(path string, entry func(Entry) bool) (Title, error) { return readFile(path, 1<<18, entry) }

func readFile(path string, limit int64, entry func(Entry) bool) (Title, error) {
	base, packed := path, false
	for _, ext := range []string{".gz", ".dz"} {
		if rest, ok := strings.CutSuffix(path, ext); ok {
			base, packed = rest, true
		}
	}
	switch strings.ToLower(filepath.Ext(base)) {
	case ".index":
		return dictdFiles(path, strings.TrimSuffix(path, ".index"), limit, entry)
	case ".dict":
		stem := strings.TrimSuffix(base, ".dict")
		return dictdFiles(stem+".index", stem, limit, entry)
	}
	f, err := os.Open(path)
	if err != nil {
		return Title{}, err
	}
	defer f.Close()
	var r io.Reader = f
	if packed {
		z, err := gzip.NewReader(f)
		if err != nil {
			return Title{}, fmt.Errorf("%s: %w", path, err)
		}
		r = z
	}
	in := bufio.NewReaderSize(r, 1<<16)
	all := func(e Entry) { entry(e) }
	title := Title{Format: guess(base, in)}
	switch title.Format {
	case DSL:
		err = ReadDSL(in, all)
	case CEDICT:
		err = ReadCEDICT(in, func(c Character) { entry(c.Entry) })
	case TSV:
		err = ReadTSV(in, all)
	default:
		err = errors.New("none of the formats that are known: dictd (.index with .dict or .dict.dz), CEDICT (.u8, .txt), TSV (term, tab, translations), DSL")
	}
	if err != nil {
		return Title{}, fmt.Errorf("%s: %w", path, err)
	}
	return title, nil
}

// guess looks at the name and the first lines.
func guess(name string, in *bufio.Reader) Format {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".dsl":
		return DSL
	case ".tsv":
		return TSV
	}
	start, _ := in.Peek(1 << 15)
	if bytes.IndexByte(start, 0) >= 0 {
		return "" // no text
	}
	for line := range strings.Lines(string(start)) {
		line = strings.TrimSpace(strings.TrimPrefix(line, "\ufeff"))
		switch {
		case line == "" || line[0] == '#':
		case cedictLine.MatchString(line):
			return CEDICT
		case strings.Contains(line, "\t"):
			return TSV
		default:
			return ""
		}
	}
	return ""
}

// dictdFiles reads an index and the text beside it.
func dictdFiles(indexPath, stem string, limit int64, entry func(Entry) bool) (Title, error) {
	index, err := os.Open(indexPath)
	if err != nil {
		return Title{}, fmt.Errorf("a dictionary of dictd has two files: %w", err)
	}
	defer index.Close()
	var text io.Reader
	if f, err := os.Open(stem + ".dict.dz"); err == nil {
		defer f.Close()
		z, err := gzip.NewReader(f)
		if err != nil {
			return Title{}, fmt.Errorf("%s.dict.dz: %w", stem, err)
		}
		text = z
	} else if f, err := os.Open(stem + ".dict"); err == nil {
		defer f.Close()
		text = f
	} else {
		return Title{}, fmt.Errorf("a dictionary of dictd has two files: beside %s there is no %s.dict.dz or .dict", filepath.Base(indexPath), filepath.Base(stem))
	}
	name, err := readDictd(index, text, limit, entry)
	if err != nil {
		return Title{}, fmt.Errorf("%s: %w", indexPath, err)
	}
	return Title{Format: Dictd, Name: name}, nil
}
