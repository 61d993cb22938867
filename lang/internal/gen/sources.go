package main

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
)

// readLingua reads the five-gram model of a language in the lingua-go module
// and calls gram with each five-gram and its joint probability. The files hold
// conditional probabilities of the last letter after the ones before it.
func readLingua(dir string, gram func(g string, p float64)) error {
	joint := map[string]float64{"": 1}
	for i, name := range []string{"uni", "bi", "tri", "quadri", "five"} {
		next := map[string]float64{}
		err := readLinguaFile(filepath.Join(dir, name+"grams.pb.bin.zip"), func(g string, p float64) {
			r := []rune(g)
			if len(r) == i+1 {
				next[g] = joint[string(r[:i])] * p
			}
		})
		if err != nil {
			return err
		}
		joint = next
	}
	for g, p := range joint {
		gram(g, p)
	}
	return nil
}

// readLinguaFile walks the protocol buffer: field 4 is repeated
// {1: fixed64 probability, 2: n-gram}.
func readLinguaFile(path string, gram func(g string, p float64)) error {
	z, err := zip.OpenReader(path)
	if err != nil {
		return err
	}
	defer z.Close()
	f, err := z.File[0].Open()
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	defer f.Close()
	data, err := io.ReadAll(f)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return fields(data, func(num int, _ uint64, body []byte) error {
		if num != 4 {
			return nil
		}
		var p float64
		return fields(body, func(num int, v uint64, s []byte) error {
			switch num {
			case 1:
				p = math.Float64frombits(v)
			case 2:
				for g := range strings.FieldsSeq(string(s)) {
					gram(g, p)
				}
			}
			return nil
		})
	})
}

// fields calls field with each field of a protocol buffer message.
func fields(b []byte, field func(num int, v uint64, body []byte) error) error {
	for len(b) > 0 {
		key, n := binary.Uvarint(b)
		if n <= 0 {
			return errors.New("bad protocol buffer")
		}
		b = b[n:]
		var v uint64
		var body []byte
		switch key & 7 {
		case 0:
			if v, n = binary.Uvarint(b); n <= 0 {
				return errors.New("bad protocol buffer")
			}
		case 1:
			if len(b) < 8 {
				return io.ErrUnexpectedEOF
			}
			v, n = binary.LittleEndian.Uint64(b), 8
		case 2:
			l, k := binary.Uvarint(b)
			if k <= 0 || uint64(len(b)-k) < l {
				return io.ErrUnexpectedEOF
			}
			body, n = b[k:k+int(l)], k+int(l)
		default:
			return fmt.Errorf("wire type %d", key&7)
		}
		if err := field(int(key>>3), v, body); err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}

// readMO calls text with every translated string of the GNU message catalogues
// below dir.
func readMO(dir string, text func(string)) error {
	return filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".mo" {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		u32 := func(at uint32) uint32 {
			if int(at)+4 > len(data) {
				return 0
			}
			return binary.LittleEndian.Uint32(data[at:])
		}
		if u32(0) != 0x950412de {
			return fmt.Errorf("%s: not a little-endian message catalogue", path)
		}
		count, table := u32(8), u32(16)
		for i := uint32(1); i < count; i++ { // entry 0 is the catalogue's header
			n, at := u32(table+8*i), u32(table+8*i+4)
			if int(at)+int(n) <= len(data) {
				text(string(bytes.ReplaceAll(data[at:at+n], []byte{0}, []byte{' '})))
			}
		}
		return nil
	})
}
