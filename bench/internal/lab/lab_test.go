package lab

import (
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	v, err := parse([]byte(`{"peer":"x","cpu_us_per_step":12.5,"steps":10}` + "\n"))
	if err != nil || v["cpu_us_per_step"] != 12.5 || v["steps"] != 10 || len(v) != 2 {
		t.Errorf("figures: %v %v", v, err)
	}
	if _, err := parse([]byte(`{"peer":"x","total_ms":5,"note":"3 failed"}`)); err == nil || !strings.Contains(err.Error(), "3 failed") {
		t.Errorf("a note: %v", err)
	}
	if _, err := parse([]byte("panic: no")); err == nil {
		t.Error("a line that is no JSON was read")
	}
}

func TestMedian(t *testing.T) {
	x := []float64{3, 1, 2}
	if got := Median(x); got != 2 || x[0] != 3 {
		t.Errorf("median %v, and %v", got, x)
	}
	if got := Median([]float64{4, 1, 2, 3}); got != 2.5 {
		t.Errorf("median of an even number: %v", got)
	}
}

func TestNumber(t *testing.T) {
	for v, want := range map[float64]string{1.234: "1.23 µs", 12.34: "12.3 µs", 12345.6: "12346 µs"} {
		if got := Number(v, "µs"); got != want {
			t.Errorf("%v: %q instead of %q", v, got, want)
		}
	}
	if got := Number(81.8, ""); got != "81.8" {
		t.Errorf("without a unit: %q", got)
	}
}
