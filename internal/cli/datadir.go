package cli

import (
	"errors"

	"dossier/internal/datadir"
)

// owned says whether an error means that another process owns the directory.
func owned(err error) bool {
	var other *datadir.OwnedError
	return errors.As(err, &other)
}
