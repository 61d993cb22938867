//go:build unix

package chromium

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"dossier/egress"
)

// The test binary renders a page in another process, to be killed there, when
// these say where profiles are made, with which browser, and where the web is.
const (
	childTmp     = "CHROMIUM_TEST_TMP"
	childBrowser = "CHROMIUM_TEST_BROWSER"
	childWeb     = "CHROMIUM_TEST_WEB"
)

func renderInChild() {
	tmp := os.Getenv(childTmp)
	if tmp == "" {
		return
	}
	b := New(Config{Path: os.Getenv(childBrowser), Guard: egress.Guarded(egress.GuardConfig{
		Resolver: everywhere{}, MinDelay: 1,
		Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, os.Getenv(childWeb))
		},
	})})
	b.tmp = tmp
	_, _ = b.Render(context.Background(), "http://site.test/") // until it is killed
	os.Exit(1)
}

type everywhere struct{}

func (everywhere) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	return []netip.Addr{netip.MustParseAddr(public)}, nil
}

// startChild renders a page in another process and returns when its browser is
// there.
func startChild(t *testing.T, tmp, browser, web string, begun <-chan struct{}) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childTmp+"="+tmp, childBrowser+"="+browser, childWeb+"="+web)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }()
	t.Cleanup(func() { _ = cmd.Process.Kill(); <-ended })
	select {
	case <-begun:
	case <-ended:
		t.Fatal("the other process ended")
	}
	return cmd
}

func profilesIn(t *testing.T, tmp string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(tmp, profileName+"*"))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// What a killed process left is removed before the next browser starts, and what
// a live one uses is not.
func TestKilledProcessIsClearedAway(t *testing.T) {
	for _, real := range []bool{false, true} {
		t.Run(map[bool]string{false: "stand-in", true: "browser"}[real], func(t *testing.T) {
			if real && !installed(t) {
				return
			}
			base, err := shortDir()
			if err != nil {
				t.Fatal(err)
			}
			defer os.RemoveAll(base)
			tmp := filepath.Join(base, "p")
			if err := os.Mkdir(tmp, 0o700); err != nil {
				t.Fatal(err)
			}
			begun := make(chan struct{})
			w := newWeb(t, nil, func(_ http.ResponseWriter, r *http.Request) {
				begun <- struct{}{}
				<-r.Context().Done()
			})
			path := Find()
			if !real {
				path = standIn(t, base, begun)
			}
			killed := startChild(t, tmp, path, w.server.Listener.Addr().String(), begun)
			left := profilesIn(t, tmp)
			alive := startChild(t, tmp, path, w.server.Listener.Addr().String(), begun)
			used := slices.DeleteFunc(profilesIn(t, tmp), func(p string) bool { return slices.Contains(left, p) })
			if len(left) != 2 || len(used) != 2 {
				t.Fatalf("profiles %q and %q", left, used)
			}
			if err := killed.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			// Its browser ends by itself, as nobody is at the other end of its pipe.
			gone := func() bool { return killed.Process.Signal(syscall.Signal(0)) != nil && len(mentions(left[0])) == 0 }
			for until := time.Now().Add(time.Minute); !gone(); <-time.After(5 * time.Millisecond) {
				if time.Now().After(until) {
					t.Fatalf("still there: %q", mentions(left[0]))
				}
			}
			b := New(Config{Guard: w.guard(), Path: "/nonexistent"})
			b.tmp = tmp
			defer b.Close()
			if _, err := b.Render(t.Context(), "http://site.test/"); err == nil {
				t.Error("rendered without a browser")
			}
			if got := profilesIn(t, tmp); !slices.Equal(got, used) {
				t.Errorf("there are %q, of which only %q are in use", got, used)
			}
			if alive.ProcessState != nil {
				t.Error("the live one ended")
			}
		})
	}
}

// standIn is a program that begins, does nothing, and ends with its pipe.
func standIn(t *testing.T, dir string, begun chan<- struct{}) string {
	t.Helper()
	fifo := filepath.Join(dir, "begun")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "browser")
	if err := os.WriteFile(path, []byte("#!/bin/sh\necho > "+fifo+"\nexec cat <&3 > /dev/null\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	go func() {
		for told := 0; told < 2; {
			f, err := os.Open(fifo)
			if err != nil {
				return
			}
			if n, _ := f.Read(make([]byte, 1)); n > 0 { // else who wrote had not left yet
				begun <- struct{}{}
				told++
			}
			_ = f.Close()
		}
	}()
	return path
}

// Profiles are made while others sweep, and none of them is lost.
func TestProfilesAndSweeps(t *testing.T) {
	tmp := t.TempDir()
	stop := make(chan struct{})
	var sweepers, makers sync.WaitGroup
	for range 2 {
		sweepers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					sweep(tmp)
				}
			}
		})
	}
	for range 4 {
		makers.Go(func() {
			for range 100 {
				p, err := newProfile(tmp)
				if err != nil {
					t.Error(err)
					return
				}
				if err := os.WriteFile(filepath.Join(p.dir, "cookie"), nil, 0o600); err != nil {
					t.Error(err)
				}
				if err := p.end(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	makers.Wait()
	close(stop)
	sweepers.Wait()
	if left := profilesIn(t, tmp); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}
