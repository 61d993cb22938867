package cli

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
)

// writeFile replaces a file at once. A file that was there keeps its mode, a new
// one gets that of the user's umask; what is no regular file (a pipe, a device) is
// written to as it is, and a link leads to the file behind it.
func writeFile(name string, data []byte) error {
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		info = nil
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return writeTo(name, os.O_WRONLY, data)
	default:
		if name, err = filepath.EvalSymlinks(name); err != nil {
			return err
		}
	}
	made := filepath.Join(filepath.Dir(name), "."+filepath.Base(name)+"."+strconv.FormatUint(rand.Uint64(), 36))
	if err := writeTo(made, os.O_WRONLY|os.O_CREATE|os.O_EXCL, data); err != nil {
		_ = os.Remove(made)
		return err
	}
	if info != nil {
		if err := os.Chmod(made, info.Mode().Perm()); err != nil {
			_ = os.Remove(made)
			return err
		}
	}
	if err := os.Rename(made, name); err != nil {
		_ = os.Remove(made)
		return err
	}
	return nil
}

func writeTo(name string, how int, data []byte) error {
	f, err := os.OpenFile(name, how, 0o666) //nolint:gosec // the umask decides
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}
