package sqlite

import (
	"io/fs"
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
