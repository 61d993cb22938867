package sources

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dossier/internal/store/memory"
	"dossier/kb"
	"dossier/reader"
	"dossier/run"
	"dossier/search"
)

// holdings are a folder with one file, made a collection of the given name, and
// the small web.
func holdings(t *testing.T, active string) (*Holdings, string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "bees.md"), []byte(bees), 0o600); err != nil {
		t.Fatal(err)
	}
	files := reader.New(reader.Config{Workers: 1})
	t.Cleanup(files.Close)
	library := kb.New(memory.New(memory.Options{}), files, nil, kb.Options{})
	if active != "" {
		c, err := library.Create(t.Context(), active, dir)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := library.Sync(t.Context(), c.ID, kb.SyncOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	w, _ := webOf(&fakeEngine{info: general("g"), pages: smallWeb})
	return &Holdings{Documents: &Local{Library: library, Active: func(context.Context) (string, error) { return active, nil }}, Web: w}, dir
}

// What a question is asked of follows from what is named.
func TestWhatAQuestionIsAskedOf(t *testing.T) {
	for name, c := range map[string]struct {
		active   string
		in       func(dir string) Target
		material string
		corpus   string
		where    string
	}{
		"nothing":                     {corpus: "web", where: "the web"},
		"a collection in use":         {active: "hive", corpus: "local", where: "a collection of the user's documents"},
		"a folder":                    {in: func(dir string) Target { return Target{Paths: []string{dir}} }, corpus: "local", where: "a collection of the user's documents"},
		"the web beside one in use":   {active: "hive", in: func(string) Target { return Target{Web: &WebScope{}} }, corpus: "web", where: "the web"},
		"a folder and the web":        {in: func(dir string) Target { return Target{Paths: []string{dir}, Web: &WebScope{}} }, corpus: "local+web", where: "the web and a collection of the user's documents"},
		"local among the engines":     {active: "hive", in: func(string) Target { return Target{Web: &WebScope{Engines: []string{"local", "g"}}} }, corpus: "local+web", where: "the web and a collection of the user's documents"},
		"local alone":                 {active: "hive", in: func(string) Target { return Target{Web: &WebScope{Engines: []string{"local"}}} }, corpus: "local", where: "a collection of the user's documents"},
		"material":                    {active: "hive", material: bees, corpus: "input", where: "a text that the user gave"},
		"material, a folder":          {in: func(dir string) Target { return Target{Paths: []string{dir}} }, material: bees, corpus: "input+local", where: "a collection of the user's documents and a text that the user gave"},
		"material, a folder, the web": {in: func(dir string) Target { return Target{Paths: []string{dir}, Web: &WebScope{}} }, material: bees, corpus: "input+local+web", where: "the web and a collection of the user's documents and a text that the user gave"},
	} {
		t.Run(name, func(t *testing.T) {
			h, dir := holdings(t, c.active)
			a := Asked{Material: c.material, Language: "en"}
			if c.in != nil {
				a.In = c.in(dir)
			}
			d := perform(t, run.Limits{}, func(ctx context.Context, s *run.Scope, _ Blobs) error {
				o, err := h.Open(ctx, s, a)
				if err != nil {
					return err
				}
				if o.Corpus.Name() != c.corpus || o.Where != c.where || o.Web != strings.Contains(c.corpus, "web") {
					t.Errorf("%s: %q, web %v", o.Corpus.Name(), o.Where, o.Web)
				}
				return nil
			})
			if d.rec.Status != run.Done {
				t.Errorf("%s %+v", d.rec.Status, d.rec.Failure)
			}
		})
	}
}

// Documents, material and the web are searched as one, and each is read where
// it stands.
func TestJoined(t *testing.T) {
	h, dir := holdings(t, "")
	e := &Evidence{}
	d := perform(t, run.Limits{}, func(ctx context.Context, s *run.Scope, b Blobs) error {
		o, err := h.Open(ctx, s, Asked{In: Target{Paths: []string{dir}, Web: &WebScope{}}, Material: "Ingrid bought the first bees in Lund.", Language: "en"})
		if err != nil {
			return err
		}
		e, err = Gather(ctx, s, Job{Corpus: o.Corpus, Blobs: b, Question: "Where does Ingrid keep the bees?", Tuning: webTuning, Language: "en"})
		return err
	})
	kinds := map[string]bool{}
	for _, s := range e.Ledger.Sources() {
		kind, _, _ := strings.Cut(s.URI, ":")
		kinds[strings.TrimSuffix(filepath.Base(kind), ".md")] = true
	}
	if d.rec.Status != run.Done || !kinds["https"] || !kinds["bees"] || !kinds[MaterialName] {
		t.Errorf("%s %+v, sources %+v", d.rec.Status, d.rec.Failure, e.Ledger.Sources())
	}
	h.Web.Engines[0] = search.Polite(&fakeEngine{info: general("g"), err: context.DeadlineExceeded}, search.Manners{})
	d = perform(t, run.Limits{}, func(ctx context.Context, s *run.Scope, b Blobs) error {
		o, err := h.Open(ctx, s, Asked{In: Target{Paths: []string{dir}, Web: &WebScope{}}, Language: "en"})
		if err != nil {
			return err
		}
		e, err = Gather(ctx, s, Job{Corpus: o.Corpus, Blobs: b, Question: "Where does Ingrid keep the bees?", Tuning: webTuning, Language: "en"})
		return err
	})
	if d.rec.Status != run.Done || len(e.Ledger.Sources()) != 1 || len(e.Trouble) == 0 {
		t.Errorf("%s, sources %+v, trouble %q", d.rec.Status, e.Ledger.Sources(), e.Trouble)
	}
}
