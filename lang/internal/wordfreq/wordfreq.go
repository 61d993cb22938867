// Package wordfreq reads the word lists of the Python package wordfreq, for the
// programs that make tables of them.
package wordfreq

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
)

// Read reads a list of the wordfreq package and calls word with every
// entry and its relative frequency. The format is gzipped MessagePack: a
// header map, then bin i holds the words of frequency 10^(-i/100).
func Read(path string, word func(w string, freq float64)) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	m := msgpack{data}
	bins, err := m.array()
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if err := m.skipHeader(); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	for i := 1; i < bins; i++ {
		n, err := m.array()
		if err != nil {
			return fmt.Errorf("%s: bin %d: %w", path, i, err)
		}
		for range n {
			w, err := m.str()
			if err != nil {
				return fmt.Errorf("%s: bin %d: %w", path, i, err)
			}
			word(w, math.Pow(10, -float64(i-1)/100))
		}
	}
	return nil
}

// msgpack decodes the few MessagePack types that the lists use.
type msgpack struct{ b []byte }

var errMsgpack = errors.New("not the MessagePack that was expected")

func (m *msgpack) length(fix, fixMask byte, codes map[byte]int) (int, error) {
	if len(m.b) == 0 {
		return 0, io.ErrUnexpectedEOF
	}
	c := m.b[0]
	if c&^fixMask == fix {
		m.b = m.b[1:]
		return int(c & fixMask), nil
	}
	size, ok := codes[c]
	if !ok || len(m.b) < 1+size {
		return 0, errMsgpack
	}
	n := 0
	for _, x := range m.b[1 : 1+size] {
		n = n<<8 | int(x)
	}
	m.b = m.b[1+size:]
	return n, nil
}

func (m *msgpack) array() (int, error) {
	return m.length(0x90, 0x0f, map[byte]int{0xdc: 2, 0xdd: 4})
}

func (m *msgpack) str() (string, error) {
	n, err := m.length(0xa0, 0x1f, map[byte]int{0xd9: 1, 0xda: 2, 0xdb: 4, 0xc4: 1, 0xc5: 2})
	if err != nil {
		return "", err
	}
	if n > len(m.b) {
		return "", io.ErrUnexpectedEOF
	}
	s := string(m.b[:n])
	m.b = m.b[n:]
	return s, nil
}

func (m *msgpack) skipHeader() error {
	n, err := m.length(0x80, 0x0f, nil)
	if err != nil {
		return err
	}
	for range n {
		if _, err := m.str(); err != nil {
			return err
		}
		if len(m.b) > 0 && m.b[0] < 0x80 { // a small integer
			m.b = m.b[1:]
		} else if _, err := m.str(); err != nil {
			return err
		}
	}
	return nil
}
