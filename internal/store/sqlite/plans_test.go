package sqlite

import (
	"path/filepath"
	"strings"
	"testing"
)

// planOf returns how SQLite goes about a query.
func planOf(t *testing.T, s *Store, query string, args ...any) string {
	t.Helper()
	var lines []string
	err := s.each(t.Context(), "EXPLAIN QUERY PLAN "+query, args, func(row scanner) error {
		var id, parent, unused int64
		var detail string
		err := row.Scan(&id, &parent, &unused, &detail)
		lines = append(lines, detail)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(lines, "\n")
}

// openHere opens a new store for tests inside this package.
func openHere(t *testing.T) *Store {
	t.Helper()
	s, err := Open(filepath.Join(t.TempDir(), "dossier.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// However long a log is, a page of it is read by an index and nothing is sorted.
func TestEventsAreReadByIndex(t *testing.T) {
	s := openHere(t)
	for what, query := range map[string]struct {
		text string
		args []any
	}{
		"a page":     {selectEvents, []any{500, "r", 100}},
		"all places": {selectPlaces, []any{1}},
	} {
		got := planOf(t, s, query.text, query.args...)
		if !strings.Contains(got, "log_event") || strings.Contains(got, "SCAN") || strings.Contains(got, "TEMP B-TREE") {
			t.Errorf("%s:\n%s", what, got)
		}
	}
}

// A run is found by a part of its id without looking at all ids.
func TestRunsAreFoundByIndex(t *testing.T) {
	if got := planOf(t, openHere(t), selectFound, "06f3", "06f4", 20); strings.Contains(got, "SCAN") || !strings.Contains(got, "runs_end") {
		t.Error(got)
	}
}

// The runs of an agent are found without looking at those of others.
func TestRunsOfAgentsAreFoundByIndex(t *testing.T) {
	got := planOf(t, openHere(t), selectListed+"WHERE 1 AND "+ofAgent+" ORDER BY r.n DESC LIMIT ?", "a_1", 1)
	if strings.Contains(got, "SCAN") || !strings.Contains(got, "agents_id") {
		t.Error(got)
	}
}

// However many runs have seats, one that comes or goes is dealt with by indexes.
func TestSeatsAreReadByIndex(t *testing.T) {
	s := openHere(t)
	for what, query := range map[string]struct {
		text string
		args []any
	}{
		"who has the slots":      {selectHolders, []any{`["r"]`}},
		"how some stand":         {selectStanding, []any{`["r"]`}},
		"the desk":               {selectDesk + "i.id = ?", []any{"i"}},
		"whose turn it is":       {selectTurn, []any{1}},
		"who is next":            {selectNext, []any{1, "s"}},
		"whether one waits":      {"SELECT 1 FROM seats WHERE instance = ? AND session = ? AND slot = 0", []any{1, "s"}},
		"leaving the desk":       {"DELETE FROM desks WHERE instance = ?", []any{1}},
		"how long some logs are": {selectLastSeqs, []any{`["r"]`}},
		"the seat of a run":      {"SELECT slot FROM seats WHERE run = ?", []any{"r"}},
		"the load of some":       {"SELECT i.id, d.running FROM desks d JOIN instances i ON i.n = d.instance WHERE i.id IN ('a', 'b')", nil},
		"the end of a session":   {"DELETE FROM lanes WHERE instance = ? AND session = ?", []any{1, "s"}},
	} {
		got := strings.ReplaceAll(planOf(t, s, query.text, query.args...), "SCAN json_each", "each that is asked for")
		if strings.Contains(got, "SCAN") || strings.Contains(got, "TEMP B-TREE") {
			t.Errorf("%s:\n%s", what, got)
		}
	}
	// What a sweep looks at are seats, however many runs there are.
	if got := planOf(t, s, selectStale, 1); !strings.HasPrefix(got, "SCAN p") || strings.Count(got, "SCAN") != 1 || strings.Contains(got, "TEMP B-TREE") {
		t.Error(got)
	}
}

// However much there is, what is due is found by indexes.
func TestWhatIsDueIsFoundByIndex(t *testing.T) {
	s := openHere(t)
	for what, query := range map[string]struct {
		text  string
		args  []any
		index string
	}{
		"the next schedules": {selectSchedule + upcoming, []any{100}, "schedules_next"},
		"open firings":       {"SELECT f.n FROM firings f " + openFirings, nil, "firings_claimed"},
		"due deliveries":     {selectDue, []any{"ops", 1, 2, 4}, "deliveries_pending"},
	} {
		if got := planOf(t, s, query.text, query.args...); !strings.Contains(got, query.index) {
			t.Errorf("%s:\n%s", what, got)
		}
	}
}
