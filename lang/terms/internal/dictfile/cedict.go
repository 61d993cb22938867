package dictfile

import (
	"bufio"
	"fmt"
	"io"
	"regexp"
	"strings"
)

// Character is an entry of CEDICT with both ways to write its headword.
type Character struct {
	Entry              // Head is simplified
	Traditional string // as many characters as Head
	Pinyin      string // syllables with the numbers of their tones
}

var (
	cedictLine = regexp.MustCompile(`^(\S+) (\S+) \[([^\]]*)\]\s*/(.+)/\s*$`)
	// As in "variant of 脫離|脱离[tuo1 li2]".
	cedictLike = regexp.MustCompile(`(?:variant of|see|see also|same as|abbr\. (?:for|of|to)|also written|equivalent to|erhua variant of|short for) (?:[^\s|\[\],]+\|)?([^\s|\[\],]+)\[`)
	// What tells about a word instead of translating it.
	cedictRemark = regexp.MustCompile(`^(?:CL:|see |see also |(?:old |archaic |Japanese |erhua |ancient |dialectal )?variant of |also written|also pr\.|same as |abbr\. |equivalent to |short for |used in |\(?Taiwan pr\.|pr\. \[|component |bound form|Kangxi radical|radical (?:number|no\.)|name of |title of |classifier for |particle|suffix |prefix )`)
)

// ReadCEDICT calls entry with each line of a file in the format of CC-CEDICT.
// It fails if too many lines are of another format.
func ReadCEDICT(r io.Reader, entry func(Character)) error {
	lines := bufio.NewScanner(io.LimitReader(r, MaxFile))
	lines.Buffer(nil, maxLine)
	good, bad := 0, 0
	for lines.Scan() {
		line := strings.TrimSpace(strings.TrimPrefix(lines.Text(), "\ufeff"))
		if line == "" || line[0] == '#' {
			continue
		}
		m := cedictLine.FindStringSubmatch(line)
		if m == nil || len(m[1]) > maxText || len(m[2]) > maxText {
			if bad++; bad > 20 && bad > good {
				return fmt.Errorf("not CEDICT: line %d is %.40q, not \"繁體 简体 [pin1 yin1] /meaning/\"", good+bad, line)
			}
			continue
		}
		good++
		c := Character{Entry: Entry{Head: m[2]}, Traditional: m[1], Pinyin: m[3]}
		for meaning := range strings.SplitSeq(m[4], "/") {
			if len(c.Senses) == maxMean {
				break
			}
			for _, like := range cedictLike.FindAllStringSubmatch(meaning, 4) {
				c.Like = append(c.Like, like[1])
			}
			if sense := cedictSense(meaning); len(sense) > 0 {
				c.Senses = append(c.Senses, sense)
			}
		}
		entry(c)
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("line %d: %w", good+bad+1, err)
	}
	if good == 0 {
		return fmt.Errorf("not CEDICT: there is no line \"繁體 简体 [pin1 yin1] /meaning/\"")
	}
	return nil
}

// cedictSense takes the translations out of a meaning.
func cedictSense(meaning string) []string {
	var out []string
	for _, part := range split(meaning, ";") {
		part = strings.TrimSpace(part)
		if cedictRemark.MatchString(strings.TrimSpace(outside(part))) || cedictRemark.MatchString(part) {
			continue
		}
		for i, piece := range split(part, ",") {
			piece = strings.TrimSpace(outside(piece))
			if i > 0 && (strings.HasPrefix(piece, "and ") || strings.HasPrefix(piece, "or ")) {
				break // it is a sentence with commas
			}
			if rest, ok := strings.CutPrefix(piece, "surname "); ok {
				piece = rest
			}
			if text := Tidy(strings.ReplaceAll(piece, "e.g.", "")); text != "" && len(strings.Fields(text)) <= 5 {
				out = append(out, text)
			}
			if i == 0 && len(piece) > 0 && piece[0] >= 'A' && piece[0] <= 'Z' {
				break // a name, and then what it is the name of
			}
		}
	}
	return out
}
