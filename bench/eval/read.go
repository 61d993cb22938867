package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// Open opens a file of the set, unpacking it if its name ends in .gz.
func (e *Env) Open(file string) (io.ReadCloser, error) {
	p, err := e.Path(file)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(p)
	if err != nil || !strings.HasSuffix(p, ".gz") {
		return f, err
	}
	z, err := gzip.NewReader(f)
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", p, err)
	}
	return unpacked{z, f}, nil
}

type unpacked struct {
	*gzip.Reader
	file *os.File
}

func (u unpacked) Close() error { return errors.Join(u.Reader.Close(), u.file.Close()) }

// readLines decodes a file of JSON lines. One that is not there may have come in
// pieces: questions.jsonl.gz as questions_1.jsonl.gz and so on. An error names
// the file and line.
func readLines[T any](e *Env, file string) ([]T, error) {
	if _, err := e.Path(file); err != nil {
		name, ending, _ := strings.Cut(file, ".")
		pieces, none := e.Files(name + `[_.0-9\-]*` + ending)
		if none != nil {
			return nil, err
		}
		var all []T
		for _, piece := range pieces {
			some, err := readPiece[T](e, piece)
			if err != nil {
				return nil, err
			}
			all = append(all, some...)
		}
		return all, nil
	}
	return readPiece[T](e, file)
}

func readPiece[T any](e *Env, file string) ([]T, error) {
	r, err := e.Open(file)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	var all []T
	lines := bufio.NewReader(r)
	for n := 1; ; n++ {
		line, err := lines.ReadBytes('\n')
		if err != nil && err != io.EOF {
			return nil, fmt.Errorf("%s:%d: %w", file, n, err)
		}
		if len(bytes.TrimSpace(line)) > 0 {
			var v T
			if err := json.Unmarshal(line, &v); err != nil {
				return nil, fmt.Errorf("%s:%d: %w", file, n, err)
			}
			all = append(all, v)
		}
		if err == io.EOF {
			return all, nil
		}
	}
}
