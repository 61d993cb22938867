package dictfile

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
)

// ReadTSV calls entry with each line of a table: a term, a tab and its
// translations, with commas between those of one sense and semicolons between
// senses. Further columns and lines that begin with # are left out.
func ReadTSV(r io.Reader, entry func(Entry)) error {
	lines := bufio.NewScanner(io.LimitReader(r, MaxFile))
	lines.Buffer(nil, maxLine)
	good, n := 0, 0
	for lines.Scan() {
		n++
		line := strings.TrimPrefix(lines.Text(), "\ufeff")
		if strings.HasPrefix(line, "#") {
			continue
		}
		head, rest, ok := strings.Cut(line, "\t")
		if !ok {
			continue
		}
		meanings, _, _ := strings.Cut(rest, "\t")
		e := Entry{Head: Tidy(head)}
		for _, sense := range split(meanings, ";") {
			var terms []string
			for _, piece := range split(sense, ",") {
				if term := Tidy(piece); term != "" {
					terms = append(terms, term)
				}
			}
			if len(terms) > 0 && len(e.Senses) < maxMean {
				e.Senses = append(e.Senses, terms)
			}
		}
		if e.Head != "" && len(e.Senses) > 0 {
			good++
			entry(e)
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("line %d: %w", n+1, err)
	}
	if good == 0 {
		return errors.New("not a table: no line is \"term<tab>translation\"")
	}
	return nil
}
