package dictfile

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"regexp"
	"strings"
	"unicode/utf16"
)

var (
	// Marks and labels of the markup that are dropped with what they enclose.
	dslAside = regexp.MustCompile(`\[c gray\].*?\[/c\]|\[p\].*?\[/p\]|\[i\].*?\[/i\]|\[com\].*?\[/com\]|\[ex\].*?\[/ex\]|\[t\].*?\[/t\]|\[s\].*?\[/s\]|\\\[.*?\\\]|/[^/]{1,60}/`)
	dslTag   = regexp.MustCompile(`\[/?[a-z*'!][^\]]*\]`)
	dslSee   = regexp.MustCompile(`(?:SEE:|\[ref\])\s*<*([^<>\[]+)`)
)

// ReadDSL calls entry with each card of a dictionary in ABBYY Lingvo's format
// (.dsl, UTF-16 or UTF-8): headwords at the margin, the card below indented.
// Only translations in lines marked [m1] … are taken, or in all lines if none
// is marked.
func ReadDSL(r io.Reader, entry func(Entry)) error {
	text, err := readText(r)
	if err != nil {
		return err
	}
	lines := bufio.NewScanner(strings.NewReader(text))
	lines.Buffer(nil, maxLine)
	var heads []string
	var card Entry
	inCard, some := false, false
	flush := func() {
		for _, h := range heads {
			if card.Head = Tidy(h); card.Head != "" && (len(card.Senses) > 0 || len(card.Like) > 0) {
				some = true
				entry(card)
			}
		}
		heads, card, inCard = nil, Entry{}, false
	}
	for lines.Scan() {
		line := strings.TrimPrefix(lines.Text(), "\ufeff")
		switch {
		case strings.HasPrefix(line, "#") || strings.TrimSpace(line) == "":
		case line[0] != ' ' && line[0] != '\t':
			if inCard {
				flush()
			}
			heads = append(heads, strings.NewReplacer("{", "", "}", "", `\`, "").Replace(line))
		default:
			inCard = true
			if see := dslSee.FindStringSubmatch(line); see != nil {
				if like := Tidy(see[1]); like != "" {
					card.Like = append(card.Like, like)
				}
			} else if len(card.Senses) < maxMean && strings.Contains(line, "[m") {
				if sense := dslSense(line); len(sense) > 0 {
					card.Senses = append(card.Senses, sense)
				}
			}
		}
	}
	if err := lines.Err(); err != nil {
		return err
	}
	flush()
	if !some {
		return fmt.Errorf("not a DSL dictionary: there are no headwords with [m1] lines")
	}
	return nil
}

func dslSense(line string) []string {
	line = dslAside.ReplaceAllString(line, " ")
	line = dslTag.ReplaceAllString(line, "")
	var out []string
	for _, piece := range split(line, ",;") {
		if text := Tidy(piece); text != "" && len(strings.Fields(text)) <= 5 {
			out = append(out, text)
		}
	}
	return out
}

// readText reads UTF-8, or UTF-16 as a byte order mark or a first character
// with a zero byte shows it.
func readText(r io.Reader) (string, error) {
	data, err := io.ReadAll(io.LimitReader(r, MaxFile+1))
	if err != nil {
		return "", err
	}
	if len(data) > MaxFile {
		return "", fmt.Errorf("larger than %d MiB", MaxFile>>20)
	}
	var order binary.ByteOrder
	switch {
	case len(data) < 2:
		return string(data), nil
	case data[0] == 0xff && data[1] == 0xfe || data[0] != 0 && data[1] == 0:
		order = binary.LittleEndian
	case data[0] == 0xfe && data[1] == 0xff || data[0] == 0 && data[1] != 0:
		order = binary.BigEndian
	default:
		return string(data), nil
	}
	units := make([]uint16, len(data)/2)
	for i := range units {
		units[i] = order.Uint16(data[2*i:])
	}
	return string(utf16.Decode(units)), nil
}
