package egress

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// maxEncodings bounds a chain of content encodings.
const maxEncodings = 3

// ratioFloor is the decoded size under which no ratio is suspicious: a short
// page of blanks is not a bomb.
const ratioFloor = 1 << 20

// meter counts the bytes on the wire and ends them at the limit.
type meter struct {
	r     io.Reader
	n     int64
	limit int64
}

func (m *meter) Read(p []byte) (int, error) {
	n, err := m.r.Read(p)
	m.n += int64(n)
	if m.n > m.limit {
		return 0, &Error{Reason: TooLarge, Why: fmt.Sprintf("more than %d bytes on the wire", m.limit)}
	}
	return n, err
}

// readBody reads and unpacks a body within the limits.
func readBody(r io.Reader, encoding string, conf *GuardConfig) ([]byte, error) {
	wire := &meter{r: r, limit: conf.MaxWire}
	var body io.Reader = wire
	encodings := strings.Split(encoding, ",")
	if len(encodings) > maxEncodings {
		return nil, &Error{Reason: Encoding, Why: "too many content encodings"}
	}
	for _, encoding := range slices.Backward(encodings) {
		var err error
		if body, err = unpack(body, strings.ToLower(strings.TrimSpace(encoding))); err != nil {
			return nil, err
		}
	}
	var out bytes.Buffer
	chunk := make([]byte, 32<<10)
	for {
		n, err := body.Read(chunk)
		out.Write(chunk[:n])
		size := int64(out.Len())
		if size > conf.MaxBody {
			return nil, &Error{Reason: TooLarge, Why: fmt.Sprintf("more than %d bytes unpacked", conf.MaxBody)}
		}
		if size > ratioFloor && size > wire.n*int64(conf.MaxRatio) {
			return nil, &Error{Reason: Ratio, Why: fmt.Sprintf("it unpacks to more than %d times its size", conf.MaxRatio)}
		}
		if err == io.EOF {
			return out.Bytes(), nil
		}
		if err != nil {
			var corrupt flate.CorruptInputError
			if errors.As(err, &corrupt) || errors.Is(err, gzip.ErrHeader) || errors.Is(err, gzip.ErrChecksum) || errors.Is(err, zlib.ErrChecksum) {
				err = &Error{Reason: Encoding, Why: "the compressed data is broken", Err: err}
			}
			return nil, err
		}
	}
}

func unpack(r io.Reader, encoding string) (io.Reader, error) {
	broken := func(err error) error {
		if _, ok := errors.AsType[*Error](err); ok {
			return err
		}
		return &Error{Reason: Encoding, Why: "the compressed data is broken", Err: err}
	}
	switch encoding {
	case "", "identity":
		return r, nil
	case "gzip", "x-gzip":
		buffered := bufio.NewReader(r)
		if _, err := buffered.Peek(1); err == io.EOF { // a body of no bytes, as servers send with a redirect
			return buffered, nil
		}
		z, err := gzip.NewReader(buffered)
		if err != nil {
			return nil, broken(err)
		}
		return z, nil
	case "deflate":
		// The standard means zlib; some servers send the bare stream.
		buffered := bufio.NewReader(r)
		head, _ := buffered.Peek(2)
		if len(head) == 2 && head[0]&0x0f == 8 && (int(head[0])<<8|int(head[1]))%31 == 0 {
			z, err := zlib.NewReader(buffered)
			if err != nil {
				return nil, broken(err)
			}
			return z, nil
		}
		return flate.NewReader(buffered), nil
	}
	return nil, &Error{Reason: Encoding, Why: fmt.Sprintf("unknown content encoding %q", encoding)}
}
