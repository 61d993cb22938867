package cli

import (
	"slices"
	"strings"
	"testing"
	"unicode"

	"dossier"
	"dossier/event"
	"dossier/internal/base/term"
	"dossier/lang"
)

func TestToolArguments(t *testing.T) {
	for schema, want := range map[string][]string{
		`{"properties":{"b":{"type":"string","description":"what"},"a":{"type":["integer","null"]}},"required":["b","a"]}`: {"b (string): what", "a (integer, optional)"},
		`{"properties":{"x":{"enum":["one",2]},"y":{}}}`:                                                                   {"x (one | 2, optional)", "y (any, optional)"},
		`{"properties":[]}`: nil, `null`: nil, ``: nil,
	} {
		if got := toolArguments([]byte(schema)); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", schema, got, want)
		}
	}
}

// FuzzActions has tools and models say anything: no line of it acts on the
// terminal or is longer than a line should be.
func FuzzActions(f *testing.F) {
	f.Add("search", `{"query":"heat\u001b[31m pumps","n":[1,{"x":null}]}`, "two\nresults", "does\x1b]0;it\x07", `{"properties":{"q\u001b":{"type":["string","null"],"enum":["\u009b"]}}}`)
	f.Add("final_answer_tool", `[`, "", "", `{"properties":{"a":`)
	f.Fuzz(func(t *testing.T, name, args, result, about, schema string) {
		v := &textView{lang: lang.English, board: silent{}}
		for _, d := range []event.AgentAction{{Tool: name, Arguments: []byte(args)}, {Tool: name, Result: result}, {Tool: name, Result: result, Failed: true}} {
			line := v.line(event.Event{Data: d})
			if strings.ContainsFunc(line, unicode.IsControl) || term.Width(line) > 2*mostSaid+2*term.Width(name) {
				t.Errorf("%q", line)
			}
		}
		text := toolText(dossier.ToolEntry{Name: name, Description: about, Schema: []byte(schema)})
		if strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }) {
			t.Errorf("%q", text)
		}
	})
}
