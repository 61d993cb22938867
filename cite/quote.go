package cite

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"dossier/lang"
)

const (
	// maxGap is how far apart, in bytes, the parts of a quotation with an
	// omission may stand.
	maxGap = 2000
	// maxTries bounds the places where such a quotation is tried to begin.
	maxTries = 64
	// longWord is how many letters a word has at most. What has more is a key, an
	// address or data: it is cut anywhere, and its pieces mean nothing else.
	longWord = 64
	// minPart is the number of letters that a part next to an omission needs:
	// shorter ones stand everywhere.
	minPart = 8
)

// Find looks a quotation up in the snapshot and returns the spans of its
// parts: one, or several when the quotation leaves something out with an
// ellipsis, in order and near each other. It compares letter by letter after
// normalising Unicode, quotation marks, dashes and white space, and a
// quotation begins and ends where words do, or within what is too long to be a
// word. Punctuation that closes the
// quotation may be the quoting sentence's own.
func (s *Snapshot) Find(quote string) ([]lang.Span, bool) {
	n := s.normal()
	q := trimQuote(normalise(quote).text)
	if !strings.ContainsFunc(q, wordRune) {
		return nil, false
	}
	for _, form := range []string{q, strings.TrimRightFunc(q, closing)} {
		if at := n.index(form, 0); at >= 0 {
			start, end := n.span(at, at+len(form))
			return []lang.Span{{Start: start, End: end}}, true
		}
	}
	parts := omissions(q)
	if len(parts) < 2 {
		return nil, false
	}
	for _, p := range parts {
		if letters(p) < minPart {
			return nil, false
		}
	}
	from := 0
	for range maxTries {
		first := n.index(parts[0], from)
		if first < 0 {
			return nil, false
		}
		if spans, ok := n.follow(parts, first); ok {
			return spans, true
		}
		from = first + 1
	}
	return nil, false
}

// follow finds the parts one after the other, the first at the place given.
func (n *normal) follow(parts []string, at int) ([]lang.Span, bool) {
	var spans []lang.Span
	for i, p := range parts {
		if i > 0 {
			before := at
			if at = n.index(p, before); at < 0 || at-before > maxGap {
				return nil, false
			}
		}
		start, end := n.span(at, at+len(p))
		spans = append(spans, lang.Span{Start: start, End: end})
		at += len(p)
	}
	return spans, true
}

// index returns where q stands at or after from, begun and ended where words
// are, or -1.
func (n *normal) index(q string, from int) int {
	if q == "" {
		return -1
	}
	first, _ := utf8.DecodeRuneInString(q)
	last, _ := utf8.DecodeLastRuneInString(q)
	for from <= len(n.text) {
		i := strings.Index(n.text[from:], q)
		if i < 0 {
			return -1
		}
		i += from
		if inWord(n.text, i, first) {
			word := wordAt(n.text, i)
			if utf8.RuneCountInString(word.In(n.text)) <= longWord {
				from = word.End // nothing begins inside this word
				continue
			}
		}
		end := i + len(q)
		after, _ := utf8.DecodeRuneInString(n.text[end:])
		if !(spaced(last) && end < len(n.text) && spaced(after)) || utf8.RuneCountInString(wordAt(n.text, end).In(n.text)) > longWord {
			return i
		}
		_, size := utf8.DecodeRuneInString(n.text[i:])
		from = i + size
	}
	return -1
}

// inWord reports whether the character first at i goes on a word.
func inWord(text string, i int, first rune) bool {
	if i == 0 || !spaced(first) {
		return false
	}
	before, _ := utf8.DecodeLastRuneInString(text[:i])
	return spaced(before)
}

// wordAt returns the word around a place within it.
func wordAt(text string, at int) lang.Span {
	w := lang.Span{Start: at, End: at}
	for w.Start > 0 {
		r, size := utf8.DecodeLastRuneInString(text[:w.Start])
		if !spaced(r) {
			break
		}
		w.Start -= size
	}
	for w.End < len(text) {
		r, size := utf8.DecodeRuneInString(text[w.End:])
		if !spaced(r) {
			break
		}
		w.End += size
	}
	return w
}

// spaced reports characters of words that have spaces between them.
func spaced(r rune) bool { return wordRune(r) && !ideograph(r) }

func wordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) }

func letters(text string) int {
	n := 0
	for _, r := range text {
		if ideograph(r) {
			n += 2
		} else if wordRune(r) {
			n++
		}
	}
	return n
}

func closing(r rune) bool { return strings.ContainsRune(".,;:!?。、…", r) }

// trimQuote takes white space and quotation marks off the ends.
func trimQuote(q string) string { return strings.Trim(q, " \"") }

// omissions splits a normalised quotation where it leaves something out: at
// "...", "[...]" and the like.
func omissions(q string) []string {
	var parts []string
	for part := range strings.SplitSeq(q, "...") {
		part = strings.TrimLeft(part, ".)]>")
		part = strings.TrimRight(part, ".([<")
		if part = strings.TrimSpace(part); part != "" {
			parts = append(parts, part)
		}
	}
	return parts
}
