package jsontext

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestAppendStringRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.OneOf(rapid.String(), rapid.Custom(func(t *rapid.T) string {
			return string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes"))
		}), rapid.SampledFrom([]string{"\x00\x1f\"\\", "1234567\"", "12345678\n", "Привет \"мир\"", "\xff12345678", "a\u2028b<>&"})).Draw(t, "s")
		enc := AppendString(nil, s)
		var got string
		if err := json.Unmarshal(enc, &got); err != nil {
			t.Fatalf("%q: %v", enc, err)
		}
		if want := strings.ToValidUTF8(s, "\uFFFD"); !sameButRuns(got, want, s) {
			t.Fatalf("%q became %q", s, got)
		}
		if back := Text(enc); back != got {
			t.Fatalf("Text(%q) = %q, encoding/json says %q", enc, back, got)
		}
	})
}

// sameButRuns compares with the per-byte replacement of encoding/json where s
// is not valid UTF-8 (ToValidUTF8 replaces runs).
func sameButRuns(got, want, s string) bool {
	if got == want {
		return true
	}
	b, _ := json.Marshal(s)
	var perByte string
	_ = json.Unmarshal(b, &perByte)
	return got == perByte
}

// walk rebuilds a value through the Reader, to compare it with encoding/json.
func walk(r *Reader) any {
	switch r.Next() {
	case '{':
		m := map[string]any{}
		r.Object()
		for k, ok := r.Key(); ok; k, ok = r.Key() {
			name := string(AppendUnquoted(nil, k))
			m[name] = walk(r)
		}
		return m
	case '[':
		l := []any{}
		r.Array()
		for r.Elem() {
			l = append(l, walk(r))
		}
		return l
	case '"':
		return Text(r.Raw())
	}
	var v any
	if raw := r.Raw(); raw != nil {
		_ = json.Unmarshal(raw, &v)
	}
	return v
}

func FuzzReader(f *testing.F) {
	for _, s := range []string{`{"a":[1,2.5e3,{"b":null}],"c":"x\u0041\ud83d\ude00\n"}`, `[]`, `{}`, `{"a":1,}`, `[1,]`, `{,}`,
		`"\ud800"`, `"\\"`, `"\"`, `01`, `-`, `1.`, `tru`, ` [ true , false ] `, `{"a" 1}`, `[[[[]]]]`, `{"a":{"b":{}},"c":[]}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		r := NewReader([]byte(s))
		got := walk(&r)
		if !json.Valid([]byte(s)) {
			return // leniency is allowed, a panic or a hang is not
		}
		skip := NewReader([]byte(s))
		skip.Skip()
		if !r.End() || !skip.End() {
			if strings.Count(s, "[")+strings.Count(s, "{") > maxDepth {
				return
			}
			t.Fatalf("valid JSON refused: %q", s)
		}
		var want any
		if json.Unmarshal([]byte(s), &want) != nil {
			return
		}
		a, _ := json.Marshal(got)
		b, _ := json.Marshal(want)
		if string(a) != string(b) {
			t.Fatalf("%q read as %s, encoding/json says %s", s, a, b)
		}
	})
}

func TestReaderRefuses(t *testing.T) {
	for _, s := range []string{``, `{`, `{"a"`, `{"a":`, `{"a":1`, `{"a":1,`, `{"a":1,}`, `[1,]`, `[,1]`, `[1 2]`, `{"a":1 "b":2}`,
		`{a:1}`, `tru`, `01`, `1.`, `-`, `"abc`, `{"a":1}}`, `1 2`, strings.Repeat("[", 1000)} {
		r := NewReader([]byte(s))
		r.Skip()
		if r.End() {
			t.Errorf("%q accepted", s)
		}
	}
}

func BenchmarkAppendString(b *testing.B) {
	s := strings.Repeat("The quick brown fox said: \"jumps\" over\nthe lazy dog. ", 100)
	buf := make([]byte, 0, 2*len(s))
	b.SetBytes(int64(len(s)))
	b.ReportAllocs()
	for b.Loop() {
		buf = AppendString(buf[:0], s)
	}
}

func TestWritten(t *testing.T) {
	for raw, want := range map[string]string{
		``: ``, `""`: ``, `"{\"a\": 1}"`: `{"a": 1}`, `{"a": [1, "б в"]}`: `{"a":[1,"б в"]}`, `{"a": `: `{"a": `, `12`: `12`,
	} {
		if got := Written([]byte(raw)); got != want {
			t.Errorf("%s: %q, not %q", raw, got, want)
		}
	}
}
