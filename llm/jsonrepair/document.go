package jsonrepair

import (
	"fmt"
	"strings"
	"unicode"
)

// between is what separates a value from the one before it.
type between uint8

const (
	stuck  between = iota // nothing
	listed                // white space or a comma
	prose                 // words or a code fence
)

// found is a value of the text.
type found struct {
	node       *node
	start, end int
	after      between
}

// document reads the whole text as one value.
func (p *parser) document() (*node, error) {
	values := p.values()
	if p.err != nil {
		return nil, p.err
	}
	if len(values) == 0 {
		return nil, fmt.Errorf("json repair: %w", ErrNone)
	}
	kept := values[:1]
	for _, v := range values[1:] {
		last := &kept[len(kept)-1]
		switch {
		case v.after == stuck && last.node.empty():
			*last = v
		case v.after == stuck && v.node.empty():
			return nil, &Error{Offset: v.start, Reason: "a second value follows the first"}
		case v.after != listed && p.on(NewVersions) && sameShape(last.node, v.node):
			*last = v // a new version
		default:
			kept = append(kept, v)
		}
	}
	if len(kept) == 1 {
		return kept[0].node, nil
	}
	all := &node{kind: kindArray}
	for _, v := range kept {
		all.items = append(all.items, v.node)
	}
	return all, nil
}

// values reads the values of the text, in order.
func (p *parser) values() []found {
	p.space()
	if p.done() {
		return nil
	}
	if c := p.s[p.i]; c == '`' && p.on(Fences) && !p.fenceAt(p.i) && p.plausible(p.i+1) {
		p.i++ // inline code
	}
	if c := p.s[p.i]; c != '{' && c != '[' {
		start := p.i
		if values := p.fenced(); len(values) > 0 || p.err != nil {
			return values
		}
		p.i = start
		if values := p.bare(); (len(values) == 1 || len(values) > 1 && p.on(Lines)) || p.err != nil {
			return values
		}
		p.i = start
	}
	values := p.containers()
	if p.on(References) {
		values = dropCitations(values)
	}
	return values
}

// fenced reads the objects and arrays that begin right behind a code fence.
func (p *parser) fenced() []found {
	var values []found
	for p.err == nil {
		at := strings.Index(p.s[p.i:], "```")
		if at < 0 {
			break
		}
		p.i = p.skip(p.afterFence(p.i + at))
		v := found{start: p.i, after: prose}
		switch {
		case p.at(p.i) == '{' || p.at(p.i) == '[':
			v.node = p.value(inTop)
		case p.startsKey(p.i):
			v.node = p.record()
		default:
			continue
		}
		v.end = p.i
		values = append(values, v)
		p.space()
		for p.err == nil && (p.at(p.i) == ',' || p.at(p.i) == '{' || p.at(p.i) == '[') { // several in one fence
			if p.at(p.i) == ',' {
				p.i++
				p.space()
				p.reopen(values[len(values)-1].node)
			} else {
				start := p.i
				values = append(values, found{node: p.value(inTop), start: start, end: p.i, after: listed})
			}
			p.space()
		}
		if p.fenceAt(p.i) {
			p.i = p.afterFence(p.i)
		}
	}
	return values
}

// bare reads a text that begins with no bracket and is nothing but values: a
// wrapped value, members without their braces, or a list of scalars, split by
// commas or lines. It returns nothing for prose around JSON.
func (p *parser) bare() []found {
	if p.fenceAt(p.i) {
		p.i = p.skip(p.afterFence(p.i))
	}
	start := p.i
	if p.startsKey(p.i) {
		n := p.record()
		return []found{{node: n, start: start, end: p.i}}
	}
	var values []found
	words, containers := false, false
	for {
		p.space()
		if p.done() || p.fenceAt(p.i) {
			return values
		}
		start := p.i
		n, plain := p.scalar()
		if n == nil {
			return nil
		}
		words = words || plain
		containers = containers || n.container()
		if words && containers {
			return nil
		}
		values = append(values, found{node: n, start: start, end: p.i, after: listed})
		next := p.skip(p.i)
		newline := strings.IndexByte(p.s[p.i:next], '\n') >= 0
		p.i = next
		for p.at(p.i) == ',' || p.at(p.i) == ';' {
			p.i++
			newline = true
		}
		if !p.done() && !newline && !p.fenceAt(p.i) {
			return nil
		}
	}
}

// scalar reads an entry of a bare list and reports whether it is mere words.
// Words run to the end of the line, over commas with a space behind them.
func (p *parser) scalar() (n *node, words bool) {
	start := p.i
	if n := p.value(inTop); n != nil || p.err != nil {
		next := p.skip(p.i)
		if next >= len(p.s) || n == nil || n.kind != kindString && p.s[next] == ',' || strings.IndexByte(p.s[p.i:next], '\n') >= 0 {
			return n, n != nil && n.kind == kindString && p.quoteAt(start) == 0 && p.s[start] != '/'
		}
		if p.quoteAt(start) > 0 || n.kind != kindString {
			return n, false
		}
	}
	for p.i < len(p.s) && p.s[p.i] != '\n' && (p.s[p.i] != ',' || isSpaceByte(p.at(p.i+1))) {
		if strings.IndexByte("{}[]", p.s[p.i]) >= 0 || p.fenceAt(p.i) {
			return nil, false
		}
		p.i++
	}
	return quoted(escape(strings.TrimRight(strings.TrimSpace(p.s[start:p.i]), ","))), true
}

// containers reads the objects and arrays of the text, over the prose before,
// between and behind them.
func (p *parser) containers() []found {
	var values []found
	for p.err == nil {
		end := p.i
		p.noise(len(values) > 0)
		if p.done() {
			break
		}
		v := found{start: p.i, after: listed}
		if p.i == end {
			v.after = stuck
		}
		c := p.s[p.i]
		switch {
		case len(values) > 0 && c == ',':
			p.i++
			p.space()
			if p.reopen(values[len(values)-1].node) {
				continue
			}
			v.start, v.after = p.i, listed
			if !p.plainWordAt(p.i) {
				v.node = p.value(inTop)
			}
		case (c == '{' || c == '[') && (len(values) > 0 || end == 0 || p.plausible(p.i)):
			v.node = p.value(inTop)
		case p.strict && len(values) > 0 && v.after == stuck && isWord(c):
			p.fail(p.i, "text follows the value")
			return values
		}
		if v.node == nil {
			from := p.i
			if !p.nextContainer() {
				break
			}
			v.start, v.after = p.i, prose
			if !strings.ContainsFunc(p.s[from:p.i], unicode.IsLetter) {
				v.after = listed // the mark of an item
			}
			v.node = p.value(inTop)
		}
		v.end = p.i
		values = append(values, v)
	}
	return values
}

// noise moves over what may stand between values without a meaning.
func (p *parser) noise(behind bool) {
	for {
		p.space()
		switch {
		case p.fenceAt(p.i):
			p.i = p.afterFence(p.i)
		case behind && !p.done() && strings.IndexByte(";)]}", p.s[p.i]) >= 0:
			p.i++
		default:
			return
		}
	}
}

// plainWordAt says whether prose goes on at i, rather than a value.
func (p *parser) plainWordAt(i int) bool {
	c := p.at(i)
	return c != '{' && c != '[' && c != '-' && !isDigit(c) && p.quoteAt(i) == 0 && !p.literalAt(i)
}

// reopen goes on with the members of n, an object that was closed too early:
// a key follows it.
func (p *parser) reopen(n *node) bool {
	if !p.on(LostBrackets) || n.kind != kindObject || !p.startsKey(p.i) && !p.pairAt(p.i) || !p.push('{') {
		return false
	}
	p.members(n)
	p.pop()
	return true
}

// pairAt says whether two strings follow each other at i.
func (p *parser) pairAt(i int) bool {
	n := p.quoteAt(i)
	if n == 0 {
		return false
	}
	end := p.closing(i, n)
	return end > 0 && p.quoteAt(p.skip(end+1)) > 0
}

// nextContainer moves to the next bracket that looks like the start of JSON.
func (p *parser) nextContainer() bool {
	for p.i < len(p.s) {
		at := strings.IndexAny(p.s[p.i:], "{[")
		if at < 0 {
			break
		}
		p.i += at
		if p.plausible(p.i) {
			return true
		}
		p.i++
	}
	p.i = len(p.s)
	return false
}

// plausible says whether the bracket at i, in prose, looks like the start of
// JSON rather than of a placeholder, a link or a pattern.
func (p *parser) plausible(i int) bool {
	if p.at(i) != '{' && p.at(i) != '[' {
		return false
	}
	next := p.skip(i + 1)
	c := p.at(next)
	if next >= len(p.s) {
		return false
	}
	if p.quoteAt(next) > 0 || p.fenceAt(next) {
		return true
	}
	if p.s[i] == '{' {
		if c == '{' {
			next = p.skip(next + 1)
			return p.quoteAt(next) > 0 || p.bareKeyAt(next)
		}
		end := p.wordEnd(next) // of a key without its first quote
		return c == '}' || p.bareKeyAt(next) || end > next && p.quoteAt(end) > 0 && p.at(p.skip(end+p.quoteAt(end))) == ':'
	}
	if isDigit(c) || strings.IndexByte("{[]-", c) >= 0 || p.literalAt(next) {
		return true
	}
	end := p.balanced(i)
	return end > 0 && p.at(end+1) != '(' && strings.IndexByte(p.s[i:end], ',') > 0
}

// dropCitations leaves out arrays of numbers in prose, which are references,
// when there is anything else.
func dropCitations(values []found) []found {
	var kept []found
	for _, v := range values {
		if v.after != prose || !citation(v.node) {
			kept = append(kept, v)
		}
	}
	if len(kept) == 0 {
		return values
	}
	return kept
}

func citation(n *node) bool {
	for _, item := range n.items {
		if item.kind != kindRaw || !isDigit(item.text[0]) {
			return false
		}
	}
	return n.kind == kindArray && len(n.items) > 0
}
