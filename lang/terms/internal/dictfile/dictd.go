package dictfile

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"unicode"
)

var (
	dictdLabel = regexp.MustCompile(`(?:^|[\s(])_[^\s;,]+|/[^/\n]{1,80}/`)
	// Numbers and letters that begin a sense: "1.", "2)", "а)".
	dictdSense = regexp.MustCompile(`(?:^|\s)(?:\d{1,2}[.)>]|[а-яa-z]\)|[IVX]+\b)`)
	// Words that dictionaries say about words.
	dictdAbout = map[string]bool{
		"n": true, "v": true, "adj": true, "adv": true, "vt": true, "vi": true, "pl": true, "sg": true, "prep": true, "conj": true,
		"pron": true, "interj": true, "num": true, "noun": true, "verb": true, "adjective": true, "adverb": true, "pronoun": true,
		"m": true, "f": true, "neut": true, "masc": true, "fem": true, "impf": true, "pf": true, "see": true, "synonym": true,
		"synonyms": true, "proper noun": true, "phrase": true, "preposition": true, "conjunction": true, "interjection": true,
	}
)

// ReadDictd calls entry with the entries of a dictionary of the dictd server:
// an index of headwords and the text that it points into. It returns how the
// dictionary calls itself. Reading stops when entry returns false.
func ReadDictd(index, text io.Reader, entry func(Entry) bool) (title string, err error) {
	return readDictd(index, text, MaxFile, entry)
}

func readDictd(index, text io.Reader, limit int64, entry func(Entry) bool) (title string, err error) {
	body, err := io.ReadAll(io.LimitReader(text, limit))
	if err != nil && len(body) == 0 {
		return "", fmt.Errorf("the text: %w", err)
	}
	lines := bufio.NewScanner(io.LimitReader(index, MaxFile))
	lines.Buffer(nil, maxLine)
	good, bad := 0, 0
	for lines.Scan() {
		head, rest, _ := strings.Cut(lines.Text(), "\t")
		from, size, ok := strings.Cut(rest, "\t")
		size, _, _ = strings.Cut(size, "\t") // a fourth column has the headword as it is written
		start, okStart := dictdNumber(from)
		length, okLength := dictdNumber(size)
		if !ok || !okStart || !okLength {
			if bad++; bad > 20 && bad > good {
				return "", errors.New("not an index of dictd: its lines are \"headword<tab>offset<tab>length\"")
			}
			continue
		}
		good++
		if start > int64(len(body)) || length > int64(len(body))-start {
			continue // beyond what was read
		}
		definition := string(body[start : start+length])
		if strings.HasPrefix(head, "00-database") || strings.HasPrefix(head, "00database") {
			if strings.HasSuffix(head, "short") {
				title = dictdTitle(definition)
			}
			continue
		}
		if head = Tidy(head); head == "" {
			continue
		}
		if e := (Entry{Head: head, Senses: dictdSenses(head, definition)}); len(e.Senses) > 0 && !entry(e) {
			return title, nil
		}
	}
	if err := lines.Err(); err != nil {
		return "", fmt.Errorf("the index: %w", err)
	}
	if good == 0 {
		return "", errors.New("not an index of dictd: its lines are \"headword<tab>offset<tab>length\"")
	}
	return title, nil
}

// dictdNumber reads a number as the index writes it: in base 64, the digits
// of which are A–Z, a–z, 0–9, + and /.
func dictdNumber(s string) (int64, bool) {
	const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	n := int64(0)
	for i := range len(s) {
		d := strings.IndexByte(digits, s[i])
		if d < 0 || n > 1<<40 {
			return 0, false
		}
		n = n<<6 | int64(d)
	}
	return n, s != ""
}

func dictdTitle(definition string) string {
	for line := range strings.Lines(definition) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "00") {
			return Tidy(line)
		}
	}
	return ""
}

// dictdSenses takes the translations out of a definition, which is written for
// people: what is not in the script that the headword is not in is an example
// or a remark.
func dictdSenses(head, definition string) [][]string {
	var b strings.Builder
	for i, line := range strings.Split(definition, "\n") {
		trimmed := strings.TrimSpace(line)
		if i == 0 && strings.HasPrefix(strings.ToLower(Tidy(trimmed)), strings.ToLower(head)) {
			trimmed = trimmed[min(len(head), len(trimmed)):]
		}
		if line != "" && line[0] != ' ' && line[0] != '\t' {
			b.WriteByte(';') // lines that are indented go on
		}
		b.WriteString(" " + trimmed)
	}
	text := outside(dictdLabel.ReplaceAllString(b.String(), " "))
	var out [][]string
	for _, sense := range dictdSense.Split(text, maxMean) {
		var terms []string
		for _, piece := range strings.FieldsFunc(sense, func(r rune) bool { return r == ';' || r == ',' || r == ':' }) {
			term := Tidy(piece)
			if term == "" || dictdAbout[term] || len(strings.Fields(term)) > 4 || strings.HasSuffix(term, "-л") || script(term) == script(head) {
				continue
			}
			terms = append(terms, term)
		}
		if len(terms) > 0 {
			out = append(out, terms)
		}
	}
	return out
}

// script returns the script that all letters of a term have, or nil.
func script(term string) *unicode.RangeTable {
	for _, s := range []*unicode.RangeTable{unicode.Latin, unicode.Cyrillic, unicode.Han} {
		all, some := true, false
		for _, r := range term {
			if unicode.IsLetter(r) {
				all, some = all && unicode.Is(s, r), true
			}
		}
		if all && some {
			return s
		}
	}
	return nil
}
