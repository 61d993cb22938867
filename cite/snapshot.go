package cite

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"sort"
	"strings"
	"sync"
	"unicode/utf8"

	"dossier/lang"
)

// Snapshot is the text that was read from a source, named by its content. It
// is safe for concurrent use; what searching it needs is made once.
type Snapshot struct {
	Hash string // "sha256-" and the hash of Text in hex
	Text string

	normal    func() *normal
	lines     func() []int
	sentences func() *sentenceIndex
	shown     func() string // what a reader of the page sees, in small letters
}

// NewSnapshot names a text.
func NewSnapshot(text string) *Snapshot {
	s := &Snapshot{Hash: HashOf(text), Text: text}
	s.normal = sync.OnceValue(func() *normal { return normalise(text) })
	s.lines = sync.OnceValue(func() []int { return lineStarts(text) })
	s.sentences = sync.OnceValue(func() *sentenceIndex { return indexSentences(text) })
	s.shown = sync.OnceValue(func() string { return strings.ToLower(visible(text)) })
	return s
}

// HashOf returns the name of a text: that of the blob that holds it.
func HashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + hex.EncodeToString(sum[:])
}

func lineStarts(text string) []int {
	starts := []int{0}
	for i := range len(text) {
		if text[i] == '\n' {
			starts = append(starts, i+1)
		}
	}
	return starts
}

// Line returns the number of the line, from 1, on which a byte stands.
func (s *Snapshot) Line(offset int) int {
	starts := s.lines()
	return sort.SearchInts(starts, offset+1)
}

// Snapshots are the snapshots of a run by hash.
type Snapshots map[string]*Snapshot

// Add puts a text in and returns its snapshot.
func (m Snapshots) Add(text string) *Snapshot {
	hash := HashOf(text)
	if s, ok := m[hash]; ok {
		return s
	}
	s := NewSnapshot(text)
	m[hash] = s
	return s
}

// Passage is a span of bytes in the snapshot of a source.
type Passage struct {
	Source      int      `json:"source"`
	Start       int      `json:"start"`
	End         int      `json:"end"`
	HeadingPath []string `json:"heading_path,omitempty"`
	Page        int      `json:"page,omitempty"` // from 1; 0 where there are no pages
	Line        int      `json:"line,omitempty"` // from 1
	// MarkStart and MarkEnd are the part of the span that says most, both 0 where
	// none does.
	MarkStart int `json:"mark_start,omitempty"`
	MarkEnd   int `json:"mark_end,omitempty"`
}

// PassageAt returns the passage of a span, with its line.
func (s *Snapshot) PassageAt(source int, span lang.Span) Passage {
	return Passage{Source: source, Start: span.Start, End: span.End, Line: s.Line(span.Start)}
}

// SamePassages reports whether two lists are of the same spans of the same
// sources, and what says most in them is the same.
func SamePassages(a, b []Passage) bool {
	return slices.EqualFunc(a, b, func(p, q Passage) bool {
		return p.Source == q.Source && p.Start == q.Start && p.End == q.End && p.MarkStart == q.MarkStart && p.MarkEnd == q.MarkEnd
	})
}

// Quote returns the passage's text. A span that doesn't lie in the snapshot or
// cuts a character is an error.
func (p Passage) Quote(s *Snapshot) (string, error) {
	if p.Start < 0 || p.End > len(s.Text) || p.Start >= p.End || !boundary(s.Text, p.Start) || !boundary(s.Text, p.End) {
		return "", fmt.Errorf("cite: passage %d..%d of source %d is no span of its snapshot of %d bytes", p.Start, p.End, p.Source, len(s.Text))
	}
	return s.Text[p.Start:p.End], nil
}

func boundary(text string, i int) bool { return i == len(text) || utf8.RuneStart(text[i]) }
