package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"
)

// Blobs are bodies named by their content. A run holds those that it names in its
// request, its entries or its events: a name is found wherever it stands in these.
type Blobs interface {
	// PutBlob stores data and returns its name, "sha256-" and the hash in hex.
	PutBlob(ctx context.Context, data []byte) (string, error)
	// Blob fails with ErrNotFound when there is no body of that name.
	Blob(ctx context.Context, name string) ([]byte, error)
	// CollectBlobs removes the bodies that no run holds, and that nobody has
	// put and no run was deleted that held them for as long as unused says, and
	// returns how many it removed. A step puts a body before its name is
	// recorded, so unused has to be longer than any step takes. It works in
	// pieces that don't keep others waiting; when ctx ends, what is left is for
	// the next time.
	CollectBlobs(ctx context.Context, unused time.Duration) (removed int, err error)
}

// PutGrain is how exactly an adapter needs to know when a body was put: one that
// is there and was put less than this ago need not be noted again. CollectBlobs
// waits for so much longer.
const PutGrain = time.Hour

const blobPrefix = "sha256-"

// BlobName returns the name of a body.
func BlobName(data []byte) string {
	sum := sha256.Sum256(data)
	return blobPrefix + hex.EncodeToString(sum[:])
}

// ParseBlobName returns the hash that a name stands for, and false when the
// name is not one that BlobName makes.
func ParseBlobName(name string) ([]byte, bool) {
	digits, ok := strings.CutPrefix(name, blobPrefix)
	if !ok || len(digits) != 2*sha256.Size {
		return nil, false
	}
	sum, err := hex.DecodeString(digits)
	return sum, err == nil && hex.EncodeToString(sum) == digits
}

// EachBlobName calls do with the name of each body that stands in a value. It is
// asked about everything that is recorded, and nearly always finds none: what is
// looked for first is the part of a name that is rare in texts.
func EachBlobName(value []byte, do func(name string)) {
	const start, digits = len(blobPrefix), 2 * sha256.Size
	for from := 0; ; {
		at := bytes.Index(value[from:], []byte("256-"))
		if at < 0 {
			return
		}
		from += at + len("256-")
		if from < start || len(value) < from+digits {
			continue
		}
		if name := string(value[from-start : from+digits]); isBlobName(name) {
			do(name)
			from += digits
		}
	}
}

func isBlobName(name string) bool {
	_, ok := ParseBlobName(name)
	return ok
}
