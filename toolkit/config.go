package toolkit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"dossier/tool"
)

// readConfig reads the settings of a tool into the struct that v points to. A
// key that the struct does not have is an error: a misspelt limit would not
// hold. Values are not told, for one of them may be a key.
func readConfig(name string, raw json.RawMessage, v any) error {
	if raw = bytes.TrimSpace(raw); len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	var given map[string]json.RawMessage
	if err := json.Unmarshal(raw, &given); err != nil {
		return fmt.Errorf("the settings of %s have to be keys and values", name)
	}
	t := reflect.TypeOf(v).Elem()
	fields := make(map[string]int, t.NumField())
	for i := range t.NumField() {
		fields[t.Field(i).Tag.Get("json")] = i
	}
	known := slices.Sorted(maps.Keys(fields))
	for _, key := range slices.Sorted(maps.Keys(given)) {
		i, ok := fields[key]
		if !ok && len(known) == 0 {
			return fmt.Errorf("%s has no settings, but %q is given", name, key)
		}
		if !ok {
			return fmt.Errorf("%s has no setting %q%s", name, key, didYouMean(key, known))
		}
		field := reflect.ValueOf(v).Elem().Field(i)
		if err := json.Unmarshal(given[key], field.Addr().Interface()); err != nil {
			return fmt.Errorf("the setting %s of %s has to be %s", key, name, kindOf(field.Type()))
		}
	}
	return nil
}

// kindOf names a type for whoever writes the settings.
func kindOf(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Int:
		return "a whole number"
	case reflect.Slice:
		return "a list of texts"
	}
	return "a text"
}

// didYouMean names the candidate that is nearest to what was written, or all of
// them where none is near.
func didYouMean(written string, candidates []string) string {
	best, least := "", 1+max(2, len(written)/2)
	for _, c := range candidates {
		if d := distance(tool.PlainName(written), tool.PlainName(c)); d < least {
			best, least = c, d
		}
	}
	if best != "" {
		return "; did you mean " + best + "?"
	}
	return "; there are " + strings.Join(candidates, ", ")
}

// distance counts the letters by which two names differ.
func distance(a, b string) int {
	from, to := []rune(a), []rune(b)
	row := make([]int, len(to)+1)
	for j := range row {
		row[j] = j
	}
	for i, r := range from {
		diagonal := row[0]
		row[0] = i + 1
		for j, q := range to {
			cost := diagonal
			if r != q {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return row[len(to)]
}
