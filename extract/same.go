package extract

import (
	"maps"

	"dossier/extract/internal/evidence"
	"dossier/lang"
)

// Same reports whether two questions ask one thing in other words of grammar:
// they want the same kind of answer, and are about the same words. "When did it
// open?" is "In what year was it opened?", and "Who opened it?" is not.
func Same(a, b string) bool {
	words, _, ok := both(a, b)
	return ok && words
}

// Alike reports whether two questions want the same kind of answer of the same
// names and numbers, whatever other words they have for it.
func Alike(a, b string) bool {
	_, keys, ok := both(a, b)
	return ok && keys
}

// both compares the words, and the names and numbers, of questions that want the
// same kind of answer.
func both(a, b string) (words, keys, ok bool) {
	code := lang.Detect(a)
	p, q := evidence.Read(a, code, nil), evidence.Read(b, code, nil)
	pw, pk := p.Subject()
	qw, qk := q.Subject()
	return maps.Equal(pw, qw), maps.Equal(pk, qk), p.Want == q.Want && len(pw) > 0
}
