package sources

import (
	"strings"
	"testing"

	"dossier/lang"
)

// What is said of documents that were not read is true, whatever stopped the
// reading.
func TestNotesOfACollection(t *testing.T) {
	for _, tc := range []struct {
		p           Prepared
		says, never string
	}{
		{Prepared{Name: "n"}, "no file there is a document", "cut short"},
		{Prepared{Name: "n", Partial: true}, "cut short before a document", "no file there is a document"},
		{Prepared{Name: "n", Partial: true, Documents: 3}, "Only 3 documents", "no file there"},
	} {
		got := strings.Join(tc.p.Notes(lang.English), "\n")
		if !strings.Contains(got, tc.says) || strings.Contains(got, tc.never) {
			t.Errorf("%+v: %q", tc.p, got)
		}
	}
}
