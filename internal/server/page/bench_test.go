package page_test

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"dossier/internal/clienttest"
	"dossier/internal/server/internal/sitetest"
	"dossier/reader/chromium"
)

// BenchmarkPage opens the page on loopback and has it follow ten thousand events.
func BenchmarkPage(b *testing.B) {
	browser := chromium.Find()
	if browser == "" {
		b.Skip("no Chromium or Chrome is installed")
	}
	s := sitetest.Start(b, sitetest.Options{Protocols: served, Open: true})
	raw, err := json.Marshal(object{"chromium": browser, "url": s.URL, "events": 10_000})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		var seen struct{ Paint, Bare, Still, Work, Sources, Log, Report, WorkWorst, SourcesWorst, LogWorst, ReportWorst float64 }
		if err := json.Unmarshal([]byte(clienttest.Node(b, filepath.Join("page", "bench.mjs"), string(raw))), &seen); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(seen.Paint, "ms/first-paint")
		b.ReportMetric(seen.Bare, "ms/first-paint-of-a-word")
		b.ReportMetric(seen.Still, "frames/s-still")
		b.ReportMetric(seen.Work, "frames/s-work")
		b.ReportMetric(seen.Sources, "frames/s-sources")
		b.ReportMetric(seen.Log, "frames/s-events")
		b.ReportMetric(seen.Report, "frames/s-draft")
		b.ReportMetric(seen.WorkWorst, "ms/work-frame-worst")
		b.ReportMetric(seen.SourcesWorst, "ms/sources-frame-worst")
		b.ReportMetric(seen.LogWorst, "ms/events-frame-worst")
		b.ReportMetric(seen.ReportWorst, "ms/draft-frame-worst")
	}
}
