package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

func usage() syscall.Rusage {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		panic(err) // it cannot fail for the process itself
	}
	return r
}

func cpu() time.Duration {
	r := usage()
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

func peakRSS() float64 {
	r := usage()
	return float64(r.Maxrss) / 1024
}

func micros(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e3 }
func millis(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e6 }

// quantile of values, which it sorts.
func quantile(values []float64, percent int) float64 {
	slices.Sort(values)
	return values[min(len(values)*percent/100, len(values)-1)]
}

// served asks the model server how many calls it has had.
func served(ctx context.Context, url string) (int, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(url, "/v1")+"/stats", nil)
	if err != nil {
		return 0, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	var s struct{ Requests int }
	err = json.NewDecoder(resp.Body).Decode(&s)
	return s.Requests, err
}

// counted runs do and fails unless the model server had exactly want calls.
func counted(ctx context.Context, url string, want int, do func() error) error {
	before, err := served(ctx, url)
	if err != nil {
		return err
	}
	if err := do(); err != nil {
		return err
	}
	after, err := served(ctx, url)
	if err != nil {
		return err
	}
	if got := after - before; got != want {
		return fmt.Errorf("the model was called %d times instead of %d", got, want)
	}
	return nil
}

const warmUp = 30 // runs

func step(ctx context.Context, o options) (result, error) {
	if o.sessions == 0 {
		o.sessions = 20
	}
	b, err := open(o, nil)
	if err != nil {
		return result{}, err
	}
	n := 0
	batch := func(runs int) error {
		for range runs {
			n++
			id := "s" + strconv.Itoa(n)
			if err := b.session(ctx, id); err != nil {
				return err
			}
			if err := b.forget(ctx, id); err != nil {
				return err
			}
		}
		return nil
	}
	var wall, cpus, allocs, bytes []float64
	per := float64(o.sessions * o.steps)
	err = counted(ctx, o.url, (warmUp+o.rounds*o.sessions)*o.steps, func() error {
		if err := batch(warmUp); err != nil {
			return err
		}
		for range o.rounds {
			var m0, m1 runtime.MemStats
			runtime.ReadMemStats(&m0)
			c, t := cpu(), time.Now()
			if err := batch(o.sessions); err != nil {
				return err
			}
			elapsed, used := time.Since(t), cpu()-c
			runtime.ReadMemStats(&m1)
			wall = append(wall, micros(elapsed)/per)
			cpus = append(cpus, micros(used)/per)
			allocs = append(allocs, float64(m1.Mallocs-m0.Mallocs)/per)
			bytes = append(bytes, float64(m1.TotalAlloc-m0.TotalAlloc)/per)
		}
		return nil
	})
	if err != nil {
		return result{}, err
	}
	return result{
		Steps: o.steps, Sessions: o.sessions, WallUS: quantile(wall, 50), CPUUS: quantile(cpus, 50),
		Allocs: quantile(allocs, 50), Bytes: quantile(bytes, 50),
	}, b.shut()
}

func concurrent(ctx context.Context, o options) (result, error) {
	if o.sessions == 0 {
		o.sessions = 1000
	}
	b, err := open(o, nil)
	if err != nil {
		return result{}, err
	}
	r := result{Steps: o.steps, Sessions: o.sessions}
	err = counted(ctx, o.url, (o.sessions+1)*o.steps, func() error {
		if err := b.session(ctx, "warm"); err != nil {
			return err
		}
		durations := make([]float64, o.sessions)
		errs := make([]error, o.sessions)
		var wg sync.WaitGroup
		c, t := cpu(), time.Now()
		for i := range o.sessions {
			wg.Go(func() {
				began := time.Now()
				errs[i] = b.session(ctx, "c"+strconv.Itoa(i))
				durations[i] = millis(time.Since(began))
			})
		}
		wg.Wait()
		elapsed := time.Since(t)
		r.TotalMS, r.CPUMS = millis(elapsed), millis(cpu()-c)
		r.Ratio = float64(elapsed) / float64(o.latency*time.Duration(o.steps))
		r.P50MS, r.P99MS = quantile(durations, 50), quantile(durations, 99)
		for _, err := range errs {
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return result{}, err
	}
	return r, b.shut()
}
