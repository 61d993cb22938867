//go:build unix

package schedule_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"dossier/internal/schedule"
	"dossier/internal/store/sqlite"
)

// victim names the database of a process that is killed between the claim of a
// firing and the begin of its run.
const victim = "DOSSIER_TEST_VICTIM"

func TestMain(m *testing.M) {
	if path := os.Getenv(victim); path != "" {
		err := beKilled(path)
		fmt.Fprintln(os.Stderr, "still alive:", err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func openScheduler(path string, now time.Time, begin func(f schedule.Firing) error) (*schedule.Scheduler, *sqlite.Store, error) {
	s, err := sqlite.Open(path, sqlite.Options{})
	if err != nil {
		return nil, nil, err
	}
	ids := 0
	return schedule.New(schedule.Options{
		Store: s, Now: func() time.Time { return now },
		NewID: func(time.Time) string { ids++; return fmt.Sprint(os.Getpid(), "-", ids) },
		Begin: func(_ context.Context, _ schedule.Schedule, f schedule.Firing) error { return begin(f) },
		On:    func(context.Context, string) (bool, error) { return false, nil },
	}), s, nil
}

func beKilled(path string) error {
	c, _, err := openScheduler(path, dueAt, func(schedule.Firing) error { return syscall.Kill(os.Getpid(), syscall.SIGKILL) })
	if err != nil {
		return err
	}
	_, err = c.Look(context.Background())
	return errors.Join(err, errors.New("it was not killed"))
}

var dueAt = time.Date(2026, 3, 1, 1, 0, 0, 0, time.UTC)

// A process that is killed with SIGKILL between claim and begin has its run begun
// exactly once by those that come after it.
func TestKilledBetweenClaimAndBegin(t *testing.T) {
	path := filepath.Join(t.TempDir(), "dossier.db")
	var begun []string
	begin := func(f schedule.Firing) error { begun = append(begun, f.Run); return nil }
	c, s, err := openScheduler(path, dueAt.Add(-time.Minute), begin)
	if err != nil {
		t.Fatal(err)
	}
	made, err := c.Create(t.Context(), schedule.Schedule{Cron: "0 * * * *", Zone: "UTC", Request: []byte(`{}`)})
	if err := errors.Join(err, s.Close()); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	child := exec.Command(self)
	child.Env = append(os.Environ(), victim+"="+path)
	out, err := child.CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Fatalf("%v: %s", err, out)
	}
	for range 3 { // each a restart
		c, s, err := openScheduler(path, dueAt.Add(time.Minute), begin)
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.Look(t.Context())
		fired, ferr := s.Firings(t.Context(), made.ID, 10)
		if err := errors.Join(err, ferr, s.Close()); err != nil {
			t.Fatal(err)
		}
		if len(begun) != 1 || len(fired) != 1 || fired[0].Run != begun[0] || fired[0].State != schedule.Started || !fired[0].Due.Equal(dueAt) {
			t.Fatalf("begun %q, fired %+v", begun, fired)
		}
	}
}
