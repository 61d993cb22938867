package cli

import (
	"strings"
	"testing"
	"time"

	"dossier"
)

func TestFindings(t *testing.T) {
	var b strings.Builder
	a := &app{proc: Process{Stdout: &b}}
	for _, f := range []dossier.Finding{
		{What: "database", OK: true, Took: 2 * time.Second},
		{What: "parser pdf", OK: true, Took: 3 * time.Millisecond},
		{What: "parser docx", Detail: "no text", Hint: "look at the log"},
		{What: "engine arxiv", OK: true, Detail: "5 results", Took: 42 * time.Millisecond, Optional: true},
		{What: "engine bocha", Detail: "unauthorized (HTTP 401)\x1b[2J", Hint: "check the key", Took: time.Second, Optional: true},
		{What: "engine brave", Detail: "it needs a key", Optional: true, Unset: true},
	} {
		printFinding(a, f)
	}
	const want = `ok       database (2s)
ok       parser pdf
BROKEN   parser docx: no text
         look at the log
ok       engine arxiv: 5 results (42ms)
failed   engine bocha: unauthorized (HTTP 401) (1s)
         check the key
missing  engine brave: it needs a key
`
	if got := b.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
