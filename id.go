package dossier

import (
	"crypto/rand"
	"encoding/binary"
	"time"
)

const idAlphabet = "0123456789abcdefghjkmnpqrstvwxyz" // no i, l, o, u

// newID returns a short id that sorts by time: nine characters of milliseconds
// and seven random ones.
func newID(now time.Time) string {
	var seed [8]byte
	_, _ = rand.Read(seed[:]) // never fails
	id := make([]byte, 16)
	ms, noise := uint64(now.UnixMilli()), binary.LittleEndian.Uint64(seed[:])
	for i := 8; i >= 0; i-- {
		id[i] = idAlphabet[ms&31]
		ms >>= 5
	}
	for i := 15; i >= 9; i-- {
		id[i] = idAlphabet[noise&31]
		noise >>= 5
	}
	return string(id)
}
