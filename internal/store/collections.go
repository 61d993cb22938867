package store

import (
	"errors"
	"fmt"

	"dossier/kb"
)

// CheckCollection says whether a collection can be made.
func CheckCollection(c kb.Collection) error {
	if c.ID == "" || c.Name == "" {
		return errors.New("a collection needs an id and a name")
	}
	return nil
}

// Marks are what a change of a collection is held against: its revision and
// the highest numbers that were ever used in it.
type Marks struct{ Revision, Document, Segment int64 }

// Next returns the marks after a change, or why it is refused: with
// kb.ErrChanged when it was made for another revision, with ErrExists when it
// uses a number that was used before. There says which segments there are.
func (m Marks) Next(c kb.Change, there func(segment int64) bool) (Marks, error) {
	if c.Revision != m.Revision {
		return m, fmt.Errorf("revision %d is now %d: %w", c.Revision, m.Revision, kb.ErrChanged)
	}
	next := Marks{m.Revision + 1, m.Document, m.Segment}
	put := make(map[int64]struct{}, len(c.Put))
	for i := range c.Put {
		n := c.Put[i].N
		if _, twice := put[n]; twice || n <= m.Document {
			return m, fmt.Errorf("document %d: the number was used before, take one above %d: %w", n, m.Document, ErrExists)
		}
		put[n] = struct{}{}
		next.Document = max(next.Document, n)
	}
	dropped := make(map[int64]struct{}, len(c.Drop))
	for _, n := range c.Drop {
		dropped[n] = struct{}{}
	}
	placed := make(map[int64]struct{}, len(c.Segments))
	for i := range c.Segments {
		n := c.Segments[i].N
		_, gone := dropped[n]
		_, twice := placed[n]
		if twice || n <= m.Segment && (gone || !there(n)) {
			return m, fmt.Errorf("segment %d: the number was used before, take one above %d: %w", n, m.Segment, ErrExists)
		}
		placed[n] = struct{}{}
		next.Segment = max(next.Segment, n)
	}
	return next, nil
}
