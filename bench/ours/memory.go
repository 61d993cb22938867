package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"dossier/egress"
	kernel "dossier/run"
)

// footprint is what the process holds: heap and stacks, after collection.
type footprint struct{ heap, stack float64 }

func held() footprint {
	// Twice, so that pools are empty and finalizers have run.
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return footprint{float64(m.HeapAlloc), float64(m.StackInuse)}
}

// per fills in what each of n runs holds between two footprints.
func (r *result) per(n int, before, after footprint) {
	r.Sessions = n
	r.HeapPer, r.StackPer = (after.heap-before.heap)/float64(n), (after.stack-before.stack)/float64(n)
}

// waiting parks runs in a question.
func waiting(ctx context.Context, o options) (result, error) {
	if o.sessions == 0 {
		o.sessions = 10_000
	}
	b, err := open(o, func(ctx context.Context, s *kernel.Scope) error {
		_, err := s.Ask(ctx, kernel.Question{Questions: []string{"Which of the two?"}})
		return err
	})
	if err != nil {
		return result{}, err
	}
	park := func(prefix string, n int) error {
		errs := make([]error, n)
		var wg sync.WaitGroup
		slots := make(chan struct{}, 64)
		for i := range n {
			slots <- struct{}{}
			wg.Go(func() {
				defer func() { <-slots }()
				id := prefix + strconv.Itoa(i)
				if errs[i] = b.store.Create(ctx, kernel.Record{ID: id, Session: id, Mode: "bench"}, nil, nil); errs[i] != nil {
					return
				}
				status, err := b.exec.Execute(ctx, id)
				if err == nil && status != kernel.Waiting {
					err = fmt.Errorf("run %s is %s and not waiting", id, status)
				}
				errs[i] = err
			})
		}
		wg.Wait()
		return errors.Join(errs...)
	}
	if err := park("warm", 500); err != nil {
		return result{}, err
	}
	before := held()
	if err := park("w", o.sessions); err != nil {
		return result{}, err
	}
	var r result
	r.per(o.sessions, before, held())
	return r, b.shut()
}

// active has runs wait for the model, all at the same time.
func active(ctx context.Context, o options) (result, error) {
	if o.sessions == 0 {
		o.sessions = 1000
	}
	o.steps = 1
	var call func(i int) error
	shut := func() error { return nil }
	if o.bare {
		hc, err := egress.Plain(egress.PlainConfig{})
		if err != nil {
			return result{}, err
		}
		call = func(int) error { return bareCall(ctx, hc, o) }
	} else {
		b, err := open(o, nil)
		if err != nil {
			return result{}, err
		}
		call = func(i int) error { return b.session(ctx, "a"+strconv.Itoa(i)) }
		shut = b.shut
	}
	var r result
	before := held()
	err := counted(ctx, o.url, o.sessions, func() error {
		first, err := served(ctx, o.url)
		if err != nil {
			return err
		}
		errs := make([]error, o.sessions)
		var wg sync.WaitGroup
		var ended atomic.Int32
		for i := range o.sessions {
			wg.Go(func() {
				errs[i] = call(i)
				ended.Add(1)
			})
		}
		look := time.NewTicker(5 * time.Millisecond)
		defer look.Stop()
		for n := first; n-first < o.sessions; <-look.C {
			if n, err = served(ctx, o.url); err != nil {
				return err
			}
		}
		r.per(o.sessions, before, held())
		early := ended.Load()
		wg.Wait()
		err = errors.Join(errs...)
		if early > 0 {
			err = errors.Join(err, fmt.Errorf("%d runs ended before memory was measured: raise -lat", early))
		}
		return err
	})
	if err != nil {
		return result{}, err
	}
	return r, shut()
}

// bareCall is the same call with nothing but net/http.
func bareCall(ctx context.Context, hc *http.Client, o options) error {
	body := fmt.Sprintf(`{"model":"mock;turns=0;tokens=%d;lat=%s","tools":[{"type":"function","function":{"name":"add","description":"Add two integers.","parameters":%s}}],"messages":[{"role":"system","content":%q},{"role":"user","content":%q}]}`,
		o.tokens, o.latency, tools[0].Parameters, system, prompt)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, o.url+"/chat/completions", bytes.NewReader([]byte(body)))
	if err != nil {
		return err
	}
	req.Header = http.Header{"Content-Type": {"application/json"}, "Authorization": {"Bearer sk-mock"}}
	resp, err := hc.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	reply, err := io.ReadAll(resp.Body)
	if err == nil && !strings.Contains(string(reply), final) {
		err = fmt.Errorf("wrong answer %.100q", reply)
	}
	return err
}
