package store

import "slices"

// CleanTags are tags in order, each once; nil where there are none.
func CleanTags(tags []string) []string {
	if len(tags) == 0 {
		return nil
	}
	tags = slices.Clone(tags)
	slices.Sort(tags)
	return slices.Compact(tags)
}
