package llm

import (
	"math"
	"time"
)

// learned is what a gate has learned about an endpoint's limits. There are
// two, because a 429 doesn't say which kind was met.
//
// Concurrency is AIMD. While calls wait for it, each round of successes raises
// the limit by one, and once it wasn't cut for the hold time (below) each
// success does, which doubles it per round trip (before the first cut it is
// quadrupled, so that an endpoint without a limit is soon used as such). A
// refusal or an overload lowers it to what is still in flight, at most by half
// per round trip (calls that went out before the last cut don't start another)
// and not below what was carried since the last cut but one. Refused calls
// that had been waiting for the pace don't count: there the pace is to blame.
//
// The pace is a rate in calls per second. A 429 sets it to the rate at which
// calls were accepted lately, plus paceAim: at the moment of a refusal the
// endpoint is saturated, so what it accepted is what it allows, whether the
// limit fell or was only touched, and no sawtooth has to be paid for. Since
// the rate is measured over a second it lags in a rise, so it falls by half
// per round trip at most. Then the pace stands still for the hold time and
// after that grows, while calls wait for it, by paceGrowth per second and at
// most by paceStep with each call, until the next 429. That costs a few
// refusals per hold time and finds a limit that rose eightfold within about
// two seconds.
//
// Retry-After closes the gate for everybody. The pace runs on meanwhile, and
// what it would have let through may follow at once when the gate opens,
// because a limit that is counted per window or by a bucket has that much room
// then. Where it turns out to have less, the share that is made up for is
// halved, and where it has none, probing becomes rare: each failed probe costs
// a whole pause.
type learned struct {
	ceiling    float64
	limit      float64
	limitFloor float64 // of the cuts of this round trip
	limitCut   uint64  // calls sent before the last cut
	limitCutAt int64
	fullAt     int64  // when a call last waited for the limit
	carried    [2]int // most calls in flight with success: since the last cut, and before

	pace      float64 // calls per second, 0 while unknown
	paceFloor float64 // of the cuts of this round trip
	paceCut   uint64  // calls sent before the last cut
	stoppedAt int64   // when the pace was last told to stand still
	next      int64   // when the pace lets the next call out
	grownAt   int64   // when the pace last grew
	credit    int64   // how far next may lag behind the clock to make up for a pause

	closed   int64   // nothing goes out before
	closedAt int64   // when that pause began; 0 when it was made up for
	makeUp   float64 // share of a pause that is made up for
	granted  float64 // calls that the last credit stood for
	openSent uint64  // calls sent before it was granted

	sent  [sentRing]sending
	sentN uint64
}

const (
	sentRing   = 256 // calls that are remembered
	sampleTime = int64(time.Second)
	sampleSize = 8

	minHold    = int64(750 * time.Millisecond)
	holdCalls  = 3 // the hold time is at least that of so many calls
	paceAim    = 1.05
	paceGrowth = 2.5
	paceStep   = 1.19
	paceSlack  = int64(20 * time.Millisecond)
	minPace    = 1.0 / 30
	minMakeUp  = 1.0 / 64
)

// sending is the record of a call that went out.
type sending struct {
	at      int64
	refused bool
}

func (l *learned) init(cfg *GovernorConfig) {
	l.ceiling = float64(cfg.MaxConcurrency)
	l.limit = float64(cfg.StartConcurrency)
	l.makeUp = 1
	l.stoppedAt = math.MinInt64 / 2
	l.limitCutAt = math.MinInt64 / 2
}

// wait says how long nobody may go out: 0 for not at all.
func (l *learned) wait(now int64, inFlight int) int64 {
	switch {
	case now < l.closed:
		return l.closed - now
	case inFlight >= int(l.limit):
		return untilLeave
	case l.pace > 0 && now < l.next:
		return l.next - now
	}
	return 0
}

func (l *learned) admit(now int64, t *ticket, waited bool) {
	t.sent = l.sentN
	l.sent[l.sentN%sentRing] = sending{at: now}
	l.sentN++
	t.paced = false
	if l.pace == 0 {
		return
	}
	if l.closedAt != 0 {
		l.reopen(now)
	}
	waited = waited && now-l.next <= paceSlack
	t.paced = waited || l.credit > 0
	if held := l.stoppedAt + l.hold(); waited && now > held {
		dt := float64(now-max(l.grownAt, held)) / 1e9
		l.pace *= min(paceStep, math.Exp(paceGrowth*dt))
	}
	l.grownAt = now
	gap := int64(1e9 / l.pace)
	l.next = max(l.next, now-paceSlack-l.credit) + gap
	l.credit = max(0, l.credit-gap)
}

// hold is how long the pace stands still after a 429.
func (l *learned) hold() int64 {
	if l.pace == 0 {
		return minHold
	}
	return max(minHold, int64(holdCalls*1e9/l.pace))
}

// reopen grants the credit for a pause that has ended, by a share that is
// judged by what the endpoint accepted after the pause before.
func (l *learned) reopen(now int64) {
	before := l.sentN - 1 // without the call that goes out now
	accepted := before - l.openSent
	if accepted <= sentRing {
		for i := l.openSent; i < before; i++ {
			if l.sent[i%sentRing].refused {
				accepted--
			}
		}
	}
	switch {
	case float64(accepted) < l.granted/2:
		l.makeUp = max(l.makeUp/2, minMakeUp)
	case float64(accepted) >= l.granted:
		l.makeUp = min(l.makeUp*2, 1)
	}
	pause := now - l.closedAt
	l.credit = int64(float64(pause) * l.makeUp)
	l.granted = float64(l.credit) / 1e9 * l.pace
	l.openSent = before
	if l.makeUp < 0.5 {
		l.stoppedAt = now + 4*pause
	}
	l.grownAt = now
	l.closedAt = 0
}

func (l *learned) succeeded(now int64, t *ticket) {
	l.carried[0] = max(l.carried[0], t.n)
	if l.fullAt < t.at {
		return // not in use
	}
	step := 1 / l.limit
	switch {
	case l.limitCut == 0:
		step = 3
	case now-l.limitCutAt > l.hold():
		step = 1
	}
	l.limit = min(l.limit+step, l.ceiling)
}

// refused learns from a 429; left is how many calls are still in flight.
func (l *learned) refused(now int64, t *ticket, left int) {
	if l.sentN-t.sent <= sentRing {
		l.sent[t.sent%sentRing].refused = true
	}
	if t.n >= int(l.limit) && !t.paced {
		l.cut(now, t, left)
	}
	if l.pace == 0 && l.sentN < sampleSize {
		return // too little to tell a rate from; the caller backs off
	}
	accepted, tried := l.rates(now)
	if t.sent >= l.paceCut {
		l.paceCut = l.sentN
		l.paceFloor = tried / 2
		if l.pace > 0 {
			l.paceFloor = l.pace / 2
		}
	}
	if p := max(accepted*paceAim, l.paceFloor, minPace); l.pace == 0 || p < l.pace {
		l.pace = p
	}
	if t.sent+1 == l.sentN && t.paced {
		l.next = min(l.next, now+int64(0.5e9/l.pace)) // it was only a little early
	}
	l.stoppedAt = max(l.stoppedAt, now)
}

// cut lowers the limit to what is still in flight.
func (l *learned) cut(now int64, t *ticket, left int) {
	if t.sent >= l.limitCut {
		l.limitCut = l.sentN
		l.limitFloor = max(1, l.limit/2, min(l.limit, float64(max(l.carried[0], l.carried[1]))))
		l.carried[0], l.carried[1] = 0, l.carried[0]
	}
	l.limit = min(l.limit, max(l.limitFloor, float64(left)))
	l.limitCutAt = now
}

// rates says how many calls per second were accepted and tried lately: the
// best over at least sampleTime, looking back over sampleSize accepted calls.
func (l *learned) rates(now int64) (accepted, tried float64) {
	taken := 0
	for i := uint64(1); i <= min(l.sentN, sentRing); i++ {
		s := l.sent[(l.sentN-i)%sentRing]
		age := max(now-s.at, sampleTime)
		tried = max(tried, float64(i)*1e9/float64(max(now-s.at, sampleTime/4)))
		if !s.refused {
			taken++
			accepted = max(accepted, float64(taken)*1e9/float64(age))
		}
		if now-s.at >= sampleTime && taken >= sampleSize {
			break
		}
	}
	return accepted, tried
}

// close obeys a Retry-After.
func (l *learned) close(now int64, d time.Duration) {
	if d <= 0 {
		return
	}
	if l.closedAt == 0 {
		l.closedAt = now
	}
	l.closed = max(l.closed, now+int64(d))
}
