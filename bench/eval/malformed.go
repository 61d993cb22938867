package main

import (
	"archive/tar"
	"context"
	"errors"
	"io"
	"time"

	"dossier/reader"
)

// hangAfter is when a document counts as one that hangs the reader.
const hangAfter = 2 * time.Minute

// survive reads documents that are made to break parsers. A parser that fails
// or dies counts as a panic; that a document is refused is as it should be.
type survivor struct {
	r            *reader.Reader
	panics, hung int
	n            int
}

func (s *survivor) read(ctx context.Context, env *Env, name string, d reader.Document) error {
	limited, cancel := context.WithTimeout(ctx, hangAfter)
	defer cancel()
	s.n++
	_, err := s.r.Read(limited, d)
	var about *reader.Error
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case limited.Err() != nil:
		s.hung++
	case errors.As(err, &about):
		if about.Reason == reader.TooCostly {
			s.panics++
		}
	case err != nil:
		return err
	}
	answer := map[string]string{"name": name}
	if err != nil {
		answer["error"] = err.Error()
	}
	return env.Record(answer)
}

func (s *survivor) report(env *Env) {
	env.Count("panics", s.panics, s.n)
	env.Count("hangs", s.hung, s.n)
}

func runMalformedHTML(ctx context.Context, env *Env) error {
	cases, err := readLines[struct {
		File string `json:"file"`
		Data string `json:"data"`
	}](env, "tree.jsonl.gz")
	if err != nil {
		return err
	}
	s := &survivor{r: reader.New(reader.Config{Workers: 1})}
	defer s.r.Close()
	for _, c := range cases {
		if err := s.read(ctx, env, c.File, reader.Document{Body: []byte(c.Data), ContentType: "text/html"}); err != nil {
			return err
		}
	}
	s.report(env)
	return nil
}

func runMalformedPDF(ctx context.Context, env *Env) error {
	f, err := env.Open("pdfs.tar.gz")
	if err != nil {
		return err
	}
	defer f.Close()
	s := &survivor{r: reader.New(reader.Config{Workers: 1})}
	defer s.r.Close()
	for t := tar.NewReader(f); ; {
		head, err := t.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		if head.Typeflag != tar.TypeReg {
			continue
		}
		body, err := io.ReadAll(t)
		if err != nil {
			return err
		}
		if err := s.read(ctx, env, head.Name, reader.Document{Body: body, ContentType: "application/pdf"}); err != nil {
			return err
		}
	}
	s.report(env)
	return nil
}
