package main

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"dossier/bench/internal/lab"
)

func table(figures []*figure) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "figure\tbeside\tours\tratio\ttarget\t")
	missed := 0
	for _, f := range figures {
		beside, against := "", ""
		if f.beside != nil {
			beside = lab.Number(lab.Median(f.beside), f.unit)
		}
		switch f.kind {
		case ratio:
			against = fmt.Sprintf("%.2f", f.value())
		case difference:
			against = fmt.Sprintf("%+.0f", f.value())
		case alone:
			if f.beside != nil {
				against = fmt.Sprintf("%.2f", lab.Median(f.ours)/lab.Median(f.beside))
			}
		}
		verdict := "met"
		if !f.met() {
			verdict = "missed"
			missed++
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", f.name, beside, lab.Number(lab.Median(f.ours), f.unit), against, f.target, verdict)
	}
	_ = w.Flush() // into memory
	fmt.Fprintf(&b, "%d of %d targets met\n", len(figures)-missed, len(figures))
	return b.String()
}
