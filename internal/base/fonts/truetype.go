package fonts

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"
)

// Face is a TrueType font in memory: its glyphs, how wide they are, and a file
// with some of them. It is not changed by use.
type Face struct {
	Name    string
	data    []byte
	tables  map[string][]byte
	chars   face
	em      int
	glyphs  int
	metrics int // glyphs with a width of their own
	long    bool
}

var errBroken = errors.New("fonts: the font is broken, or not TrueType")

// ParseFace reads a font file that holds one font with TrueType outlines.
func ParseFace(name string, data []byte) (*Face, error) { return parseFaceAt(name, data, 0) }

// Open reads a font of the machine.
func (f Font) Open() (*Face, error) {
	data, err := os.ReadFile(f.Path)
	if err != nil {
		return nil, err
	}
	at := 0
	if f.Collection {
		if f.Index < 0 || 12+4*f.Index+4 > len(data) {
			return nil, errBroken
		}
		at = int(binary.BigEndian.Uint32(data[12+4*f.Index:]))
	}
	return parseFaceAt(f.Path, data, at)
}

func parseFaceAt(name string, data []byte, at int) (*Face, error) {
	if at < 0 || at+12 > len(data) {
		return nil, errBroken
	}
	f := &Face{Name: name, data: data, tables: map[string][]byte{}}
	n := int(binary.BigEndian.Uint16(data[at+4:]))
	for i := range n {
		row := at + 12 + 16*i
		if row+16 > len(data) {
			return nil, errBroken
		}
		start, size := int(at32(data, row+8)), int(at32(data, row+12))
		if start+size > len(data) {
			return nil, errBroken
		}
		f.tables[string(data[row:row+4])] = data[start : start+size]
	}
	for _, need := range []struct {
		table string
		least int
	}{{"head", 54}, {"hhea", 36}, {"maxp", 6}, {"hmtx", 4}, {"loca", 4}, {"glyf", 0}, {"cmap", 4}} {
		if t, ok := f.tables[need.table]; !ok || len(t) < need.least {
			return nil, fmt.Errorf("%w: %s has no %s", errBroken, name, need.table)
		}
	}
	f.em = int(at16(f.tables["head"], 18))
	f.long = at16(f.tables["head"], 50) != 0
	f.glyphs = int(at16(f.tables["maxp"], 4))
	f.metrics = int(at16(f.tables["hhea"], 34))
	f.chars.segments = subtable(f.tables["cmap"])
	if f.em == 0 || f.metrics == 0 || f.chars.segments == nil || len(f.tables["hmtx"]) < 4*f.metrics {
		return nil, errBroken
	}
	return f, nil
}

// Glyph returns the number of a character's glyph, 0 where there is none.
func (f *Face) Glyph(r rune) uint16 {
	g := f.chars.glyph(uint32(r))
	if g >= uint32(f.glyphs) {
		return 0
	}
	return uint16(g)
}

// Advance returns how far a glyph goes, in thousandths of the font's size.
func (f *Face) Advance(glyph uint16) int {
	i := min(int(glyph), f.metrics-1)
	return f.scaled(int(at16(f.tables["hmtx"], 4*i)))
}

// Measures returns the height above and below the line, that of capital
// letters, and the box of all glyphs (left, bottom, right, top), in thousandths
// of the font's size.
func (f *Face) Measures() (ascent, descent, capitals int, box [4]int) {
	head, hhea := f.tables["head"], f.tables["hhea"]
	signed := func(t []byte, at int) int { return f.scaled(int(int16(at16(t, at)))) }
	for i := range box {
		box[i] = signed(head, 36+2*i)
	}
	capitals = 700
	if os2 := f.tables["OS/2"]; at16(os2, 0) >= 2 && len(os2) >= 90 {
		capitals = signed(os2, 88)
	}
	return signed(hhea, 4), signed(hhea, 6), capitals, box
}

func (f *Face) scaled(n int) int {
	if n < 0 {
		return -((-n*1000 + f.em/2) / f.em)
	}
	return (n*1000 + f.em/2) / f.em
}

// outline is what the font has for a glyph, empty for a blank one.
func (f *Face) outline(glyph uint16) []byte {
	loca, glyf := f.tables["loca"], f.tables["glyf"]
	var start, end int
	if f.long {
		start, end = int(at32(loca, 4*int(glyph))), int(at32(loca, 4*int(glyph)+4))
	} else {
		start, end = 2*int(at16(loca, 2*int(glyph))), 2*int(at16(loca, 2*int(glyph)+2))
	}
	if start >= end || end > len(glyf) {
		return nil
	}
	return glyf[start:end]
}

// Flags of a part of a glyph that is made of others.
const (
	wordArguments = 1 << 0
	hasScale      = 1 << 3
	moreParts     = 1 << 5
	hasXYScale    = 1 << 6
	hasMatrix     = 1 << 7
)

// parts calls do with the place of each number of a glyph in an outline that is
// made of others.
func parts(outline []byte, do func(at int)) {
	if len(outline) < 10 || int16(at16(outline, 0)) >= 0 {
		return
	}
	for at := 10; at+4 <= len(outline); {
		flags := at16(outline, at)
		do(at + 2)
		at += 6
		if flags&wordArguments != 0 {
			at += 2
		}
		switch {
		case flags&hasScale != 0:
			at += 2
		case flags&hasXYScale != 0:
			at += 4
		case flags&hasMatrix != 0:
			at += 8
		}
		if flags&moreParts == 0 {
			return
		}
	}
}

// Subset returns a font file with the glyphs given, numbered in their order
// from 1; 0 is the sign for what is missing. It has no table of characters:
// who shows its glyphs knows their numbers.
func (f *Face) Subset(glyphs []uint16) []byte {
	all := append([]uint16{0}, glyphs...)
	number := make(map[uint16]uint16, len(all))
	for i, g := range slices.Backward(all) {
		number[g] = uint16(i)
	}
	var glyf, loca, hmtx []byte
	for i := 0; i < len(all); i++ { // parts of glyphs are added on the way
		outline := slices.Clone(f.outline(all[i]))
		parts(outline, func(at int) {
			part := uint16(at16(outline, at))
			if _, has := number[part]; !has {
				number[part] = uint16(len(all))
				all = append(all, part)
			}
			binary.BigEndian.PutUint16(outline[at:], number[part])
		})
		loca = binary.BigEndian.AppendUint32(loca, uint32(len(glyf)))
		glyf = append(glyf, outline...)
		glyf = append(glyf, make([]byte, -len(glyf)&3)...)
		hmtx = append(hmtx, f.metric(all[i])...)
	}
	loca = binary.BigEndian.AppendUint32(loca, uint32(len(glyf)))
	head, hhea, maxp := slices.Clone(f.tables["head"]), slices.Clone(f.tables["hhea"]), slices.Clone(f.tables["maxp"])
	binary.BigEndian.PutUint32(head[8:], 0)
	binary.BigEndian.PutUint16(head[50:], 1)
	binary.BigEndian.PutUint16(hhea[34:], uint16(len(all)))
	binary.BigEndian.PutUint16(maxp[4:], uint16(len(all)))
	return assemble([]namedTable{{"glyf", glyf}, {"head", head}, {"hhea", hhea}, {"hmtx", hmtx}, {"loca", loca}, {"maxp", maxp}})
}

// metric is the entry of a glyph in the table of widths.
func (f *Face) metric(glyph uint16) []byte {
	t := f.tables["hmtx"]
	if int(glyph) < f.metrics {
		return t[4*int(glyph) : 4*int(glyph)+4]
	}
	bearing := at16(t, 4*f.metrics+2*(int(glyph)-f.metrics))
	return binary.BigEndian.AppendUint16(slices.Clone(t[4*(f.metrics-1):4*(f.metrics-1)+2]), uint16(bearing))
}

type namedTable struct {
	name string
	data []byte
}

// assemble makes a font file of tables in the order of their names.
func assemble(tables []namedTable) []byte {
	n := len(tables)
	power := 1
	log := 0
	for power*2 <= n {
		power, log = power*2, log+1
	}
	out := []byte{0, 1, 0, 0}
	for _, v := range []int{n, power * 16, log, (n - power) * 16} {
		out = binary.BigEndian.AppendUint16(out, uint16(v))
	}
	at := 12 + 16*n
	var body []byte
	headAt := 0
	for _, t := range tables {
		if t.name == "head" {
			headAt = at + len(body)
		}
		padded := slices.Concat(t.data, make([]byte, -len(t.data)&3))
		out = append(out, t.name...)
		out = binary.BigEndian.AppendUint32(out, sum(padded))
		out = binary.BigEndian.AppendUint32(out, uint32(at+len(body)))
		out = binary.BigEndian.AppendUint32(out, uint32(len(t.data)))
		body = append(body, padded...)
	}
	out = append(out, body...)
	binary.BigEndian.PutUint32(out[headAt+8:], 0xB1B0AFBA-sum(out))
	return out
}

// sum is the checksum of a table.
func sum(data []byte) uint32 {
	var s uint32
	for ; len(data) >= 4; data = data[4:] {
		s += binary.BigEndian.Uint32(data)
	}
	return s
}
