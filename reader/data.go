package reader

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// readJSON writes data as lines "place: value", a block per entry of a list.
func (b *builder) readJSON(text string, rows int) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var values []any
	for {
		var v any
		err := d.Decode(&v)
		if err == io.EOF {
			break
		}
		if err != nil {
			b.warn("not valid JSON (" + err.Error() + "): read as text")
			b.readText(text)
			return
		}
		values = append(values, v)
	}
	if len(values) == 1 {
		if list, ok := values[0].([]any); ok {
			values = list
		}
		if object, ok := values[0].(map[string]any); ok && len(values) == 1 {
			if t, ok := object["title"].(string); ok {
				b.page.Title = t
			}
		}
	}
	if len(values) > rows {
		b.warn(fmt.Sprintf("%d of %d entries are shown", rows, len(values)))
		values = values[:rows]
	}
	left := rows * 8
	for i, v := range values {
		var out strings.Builder
		place := ""
		if len(values) > 1 {
			place = strconv.Itoa(i + 1)
		}
		left = flatten(&out, place, v, left, 0)
		plain := strings.TrimRight(out.String(), "\n")
		b.add(Paragraph, 0, plain, escapeMarkdown(plain))
		if left <= 0 {
			b.warn("the rest of the data is left out")
			return
		}
	}
}

// flatten writes the leaves of v and returns how many lines are left.
func flatten(w *strings.Builder, place string, v any, left, depth int) int {
	if left <= 0 || depth > 64 {
		return left
	}
	join := func(k string) string {
		if place == "" {
			return k
		}
		return place + "." + k
	}
	switch v := v.(type) {
	case map[string]any:
		for _, k := range sortedKeys(v) {
			left = flatten(w, join(k), v[k], left, depth+1)
		}
		return left
	case []any:
		if short, ok := shortList(v); ok {
			return leaf(w, place, short, left)
		}
		for i, x := range v {
			left = flatten(w, place+"["+strconv.Itoa(i)+"]", x, left, depth+1)
		}
		return left
	case nil:
		return left
	case string:
		return leaf(w, place, v, left)
	}
	return leaf(w, place, fmt.Sprint(v), left)
}

func leaf(w *strings.Builder, place, value string, left int) int {
	value = strings.TrimSpace(value)
	if value == "" {
		return left
	}
	if place != "" {
		w.WriteString(place + ": ")
	}
	w.WriteString(value + "\n")
	return left - 1
}

// shortList joins a list of plain values.
func shortList(list []any) (string, bool) {
	var parts []string
	n := 0
	for _, x := range list {
		switch x := x.(type) {
		case string:
			parts = append(parts, x)
		case json.Number:
			parts = append(parts, x.String())
		case bool:
			parts = append(parts, strconv.FormatBool(x))
		default:
			return "", false
		}
		if n += len(parts[len(parts)-1]); n > 500 {
			return "", false
		}
	}
	return strings.Join(parts, ", "), true
}

func sortedKeys(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	// Names and titles first: they say what the rest is about.
	rank := func(k string) int {
		switch strings.ToLower(k) {
		case "title", "name", "id", "headline":
			return 0
		}
		return 1
	}
	slices.SortFunc(keys, func(a, b string) int {
		if d := rank(a) - rank(b); d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	return keys
}

// readCSV writes each row as "name: value" under the names of the first row.
func (b *builder) readCSV(text string, rows int) {
	text = lines(text)
	r := csv.NewReader(strings.NewReader(text))
	r.Comma = delimiter(text)
	r.LazyQuotes, r.FieldsPerRecord, r.ReuseRecord = true, -1, true
	var names []string
	n := 0
	for ; ; n++ {
		record, err := r.Read()
		if err == io.EOF {
			break
		}
		if parse, ok := errors.AsType[*csv.ParseError](err); ok {
			b.warn(fmt.Sprintf("line %d: %v", parse.Line, parse.Err))
			continue
		}
		if n > rows {
			b.warn(fmt.Sprintf("only the first %d rows are shown", rows))
			break
		}
		if n == 0 {
			names = cloneRecord(record)
			continue
		}
		var plain strings.Builder
		for i, v := range record {
			v = strings.Join(strings.Fields(v), " ")
			if v == "" {
				continue
			}
			if plain.Len() > 0 {
				plain.WriteString("; ")
			}
			if i < len(names) && names[i] != "" {
				plain.WriteString(strings.Join(strings.Fields(names[i]), " ") + ": ")
			}
			plain.WriteString(v)
		}
		b.add(Row, 0, plain.String(), "- "+escapeMarkdown(plain.String()))
		if b.full {
			break
		}
	}
	if n == 1 { // one line is data, not names
		b.add(Row, 0, strings.Join(names, "; "), "- "+escapeMarkdown(strings.Join(names, "; ")))
	}
}

func cloneRecord(record []string) []string {
	out := make([]string, len(record))
	for i := range record {
		out[i] = strings.Clone(record[i])
	}
	return out
}

// delimiter is the mark that parts the first lines most evenly.
func delimiter(text string) rune {
	head := []byte(text[:min(len(text), 4096)])
	first := head
	if i := bytes.IndexByte(head, '\n'); i > 0 {
		first = head[:i]
	}
	best, most := ',', 0
	for _, c := range []rune{',', ';', '\t', '|'} {
		if n := bytes.Count(first, []byte(string(c))); n > most {
			best, most = c, n
		}
	}
	return best
}
