package jsonrepair

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

// isWord says whether c can be part of a name; bytes above ASCII count.
func isWord(c byte) bool {
	return isDigit(c) || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == '$' || c >= utf8.RuneSelf
}

// literals are the words that stand for a value, in lower case. JSON has no
// way to say that something is not a number.
var literals = map[string]string{
	"true": "true", "false": "false", "null": "null",
	"none": "null", "undefined": "null", "nan": "null", "infinity": "null",
}

// wordEnd is the position behind the name at i.
func (p *parser) wordEnd(i int) int {
	for isWord(p.at(i)) {
		i++
	}
	return i
}

func (p *parser) literal(word string) (string, bool) {
	if len(word) > len("undefined") {
		return "", false
	}
	if !p.on(Literals) {
		return word, word == "true" || word == "false" || word == "null"
	}
	v, ok := literals[strings.ToLower(word)]
	return v, ok
}

func (p *parser) literalAt(i int) bool {
	_, ok := p.literal(p.s[i:p.wordEnd(i)])
	return ok
}

// regex reads /pattern/ as a string.
func (p *parser) regex(where position) *node {
	for j := p.i + 1; j < len(p.s) && p.s[j] != '\n'; j++ {
		if p.s[j] == '\\' {
			j++
		} else if p.s[j] == '/' && p.endsPattern(j+1) {
			n := quoted(escape(p.s[p.i : j+1]))
			p.i = j + 1
			return n
		}
	}
	return p.word(where)
}

// endsPattern says whether a pattern that ends before i stands alone.
func (p *parser) endsPattern(i int) bool {
	next := p.skip(i)
	return next >= len(p.s) || strings.IndexByte(",;]})", p.s[next]) >= 0
}

// number reads a number. What only begins like one is a word.
func (p *parser) number(where position) *node {
	start := p.i
	end := start
	for end < len(p.s) && strings.IndexByte("+-.eE_", p.s[end]) >= 0 || isDigit(p.at(end)) {
		end++
	}
	for strings.HasSuffix(p.s[start:end], "...") {
		end -= 3 // and so on
	}
	token := p.s[start:end]
	if token == "-" && isSpaceByte(p.at(end)) {
		p.i = end // a bullet
		return nil
	}
	c, _ := p.sign(end)
	if isWord(c) || strings.IndexByte("/:%", c) >= 0 && !p.comment(end) && c != 0 {
		return p.word(where)
	}
	fixed, ok := fixNumber(token)
	if !ok || fixed != token && !p.on(Numbers) {
		return p.word(where)
	}
	if where == inMember || where == inTop {
		if grouped := p.grouped(end); p.on(Amounts) && where == inMember && grouped > end {
			p.i = grouped
			return quoted(p.s[start:grouped])
		}
		next := p.skip(end)
		if c, _ := p.sign(next); p.on(Amounts) && isWord(c) && !isDigit(c) && strings.IndexByte(p.s[end:next], '\n') < 0 && !p.bareKeyAt(next) {
			return p.word(where) // a number with its unit
		}
	}
	p.i = end
	if n := p.quoteAt(end); n > 0 && p.on(LostQuotes) {
		if after := p.skip(end + n); after >= len(p.s) || strings.IndexByte(",]}", p.s[after]) >= 0 {
			p.i = end + n // its opening quote was lost
		}
	}
	return raw(fixed)
}

func (p *parser) comment(i int) bool {
	return p.at(i) == '/' && (p.at(i+1) == '/' || p.at(i+1) == '*')
}

// grouped returns the end of the thousands groups at i, if what follows them
// shows that they are no key.
func (p *parser) grouped(i int) int {
	end := i
	for p.at(end) == ',' && isDigit(p.at(end+1)) && isDigit(p.at(end+2)) && isDigit(p.at(end+3)) && !isDigit(p.at(end+4)) {
		end += 4
	}
	if end > i && (isWord(p.at(end)) || p.at(p.skip(end)) == ':') {
		return i
	}
	return end
}

// fixNumber completes a number that was cut or is spelt as JSON does not
// allow. Leading zeros make an identifier, not a number.
func fixNumber(s string) (string, bool) {
	s = strings.TrimPrefix(s, "+")
	digits, negative := strings.CutPrefix(s, "-")
	if strings.Contains(digits, "_") {
		if strings.Trim(digits, "0123456789_") != "" || digits[0] == '_' || digits[len(digits)-1] == '_' {
			return "", false
		}
		digits = strings.ReplaceAll(digits, "_", "")
	}
	mantissa, exponent, hasExponent := strings.Cut(strings.ReplaceAll(digits, "E", "e"), "e")
	whole, fraction, hasFraction := strings.Cut(mantissa, ".")
	if !allDigits(whole) || !allDigits(fraction) || len(whole) > 1 && whole[0] == '0' {
		return "", false
	}
	if whole == "" {
		if hasExponent || hasFraction && fraction == "" || !hasFraction && !negative {
			return "", false
		}
		whole = "0"
	}
	out := whole
	if negative {
		out = "-" + out
	}
	if hasFraction {
		if fraction == "" {
			fraction = "0"
		}
		out += "." + fraction
	}
	if hasExponent {
		sign := ""
		if exponent != "" && (exponent[0] == '+' || exponent[0] == '-') {
			sign, exponent = exponent[:1], exponent[1:]
		}
		if !allDigits(exponent) {
			return "", false
		}
		if exponent == "" {
			exponent = "0"
		}
		out += "e" + sign + exponent
	}
	return out, true
}

func allDigits(s string) bool { return strings.Trim(s, "0123456789") == "" }

// maxCalls limits calls within calls: one that does not close is read again.
const maxCalls = 3

// call reads name(value), the wrapping of JSONP and of database shells, as
// the value.
func (p *parser) call(where position) *node {
	start := p.i
	if end := p.wordEnd(start); p.on(Calls) && end > start && p.calls < maxCalls && p.work >= 0 {
		paren := p.skip(end)
		if p.at(paren) != '(' || !p.push('(') {
			return nil
		}
		p.calls++
		defer func() { p.calls--; p.pop() }()
		p.i = paren + 1
		v := p.value(where)
		p.space()
		closed := p.at(p.i) == ')'
		if closed {
			p.i++
		}
		next := p.skip(p.i)
		if p.err == nil && v != nil && (closed || next >= len(p.s)) && (next >= len(p.s) || strings.IndexByte(",;]})", p.s[next]) >= 0) {
			if p.at(next) == ';' {
				p.i = next + 1
			}
			return v
		}
		if p.err == nil {
			p.work -= p.i - start
			p.i = start
		}
	}
	return nil
}

// word reads text without quotes: a literal, or a string up to what ends it.
func (p *parser) word(where position) *node {
	start := p.i
	end := p.wordEnd(start)
	if p.at(start) == '-' {
		end = p.wordEnd(start + 1)
	}
	if v, ok := p.literal(strings.TrimPrefix(p.s[start:end], "-")); ok && p.endsLiteral(end, where) {
		p.i = end
		return raw(v)
	}
	if v := cutLiteral(p.s[start:]); v != "" && where != inTop {
		p.i = len(p.s)
		return raw(v)
	}
	p.bareText(where)
	if p.i == start {
		return nil
	}
	s := strings.TrimRightFunc(p.s[start:p.i], unicode.IsSpace)
	if n := p.quoteAt(p.i); n > 0 && p.on(LostQuotes) {
		if after := p.skip(p.i + n); after >= len(p.s) || strings.IndexByte(",]}:", p.s[after]) >= 0 {
			p.i += n // its opening quote was lost
		}
	}
	return quoted(escape(s))
}

// cutLiteral returns the literal of JSON that s, the end of the text, begins.
func cutLiteral(s string) string {
	for _, v := range []string{"true", "false", "null"} {
		if strings.HasPrefix(v, s) {
			return v
		}
	}
	return ""
}

// endsLiteral says whether the word that ends at i stands alone.
func (p *parser) endsLiteral(i int, where position) bool {
	next := p.skip(i)
	if next >= len(p.s) || strings.IndexByte(",;:]})", p.s[next]) >= 0 || p.fenceAt(next) || p.quoteAt(next) > 0 {
		return true
	}
	if strings.IndexByte(p.s[i:next], '\n') >= 0 {
		return true
	}
	return next > i && (where == inArray && (isDigit(p.s[next]) || p.literalAt(next)) || where == inMember && p.bareKeyAt(next))
}

// bareText moves to the end of a string that has no quotes.
func (p *parser) bareText(where position) {
	start := p.i
	for p.i < len(p.s) {
		c, _ := p.sign(p.i)
		switch {
		case c == '\n', c == ',' || c == ';' && where != inTop || c == ']' || c == '}':
			return
		case c == '{' || c == '[' || c == '(':
			end := p.balanced(p.i)
			if end < 0 || c != '(' && (p.i == start || isSpaceByte(p.s[p.i-1])) {
				if c != '(' {
					return
				}
			} else {
				p.i = end
			}
		case c == '/' && p.comment(p.i) && p.at(p.i-1) != ':':
			return
		case c == '#' && isSpaceByte(p.at(p.i+1)) && isSpaceByte(p.at(p.i-1)):
			return
		case c == '`' && p.fenceAt(p.i):
			return
		case p.quoteAt(p.i) > 0:
			if p.endsBareText(where) {
				return
			}
			if end := p.closing(p.i, p.quoteAt(p.i)); c == '"' && where == inMember && end > 0 {
				p.i = end // a quotation within the text
			}
		case where == inArray && c == ':' && (p.skip(p.i+1) > p.i+1 || p.quoteAt(p.i+1) > 0):
			return
		}
		p.i++
	}
}

// endsBareText says whether the quote at i ends text that has no quotes.
func (p *parser) endsBareText(where position) bool {
	n := p.quoteAt(p.i)
	if p.s[p.i] == '\'' && isWord(p.at(p.i-1)) && isWord(p.at(p.i+1)) {
		return false // an apostrophe
	}
	if where == inTop {
		return p.skip(p.i+n) >= len(p.s)
	}
	end := p.closing(p.i, n)
	if end < 0 || strings.IndexByte(p.s[p.i:end], '\n') >= 0 || where == inArray {
		return true
	}
	if p.startsKey(p.i) {
		return true
	}
	c := p.at(p.skip(p.i + n))
	return c == ',' || c == '}' || c == ']' || c == 0
}

// balanced returns the position of the bracket that closes the one at i on
// the same line, or -1.
func (p *parser) balanced(i int) int {
	var stack []byte
	for j := i; j < len(p.s) && j < i+itemWindow && p.spend(1); j++ {
		switch c := p.s[j]; c {
		case '\n', '"':
			return -1
		case '(', '[', '{':
			stack = append(stack, c)
		case ')', ']', '}':
			if stack[len(stack)-1] != openerOf(c) {
				return -1
			}
			if stack = stack[:len(stack)-1]; len(stack) == 0 {
				return j
			}
		}
	}
	return -1
}
