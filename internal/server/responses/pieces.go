package responses

import "unicode"

// How a text is cut: by words, or after so many bytes where there are none to be
// seen; and the longer the text is, the longer are its pieces.
const (
	longWord = 32
	share    = 100
)

// cut is where the piece of a text ends that begins at from. It depends on nothing
// but the text before it, and that more follows: of a text that is still being
// written (whole is false) it is -1 as long as the piece may become longer.
func cut(text string, from int, whole bool) int {
	least := from / share
	space := false
	for i, r := range text[from:] {
		if now := unicode.IsSpace(r); i > least && (space && !now || i >= longWord) {
			return from + i
		} else {
			space = now
		}
	}
	if whole && from < len(text) {
		return len(text)
	}
	return -1
}
