package webtest

import (
	"fmt"
	"math"
	"net/http"
	"strconv"
	"time"
)

// Fault is a way to fail.
type Fault struct {
	Kind FaultKind
	// RetryAfter is sent with RateLimited and ServerError, in whole seconds.
	RetryAfter time.Duration
	// Times is how many requests fail before all is well; 0 is all of them.
	Times int
}

// FaultKind is how something fails.
type FaultKind string

// The faults of the engine. A page that has one of them sends what the engine
// would; Unresponsive and NoJSON are the engine's own.
const (
	RateLimited  FaultKind = "429"
	ServerError  FaultKind = "500"
	HTMLPage     FaultKind = "html"         // a page where JSON was asked for
	Captcha      FaultKind = "captcha"      // a page that wants to see a human
	NoResults    FaultKind = "empty"        // a good answer without results; an empty page
	Garbage      FaultKind = "garbage"      // half of an answer, and noise
	Never        FaultKind = "never"        // no answer at all
	Dropped      FaultKind = "dropped"      // the connection ends without an answer
	Unresponsive FaultKind = "unresponsive" // no results, since the engines behind it block
	NoJSON       FaultKind = "no json"      // 403, as from an instance that has the format switched off
)

// Break makes the engine fail from now on, or as often as f says; the zero Fault ends that.
func (w *Web) Break(f Fault) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.broken = f
}

// Mend ends the faults of the engine and of all pages.
func (w *Web) Mend() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.broken = Fault{}
	clear(w.faults)
}

// BreakPage makes the page at a URL fail from now on.
func (w *Web) BreakPage(url string, f Fault) error {
	key := w.key(url)
	if w.site.byURL[key] == nil {
		return fmt.Errorf("webtest: no page at %s to break", url)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.faults[key] = f
	return nil
}

// spend uses a fault once and returns what is left of it.
func (f Fault) spend() Fault {
	if f.Times == 1 {
		return Fault{}
	}
	f.Times = max(0, f.Times-1)
	return f
}

// fail answers with a fault that engine and pages have in common; false says
// that f is none of them.
func (w *Web) fail(rw http.ResponseWriter, r *http.Request, f Fault) bool {
	status := func(code int, body string) {
		if f.RetryAfter > 0 {
			rw.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(f.RetryAfter.Seconds()))))
		}
		http.Error(rw, body, code)
	}
	htmlPage := func(body string) {
		rw.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(rw, body)
	}
	switch f.Kind {
	case RateLimited:
		status(http.StatusTooManyRequests, "Too Many Requests")
	case ServerError:
		status(http.StatusInternalServerError, "Internal Server Error")
	case HTMLPage:
		htmlPage("<!DOCTYPE html><html><head><title>Welcome</title></head><body><h1>Welcome</h1><p>This service has moved its start page.</p></body></html>")
	case Captcha:
		htmlPage("<!DOCTYPE html><html><head><title>One more step</title></head><body><h1>Please complete the captcha</h1><p>Our systems have seen unusual traffic from your network. Show that you are not a robot.</p></body></html>")
	case Garbage:
		rw.Header().Set("Content-Type", "application/json")
		fmt.Fprint(rw, "{\"query\": \"x\", \"results\": [{\"url\": \"http://\xff\xfe\x00", "\x01\x02")
	case Never:
		w.forever(r.Context())
		panic(http.ErrAbortHandler)
	case Dropped:
		panic(http.ErrAbortHandler)
	default:
		return false
	}
	return true
}
