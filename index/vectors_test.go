package index

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
)

func TestKernelsAgree(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, dims := range []int{32, 64, 384, 1024} {
		for rows := range 7 {
			data, q := make([]byte, rows*dims), make([]int16, dims)
			for i := range data {
				data[i] = byte(int8(r.IntN(255) - 127))
			}
			for i := range q {
				q[i] = int16(r.IntN(4000) - 2000)
			}
			got, want := make([]int32, rows), make([]int32, rows)
			dotRows(data, q, got)
			dotRowsPortable(data, q, want)
			if !slices.Equal(got, want) {
				t.Fatalf("%d rows of %d: %v, want %v", rows, dims, got, want)
			}
		}
	}
}

func TestNearest(t *testing.T) {
	const n, dims = 2000, 100
	r := rand.New(rand.NewPCG(3, 4))
	draw := func() []float32 {
		v := make([]float32, dims)
		for i := range v {
			v[i] = float32(r.NormFloat64())
		}
		return v
	}
	b := NewVectorBuilder(dims)
	var docs [][]float32
	for i := range n {
		docs = append(docs, draw())
		if err := b.Add(strconv.Itoa(i), docs[i]); err != nil {
			t.Fatal(err)
		}
	}
	v, err := OpenVectors(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	cosine := func(a, b []float32) float64 {
		dot := 0.0
		for i := range a {
			dot += float64(a[i]) * float64(b[i])
		}
		x, _ := measure(a)
		y, _ := measure(b)
		return dot / x / y
	}
	hits, wanted := 0, 0
	for range 50 {
		q := draw()
		var exact []Hit
		for i, d := range docs {
			exact = append(exact, Hit{strconv.Itoa(i), cosine(q, d)})
		}
		slices.SortFunc(exact, byScore)
		got, err := v.Nearest(q, 10, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i, h := range got {
			if math.Abs(h.Score-exact[i].Score) > 1e-4 {
				t.Errorf("place %d has cosine %v, want %v", i, h.Score, exact[i].Score)
			}
			for _, e := range exact[:10] {
				if e.ID == h.ID {
					hits++
				}
			}
		}
		wanted += 10
	}
	if hits*100 < wanted*99 {
		t.Errorf("found %d of %d", hits, wanted)
	}
	only := func(id string) bool { return len(id) == 1 }
	if got, err := v.Nearest(docs[7], 3, only); err != nil || len(got) != 3 || got[0].ID != "7" {
		t.Errorf("filtered: %v, %v", got, err)
	}
	if got, err := v.Nearest(docs[7], 5000, nil); err != nil || len(got) != n {
		t.Errorf("all of them: %d, %v", len(got), err)
	}
}

func TestVectorsRefuse(t *testing.T) {
	b := NewVectorBuilder(2)
	nan := float32(math.NaN())
	for _, v := range [][]float32{{1}, {1, 2, 3}, {nan, 1}} {
		if err := b.Add("x", v); err == nil {
			t.Errorf("took %v", v)
		}
	}
	if err := b.Add("zero", []float32{0, 0}); err != nil {
		t.Error(err)
	}
	if err := b.Add("one", []float32{1, 0}); err != nil {
		t.Error(err)
	}
	data := b.Bytes()
	v, err := OpenVectors(data)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := v.Nearest([]float32{1}, 1, nil); err == nil {
		t.Error("took a query of another size")
	}
	for i := range data {
		if _, err := OpenVectors(data[:i]); err == nil {
			t.Fatalf("opened %d of %d bytes", i, len(data))
		}
	}
	data[vectorHeader] ^= 1
	if v, err = OpenVectors(data); err == nil {
		_, err = v.Nearest([]float32{1, 1}, 1, nil)
	}
	if err == nil {
		t.Error("a changed byte was not noticed")
	}
}
