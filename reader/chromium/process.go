package chromium

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"

	"dossier/egress"
)

// process is a browser that was started for one page.
type process struct {
	*wire
	cmd     *exec.Cmd
	profile string // its private directory
	files   []*os.File
	said    start
	ended   chan struct{}
	cancel  context.CancelFunc

	mu    sync.Mutex
	cause error // why it was killed
}

// flags are the switches of every browser. What they leave on would reach the
// network around the proxy, keep something, or wait for a person.
func flags(profile string, proxy *egress.Proxy, memory int64) []string {
	f := []string{
		"--headless=new",
		"--remote-debugging-pipe",
		"--user-data-dir=" + profile,

		// Everything goes to the proxy, this machine's own addresses too,
		// and no name is looked up here: without the proxy nothing is reached.
		"--proxy-server=http://" + proxy.Address,
		"--proxy-bypass-list=<-loopback>",
		"--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
		"--disable-quic",
		"--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
		"--webrtc-ip-handling-policy=disable_non_proxied_udp",

		"--disable-background-networking",
		"--disable-breakpad",
		"--disable-client-side-phishing-detection",
		"--disable-component-extensions-with-background-pages",
		"--disable-component-update",
		"--disable-crash-reporter",
		"--disable-default-apps",
		"--disable-domain-reliability",
		"--disable-extensions",
		"--disable-field-trial-config",
		"--disable-sync",
		"--disable-features=AutofillServerCommunication,CertificateTransparencyComponentUpdater,DialMediaRouteProvider,InterestFeedContentSuggestions,MediaRouter,NetworkTimeServiceQuerying,OptimizationHints,Translate,WebUIOmniboxAimPopup,WebUIOmniboxPopup",
		"--metrics-recording-only",
		"--no-pings",

		"--disable-dev-shm-usage",
		"--disable-gpu",
		"--disable-hang-monitor",
		"--disable-notifications",
		"--disable-prompt-on-repost",
		"--deny-permission-prompts",
		"--hide-scrollbars",
		"--js-flags=--max-old-space-size=" + strconv.FormatInt(max(64, memory>>21), 10),
		"--mute-audio",
		"--no-default-browser-check",
		"--no-first-run",
		"--no-startup-window",
		"--password-store=basic",
		"--use-mock-keychain",
		"--window-size=1280,1600",
	}
	if os.Geteuid() == 0 {
		f = append(f, "--no-sandbox")
	}
	return f
}

// launch starts a browser. It has to be ended.
func launch(path, profile string, args []string, memory int64) (*process, error) {
	p := &process{cmd: exec.Command(path, args...), profile: profile, ended: make(chan struct{})}
	// Nothing of this program's environment, in which keys may be.
	p.cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + profile, "TMPDIR=" + profile, "TEMP=" + profile, "TMP=" + profile, "LANG=C.UTF-8"}
	p.cmd.Dir = profile
	p.cmd.Stderr = &p.said
	p.cmd.WaitDelay = 2 * time.Second
	ownGroup(p.cmd)
	in, out, theirs, err := pipes(p.cmd)
	p.files = append([]*os.File{in, out}, theirs...)
	if err != nil {
		p.close()
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		p.close()
		return nil, err
	}
	for _, f := range theirs {
		_ = f.Close()
	}
	p.files = []*os.File{in, out}
	p.wire = newWire(in, out)
	go func() {
		_ = p.cmd.Wait() // how it ended is told by who ended it, or by what it said
		close(p.ended)
	}()
	watch, cancel := context.WithCancel(context.Background())
	p.cancel = cancel
	go p.watch(watch, memory)
	return p, nil
}

// watch kills the browser when it takes more memory than it may.
func (p *process) watch(ctx context.Context, most int64) {
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if _, bytes := group(p.cmd.Process.Pid); bytes > most {
			p.fail(errors.New("it took more memory than allowed"))
			return
		}
	}
}

// fail kills the browser for a reason, which is then that of every error.
func (p *process) fail(why error) {
	p.mu.Lock()
	if p.cause == nil {
		p.cause = why
	}
	p.mu.Unlock()
	killGroup(p.cmd.Process)
}

func (p *process) failed() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cause
}

func (p *process) close() {
	for _, f := range p.files {
		if f != nil {
			_ = f.Close()
		}
	}
}

// end kills the browser with all its children, and returns when they are gone.
func (p *process) end() {
	p.cancel()
	killGroup(p.cmd.Process)
	p.close()
	<-p.ended
	until := time.Now().Add(3 * time.Second)
	for {
		if n, _ := group(p.cmd.Process.Pid); n == 0 || time.Now().After(until) {
			return
		}
		killGroup(p.cmd.Process)
		<-time.After(5 * time.Millisecond)
	}
}

// died explains an error of a browser that is not there any more.
func (p *process) died(err error) error {
	if why := p.failed(); why != nil {
		return why
	}
	if errors.Is(err, errGone) {
		select {
		case <-p.ended:
		case <-time.After(time.Second):
		}
		if s := p.said.reason(); s != "" {
			return fmt.Errorf("%w: %s", err, s)
		}
	}
	return err
}

// start keeps the beginning of what a browser writes to its standard error.
type start struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *start) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if room := 4096 - s.b.Len(); room > 0 {
		s.b.Write(b[:min(room, len(b))])
	}
	return len(b), nil
}

// reason is the line that says why a browser did not start.
func (s *start) reason() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	for line := range strings.Lines(s.b.String()) {
		if strings.Contains(line, "FATAL") || strings.Contains(line, "sandbox") {
			return strings.TrimSpace(line[:min(len(line), 300)])
		}
	}
	return ""
}
