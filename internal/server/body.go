package server

import (
	"bytes"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"dossier"
)

// privateBody bounds a request on the control socket: a question of the largest
// size, escaped as JSON.
const privateBody = 64 << 20

// read decodes the body of a request.
func read(w http.ResponseWriter, r *http.Request, into any) error {
	return readAs(w, r, into, callOf(r.Context()).api.strict)
}

// Read decodes the body of a request in a form that others have laid down: fields
// that there are not here are passed over.
func Read(w http.ResponseWriter, r *http.Request, into any) error { return readAs(w, r, into, false) }

func readAs(w http.ResponseWriter, r *http.Request, into any, strict bool) error {
	most := callOf(r.Context()).api.maxBody
	if most == 0 {
		most = privateBody
	}
	return decode(http.MaxBytesReader(w, r.Body, most), into, strict)
}

// Decode decodes what a client sent beside the body of a request as such a body:
// fields that there are not are refused, and an error says in words what is wrong.
func Decode(raw []byte, into any) error { return decode(bytes.NewReader(raw), into, true) }

func decode(from io.Reader, into any, strict bool) error {
	in := json.NewDecoder(from)
	if strict {
		in.DisallowUnknownFields()
	}
	err := in.Decode(into)
	if err == nil {
		if _, more := in.Token(); !errors.Is(more, io.EOF) {
			err = errors.New("there is more behind the JSON of the request")
		}
	}
	return badBody(err)
}

// badBody says in words what is wrong with a body.
func badBody(err error) error {
	var tooLarge *http.MaxBytesError
	var typ *json.UnmarshalTypeError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &tooLarge):
		return &Problem{Code: "too_large", Message: fmt.Sprintf("the request has more than %d bytes", tooLarge.Limit), Hint: "put the material into a file and ask about it"}
	case errors.Is(err, os.ErrDeadlineExceeded):
		return &Problem{Code: "slow_body", Message: fmt.Sprintf("the body of the request has not come within %v", bodyTimeout)}
	case errors.Is(err, io.EOF):
		return badRequest("the request has no body, and JSON is expected here")
	case errors.Is(err, io.ErrUnexpectedEOF):
		return badRequest("the JSON of the request ends in the middle")
	case errors.As(err, &typ) && typ.Field != "":
		return &dossier.UsageError{Message: fmt.Sprintf("the field %q can't be %s", fieldName(typ.Field), article(typ.Value)), Hint: wanted(typ.Type)}
	case errors.As(err, &typ):
		return badRequest("a JSON object is expected here, not " + article(typ.Value))
	}
	if _, name, ok := strings.Cut(err.Error(), "json: unknown field "); ok {
		return &Problem{Code: "usage", Message: "there is no field " + name + " here", Hint: "GET /docs shows what each request can have"}
	}
	if errors.As(err, new(*json.SyntaxError)) {
		return badRequest("the request is no JSON: " + err.Error())
	}
	return badRequest(err.Error()) // a type says itself what it can't read
}

// article puts one before a kind of JSON.
func article(kind string) string {
	if strings.HasPrefix(kind, "array") || strings.HasPrefix(kind, "object") {
		return "an " + kind
	}
	return "a " + kind
}

// wanted says what a field of a type is; "" for those that have several forms.
func wanted(t reflect.Type) string {
	switch {
	case t == nil:
		return ""
	case t == reflect.TypeFor[time.Duration]():
		return "it is a number of nanoseconds: 60000000000 is a minute"
	}
	switch t.Kind() {
	case reflect.String:
		return "it is a text"
	case reflect.Bool:
		return "it is true or false"
	case reflect.Int, reflect.Int64:
		return "it is a whole number"
	case reflect.Float64:
		return "it is a number"
	case reflect.Slice:
		return "it is a list"
	case reflect.Map, reflect.Struct:
		return "it is an object"
	}
	return ""
}

// fieldName is the path of a field without the structs that others are part of,
// which clients don't know: our fields have small letters.
func fieldName(path string) string {
	return strings.Join(slices.DeleteFunc(strings.Split(path, "."), func(name string) bool {
		return name != "" && name[0] >= 'A' && name[0] <= 'Z'
	}), ".")
}

func badRequest(message string) error { return &dossier.UsageError{Message: message} }

// readIf is read for a body that may be left out.
func readIf(w http.ResponseWriter, r *http.Request, into any) error {
	if r.ContentLength == 0 {
		return nil
	}
	return read(w, r, into)
}

// Reply writes a value as JSON.
func Reply(w http.ResponseWriter, status int, body any) error { return reply(w, status, body) }

func reply(w http.ResponseWriter, status int, body any) error {
	raw, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("encoding the reply: %w", err)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(raw) // a client that left doesn't need it
	return nil
}

// give replies with a value unless there is an error.
func give(w http.ResponseWriter, value any, err error) error {
	if err != nil {
		return err
	}
	return reply(w, http.StatusOK, value)
}

// done replies with nothing unless there is an error.
func done(w http.ResponseWriter, err error) error {
	if err == nil {
		w.WriteHeader(http.StatusNoContent)
	}
	return err
}

// nonNil makes an empty list an empty array in JSON, not null.
func nonNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// number reads a number of a query or a path; an empty text is 0.
func number(what, text string) (int, error) {
	if text == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0, badRequest(fmt.Sprintf("%s %q is not a number", what, text))
	}
	return n, nil
}

// moment reads a time of a query: a day, or a moment of RFC 3339.
func moment(what, text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{time.RFC3339Nano, time.DateOnly} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, nil
		}
	}
	return time.Time{}, &dossier.UsageError{Message: fmt.Sprintf("%s %q is no time", what, text), Hint: "write it as 2026-03-01 or 2026-03-01T12:00:00Z"}
}

// same compares secrets in a time that tells nothing of either.
func same(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}

// authorised lets requests with the token through.
func authorised(token string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !same(r.Header.Get("Authorization"), "Bearer "+token) {
			writeProblem(w, &Problem{Code: "forbidden", Message: "the token of the data directory is missing or wrong"})
			return
		}
		next.ServeHTTP(w, r)
	})
}
