package llm

import (
	"encoding/json"
	"testing"

	"pgregory.net/rapid"
)

// However an object is cut into pieces, the field's text comes out whole.
func TestFieldStreamOfAnyPieces(t *testing.T) {
	value := rapid.Deferred(func() *rapid.Generator[any] {
		return rapid.OneOf(
			rapid.String().AsAny(),
			rapid.Int().AsAny(),
			rapid.SliceOfN(rapid.StringMatching(`[\[\]{}":,\\a]{0,4}`), 0, 3).AsAny(),
			rapid.MapOfN(rapid.SampledFrom([]string{"answer", "b", "\""}), rapid.String(), 0, 3).AsAny(),
		)
	})
	rapid.Check(t, func(t *rapid.T) {
		object := rapid.MapOfN(rapid.StringMatching(`[a-z"\\]{1,6}`), value, 0, 4).Draw(t, "object")
		want, has := rapid.String().Draw(t, "answer"), rapid.Bool().Draw(t, "has")
		delete(object, "answer")
		if has {
			object["answer"] = want
		} else {
			want = ""
		}
		field := "answer"
		if rapid.Bool().Draw(t, "below") {
			field = "function.answer"
			object = map[string]any{"a": rapid.SampledFrom([]any{"x", []string{"answer", "function"}, map[string]any{"answer": "no"}}).Draw(t, "beside"), "answer": "no", "function": object}
		}
		data, err := json.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		text := rapid.SampledFrom([]string{"", " ", "<think>{\"answer\":\"no\"}</think>\n", "Here: ", "```json\n"}).Draw(t, "before") + string(data)
		got := ""
		feed := StreamField(field, func(s string) { got += s })
		for text != "" {
			n := rapid.IntRange(1, min(len(text), 9)).Draw(t, "n")
			feed(text[:n])
			text = text[n:]
		}
		if got != want {
			t.Fatalf("got %q, want %q", got, want)
		}
	})
}

func FuzzFieldStream(f *testing.F) {
	f.Add(`{"answer":"\ud83d\ude00 \u12"}`, 3)
	f.Add(`<think>x</thi`, 2)
	f.Fuzz(func(t *testing.T, text string, n int) {
		feed, below := StreamField("answer", func(string) {}), StreamField("a.b.c", func(string) {})
		n = max(1, n%16)
		for len(text) > 0 {
			k := min(n, len(text))
			feed(text[:k])
			below(text[:k])
			text = text[k:]
		}
	})
}
