package index

import (
	"fmt"
	"slices"
	"testing"
)

func TestIDs(t *testing.T) {
	b := NewBuilder()
	for _, id := range []string{"c", "a", "b"} {
		b.Add(Doc{ID: id, Text: "word " + id})
	}
	s, err := Open(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	less, err := s.Without("a")
	if err != nil {
		t.Fatal(err)
	}
	if got := slices.Collect(s.IDs()); !slices.Equal(got, []string{"c", "a", "b"}) || s.Deleted() != 0 {
		t.Errorf("got %v", got)
	}
	if got := slices.Collect(less.IDs()); !slices.Equal(got, []string{"c", "b"}) || less.Deleted() != 1 {
		t.Errorf("got %v", got)
	}
	if !s.Has("a") || less.Has("a") || !less.Has("b") || less.Has("x") {
		t.Error("the segment has other documents")
	}
}

func TestMergeVectors(t *testing.T) {
	whole := NewVectorBuilder(5)
	sets := make([]*Vectors, 3)
	for i := range sets {
		b := NewVectorBuilder(5)
		for j := range 4 {
			id := fmt.Sprint(i, "-", j)
			v := []float32{float32(i), float32(j), float32(i * j), 1, float32(i - j)}
			if err := b.Add(id, v); err != nil {
				t.Fatal(err)
			}
			if id != "1-2" {
				if err := whole.Add(id, v); err != nil {
					t.Fatal(err)
				}
			}
		}
		var err error
		if sets[i], err = OpenVectors(b.Bytes()); err != nil {
			t.Fatal(err)
		}
	}
	got, err := MergeVectors(func(id string) bool { return id != "1-2" }, sets...)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got, whole.Bytes()) {
		t.Error("joined vectors differ from vectors put in one by one")
	}
	v, err := OpenVectors(got)
	if err != nil {
		t.Fatal(err)
	}
	if ids := slices.Collect(v.IDs()); len(ids) != 11 || ids[0] != "0-0" {
		t.Errorf("ids %v", ids)
	}
	short := NewVectorBuilder(2)
	if err := short.Add("x", []float32{1, 2}); err != nil {
		t.Fatal(err)
	}
	other, err := OpenVectors(short.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := MergeVectors(nil, sets[0], other); err == nil {
		t.Error("vectors of two lengths were joined")
	}
}
