package server_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"dossier/kb"
	"dossier/run"
)

// Files are put into a collection over HTTP, read by a run, listed, searched and
// deleted; what leads elsewhere or is too large is refused with its reason.
func TestFilesOverHTTP(t *testing.T) {
	s := serve(t, nil)
	const shelf = "/api/kb/collections/shelf"
	want := func(token, method, path, body string, status int, words string) string {
		t.Helper()
		got, said := s.ask(token, method, path, body)
		if got != status || !strings.Contains(said, words) {
			t.Fatalf("%s %s: %d %s", method, path, got, said)
		}
		return said
	}
	want(s.ann, "POST", "/api/kb/collections", `{"name":"shelf","tags":["law","sea"]}`, http.StatusCreated, `"tags":["law","sea"]`)
	want(s.bob, "POST", "/api/kb/collections", `{"name":"shelf"}`, http.StatusConflict, "collection_exists")
	want(s.ann, "POST", "/api/kb/collections", `{"name":"/etc"}`, http.StatusBadRequest, "path of a folder")
	put := func(token, at, body string, status int, words string) {
		t.Helper()
		want(token, "PUT", shelf+"/files?path="+url.QueryEscape(at), body, status, words)
	}
	put(s.ann, "отчёты/маяк.txt", "The lamp is kept in the tower.", http.StatusOK, `"bytes":30`)
	put(s.ann, "note.txt", "A note about ropes.", http.StatusOK, "note.txt")
	put(s.ann, "broken.pdf", "%PDF-1.7 and nothing", http.StatusOK, "")
	put(s.bob, "note.txt", "bob was here", http.StatusNotFound, "no_collection")
	for _, at := range []string{"", "../x", "/etc/passwd", "a/../../x", "nul", "a\x00b", ".ssh/key", `..\x`} {
		put(s.ann, at, "x", http.StatusBadRequest, "is not taken")
	}
	if status, said, err := s.try(s.ann, "PUT", shelf+"/files?path=large.txt", strings.Repeat("x", 65<<20)); err == nil && (status != http.StatusBadRequest || !strings.Contains(said, "larger than 64 MiB")) {
		t.Errorf("a file that is too large: %d %.200s", status, said)
	}
	want(s.ann, "GET", "/api/kb/collections", "", http.StatusOK, `"max_file":67108864`)
	want(s.ann, "GET", shelf, "", http.StatusOK, `"unread":3`)
	if said := want(s.ann, "GET", shelf, "", http.StatusOK, `"uploads":true`); strings.Contains(said, "uploads/") {
		t.Errorf("it tells where files are kept: %s", said)
	}
	var rec run.Record
	if err := json.Unmarshal([]byte(want(s.ann, "POST", shelf+"/ingest", "", http.StatusCreated, "")), &rec); err != nil || rec.User != "ann" {
		t.Fatalf("%+v %v", rec, err)
	}
	s.until(rec.ID, run.Done)
	var list kb.Entries
	if err := json.Unmarshal([]byte(want(s.ann, "GET", shelf+"/documents", "", http.StatusOK, "")), &list); err != nil || list.Total != 3 {
		t.Fatalf("%+v %v", list, err)
	}
	want(s.ann, "GET", shelf+"/documents?failed=true", "", http.StatusOK, `"reason":"broken"`)
	want(s.ann, "GET", shelf+"/documents?failed=perhaps", "", http.StatusBadRequest, "true or false")
	want(s.ann, "GET", shelf+"/documents/2", "", http.StatusOK, "ropes")
	want(s.ann, "GET", shelf+"/documents/x", "", http.StatusBadRequest, "not a number")
	want(s.bob, "DELETE", shelf+"/documents/2", "", http.StatusNotFound, "no_collection")
	want(s.ann, "DELETE", shelf+"/documents/2", "", http.StatusNoContent, "")
	want(s.ann, "GET", shelf+"/documents/2", "", http.StatusNotFound, "no_document")
	want(s.ann, "POST", shelf+"/search", `{"text":"ropes"}`, http.StatusOK, `"hits":[]`)
	want(s.ann, "PATCH", shelf, `{"tags":["港口"]}`, http.StatusOK, `"tags":["港口"]`)
	want(s.ann, "POST", shelf+"/ingest", `{"reread":true}`, http.StatusCreated, "")
	want(s.ann, "DELETE", shelf, "", http.StatusNoContent, "")
}

// A user who has put in as much as one may is told so, and what to do; others go on.
func TestUploadsAreLimited(t *testing.T) {
	s := serveOf(open(t, t.TempDir(), "DOSSIER_KB_MAX_UPLOADS_MB=1"), nil)
	for who, token := range map[string]string{"ann": s.ann, "bob": s.bob} {
		decoded[kb.Collection](s, http.StatusCreated, token, "POST", "/api/kb/collections", `{"name":"`+who+`"}`)
		put := func(at string, bytes, status int, words string) {
			t.Helper()
			got, said := s.ask(token, "PUT", "/api/kb/collections/"+who+"/files?path="+at, strings.Repeat("x", bytes))
			if got != status || !strings.Contains(said, words) {
				t.Errorf("%s: %d %s", at, got, said)
			}
		}
		put("a.txt", 700<<10, http.StatusOK, "")
		put("b.txt", 700<<10, http.StatusRequestEntityTooLarge, "uploads_full")
		put("b.txt", 20<<20, http.StatusRequestEntityTooLarge, "kb.max_uploads_mb")
		put("a.txt", 200<<10, http.StatusOK, "") // in its place
		put("b.txt", 700<<10, http.StatusOK, "")
	}
}
