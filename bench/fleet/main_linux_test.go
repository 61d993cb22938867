package main

import (
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The measurement itself works, whatever the figures are.
func TestMeasurement(t *testing.T) {
	n := size{instances: 3000, wakes: 50, woken: 500}
	file := filepath.Join(t.TempDir(), "dossier.db")
	if err := register(t.Context(), file, n.instances); err != nil {
		t.Fatal(err)
	}
	f, err := wake(t.Context(), file, n)
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Wakes) != n.wakes || f.Disk != 0 || f.Opening <= 0 || f.Waking <= 0 {
		t.Errorf("%+v", f)
	}
	f.Registering = time.Second
	if text := table(n, f); !strings.Contains(text, "of 3 targets met") || !strings.Contains(text, "3000 per s") {
		t.Error(text)
	}
}

func TestQuantile(t *testing.T) {
	for _, c := range []struct {
		values []time.Duration
		q      float64
		want   time.Duration
	}{
		{[]time.Duration{1}, 0.99, 1},
		{[]time.Duration{1, 2, 3, 4}, 0.5, 3},
		{[]time.Duration{1, 2, 3, 4}, 1, 4},
	} {
		if got := quantile(c.values, c.q); got != c.want {
			t.Errorf("%v of %v is %d, want %d", c.q, c.values, got, c.want)
		}
	}
}
