package sqlite

import (
	"bytes"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"dossier/kb"
)

func TestListsComeBack(t *testing.T) {
	text := rapid.Custom(func(t *rapid.T) string { return string(rapid.SliceOfN(rapid.Byte(), 0, 300).Draw(t, "bytes")) })
	texts := rapid.OneOf(rapid.Just([]string(nil)), rapid.SliceOfN(text, 0, 4))
	chunk := rapid.Custom(func(t *rapid.T) kb.Chunk {
		return kb.Chunk{Start: rapid.Int().Draw(t, "start"), End: rapid.Int().Draw(t, "end"), Page: rapid.Int().Draw(t, "page"), Headings: texts.Draw(t, "headings")}
	})
	rapid.Check(t, func(t *rapid.T) {
		list := texts.Draw(t, "texts")
		if got, err := decodeStrings(encodeStrings(list)); err != nil || !reflect.DeepEqual(got, list) {
			t.Fatalf("got %q, %v, want %q", got, err, list)
		}
		chunks := rapid.OneOf(rapid.Just([]kb.Chunk(nil)), rapid.SliceOfN(chunk, 0, 4)).Draw(t, "chunks")
		if got, err := decodeChunks(encodeChunks(chunks)); err != nil || !reflect.DeepEqual(got, chunks) {
			t.Fatalf("got %+v, %v, want %+v", got, err, chunks)
		}
	})
}

// A list that is cut short is not taken for a shorter one.
func TestListsCutShort(t *testing.T) {
	whole := encodeChunks([]kb.Chunk{{End: 900, Page: 1}, {Start: 900, End: 2000, Headings: []string{"One", "Two"}}, {Start: 2000, End: 2001}})
	for n := range whole {
		if got, err := decodeChunks(whole[:n]); err == nil {
			t.Errorf("%d of %d bytes were read as %+v", n, len(whole), got)
		}
	}
	if _, err := decodeChunks(append(bytes.Clone(whole), 0)); err == nil {
		t.Error("a byte too many was overlooked")
	}
}

// FuzzLists reads damaged lists: they fail or are what they would be written as.
func FuzzLists(f *testing.F) {
	f.Add(encodeStrings(nil))
	f.Add(encodeStrings([]string{"a", "", "\xff"}))
	f.Add(encodeChunks([]kb.Chunk{{End: 9}, {Start: 9, End: 30, Page: 2, Headings: []string{"H"}}}))
	f.Add([]byte{listFormat, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1})
	f.Fuzz(func(t *testing.T, data []byte) {
		if list, err := decodeStrings(data); err == nil {
			if again, err := decodeStrings(encodeStrings(list)); err != nil || !reflect.DeepEqual(again, list) {
				t.Fatalf("%q became %q, %v", list, again, err)
			}
		}
		if chunks, err := decodeChunks(data); err == nil {
			if again, err := decodeChunks(encodeChunks(chunks)); err != nil || !reflect.DeepEqual(again, chunks) {
				t.Fatalf("%+v became %+v, %v", chunks, again, err)
			}
		}
	})
}
