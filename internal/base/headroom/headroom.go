// Package headroom tells the garbage collector how much it may leave lying about.
//
// Go lets garbage grow to as much as is alive. A process with twenty megabytes
// alive then collects after every twenty that it allocates, many times in one
// research; one with three hundred alive holds three hundred more for nothing.
// What a collection costs depends on what is alive, so a room that hardly grows
// with it takes time from the small process and memory from the large one.
package headroom

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

// Default is the room of the product: a deep research makes some five of it.
const Default = 128 << 20

// Keep lets garbage grow to room bytes, or to half of what is alive where that is
// more, before it is collected. Whoever set GOGC or GOMEMLIMIT has settled that
// and Keep does nothing. The returned function gives the collector back its
// setting.
func Keep(room uint64) (stop func()) {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return func() {}
	}
	k := &keeper{room: room}
	k.adjust()
	k.watch()
	return k.stop
}

type keeper struct {
	room uint64

	mu      sync.Mutex
	percent int // 0 before the first
	before  int
	stopped bool
}

// A sentinel is garbage at once: the collector finds it in each round.
type sentinel struct{ _ [16]byte }

func (k *keeper) watch() {
	runtime.AddCleanup(&sentinel{}, func(k *keeper) {
		if k.adjust() {
			k.watch()
		}
	}, k)
}

// adjust sets the percentage that leaves the room over what is alive now. It
// reports whether that is to go on.
func (k *keeper) adjust() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.stopped {
		return false
	}
	percent := percentFor(alive(), k.room)
	// Each change stops the world for a moment: small ones wait.
	if was := k.percent; was == 0 || percent > was+was/8 || percent < was-was/8 {
		before := debug.SetGCPercent(percent)
		if was == 0 {
			k.before = before
		}
		k.percent = percent
	}
	return true
}

func (k *keeper) stop() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.stopped {
		k.stopped = true
		debug.SetGCPercent(k.before)
	}
}

// percentFor is the percentage of alive that makes the room. What is alive is
// taken as at least a 64th of the room: Go counts from four megabytes at the least.
func percentFor(alive, room uint64) int {
	room = max(room, alive/2)
	return int(room * 100 / max(alive, room/64))
}

// alive is what the last collection left, with stacks and globals, which count
// as well.
func alive() uint64 {
	samples := []metrics.Sample{
		{Name: "/gc/heap/live:bytes"}, {Name: "/gc/scan/stack:bytes"}, {Name: "/gc/scan/globals:bytes"},
	}
	metrics.Read(samples)
	var sum uint64
	for _, s := range samples {
		if s.Value.Kind() == metrics.KindUint64 {
			sum += s.Value.Uint64()
		}
	}
	return sum
}
