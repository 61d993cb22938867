package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"dossier"
	"dossier/internal/access"
	"dossier/kb"
	"dossier/run"
)

// Documents is what can be done with what is in collections.
type Documents interface {
	CreateCollection(ctx context.Context, n dossier.NewCollection) (kb.Collection, error)
	TagCollection(ctx context.Context, name string, tags []string) (kb.Collection, error)
	PutFile(ctx context.Context, name, path string, from io.Reader) (dossier.Stored, error)
	Documents(ctx context.Context, name string, f kb.EntryFilter) (kb.Entries, error)
	Document(ctx context.Context, name string, n int64, skip, limit int) (kb.Pieces, error)
	DiscardDocument(ctx context.Context, name string, n int64) error
	IngestCollection(ctx context.Context, name string, o dossier.IngestOptions) (run.Record, error)
}

const aDocument = aCollection + "/documents/{n}"

// page is the query of a list that is read in pieces.
var page = []Param{{"skip", "integer", "how many to pass over"}, {"limit", "integer", "how many, 50 by default and 200 at most"}}

// documentRoutes are about what is in collections.
func documentRoutes() []Route {
	return []Route{
		{
			Pattern: "POST /api/kb/collections", Scope: access.Documents,
			Doc: &Doc{Summary: "Make an empty collection, for files to be put into it", Body: dossier.NewCollection{}, Reply: kb.Collection{}, Status: http.StatusCreated},
			Serve: func(w http.ResponseWriter, r *http.Request) error {
				var b dossier.NewCollection
				if err := read(w, r, &b); err != nil {
					return err
				}
				c, err := EngineOf(r.Context()).CreateCollection(r.Context(), b)
				if err != nil {
					return err
				}
				return reply(w, http.StatusCreated, c)
			},
		},
		{
			Pattern: "PATCH " + aCollection, Scope: access.Documents, Doc: &Doc{Summary: "Give a collection other tags", Body: tagsBody{}, Reply: kb.Collection{}},
			Serve: func(w http.ResponseWriter, r *http.Request) error {
				var b tagsBody
				if err := read(w, r, &b); err != nil {
					return err
				}
				c, err := EngineOf(r.Context()).TagCollection(r.Context(), r.PathValue("name"), b.Tags)
				return give(w, c, err)
			},
		},
		{
			Pattern: "PUT " + aCollection + "/files", Scope: access.Documents, Large: true, Serve: putFile,
			Doc: &Doc{Summary: "Put a file, which is the body, into a collection; /ingest has it read", Reply: dossier.Stored{}, Query: []Param{{"path", "string", "its path in the collection, as reports/2026.pdf"}}},
		},
		{
			Pattern: "POST " + aCollection + "/ingest", Scope: access.Documents,
			Doc: &Doc{Summary: "Start a run that brings a collection up to date with its folders and files", Body: dossier.IngestOptions{}, Optional: true, Reply: run.Record{}, Status: http.StatusCreated},
			Serve: func(w http.ResponseWriter, r *http.Request) error {
				var o dossier.IngestOptions
				if err := readIf(w, r, &o); err != nil {
					return err
				}
				rec, err := EngineOf(r.Context()).IngestCollection(r.Context(), r.PathValue("name"), o)
				if err != nil {
					return err
				}
				return reply(w, http.StatusCreated, rec)
			},
		},
		{
			Pattern: "GET " + aCollection + "/documents", Scope: access.Read, Serve: listDocuments,
			Doc: &Doc{Summary: "List the documents of a collection, and why some could not be read", Reply: kb.Entries{}, Query: append([]Param{
				{"q", "string", "words that are all in the path"}, {"failed", "boolean", "those that could not be read, or those that could"},
			}, page...)},
		},
		{
			Pattern: "GET " + aDocument, Scope: access.Read, Doc: &Doc{Summary: "Show a document with its passages", Reply: kb.Pieces{}, Query: page},
			Serve: func(w http.ResponseWriter, r *http.Request) error {
				n, skip, limit, err := placeIn(r)
				if err != nil {
					return err
				}
				d, err := EngineOf(r.Context()).Document(r.Context(), r.PathValue("name"), n, skip, limit)
				return give(w, d, err)
			},
		},
		{
			Pattern: "DELETE " + aDocument, Scope: access.Documents, Doc: &Doc{Summary: "Delete a document that was put into a collection, and its file"},
			Serve: func(w http.ResponseWriter, r *http.Request) error {
				n, _, _, err := placeIn(r)
				if err != nil {
					return err
				}
				return done(w, EngineOf(r.Context()).DiscardDocument(r.Context(), r.PathValue("name"), n))
			},
		},
	}
}

// putFile takes a file in as it comes.
func putFile(w http.ResponseWriter, r *http.Request) error {
	body := &steadyBody{from: r.Body, control: http.NewResponseController(w)}
	stored, err := EngineOf(r.Context()).PutFile(r.Context(), r.PathValue("name"), r.URL.Query().Get("path"), body)
	if err != nil && body.err == nil {
		_, _ = io.CopyN(io.Discard, body, mostRefused) // what comes of it does not matter
	}
	if body.err != nil {
		return badBody(body.err)
	}
	return give(w, stored, err)
}

// mostRefused is how much of a file is taken in that is not wanted: browsers hear
// why only when they have sent it.
const mostRefused = 64 << 20

// steadyBody is a body that may take as long as it likes if it keeps coming.
type steadyBody struct {
	from    io.Reader
	control *http.ResponseController
	came    int
	err     error // that is not its end
}

// Read implements io.Reader.
func (b *steadyBody) Read(p []byte) (int, error) {
	n, err := b.from.Read(p)
	if b.came += n; b.came > mostDrained {
		b.came = 0
		_ = b.control.SetReadDeadline(time.Now().Add(bodyTimeout)) // not every connection has deadlines
	}
	if err != nil && !errors.Is(err, io.EOF) {
		b.err = err
	}
	return n, err
}

// placeIn reads which document of a collection is asked for, and which part of it.
func placeIn(r *http.Request) (n int64, skip, limit int, err error) {
	if n, err = strconv.ParseInt(r.PathValue("n"), 10, 64); err != nil {
		return 0, 0, 0, badRequest(fmt.Sprintf("document %q is not a number", r.PathValue("n")))
	}
	if skip, err = number("skip", r.URL.Query().Get("skip")); err == nil {
		limit, err = number("limit", r.URL.Query().Get("limit"))
	}
	return n, skip, limit, err
}

func listDocuments(w http.ResponseWriter, r *http.Request) (err error) {
	q := r.URL.Query()
	f := kb.EntryFilter{Words: q.Get("q")}
	if q.Get("failed") != "" {
		failed, err := flag(r, "failed")
		if err != nil {
			return err
		}
		f.Failed = &failed
	}
	if f.Skip, err = number("skip", q.Get("skip")); err == nil {
		f.Limit, err = number("limit", q.Get("limit"))
	}
	if err != nil {
		return err
	}
	list, err := EngineOf(r.Context()).Documents(r.Context(), r.PathValue("name"), f)
	return give(w, list, err)
}

// CreateCollection implements Documents.
func (c *Client) CreateCollection(ctx context.Context, n dossier.NewCollection) (kb.Collection, error) {
	return fetch[kb.Collection](ctx, c, http.MethodPost, "/api/kb/collections", n)
}

// TagCollection implements Documents.
func (c *Client) TagCollection(ctx context.Context, name string, tags []string) (kb.Collection, error) {
	return fetch[kb.Collection](ctx, c, http.MethodPatch, collection(name), tagsBody{tags})
}

// PutFile implements Documents.
func (c *Client) PutFile(ctx context.Context, name, path string, from io.Reader) (dossier.Stored, error) {
	return fetch[dossier.Stored](ctx, c, http.MethodPut, collection(name)+"/files?path="+url.QueryEscape(path), from)
}

// Documents implements Documents.
func (c *Client) Documents(ctx context.Context, name string, f kb.EntryFilter) (kb.Entries, error) {
	q := url.Values{"q": {f.Words}, "skip": {strconv.Itoa(f.Skip)}, "limit": {strconv.Itoa(f.Limit)}}
	if f.Failed != nil {
		q.Set("failed", strconv.FormatBool(*f.Failed))
	}
	return fetch[kb.Entries](ctx, c, http.MethodGet, collection(name)+"/documents?"+q.Encode(), nil)
}

// Document implements Documents.
func (c *Client) Document(ctx context.Context, name string, n int64, skip, limit int) (kb.Pieces, error) {
	return fetch[kb.Pieces](ctx, c, http.MethodGet, fmt.Sprintf("%s/documents/%d?skip=%d&limit=%d", collection(name), n, skip, limit), nil)
}

// DiscardDocument implements Documents.
func (c *Client) DiscardDocument(ctx context.Context, name string, n int64) error {
	return c.call(ctx, http.MethodDelete, fmt.Sprintf("%s/documents/%d", collection(name), n), nil, nil)
}

// IngestCollection implements Documents.
func (c *Client) IngestCollection(ctx context.Context, name string, o dossier.IngestOptions) (run.Record, error) {
	return fetch[run.Record](ctx, c, http.MethodPost, collection(name)+"/ingest", o)
}
