package cli

import "strings"

// Bold on and off, for terminals.
const (
	boldOn  = "\x1b[1m"
	boldOff = "\x1b[22m"
)

// bold returns Markdown as a terminal shows it: what is strong in a line is
// bold, backslashes that take the meaning of a sign away are gone, and all else
// is as it is written. The text is clean.
func bold(markdown string) string {
	if !strings.Contains(markdown, "**") && !strings.Contains(markdown, `\`) {
		return markdown
	}
	var b strings.Builder
	fence := ""
	for line := range strings.Lines(markdown) {
		bare := strings.TrimLeft(line, " >")
		for _, sign := range []string{"```", "~~~"} {
			if !strings.HasPrefix(bare, sign) {
				continue
			}
			switch fence {
			case "":
				fence = sign
			case sign:
				fence = ""
			}
		}
		if fence != "" {
			b.WriteString(line)
			continue
		}
		boldLine(&b, line)
	}
	return b.String()
}

func boldLine(b *strings.Builder, line string) {
	for {
		open := strongSign(line, 0, false)
		if open < 0 {
			break
		}
		end := strongSign(line, open+2, true)
		if end < 0 {
			break
		}
		b.WriteString(unescaped(line[:open]) + boldOn + unescaped(line[open+2:end]) + boldOff)
		line = line[end+2:]
	}
	b.WriteString(unescaped(line))
}

// unescaped takes out the backslashes that stand before signs, outside of code.
func unescaped(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '`':
			n := len(text[i:]) - len(strings.TrimLeft(text[i:], "`"))
			end := max(pastCode(text, i+n, n), i+n)
			b.WriteString(text[i:end])
			i = end - 1
			continue
		case '\\':
			if i+1 < len(text) && strings.IndexByte("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", text[i+1]) >= 0 {
				i++
			}
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// strongSign returns where the next sign of strong text is that opens or closes
// it, or -1. Signs in code are none.
func strongSign(line string, from int, closes bool) int {
	space := func(i int) bool { return i < 0 || i >= len(line) || strings.IndexByte(" \t\n", line[i]) >= 0 }
	for i := from; i < len(line); i++ {
		switch line[i] {
		case '\\':
			i++
		case '`':
			n := len(line[i:]) - len(strings.TrimLeft(line[i:], "`"))
			i = pastCode(line, i+n, n) - 1
		case '*':
			n := len(line[i:]) - len(strings.TrimLeft(line[i:], "*"))
			if n == 2 && (closes && i > from && !space(i-1) || !closes && !space(i+2)) {
				return i
			}
			i += n - 1
		}
	}
	return -1
}

// pastCode returns the end of code that n backticks opened before from: from
// itself where nothing closes it.
func pastCode(line string, from, n int) int {
	for i := from; i < len(line); {
		if line[i] != '`' {
			i++
			continue
		}
		m := len(line[i:]) - len(strings.TrimLeft(line[i:], "`"))
		if i += m; m == n {
			return i
		}
	}
	return from
}
