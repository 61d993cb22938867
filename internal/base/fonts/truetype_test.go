package fonts

import (
	"strings"
	"testing"
)

// The fonts that are carried along show all that reports are written in.
func TestCarriedFontsCover(t *testing.T) {
	shows := func(r rune, faces ...*Face) bool {
		for _, f := range faces {
			if f.Glyph(r) != 0 {
				return true
			}
		}
		return false
	}
	for script, text := range Samples() {
		for _, r := range text {
			for _, first := range []*Face{Sans(), Bold(), Mono()} {
				if !shows(r, first, Symbols(), Han(), Hangul()) {
					t.Errorf("%s: no font has %q", script, r)
				}
			}
		}
	}
	for _, block := range []struct {
		name     string
		from, to rune
		least    int
	}{{"Cyrillic", 0x400, 0x4ff, 256}, {"Greek", 0x370, 0x3ff, 120}, {"Hangul", 0xac00, 0xd7a3, 11172}, {"Han", 0x4e00, 0x9fa5, 20902}, {"Hiragana", 0x3041, 0x3096, 83}, {"Katakana", 0x30a1, 0x30fa, 86}} {
		n := 0
		for r := block.from; r <= block.to; r++ {
			if shows(r, Sans(), Symbols(), Han(), Hangul()) {
				n++
			}
		}
		if n < block.least {
			t.Errorf("%s: %d characters, not %d", block.name, n, block.least)
		}
	}
}

// A subset has the outlines and widths of its glyphs, also of those that are
// made of others.
func TestSubset(t *testing.T) {
	for _, text := range []string{"Ёжик é", "ΆЙй"} {
		f := Sans()
		var glyphs []uint16
		for _, r := range text {
			glyphs = append(glyphs, f.Glyph(r))
		}
		small, err := parseSubset(f.Subset(glyphs))
		if err != nil {
			t.Fatal(err)
		}
		for i, g := range glyphs {
			n := uint16(i + 1)
			if small.Advance(n) != f.Advance(g) {
				t.Errorf("%q: glyph %d is %d wide, not %d", text, i, small.Advance(n), f.Advance(g))
			}
			if a, b := len(small.outline(n)), len(f.outline(g)); a < b || a > b+3 {
				t.Errorf("%q: glyph %d has %d bytes, not %d", text, i, a, b)
			}
			parts(small.outline(n), func(at int) {
				if part := at16(small.outline(n), at); int(part) >= small.glyphs || len(small.outline(uint16(part))) == 0 {
					t.Errorf("%q: glyph %d is made of %d, which is not there", text, i, part)
				}
			})
		}
	}
	if n := len(Han().Subset([]uint16{Han().Glyph('热'), Han().Glyph('泵')})); n > 10_000 {
		t.Errorf("two characters take %d bytes", n)
	}
}

// parseSubset reads a subset, which has no table of characters.
func parseSubset(data []byte) (*Face, error) {
	whole, err := parseFaceAt("subset", fontAt(0, "glyf", 3, 1, format4("a")), 0)
	if err == nil {
		panic("a font without metrics was read")
	}
	_ = whole
	f := Sans()
	small := *f
	tables := map[string][]byte{}
	for i := range int(at16(data, 4)) {
		row := 12 + 16*i
		tables[string(data[row:row+4])] = data[at32(data, row+8) : at32(data, row+8)+at32(data, row+12)]
	}
	small.tables, small.long = tables, true
	small.glyphs, small.metrics = int(at16(tables["maxp"], 4)), int(at16(tables["hhea"], 34))
	return &small, nil
}

func FuzzParseFace(f *testing.F) {
	whole := Bold().data
	f.Add(whole[:2000])
	f.Add(fontAt(0, "glyf", 3, 1, format4("abc")))
	f.Add([]byte(strings.Repeat("\x00", 64)))
	f.Fuzz(func(_ *testing.T, data []byte) {
		face, err := ParseFace("fuzzed", data)
		if err != nil {
			return
		}
		face.Measures()
		face.Advance(face.Glyph('a'))
		face.Subset([]uint16{face.Glyph('a'), 1, 65535})
	})
}
