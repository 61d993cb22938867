package ngram

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
)

// A Model scores the languages of one script. It reads the table in place:
// opening one allocates only its small output matrix.
//
// A feature's vector of Dims signed bytes lies in a bucket of four slots, each
// guarded by a 16-bit check, so that a feature the table doesn't know scores
// nothing. Words' vectors are summed, and the output matrix turns the sum into
// one logit per language.
type Model struct {
	Script string
	Langs  []string

	dims    int
	shift   uint   // hash >> shift is the bucket
	buckets string // bucket: 4 checks of 2 bytes, then 4 vectors of dims bytes
	bias    []float32
	out     []float32 // len(Langs) rows of dims, quantisation scale included
}

// Slots is how many features a bucket holds.
const Slots = 4

// MaxDims bounds the length of a feature vector.
const MaxDims = 32

const magic = "DLNG1\n"

// Open reads the models that Write wrote.
func Open(data string) ([]*Model, error) {
	r := reader{s: data}
	if r.take(len(magic)) != magic {
		return nil, errors.New("language table: bad header; regenerate it")
	}
	var models []*Model
	for n := r.uint32(); n > 0 && r.err == nil; n-- {
		m := &Model{Script: r.text(), Langs: strings.Fields(r.text())}
		m.dims = int(r.uint32())
		bits := uint(r.uint32())
		if m.dims < 1 || m.dims > MaxDims || bits < 1 || bits > 30 {
			return nil, fmt.Errorf("language table: %s: %d dimensions, %d bits", m.Script, m.dims, bits)
		}
		m.shift = 64 - bits
		m.bias = r.floats(len(m.Langs))
		m.out = r.floats(len(m.Langs) * m.dims)
		m.buckets = r.take((1 << bits) * m.bucketSize())
		models = append(models, m)
	}
	if r.err == nil && r.s != "" {
		r.err = errors.New("data after the last model")
	}
	if r.err != nil {
		return nil, fmt.Errorf("language table: %w", r.err)
	}
	return models, nil
}

func (m *Model) bucketSize() int { return Slots * (2 + m.dims) }

// Vector is the sum of feature vectors of a text.
type Vector [MaxDims]int32

// Add adds the vectors of the features to v and reports how many of them the
// table knows.
func (m *Model) Add(v *Vector, features []uint64) (known int) {
	var sums lanes
	size := m.bucketSize()
	for _, h := range features {
		b := m.buckets[int(h>>m.shift)*size:][:size]
		check := Check(h)
		checks := word(b)
		for s := range Slots {
			if uint16(checks>>(16*s)) != check {
				continue
			}
			known++
			if vec := b[2*Slots+s*m.dims:][:m.dims]; sums.add(vec) {
				sums.flush(v)
			}
			break
		}
	}
	sums.flush(v)
	return known
}

// lanes sums vectors eight components at a time: each is raised by 128 so that
// none is below zero, and has 16 bits of a word for itself.
type lanes struct {
	even, odd [MaxDims / 8]uint64
	vectors   int32
	dims      int
}

const (
	signs    = 0x8080808080808080
	everyOne = 0x00ff00ff00ff00ff
	fullAt   = 257 // times 255 is what 16 bits hold
)

// add adds vec, and reports whether the lanes are full.
func (l *lanes) add(vec string) bool {
	l.dims = len(vec)
	for i := 0; len(vec) > 0; i++ {
		var x uint64
		if len(vec) >= 8 {
			x, vec = word(vec), vec[8:]
		} else {
			for d := range len(vec) {
				x |= uint64(vec[d]) << (8 * d)
			}
			vec = ""
		}
		x ^= signs
		l.even[i] += x & everyOne
		l.odd[i] += x >> 8 & everyOne
	}
	l.vectors++
	return l.vectors == fullAt
}

// flush moves what was summed to v.
func (l *lanes) flush(v *Vector) {
	for d := range l.dims {
		lane := l.even[d/8]
		if d%2 == 1 {
			lane = l.odd[d/8]
		}
		v[d] += int32(lane>>(d%8/2*16)&0xffff) - 128*l.vectors
	}
	*l = lanes{}
}

// word is the first eight bytes of s.
func word(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// Logits writes one score per language to dst, which must have room for all.
func (m *Model) Logits(dst []float64, v *Vector) {
	for l := range m.Langs {
		s := m.bias[l]
		for d, w := range m.out[l*m.dims:][:m.dims] {
			s += w * float32(v[d])
		}
		dst[l] = float64(s)
	}
}

// Check is the guard stored beside a feature; it is never zero, which marks an
// empty slot.
func Check(h uint64) uint16 {
	if c := uint16(h); c != 0 {
		return c
	}
	return 1
}

// A Trained model is what the generator hands to Write.
type Trained struct {
	Script  string
	Langs   []string
	Dims    int
	Bits    uint // 1<<Bits buckets
	Bias    []float32
	Out     []float32         // len(Langs) rows of Dims
	Vectors map[uint64][]int8 // by feature hash
	Order   []uint64          // most useful first: the last lose when a bucket is full
}

// Write returns the table of the models and how many features found no slot.
func Write(models []Trained) (data []byte, dropped int) {
	data = append(data, magic...)
	data = binary.LittleEndian.AppendUint32(data, uint32(len(models)))
	for _, t := range models {
		data = appendText(data, t.Script)
		data = appendText(data, strings.Join(t.Langs, " "))
		data = binary.LittleEndian.AppendUint32(data, uint32(t.Dims))
		data = binary.LittleEndian.AppendUint32(data, uint32(t.Bits))
		for _, f := range append(append([]float32(nil), t.Bias...), t.Out...) {
			data = binary.LittleEndian.AppendUint32(data, math.Float32bits(f))
		}
		size := Slots * (2 + t.Dims)
		buckets := make([]byte, (1<<t.Bits)*size)
		for _, h := range t.Order {
			if !place(buckets[int(h>>(64-t.Bits))*size:][:size], Check(h), t.Vectors[h]) {
				dropped++
			}
		}
		data = append(data, buckets...)
	}
	return data, dropped
}

func place(bucket []byte, check uint16, vec []int8) bool {
	for s := range Slots {
		at := bucket[2*s:]
		switch binary.LittleEndian.Uint16(at) {
		case check:
			return false
		case 0:
			binary.LittleEndian.PutUint16(at, check)
			for d, x := range vec {
				bucket[2*Slots+s*len(vec)+d] = byte(x)
			}
			return true
		}
	}
	return false
}

func appendText(data []byte, s string) []byte {
	data = binary.LittleEndian.AppendUint32(data, uint32(len(s)))
	return append(data, s...)
}

type reader struct {
	s   string
	err error
}

func (r *reader) take(n int) string {
	if n < 0 || n > len(r.s) {
		r.err = errors.New("cut short")
		r.s = ""
		return ""
	}
	out := r.s[:n]
	r.s = r.s[n:]
	return out
}

func (r *reader) uint32() uint32 {
	b := r.take(4)
	if len(b) < 4 {
		return 0
	}
	return uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24
}

func (r *reader) text() string { return strings.Clone(r.take(int(r.uint32()))) }

func (r *reader) floats(n int) []float32 {
	out := make([]float32, n)
	for i := range out {
		out[i] = math.Float32frombits(r.uint32())
	}
	return out
}
