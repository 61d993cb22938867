package dossier

import (
	"context"
	"errors"

	"dossier/internal/store"
)

// evictAll ends the leases of all workers, as if they were dead.
func evictAll(ctx context.Context, s store.Runs) error {
	owners, err := s.Owners(ctx)
	for _, owner := range owners {
		err = errors.Join(err, s.Evict(ctx, owner))
	}
	return err
}
