package config

import (
	"strconv"
	"strings"
)

// Template is an example config.yaml that lists every setting with its help,
// range and default. Sections stand open and empty, settings as "#key: value".
func Template() string {
	var b strings.Builder
	b.WriteString(`# Configuration of Dossier. Every setting is commented out: remove the # in
# front of its key to set it. A later layer wins: defaults, environment,
# this file, agent definitions, agents.yaml, templates, flags.
# ${VAR} and ${VAR:-default} are replaced by environment variables. A key can
# be given as the name of the variable that holds it. "dossier config" shows
# every value and where it came from.
`)
	for _, n := range schema().root.children {
		b.WriteByte('\n')
		writeNode(&b, n, 0)
	}
	return b.String()
}

func writeNode(b *strings.Builder, n *node, depth int) {
	indent := strings.Repeat("  ", depth)
	b.WriteString(indent + "# " + n.help)
	if n.leaf == nil {
		b.WriteString("\n" + indent + n.key + ":\n")
		role := strings.HasPrefix(n.path, "models.") && n.path != "models.default"
		for _, c := range n.children {
			// The other roles have the same keys: only what is special is shown.
			if !role || c.leaf.def != "" || len(c.leaf.aliases) > 0 {
				writeNode(b, c, depth+1)
			}
		}
		return
	}
	l := n.leaf
	if l.enum != nil {
		b.WriteString(" One of " + strings.Join(l.enum, ", ") + ".")
	} else if r := l.bounds(); r != "" {
		b.WriteString(" Range: " + r + ".")
	}
	if names := append(upper(l.aliases), l.env...); len(names) > 0 {
		b.WriteString(" Also " + strings.Join(names, ", ") + ".")
	}
	value := l.def
	if l.example != "" {
		value = l.example
	}
	b.WriteString("\n" + indent + "#" + n.key + ": " + l.yaml(value) + "\n")
}

// yaml writes a default so that it reads back as it is.
func (l *leaf) yaml(value string) string {
	switch l.kind {
	case kindTree:
		return "{}"
	case kindList:
		items := listOf(value)
		for i, item := range items {
			if strings.ContainsAny(item, "?:#&*!|>'%@`{}[]") {
				items[i] = strconv.Quote(item)
			}
		}
		return "[" + strings.Join(items, ", ") + "]"
	case kindInt, kindFloat:
		if value == "" && !l.pointer {
			return "0"
		}
	case kindText, kindCustom:
		if value == "" || strings.ContainsAny(value, "${}:#~ ") {
			return strconv.Quote(value)
		}
	}
	if value == "" {
		return "null"
	}
	return value
}

func upper(names []string) []string {
	out := make([]string, 0, len(names))
	for _, n := range names {
		out = append(out, strings.ToUpper(n))
	}
	return out
}
