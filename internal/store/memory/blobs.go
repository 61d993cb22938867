package memory

import (
	"context"
	"fmt"
	"time"

	"dossier/event"
	"dossier/internal/store"
)

// blob is a body and when it was last put, or a run was deleted that held it.
type blob struct {
	data []byte
	used time.Time
}

// PutBlob implements store.Blobs.
func (s *Store) PutBlob(ctx context.Context, data []byte) (string, error) {
	name := store.BlobName(data)
	if err := s.open(ctx); err != nil {
		return "", err
	}
	defer s.mu.Unlock()
	s.blobs[name] = blob{data, s.now()}
	return name, nil
}

// Blob implements store.Blobs.
func (s *Store) Blob(ctx context.Context, name string) ([]byte, error) {
	if err := s.open(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	if b, ok := s.blobs[name]; ok {
		return b.data, nil
	}
	return nil, fmt.Errorf("blob %q: %w", name, store.ErrNotFound)
}

// CollectBlobs implements store.Blobs. Who holds what is found by looking at
// everything: a commit costs nothing for it.
func (s *Store) CollectBlobs(ctx context.Context, unused time.Duration) (removed int, err error) {
	if err := s.open(ctx); err != nil {
		return 0, err
	}
	defer s.mu.Unlock()
	held := map[string]bool{}
	for _, j := range s.runs {
		if err := j.eachBlob(func(name string) { held[name] = true }); err != nil {
			return 0, err
		}
	}
	before := s.now().Add(-unused - store.PutGrain)
	for name, b := range s.blobs {
		if !held[name] && b.used.Before(before) {
			delete(s.blobs, name)
			removed++
		}
	}
	return removed, nil
}

// eachBlob calls do with the names of the bodies that a run holds.
func (j *journal) eachBlob(do func(name string)) error {
	store.EachBlobName(j.rec.Request, do)
	for i := range j.entries {
		store.EachBlobName(j.entries[i].Value, do)
	}
	for i := range j.events {
		raw, err := event.EncodeData(j.events[i].Data)
		if err != nil {
			return fmt.Errorf("event at %q: %w", j.events[i].Place, err)
		}
		store.EachBlobName(raw, do)
	}
	return nil
}

// release notes that a run which is going held bodies until now.
func (s *Store) release(j *journal) error {
	if len(s.blobs) == 0 {
		return nil
	}
	return j.eachBlob(func(name string) {
		if b, ok := s.blobs[name]; ok {
			b.used = s.now()
			s.blobs[name] = b
		}
	})
}
