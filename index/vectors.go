package index

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"slices"
	"sync"
	"unsafe"
)

// A vector is kept as unit length in two bytes a dimension: a coarse byte
// with one scale for the vector, which a scan reads, and a fine byte, 1/254
// of the coarse step, which is read for the best candidates only. Rows are
// padded to a multiple of rowUnit.
//
//	header  magic, version, dimensions, vectors, bytes of ids, CRC-32C of the
//	        header, CRC-32C of the rest; then padding to 64 bytes
//	coarse  a row of int8 for each vector, then the fine rows likewise
//	scales  float32
//	starts  offset of each id, and the end: uint32
//	ids     one after another
const (
	vectorMagic   = 0x31434556 // "VEC1"
	vectorVersion = 1
	vectorHeader  = 64
	rowUnit       = 32
	fineSteps     = 254
	maxDimensions = 1 << 14
)

// VectorBuilder collects vectors for [OpenVectors]. It is not safe for
// concurrent use.
type VectorBuilder struct {
	dims         int
	coarse, fine []byte
	scales       []float32
	starts       []uint32
	ids          []byte
}

// NewVectorBuilder returns a builder for vectors of dims dimensions.
func NewVectorBuilder(dims int) *VectorBuilder { return &VectorBuilder{dims: dims} }

// Add appends a document's vector; only its direction counts.
func (b *VectorBuilder) Add(id string, vector []float32) error {
	if len(vector) != b.dims || b.dims == 0 || b.dims > maxDimensions {
		return fmt.Errorf("vector of %s has %d dimensions, want %d", id, len(vector), b.dims)
	}
	norm, most := measure(vector)
	if math.IsNaN(norm) || math.IsInf(norm, 0) {
		return fmt.Errorf("vector of %s is not finite", id)
	}
	b.starts = append(b.starts, uint32(len(b.ids)))
	b.ids = append(b.ids, id...)
	row := rowSize(b.dims)
	at := len(b.coarse)
	b.coarse = append(b.coarse, make([]byte, row)...)
	b.fine = append(b.fine, make([]byte, row)...)
	if norm == 0 {
		b.scales = append(b.scales, 0)
		return nil
	}
	step := most / 127
	b.scales = append(b.scales, float32(step/norm))
	for i, v := range vector {
		c := math.Round(float64(v) / step)
		f := math.Round((float64(v)/step - c) * fineSteps)
		b.coarse[at+i] = byte(int8(c))
		b.fine[at+i] = byte(int8(max(-127, min(127, f))))
	}
	return nil
}

// Copy appends a vector of a set under another id, without loss.
func (b *VectorBuilder) Copy(id string, from *Vectors, row int) error {
	if from.dims != b.dims || row < 0 || row >= from.n {
		return fmt.Errorf("vector %d of %d with %d dimensions can't be copied for %s, want %d", row, from.n, from.dims, id, b.dims)
	}
	if err := from.verify(); err != nil {
		return err
	}
	at := row * from.row
	b.starts = append(b.starts, uint32(len(b.ids)))
	b.ids = append(b.ids, id...)
	b.coarse = append(b.coarse, from.coarse[at:at+from.row]...)
	b.fine = append(b.fine, from.fine[at:at+from.row]...)
	b.scales = append(b.scales, from.scale(row))
	return nil
}

// measure returns the length of a vector and its largest component.
func measure(vector []float32) (norm, most float64) {
	sum := 0.0
	for _, v := range vector {
		sum += float64(v) * float64(v)
		most = max(most, math.Abs(float64(v)))
	}
	return math.Sqrt(sum), most
}

func rowSize(dims int) int { return (dims + rowUnit - 1) / rowUnit * rowUnit }

// Bytes returns the vectors added so far.
func (b *VectorBuilder) Bytes() []byte {
	out := make([]byte, vectorHeader, vectorHeader+2*len(b.coarse)+8*len(b.starts)+4+len(b.ids))
	out = append(append(out, b.coarse...), b.fine...)
	for _, s := range b.scales {
		out = binary.LittleEndian.AppendUint32(out, math.Float32bits(s))
	}
	out = appendUint32s(out, append(slices.Clone(b.starts), uint32(len(b.ids))))
	out = append(out, b.ids...)
	for i, v := range []uint32{vectorMagic, vectorVersion, uint32(b.dims), uint32(len(b.starts)), uint32(len(b.ids)),
		crc32.Checksum(out[vectorHeader:], castagnoli)} {
		binary.LittleEndian.PutUint32(out[4*i:], v)
	}
	binary.LittleEndian.PutUint32(out[24:], crc32.Checksum(out[:24], castagnoli))
	return out
}

// Vectors answers which vectors are nearest to another by looking at all of
// them. It is safe for concurrent use.
type Vectors struct {
	dims, row, n int
	coarse, fine []byte
	scales       []byte
	starts, ids  []byte
	verify       func() error
}

var errVectors = errors.New("vectors are damaged: embed the documents again")

// OpenVectors reads what [VectorBuilder.Bytes] made. It looks at the header
// only, and keeps data, which must not change; the checksum is compared
// before the first search.
func OpenVectors(data []byte) (*Vectors, error) {
	if len(data) < vectorHeader {
		return nil, errVectors
	}
	var h [7]uint32
	for i := range h {
		h[i] = binary.LittleEndian.Uint32(data[4*i:])
	}
	if h[0] != vectorMagic || h[1] != vectorVersion || h[6] != crc32.Checksum(data[:24], castagnoli) || h[2] > maxDimensions {
		return nil, errVectors
	}
	v := &Vectors{dims: int(h[2]), row: rowSize(int(h[2])), n: int(h[3])}
	rest := data[vectorHeader:]
	cut := func(n int) []byte {
		if n > len(rest) {
			v.n = -1
			return nil
		}
		part := rest[:n:n]
		rest = rest[n:]
		return part
	}
	n := v.n
	if uint64(n)*uint64(2*v.row+8)+4+uint64(h[4]) != uint64(len(rest)) {
		return nil, errVectors
	}
	v.coarse, v.fine, v.scales = cut(n*v.row), cut(n*v.row), cut(4*n)
	v.starts, v.ids = cut(4*n+4), cut(int(h[4]))
	if v.n < 0 {
		return nil, errVectors
	}
	v.verify = sync.OnceValue(func() error {
		if crc32.Checksum(data[vectorHeader:], castagnoli) != h[5] {
			return errVectors
		}
		last := uint32(0)
		for i := range n + 1 {
			at := binary.LittleEndian.Uint32(v.starts[4*i:])
			if at < last || at > h[4] {
				return errVectors
			}
			last = at
		}
		return nil
	})
	return v, nil
}

// Len returns how many vectors there are.
func (v *Vectors) Len() int { return v.n }

// Dims returns how many dimensions they have.
func (v *Vectors) Dims() int { return v.dims }

func (v *Vectors) id(i int) string {
	s := v.starts[4*i:]
	return string(v.ids[binary.LittleEndian.Uint32(s):binary.LittleEndian.Uint32(s[4:])])
}

func (v *Vectors) scale(i int) float32 {
	return math.Float32frombits(binary.LittleEndian.Uint32(v.scales[4*i:]))
}

// scanRows is how many rows are scored at a time.
const scanRows = 256

// Nearest returns the documents whose vectors point most nearly the way of
// query, with the cosine of the angle, the best first; filter, unless nil,
// leaves documents out.
func (v *Vectors) Nearest(query []float32, limit int, filter func(id string) bool) ([]Hit, error) {
	if len(query) != v.dims {
		return nil, fmt.Errorf("query vector has %d dimensions, want %d", len(query), v.dims)
	}
	if err := v.verify(); err != nil {
		return nil, err
	}
	norm, most := measure(query)
	if math.IsNaN(norm) || math.IsInf(norm, 0) {
		return nil, errors.New("query vector is not finite")
	}
	if v.n == 0 || norm == 0 {
		return nil, nil
	}
	if limit <= 0 {
		limit = 10
	}
	// The query is scaled so that its components fit int16 and no sum of
	// products leaves int32.
	fit := min(32767/most, math.MaxInt32/(128*math.Sqrt(float64(v.row)))/norm*0.99)
	q := make([]int16, v.row)
	for i, c := range query {
		q[i] = int16(math.Round(float64(c) * fit))
	}
	keep := nearest{limit: min(v.n, 3*limit+20), floor: -math.MaxFloat32}
	var sums [scanRows]int32
	for from := 0; from < v.n; from += scanRows {
		rows := min(scanRows, v.n-from)
		dotRows(v.coarse[from*v.row:], q, sums[:rows])
		scales := v.scales[4*from:]
		for i, sum := range sums[:rows] {
			s := float32(sum) * math.Float32frombits(binary.LittleEndian.Uint32(scales[4*i:]))
			if s > keep.floor && (filter == nil || filter(v.id(from+i))) {
				keep.add(from+i, s)
			}
		}
	}
	out := make([]Hit, len(keep.heap))
	for i, c := range keep.heap {
		at := c.row * v.row
		sum := 0.0
		for j, x := range query {
			sum += float64(x) * (float64(int8(v.coarse[at+j])) + float64(int8(v.fine[at+j]))/fineSteps)
		}
		out[i] = Hit{v.id(c.row), sum * float64(v.scale(c.row)) / norm}
	}
	slices.SortFunc(out, byScore)
	return out[:min(limit, len(out))], nil
}

// nearest keeps the rows with the highest scores: a heap with the least on
// top.
type nearest struct {
	limit int
	floor float32
	heap  []near
}

type near struct {
	row   int
	score float32
}

func (k *nearest) add(row int, score float32) {
	if len(k.heap) == 0 {
		k.heap = make([]near, 0, k.limit)
	}
	if len(k.heap) < k.limit {
		k.heap = append(k.heap, near{row, score})
		for i := len(k.heap) - 1; i > 0; {
			up := (i - 1) / 2
			if k.heap[up].score <= k.heap[i].score {
				break
			}
			k.heap[up], k.heap[i] = k.heap[i], k.heap[up]
			i = up
		}
	} else {
		k.heap[0] = near{row, score}
		for i := 0; ; {
			c := 2*i + 1
			if c >= len(k.heap) {
				break
			}
			if c+1 < len(k.heap) && k.heap[c+1].score < k.heap[c].score {
				c++
			}
			if k.heap[i].score <= k.heap[c].score {
				break
			}
			k.heap[i], k.heap[c] = k.heap[c], k.heap[i]
			i = c
		}
	}
	if len(k.heap) == k.limit {
		k.floor = k.heap[0].score
	}
}

// dotRowsPortable sets each sum to the product of a row of int8 with q.
func dotRowsPortable(rows []byte, q []int16, sums []int32) {
	for i := range sums {
		row := rows[i*len(q) : (i+1)*len(q)]
		var a, b, c, d int32
		for j := 0; j+8 <= len(row) && j+8 <= len(q); j += 8 {
			r, w := row[j:j+8:j+8], q[j:j+8:j+8]
			a += int32(int8(r[0]))*int32(w[0]) + int32(int8(r[4]))*int32(w[4])
			b += int32(int8(r[1]))*int32(w[1]) + int32(int8(r[5]))*int32(w[5])
			c += int32(int8(r[2]))*int32(w[2]) + int32(int8(r[6]))*int32(w[6])
			d += int32(int8(r[3]))*int32(w[3]) + int32(int8(r[7]))*int32(w[7])
		}
		sums[i] = a + b + c + d
	}
}

// first returns the address of a slice that is not empty.
func first[T any](s []T) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(s)) }
