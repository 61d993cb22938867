// Package sources gathers what a question needs: it plans queries, searches,
// reads what was found and keeps what is worth quoting.
package sources
