package sqlite

import (
	"bytes"
	"compress/flate"
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"time"
)

// packFrom is the size from which a value is compressed when that saves
// space. Smaller ones fit into a page and cost more to compress than to write.
const packFrom = 4096

// The first byte of a packed value says how it is packed.
const (
	packedPlain = 0
	packedFlate = 1
)

var deflaters = sync.Pool{New: func() any {
	w, err := flate.NewWriter(nil, flate.BestSpeed)
	if err != nil {
		panic(err) // the level is a valid one
	}
	return w
}}

// deflate returns data compressed, with its format byte, and false when that
// saves less than an eighth.
func deflate(data []byte) ([]byte, bool) {
	var out bytes.Buffer
	out.Grow(len(data) / 2)
	out.WriteByte(packedFlate)
	w := deflaters.Get().(*flate.Writer)
	defer deflaters.Put(w)
	w.Reset(&out)
	if _, err := w.Write(data); err != nil {
		return nil, false
	}
	if err := w.Close(); err != nil {
		return nil, false
	}
	return out.Bytes(), out.Len() < len(data)-len(data)/8
}

// inflate is the inverse of deflate, and takes packedPlain too.
func inflate(packed []byte) ([]byte, error) {
	if len(packed) == 0 {
		return nil, fmt.Errorf("packed value is empty")
	}
	switch packed[0] {
	case packedPlain:
		return packed[1:], nil
	case packedFlate:
		r := flate.NewReader(bytes.NewReader(packed[1:]))
		data, err := io.ReadAll(r)
		if err != nil {
			return nil, fmt.Errorf("packed value: %w", err)
		}
		return data, nil
	}
	return nil, fmt.Errorf("packed value has the unknown format %d: it was written by a newer dossier, upgrade this one", packed[0])
}

// pack returns what a value is stored as: NULL, TEXT, or BLOB when compressed.
func pack(value []byte) any {
	if value == nil {
		return nil
	}
	if len(value) >= packFrom {
		if packed, ok := deflate(value); ok {
			return packed
		}
	}
	return string(value)
}

// unpacked scans a column that pack made.
type unpacked struct{ dst *json.RawMessage }

// Scan implements sql.Scanner.
func (u unpacked) Scan(src any) (err error) {
	switch v := src.(type) {
	case nil:
		*u.dst = nil
	case string:
		*u.dst = append(json.RawMessage{}, v...)
	case []byte:
		*u.dst, err = inflate(v)
	default:
		err = fmt.Errorf("a value is stored as %T", src)
	}
	return err
}

// moment returns a time as it is stored.
func moment(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

// timeAt scans a column that moment made.
type timeAt struct{ dst *time.Time }

// Scan implements sql.Scanner.
func (t timeAt) Scan(src any) error {
	ns, ok := src.(int64)
	if !ok {
		return fmt.Errorf("a time is stored as %T", src)
	}
	*t.dst = time.Time{}
	if ns != 0 {
		*t.dst = time.Unix(0, ns).UTC()
	}
	return nil
}

// jsonOf scans a column of JSON or NULL.
type jsonOf struct{ dst any }

// Scan implements sql.Scanner.
func (j jsonOf) Scan(src any) error {
	switch v := src.(type) {
	case nil:
		return nil
	case string:
		return json.Unmarshal([]byte(v), j.dst)
	}
	return fmt.Errorf("JSON is stored as %T", src)
}

// packBytes returns bytes with their format before them, compressed when that
// saves space.
func packBytes(data []byte) []byte {
	if len(data) >= packFrom {
		if packed, ok := deflate(data); ok {
			return packed
		}
	}
	return append([]byte{packedPlain}, data...)
}

// textOf scans a column of text that pack made.
type textOf struct{ dst *string }

// Scan implements sql.Scanner.
func (t textOf) Scan(src any) error {
	switch v := src.(type) {
	case string:
		*t.dst = v
		return nil
	case []byte:
		text, err := inflate(v)
		*t.dst = string(text)
		return err
	}
	return fmt.Errorf("a text is stored as %T", src)
}

// bytesOf scans a column of bytes or NULL. It takes over what the driver has
// made for the row: these are large.
type bytesOf struct{ dst *[]byte }

// Scan implements sql.Scanner.
func (b bytesOf) Scan(src any) error {
	switch v := src.(type) {
	case nil:
		*b.dst = nil
	case []byte:
		if v == nil { // the driver's form of no bytes
			v = []byte{}
		}
		*b.dst = v
	default:
		return fmt.Errorf("bytes are stored as %T", src)
	}
	return nil
}

// maybeText scans a column of text or NULL, which is empty then. It is for rows
// that are read by the hundred: database/sql takes longer for its own types.
type maybeText string

// Scan implements sql.Scanner.
func (m *maybeText) Scan(src any) error {
	v, ok := src.(string)
	if !ok && src != nil {
		return fmt.Errorf("a text is stored as %T", src)
	}
	*m = maybeText(v)
	return nil
}

// maybeInt scans a column of numbers or NULL, which is 0 then.
type maybeInt int64

// Scan implements sql.Scanner.
func (m *maybeInt) Scan(src any) error {
	v, ok := src.(int64)
	if !ok && src != nil {
		return fmt.Errorf("a number is stored as %T", src)
	}
	*m = maybeInt(v)
	return nil
}
