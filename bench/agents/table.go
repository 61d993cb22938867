package main

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"dossier/bench/internal/lab"
)

// figure is one line of the table: the values of each side, turn by turn.
type figure struct {
	name, key, unit string
	values          map[string][]float64
}

// mostOfBare is how much of what the bare loop needs ours may need.
const mostOfBare = 1.5

func (f *figure) add(side string, v float64) {
	if f.values == nil {
		f.values = make(map[string][]float64)
	}
	f.values[side] = append(f.values[side], v)
}

// ratios of one side to another, turn by turn, the smallest first.
func (f *figure) ratios(of, to string) []float64 {
	out := make([]float64, len(f.values[of]))
	for i, v := range f.values[of] {
		out[i] = v / f.values[to][i]
	}
	slices.Sort(out)
	return out
}

// behind are the frameworks that need less than ours.
func (f *figure) behind(sides []side) []string {
	var names []string
	for _, s := range sides {
		if s.name != bare && s.name != ours && s.name != durable && lab.Median(f.ratios(ours, s.name)) >= 1 {
			names = append(names, s.name)
		}
	}
	return names
}

// verdict says whether ours needs at most mostOfBare times what the bare loop
// does, and less than each framework.
func (f *figure) verdict(sides []side) (text string, met bool) {
	var missed []string
	if r := lab.Median(f.ratios(ours, bare)); r > mostOfBare {
		missed = append(missed, fmt.Sprintf("over %.1f × bare", mostOfBare))
	}
	if names := f.behind(sides); names != nil {
		missed = append(missed, "behind "+strings.Join(names, ", "))
	}
	if missed == nil {
		return "met", true
	}
	return "missed: " + strings.Join(missed, "; "), false
}

// table shows the figures: values of each side, ratios of ours to the bare
// loop with how they varied, and the verdicts.
func table(sides []side, figures []*figure) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprint(w, "figure")
	for _, s := range sides {
		fmt.Fprintf(w, "\t%s", s.name)
	}
	fmt.Fprintf(w, "\tours / bare\tSQLite / bare\tahead of each, ≤ %.1f × bare\n", mostOfBare)
	met := 0
	for _, f := range figures {
		fmt.Fprint(w, f.name)
		for _, s := range sides {
			fmt.Fprintf(w, "\t%s", lab.Number(lab.Median(f.values[s.name]), f.unit))
		}
		text, ok := f.verdict(sides)
		if ok {
			met++
		}
		fmt.Fprintf(w, "\t%s\t%s\t%s\n", spread(f.ratios(ours, bare)), spread(f.ratios(durable, bare)), text)
	}
	_ = w.Flush() // into memory
	fmt.Fprintf(&b, "%d of %d targets met; they are those of ours in memory, as the others work\n", met, len(figures))
	return b.String()
}

// spread is the median of sorted ratios, and their range.
func spread(ratios []float64) string {
	return fmt.Sprintf("%.2f (%.2f–%.2f)", lab.Median(ratios), ratios[0], ratios[len(ratios)-1])
}
