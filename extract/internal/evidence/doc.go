// Package evidence tells from words alone how likely a sentence answers a
// question, and how likely a set of passages does. Both are logistic models
// over a few features; extract/internal/fit finds their weights.
package evidence
