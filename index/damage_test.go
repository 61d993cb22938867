package index

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"testing"
)

func sample(t testing.TB, n int) *Segment {
	var docs []Doc
	for i := range n {
		docs = append(docs, Doc{ID: fmt.Sprint(i), Text: fmt.Sprintf("common word%d and part%d", i%7, i%150)})
	}
	return open(t, docs...)
}

// use does with a segment what can be done; only errors may come of it.
func use(s *Segment) error {
	if _, err := New(s, s).Search(Query{Text: "common word3 part77"}); err != nil {
		return err
	}
	if _, err := s.Without("5"); err != nil {
		return err
	}
	_, err := Merge(s)
	return err
}

func TestTruncatedSegment(t *testing.T) {
	data := sample(t, 300).Bytes()
	for n := range data {
		if _, err := Open(data[:n]); err == nil {
			t.Fatalf("the first %d of %d bytes opened", n, len(data))
		}
	}
}

func TestFlippedBits(t *testing.T) {
	data := sample(t, 40).Bytes()
	for i := range data {
		broken := append([]byte(nil), data...)
		broken[i] ^= 0x10
		s, err := Open(broken)
		if err == nil {
			err = use(s)
		}
		if err == nil {
			t.Fatalf("nobody noticed a change of byte %d", i)
		}
	}
}

// reseal makes the checksums right again, so that damage reaches the code
// behind them.
func reseal(data []byte) {
	le := binary.LittleEndian
	if len(data) < headerSize {
		return
	}
	for at := 28; at < headerSize-4; at += 20 {
		off, size := le.Uint64(data[at:]), le.Uint64(data[at+8:])
		if off <= uint64(len(data)) && size <= uint64(len(data))-off {
			le.PutUint32(data[at+16:], crc32.Checksum(data[off:off+size], castagnoli))
		}
	}
	le.PutUint32(data[headerSize-4:], crc32.Checksum(data[:headerSize-4], castagnoli))
}

func TestResealedDamage(t *testing.T) {
	data := sample(t, 400).Bytes()
	for i := range data {
		for _, mask := range []byte{0x01, 0x80, 0xff} {
			broken := append([]byte(nil), data...)
			broken[i] ^= mask
			reseal(broken)
			if s, err := Open(broken); err == nil {
				_ = use(s)
			}
		}
	}
}

func FuzzSegment(f *testing.F) {
	f.Add(sample(f, 3).Bytes())
	f.Add(sample(f, 300).Bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		data = append([]byte(nil), data...)
		reseal(data)
		if s, err := Open(data); err == nil {
			_ = use(s)
		}
	})
}

func FuzzVectors(f *testing.F) {
	b := NewVectorBuilder(3)
	_ = b.Add("a", []float32{1, 2, 3})
	f.Add(b.Bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		data = append([]byte(nil), data...)
		if len(data) >= vectorHeader {
			binary.LittleEndian.PutUint32(data[20:], crc32.Checksum(data[vectorHeader:], castagnoli))
			binary.LittleEndian.PutUint32(data[24:], crc32.Checksum(data[:24], castagnoli))
		}
		if v, err := OpenVectors(data); err == nil {
			_, _ = v.Nearest(make([]float32, v.Dims()), 3, nil)
			q := make([]float32, v.Dims())
			for i := range q {
				q[i] = float32(i)
			}
			_, _ = v.Nearest(q, 3, nil)
		}
	})
}

func FuzzScan(f *testing.F) {
	for _, s := range []string{"Нева́ 3.14", "北京 １２", "don't ﬁ \xff\xfe é é", "a\u0306и\u0306"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var s scanner
		s.reset(text)
		last := 0
		for s.next() {
			if s.start < 0 || s.end > len(text) || s.start >= s.end || s.end < last || len(s.surface) == 0 {
				t.Fatalf("token %q at %d:%d after %d in %q", s.surface, s.start, s.end, last, text)
			}
			last = s.end
		}
	})
}
