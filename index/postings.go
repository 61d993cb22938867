package index

import (
	"encoding/binary"
	"math/bits"
)

// A list of postings says in which documents a term occurs, in order, and how
// often. It is cut into blocks of blockSize. A block is a byte with the width
// of a document gap, a byte with the width of a count code, and then one
// value of both widths for each posting, packed without padding: the gap less
// one above, the count code below. Lists of more than one block begin with a
// skip entry for each: the last document (uint32), the offset of the block's
// end from the end of the entries (uint32), the highest count code and the
// least length code, which together bound what a document of the block can
// score.
const (
	blockSize = 128
	skipSize  = 10
)

// posting is one document of a list.
type posting struct {
	doc   uint32
	count uint8 // code
}

// appendPostings encodes a list; lens are the documents' length codes.
func appendPostings(out []byte, list []posting, lens []byte) []byte {
	blocks := (len(list) + blockSize - 1) / blockSize
	entries := len(out)
	if blocks > 1 {
		out = append(out, make([]byte, blocks*skipSize)...)
	}
	body := len(out)
	previous := uint32(0) // the least document that may come next
	for b := range blocks {
		part := list[b*blockSize : min(len(list), (b+1)*blockSize)]
		var gaps, codes uint32
		maxCount, minLen := uint8(0), byte(255)
		next := previous
		for _, p := range part {
			gaps |= p.doc - next
			codes |= uint32(p.count)
			next = p.doc + 1
			maxCount, minLen = max(maxCount, p.count), min(minLen, lens[p.doc])
		}
		gapWidth, countWidth := uint(bits.Len32(gaps)), uint(bits.Len32(codes))
		out = append(out, byte(gapWidth), byte(countWidth))
		width := gapWidth + countWidth
		var word uint64
		var have uint
		for _, p := range part {
			v := uint64(p.doc-previous)<<countWidth | uint64(p.count)
			previous = p.doc + 1
			word |= v << have
			have += width
			for have >= 8 {
				out = append(out, byte(word))
				word >>= 8
				have -= 8
			}
		}
		if have > 0 {
			out = append(out, byte(word))
		}
		if blocks > 1 {
			e := out[entries+b*skipSize:]
			binary.LittleEndian.PutUint32(e, previous-1)
			binary.LittleEndian.PutUint32(e[4:], uint32(len(out)-body))
			e[8], e[9] = maxCount, minLen
		}
	}
	return out
}

// list is an encoded list of postings.
type list struct {
	docs int    // how many documents
	skip []byte // skip entries, empty for a single block
	body []byte // blocks, and at least eight bytes after them
	size int    // of the blocks
}

// cutList finds the parts of a list of n documents in size bytes at data.
func cutList(data []byte, n uint32, size uint64) (list, bool) {
	blocks := (uint64(n) + blockSize - 1) / blockSize
	entries := uint64(0)
	if blocks > 1 {
		entries = blocks * skipSize
	}
	if entries > size || size+8 > uint64(len(data)) {
		return list{}, false
	}
	l := list{docs: int(n), skip: data[:entries], body: data[entries : size+8], size: int(size - entries)}
	return l, true
}

func (l *list) blocks() int { return (l.docs + blockSize - 1) / blockSize }

// span returns where a block begins in body and the least document it may hold.
func (l *list) span(block int) (from int, first uint32, ok bool) {
	to := l.size
	if len(l.skip) > 0 {
		if block > 0 {
			e := l.skip[(block-1)*skipSize:]
			first = binary.LittleEndian.Uint32(e) + 1
			from = int(binary.LittleEndian.Uint32(e[4:]))
		}
		to = int(binary.LittleEndian.Uint32(l.skip[block*skipSize+4:]))
	}
	if from+2 > to || to > l.size {
		return 0, 0, false
	}
	n := min(blockSize, l.docs-block*blockSize)
	width := int(l.body[from]) + int(l.body[from+1])
	ok = l.body[from] <= 32 && l.body[from+1] <= 5 && to-from == 2+(n*width+7)/8
	return from, first, ok
}

// last returns the last document of a block of a list with skip entries.
func (l *list) last(block int) uint32 {
	return binary.LittleEndian.Uint32(l.skip[block*skipSize:])
}

// postings are those of a block, as decode reads them.
type postings struct {
	docs   [blockSize]uint32
	counts [blockSize]uint8 // codes
}

// decode reads a block and returns how many postings it has. Documents rise
// and are less than docs.
func (l *list) decode(block int, docs uint32, out *postings) (int, bool) {
	from, first, ok := l.span(block)
	if !ok {
		return 0, false
	}
	n := min(blockSize, l.docs-block*blockSize)
	gapWidth, countWidth := uint(l.body[from]), uint(l.body[from+1])
	body := l.body[from+2:]
	if gapWidth+countWidth > fourWidth {
		return n, out.unpack(n, uint64(first), body, gapWidth, countWidth) < uint64(docs)
	}
	out.unpackFours(n, first, body, gapWidth, countWidth)
	// They rise, so that the last one vouches for all; gaps are too small to go
	// round and come back.
	last := out.docs[n-1]
	return n, first <= last && last < docs
}

// fourWidth is the width of which four fit into eight bytes from any bit.
const fourWidth = 57 / 4

// unpackFours reads n postings that are at most fourWidth wide, and perhaps
// some that are none after them. Like unpack it is a loop of its own so that
// all it needs stays in registers.
//
//go:noinline
func (p *postings) unpackFours(n int, next uint32, body []byte, gapWidth, countWidth uint) {
	gapWidth, countWidth = gapWidth&15, countWidth&7
	width := (gapWidth + countWidth) & 31
	gaps, counts := uint64(1)<<gapWidth-1, uint8(1)<<countWidth-1
	bit := uint(0)
	for i := 0; i < n; i += 4 {
		word := binary.LittleEndian.Uint64(body[bit>>3:]) >> (bit & 7)
		bit += 4 * width
		at := i & (blockSize - 4)
		next += uint32(word >> countWidth & gaps)
		p.docs[at], p.counts[at] = next, uint8(word)&counts
		word >>= width
		next += uint32(word>>countWidth&gaps) + 1
		p.docs[at+1], p.counts[at+1] = next, uint8(word)&counts
		word >>= width
		next += uint32(word>>countWidth&gaps) + 1
		p.docs[at+2], p.counts[at+2] = next, uint8(word)&counts
		word >>= width
		next += uint32(word>>countWidth&gaps) + 1
		p.docs[at+3], p.counts[at+3] = next, uint8(word)&counts
		next++
	}
}

// unpack reads n postings of any width and returns the last document.
func (p *postings) unpack(n int, next uint64, body []byte, gapWidth, countWidth uint) uint64 {
	gaps, counts := uint64(1)<<gapWidth-1, uint64(1)<<countWidth-1
	for i := range n {
		bit := uint(i) * (gapWidth + countWidth)
		word := binary.LittleEndian.Uint64(body[bit>>3:]) >> (bit & 7)
		next += word >> countWidth & gaps
		p.docs[i], p.counts[i] = uint32(next), uint8(word&counts)
		next++
	}
	return next - 1
}
