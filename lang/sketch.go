package lang

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
	"unicode"
)

const (
	// sketchSize is how many hashes a sketch keeps: enough to estimate a share
	// within 0.06 two times out of three.
	sketchSize = 256
	// copyShare is the share of the shorter text's shingles that also stand in
	// the longer one from which on the two are one article. A reprint in which
	// every tenth word was changed still shares 0.73; articles of two authors
	// about one event share less than 0.1.
	copyShare = 0.6
	// copyMin is how many shingles both samples need for a verdict: below it
	// texts are too short, or too unlike in length, to tell.
	copyMin = 24
	// shingleWords is the length of a shingle.
	shingleWords = 3
)

// Sketch is a small sample of a text's shingles (runs of three words, or of
// six characters where words have no spaces), drawn so that the samples of two
// texts can be compared: the smallest hashes. The zero value is the sketch of
// an empty text, which is a copy of nothing.
type Sketch struct{ hashes []uint32 }

// SketchOf returns the sketch of a text. Case, punctuation and spacing don't
// count.
func SketchOf(text string) Sketch {
	const prime = 1099511628211
	const basis = 14695981039346656037
	type unit struct {
		hash  uint64
		width int // a word is twice as wide as a character of a spaceless script
	}
	units := make([]unit, 0, len(text)/6)
	h := uint64(basis)
	flush := func() {
		if h != basis {
			units = append(units, unit{h, 2})
			h = basis
		}
	}
	for _, r := range text {
		switch {
		case ideographic(r):
			flush()
			units = append(units, unit{(basis ^ uint64(r)) * prime, 1})
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			h = (h ^ uint64(unicode.ToLower(r))) * prime
		case !Invisible(r) && !unicode.IsMark(r):
			flush()
		}
	}
	flush()
	all := make([]uint32, 0, len(units))
	for end := range units {
		width, mixed := 0, uint64(basis)
		for i := end; i >= 0 && width < 2*shingleWords; i-- {
			mixed = (mixed ^ units[i].hash) * prime
			mixed ^= mixed >> 31
			width += units[i].width
		}
		if width >= 2*shingleWords {
			all = append(all, uint32(mixed*0xbf58476d1ce4e5b9>>32))
		}
	}
	slices.Sort(all)
	all = slices.Compact(all)
	return Sketch{slices.Clone(all[:min(len(all), sketchSize)])}
}

// Share estimates which share of the shorter text's shingles also stand in the
// longer one, from samples of that size (of the smaller sample).
func (s Sketch) Share(o Sketch) (share float64, sample int) {
	a, b := s.hashes, o.hashes
	if len(a) == 0 || len(b) == 0 {
		return 0, 0
	}
	// Hashes up to the lower of the two bounds were kept by both, if they
	// occurred. A sketch that is not full kept all.
	bound := uint32(1<<32 - 1)
	if len(a) == sketchSize {
		bound = a[len(a)-1]
	}
	if len(b) == sketchSize {
		bound = min(bound, b[len(b)-1])
	}
	common, inA, inB := 0, 0, 0
	for inA < len(a) && inB < len(b) && max(a[inA], b[inB]) <= bound {
		switch {
		case a[inA] < b[inB]:
			inA++
		case a[inA] > b[inB]:
			inB++
		default:
			common++
			inA++
			inB++
		}
	}
	for inA < len(a) && a[inA] <= bound {
		inA++
	}
	for inB < len(b) && b[inB] <= bound {
		inB++
	}
	sample = min(inA, inB)
	if sample == 0 {
		return 0, 0
	}
	return min(1, float64(common)/float64(sample)), sample
}

// Copies reports whether the two texts are one article: a reprint, or one with
// a paragraph more or less.
func (s Sketch) Copies(o Sketch) bool {
	share, sample := s.Share(o)
	if sample >= copyMin {
		return share >= copyShare
	}
	return sample > 0 && slices.Equal(s.hashes, o.hashes)
}

// MarshalJSON implements json.Marshaler.
func (s Sketch) MarshalJSON() ([]byte, error) {
	raw := make([]byte, 0, 4*len(s.hashes))
	for _, h := range s.hashes {
		raw = binary.LittleEndian.AppendUint32(raw, h)
	}
	return json.Marshal(base64.RawStdEncoding.EncodeToString(raw))
}

// UnmarshalJSON implements json.Unmarshaler.
func (s *Sketch) UnmarshalJSON(data []byte) error {
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return fmt.Errorf("lang: sketch: %w", err)
	}
	raw, err := base64.RawStdEncoding.DecodeString(text)
	if err != nil || len(raw)%4 != 0 || len(raw) > 4*sketchSize {
		return fmt.Errorf("lang: sketch of %d characters is not one", len(text))
	}
	s.hashes = nil
	for ; len(raw) > 0; raw = raw[4:] {
		s.hashes = append(s.hashes, binary.LittleEndian.Uint32(raw))
	}
	if !slices.IsSorted(s.hashes) {
		return fmt.Errorf("lang: sketch is out of order")
	}
	return nil
}
