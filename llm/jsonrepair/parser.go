package jsonrepair

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// maxDepth is half the nesting that encoding/json accepts: a bracket of the
// text opens at most two levels of the result.
const maxDepth = 5000

// position is where a value stands; it decides what may follow it.
type position uint8

const (
	inTop position = iota
	inKey
	inMember // the value of an object's member
	inArray
)

// parser reads one text, tolerantly. The first error ends the reading: it is
// kept in err and i moves to the end.
type parser struct {
	s      string
	i      int
	open   []byte // the brackets that are open around i
	strict bool   // refuse what has no single reading
	calls  int    // calls that are open around i
	again  bool   // the object that was just read ends where its first key comes again
	err    error
	off    uint64 // rules that are left out
	// work is what is left for looking far ahead and for second readings.
	// Without it the plain reading is taken, which keeps the time linear.
	work int
}

// fullWidth has the brackets that Chinese and Japanese keyboards give.
var fullWidth = strings.NewReplacer("｛", "{", "｝", "}", "［", "[", "］", "]")

func newParser(text string, strict bool) *parser {
	text = strings.TrimPrefix(text, "\ufeff")
	if !strings.ContainsAny(text, "{[") {
		text = fullWidth.Replace(text)
	}
	return &parser{s: strings.ToValidUTF8(text, "\ufffd"), strict: strict, work: 16*len(text) + 1<<16}
}

func (p *parser) fail(at int, reason string) {
	if p.err == nil {
		p.err = &Error{Offset: at, Reason: reason}
	}
	p.i = len(p.s)
}

// spend charges n bytes of looking ahead and reports whether it may be done.
func (p *parser) spend(n int) bool {
	p.work -= n
	return p.work >= 0
}

func (p *parser) done() bool { return p.i >= len(p.s) }

func (p *parser) at(i int) byte {
	if i < 0 || i >= len(p.s) {
		return 0
	}
	return p.s[i]
}

// sign returns the punctuation mark at i and its length; full-width commas,
// colons and semicolons count as what they stand for.
func (p *parser) sign(i int) (mark byte, n int) {
	c := p.at(i)
	if c >= utf8.RuneSelf && p.on(OtherSigns) {
		switch r, n := utf8.DecodeRuneInString(p.s[i:]); r {
		case '，', '、':
			return ',', n
		case '：':
			return ':', n
		case '；':
			return ';', n
		}
	}
	return c, 1
}

// push opens a bracket; it is false when the text is nested too deeply.
func (p *parser) push(bracket byte) bool {
	if len(p.open) >= maxDepth {
		p.fail(p.i, "nested too deeply")
		return false
	}
	p.open = append(p.open, bracket)
	return true
}

func (p *parser) pop() { p.open = p.open[:len(p.open)-1] }

func (p *parser) isOpen(bracket byte) bool { return bytes.IndexByte(p.open, bracket) >= 0 }

// around is the bracket that is open n levels out; 0 is the innermost.
func (p *parser) around(n int) byte {
	if n >= len(p.open) {
		return 0
	}
	return p.open[len(p.open)-1-n]
}

func openerOf(closer byte) byte { return "([{"[strings.IndexByte(")]}", closer)] }
func closerOf(opener byte) byte { return ")]}"[strings.IndexByte("([{", opener)] }

// space moves over white space and comments.
func (p *parser) space() { p.i = p.skip(p.i) }

// skip returns the first position from i on that is neither white space nor
// part of a comment. A backslash with n, r or t counts as the white space that
// it stands for in a document that was escaped as a whole.
func (p *parser) skip(i int) int {
	for i < len(p.s) {
		c := p.s[i]
		switch {
		case c == ' ' || c == '\n' || c == '\r' || c == '\t' || c == '\v' || c == '\f':
			i++
		case c == '\\' && (p.at(i+1) == 'n' || p.at(i+1) == 'r' || p.at(i+1) == 't'):
			i += 2
		case c == '/' && p.at(i+1) == '*' && p.on(Comments):
			end := -1
			if p.work >= 0 {
				end = strings.Index(p.s[i+2:], "*/")
			}
			if end < 0 {
				p.work -= len(p.s) - i
				return len(p.s)
			}
			p.work -= end
			i += end + 4
		case (c == '/' && p.at(i+1) == '/' || c == '#' && isSpaceByte(p.at(i+1))) && p.on(Comments):
			for i < len(p.s) && p.s[i] != '\n' {
				i++
			}
		case c >= utf8.RuneSelf:
			r, n := utf8.DecodeRuneInString(p.s[i:])
			if !isWideSpace(r) {
				return i
			}
			i += n
		default:
			return i
		}
	}
	return i
}

func isSpaceByte(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

func isWideSpace(r rune) bool {
	return r == '\u0085' || r == '\u00a0' || r == '\u1680' || r == '\u180e' || r >= '\u2000' && r <= '\u200d' ||
		r == '\u2028' || r == '\u2029' || r == '\u202f' || r == '\u205f' || r == '\u2060' || r == '\u3000' || r == '\ufeff'
}

func (p *parser) fenceAt(i int) bool {
	return p.on(Fences) && strings.HasPrefix(p.s[min(i, len(p.s)):], "```")
}

// afterFence returns the position behind a fence and its language tag.
func (p *parser) afterFence(i int) int {
	for p.at(i) == '`' {
		i++
	}
	for isWord(p.at(i)) {
		i++
	}
	return i
}

// ellipsis moves over dots that stand for left-out content.
func (p *parser) ellipsis() bool {
	n := 0
	switch {
	case !p.on(Ellipses):
	case strings.HasPrefix(p.s[p.i:], "..."):
		for p.at(p.i+n) == '.' {
			n++
		}
	case strings.HasPrefix(p.s[p.i:], "…"):
		n = len("…")
	}
	if end := p.skip(p.i + n); n == 0 || end < len(p.s) && !strings.ContainsRune(",]})`\"'", rune(p.s[end])) {
		return false
	}
	p.i += n
	return true
}

// value reads the value at i, or returns nil if there is none.
func (p *parser) value(where position) *node {
	p.space()
	if p.done() {
		return nil
	}
	if n := p.stringPrefix(); n > 0 {
		p.i += n
	}
	switch c, _ := p.sign(p.i); {
	case c == '{':
		return p.object()
	case c == '[':
		p.i++
		return p.array('[', ']')
	case c == '(' && p.on(Tuples):
		return p.tuple(where)
	case strings.IndexByte("}]),;:", c) >= 0:
		return nil
	case p.fenceAt(p.i):
		return nil
	case p.quoteAt(p.i) > 0:
		return p.stringValue(where)
	case c == '/' && p.on(Patterns):
		return p.regex(where)
	case c == '-' || c == '+' || c == '.' || isDigit(c):
		return p.number(where)
	}
	if n := p.call(where); n != nil {
		return n
	}
	return p.word(where)
}

// stringPrefix is the length of the letters that Python allows before a quote.
func (p *parser) stringPrefix() int {
	n := 0
	for n < 2 && strings.IndexByte("bBfFrRuU", p.at(p.i+n)) >= 0 && p.i+n < len(p.s) {
		n++
	}
	if c := p.at(p.i + n); n > 0 && (c == '"' || c == '\'') && p.closing(p.i+n, 1) >= 0 {
		return n
	}
	return 0
}

// tuple reads "(a, b)" as an array and "(a)" as a.
func (p *parser) tuple(where position) *node {
	first := p.skip(p.i + 1)
	c := p.at(first)
	if !isDigit(c) && c != '-' && c != '{' && c != '[' && c != '(' && c != ')' && p.quoteAt(first) == 0 && !p.literalAt(first) {
		return p.word(where)
	}
	p.i++
	n := p.array('(', ')')
	if len(n.items) == 1 && !n.open {
		if before := strings.TrimRight(p.s[first:p.i-1], " \t\r\n"); !strings.HasSuffix(before, ",") {
			return n.items[0]
		}
	}
	if len(n.items) == 1 && n.open {
		return n.items[0]
	}
	return n
}

// array reads items up to closer; its opening bracket has been read.
func (p *parser) array(opener, closer byte) *node {
	n := &node{kind: kindArray, open: true}
	if !p.push(opener) {
		return n
	}
	defer p.pop()
	for {
		p.space()
		if p.done() || p.fenceAt(p.i) {
			break
		}
		c, size := p.sign(p.i)
		if c == ',' || c == ';' {
			p.i += size
			continue
		}
		if p.ellipsis() {
			continue
		}
		if c == closer {
			p.i++
			n.open = false
			break
		}
		if c == '}' || c == ']' || c == ')' {
			if p.closesOuter(c) {
				break
			}
			p.i++
			if p.closesWrongly(c) {
				n.open = false
				break
			}
			continue
		}
		if c == ':' && p.on(LostBrackets) {
			p.i += size
			p.pairInArray(n)
			continue
		}
		if p.on(LostBrackets) && opener == '[' && p.around(1) == '{' && len(n.items) > 0 && p.startsKey(p.i) && !n.has(p.keyAt(p.i)) {
			break // the members of the object around it go on
		}
		start := p.i
		item := p.value(inArray)
		if item != nil {
			n.items = append(n.items, item)
			for p.again {
				p.again = false
				n.items = append(n.items, p.record())
			}
			if item.container() && p.on(StrayWords) {
				p.dropStuckWord()
			}
		}
		if p.i == start {
			p.i++
		}
	}
	if len(n.items) == 1 && n.items[0].kind == kindObject && n.items[0].open && n.items[0].empty() {
		n.items = nil // a lone brace, and nothing written behind it
	}
	return n
}

// record reads the members of an object whose opening brace was lost.
func (p *parser) record() *node {
	n := &node{kind: kindObject, open: true}
	if !p.push('{') {
		return n
	}
	defer p.pop()
	return p.members(n)
}

// dropStuckWord moves over letters that follow a closing bracket directly.
func (p *parser) dropStuckWord() {
	if c := p.at(p.i - 1); c != '}' && c != ']' {
		return
	}
	for isWord(p.at(p.i)) && !isDigit(p.at(p.i)) {
		p.i++
	}
}

// closesOuter says whether a closing bracket that does not fit the innermost
// bracket ends an outer one.
func (p *parser) closesOuter(c byte) bool {
	if !p.isOpen(openerOf(c)) {
		return false
	}
	if p.on(SurplusBrackets) && c == '}' && p.around(0) == '[' && p.around(1) == '{' && p.around(2) != '[' {
		// "}, {" cannot go on inside an object: the brace is one too many.
		if comma := p.skip(p.i + 1); p.at(comma) == ',' && p.at(p.skip(comma+1)) == '{' {
			return false
		}
	}
	return true
}

// closesWrongly says whether a closing bracket that no open one fits was meant
// for the innermost, which is not the only one: something was to end there.
func (p *parser) closesWrongly(c byte) bool {
	return p.on(WrongBrackets) && len(p.open) > 1 && c != ')' && !p.isOpen(openerOf(c))
}

// pairInArray handles ["key": value]: the last item was a key, and its colon
// has been read. Neighbouring pairs share one object until its first key comes
// again.
func (p *parser) pairInArray(n *node) {
	last := len(n.items) - 1
	if last < 0 || n.items[last].container() {
		return
	}
	key := n.items[last].text
	value := p.value(inMember)
	if value == nil {
		value = raw("null")
	}
	if last > 0 && n.items[last-1].kind == kindObject && n.items[last-1].open && n.items[last-1].keys[0] != key {
		n.items[last-1].set(key, value)
		n.items = n.items[:last]
		return
	}
	n.items[last] = &node{kind: kindObject, keys: []string{key}, items: []*node{value}, open: true}
}
