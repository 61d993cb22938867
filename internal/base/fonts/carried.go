package fonts

import (
	"bytes"
	"compress/gzip"
	"embed"
	"io"
	"sync"
)

// Fonts that the program carries along; NOTICE in data says whose they are, and
// how they were made smaller.
//
//go:embed data/*.ttf.gz
var carried embed.FS

// carry returns what reads a carried font when it is first asked for.
func carry(file, name string) func() *Face {
	return sync.OnceValue(func() *Face {
		packed, err := carried.ReadFile("data/" + file + ".ttf.gz")
		if err != nil {
			panic("fonts: " + err.Error())
		}
		unpacked, err := gzip.NewReader(bytes.NewReader(packed))
		if err != nil {
			panic("fonts: " + name + ": " + err.Error())
		}
		data, err := io.ReadAll(unpacked)
		if err != nil {
			panic("fonts: " + name + ": " + err.Error())
		}
		face, err := ParseFace(name, data)
		if err != nil {
			panic("fonts: " + name + ": " + err.Error())
		}
		return face
	})
}

// The fonts for text in the languages that reports are written in. Each is read
// when it is first asked for.
var (
	Sans    = carry("sans", "NotoSans-Regular")     // Latin, Greek, Cyrillic
	Bold    = carry("sans-bold", "NotoSans-Bold")   // the same in bold
	Mono    = carry("mono", "NotoSansMono-Regular") // the same for code, with frames
	Symbols = carry("symbols", "DejaVuSans")        // arrows, mathematics, signs; Armenian, Georgian
	Han     = carry("han", "DroidSansFallback")     // Chinese, Japanese
	Hangul  = carry("hangul", "NotoSansKR-Regular") // Korean
)
