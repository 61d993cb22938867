package agent

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"unicode"
)

// ID is the id of an agent at work on a run, as its clients know it: the name
// of its definition, of letters, digits and "_" so that ids are found in a text,
// and a UUID. It follows from the run.
func ID(name, run string) string {
	h := sha256.Sum256([]byte(name + "\x00" + run))
	name = strings.Map(func(r rune) rune {
		if r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return '_'
	}, name)
	h[6] = h[6]&0x0f | 0x40
	h[8] = h[8]&0x3f | 0x80
	return fmt.Sprintf("%s_%x-%x-%x-%x-%x", name, h[0:4], h[4:6], h[6:8], h[8:10], h[10:16])
}
