package kb

import "os"

// SetBatch sets how many documents are put in at once.
func (l *Library) SetBatch(n int) { l.batchMax = n }

// SetOpen replaces what opens files.
func (l *Library) SetOpen(open func(path string) (*os.File, error)) { l.open = open }

// TitleOf is the title of a document that has none, by its path.
func TitleOf(path string) string { return titleOf(&Document{Path: path}) }
