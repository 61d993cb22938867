package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"dossier/index"
)

const (
	vectors    = 100_000
	dims       = 384
	clusters   = 1000
	vectorAsks = 200
)

// clustered returns n vectors around seeded centres, the way texts gather
// around topics. Queries are drawn with another stream around the same
// centres.
func clustered(n int, stream uint64) [][]float32 {
	centres := make([][]float32, clusters)
	r := rand.New(rand.NewPCG(1, 0))
	for i := range centres {
		centres[i] = make([]float32, dims)
		for j := range centres[i] {
			centres[i][j] = float32(r.NormFloat64())
		}
	}
	r = rand.New(rand.NewPCG(1, stream))
	out := make([][]float32, n)
	for i := range out {
		centre := centres[r.IntN(clusters)]
		out[i] = make([]float32, dims)
		for j := range out[i] {
			out[i][j] = centre[j] + 0.7*float32(r.NormFloat64())
		}
	}
	return out
}

// dense measures an exact scan beside plain float32 and beside reading the
// bytes that it must read.
func dense(w io.Writer) error {
	docs, queries := clustered(vectors, 1), clustered(vectorAsks, 2)
	b := index.NewVectorBuilder(dims)
	for i, v := range docs {
		if err := b.Add(strconv.Itoa(i), v); err != nil {
			return err
		}
	}
	data := b.Bytes()
	v, err := index.OpenVectors(data)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "\n## %d vectors of %d dimensions, %d queries, first ten; %.1f MB\n", vectors, dims, vectorAsks, float64(len(data))/1e6)

	var read, scan, plain []float64
	hits, wanted := 0, 0
	coarse := data[64 : 64+vectors*dims]
	again := slices.Clone(coarse)
	for i, q := range queries {
		// Comparing with a copy reads both with the widest loads there are.
		start := time.Now()
		if !bytes.Equal(coarse, again) {
			return errors.New("a copy differs")
		}
		read = append(read, since(start)/2)

		start = time.Now()
		got, err := v.Nearest(q, 10, nil)
		if err != nil {
			return err
		}
		scan = append(scan, since(start))

		if i%4 == 0 { // the exact answer is slow
			start = time.Now()
			want := exact(docs, q, 10)
			plain = append(plain, since(start))
			wanted += len(want)
			for _, h := range got {
				if slices.Contains(want, h.ID) {
					hits++
				}
			}
		}
	}
	bandwidth, ours := median(read[1:]), median(scan[1:])
	fmt.Fprintf(w, "reading the int8 rows        p50 %6.2f ms   %5.1f GB/s\n", bandwidth, float64(len(coarse))/bandwidth/1e6)
	fmt.Fprintf(w, "plain Go over float32        p50 %6.2f ms\n", median(plain))
	fmt.Fprintf(w, "dossier/index Nearest        p50 %6.2f ms   recall@10 %.4f\n", ours, float64(hits)/float64(wanted))
	fmt.Fprintf(w, "%.2f of the time to read [2 or less]; recall@10 [0.99 or more]\n", ours/bandwidth)
	return nil
}

func since(start time.Time) float64 { return float64(time.Since(start).Nanoseconds()) / 1e6 }

func median(values []float64) float64 {
	values = slices.Clone(values)
	slices.Sort(values)
	return values[len(values)/2]
}

// exact ranks by cosine in float32, as anyone would write it.
func exact(docs [][]float32, q []float32, limit int) []string {
	type scored struct {
		doc   int
		score float32
	}
	var best []scored
	for i, v := range docs {
		var a, b, c, d, n float32
		for j := 0; j+4 <= len(v) && j+4 <= len(q); j += 4 {
			a += v[j] * q[j]
			b += v[j+1] * q[j+1]
			c += v[j+2] * q[j+2]
			d += v[j+3] * q[j+3]
			n += v[j]*v[j] + v[j+1]*v[j+1] + v[j+2]*v[j+2] + v[j+3]*v[j+3]
		}
		s := scored{i, (a + b + c + d) / float32(math.Sqrt(float64(n)))}
		if len(best) == limit && s.score <= best[limit-1].score {
			continue
		}
		at, _ := slices.BinarySearchFunc(best, s, func(x, y scored) int {
			if x.score > y.score {
				return -1
			}
			return 1
		})
		best = slices.Insert(best, at, s)
		best = best[:min(limit, len(best))]
	}
	out := make([]string, len(best))
	for i, s := range best {
		out[i] = strconv.Itoa(s.doc)
	}
	return out
}
