// Package web is the page: what a person opens in a browser to ask, to watch a
// research happen and to check each sentence of its report.
//
// Its sources are in the folder src, in TypeScript; what of others is in it is
// pinned in the folder clients, with licences in the folder licenses. The files that
// are served are made of both by `go generate` and are committed, so that building
// the program needs nothing but Go. The build tag noui leaves them out.
//
// A first visit loads app.js, chunk.js and the words of one language; the screens
// behind it come with screens.js when one is first shown. All have names that stay
// and are asked for anew by their ETag; a part of another build than the page that
// asks for it is refused by the page, which then says to reload.
//
// The page knows what the API tells it and nothing else: what it shows of a run is
// a fold of the run's event log.
package web

//go:generate go run -C ../tools/webbuild . -web ../../web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"
	"sync"
)

// Policy is the Content-Security-Policy of the page: all that it loads, runs and
// calls is this server's, and no address of others is asked for anything.
const Policy = "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// Paths are those that the page is found under, as patterns of a http.ServeMux:
// it tells them apart itself.
var Paths = []string{"/{$}", "/run/{rest...}", "/talk", "/talk/{rest...}", "/library", "/knowledge", "/knowledge/{rest...}", "/fleet", "/fleet/{rest...}", "/settings"}

// Root is where the files of the page are found.
const Root = "/page/"

// Asset is a file of the page.
type Asset struct {
	Type string
	ETag string
	Data []byte

	zipped func() []byte
}

// Assets are the files of the page by name; none where it was left out.
var Assets = sync.OnceValue(func() map[string]*Asset {
	found := map[string]*Asset{}
	err := fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) || err == nil && d.IsDir() {
			return nil
		}
		if err != nil {
			return err
		}
		data, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		sum := sha256.Sum256(data)
		found[path.Base(name)] = &Asset{
			Type: typeOf(name), Data: data, ETag: `"` + hex.EncodeToString(sum[:12]) + `"`,
			zipped: sync.OnceValue(func() []byte { return zip(data) }),
		}
		return nil
	})
	if err != nil {
		panic(err) // the files are in the program
	}
	return found
})

func typeOf(name string) string {
	switch path.Ext(name) {
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".css":
		return "text/css; charset=utf-8"
	}
	return mime.TypeByExtension(path.Ext(name))
}

func zip(data []byte) []byte {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err == nil {
		_, err = w.Write(data)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		panic(err) // nothing of it can fail in memory
	}
	return b.Bytes()
}

// ServeHTTP implements http.Handler.
func (a *Asset) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", a.Type)
	h.Set("Content-Security-Policy", Policy)
	h.Set("Cache-Control", "no-cache") // names stay, what is behind them changes
	h.Set("ETag", a.ETag)
	h.Add("Vary", "Accept-Encoding")
	if strings.Contains(r.Header.Get("If-None-Match"), a.ETag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	data := a.Data
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		h.Set("Content-Encoding", "gzip")
		data = a.zipped()
	}
	w.WriteHeader(http.StatusOK)
	if r.Method != http.MethodHead {
		_, _ = w.Write(data) // a client that left doesn't need it
	}
}
