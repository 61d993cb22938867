// Package fonts finds the fonts of this machine by the characters that they
// can show. Font files come from anywhere, so they are read with bounds: of
// each only the directory of its tables and the table of its characters.
package fonts

import (
	"cmp"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// Font is a font of the machine.
type Font struct {
	Path string
	// Index is its place in a file that holds several (.ttc), from 0.
	Index int
	// Collection says that the file holds several.
	Collection bool
	// TrueType says that its outlines are TrueType's, not PostScript's.
	TrueType bool
}

// Samples are characters of the scripts that reports are written in: those
// that fonts for a neighbouring script lack.
func Samples() map[string]string {
	return map[string]string{
		"Latin":                 "AZaz0 éñüßçøłő",
		"Cyrillic":              "АЯаяЁёЪъЫыЭэ№",
		"Greek":                 "ΑΩαωάήώς",
		"Chinese (simplified)":  "汉语们这为国龙，。",
		"Chinese (traditional)": "漢語們這為國龍，。",
		"Japanese":              "あんアン日本語峠。",
		"Korean":                "한국어가힣",
	}
}

// Found is what a search came to.
type Found struct {
	Fonts map[string]Font // by the names of the samples; those without a font are missing
	Files int             // font files that were looked at
	Took  time.Duration
}

const (
	maxFiles = 5000 // font files that are listed
	maxDepth = 8    // of folders below a directory of fonts
)

// Cover finds for each sample a font that shows all of its characters, in the
// given directories and the folders below them. Upright fonts of normal weight
// with TrueType outlines in a file of their own come first. It stops once all
// samples are covered; what can't be read is left out.
func Cover(dirs []string, samples map[string]string) Found {
	began := time.Now()
	found := Found{Fonts: map[string]Font{}}
	open := map[string][]rune{}
	for name, text := range samples {
		for _, r := range text {
			if r != ' ' {
				open[name] = append(open[name], r)
			}
		}
	}
	for _, path := range list(dirs) {
		if len(open) == 0 {
			break
		}
		found.Files++
		readFile(path, func(f face) {
			for name, runes := range open {
				if f.shows(runes) {
					found.Fonts[name] = Font{Path: path, Index: f.index, Collection: f.collection, TrueType: f.trueType}
					delete(open, name)
				}
			}
		})
	}
	found.Took = time.Since(began)
	return found
}

// list returns the font files below dirs, the likeliest first.
func list(dirs []string) []string {
	var files []string
	seen := map[string]bool{}
	for _, dir := range dirs {
		dir = filepath.Clean(dir)
		if seen[dir] {
			continue
		}
		seen[dir] = true
		_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return passOver(d)
			case len(files) >= maxFiles:
				return fs.SkipAll
			case d.IsDir():
				if rel, err := filepath.Rel(dir, path); err != nil || strings.Count(rel, string(filepath.Separator)) >= maxDepth {
					return fs.SkipDir
				}
				return nil
			}
			if rank(path) < 0 || d.Type()&^fs.ModeSymlink != 0 || seen[path] {
				return nil
			}
			seen[path] = true
			files = append(files, path)
			return nil
		})
	}
	slices.SortFunc(files, func(a, b string) int { return cmp.Or(rank(a)-rank(b), strings.Compare(a, b)) })
	return files
}

// styles are words in the names of files whose fonts are not for plain text.
var styles = []string{
	"bold", "italic", "oblique", "light", "thin", "black", "heavy", "medium", "condensed", "narrow", "mono", "serif", "math", "symbol", "emoji", "display", "caption",
}

// rank orders font files by how well they suit plain text, from 0; it is
// negative for what is no font file.
func rank(path string) int {
	name := strings.ToLower(filepath.Base(path))
	n := slices.Index([]string{".ttf", ".otf", ".ttc", ".otc"}, filepath.Ext(name))
	if n < 0 {
		return n
	}
	// "Sans Serif" is no serif font.
	name = strings.NewReplacer("sans-serif", "", "sansserif", "", "sans serif", "").Replace(name)
	for _, s := range styles {
		if strings.Contains(name, s) {
			n += 10
		}
	}
	return n
}

// Dirs returns the directories in which this system and its user keep fonts.
// getenv is os.Getenv.
func Dirs(getenv func(string) string) []string {
	home, err := os.UserHomeDir()
	if err != nil {
		home = ""
	}
	return dirsOf(runtime.GOOS, home, getenv)
}

func dirsOf(system, home string, getenv func(string) string) []string {
	var out []string
	add := func(base string, below ...string) {
		if base != "" {
			out = append(out, filepath.Join(append([]string{base}, below...)...))
		}
	}
	switch system {
	case "windows":
		add(getenv("WINDIR"), "Fonts")
		add(getenv("LOCALAPPDATA"), "Microsoft", "Windows", "Fonts")
	case "darwin":
		add("/System/Library/Fonts")
		add("/Library/Fonts")
		add(home, "Library", "Fonts")
	default:
		data := cmp.Or(getenv("XDG_DATA_DIRS"), "/usr/local/share:/usr/share")
		add(getenv("XDG_DATA_HOME"), "fonts")
		add(home, ".local", "share", "fonts")
		add(home, ".fonts")
		for dir := range strings.SplitSeq(data, ":") {
			if filepath.IsAbs(dir) {
				add(dir, "fonts")
			}
		}
		add("/usr/share/fonts")
		add("/system/fonts")
	}
	return out
}

// passOver leaves out what can't be read.
func passOver(d fs.DirEntry) error {
	if d != nil && d.IsDir() {
		return fs.SkipDir
	}
	return nil
}
