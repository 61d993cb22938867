package report

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"dossier/lang"
)

// markdown returns a line that begins a line of Markdown.
func (l *shown) markdown() string {
	if !l.verbatim {
		return stressed(l.text, l.stressable(), true)
	}
	out := codeSpan(l.text)
	if l.mark.Start < l.mark.End && !strings.Contains(l.text, "@") { // some readers see a mail address before they see the code
		out = "**" + out + "**"
	}
	return out
}

// codeSpan returns text as code within a line.
func codeSpan(text string) string {
	longest := 0
	for i := 0; i < len(text); i++ {
		n := run(text[i:], '`')
		longest = max(longest, n)
		i += n
	}
	sign, pad := strings.Repeat("`", longest+1), ""
	if strings.HasPrefix(text, "`") || strings.HasSuffix(text, "`") {
		pad = " "
	}
	return sign + pad + text + pad + sign
}

// stressable returns the mark as far as signs of Markdown can be set around it:
// they count only where no letter is beside them on one side and punctuation on
// the other, and they don't work within code. In scripts without spaces the
// full stop is left out for that.
func (l *shown) stressable() lang.Span {
	m := l.whole()
	codes := l.codes()
	for m.Start < m.End {
		r, size := utf8.DecodeRuneInString(l.text[m.Start:])
		before, _ := utf8.DecodeLastRuneInString(l.text[:m.Start])
		at := lang.Span{Start: m.Start, End: m.Start + size}
		for _, c := range codes {
			if c.Start == m.Start {
				at = c
			}
		}
		if l.stresses(at, r, before, m.Start == 0) {
			break
		}
		m.Start = at.End
	}
	for m.Start < m.End {
		r, size := utf8.DecodeLastRuneInString(l.text[:m.End])
		after, _ := utf8.DecodeRuneInString(l.text[m.End:])
		at := lang.Span{Start: m.End - size, End: m.End}
		for _, c := range codes {
			if c.End == m.End {
				at = c
			}
		}
		if l.stresses(at, r, after, m.End == len(l.text)) {
			break
		}
		m.End = at.Start
	}
	if m.Start >= m.End || !telling(m.In(l.text)) || l.cutsAddress(m.Start) || l.cutsAddress(m.End) {
		return lang.Span{}
	}
	return m
}

// cutsAddress reports whether a place is within what may be an address of mail,
// which takes signs of Markdown for its own.
func (l *shown) cutsAddress(at int) bool {
	start := strings.LastIndexFunc(l.text[:at], unicode.IsSpace) + 1
	end := len(l.text)
	if i := strings.IndexFunc(l.text[at:], unicode.IsSpace); i >= 0 {
		end = at + i
	}
	return start < at && at < end && strings.Contains(l.text[start:end], "@")
}

// stresses reports whether the mark can end at a character or a piece of code,
// where another character, or the end of the line, is outside.
func (l *shown) stresses(at lang.Span, inside, outside rune, edge bool) bool {
	if strings.Contains(at.In(l.text), "@") || unicode.IsSpace(inside) {
		return false
	}
	return wordly(inside) || edge || unicode.IsSpace(outside) || unicode.IsPunct(outside)
}

// codes returns the pieces of code in the line.
func (l *shown) codes() []lang.Span {
	var out []lang.Span
	at := 0
	for _, p := range pieces(l.text) {
		if p.kind == code {
			out = append(out, lang.Span{Start: at, End: at + len(p.raw)})
		}
		at += len(p.raw)
	}
	return out
}

// whole returns the mark with the whole of the code that it would cut.
func (l *shown) whole() lang.Span {
	m := l.mark
	if m.Start == m.End {
		return m
	}
	for _, c := range l.codes() {
		if c.Start < m.End && m.Start < c.End {
			m.Start, m.End = min(m.Start, c.Start), max(m.End, c.End)
		}
	}
	return m
}

// html writes the line as HTML.
func (l *shown) html(out *markup) {
	write := out.foreign
	if l.verbatim {
		write = func(text string) { out.element("code", text) }
	}
	m := l.whole()
	if m.Start == m.End {
		write(l.text)
		return
	}
	if m.Start > 0 {
		write(l.text[:m.Start])
	}
	out.WriteString("<mark>")
	write(m.In(l.text))
	out.WriteString("</mark>")
	if m.End < len(l.text) {
		write(l.text[m.End:])
	}
}
