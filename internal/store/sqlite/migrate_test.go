package sqlite

import (
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"
)

// Files are applied in the order of their names, which has to be that of their
// numbers.
func TestMigrationsAreInOrder(t *testing.T) {
	files, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d migrations, %v", len(files), err)
	}
	last := int64(0)
	for _, file := range files {
		number, err := numberOf(file)
		if err != nil || number <= last {
			t.Errorf("%s has number %d after %d: %v", file, number, last, err)
		}
		last = number
	}
	if _, err := numberOf("migrations/tools.sql"); err == nil {
		t.Error("a migration without a number was taken")
	}
}

// The table of ARCHITECTURE.md names every table and view, and no others.
func TestTablesAreDescribed(t *testing.T) {
	raw, err := os.ReadFile("../../../ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(raw), "\n## Storage\n")
	section, _, _ = strings.Cut(section, "\n## ")
	described := map[string]bool{}
	for _, row := range regexp.MustCompile("(?m)^\\| (`.*?) \\|(.*)").FindAllStringSubmatch(section, -1) {
		for _, name := range regexp.MustCompile("`([a-z_]+)`").FindAllStringSubmatch(row[1]+row[2], -1) {
			described[name[1]] = true
		}
	}
	// What FTS5 keeps the words in is its own affair.
	const all = `SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%' AND name NOT LIKE 'words\_%' ESCAPE '\'`
	err = openHere(t).each(t.Context(), all, nil, func(row scanner) error {
		var name string
		if err := row.Scan(&name); err != nil {
			return err
		}
		if !described[name] {
			t.Errorf("ARCHITECTURE.md does not describe %s", name)
		}
		delete(described, name)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for name := range described {
		t.Errorf("ARCHITECTURE.md describes %s, which does not exist", name)
	}
}
