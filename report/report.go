// Package report is what a run delivers: an answer with its sources, quotes
// and coverage, as Markdown, HTML and JSON.
package report
