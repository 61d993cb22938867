package config

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// locate says which config.yaml to read: "" for none.
func (st *state) locate(src Sources) string {
	env := st.env
	name := src.File
	if name == "" {
		name, _ = env.get("DOSSIER_CONFIG")
	}
	if name == "" {
		name = st.commonFile(src.Dir)
	}
	switch name {
	case "":
	case NoFile:
		return ""
	default:
		return name
	}
	if exists(src.Dir, "dossier.yaml") {
		return "dossier.yaml"
	}
	if exists(src.Dir, "config.yaml") {
		// One that cannot be read or parsed is not known to be ours.
		if data, err := readFile(filepath.Join(src.Dir, "config.yaml")); err == nil && looksLikeConfig(data) {
			return "config.yaml"
		}
	}
	base, _ := env.get("XDG_CONFIG_HOME")
	if base == "" {
		base = env.home("~/.config")
	}
	if path := filepath.Join(base, "dossier", "config.yaml"); filepath.IsAbs(path) && exists("", path) {
		return path
	}
	return ""
}

func exists(dir, name string) bool {
	info, err := os.Stat(filepath.Join(dir, name))
	return err == nil && !info.IsDir()
}

// looksLikeConfig tells our config.yaml from another program's, by one of:
// llm with a model, key or address; models with one of our roles; agents with
// a base_class.
func looksLikeConfig(data []byte) bool {
	var doc yaml.Node
	if yaml.Unmarshal(data, &doc) != nil || len(doc.Content) == 0 {
		return false
	}
	root := doc.Content[0]
	for _, key := range [...]string{"model", "api_key", "base_url"} {
		if hasKey(child(root, "llm"), key) {
			return true
		}
	}
	models := child(root, "models")
	for _, role := range schema().root.byKey["models"].children {
		if r := child(models, role.key); r != nil && r.Kind == yaml.MappingNode {
			return true
		}
	}
	if agents := child(root, "agents"); agents != nil && agents.Kind == yaml.MappingNode {
		for i := 1; i < len(agents.Content); i += 2 {
			if hasKey(agents.Content[i], "base_class") {
				return true
			}
		}
	}
	return false
}

func child(n *yaml.Node, key string) *yaml.Node {
	if n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if strings.EqualFold(n.Content[i].Value, key) {
			return n.Content[i+1]
		}
	}
	return nil
}

func hasKey(n *yaml.Node, key string) bool { return child(n, key) != nil }

// parse returns the root of the one document in data, nil when it is empty or
// broken; what is broken has been reported.
func (r *reader) parse(data []byte) *yaml.Node {
	if at, what := unreadable(data); what != "" {
		line := 1 + bytes.Count(data[:at], []byte{'\n'})
		column := 1 + utf8.RuneCount(data[bytes.LastIndexByte(data[:at], '\n')+1:at])
		r.bad.add(&Error{File: r.name, Line: line, Column: column, Problem: what})
		return nil
	}
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc, more yaml.Node
	if err := dec.Decode(&doc); err != nil {
		if len(bytes.TrimSpace(data)) > 0 && err.Error() != "EOF" {
			r.syntax(err)
		}
		return nil
	}
	if err := dec.Decode(&more); err == nil {
		r.fail(&more, "", "a second document; a configuration is one document", "")
		return nil
	} else if err.Error() != "EOF" {
		r.syntax(err)
		return nil
	}
	if len(doc.Content) == 0 || isNull(doc.Content[0]) {
		return nil
	}
	return doc.Content[0]
}

func (r *reader) syntax(err error) {
	line, what := 1, strings.TrimPrefix(err.Error(), "yaml: ")
	if rest, ok := strings.CutPrefix(what, "line "); ok {
		number, message, _ := strings.Cut(rest, ": ")
		if n, err := strconv.Atoi(number); err == nil && n > 0 {
			line, what = n, message
		}
	}
	r.bad.add(&Error{File: r.name, Line: line, Problem: "not valid YAML: " + printable(what)})
}

// unreadable finds the first byte that cannot be in a text file.
func unreadable(data []byte) (at int, what string) {
	for i := 0; i < len(data); {
		c := data[i]
		if c < utf8.RuneSelf {
			if c < 0x20 && c != '\t' && c != '\n' && c != '\r' || c == 0x7f {
				return i, "control character " + strconv.QuoteRune(rune(c)) + "; is this a text file?"
			}
			i++
			continue
		}
		r, n := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && n == 1 {
			return i, "invalid UTF-8; save the file as UTF-8"
		}
		i += n
	}
	return 0, ""
}

// onlyOurs says that all sections of a file are ones of ours.
func onlyOurs(data []byte) bool {
	var doc yaml.Node
	if yaml.Unmarshal(data, &doc) != nil || len(doc.Content) == 0 || doc.Content[0].Kind != yaml.MappingNode || len(doc.Content[0].Content) == 0 {
		return false
	}
	for i := 0; i < len(doc.Content[0].Content); i += 2 {
		if schema().root.byKey[doc.Content[0].Content[i].Value] == nil {
			return false
		}
	}
	return true
}

// commonFile is the file that $CONFIG_FILE names. Other programs read that variable
// too, so a file that is not ours is left alone, and that is said.
func (st *state) commonFile(dir string) string {
	name, _ := st.env.get("CONFIG_FILE")
	if name == "" {
		return ""
	}
	path := st.env.home(name)
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	data, err := readFile(path)
	if err != nil {
		st.notes = append(st.notes, "env CONFIG_FILE: "+name+" "+err.Error())
		return ""
	}
	if !looksLikeConfig(data) && !onlyOurs(data) {
		st.notes = append(st.notes, "env CONFIG_FILE: "+name+" is no configuration of dossier and is not read; DOSSIER_CONFIG names one for sure")
		return ""
	}
	return name
}
