package jsonrepair

import "slices"

// kind is what a node is.
type kind uint8

const (
	kindRaw    kind = iota // null, true, false or a number, as JSON spells it
	kindString             // text is the escaped body, without its quotes
	kindArray
	kindObject
)

// node is a JSON value as far as the text gave it. Strings are kept in their
// escaped form, so that escapes that Go strings cannot hold (half a surrogate
// pair) pass through.
type node struct {
	kind  kind
	text  string
	keys  []string // of an object, escaped like text; keys[i] belongs to items[i]
	items []*node
	open  bool // the text never closed it
}

func raw(text string) *node    { return &node{kind: kindRaw, text: text} }
func quoted(body string) *node { return &node{kind: kindString, text: body} }

func (n *node) container() bool { return n.kind == kindArray || n.kind == kindObject }
func (n *node) empty() bool     { return n.container() && len(n.items) == 0 }

// has says whether the last item is an object with this key.
func (n *node) has(key string) bool {
	last := n.items[len(n.items)-1]
	return last.kind == kindObject && slices.Contains(last.keys, key)
}

func (n *node) set(key string, value *node) {
	n.keys = append(n.keys, key)
	n.items = append(n.items, value)
}

// appendJSON writes the value in compact form.
func (n *node) appendJSON(b []byte) []byte {
	switch n.kind {
	case kindRaw:
		return append(b, n.text...)
	case kindString:
		return appendQuoted(b, n.text)
	case kindArray:
		b = append(b, '[')
		for i, item := range n.items {
			if i > 0 {
				b = append(b, ',')
			}
			b = item.appendJSON(b)
		}
		return append(b, ']')
	default:
		b = append(b, '{')
		for i, item := range n.items {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendQuoted(b, n.keys[i])
			b = append(b, ':')
			b = item.appendJSON(b)
		}
		return append(b, '}')
	}
}

func appendQuoted(b []byte, body string) []byte {
	b = append(b, '"')
	b = append(b, body...)
	return append(b, '"')
}

// sameShape says whether b reads like another version of a: the same kinds
// and the same keys in the same places.
func sameShape(a, b *node) bool {
	if a.kind != b.kind || len(a.items) != len(b.items) {
		return false
	}
	for i := range a.items {
		if a.kind == kindObject && a.keys[i] != b.keys[i] {
			return false
		}
		if !sameShape(a.items[i], b.items[i]) {
			return false
		}
	}
	return true
}
