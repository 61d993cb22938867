package chromium

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"dossier/egress"
	"dossier/reader"
)

func TestMain(m *testing.M) {
	reader.WorkerMain()
	renderInChild()
	os.Exit(m.Run())
}

const public = "93.184.215.14"

// web is an internet on this machine: every name has a public address, all
// public addresses are one server, and every dial is recorded.
type web struct {
	server *httptest.Server
	// canary is a port of this machine that nobody may reach, by TCP or UDP.
	canary string
	caught atomic.Int64

	mu    sync.Mutex
	dials []string
	asked []string
}

func (w *web) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	if host == "rebind.test" {
		return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
	}
	return []netip.Addr{netip.MustParseAddr(public)}, nil
}

func (w *web) dial(ctx context.Context, network, address string) (net.Conn, error) {
	w.mu.Lock()
	w.dials = append(w.dials, address)
	w.mu.Unlock()
	return (&net.Dialer{}).DialContext(ctx, network, w.server.Listener.Addr().String())
}

// guard is a client on it, without waiting.
func (w *web) guard() *egress.Client {
	return egress.Guarded(egress.GuardConfig{Resolver: w, Dial: w.dial, MinDelay: 1, PerHost: 8})
}

// newWeb serves pages by path. In them CANARY is the host and port of the
// canary.
func newWeb(t testing.TB, pages map[string]string, special http.HandlerFunc) *web {
	t.Helper()
	w := &web{}
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w.canary = tcp.Addr().String()
	udp, err := net.ListenPacket("udp", w.canary)
	if err != nil {
		t.Fatal(err)
	}
	var done sync.WaitGroup
	done.Go(func() {
		for {
			c, err := tcp.Accept()
			if err != nil {
				return
			}
			w.caught.Add(1)
			c.Close()
		}
	})
	done.Go(func() {
		for {
			if _, _, err := udp.ReadFrom(make([]byte, 2048)); err != nil {
				return
			}
			w.caught.Add(1)
		}
	})
	w.server = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w.mu.Lock()
		w.asked = append(w.asked, r.Host+r.URL.Path)
		w.mu.Unlock()
		if p, ok := pages[r.URL.Path]; ok {
			if strings.HasSuffix(r.URL.Path, ".js") {
				rw.Header().Set("Content-Type", "text/javascript")
			}
			io.WriteString(rw, strings.ReplaceAll(p, "CANARY", w.canary))
			return
		}
		if special != nil {
			special(rw, r)
			return
		}
		http.NotFound(rw, r)
	}))
	t.Cleanup(func() {
		tcp.Close()
		udp.Close()
		done.Wait()
		w.server.CloseClientConnections()
		w.server.Close()
	})
	return w
}

// installed says whether there is a browser to test with. Where there is none,
// what needs it says so and passes: the rest of the package is tested.
func installed(t testing.TB) bool {
	if Find() == "" {
		t.Log("no Chromium or Chrome is installed: not tested")
		return false
	}
	return true
}

// shortDir is a directory in whose path there is room for the browser's socket;
// those of tests are too long.
func shortDir() (string, error) { return os.MkdirTemp(tempDir(), "t") }

// browser makes one that must leave nothing behind. Where its time is not what is
// tested, a busy machine has enough of it.
func browser(t testing.TB, c Config) *Browser {
	t.Helper()
	c.Timeout = cmp.Or(c.Timeout, 2*time.Minute)
	tmp, err := shortDir()
	if err != nil {
		t.Fatal(err)
	}
	b := New(c)
	b.tmp = tmp
	t.Cleanup(func() {
		b.Close()
		if left, _ := filepath.Glob(filepath.Join(tmp, "*")); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
		os.RemoveAll(tmp)
		if runtime.GOOS != "linux" {
			return
		}
		for until := time.Now().Add(time.Minute); len(mentions(tmp)) > 0; <-time.After(5 * time.Millisecond) {
			if time.Now().After(until) {
				t.Fatalf("processes left behind: %q", mentions(tmp))
			}
		}
	})
	return b
}

// mentions are the command lines that hold a text.
func mentions(text string) (found []string) {
	lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, path := range lines {
		if line, err := os.ReadFile(path); err == nil && bytes.Contains(line, []byte(text)) {
			found = append(found, string(line[:min(len(line), 100)]))
		}
	}
	return found
}

const app = `<!DOCTYPE html><html><head><title>App</title></head><body><div id="root"></div>
<script>
fetch("/data").then(r => r.text()).then(text => {
  setTimeout(() => {
    for (const line of text.split("\n")) { const p = document.createElement("p"); p.textContent = line; document.getElementById("root").append(p) }
  }, 200)
})
</script></body></html>`

const text = "The council voted on Monday to close the old bridge, after engineers found cracks in two of its pillars.\nЖители спорят о новом мосте, который обойдётся в сорок миллионов, а денег в бюджете только десять. 🌉\n"

func TestRender(t *testing.T) {
	if !installed(t) {
		return
	}
	w := newWeb(t, map[string]string{"/app": app, "/data": strings.Repeat(text, 3)}, func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/moved" {
			http.Redirect(rw, r, "http://www.site.test/app", http.StatusFound)
			return
		}
		http.NotFound(rw, r)
	})
	var log bytes.Buffer
	b := browser(t, Config{Guard: w.guard(), Log: slog.New(slog.NewTextHandler(&log, nil))})
	r := reader.New(reader.Config{})
	t.Cleanup(r.Close)
	f := reader.Fetcher{Client: w.guard(), Reader: r, Browser: b}
	got, err := f.Fetch(t.Context(), "http://site.test/moved")
	if err != nil {
		t.Fatal(err)
	}
	if got.URL != "http://www.site.test/app" || !got.Rendered || got.Page.Title != "App" || !strings.Contains(got.Page.Text, "cracks in two") || !strings.Contains(got.Page.Text, "только десять. 🌉") {
		t.Errorf("%+v", got.Page)
	}
	if os.Geteuid() == 0 && strings.Count(log.String(), "sandbox") != 1 {
		t.Errorf("about the sandbox: %s", log.String())
	}
	for _, host := range w.asked {
		if !strings.HasPrefix(host, "site.test/") && !strings.HasPrefix(host, "www.site.test/") {
			t.Errorf("the browser asked for %s", host)
		}
	}
}

// TestHostilePages renders pages that try to reach what they may not, to never
// end, or to cost too much.
func TestHostilePages(t *testing.T) {
	if !installed(t) {
		return
	}
	const body = `<p id="p">There is text here.</p>`
	for name, test := range map[string]struct {
		page  string
		url   string // /page without it
		fails string // a part of the error; else the text is there
		conf  Config
	}{
		"never settles":     {page: body + `<script>setInterval(() => p.textContent = "There is text here. " + Date.now(), 20)</script>`, conf: Config{Settle: 2 * time.Second}},
		"endless loading":   {page: body + `<script>(function f(){ fetch("/slow?" + Math.random()).finally(f) })()</script>`, conf: Config{Settle: 2 * time.Second}},
		"endless loop":      {page: body + `<script>setTimeout(() => { while (true); }, 50)</script>`, fails: "longer than", conf: Config{Settle: time.Second, Timeout: 4 * time.Second}},
		"endless redirect":  {url: "/loop", fails: "TOO_MANY_REDIRECTS"},
		"endless moving":    {page: body + `<script>location.href = "/page?" + Math.random()</script>`, conf: Config{Settle: 2 * time.Second}},
		"dialogs":           {page: `<script>alert("x".repeat(1e6)); confirm(1); prompt(2); onbeforeunload = () => 1; document.write('` + body + `')</script>`},
		"endless dialogs":   {page: body + `<script>while (true) alert(1)</script>`, fails: "longer than", conf: Config{Settle: time.Second, Timeout: 4 * time.Second}},
		"download":          {url: "/file", fails: "download"},
		"download inside":   {page: body + `<iframe src="/file"></iframe><script>location.href = "/file"</script>`, conf: Config{Settle: 2 * time.Second}},
		"big DOM":           {page: body + `<script>let s = "<p>" + "word ".repeat(2000) + "</p>"; for (let i = 0; i < 20000; i++) document.body.insertAdjacentHTML("beforeend", s)</script>`, fails: "more", conf: Config{Memory: 1 << 29}},
		"big memory":        {page: body + `<script>let a = []; setInterval(() => { for (let i = 0; i < 20; i++) a.push(new Uint8Array(16 << 20).fill(1)) }, 10)</script>`, fails: "memory", conf: Config{Memory: 1 << 29, Settle: 20 * time.Second}},
		"big body":          {url: "/endless", conf: Config{MaxBytes: 1 << 20, Settle: 2 * time.Second}},
		"windows":           {page: body + `<script>for (let i = 0; i < 30; i++) { open("/page2?" + i); open("http://CANARY/" + i, "_blank", "noopener") }</script>`},
		"console":           {page: body + `<script>for (let i = 0; i < 100; i++) console.log("x".repeat(1e6))</script>`},
		"tampered":          {page: body + `<script>Object.defineProperty(Element.prototype, "outerHTML", {get() { return "lie" }}); performance.now = () => 0; JSON.stringify = () => "lie"</script>`},
		"local address":     {page: body + `<img src="http://CANARY/a"><iframe src="http://CANARY/b"></iframe><script src="http://CANARY/c"></script><script>fetch("http://CANARY/d", {mode: "no-cors"}); fetch("http://localhost/e"); fetch("http://169.254.169.254/latest/meta-data/"); fetch("http://[::1]/"); fetch("http://rebind.test/f"); navigator.sendBeacon("http://CANARY/g")</script><link rel="preconnect" href="http://CANARY"><link rel="prefetch" href="http://CANARY/h"><link rel="stylesheet" href="http://CANARY/i">`},
		"moves to local":    {page: `<script>location.href = "http://CANARY/"</script>`, fails: "127.0.0.1"},
		"moves to meta":     {page: `<meta http-equiv="refresh" content="0;url=http://169.254.169.254/">` + body, fails: "169.254.169.254"},
		"redirect to local": {url: "/tolocal", fails: "127.0.0.1"},
		"files":             {page: body + `<iframe src="file:///etc/passwd"></iframe><script>fetch("file:///etc/passwd").then(r => r.text()).then(s => document.body.append(s)); location.href = "file:///etc/passwd"; open("view-source:http://CANARY/"); location.href = "view-source:http://CANARY/"; location.href = "chrome://version"</script>`},
		"sockets":           {page: body + `<script>for (const u of ["ws://CANARY/", "wss://CANARY/", "ws://169.254.169.254/", "ws://rebind.test/"]) try { new WebSocket(u) } catch {}; try { new WebTransport("https://CANARY/") } catch {}; try { new EventSource("http://CANARY/") } catch {}</script>`},
		"webrtc":            {page: body + `<script>const c = new RTCPeerConnection({iceServers: [{urls: "stun:CANARY"}, {urls: "turn:CANARY?transport=udp", username: "a", credential: "b"}, {urls: "turn:CANARY?transport=tcp", username: "a", credential: "b"}]}); c.createDataChannel("x"); c.createOffer().then(o => c.setLocalDescription(o))</script>`},
		"workers":           {page: body + `<script>for (let i = 0; i < 3; i++) fetch("/until?" + i); navigator.serviceWorker.register("/worker.js").then(() => { p.textContent += " It is registered."; return fetch("/registered") }); new Worker("/worker.js"); try { new SharedWorker("/worker.js") } catch {}</script>`, conf: Config{Settle: time.Minute}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pages := map[string]string{
				"/page":  "<!DOCTYPE html><html><body>" + test.page + "</body></html>",
				"/page2": `<script>setInterval(() => alert(1), 1)</script>`,
				"/worker.js": `fetch("http://CANARY/"); fetch("http://rebind.test/"); try { new WebSocket("ws://CANARY/") } catch {}
					onfetch = e => e.respondWith(fetch("http://CANARY/"))`,
			}
			registered := make(chan struct{})
			once := sync.OnceFunc(func() { close(registered) })
			w := newWeb(t, pages, func(rw http.ResponseWriter, r *http.Request) {
				switch r.URL.Path {
				case "/until": // the page is not quiet before
					select {
					case <-registered:
					case <-r.Context().Done():
					}
				case "/registered":
					once()
				case "/loop":
					http.Redirect(rw, r, "/loop", http.StatusFound)
				case "/tolocal":
					http.Redirect(rw, r, "http://127.0.0.1/", http.StatusFound)
				case "/file":
					rw.Header().Set("Content-Disposition", "attachment; filename=a.bin")
					rw.Write(make([]byte, 1<<20))
				case "/slow":
					<-r.Context().Done()
				case "/endless":
					rw.Header().Set("Content-Type", "text/html")
					for r.Context().Err() == nil {
						if _, err := io.WriteString(rw, strings.Repeat("<p>more ", 1000)); err != nil {
							return
						}
					}
				default:
					http.NotFound(rw, r)
				}
			})
			test.conf.Guard = w.guard()
			b := browser(t, test.conf)
			b.more = []string{"--unsafely-treat-insecure-origin-as-secure=http://site.test"} // service workers want that
			url := "http://site.test/page"
			if test.url != "" {
				url = "http://site.test" + test.url
			}
			start := time.Now()
			got, err := b.Render(t.Context(), url)
			switch {
			case err != nil:
				t.Logf("%.1f s: %.300v", time.Since(start).Seconds(), err)
				if test.fails == "" && strings.Contains(test.page, body) {
					t.Error("no page")
				}
				if !strings.Contains(err.Error(), test.fails) {
					t.Errorf("want %q in it", test.fails)
				}
			case test.fails != "":
				t.Errorf("it gave %.300s", got.HTML)
			default:
				t.Logf("%.1f s: %d bytes at %s", time.Since(start).Seconds(), len(got.HTML), got.URL)
				if name == "workers" && !strings.Contains(string(got.HTML), "It is registered.") {
					t.Errorf("no service worker: %s", got.HTML)
				}
				if strings.Contains(test.page, body) && !strings.Contains(string(got.HTML), "There is text here.") || strings.Contains(string(got.HTML), "root:") {
					t.Errorf("%.500s", got.HTML)
				}
			}
			w.mu.Lock()
			defer w.mu.Unlock()
			for _, d := range w.dials {
				if d != public+":80" && d != public+":443" {
					t.Errorf("dialled %s", d)
				}
			}
			if n := w.caught.Load(); n > 0 {
				t.Errorf("%d connections or packets came to an address of this machine", n)
			}
			for _, a := range w.asked {
				if !strings.HasPrefix(a, "site.test/") {
					t.Errorf("asked for %s", a)
				}
			}
		})
	}
}

func TestRefusedURLs(t *testing.T) {
	w := newWeb(t, nil, nil)
	b := New(Config{Guard: w.guard(), Path: "/nonexistent"})
	defer b.Close()
	for _, u := range []string{"file:///etc/passwd", "http://127.0.0.1/", "http://169.254.169.254/", "view-source:http://site.test/", "chrome://version", "about:blank", "data:text/html,x", "http://site.test:22/", "javascript:1"} {
		if _, err := b.Render(t.Context(), u); egress.ReasonOf(err) != egress.Refused {
			t.Errorf("%s: %v", u, err)
		}
	}
}

func TestCancelAndClose(t *testing.T) {
	if !installed(t) {
		return
	}
	arrived := make(chan struct{}, 8)
	w := newWeb(t, nil, func(_ http.ResponseWriter, r *http.Request) {
		arrived <- struct{}{}
		<-r.Context().Done()
	})
	b := browser(t, Config{Guard: w.guard(), Pages: 1})
	stop := errors.New("stopped")
	ctx, cancel := context.WithCancelCause(t.Context())
	failed := make(chan error, 2)
	go func() { _, err := b.Render(ctx, "http://site.test/a"); failed <- err }()
	<-arrived
	// The second waits for its turn.
	go func() { _, err := b.Render(ctx, "http://site.test/b"); failed <- err }()
	cancel(stop)
	for range 2 {
		if err := <-failed; !errors.Is(err, stop) {
			t.Errorf("%v", err)
		}
	}
	go func() { _, err := b.Render(t.Context(), "http://site.test/c"); failed <- err }()
	<-arrived
	b.Close()
	if err := <-failed; !errors.Is(err, errClosed) {
		t.Errorf("%v", err)
	}
	if _, err := b.Render(t.Context(), "http://site.test/d"); !errors.Is(err, errClosed) {
		t.Errorf("after Close: %v", err)
	}
}

func TestParallel(t *testing.T) {
	if !installed(t) {
		return
	}
	w := newWeb(t, map[string]string{"/app": app, "/data": text}, nil)
	b := browser(t, Config{Guard: w.guard(), Pages: 2})
	var all sync.WaitGroup
	for i := range 5 {
		all.Go(func() {
			got, err := b.Render(t.Context(), fmt.Sprintf("http://site%d.test/app", i))
			if err != nil || !strings.Contains(string(got.HTML), "cracks in two") || !strings.HasPrefix(got.URL, fmt.Sprintf("http://site%d.test/", i)) {
				t.Errorf("%d: %v", i, err)
			}
		})
	}
	all.Wait()
}

// TestBrokenBrowsers starts what is not a browser.
func TestBrokenBrowsers(t *testing.T) {
	if runtime.GOOS == "windows" {
		return
	}
	w := newWeb(t, nil, nil)
	for name, test := range map[string]struct {
		script, want string
		limit        time.Duration
	}{
		"missing":    {"", "start ", 0},
		"dies":       {"#!/bin/sh\necho 'FATAL: No usable sandbox!' >&2; exit 1\n", "No usable sandbox", 0},
		"mute":       {"#!/bin/sh\nsleep 60\n", "longer than", 2 * time.Second},
		"talks much": {"#!/bin/sh\nexec cat /dev/zero | tr '\\0' x >&4\n", "too much", 0},
		"not JSON":   {"#!/bin/sh\nprintf 'hello\\0' >&4; sleep 60\n", "not JSON", 0},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "browser")
			if test.script != "" {
				if err := os.WriteFile(path, []byte(test.script), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			b := browser(t, Config{Guard: w.guard(), Path: path, Timeout: test.limit})
			if _, err := b.Render(t.Context(), "http://site.test/"); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestNoBrowser(t *testing.T) {
	w := newWeb(t, nil, nil)
	var log bytes.Buffer
	b := New(Config{Guard: w.guard(), Log: slog.New(slog.NewTextHandler(&log, nil))})
	b.once.Do(func() {}) // as when nothing was found
	for range 2 {
		if _, err := b.Render(t.Context(), "http://site.test/"); !errors.Is(err, reader.ErrNoBrowser) {
			t.Errorf("%v", err)
		}
	}
	for _, system := range []string{"linux", "darwin"} {
		if !slices.ContainsFunc(places(system), filepath.IsAbs) {
			t.Errorf("no places on %s", system)
		}
	}
}

func BenchmarkRender(b *testing.B) {
	if !installed(b) {
		return
	}
	w := newWeb(b, map[string]string{"/app": app, "/data": text}, nil)
	r := browser(b, Config{Guard: w.guard()})
	for b.Loop() {
		if _, err := r.Render(b.Context(), "http://site.test/app"); err != nil {
			b.Fatal(err)
		}
	}
}
