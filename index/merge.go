package index

import (
	"bytes"

	"dossier/lang"
)

// Merge makes one segment of several, in their order, leaving deleted
// documents out.
func Merge(segments ...*Segment) ([]byte, error) {
	var (
		lens, ids, languages []byte
		starts               []uint32
		tokens               uint64
		moved                = make([][]uint32, len(segments)) // new number of a document, plus one
		inputs               []*input
		byCode               = map[lang.Code]uint64{}
	)
	for i, s := range segments {
		if err := s.Verify(); err != nil {
			return nil, err
		}
		moved[i] = make([]uint32, s.docs)
		tokens += s.tokens
		for doc := range s.docs {
			if s.isGone(doc) {
				tokens -= uint64(lengths[s.parts[secLengths][doc]])
				continue
			}
			moved[i][doc] = uint32(len(starts)) + 1
			starts = append(starts, uint32(len(ids)))
			ids = append(ids, s.id(doc)...)
			lens = append(lens, s.parts[secLengths][doc])
		}
		for _, l := range s.languages {
			byCode[l.code] += l.docs
		}
		in := &input{s: s, moved: moved[i]}
		if ok, err := in.next(); err != nil {
			return nil, err
		} else if ok {
			inputs = append(inputs, in)
		}
	}
	for t := range tongues {
		if n := byCode[tongues[t].code]; n > 0 {
			languages = appendLanguage(languages, tongues[t].code, n)
		}
	}

	w := newWriter(lens)
	var list []posting
	var name []byte
	for len(inputs) > 0 {
		least := inputs[0].name
		for _, in := range inputs[1:] {
			if bytes.Compare(in.name, least) < 0 {
				least = in.name
			}
		}
		name = append(name[:0], least...)
		list = list[:0]
		rest := inputs[:0]
		for _, in := range inputs {
			ok := true
			if bytes.Equal(in.name, name) {
				var err error
				if list, err = in.append(list); err != nil {
					return nil, err
				}
				if ok, err = in.next(); err != nil {
					return nil, err
				}
			}
			if ok {
				rest = append(rest, in)
			}
		}
		inputs = rest
		if len(list) > 0 {
			w.add(string(name), list)
		}
	}
	return w.bytes(languages, starts, ids, tokens), nil
}

// input is a segment whose terms are read in order.
type input struct {
	s     *Segment
	moved []uint32
	block uint32
	c     cursor
	name  []byte // of the term at hand
}

// next goes to the next term; it is false at the end.
func (in *input) next() (bool, error) {
	if in.c.left == 0 {
		if in.block == in.s.blocks {
			return false, nil
		}
		c, ok := in.s.block(in.block)
		if !ok {
			return false, corrupt("dictionary")
		}
		in.c = c
		in.block++
	}
	if !in.c.next() {
		return false, corrupt("dictionary")
	}
	in.name = append(in.name[:in.c.shared], in.c.suffix...)
	return true, nil
}

// append adds the postings of the term at hand under their new numbers.
func (in *input) append(out []posting) ([]posting, error) {
	var buf postings
	l, ok := in.c.postings()
	if !ok {
		return nil, corrupt("dictionary")
	}
	for block := range l.blocks() {
		n, ok := l.decode(block, in.s.docs, &buf)
		if !ok {
			return nil, corrupt("postings")
		}
		for i, doc := range buf.docs[:n] {
			if to := in.moved[doc]; to > 0 {
				out = append(out, posting{to - 1, buf.counts[i]})
			}
		}
	}
	return out, nil
}
