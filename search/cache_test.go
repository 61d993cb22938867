package search

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestDir(t *testing.T) {
	open := func(most int64) Cache { return Dir(filepath.Join(t.TempDir(), "made [*]"), most) }
	synctest.Test(t, func(t *testing.T) {
		c := open(0)
		if _, ok := c.Get("a"); ok {
			t.Error("found what was never put")
		}
		value := []byte("one")
		c.Put("a", value, time.Hour)
		c.Put("b", nil, time.Hour)
		value[0] = 'X'
		got, ok := c.Get("a")
		if !ok || string(got) != "one" {
			t.Errorf("%q, %v", got, ok)
		}
		got[0] = 'X'
		if got, ok := c.Get("a"); !ok || string(got) != "one" {
			t.Errorf("%q, %v", got, ok)
		}
		if got, ok := c.Get("b"); !ok || len(got) != 0 {
			t.Errorf("%q, %v", got, ok)
		}
		c.Put("a", []byte("two"), 2*time.Hour)
		time.Sleep(time.Hour)
		if got, ok := c.Get("a"); !ok || string(got) != "two" {
			t.Errorf("%q, %v", got, ok)
		}
		if _, ok := c.Get("b"); ok {
			t.Error("it is kept for too long")
		}
		c.Put("c", []byte("x"), 0)
		if _, ok := c.Get("c"); ok {
			t.Error("it is kept for no time")
		}
	})

	const most = 100 << 10
	c := open(most)
	c.Put("big", make([]byte, most/2), time.Hour)
	if _, ok := c.Get("big"); ok {
		t.Error("one entry may not take half of it")
	}
	for i := range 1000 {
		c.Put(fmt.Sprint(i), bytes.Repeat([]byte{byte(i)}, 1000), time.Hour+time.Duration(i)*time.Second)
	}
	kept := 0
	for i := range 1000 {
		if got, ok := c.Get(fmt.Sprint(i)); ok {
			kept++
			if len(got) != 1000 || got[0] != byte(i) {
				t.Fatalf("%d is %v", i, got[:1])
			}
		} else if kept > 0 {
			t.Fatalf("%d is gone before those that came earlier", i)
		}
	}
	if kept < 60 || kept > 112 {
		t.Errorf("%d KB are kept", kept)
	}
}

func TestDirIsShared(t *testing.T) {
	dir := t.TempDir()
	var wg sync.WaitGroup
	for i := range 8 { // as many processes
		wg.Go(func() {
			c := Dir(dir, 64<<10)
			for j := range 100 {
				key, value := fmt.Sprint(j), strings.Repeat(fmt.Sprint(j), 300)
				c.Put(key, []byte(value), time.Hour)
				if got, ok := c.Get(key); ok && string(got) != value {
					t.Errorf("%d reads %q for %s", i, got, key)
				}
			}
		})
	}
	wg.Wait()
	var size int64
	d := &directory{path: dir}
	for _, name := range d.names() {
		info, err := os.Stat(name)
		if err != nil || strings.HasPrefix(info.Name(), "new-") {
			t.Errorf("%s: %v", name, err)
			continue
		}
		size += info.Size()
	}
	if size == 0 || size > 2*64<<10 {
		t.Errorf("%d bytes are kept", size)
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		t.Error(err)
	}
}

func TestDirDamaged(t *testing.T) {
	for name, damage := range map[string]func([]byte) []byte{
		"cut":     func(b []byte) []byte { return b[:len(b)-1] },
		"empty":   func([]byte) []byte { return nil },
		"flipped": func(b []byte) []byte { b[len(b)-1] ^= 1; return b },
		"longer":  func(b []byte) []byte { return append(b, 'x') },
		"later":   func(b []byte) []byte { b[33]++; return b }, // the end of its time
	} {
		d := Dir(t.TempDir(), 0).(*directory)
		d.Put("a", []byte("value"), time.Hour)
		file := d.file("a")
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(filepath.Dir(file)); err != nil || info.Mode().Perm() != 0o700 {
			t.Error(info.Mode(), err)
		}
		if err := os.WriteFile(file, damage(data), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, ok := d.Get("a"); ok {
			t.Errorf("%s: %q", name, got)
		}
		if _, err := os.Stat(file); !os.IsNotExist(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestDirCleansUp(t *testing.T) {
	d := Dir(t.TempDir(), 0).(*directory)
	d.Put("old", []byte("value"), time.Hour)
	d.Put("new", []byte("value"), 3*time.Hour)
	left := filepath.Join(filepath.Dir(d.file("old")), "new-123")
	if err := os.WriteFile(left, []byte("begun"), 0o600); err != nil {
		t.Fatal(err)
	}
	d.evict(time.Now().Add(2 * time.Hour))
	for name, want := range map[string]bool{d.file("old"): false, left: false, d.file("new"): true} {
		if _, err := os.Stat(name); (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestDirThatCannotBeUsed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	c := Dir(filepath.Join(file, "below"), 0)
	c.Put("a", []byte("value"), time.Hour)
	if _, ok := c.Get("a"); ok {
		t.Error("kept where nothing can be")
	}
}
