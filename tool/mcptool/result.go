package mcptool

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"dossier/tool"
	"dossier/tool/internal/said"
)

// mostParts bounds the parts of a result that are looked at.
const mostParts = 1000

// result is what a model gets of a reply: a JSON array of texts, no longer than
// the limit.
func (t *remote) result(r *mcp.CallToolResult) (tool.Result, error) {
	var out tool.Result
	if r.StructuredContent != nil {
		if raw, err := json.Marshal(r.StructuredContent); err == nil {
			out.Data = raw
		}
	}
	parts := make([]part, 0, min(len(r.Content), mostParts))
	for i, content := range r.Content {
		if i == mostParts {
			parts = append(parts, part{text: fmt.Sprintf("[%d more parts]", len(r.Content)-i)})
			break
		}
		parts = append(parts, t.part(content))
	}
	if len(parts) == 0 && out.Data != nil {
		parts = append(parts, t.long("", string(out.Data)))
	}
	if r.IsError {
		var texts []string
		for _, p := range parts {
			texts = append(texts, p.text)
		}
		why := t.server.words.Text(strings.Join(texts, "\n"), 3000)
		if why == "" {
			why = "it does not say why"
		}
		return tool.Result{}, errors.New(t.spec.Name + " failed: " + why)
	}
	out.Text = array(parts, t.limit)
	return out, nil
}

// part is a part of a result as text. more counts the characters that were left
// out of it already.
type part struct {
	text string
	more int
}

// long is a text that may be long: what can't be part of the result is not
// looked at.
func (t *remote) long(head, text string) part {
	var p part
	if most := 4*t.limit + utf8.UTFMax; len(text) > most {
		for !utf8.RuneStart(text[most]) {
			most--
			if most == 4*t.limit {
				break // it is no text
			}
		}
		p.more = utf8.RuneCountInString(text[most:])
		text = text[:most]
	}
	p.text = head + t.server.masks.Replace(said.Visible(text))
	return p
}

// part is a part of a result as text. What is no text is named.
func (t *remote) part(content mcp.Content) part {
	s := t.server
	var text string
	switch c := content.(type) {
	case *mcp.TextContent:
		return t.long("", c.Text)
	case *mcp.EmbeddedResource:
		switch {
		case c.Resource == nil:
			text = "[an empty resource]"
		case c.Resource.Text != "":
			return t.long(s.words.Line(c.Resource.URI, 2000)+"\n", c.Resource.Text)
		default:
			text = fmt.Sprintf("[a file, %s, %s, %d bytes]", s.words.Line(c.Resource.URI, 2000), s.words.Line(c.Resource.MIMEType, 100), len(c.Resource.Blob))
		}
	case *mcp.ImageContent:
		text = fmt.Sprintf("[an image, %s, %d bytes]", s.words.Line(c.MIMEType, 100), len(c.Data))
	case *mcp.AudioContent:
		text = fmt.Sprintf("[a sound, %s, %d bytes]", s.words.Line(c.MIMEType, 100), len(c.Data))
	case *mcp.ResourceLink:
		text = strings.Join(strings.Fields(s.words.Line(c.Title, 300)+" "+s.words.Line(c.Name, 300)+" "+s.words.Line(c.URI, 2000)+" "+s.words.Line(c.Description, 1000)), " ")
	default:
		text = "[something that is no text]"
	}
	return part{text: text}
}

// array is parts as a JSON array of at most so many characters. What does not
// fit is cut, and the last text says so: the array stays one.
func array(parts []part, most int) string {
	var b strings.Builder
	b.WriteByte('[')
	used := 2
	for i, p := range parts {
		if i > 0 {
			b.WriteByte(',')
			used++
		}
		rest := 0 // room for saying that others were left out
		if i < len(parts)-1 {
			rest = 60
		}
		quoted := quote(p.text)
		if n := utf8.RuneCountInString(quoted); p.more == 0 && used+n <= most-rest {
			b.WriteString(quoted)
			used += n
			continue
		}
		b.WriteString(p.shortened(len(parts)-i-1, most-used))
		break
	}
	b.WriteByte(']')
	return b.String()
}

// shortened is the beginning of a text, quoted, with a note on what is missing,
// in so many characters if the note alone is not longer.
func (p part) shortened(others, room int) string {
	runes := []rune(p.text)
	note := func(kept int) string {
		n := fmt.Sprintf("[cut: %d more characters", len(runes)-kept+p.more)
		if others > 0 {
			n += fmt.Sprintf(" and %d more parts", others)
		}
		return n + "]"
	}
	// Quoting makes a text longer, so the length that fits is searched for.
	low, high := 0, len(runes)
	for low < high {
		mid := (low + high + 1) / 2
		if utf8.RuneCountInString(quote(string(runes[:mid])+"\n"+note(mid))) <= room {
			low = mid
		} else {
			high = mid - 1
		}
	}
	if low == 0 {
		return quote(note(0))
	}
	return quote(string(runes[:low]) + "\n" + note(low))
}

func quote(s string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		panic(err) // a string can always be written
	}
	return strings.TrimSuffix(b.String(), "\n")
}
