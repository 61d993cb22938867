package chromium

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"dossier/internal/base/filelock"
)

// A profile is the private directory of one browser. The file beside it, of the
// same name and lockEnding, is locked while the profile is in use: one that can
// be locked belongs to a process that was killed, and the next one removes it.
type profile struct {
	dir  string
	lock *os.File
}

const (
	profileName = "dossier-chromium-"
	lockEnding  = ".lock"
)

// newProfile makes a profile below tmp.
func newProfile(tmp string) (*profile, error) {
	for {
		f, err := os.CreateTemp(tmp, profileName+"*"+lockEnding)
		if err != nil {
			return nil, err
		}
		p := &profile{dir: strings.TrimSuffix(f.Name(), lockEnding), lock: f}
		ours, err := p.own()
		if err == nil && ours {
			if err = os.Mkdir(p.dir, 0o700); err == nil {
				return p, nil
			}
		}
		_ = f.Close()
		_ = os.Remove(f.Name())
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		// Somebody who swept had the lock before us, or the name is taken.
	}
}

// own locks the profile. It is false if another had it first, who then removed
// what was there.
func (p *profile) own() (bool, error) {
	if got, err := filelock.Try(p.lock); !got {
		return false, err
	}
	held, err := p.lock.Stat()
	if err != nil {
		return false, err
	}
	there, err := os.Lstat(p.lock.Name())
	return err == nil && os.SameFile(held, there), nil
}

// end deletes the profile. A process that is just ending may still write to it,
// so it is tried more than once; what stays is left to a later sweep.
func (p *profile) end() error {
	var err error
	for range 50 {
		if err = os.RemoveAll(p.dir); err == nil {
			break
		}
		<-time.After(20 * time.Millisecond)
	}
	return p.release(err)
}

// release gives the profile up; if it could be removed, so is its lock.
func (p *profile) release(err error) error {
	_ = p.lock.Close() // before the file goes: Windows removes none that is open
	if err == nil {
		_ = os.Remove(p.lock.Name())
	}
	return err
}

// sweep removes the profiles below tmp whose processes are gone, and returns how
// many. What can't be removed, as that of another user, stays.
func sweep(tmp string) (removed int) {
	entries, _ := os.ReadDir(tmp)
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), profileName) || !strings.HasSuffix(e.Name(), lockEnding) || !e.Type().IsRegular() {
			continue
		}
		f, err := os.OpenFile(filepath.Join(tmp, e.Name()), os.O_RDWR, 0)
		if err != nil {
			continue
		}
		left := &profile{dir: strings.TrimSuffix(f.Name(), lockEnding), lock: f}
		if ours, err := left.own(); !ours || err != nil {
			_ = f.Close()
			continue
		}
		if left.release(os.RemoveAll(left.dir)) == nil {
			removed++
		}
	}
	return removed
}
