package sources

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"dossier/run"
	"dossier/search/searchtest"
)

// The user's documents keep the contract of a search engine, as far as it is
// not about a service: they find in three languages what the words are in,
// never more than wanted, nothing without an error, and many at once.
func TestLocalIsAnEngine(t *testing.T) {
	h, dir := holdings(t, "")
	samples := searchtest.Samples(9)
	for i, s := range samples {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.txt", i)), []byte(s.Title+"\n\n"+s.Snippet), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var corpus Corpus
	d := perform(t, run.Limits{}, func(ctx context.Context, s *run.Scope, _ Blobs) error {
		o, err := h.Open(ctx, s, Asked{In: Target{Paths: []string{dir}}, Language: "en"})
		corpus = o.Corpus
		return err
	})
	if d.rec.Status != run.Done {
		t.Fatalf("%+v", d.rec.Failure)
	}
	for query, want := range map[string]string{
		"the keeper's honey in the city": "A keeper's year", "пчёлы на крыше: мёд": "Пасека на крыше", "屋顶上的养蜂场": "十二个蜂箱", `"raw" honey +100%`: "100%",
	} {
		got, err := corpus.Find(t.Context(), Query{Text: query, Limit: 2})
		if err != nil || len(got.Leads) != 2 || !strings.Contains(got.Leads[0].Text, want) {
			t.Errorf("%s: %+v, %v", query, got.Leads, err)
			continue
		}
		doc, err := corpus.Read(t.Context(), got.Leads[0])
		if at := got.Leads[0].Spot; err != nil || doc.Text[at.Start:at.End] != got.Leads[0].Text {
			t.Errorf("%s: the passage is not where it was found: %v", query, err)
		}
	}
	if got, err := corpus.Find(t.Context(), Query{Text: "quarkonium", Limit: 5}); err != nil || len(got.Leads) > 0 {
		t.Errorf("%+v, %v", got.Leads, err)
	}
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if got, err := corpus.Find(t.Context(), Query{Text: "honey", Limit: 3}); err != nil || len(got.Leads) != 3 {
				t.Errorf("%d leads, %v", len(got.Leads), err)
			}
		})
	}
	wg.Wait()
	stopped, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := corpus.Find(stopped, Query{Text: "honey", Limit: 3}); err != nil && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
