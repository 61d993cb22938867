package config

import "slices"

import "strings"

// environ looks a variable up among KEY=value entries; of several entries for
// one name the last counts.
type environ []string

func (e environ) get(name string) (string, bool) {
	if name == "" {
		return "", false
	}
	for _, kv := range slices.Backward(e) {
		if len(kv) > len(name) && kv[len(name)] == '=' && kv[:len(name)] == name {
			return kv[len(name)+1:], true
		}
	}
	return "", false
}

// first returns the first of the names that has a value.
func (e environ) first(names ...string) (value, name string) {
	for _, n := range names {
		if v, _ := e.get(n); v != "" {
			return v, n
		}
	}
	return "", ""
}

// expand replaces ${VAR} and ${VAR:-default}; $${ stands for ${. Values are
// not expanded again.
func (e environ) expand(s string) (out, problem string) {
	if !strings.Contains(s, "${") {
		return s, ""
	}
	var b strings.Builder
	for {
		i := strings.Index(s, "${")
		if i < 0 {
			b.WriteString(s)
			return b.String(), ""
		}
		if i > 0 && s[i-1] == '$' {
			b.WriteString(s[:i-1] + "${")
			s = s[i+2:]
			continue
		}
		b.WriteString(s[:i])
		inner, rest, closed := strings.Cut(s[i+2:], "}")
		name, def, hasDefault := strings.Cut(inner, ":-")
		if !closed || !isVariable(name) {
			return "", "${ must be followed by a variable's name and }; write $${ for a literal ${"
		}
		v, ok := e.get(name)
		switch {
		case v != "":
			b.WriteString(v)
		case hasDefault:
			b.WriteString(def)
		case !ok:
			return "", "variable " + name + " is not set; set it or write ${" + name + ":-default}"
		}
		s = rest
	}
}

func isVariable(name string) bool {
	if name == "" {
		return false
	}
	for i := range len(name) {
		switch c := name[i]; {
		case c == '_', 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z':
		case '0' <= c && c <= '9' && i > 0:
		default:
			return false
		}
	}
	return true
}

// isReference says whether the text of a secret is the name of a variable:
// capitals and digits in at least two parts, such as OPENAI_API_KEY.
func isReference(text string) bool {
	if !isVariable(text) || len(text) > 64 || strings.ToUpper(text) != text {
		return false
	}
	return strings.Contains(strings.Trim(text, "_"), "_")
}

// home replaces a leading ~/; where there is no home directory the working
// directory stands in for it.
func (e environ) home(path string) string {
	if path == "~" || strings.HasPrefix(path, "~/") {
		if h, _ := e.get("HOME"); h != "" {
			return h + path[1:]
		}
		if h, _ := e.get("USERPROFILE"); h != "" {
			return h + path[1:]
		}
		return "." + path[1:]
	}
	return path
}
