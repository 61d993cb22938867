package index

import "testing"

func TestRespell(t *testing.T) {
	x := New(open(t,
		Doc{ID: "a", Text: "Client authentication is controlled by the file pg_hba.conf of PostgreSQL.", Lang: "en"},
		Doc{ID: "b", Text: "Annotated tags and lightweight tags differ.", Lang: "en"},
		Doc{ID: "c", Text: "Настройка сервера печати описана в руководстве.", Lang: "ru"},
	))
	for text, want := range map[string]string{
		"autentication":  "authent",
		"lihgtweight":    "lightweight",
		"anotated":       "annot",
		"настойка":       "настройк",
		"authentication": "", // is there
		"the":            "",
		"zzz":            "",
		"1868":           "",
	} {
		groups, err := x.Respell(text)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if len(groups) > 0 {
			got = groups[0].Alternatives[0].Text
		}
		if got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
	hits, err := x.Search(Query{Text: "clinet autentication"})
	if err != nil || len(hits) > 0 {
		t.Fatalf("%v, %v", hits, err)
	}
	groups, err := x.Respell("clinet autentication")
	if err != nil {
		t.Fatal(err)
	}
	if hits, err = x.Search(Query{Text: "clinet autentication", Groups: groups}); err != nil || len(hits) != 1 || hits[0].ID != "a" {
		t.Errorf("%v, %v", hits, err)
	}
}

func TestMistakes(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"same", "same", 0}, {"form", "from", 1}, {"comit", "commit", 1}, {"anoter", "another", 1}, {"abcd", "abxd", 1}, {"abcdefgh", "axcdefyh", 2}, {"abcd", "wxyz", 3}, {"a", "abcdef", 3}} {
		if got := mistakes([]rune(c.a), []rune(c.b), 2); got != c.want {
			t.Errorf("%s, %s: %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

func TestIdentifiersAreWhole(t *testing.T) {
	var got []string
	for _, token := range TokensAndNames("Set shared_buffers in postgresql.conf, run git-blame --force or $@; 3.14 e-mail, end.", "en") {
		if token.whole {
			got = append(got, token.Term)
		}
	}
	want := []string{"shared_buffers", "postgresql.conf", "git-blame", "--force", "$@", "e-mail"}
	if len(got) != len(want) {
		t.Fatalf("%q", got)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%q, want %q", got[i], want[i])
		}
	}
	x := New(open(t, Doc{ID: "set", Text: "shared_buffers sets the memory"}, Doc{ID: "plan", Text: "Buffers: shared hit=2 buffers shared shared"}))
	hits, err := x.Search(Query{Text: "shared_buffers"})
	if err != nil || len(hits) == 0 || hits[0].ID != "set" {
		t.Errorf("%v, %v", hits, err)
	}
}
