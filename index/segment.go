package index

import (
	"encoding/binary"
	"hash/crc32"
	"sync"

	"dossier/lang"
)

// Segment is an immutable set of indexed documents, read in place. It is safe
// for concurrent use.
type Segment struct {
	header
	data      []byte
	parts     [sections][]byte
	sums      [sections]uint32
	languages []languageCount

	verify  func() error
	gone    []uint64 // deleted documents, one bit each; nil if there is none
	deleted int
	numbers func() map[string]uint32 // of documents by id
}

// languageCount is how many documents were stemmed in a language.
type languageCount struct {
	code lang.Code
	docs uint64
}

// Open reads a segment made by [Builder.Bytes] or [Merge]. It looks at the
// header only, and keeps data, which must not change. Checksums are compared
// before the first search; [Segment.Verify] does it at once.
func Open(data []byte) (*Segment, error) {
	h, parts, sums, err := dissect(data)
	if err != nil {
		return nil, err
	}
	s := &Segment{header: h, data: data, parts: parts, sums: sums}
	rest := parts[secLanguages]
	for len(rest) > 0 {
		size, n := binary.Uvarint(rest)
		if n <= 0 || size > uint64(len(rest)-n) {
			return nil, corrupt("languages")
		}
		code := lang.Code(rest[n : n+int(size)])
		rest = rest[n+int(size):]
		docs, n := binary.Uvarint(rest)
		if n <= 0 {
			return nil, corrupt("languages")
		}
		rest = rest[n:]
		s.languages = append(s.languages, languageCount{code, docs})
	}
	s.verify = sync.OnceValue(s.checkSums)
	s.numbers = sync.OnceValue(s.numberIDs)
	return s, nil
}

// Verify compares the checksums of all bytes.
func (s *Segment) Verify() error { return s.verify() }

func (s *Segment) checkSums() error {
	for i, p := range s.parts {
		if crc32.Checksum(p, castagnoli) != s.sums[i] {
			return corrupt("checksum")
		}
	}
	last := uint32(0)
	for i := range s.docs + 1 {
		at := binary.LittleEndian.Uint32(s.parts[secStarts][4*i:])
		if at < last || uint64(at) > uint64(len(s.parts[secIDs])) {
			return corrupt("ids")
		}
		last = at
	}
	return nil
}

// Bytes returns what the segment was opened from.
func (s *Segment) Bytes() []byte { return s.data }

// Len returns how many documents a search can find.
func (s *Segment) Len() int { return int(s.docs) - s.deleted }

// id returns a document's id; the segment is verified.
func (s *Segment) id(doc uint32) string { return string(s.idBytes(doc)) }

func (s *Segment) idBytes(doc uint32) []byte {
	starts := s.parts[secStarts][4*doc:]
	return s.parts[secIDs][binary.LittleEndian.Uint32(starts):binary.LittleEndian.Uint32(starts[4:])]
}

func (s *Segment) isGone(doc uint32) bool {
	return s.gone != nil && s.gone[doc>>6]>>(doc&63)&1 != 0
}

// cursor walks over a dictionary block.
type cursor struct {
	s    *Segment
	rest []byte
	at   uint64 // of the next postings
	left int    // entries in the block

	// The entry at hand.
	shared int    // bytes that its name has in common with the one before
	suffix []byte // the rest of its name
	docs   uint32
	size   uint64 // of its postings, which end at at
}

func (s *Segment) block(i uint32) (cursor, bool) {
	from := uint64(binary.LittleEndian.Uint32(s.parts[secBlocks][4*i:]))
	if from > uint64(len(s.parts[secTerms])) {
		return cursor{}, false
	}
	c := cursor{s: s, rest: s.parts[secTerms][from:], left: int(min(termsPerBlock, s.terms-i*termsPerBlock))}
	return c, c.uvarint(&c.at)
}

func (c *cursor) uvarint(v *uint64) bool {
	if len(c.rest) > 0 && c.rest[0] < 0x80 {
		*v = uint64(c.rest[0])
		c.rest = c.rest[1:]
		return true
	}
	x, n := binary.Uvarint(c.rest)
	if n <= 0 {
		return false
	}
	*v, c.rest = x, c.rest[n:]
	return true
}

// next reads an entry; it is false at the end of the block too.
func (c *cursor) next() bool {
	var shared, rest, docs uint64
	if c.left == 0 || !c.uvarint(&shared) || !c.uvarint(&rest) ||
		shared > uint64(c.shared+len(c.suffix)) || rest > uint64(len(c.rest)) {
		return false
	}
	c.shared, c.suffix = int(shared), c.rest[:rest]
	c.rest = c.rest[rest:]
	if !c.uvarint(&docs) || !c.uvarint(&c.size) || docs == 0 || docs > uint64(c.s.docs) {
		return false
	}
	c.docs = uint32(docs)
	c.at += c.size
	c.left--
	return c.size <= c.at && c.at <= uint64(len(c.s.parts[secPostings]))
}

// postings returns those of the entry at hand.
func (c *cursor) postings() (list, bool) {
	return cutList(c.s.parts[secPostings][c.at-c.size:], c.docs, c.size)
}

// find looks a term up. A term that no document holds has no postings.
func (s *Segment) find(term string) (list, error) {
	// The last block whose first term is not greater.
	lo, hi := uint32(0), s.blocks
	terms, blocks := s.parts[secTerms], s.parts[secBlocks]
	for lo < hi {
		mid := lo + (hi-lo)/2
		at := uint64(binary.LittleEndian.Uint32(blocks[4*mid:]))
		if at >= uint64(len(terms)) {
			return list{}, corrupt("dictionary")
		}
		first, ok := firstTerm(terms[at:])
		if !ok {
			return list{}, corrupt("dictionary")
		}
		if string(first) <= term {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo == 0 {
		return list{}, nil
	}
	c, ok := s.block(lo - 1)
	same := 0 // bytes that term has in common with the last entry, which is less
	for ok && c.left > 0 {
		if ok = c.next(); !ok || c.shared > same {
			continue // less as the last one is
		}
		if c.shared < same {
			return list{}, nil // greater where the last one was equal
		}
		n := common(c.suffix, term[same:])
		same += n
		if n < len(c.suffix) {
			if same == len(term) || c.suffix[n] > term[same] {
				return list{}, nil
			}
		} else if same == len(term) {
			if l, ok := c.postings(); ok {
				return l, nil
			}
			return list{}, corrupt("dictionary")
		}
	}
	if !ok {
		return list{}, corrupt("dictionary")
	}
	return list{}, nil
}

// common returns how many bytes a and b begin with in common.
func common(a []byte, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// firstTerm returns the first term of a dictionary block.
func firstTerm(block []byte) ([]byte, bool) {
	_, n := binary.Uvarint(block) // postings
	if n <= 0 || n >= len(block) || block[n] != 0 {
		return nil, false
	}
	block = block[n+1:]
	size, n := binary.Uvarint(block)
	if n <= 0 || size > uint64(len(block)-n) {
		return nil, false
	}
	return block[n : n+int(size)], true
}
