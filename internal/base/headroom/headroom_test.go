package headroom

import (
	"runtime"
	"runtime/debug"
	"testing"
)

const mib = 1 << 20

func TestPercentFor(t *testing.T) {
	for _, c := range []struct {
		alive, room uint64
		want        int
	}{
		{0, 128 * mib, 6400},
		{16 * mib, 128 * mib, 800},
		{128 * mib, 128 * mib, 100},
		{256 * mib, 128 * mib, 50},
		{1024 * mib, 128 * mib, 50}, // never less than half of what is alive
	} {
		if got := percentFor(c.alive, c.room); got != c.want {
			t.Errorf("%d alive, room %d: %d %%, want %d", c.alive/mib, c.room/mib, got, c.want)
		}
	}
}

func TestTheRoomFollowsWhatIsAlive(t *testing.T) {
	t.Setenv("GOGC", "")
	t.Setenv("GOMEMLIMIT", "")
	before := debug.SetGCPercent(100)
	defer debug.SetGCPercent(before)

	stop := Keep(64 * mib)
	small := now()
	held := make([]byte, 256*mib)
	for i := range held {
		held[i] = 1
	}
	// The cleanup of one round sets what holds for the next.
	for i := 0; now() > 60; i++ {
		if i == 1000 {
			t.Fatalf("with 256 MiB alive the percentage is still %d, it began with %d", now(), small)
		}
		runtime.GC()
	}
	runtime.KeepAlive(held)
	for i := 0; now() < small/2; i++ {
		if i == 1000 {
			t.Fatalf("with nothing alive the percentage is still %d, it began with %d", now(), small)
		}
		runtime.GC()
	}
	stop()
	if got := now(); got != 100 {
		t.Errorf("afterwards the percentage is %d, it was 100", got)
	}
	runtime.GC()
	if got := now(); got != 100 {
		t.Errorf("a round later the percentage is %d, it was 100", got)
	}
}

func TestWhoeverSetsItHasIt(t *testing.T) {
	before := debug.SetGCPercent(70)
	defer debug.SetGCPercent(before)
	t.Setenv("GOGC", "70")
	defer Keep(64 * mib)()
	if got := now(); got != 70 {
		t.Errorf("GOGC=70 became %d", got)
	}
}

// now is the percentage that holds.
func now() int {
	p := debug.SetGCPercent(100)
	debug.SetGCPercent(p)
	return p
}
