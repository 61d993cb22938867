package kb

import (
	"context"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"dossier/lang"
	"dossier/reader"
)

// Filter leaves documents out of a search. Each field that is set must hold;
// of several values in one field any will do.
type Filter struct {
	// Paths are files and folders, or patterns in which * and ? stand for
	// characters of a name and ** for any folders. They are absolute or
	// relative to a root; a pattern without a slash is about the file's name.
	Paths   []string        `json:"paths,omitempty"`
	Langs   []lang.Code     `json:"langs,omitempty"`
	Formats []reader.Format `json:"formats,omitempty"`
	// After and Before are the first and the last date, as YYYY-MM-DD or a
	// prefix of it. The date of a document that names none is that of its
	// file.
	After     string  `json:"after,omitempty"`
	Before    string  `json:"before,omitempty"`
	Documents []int64 `json:"documents,omitempty"`
}

// about reports whether the filter has to read documents.
func (f *Filter) about() bool {
	return len(f.Langs)+len(f.Formats)+len(f.After)+len(f.Before) > 0
}

// prepareFilter makes the query's filter one of chunks.
func (s *searching) prepareFilter() error {
	f := &s.q.Filter
	if len(f.Paths) == 0 && len(f.Documents) == 0 && !f.about() {
		return nil
	}
	var numbers map[int64]bool // nil for any
	if len(f.Documents) > 0 {
		numbers = map[int64]bool{}
		for _, n := range f.Documents {
			numbers[n] = true
		}
	}
	if len(f.Paths) > 0 {
		files, err := s.l.store.Files(s.ctx, s.c.ID)
		if err != nil {
			return err
		}
		match := pathMatcher(f.Paths, s.c.Roots)
		inPath := map[int64]bool{}
		for _, file := range files {
			if (numbers == nil || numbers[file.N]) && !file.Failed && match(file.Path) {
				inPath[file.N] = true
			}
		}
		numbers = inPath
	}
	s.filter = func(id string) bool {
		n, _, _ := ParseChunkID(id)
		if numbers != nil && !numbers[n] {
			return false
		}
		if !f.about() {
			return true
		}
		if s.err != nil {
			return false
		}
		t, err := s.v.traits.of(s.ctx, s.l.store, s.c.ID, n)
		s.err = err
		return err == nil && f.admits(t)
	}
	return nil
}

// trait is what a filter asks of a document.
type trait struct {
	there  bool
	format reader.Format
	lang   lang.Code
	date   string
}

// traits remembers the traits of a collection's documents, which never change.
type traits struct {
	mu  sync.Mutex
	byN map[int64]trait
}

// traitsAtOnce is how many documents are read when one is not known: those
// with the next numbers are likely to be asked about soon.
const traitsAtOnce = 32

func (t *traits) of(ctx context.Context, store Store, id string, n int64) (trait, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if known, ok := t.byN[n]; ok {
		return known, nil
	}
	var numbers []int64
	for m := n - n%traitsAtOnce; m < n-n%traitsAtOnce+traitsAtOnce; m++ {
		if m > 0 {
			numbers = append(numbers, m)
		}
	}
	docs, err := store.Documents(ctx, id, numbers...)
	if err != nil {
		return trait{}, err
	}
	for i := range docs {
		d := &docs[i]
		date := d.Date
		if date == "" {
			date = d.Modified.UTC().Format(time.DateOnly)
		}
		t.byN[d.N] = trait{there: true, format: d.Format, lang: d.Lang, date: date}
	}
	return t.byN[n], nil
}

// admits reports whether a document is one that the filter is about.
func (f *Filter) admits(t trait) bool {
	prefix := func(n int) string { return t.date[:min(n, len(t.date))] }
	return t.there &&
		(len(f.Langs) == 0 || slices.Contains(f.Langs, t.lang)) &&
		(len(f.Formats) == 0 || slices.Contains(f.Formats, t.format)) &&
		prefix(len(f.After)) >= f.After[:min(len(f.After), len(t.date))] &&
		prefix(len(f.Before)) <= f.Before
}

// pathMatcher returns what says whether one of the patterns matches a path.
func pathMatcher(patterns, roots []string) func(file string) bool {
	for i, p := range patterns {
		patterns = slices.Clone(patterns)
		patterns[i] = strings.TrimSuffix(filepath.ToSlash(p), "/")
	}
	return func(file string) bool {
		file = filepath.ToSlash(file)
		names := []string{file}
		for _, root := range roots {
			root = strings.TrimSuffix(filepath.ToSlash(root), "/")
			if rest, ok := strings.CutPrefix(file, root+"/"); ok {
				names = append(names, rest)
			}
		}
		return slices.ContainsFunc(patterns, func(p string) bool {
			if p == "." || p == "" {
				return true
			}
			p = strings.TrimPrefix(p, "./")
			if !strings.ContainsAny(p, "*?[") {
				return slices.ContainsFunc(names, func(name string) bool {
					return name == p || strings.HasPrefix(name, p+"/")
				})
			}
			if !strings.Contains(p, "/") {
				ok, _ := path.Match(p, path.Base(file))
				return ok
			}
			return slices.ContainsFunc(names, func(name string) bool {
				return matchParts(strings.Split(p, "/"), strings.Split(name, "/"))
			})
		})
	}
}

// matchParts matches a path name by name; "**" stands for any number of them.
func matchParts(pattern, names []string) bool {
	for len(pattern) > 0 {
		if pattern[0] == "**" {
			for i := range len(names) + 1 {
				if matchParts(pattern[1:], names[i:]) {
					return true
				}
			}
			return false
		}
		if len(names) == 0 {
			return false
		}
		if ok, err := path.Match(pattern[0], names[0]); !ok || err != nil {
			return false
		}
		pattern, names = pattern[1:], names[1:]
	}
	return len(names) == 0
}
