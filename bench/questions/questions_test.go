// Package questions is a set of questions over documents that nothing here was
// tuned on. README.md says what it is for and where the documents come from.
package questions

import (
	"bufio"
	"encoding/json"
	"html"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"dossier/bench/internal/asked"
)

// question is a line of questions.jsonl.
type question struct {
	ID         string     `json:"id"`
	Folder     string     `json:"folder"`
	Lang       string     `json:"lang"`
	Type       string     `json:"type"`
	Question   string     `json:"question"`
	History    []exchange `json:"history"`
	Answerable bool       `json:"answerable"`
	Keys       [][]string `json:"keys"`
	Files      []string   `json:"files"`
	Note       string     `json:"note"`
}

// exchange is what was asked and answered before a follow-up.
type exchange struct {
	Question string `json:"question"`
	Answer   string `json:"answer"`
}

func questions(t *testing.T) []question {
	t.Helper()
	f, err := os.Open("questions.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	var qs []question
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var q question
		d := json.NewDecoder(strings.NewReader(lines.Text()))
		d.DisallowUnknownFields()
		if err := d.Decode(&q); err != nil {
			t.Fatalf("line %d: %v", len(qs)+1, err)
		}
		qs = append(qs, q)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return qs
}

// documents are the names that documents.tsv has of each folder.
func documents(t *testing.T) map[string][]string {
	t.Helper()
	text, err := os.ReadFile("documents.tsv")
	if err != nil {
		t.Fatal(err)
	}
	names := map[string][]string{}
	for line := range strings.SplitSeq(strings.TrimSpace(string(text)), "\n") {
		if strings.HasPrefix(line, "#") {
			continue
		}
		f := strings.Split(line, "\t")
		if len(f) != 8 || slices.Contains(f, "") {
			t.Fatalf("a line without its 8 fields: %q", line)
		}
		if slices.Contains(names[f[0]], f[1]) {
			t.Errorf("%s/%s stands there twice", f[0], f[1])
		}
		names[f[0]] = append(names[f[0]], f[1])
	}
	return names
}

func TestTheSetIsWhatItSays(t *testing.T) {
	qs, docs := questions(t), documents(t)
	ids, langs, types, unanswerable := map[string]bool{}, map[string]int{}, map[string]int{}, 0
	seen := map[string]bool{}
	for _, q := range qs {
		if q.ID == "" || ids[q.ID] {
			t.Errorf("%q is no id, or the id of two", q.ID)
		}
		ids[q.ID] = true
		if q.Question == "" || seen[q.Folder+q.Question] {
			t.Errorf("%s asks nothing, or what another asks", q.ID)
		}
		seen[q.Folder+q.Question] = true
		langs[q.Lang]++
		types[q.Type]++
		if docs[q.Folder] == nil {
			t.Errorf("%s: there is no folder %q", q.ID, q.Folder)
		}
		for _, f := range q.Files {
			if !slices.Contains(docs[q.Folder], f) {
				t.Errorf("%s: %s/%s is not in documents.tsv", q.ID, q.Folder, f)
			}
		}
		for _, e := range q.History {
			if e.Question == "" || e.Answer == "" {
				t.Errorf("%s: a history that is not whole", q.ID)
			}
		}
		if q.Type == "follow-up" && len(q.History) == 0 {
			t.Errorf("%s follows nothing", q.ID)
		}
		if q.Answerable == (q.Type == "unanswerable") {
			t.Errorf("%s: answerable is %v, its type %s", q.ID, q.Answerable, q.Type)
		}
		if !q.Answerable {
			unanswerable++
			if len(q.Keys) > 0 || len(q.Files) > 0 || q.Note == "" {
				t.Errorf("%s has no answer, but keys or files, or no note that says how that was checked", q.ID)
			}
			continue
		}
		if len(q.Keys) == 0 || len(q.Files) == 0 {
			t.Errorf("%s has an answer, but no keys or no file", q.ID)
		}
		for _, fact := range q.Keys {
			if len(fact) == 0 || slices.ContainsFunc(fact, func(key string) bool { return asked.Fold(key) == "" }) {
				t.Errorf("%s has an empty key", q.ID)
			}
		}
	}
	if len(qs) < 180 || 3*unanswerable < len(qs) {
		t.Errorf("%d questions, %d of them without an answer", len(qs), unanswerable)
	}
	for _, lang := range []string{"ru", "en", "zh"} {
		if langs[lang] < 45 {
			t.Errorf("%d questions in %s", langs[lang], lang)
		}
	}
	for kind, least := range map[string]int{"misspelt": 15, "follow-up": 15, "cross-language": 25} {
		if types[kind] < least {
			t.Errorf("%d questions of type %s, not %d", types[kind], kind, least)
		}
	}
	for folder, names := range docs {
		if len(names) < 8 || len(names) > 100 {
			t.Errorf("%s has %d files", folder, len(names))
		}
	}
}

// TestTheKeysStandInTheirFiles looks where the documents are there (see fetch)
// and at those whose bytes are their text, or with tags.
func TestTheKeysStandInTheirFiles(t *testing.T) {
	docs := documents(t)
	for folder, names := range docs {
		for _, name := range names {
			if _, err := os.Stat(filepath.Join("documents", folder, name)); err != nil {
				t.Logf("the documents are not all there, nothing is compared: %v", err)
				return
			}
		}
	}
	texts := map[string]string{}
	read := func(path string) string {
		if _, known := texts[path]; !known {
			text, err := os.ReadFile(filepath.Join("documents", path))
			if err != nil {
				t.Fatal(err)
			}
			if strings.HasSuffix(path, ".html") {
				text = []byte(html.UnescapeString(tags.ReplaceAllString(string(text), "")))
			}
			texts[path] = asked.Fold(string(text))
		}
		return texts[path]
	}
	for _, q := range questions(t) {
		if slices.ContainsFunc(q.Files, func(f string) bool { return !plain.MatchString(f) }) {
			continue // what a PDF says is the reader's business
		}
		for _, fact := range q.Keys {
			stands := slices.ContainsFunc(fact, func(key string) bool {
				return slices.ContainsFunc(q.Files, func(f string) bool { return strings.Contains(read(q.Folder+"/"+f), asked.Fold(key)) })
			})
			if !stands {
				t.Errorf("%s: none of %q stands in %q", q.ID, fact, q.Files)
			}
		}
	}
}

var (
	plain = regexp.MustCompile(`\.(md|markdown|rst|txt|adoc|html|[158])$`)
	tags  = regexp.MustCompile(`<[^>]*>`)
)
