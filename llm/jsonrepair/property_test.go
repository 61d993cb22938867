package jsonrepair

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// document draws a JSON document, as some writer would spell it.
func document(t *rapid.T) string {
	b := appendDrawn(t, nil, 4)
	if !json.Valid(b) {
		t.Fatalf("the generator wrote invalid JSON: %s", b)
	}
	return string(b)
}

func appendDrawn(t *rapid.T, b []byte, depth int) []byte {
	space := rapid.SampledFrom([]string{"", "", " ", "\n  "})
	b = append(b, space.Draw(t, "space")...)
	kinds := 6
	if depth == 0 {
		kinds = 4
	}
	switch rapid.IntRange(0, kinds-1).Draw(t, "kind") {
	case 0:
		b = append(b, rapid.SampledFrom([]string{"null", "true", "false"}).Draw(t, "literal")...)
	case 1:
		b = append(b, rapid.StringMatching(`-?(0|[1-9][0-9]{0,8})(\.[0-9]{1,4})?([eE][-+]?[0-9]{1,2})?`).Draw(t, "number")...)
	case 2, 3:
		b = appendText(t, b)
	case 4:
		b = append(b, '[')
		for i := range rapid.IntRange(0, 4).Draw(t, "items") {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendDrawn(t, b, depth-1)
		}
		b = append(b, ']')
	case 5:
		b = append(b, '{')
		for i := range rapid.IntRange(0, 4).Draw(t, "members") {
			if i > 0 {
				b = append(b, ',')
			}
			// Keys differ: a first key that comes again begins a new record.
			b = append(appendText(t, b), ':')
			b = append(b[:len(b)-2], byte('0'+i), '"', ':')
			b = appendDrawn(t, b, depth-1)
		}
		b = append(b, '}')
	}
	return append(b, space.Draw(t, "space")...)
}

// appendText writes a string with much of what could mislead a repair.
func appendText(t *rapid.T, b []byte) []byte {
	s := rapid.OneOf(
		rapid.StringMatching(`[a-z]{0,8}`),
		rapid.String(),
		rapid.StringOf(rapid.SampledFrom([]rune("abntu0 ,:\"'\\{}[]()/*#+-`\n“”.1é😀"))),
	).Draw(t, "text")
	quoted, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return append(b, quoted...)
}

func TestValidStaysAsItIs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := document(t)
		got, err := Repair(text)
		if err != nil || string(got) != text {
			t.Fatalf("Repair(%q) = %q, %v", text, got, err)
		}
	})
}

// The tolerant parser must agree with encoding/json where both can read: the
// rest of a broken document is usually sound.
func TestParserReadsValidDocuments(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := appendDrawn(t, []byte(`{"first":`), 4)
		b = append(b, `,"last":[1,2`...)
		got, err := Repair(string(b))
		if err != nil {
			t.Fatalf("Repair(%q): %v", b, err)
		}
		if !sameJSON(got, append(b, "]}"...)) {
			t.Fatalf("Repair(%q) = %s", b, got)
		}
	})
}

func TestPrefixRepairs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := appendDrawn(t, []byte(`{"k":`), 4)
		text := string(append(b, '}'))
		cut := strings.ToValidUTF8(text[:rapid.IntRange(1, len(text)).Draw(t, "cut")], "")
		got, err := Repair(cut)
		if err != nil {
			t.Fatalf("Repair(%q): %v", cut, err)
		}
		if !json.Valid(got) {
			t.Fatalf("Repair(%q) = %q, which is not valid", cut, got)
		}
		if strings.ContainsAny(cut[len(cut)-1:], "]}`+ \n") {
			return // it may have ended there
		}
		var part, whole any
		if json.Unmarshal(got, &part) != nil || json.Unmarshal([]byte(text), &whole) != nil || !beginsLike(part, whole) {
			t.Fatalf("Repair(%q) = %s, which is no beginning of %s", cut, got, text)
		}
	})
}

// beginsLike says whether part may be what was read of whole so far: nothing in
// it is at odds with what follows. A number, a literal or a key that was cut may
// be anything.
func beginsLike(part, whole any) bool {
	switch part := part.(type) {
	case map[string]any:
		whole, ok := whole.(map[string]any)
		if !ok {
			return false
		}
		cut := 0
		for k, v := range part {
			if w, ok := whole[k]; !ok {
				cut++
			} else if !beginsLike(v, w) {
				return false
			}
		}
		return cut <= 1
	case []any:
		whole, ok := whole.([]any)
		if !ok || len(part) > len(whole) {
			return false
		}
		for i := range part {
			if !beginsLike(part[i], whole[i]) {
				return false
			}
		}
		return true
	case string:
		whole, ok := whole.(string)
		return ok && len(part) <= len(whole)+len("\ufffd")
	}
	return true
}

func sameJSON(a, b []byte) bool {
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return false
	}
	p, _ := json.Marshal(x)
	q, _ := json.Marshal(y)
	return string(p) == string(q)
}

func FuzzRepair(f *testing.F) {
	for _, seed := range []string{
		`{"a": [1, "b", {"c": null}]}`, "```json\n{'a': 1,}\n```", `say {"a": "b "c" d", e: f(g)} /* h */`,
		`{\"a\": \"b\"}`, `["a, "b" + 'c', ...]`, "1,2\n3", `{"a": "\ud83d`, `{{"a": (1)}}, "b" "c"}`, `["k": 1, [[1,2],3,4],[5]`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for name, repair := range map[string]func(string) ([]byte, error){"Repair": Repair, "Object": Object} {
			got, err := repair(text)
			if err == nil && !json.Valid(got) {
				t.Errorf("%s(%q) = %q, which is not valid", name, text, got)
			}
			if err != nil && got != nil {
				t.Errorf("%s(%q) returned both %q and %v", name, text, got, err)
			}
		}
	})
}

func BenchmarkRepair(b *testing.B) {
	inputs := map[string]string{
		"valid":    `{"a":[` + strings.Repeat(`{"k":"some text","n":1.5},`, 1000) + `{}]}`,
		"cut":      `{"a":[` + strings.Repeat(`{"k":"some text","n":1.5},`, 1000),
		"brackets": strings.Repeat("[1],", 1<<18),
		"quotes":   strings.Repeat(`"`, 1<<20),
		"inner":    `{"a":"` + strings.Repeat(`x "y", `, 1<<17),
		"comments": strings.Repeat(`"a" /* `, 1<<17),
	}
	for name, text := range inputs {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				_, _ = Repair(text)
			}
		})
	}
}
