package jsonrepair

import "strings"

// object reads the object whose brace is at i. What it returns is another
// kind of value where the braces were surplus or stood for a set.
func (p *parser) object() *node {
	n := &node{kind: kindObject, open: true}
	if !p.push('{') {
		return n
	}
	defer p.pop()
	p.i++
	if inner := p.surplusBrace(); inner != nil && p.on(SurplusBrackets) {
		return inner
	}
	return p.members(n)
}

// surplusBrace reads {{"a":1}} and braces around a fenced block.
func (p *parser) surplusBrace() *node {
	first := p.skip(p.i)
	fenced := p.fenceAt(first)
	if fenced {
		first = p.skip(p.afterFence(first))
	}
	c := p.at(first)
	if c != '{' && (c != '[' || !fenced) {
		return nil
	}
	if second := p.skip(first + 1); !fenced && p.around(1) == '[' && p.quoteAt(second) == 0 && !p.bareKeyAt(second) {
		return nil // two objects that were never closed
	}
	p.i = first
	inner := p.value(inTop)
	p.space()
	if fenced && p.fenceAt(p.i) {
		p.i = p.afterFence(p.i)
		p.space()
	}
	if p.at(p.i) == '}' {
		p.i++
	} else if inner.kind == kindObject && !p.done() {
		return p.members(inner)
	}
	return inner
}

// members reads what is left of object n, through its closing brace.
func (p *parser) members(n *node) *node {
	for {
		p.space()
		if p.done() || p.fenceAt(p.i) {
			return n
		}
		switch c, size := p.sign(p.i); {
		case c == '}':
			p.i++
			n.open = false
			return n
		case c == ',' || c == ';':
			p.i += size
		case c == ']' || c == ')':
			if p.closesOuter(c) {
				return n
			}
			p.i++
			if p.closesWrongly(c) {
				n.open = false
				return n
			}
		case c == ':':
			p.strayColon()
		case c == '{':
			if p.around(1) == '[' {
				return n
			}
			p.mergeObject(n)
		case c == '[':
			p.mergeArray(n)
		case p.ellipsis():
		default:
			if set := p.member(n); set != nil {
				return set
			}
			if p.err != nil || p.again {
				return n
			}
		}
	}
}

// strayColon drops a colon that has no key, and the value behind it.
func (p *parser) strayColon() {
	if p.strict && strings.HasSuffix(strings.TrimRight(p.s[:p.i], " \t\r\n"), "{") {
		p.fail(p.i, "a key is missing before the colon")
		return
	}
	p.colons()
	p.value(inMember)
}

// colons moves over the colon at i, however often it was written.
func (p *parser) colons() {
	for c, n := p.sign(p.i); c == ':'; c, n = p.sign(p.i) {
		p.i += n
		p.space()
	}
}

// mergeObject reads an object where a key should stand: its members belong
// to n.
func (p *parser) mergeObject(n *node) {
	if !p.push('{') {
		return
	}
	p.i++
	p.members(n)
	p.pop()
	n.open = true
}

// mergeArray reads an array where a key should stand: it goes on with the
// array before it; otherwise its strings are keys without values.
func (p *parser) mergeArray(n *node) {
	at := p.i
	p.i++
	more := p.array('[', ']')
	if last := len(n.items) - 1; p.on(SurplusBrackets) && last >= 0 && n.items[last].kind == kindArray {
		n.items[last].items = append(n.items[last].items, more.items...)
		return
	}
	for _, item := range more.items {
		if item.kind != kindString {
			if p.strict {
				p.fail(at, "an array stands where a key should")
			}
			return
		}
		n.set(item.text, raw("null"))
	}
}

// member reads a key and its value into n. If n turns out to be a set it
// returns the array of its values instead.
func (p *parser) member(n *node) *node {
	start := p.i
	wasQuoted := p.quoteAt(p.i) > 0
	var key string
	if wasQuoted {
		key, _ = p.quoted(inKey)
	} else {
		key = p.bareKey()
	}
	if p.i == start {
		p.i++ // nothing that could be a key
		return nil
	}
	p.space()
	next, _ := p.sign(p.i)
	switch {
	case next == ':':
		p.colons()
	case next == ';' && wasQuoted && p.on(OtherSigns) && !p.endsMember(p.i+1):
		p.i++
	case next == '=' && p.on(OtherSigns):
		p.i++
		if p.at(p.i) == '>' {
			p.i++
		}
	case wasQuoted && key == "":
		return nil // stray quotes
	case p.done() || p.fenceAt(p.i):
		if wasQuoted || len(n.items) == 0 && key != "" {
			n.set(key, raw("null"))
		}
		return nil
	case p.on(StrayWords) && !wasQuoted && (next == '}' || next == ',') && len(n.items) > 0:
		return nil // words between members
	case p.on(StrayWords) && !wasQuoted && p.startsKey(p.i):
		return nil // words before a key
	case (next == ',' || next == '}') && len(n.items) == 0 && p.on(Tuples):
		p.i = start
		return p.setOf()
	case next == ',' || next == '}' || next == ']' || next == ')':
		if p.strict && next != '}' {
			p.fail(p.i, "a colon and a value are missing after a key")
			return nil
		}
		n.set(key, raw("null"))
		return nil
	}
	if p.on(LostBrackets) && p.around(1) == '[' && len(n.keys) > 0 && n.keys[0] == key {
		p.i = start // the record begins again: its brace was lost
		p.again = true
		return nil
	}
	value := p.value(inMember)
	if value == nil {
		value = raw("null")
	}
	n.set(key, value)
	return nil
}

// endsMember says whether no value follows at i.
func (p *parser) endsMember(i int) bool {
	next := p.skip(i)
	return next >= len(p.s) || strings.IndexByte(",;}])", p.s[next]) >= 0 || p.startsKey(next)
}

// setOf reads {1, 2} as an array.
func (p *parser) setOf() *node {
	at := p.i
	p.pop()
	set := p.array('{', '}')
	p.open = append(p.open, '{') // the caller takes it off again
	if set.open && p.strict {
		p.fail(at, "neither an object nor a set: a colon or a closing brace is missing")
	}
	return set
}

// bareKey reads a key without quotes, up to a colon or what else ends it.
func (p *parser) bareKey() string {
	start := p.i
	for p.i < len(p.s) {
		c, _ := p.sign(p.i)
		if strings.IndexByte(":,;{}[]\n=", c) >= 0 || p.fenceAt(p.i) {
			break
		}
		if n := p.quoteAt(p.i); n > 0 && (c != '\'' || !isWord(p.at(p.i+1))) {
			break
		}
		if c == '/' && (p.at(p.i+1) == '/' || p.at(p.i+1) == '*') {
			break
		}
		p.i++
	}
	key := escape(strings.TrimSpace(p.s[start:p.i]))
	if n := p.quoteAt(p.i); n > 0 && p.on(LostQuotes) {
		if c, _ := p.sign(p.skip(p.i + n)); c == ':' {
			p.i += n // its opening quote was lost
		}
	}
	return key
}
