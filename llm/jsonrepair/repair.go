// Package jsonrepair turns what a language model wrote into valid JSON.
//
// It reads JSON in code fences and in prose, with single, missing or curly
// quotes, bare keys and values, lost or surplus commas and brackets, comments,
// literals of Python and JavaScript, call wrappers, lines of values, escaped
// documents, quotes and line breaks that should have been escaped, and text
// that ends anywhere. Text that is valid already comes back as it is.
//
// The parser never makes up data: what was not written is null or absent. A
// text that has no single sensible reading is an error. Time grows linearly
// with the text; nesting is limited.
package jsonrepair

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// ErrNone is returned, wrapped, when the text holds no JSON value of the kind
// that was asked for.
var ErrNone = errors.New("no JSON found")

// Error says where the text stops making sense.
type Error struct {
	Offset int // in bytes
	Reason string
}

func (e *Error) Error() string { return fmt.Sprintf("json repair: byte %d: %s", e.Offset, e.Reason) }

// Repair returns the JSON value that text means. Valid JSON is returned byte
// for byte. Several values become an array, unless a later one is a new
// version of the one before it; a bare word or sentence becomes a string.
func Repair(text string) ([]byte, error) {
	return newParser(answer(text), true).repair(text)
}

func (p *parser) repair(text string) ([]byte, error) {
	if b := []byte(text); json.Valid(b) {
		return b, nil
	}
	return finish(p.document())
}

// Object returns the JSON object that text means, for callers that asked a
// model for one. It overlooks what Repair refuses (text stuck to the object,
// control characters, broken escapes), opens an object that was wrapped in a
// string or in an array of one, and takes the largest object where prose holds several, the last of equals.
func Object(text string) ([]byte, error) {
	trimmed := strings.TrimSpace(text)
	if trimmed != "" && trimmed[0] == '{' {
		if b := []byte(text); json.Valid(b) {
			return b, nil
		}
	}
	best, err := pick(answer(text))
	if err != nil {
		return nil, err
	}
	if best == nil {
		return nil, fmt.Errorf("json repair: no object in the text: %w", ErrNone)
	}
	return finish(best, nil)
}

// answer is what a model said after it thought aloud.
func answer(text string) string {
	const end = "</think>"
	i := strings.LastIndex(text, end)
	if trimmed := strings.TrimSpace(text); i < 0 || trimmed[0] == '{' || trimmed[0] == '[' {
		return text
	}
	if rest := text[i+len(end):]; strings.TrimSpace(rest) != "" {
		return rest
	}
	return text
}

// pick chooses among the objects of the text.
func pick(text string) (*node, error) {
	p := newParser(text, false)
	var best *node
	size := -1
	for _, v := range p.values() {
		n := unwrap(v.node)
		if n == nil {
			continue
		}
		if span := v.end - v.start; span >= size {
			best, size = n, span
		}
	}
	return best, p.err
}

// unwrap returns n, or the one value inside it, if that is an object.
func unwrap(n *node) *node {
	switch {
	case n.kind == kindObject:
		return n
	case n.kind == kindArray && len(n.items) == 1 && n.items[0].kind == kindObject:
		return n.items[0]
	case n.kind == kindString:
		var inner string
		if json.Unmarshal(appendQuoted(nil, n.text), &inner) != nil {
			return nil
		}
		p := newParser(inner, false)
		p.space()
		if p.i == len(p.s) || p.s[p.i] != '{' && p.s[p.i] != '[' {
			return nil
		}
		if v := p.value(inTop); v != nil && v.kind == kindObject && p.err == nil {
			return v
		}
	}
	return nil
}

func finish(n *node, err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	return n.appendJSON(nil), nil
}
