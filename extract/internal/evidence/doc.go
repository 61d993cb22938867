// Package evidence reads passages for a question and tells from words alone
// which of them to show first, what of them to quote, and how likely that is to
// answer. The two models are linear over a few features; bench/fit finds their
// weights.
package evidence
