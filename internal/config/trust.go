package config

import (
	"encoding/json"
	"path/filepath"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// A template is data that a user of the server may have written, while a
// configuration file is the operator's. So a template reads no variables and
// no files of the machine, starts nothing, and does not say where keys go.

const notStored = "a template does not set this: it belongs in the configuration"

// refuses says why the document may not set the leaf; "" when it may.
func (r *reader) refuses(l *leaf) string {
	switch {
	case !r.stored:
		return ""
	case l.trusted || l.path == "mcp":
		return notStored
	}
	prompt, isFile := strings.CutSuffix(l.path, "_file")
	switch {
	case !l.isPath || !isFile:
		return ""
	case schema().byPath[prompt+"_str"] == nil:
		return notStored
	}
	return "a template reads no files: write the text as " + prompt[strings.LastIndexByte(prompt, '.')+1:] + "_str"
}

// refusesArgument says whether a template may not give a tool this setting.
func (r *reader) refusesArgument(key string, value any) bool {
	if !r.stored {
		return false
	}
	k := strings.ToLower(key)
	return secretArgument(key, value) || strings.HasSuffix(k, "url") || strings.HasSuffix(k, "proxy")
}

// expand replaces variables in a text of a file; a template keeps its text.
func (r *reader) expand(text string) (out, problem string) {
	if r.stored {
		return text, ""
	}
	return r.env.expand(text)
}

// inside says whether a path of a template stays below the working directory.
func inside(path string) bool {
	return path == "" || filepath.IsLocal(path) && !strings.HasPrefix(path, "~")
}

// secretArgument says whether a setting of a tool must not be recorded: its
// name speaks of a secret, or its value is an address with a password or a query.
func secretArgument(key string, value any) bool {
	if k := strings.ToLower(key); k == "headers" || k == "env" || isSecretName(k) {
		return true
	}
	switch v := value.(type) {
	case map[string]any:
		for k, e := range v {
			if secretArgument(k, e) {
				return true
			}
		}
	case []any:
		for _, e := range v {
			if secretArgument("", e) {
				return true
			}
		}
	case string:
		return URL(v).String() != v
	}
	return false
}

// badName says what is wrong with an agent's name: it becomes a part of ids,
// addresses and names of files.
func badName(name string) string {
	for i, r := range name {
		word := r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r)
		if !word && (i == 0 || r != '-' && r != '.') {
			return "an agent's name has letters, digits, _, - and . and begins with one of the first three"
		}
	}
	if name == "" || len(name) > 100 {
		return "an agent's name has 1 to 100 bytes"
	}
	return ""
}

// asYAML writes a JSON document so that it is also YAML: a slash that is
// escaped and a character in two halves are JSON's own.
func asYAML(document []byte) []byte {
	if !json.Valid(document) {
		return document
	}
	out := make([]byte, 0, len(document))
	for i := 0; i < len(document); i++ {
		c := document[i]
		if c != '\\' { // in valid JSON only within a text
			out = append(out, c)
			continue
		}
		i++
		switch high := unit(document[i:]); {
		case document[i] == '/':
			out = append(out, '/')
		case utf16.IsSurrogate(high):
			i += 4
			char := utf8.RuneError
			if i+2 < len(document) && document[i+1] == '\\' {
				if pair := utf16.DecodeRune(high, unit(document[i+2:])); pair != utf8.RuneError {
					char = pair
					i += 6
				}
			}
			out = utf8.AppendRune(out, char)
		default:
			out = append(out, '\\', document[i])
		}
	}
	return out
}

// unit reads u1234; 0 when there is none.
func unit(text []byte) rune {
	if len(text) < 5 || text[0] != 'u' {
		return 0
	}
	n, err := strconv.ParseUint(string(text[1:5]), 16, 16)
	if err != nil {
		return 0
	}
	return rune(n)
}
