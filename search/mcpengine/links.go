package mcpengine

import (
	"regexp"
	"strings"
	"unicode"

	"dossier/search"
)

var (
	address  = regexp.MustCompile(`^https?://[^\s<>"]+$`)
	inText   = regexp.MustCompile(`https?://[^\s<>"'` + "`" + `|\\^{}]+`)
	markdown = regexp.MustCompile(`\[([^\[\]]*)\]\(\s*<?(https?://[^\s<>"]+?)>?(?:\s+"[^"]*")?\s*\)`)
	// listed begins an item of a list, heading a heading.
	listed  = regexp.MustCompile(`^\s{0,3}(?:[-*•+]|\[?\d{1,3}[.):\]])\s+`)
	heading = regexp.MustCompile(`^\s*#{1,6}\s+`)
	emptied = regexp.MustCompile(`[(\[<]\s*[)\]>]`)
	rule    = regexp.MustCompile(`^\s*(?:-{3,}|={3,}|\*{3,}|_{3,})\s*$`)
	// labelled is a line that says what it holds.
	labelled = regexp.MustCompile(`(?i)^[\s>*_-]*(title|headline|name|url|link|href|source|author|authors|by|date|published|published date|posted|snippet|summary|description|content|text|abstract|body)[*_]*\s*[:：][*_]*\s*(.*)$`)
)

// linked reads prose that lists results, in the forms in which tools write it:
// links of Markdown, lines with labels, an address under a title. The text is cut
// into pieces at empty lines, rules, headings and items of lists; a piece with an
// address is a hit, and pieces without one belong to the hit before them.
func linked(prose string) []search.Hit {
	var hits []search.Hit
	title := "" // of a heading that the piece after it may be of
	for _, piece := range pieces(prose) {
		h, found := hit(piece)
		switch {
		case found && h.Title == "":
			h.Title = title
			hits = append(hits, h)
			title = ""
		case found:
			hits = append(hits, h)
			title = ""
		case heading.MatchString(piece) || !strings.Contains(piece, "\n") && len(hits) == 0:
			title = plainLine(piece)
		case len(hits) > 0 && title == "":
			last := &hits[len(hits)-1]
			last.Text = strings.TrimSpace(last.Text + "\n\n" + piece)
		}
	}
	for i := range hits {
		if h := &hits[i]; h.Text != "" {
			h.Text = strings.TrimSpace(h.Snippet + "\n\n" + h.Text)
			h.Snippet = ""
		}
	}
	return hits
}

func pieces(prose string) []string {
	var out []string
	var piece []string
	end := func() {
		if joined := strings.TrimSpace(strings.Join(piece, "\n")); joined != "" {
			out = append(out, joined)
		}
		piece = nil
	}
	for line := range strings.Lines(strings.ReplaceAll(prose, "\r\n", "\n")) {
		line = strings.TrimRight(line, "\n")
		switch {
		case strings.TrimSpace(line) == "", rule.MatchString(line):
			end()
			continue
		case listed.MatchString(line) && !labelled.MatchString(line), heading.MatchString(line):
			end()
		}
		piece = append(piece, line)
	}
	end()
	return out
}

// hit reads a piece. Its first address is the hit's; a title is a label's, that of
// the link, or the line that stands first.
func hit(piece string) (search.Hit, bool) {
	var h search.Hit
	var rest []string
	for line := range strings.Lines(piece) {
		line = strings.TrimSpace(line)
		label, value := "", line
		if m := labelled.FindStringSubmatch(line); m != nil {
			label, value = strings.ToLower(m[1]), m[2]
		}
		url, words := split(value)
		if url != "" && h.URL == "" {
			h.URL = url
			if label != "title" && label != "headline" && label != "name" {
				if words = plainLine(words); words != "" && h.Title == "" && len(rest) == 0 {
					h.Title = words
				} else if words != "" {
					rest = append(rest, words)
				}
				continue
			}
			value = words
		}
		switch label {
		case "title", "headline", "name":
			h.Title = plainLine(value)
		case "author", "authors", "by":
			h.Author = plainLine(value)
		case "date", "published", "published date", "posted":
			h.Date = search.Day(plainLine(value))
		case "url", "link", "href", "source":
		case "":
			rest = append(rest, plainLine(line))
		default:
			rest = append(rest, value)
		}
	}
	if h.Title == "" && len(rest) > 0 {
		h.Title, rest = rest[0], rest[1:]
	}
	h.Snippet = strings.TrimSpace(strings.Join(rest, "\n"))
	return h, h.URL != ""
}

// split takes the first address out of a line and returns it and what is left:
// the words of a link of Markdown, or those before and after the address.
func split(line string) (url, words string) {
	if m := markdown.FindStringSubmatchIndex(line); m != nil {
		return line[m[4]:m[5]], line[:m[0]] + line[m[2]:m[3]] + line[m[1]:]
	}
	at := inText.FindStringIndex(line)
	if at == nil {
		return "", line
	}
	url = line[at[0]:at[1]]
	// What closes a sentence or a bracket around an address is none of it.
	for {
		cut := strings.TrimRight(url, ".,;:!?…。，；")
		if strings.HasSuffix(cut, ")") && strings.Count(cut, "(") < strings.Count(cut, ")") || strings.HasSuffix(cut, "]") && !strings.Contains(cut, "[") {
			cut = cut[:len(cut)-1]
		}
		if cut == url {
			break
		}
		url = cut
	}
	return url, strings.TrimSpace(line[:at[0]]) + " " + strings.TrimSpace(line[at[0]+len(url):])
}

// plainLine takes the marks of lists, headings and emphasis off a line, and what
// is left around an address that was taken out.
func plainLine(line string) string {
	line = heading.ReplaceAllString(listed.ReplaceAllString(line, ""), "")
	line = strings.NewReplacer("**", "", "__", "").Replace(line)
	line = strings.TrimSpace(emptied.ReplaceAllString(line, ""))
	if !strings.ContainsFunc(line, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
		return ""
	}
	return strings.TrimSpace(strings.TrimRight(strings.TrimLeft(line, "-–—:|> "), "-–—:|(<[ "))
}
