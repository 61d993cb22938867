package reader

import (
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"strings"
)

const (
	maxPart  = 48 << 20  // bytes of one unpacked part of an archive
	maxParts = 160 << 20 // of all parts that are read
)

// archive gives the parts of a zip file within limits.
type archive struct {
	files map[string]*zip.File
	left  int64
}

func openArchive(body []byte, f Format) (*archive, error) {
	z, err := zip.NewReader(bytes.NewReader(body), int64(len(body)))
	if err != nil {
		return nil, &Error{Reason: Broken, Format: f, Why: "a damaged archive: " + err.Error()}
	}
	a := &archive{files: make(map[string]*zip.File, len(z.File)), left: maxParts}
	for _, file := range z.File {
		a.files[file.Name] = file
	}
	return a, nil
}

// unfold drops the folder that all files stand in, if the one that has to be
// at the top stands there: whoever packs a folder gets that.
func (a *archive) unfold(top string) {
	if a.files[top] != nil {
		return
	}
	folder := ""
	for name := range a.files {
		if before, ok := strings.CutSuffix(name, "/"+top); ok && (folder == "" || before < folder) {
			folder = before
		}
	}
	if folder == "" {
		return
	}
	inner := make(map[string]*zip.File, len(a.files))
	for name, file := range a.files {
		if rest, ok := strings.CutPrefix(name, folder+"/"); ok {
			inner[rest] = file
		}
	}
	a.files = inner
}

var errMissing = errors.New("not in the archive")

// part unpacks one file. What its head says about its size is believed only
// if it is too much.
func (a *archive) part(name string, f Format) ([]byte, error) {
	file := a.files[name]
	if file == nil {
		return nil, errMissing
	}
	r, err := file.Open()
	if err != nil {
		return nil, &Error{Reason: Broken, Format: f, Why: name + ": " + err.Error()}
	}
	defer r.Close()
	limit := min(a.left, maxPart)
	large := &Error{Reason: TooLarge, Format: f, Why: name + " unpacks to more than is read of a document"}
	if file.UncompressedSize64 > uint64(limit) {
		return nil, large
	}
	var b bytes.Buffer
	b.Grow(int(file.UncompressedSize64) + bytes.MinRead)
	n, err := io.Copy(&b, io.LimitReader(r, limit+1))
	if n > limit {
		return nil, large
	}
	if err != nil {
		return nil, &Error{Reason: Broken, Format: f, Why: name + ": " + err.Error()}
	}
	a.left -= n
	return b.Bytes(), nil
}
