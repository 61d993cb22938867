package sources

import (
	"encoding/base64"
	"encoding/hex"
	"net/url"
	"slices"
	"strings"
	"unicode"
)

// secrets are texts of a run that no address may carry away: what the user said
// before, gave along or has in documents, and the names of the run. Whoever
// writes an address that is opened for a run could otherwise read them off the
// requests of their own server.
//
// An address that stands there as a whole was named by who said it, and carries
// nothing else: the sources of an earlier answer can be read again.
type secrets struct {
	pieces map[string]bool // of folded texts
	whole  []string        // folded texts that are shorter than a piece
	said   []string        // folded texts that may name addresses
}

const (
	// pieceLetters is how many letters and digits in a row of a secret an
	// address has to have to be carrying it: a title that is quoted in an
	// address is mostly shorter.
	pieceLetters = 32
	leastSecret  = 8 // letters of a secret that is worth hiding
	mostSecret   = 200_000
)

func newSecrets(texts ...string) secrets {
	s := secrets{pieces: make(map[string]bool)}
	for _, text := range texts {
		runes := folded(text)
		if len(runes) < pieceLetters {
			if len(runes) >= leastSecret && !strings.ContainsAny(strings.TrimSpace(text), " \n\t") {
				s.whole = append(s.whole, string(runes)) // a name, a key
			}
			continue
		}
		runes = runes[:min(len(runes), mostSecret)]
		s.said = append(s.said, string(runes))
		for i := 0; i+pieceLetters <= len(runes); i++ {
			s.pieces[string(runes[i:i+pieceLetters])] = true
		}
	}
	return s
}

// folded are the letters and digits of a text, in lower case.
func folded(text string) []rune {
	out := make([]rune, 0, len(text))
	for _, r := range text {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			out = append(out, unicode.ToLower(r))
		}
	}
	return out
}

// in says whether an address carries a secret, plainly or encoded.
func (s secrets) in(address string) bool {
	if len(s.pieces) == 0 && len(s.whole) == 0 || s.named(address) {
		return false
	}
	for range 3 { // encoded twice is still readable to who gets it
		if s.carried(address) {
			return true
		}
		plain, err := url.PathUnescape(strings.ReplaceAll(address, "+", "%20"))
		if err != nil || plain == address {
			break
		}
		address = plain
	}
	return s.carried(address)
}

// named says whether an address is one that was said.
func (s secrets) named(address string) bool {
	_, bare, ok := strings.Cut(address, "://")
	name := string(folded(strings.TrimPrefix(bare, "www.")))
	return ok && name != "" && slices.ContainsFunc(s.said, func(text string) bool { return strings.Contains(text, name) })
}

// carried looks at a text as it stands and at its words decoded.
func (s secrets) carried(text string) bool {
	if s.holds(text) {
		return true
	}
	words := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune("/?&=.#:;,", r) })
	for _, w := range words {
		if len(w) < leastSecret {
			continue
		}
		for _, decode := range []func(string) ([]byte, error){base64.RawURLEncoding.DecodeString, base64.RawStdEncoding.DecodeString, hex.DecodeString} {
			if plain, err := decode(strings.TrimRight(w, "=")); err == nil && s.holds(string(plain)) {
				return true
			}
		}
	}
	return false
}

func (s secrets) holds(text string) bool {
	runes := folded(text)
	for i := 0; i+pieceLetters <= len(runes); i++ {
		if s.pieces[string(runes[i:i+pieceLetters])] {
			return true
		}
	}
	plain := string(runes)
	for _, w := range s.whole {
		if strings.Contains(plain, w) {
			return true
		}
	}
	return false
}
