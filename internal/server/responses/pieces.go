package responses

import "unicode"

// How a text is cut: by words, or after so many bytes where there are none to be
// seen; and the longer the text is, the longer are its pieces.
const (
	longWord = 32
	share    = 100
)

// cut is how long the next piece is of a text of which only the rest is left, with
// so many bytes before it. It depends on nothing behind the piece, save that
// something is there: while the text is still being written (whole is false) it is
// -1 as long as the piece may become longer.
func cut(rest string, before int, whole bool) int {
	least, space := before/share, false
	for i, r := range rest {
		now := unicode.IsSpace(r)
		if i > least && (space && !now || i >= longWord) {
			return i
		}
		space = now
	}
	if whole && rest != "" {
		return len(rest)
	}
	return -1
}
