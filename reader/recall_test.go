package reader

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// pageMap is a PageStore that forgets nothing.
type pageMap struct{ sync.Map }

func (m *pageMap) Get(key string) ([]byte, bool) {
	v, ok := m.Load(key)
	if !ok {
		return nil, false
	}
	return v.([]byte), true
}
func (m *pageMap) Put(key string, value []byte, _ time.Duration) { m.Store(key, value) }

// slowSite answers after a second, and counts.
type slowSite struct {
	mu      sync.Mutex
	fetched int
	stopped int
	err     error
}

func (s *slowSite) Fetch(ctx context.Context, url string) (*Fetched, error) {
	s.mu.Lock()
	s.fetched++
	s.mu.Unlock()
	select {
	case <-ctx.Done():
		s.mu.Lock()
		s.stopped++
		s.mu.Unlock()
		return nil, ctx.Err()
	case <-time.After(time.Second):
	}
	if s.err != nil {
		return nil, s.err
	}
	return &Fetched{URL: url + "/end", Page: &Page{Title: "T", Text: "text", Blocks: []Block{{}}}}, nil
}

func TestRecall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		site := &slowSite{}
		r := Recalled(site, &pageMap{}, time.Hour)
		var wg sync.WaitGroup
		for range 20 { // at once
			wg.Go(func() {
				got, err := r.Fetch(t.Context(), "u")
				if err != nil || got.Page.Text != "text" || got.URL != "u/end" {
					t.Errorf("%+v, %v", got, err)
					return
				}
				got.Page.Blocks[0].Kind = "mine"
			})
		}
		wg.Wait()
		if _, err := r.Fetch(t.Context(), "u"); err != nil { // and later
			t.Error(err)
		}
		if asked, recalled := r.Stats(); site.fetched != 1 || asked != 21 || recalled != 1 {
			t.Errorf("fetched %d times; %d, %d", site.fetched, asked, recalled)
		}
	})
}

func TestRecallKeepsNoErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		site := &slowSite{err: errors.New("down")}
		r := Recalled(site, &pageMap{}, time.Hour)
		for range 2 {
			if _, err := r.Fetch(t.Context(), "u"); err == nil || err.Error() != "down" {
				t.Error(err)
			}
		}
		if site.fetched != 2 {
			t.Errorf("fetched %d times", site.fetched)
		}
		off := Recalled(&slowSite{}, &pageMap{}, 0)
		for range 2 {
			if _, err := off.Fetch(t.Context(), "u"); err != nil {
				t.Error(err)
			}
		}
		if n := off.from.(*slowSite).fetched; n != 2 {
			t.Errorf("without a time to keep it, fetched %d times", n)
		}
	})
}

// One who gives up takes nobody along; when all have, the fetch ends.
func TestRecallGivingUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		site := &slowSite{}
		r := Recalled(site, &pageMap{}, time.Hour)
		hasty, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() {
			if _, err := r.Fetch(hasty, "u"); !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		})
		synctest.Wait()
		wg.Go(func() {
			if _, err := r.Fetch(t.Context(), "u"); err != nil {
				t.Error(err)
			}
		})
		synctest.Wait()
		cancel()
		wg.Wait()
		if site.fetched != 1 || site.stopped != 0 {
			t.Errorf("fetched %d, stopped %d", site.fetched, site.stopped)
		}
		alone, stop := context.WithCancel(t.Context())
		wg.Go(func() { _, _ = r.Fetch(alone, "v") })
		synctest.Wait()
		stop()
		wg.Wait()
		synctest.Wait()
		if site.stopped != 1 {
			t.Error("the fetch goes on for nobody")
		}
	})
}

// stubborn is a site that takes its time whoever waits.
type stubborn struct{ done bool }

func (s *stubborn) Fetch(context.Context, string) (*Fetched, error) {
	time.Sleep(time.Second)
	s.done = true
	return &Fetched{Page: &Page{Text: "text"}}, nil
}

// What nobody waits for any more has ended when the memory is closed.
func TestRecallIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		site := &stubborn{}
		r := Recalled(site, &pageMap{}, time.Hour)
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if _, err := r.Fetch(ctx, "u"); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		if err := r.Close(); err != nil || !site.done {
			t.Errorf("%v, done %v", err, site.done)
		}
	})
}
