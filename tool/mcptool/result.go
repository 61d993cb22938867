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
	texts := make([]string, 0, len(r.Content))
	for i, content := range r.Content {
		if i == mostParts {
			texts = append(texts, fmt.Sprintf("[%d more parts]", len(r.Content)-i))
			break
		}
		texts = append(texts, t.part(content))
	}
	if len(texts) == 0 && out.Data != nil {
		texts = append(texts, t.server.text(string(out.Data), t.limit))
	}
	if r.IsError {
		said := strings.TrimSpace(strings.Join(texts, "\n"))
		if said == "" {
			said = "it does not say why"
		}
		return tool.Result{}, errors.New(t.spec.Name + " failed: " + tool.Cut(said, 3000))
	}
	out.Text = array(texts, t.limit)
	return out, nil
}

// part is a part of a result as text. What is no text is named.
func (t *remote) part(content mcp.Content) string {
	s := t.server
	switch c := content.(type) {
	case *mcp.TextContent:
		return s.text(c.Text, t.limit)
	case *mcp.ImageContent:
		return fmt.Sprintf("[an image, %s, %d bytes]", s.line(c.MIMEType, 100), len(c.Data))
	case *mcp.AudioContent:
		return fmt.Sprintf("[a sound, %s, %d bytes]", s.line(c.MIMEType, 100), len(c.Data))
	case *mcp.ResourceLink:
		return strings.Join(strings.Fields(s.line(c.Title, 300)+" "+s.line(c.Name, 300)+" "+s.line(c.URI, 2000)+" "+s.line(c.Description, 1000)), " ")
	case *mcp.EmbeddedResource:
		if c.Resource == nil {
			return "[an empty resource]"
		}
		if c.Resource.Text != "" {
			return s.line(c.Resource.URI, 2000) + "\n" + s.text(c.Resource.Text, t.limit)
		}
		return fmt.Sprintf("[a file, %s, %s, %d bytes]", s.line(c.Resource.URI, 2000), s.line(c.Resource.MIMEType, 100), len(c.Resource.Blob))
	}
	return "[something that is no text]"
}

// array is texts as a JSON array of at most so many characters. What does not
// fit is cut, and the last text says so: the array stays one.
func array(texts []string, most int) string {
	var b strings.Builder
	b.WriteByte('[')
	used := 2
	for i, text := range texts {
		if i > 0 {
			b.WriteByte(',')
			used++
		}
		quoted := quote(text)
		if n := utf8.RuneCountInString(quoted); used+n <= most-reserve(i, texts) {
			b.WriteString(quoted)
			used += n
			continue
		}
		b.WriteString(shortened(text, len(texts)-i-1, most-used))
		break
	}
	b.WriteByte(']')
	return b.String()
}

// reserve is the room to leave after a text for saying that others were left
// out.
func reserve(i int, texts []string) int {
	if i == len(texts)-1 {
		return 0
	}
	return 60
}

// shortened is the beginning of a text, quoted, with a note on what is missing,
// in so many characters if the note alone is not longer.
func shortened(text string, others, room int) string {
	runes := []rune(text)
	note := func(kept int) string {
		n := fmt.Sprintf("[cut: %d more characters", len(runes)-kept)
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
	_ = e.Encode(s) // a string can always be written
	return strings.TrimSuffix(b.String(), "\n")
}
