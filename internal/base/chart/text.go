package chart

import "strings"

// Wide is about how wide a text is at a size, in any font without serifs.
func Wide(text string, size float64) float64 {
	w := 0.0
	for _, r := range text {
		switch {
		case r >= 0x1100 && r <= 0x115f || r >= 0x2e80 && r <= 0xd7a3 || r >= 0xf900 && r <= 0xfaff || r >= 0xff00 && r <= 0xff60:
			w++
		case strings.ContainsRune(" .,:;'|!iljI1", r):
			w += 0.36
		case strings.ContainsRune("mwMWжшщюмЖШЩЮМ@%", r):
			w += 0.85
		default:
			w += 0.6
		}
	}
	return w * size
}

// Fit cuts a text so that it is not wider.
func Fit(text string, wide, size float64) string {
	if Wide(text, size) <= wide {
		return text
	}
	runes := []rune(text)
	for len(runes) > 1 && Wide(string(runes)+"…", size) > wide {
		runes = runes[:len(runes)-1]
	}
	return strings.TrimRight(string(runes), " ,;:") + "…"
}
