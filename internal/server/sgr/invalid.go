package sgr

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"dossier/internal/server"
	"dossier/internal/server/internal/completion"
)

// fault is what is wrong with a part of a request, as FastAPI's clients read it.
type fault struct {
	Place   []any  `json:"loc"` // names and numbers of parts, from the outermost
	Message string `json:"msg"`
	Type    string `json:"type"`
}

func (f *fault) Error() string { return f.Message }

// reply says what is wrong: as a list where the clients of this API expect one, in
// a sentence for others.
func (f *fault) reply(w http.ResponseWriter) error {
	const status = http.StatusUnprocessableEntity
	var at strings.Builder
	for _, part := range f.Place {
		fmt.Fprintf(&at, "%v: ", part)
	}
	body := completion.NewError(status, &server.Problem{Code: "invalid", Message: at.String() + f.Message})
	body.Detail = []*fault{f}
	return server.Reply(w, status, body)
}

// whole reads a number of the query that is at least 1; without one it is the
// usual, and it is never more than most.
func whole(r *http.Request, name string, usual, most int) (int, *fault) {
	text := r.URL.Query().Get(name)
	if text == "" {
		return usual, nil
	}
	at := []any{"query", name}
	n, err := strconv.Atoi(text)
	switch {
	case err != nil:
		return 0, &fault{at, "Input should be a valid integer, unable to parse string as an integer", "int_parsing"}
	case n < 1:
		return 0, &fault{at, "Input should be greater than or equal to 1", "greater_than_equal"}
	}
	return min(n, most), nil
}
