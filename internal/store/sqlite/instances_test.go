package sqlite

import (
	"path/filepath"
	"strings"
	"testing"

	"dossier/internal/fleet"
)

// Whatever a list of instances is narrowed by, an index gives its rows in
// their order: a page of a million is read without sorting them.
func TestInstancesAreReadByIndex(t *testing.T) {
	s, err := Open(filepath.Join(t.TempDir(), "dossier.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	plan := func(query string, args []any) string {
		t.Helper()
		return planOf(t, s, query, args...)
	}
	for _, template := range []string{"", "writer"} {
		for _, prefix := range []string{"", "w"} {
			for _, state := range []fleet.State{"", fleet.Ready, fleet.Stopped} {
				f := fleet.Filter{Template: template, Prefix: prefix, State: state, After: "v"}
				where, args := narrowed(f)
				got := plan(selectInstance+where+" ORDER BY name LIMIT ?", append(args, 100))
				if strings.Contains(got, "SCAN") || strings.Contains(got, "TEMP B-TREE") {
					t.Errorf("%+v:\n%s", f, got)
				}
				if template != "" && state == "" && !strings.Contains(got, "instances_template") {
					t.Errorf("%+v:\n%s", f, got)
				}
			}
		}
	}
	if got := plan(selectOwner, []any{"s"}); strings.Contains(got, "SCAN") {
		t.Errorf("owner of a session:\n%s", got)
	}
	if got := plan("DELETE FROM instances WHERE id = ?", []any{"i"}); strings.Contains(got, "SCAN") {
		t.Errorf("removal:\n%s", got)
	}
}

func TestCheckFindsMissingVersions(t *testing.T) {
	s, err := Open(filepath.Join(t.TempDir(), "dossier.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	if err := s.CreateTemplate(t.Context(), "writer", fleet.Version{Document: "a"}); err != nil {
		t.Fatal(err)
	}
	if err := s.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.writer.do(t.Context(), 0, func(tx *tx) error { return tx.exec("UPDATE templates SET latest = 2") }); err != nil {
		t.Fatal(err)
	}
	if err := s.Check(t.Context()); err == nil || !strings.Contains(err.Error(), `template "writer"`) {
		t.Fatal(err)
	}
}
