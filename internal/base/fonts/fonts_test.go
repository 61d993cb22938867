package fonts

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// words writes numbers of two bytes.
func words(numbers ...int) []byte {
	var b []byte
	for _, n := range numbers {
		b = binary.BigEndian.AppendUint16(b, uint16(n))
	}
	return b
}

func longs(numbers ...int) []byte {
	var b []byte
	for _, n := range numbers {
		b = binary.BigEndian.AppendUint32(b, uint32(n))
	}
	return b
}

// runs are the sorted characters of a text as ranges.
func runs(text string) [][2]int {
	runes := []rune(text)
	slices.Sort(runes)
	var out [][2]int
	for _, r := range slices.Compact(runes) {
		if n := len(out); n > 0 && out[n-1][1] == int(r)-1 {
			out[n-1][1] = int(r)
		} else {
			out = append(out, [2]int{int(r), int(r)})
		}
	}
	return out
}

func format4(text string) []byte {
	var ends, starts, shifts, offsets []int
	for _, r := range append(runs(text), [2]int{0xffff, 0xffff}) {
		ends, starts, shifts, offsets = append(ends, r[1]), append(starts, r[0]), append(shifts, 1-r[0]), append(offsets, 0)
	}
	shifts[len(shifts)-1] = 1 // 0xffff has no glyph
	n := len(ends)
	body := slices.Concat(words(2*n, 0, 0, 0), words(ends...), words(0), words(starts...), words(shifts...), words(offsets...))
	return slices.Concat(words(4, 6+len(body), 0), body)
}

// listed4 is format 4 with a list of glyphs; one of them is missing.
func listed4(first rune, glyphs ...int) []byte {
	body := slices.Concat(words(4, 0, 0, 0), words(int(first)+len(glyphs)-1, 0xffff), words(0), words(int(first), 0xffff), words(0, 1), words(4, 0), words(glyphs...))
	return slices.Concat(words(4, 6+len(body), 0), body)
}

func format6(first rune, glyphs ...int) []byte {
	return slices.Concat(words(6, 10+2*len(glyphs), 0, int(first), len(glyphs)), words(glyphs...))
}

func format12(text string) []byte {
	groups := runs(text)
	b := slices.Concat(words(12, 0), longs(16+12*len(groups), 0, len(groups)))
	for _, g := range groups {
		b = append(b, longs(g[0], g[1], 7)...)
	}
	return b
}

// fontAt makes a font that stands at an offset of its file.
func fontAt(at int, outlines string, platform, encoding int, sub []byte) []byte {
	cmap := slices.Concat(words(0, 1, platform, encoding), longs(12), sub)
	start := 12 + 2*16
	b := slices.Concat([]byte("\x00\x01\x00\x00"), words(2, 0, 0, 0))
	b = append(slices.Concat(b, []byte("cmap"), longs(0, at+start, len(cmap))), slices.Concat([]byte(outlines), longs(0, at+start, 0))...)
	return append(b, cmap...)
}

func collection(subs ...[]byte) []byte {
	b := slices.Concat([]byte("ttcf"), longs(0x10000, len(subs)))
	at := len(b) + 4*len(subs)
	var fonts []byte
	for _, s := range subs {
		b = append(b, longs(at+len(fonts))...)
		fonts = append(fonts, fontAt(at+len(fonts), "glyf", 3, 1, s)...)
	}
	return append(b, fonts...)
}

func TestGlyphs(t *testing.T) {
	for name, tc := range map[string]struct {
		file       []byte
		has, lacks string
	}{
		"format 4":              {fontAt(0, "glyf", 3, 1, format4("abcxя中")), "abcxя中", "dy文\U00020000\uffff"},
		"format 4 with glyphs":  {fontAt(0, "glyf", 0, 3, listed4('a', 5, 0, 6)), "ac", "bd"},
		"format 6":              {fontAt(0, "glyf", 0, 3, format6('a', 5, 0, 6)), "ac", "bd`"},
		"format 12":             {fontAt(0, "CFF ", 3, 10, format12("ab中\U00020000")), "ab中\U00020000", "c文\U00020001"},
		"a table for symbols":   {fontAt(0, "glyf", 3, 0, format4("abc")), "", "abc"},
		"an unknown format":     {fontAt(0, "glyf", 3, 1, words(2, 0, 0, 0)), "", "abc"},
		"the second of several": {collection(format4("abc"), format4("xyz")), "xyz", "中"},
		"nothing":               {nil, "", "a"},
		"no font":               {[]byte(strings.Repeat("text ", 20)), "", "a"},
	} {
		shows := func(r rune) bool {
			found := false
			read(bytes.NewReader(tc.file), func(f face) { found = found || f.shows([]rune{r}) })
			return found
		}
		for _, r := range tc.has {
			if !shows(r) {
				t.Errorf("%s: lacks %q", name, r)
			}
		}
		for _, r := range tc.lacks {
			if shows(r) {
				t.Errorf("%s: has %q", name, r)
			}
		}
	}
}

func TestCover(t *testing.T) {
	dir := t.TempDir()
	put := func(name string, data []byte) string {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	latin := fontAt(0, "glyf", 3, 1, format4("abc"))
	put("a/Sans-Bold.ttf", latin)
	plain := put("b/Sans.ttf", latin)
	put("b/Sans.txt", latin)
	put("b/broken.ttf", latin[:60])
	cjk := put("c/CJK.ttc", collection(format4("日"), format4("中文")))
	han := put("c/Han.otf", fontAt(0, "CFF ", 3, 10, format12("汉字")))
	if err := os.Symlink(dir, filepath.Join(dir, "loop")); err != nil {
		t.Fatal(err)
	}
	samples := map[string]string{"latin": "a b c", "chinese": "中文", "han": "汉", "greek": "αω"}
	got := Cover([]string{dir, dir, filepath.Join(dir, "none")}, samples)
	want := map[string]Font{
		"latin": {Path: plain, TrueType: true}, "chinese": {Path: cjk, Index: 1, Collection: true, TrueType: true}, "han": {Path: han},
	}
	for name, f := range want {
		if got.Fonts[name] != f {
			t.Errorf("%s: %+v, want %+v", name, got.Fonts[name], f)
		}
	}
	if len(got.Fonts) != len(want) || got.Files != 5 {
		t.Errorf("%+v", got)
	}
	if got := Cover([]string{dir}, map[string]string{"latin": "abc"}); got.Files != 1 {
		t.Errorf("looked at %d files for one sample", got.Files)
	}
}

func TestSamplesTellScriptsApart(t *testing.T) {
	for name, sample := range Samples() {
		font := Cover([]string{writeFont(t, sample)}, Samples())
		if len(font.Fonts) != 1 || font.Fonts[name] == (Font{}) {
			t.Errorf("a font for %s shows %v", name, font.Fonts)
		}
	}
}

func writeFont(t *testing.T, text string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "x.ttf"), fontAt(0, "glyf", 3, 10, format12(text)), 0o666); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestDirs(t *testing.T) {
	env := map[string]string{"XDG_DATA_DIRS": "/opt/share:relative", "XDG_DATA_HOME": "/data", "WINDIR": "/win"}
	for system, want := range map[string][]string{
		"linux":   {"/data/fonts", "/home/ann/.local/share/fonts", "/home/ann/.fonts", "/opt/share/fonts", "/usr/share/fonts", "/system/fonts"},
		"darwin":  {"/System/Library/Fonts", "/Library/Fonts", "/home/ann/Library/Fonts"},
		"windows": {"/win/Fonts"},
	} {
		var got []string
		for _, d := range dirsOf(system, "/home/ann", func(k string) string { return env[k] }) {
			got = append(got, filepath.ToSlash(d))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", system, got, want)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(fontAt(0, "glyf", 3, 1, format4("abcxя中")))
	f.Add(fontAt(0, "glyf", 0, 3, listed4('a', 5, 0, 6)))
	f.Add(fontAt(0, "glyf", 0, 3, format6('a', 5, 0, 6)))
	f.Add(fontAt(0, "CFF ", 3, 10, format12("ab中\U00020000")))
	f.Add(collection(format4("abc"), format12("xyz")))
	f.Fuzz(func(t *testing.T, data []byte) {
		read(bytes.NewReader(data), func(f face) {
			for _, r := range "aя中\U00020000\uffff" {
				f.shows([]rune{r})
			}
		})
	})
}

func BenchmarkCover(b *testing.B) {
	dirs := Dirs(os.Getenv)
	var found Found
	for b.Loop() {
		found = Cover(dirs, Samples())
	}
	b.ReportMetric(float64(found.Files), "files")
	b.ReportMetric(float64(len(found.Fonts)), "scripts")
}
