package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// dotEnvName is the file of variables that is read in the working directory and
// beside the configuration file.
const dotEnvName = ".env"

// dotEnv adds the variables of a directory's .env to the environment. What the
// environment has already stays. A file that is not there, or no file, says
// nothing.
func (st *state) dotEnv(dir string, bad *problems) {
	path := filepath.Join(dir, dotEnvName)
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return
	}
	data, err := readFile(path)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			bad.add(&Error{Where: path, Problem: "it can't be read: " + err.Error()})
		}
		return
	}
	var more environ
	for i, line := range strings.Split(string(data), "\n") {
		name, value, problem := variable(line)
		switch {
		case problem != "":
			st.notes = append(st.notes, origin{path, i + 1}.String()+": "+problem)
		case name == "":
		default:
			if _, has := st.env.get(name); has {
				continue
			}
			more = append(more, name+"="+value)
			st.named[name] = origin{path, i + 1}
		}
	}
	st.env = append(more, st.env...)
}

// variable reads a line of a .env file: NAME=value, with or without export before
// it, the value bare, in single quotes as it stands, or in double quotes with \n,
// \t, \" and \\ in it. A number sign begins a comment, in a bare value only
// behind a space.
func variable(line string) (name, value, problem string) {
	line = strings.TrimPrefix(strings.TrimSpace(line), "\ufeff")
	if line == "" || line[0] == '#' {
		return "", "", ""
	}
	if rest, ok := strings.CutPrefix(line, "export"); ok && strings.TrimLeft(rest, " \t") != rest {
		line = strings.TrimLeft(rest, " \t")
	}
	name, value, ok := strings.Cut(line, "=")
	name, value = strings.TrimSpace(name), strings.TrimSpace(value)
	if !ok || name == "" || strings.ContainsAny(name, " \t\"'") {
		return "", "", "not of the form NAME=value"
	}
	if value == "" {
		return name, "", ""
	}
	if quote := value[0]; quote == '"' || quote == '\'' {
		end := closing(value[1:], quote)
		if end < 0 {
			return "", "", "the value of " + name + " has no closing quote"
		}
		if value = value[1 : 1+end]; quote == '"' {
			value = strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\"`, `"`, `\\`, `\`).Replace(value)
		}
		return name, value, ""
	}
	for _, sign := range []string{" #", "\t#"} {
		value, _, _ = strings.Cut(value, sign)
	}
	return name, strings.TrimSpace(value), ""
}

// closing is where a quoted text ends, -1 if it does not.
func closing(text string, quote byte) int {
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '\\' && quote == '"':
			i++
		case text[i] == quote:
			return i
		}
	}
	return -1
}
