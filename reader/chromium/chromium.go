// Package chromium renders pages that are made by scripts in a Chromium, Chrome
// or relative of theirs that is installed on the machine. It is an adapter of
// reader.Browser.
//
// Each page gets a browser of its own, with a new profile, and after it nothing
// is left: no process, no file, no cookie; what a killed process left is removed
// before the next browser starts. All that the browser opens goes
// through a proxy of package egress, which opens what the guarded client would
// open and nothing else.
package chromium

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"sync"
	"time"

	"dossier/egress"
	"dossier/reader"
)

// Config bounds rendering. A field that is 0 has the default that it names.
type Config struct {
	Guard *egress.Client // what may be opened; needed
	Log   *slog.Logger   // what an operator should know; nowhere if nil

	Path     string        // of the browser; the first that Find finds
	Pages    int           // rendered at once; 2
	Timeout  time.Duration // for one page, from start to end; 30 s
	Settle   time.Duration // the longest wait for a page to become quiet; 10 s
	Memory   int64         // bytes that a browser with its children may take, where that can be seen; 1.5 GiB
	MaxHTML  int           // bytes of HTML; 16 MiB
	MaxBytes int64         // that a page may load; 64 MiB
}

// Browser renders pages. It is safe for concurrent use.
type Browser struct {
	conf   Config
	slots  chan struct{}
	ctx    context.Context
	cancel context.CancelFunc
	closed sync.Once
	tmp    string   // where profiles are made
	more   []string // switches that a test needs

	once sync.Once
	path string
}

var _ reader.Browser = (*Browser)(nil)

// New makes a Browser. Nothing is looked for or started before the first page.
func New(c Config) *Browser {
	c.Pages = cmp.Or(c.Pages, 2)
	c.Timeout = cmp.Or(c.Timeout, 30*time.Second)
	c.Settle = cmp.Or(c.Settle, 10*time.Second)
	c.Memory = cmp.Or(c.Memory, 3<<29)
	c.MaxHTML = cmp.Or(c.MaxHTML, 16<<20)
	c.MaxBytes = cmp.Or(c.MaxBytes, 64<<20)
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	b := &Browser{conf: c, slots: make(chan struct{}, c.Pages), tmp: tempDir()}
	b.ctx, b.cancel = context.WithCancel(context.Background())
	return b
}

// Close ends what is being rendered and waits until it is gone.
func (b *Browser) Close() {
	b.cancel()
	b.closed.Do(func() {
		for range cap(b.slots) { // a page holds its slot until all of it is gone
			b.slots <- struct{}{}
		}
	})
}

// find looks for a browser once, and says what is worth knowing. Then is also
// the time to clear away what killed processes left: where no page is rendered,
// nobody waits for that.
func (b *Browser) find() string {
	b.once.Do(func() {
		if n := sweep(b.tmp); n > 0 {
			b.conf.Log.Info("profiles that killed processes had left were removed", "profiles", n)
		}
		b.path = b.conf.Path
		if b.path == "" {
			b.path = Find()
		}
		switch {
		case b.path == "":
			b.conf.Log.Warn("no Chromium or Chrome is installed: pages made by scripts are read without them")
		case os.Geteuid() == 0:
			b.conf.Log.Warn("the browser runs without its sandbox, because it refuses to use it as root; run as another user to have it", "browser", b.path)
		}
	})
	return b.path
}

// Render opens a page, waits until it is quiet or its time is over, and returns
// its HTML. Without an installed browser the error is reader.ErrNoBrowser; if
// ctx ended, it is ctx's.
func (b *Browser) Render(ctx context.Context, url string) (*reader.Rendered, error) {
	if err := b.conf.Guard.Check(url); err != nil {
		return nil, err
	}
	path := b.find()
	if path == "" {
		return nil, reader.ErrNoBrowser
	}
	select {
	case b.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-b.ctx.Done():
		return nil, errClosed
	}
	defer func() { <-b.slots }()
	if b.ctx.Err() != nil {
		return nil, errClosed
	}
	limited, cancel := context.WithTimeout(ctx, b.conf.Timeout)
	defer cancel()
	defer context.AfterFunc(b.ctx, cancel)()
	r, err := b.render(limited, path, url)
	switch {
	case err == nil:
		return r, nil
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case b.ctx.Err() != nil:
		return nil, errClosed
	case errors.Is(err, context.DeadlineExceeded):
		err = fmt.Errorf("it took longer than %s", b.conf.Timeout)
	}
	return nil, fmt.Errorf("render %.200s: %w", url, err)
}

var errClosed = errors.New("the browser is closed")

func (b *Browser) render(ctx context.Context, path, url string) (*reader.Rendered, error) {
	proxy, err := b.conf.Guard.Proxy(ctx, egress.ProxyConfig{MaxBytes: b.conf.MaxBytes, Timeout: b.conf.Timeout})
	if err != nil {
		return nil, err
	}
	defer proxy.Close()
	own, err := newProfile(b.tmp)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err := own.end(); err != nil {
			b.conf.Log.Warn("the browser's temporary profile is left behind", "directory", own.dir, "why", err)
		}
	}()
	p, err := launch(path, own.dir, append(flags(own.dir, proxy, b.conf.Memory), b.more...), b.conf.Memory)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", path, err)
	}
	defer p.end()
	t := &tab{process: p, proxy: proxy}
	go p.listen(t.event)
	r, err := t.show(ctx, url, b.conf)
	for _, refused := range proxy.Refused() {
		b.conf.Log.Debug("the page asked for something that is not opened", "page", url, "why", refused)
	}
	if err != nil {
		if proxy.Exhausted() {
			return nil, fmt.Errorf("it loads more than %d bytes", b.conf.MaxBytes)
		}
		return nil, p.died(err)
	}
	if err := b.conf.Guard.Check(r.URL); err != nil {
		return nil, fmt.Errorf("the page went to %.100s: %w", r.URL, err)
	}
	return r, nil
}

// tempDir is where profiles are made. The browser puts a socket below, whose
// path may have a hundred bytes.
func tempDir() string {
	if dir := os.TempDir(); len(dir) <= 40 || runtime.GOOS == "windows" {
		return dir
	}
	return "/tmp"
}
