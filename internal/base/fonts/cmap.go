package fonts

import (
	"encoding/binary"
	"io"
	"os"
)

// Bounds of what is believed about a font file.
const (
	maxFaces  = 64
	maxTables = 64
	maxCmap   = 4 << 20 // bytes of the table of characters
)

// face is one font of a file with its table from characters to glyphs.
type face struct {
	index      int
	collection bool
	trueType   bool
	segments   []byte // subtable of format 4, 6 or 12
}

// readFile calls do with each font of a file. What is broken is left out.
func readFile(path string, do func(face)) {
	f, err := os.Open(path)
	if err != nil {
		return
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
		read(f, do)
	}
}

// read calls do with each font, one after the other, so that no more than one
// is in memory.
func read(r io.ReaderAt, do func(face)) {
	var head [12]byte
	if _, err := r.ReadAt(head[:], 0); err != nil {
		return
	}
	if string(head[:4]) != "ttcf" {
		if f, ok := readFace(r, 0); ok {
			do(f)
		}
		return
	}
	offsets := make([]byte, 4*min(binary.BigEndian.Uint32(head[8:]), maxFaces))
	if _, err := r.ReadAt(offsets, 12); err != nil {
		return
	}
	for i := 0; i < len(offsets); i += 4 {
		if f, ok := readFace(r, int64(binary.BigEndian.Uint32(offsets[i:]))); ok {
			f.index, f.collection = i/4, true
			do(f)
		}
	}
}

func readFace(r io.ReaderAt, at int64) (face, bool) {
	var head [12]byte
	if _, err := r.ReadAt(head[:], at); err != nil {
		return face{}, false
	}
	switch string(head[:4]) {
	case "\x00\x01\x00\x00", "OTTO", "true":
	default:
		return face{}, false
	}
	tables := make([]byte, 16*min(int(binary.BigEndian.Uint16(head[4:])), maxTables))
	if _, err := r.ReadAt(tables, at+12); err != nil {
		return face{}, false
	}
	var f face
	var cmap []byte
	for ; len(tables) > 0; tables = tables[16:] {
		switch string(tables[:4]) {
		case "glyf":
			f.trueType = true
		case "cmap":
			cmap = make([]byte, min(binary.BigEndian.Uint32(tables[12:]), maxCmap))
			n, err := r.ReadAt(cmap, int64(binary.BigEndian.Uint32(tables[8:])))
			if err != nil && err != io.EOF {
				return face{}, false
			}
			cmap = cmap[:n]
		}
	}
	f.segments = subtable(cmap)
	return f, f.segments != nil
}

// subtable returns the table for Unicode with the most characters, nil if
// there is none in a form that is known.
func subtable(cmap []byte) []byte {
	if len(cmap) < 4 {
		return nil
	}
	var best []byte
	most := 0
	n := int(binary.BigEndian.Uint16(cmap[2:]))
	for i := range n {
		at := 4 + 8*i
		if at+8 > len(cmap) {
			break
		}
		platform, encoding := binary.BigEndian.Uint16(cmap[at:]), binary.BigEndian.Uint16(cmap[at+2:])
		if platform != 0 && !(platform == 3 && (encoding == 1 || encoding == 10)) {
			continue
		}
		start := binary.BigEndian.Uint32(cmap[at+4:])
		if uint64(start)+8 > uint64(len(cmap)) {
			continue
		}
		table := cmap[start:]
		worth := map[uint16]int{6: 1, 4: 2, 12: 3}[binary.BigEndian.Uint16(table)]
		if worth > most {
			best, most = table, worth
		}
	}
	return best
}

// shows reports whether the font has a glyph for all of the characters.
func (f *face) shows(runes []rune) bool {
	for _, r := range runes {
		if f.glyph(uint32(r)) == 0 {
			return false
		}
	}
	return true
}

// glyph returns the number of a character's glyph, 0 where there is none.
func (f *face) glyph(r uint32) uint32 {
	switch binary.BigEndian.Uint16(f.segments) {
	case 4:
		return glyph4(f.segments, r)
	case 6:
		return glyph6(f.segments, r)
	}
	return glyph12(f.segments, r)
}

// at16 reads a number of a table, 0 beyond its end.
func at16(t []byte, at int) uint32 {
	if at < 0 || at+2 > len(t) {
		return 0
	}
	return uint32(binary.BigEndian.Uint16(t[at:]))
}

func at32(t []byte, at int) uint32 {
	if at < 0 || at+4 > len(t) {
		return 0
	}
	return binary.BigEndian.Uint32(t[at:])
}

// glyph4 looks into segments with ends, starts, shifts and offsets, one list
// after the other.
func glyph4(t []byte, r uint32) uint32 {
	if r > 0xffff {
		return 0
	}
	size := int(at16(t, 6)) &^ 1 // of one list in bytes
	ends, starts := 14, 16+size
	shifts, offsets := starts+size, starts+2*size
	for i := 0; i < size && offsets+i < len(t); i += 2 {
		if at16(t, ends+i) < r {
			continue
		}
		start := at16(t, starts+i)
		if start > r {
			return 0
		}
		shift, offset := at16(t, shifts+i), at16(t, offsets+i)
		if offset == 0 {
			return (r + shift) & 0xffff
		}
		// The offset counts from where it stands.
		g := at16(t, offsets+i+int(offset)+2*int(r-start))
		if g == 0 {
			return 0
		}
		return (g + shift) & 0xffff
	}
	return 0
}

// glyph6 looks into a plain list.
func glyph6(t []byte, r uint32) uint32 {
	first, count := at16(t, 6), at16(t, 8)
	if r < first || r-first >= count {
		return 0
	}
	return at16(t, 10+2*int(r-first))
}

// glyph12 looks into groups of a start, an end and the glyph of the start.
func glyph12(t []byte, r uint32) uint32 {
	const group = 12
	if len(t) < 16 {
		return 0
	}
	groups := t[16:]
	n := min(int64(at32(t, 12)), int64(len(groups)/group))
	low, high := int64(0), n
	for low < high {
		mid := (low + high) / 2
		if at32(groups, int(mid)*group+4) < r {
			low = mid + 1
		} else {
			high = mid
		}
	}
	at := int(low) * group
	if low == n || at32(groups, at) > r {
		return 0
	}
	return at32(groups, at+8) + r - at32(groups, at)
}
