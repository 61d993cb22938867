package index

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
)

// A segment is a header and sections, little-endian throughout:
//
//	header    magic, version, documents, terms, dictionary blocks, tokens,
//	          then offset, length and CRC-32C of each section, then the
//	          header's own CRC-32C
//	languages code length, code, documents as uvarint; for Latin words
//	starts    offset of each document's id in ids, and the end: uint32
//	ids       the documents' ids, one after another
//	lengths   one byte a document, see lengthCode
//	blocks    offset of each dictionary block in terms: uint32
//	terms     blocks of termsPerBlock entries in order of the terms: shared
//	          prefix, rest, documents, bytes of postings, all with uvarints;
//	          a block begins with the offset of its first postings
//	postings  see postings.go; eight bytes longer than the last list
const (
	magic   = 0x31584449 // "IDX1"
	version = 1

	termsPerBlock = 16
)

const (
	secLanguages = iota
	secStarts
	secIDs
	secLengths
	secBlocks
	secTerms
	secPostings
	sections
)

const headerSize = 4*5 + 8 + sections*(8+8+4) + 4

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// errCorrupt says that bytes are not a segment or were damaged.
var errCorrupt = errors.New("index segment is damaged: build it again")

func corrupt(what string) error { return fmt.Errorf("%w (%s)", errCorrupt, what) }

// header is what a segment begins with.
type header struct {
	docs, terms, blocks uint32
	tokens              uint64 // in all documents, as weighted by field
}

// assemble writes a segment.
func assemble(h header, parts [sections][]byte) []byte {
	size := headerSize
	for _, p := range parts {
		size += len(p)
	}
	out := make([]byte, headerSize, size)
	le := binary.LittleEndian
	le.PutUint32(out[0:], magic)
	le.PutUint32(out[4:], version)
	le.PutUint32(out[8:], h.docs)
	le.PutUint32(out[12:], h.terms)
	le.PutUint32(out[16:], h.blocks)
	le.PutUint64(out[20:], h.tokens)
	at := 28
	for _, p := range parts {
		le.PutUint64(out[at:], uint64(len(out)))
		le.PutUint64(out[at+8:], uint64(len(p)))
		le.PutUint32(out[at+16:], crc32.Checksum(p, castagnoli))
		at += 20
		out = append(out, p...)
	}
	le.PutUint32(out[at:], crc32.Checksum(out[:at], castagnoli))
	return out
}

// dissect reads a header and cuts the sections. It looks at nothing but the
// header; sums are the checksums that the sections should have.
func dissect(data []byte) (h header, parts [sections][]byte, sums [sections]uint32, err error) {
	if len(data) < headerSize {
		return h, parts, sums, corrupt("cut short")
	}
	le := binary.LittleEndian
	if le.Uint32(data) != magic {
		return h, parts, sums, corrupt("not a segment")
	}
	if v := le.Uint32(data[4:]); v != version {
		return h, parts, sums, fmt.Errorf("index segment has format %d, not %d: build it again", v, version)
	}
	at := headerSize - 4
	if le.Uint32(data[at:]) != crc32.Checksum(data[:at], castagnoli) {
		return h, parts, sums, corrupt("header")
	}
	h = header{le.Uint32(data[8:]), le.Uint32(data[12:]), le.Uint32(data[16:]), le.Uint64(data[20:])}
	end := uint64(headerSize)
	at = 28
	for i := range parts {
		off, size := le.Uint64(data[at:]), le.Uint64(data[at+8:])
		if off != end || size > uint64(len(data))-off {
			return h, parts, sums, corrupt("cut short")
		}
		end = off + size
		parts[i], sums[i] = data[off:end:end], le.Uint32(data[at+16:])
		at += 20
	}
	if end != uint64(len(data)) {
		return h, parts, sums, corrupt("bytes after the end")
	}
	n := uint64(h.docs)
	if uint64(len(parts[secStarts])) != 4*(n+1) || uint64(len(parts[secLengths])) != n ||
		uint64(len(parts[secBlocks])) != 4*uint64(h.blocks) || len(parts[secPostings]) < 8 ||
		(uint64(h.terms)+termsPerBlock-1)/termsPerBlock != uint64(h.blocks) {
		return h, parts, sums, corrupt("sections do not fit the header")
	}
	return h, parts, sums, nil
}

// A document's length is kept in a byte: exact to 63 tokens, then in steps of
// a sixteenth of an octave.
const exactLengths = 64

var lengths = func() (t [256]float32) {
	for i := range t {
		t[i] = float32(i)
		if i > exactLengths {
			t[i] = float32(exactLengths * math.Exp2(float64(i-exactLengths)/16))
		}
	}
	return t
}()

// lengthCode returns the byte whose length is nearest to n.
func lengthCode(n uint32) byte {
	if n <= exactLengths {
		return byte(n)
	}
	return byte(min(255, exactLengths+math.Round(16*math.Log2(float64(n)/exactLengths))))
}

// How often a term occurs is kept in five bits: exact to 16, then in steps of
// two fifths of an octave.
const (
	countCodes  = 32
	exactCounts = 16
)

var counts = func() (t [countCodes]float32) {
	for i := range t {
		t[i] = float32(i + 1)
		if i+1 > exactCounts {
			t[i] = float32(exactCounts * math.Exp2(float64(i+1-exactCounts)/2.5))
		}
	}
	return t
}()

// countCode returns the code whose count is nearest to n, which is at least 1.
func countCode(n uint32) uint8 {
	if n <= exactCounts {
		return uint8(n - 1)
	}
	return uint8(min(countCodes-1, exactCounts-1+math.Round(2.5*math.Log2(float64(n)/exactCounts))))
}
