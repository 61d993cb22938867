package webhook_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"dossier/internal/base/usage"
	"dossier/internal/store/memory"
	"dossier/internal/webhook"
	"dossier/run"
)

// The example of the specification of Standard Webhooks.
func TestSignature(t *testing.T) {
	key, err := webhook.ParseSecret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
	if err != nil {
		t.Fatal(err)
	}
	got := webhook.Sign(key, "msg_p5jXN8AQM9LWM0D4loKWxJek", time.Unix(1614265330, 0), []byte(`{"test": 2432232314}`))
	if want := "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestSecrets(t *testing.T) {
	if key, err := webhook.ParseSecret(webhook.NewSecret()); err != nil || len(key) != 32 {
		t.Errorf("%d bytes, %v", len(key), err)
	}
	short := "whsec_" + base64.StdEncoding.EncodeToString([]byte("canary"))
	for _, text := range []string{"", "canary", "whsec_", "whsec_canary!", short} {
		if _, err := webhook.ParseSecret(text); err == nil || strings.Contains(err.Error(), "canary") || text != "" && strings.Contains(err.Error(), strings.TrimPrefix(text, "whsec_")+"x") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// receiver takes what is posted, in place of the network.
type receiver struct {
	mu    sync.Mutex
	got   []posted
	reply func(n int) (status int, header http.Header, err error)
}

type posted struct {
	id, signature, host string
	stamp               int64
	body                []byte
	at                  time.Time
}

func (r *receiver) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	stamp, err := strconv.ParseInt(req.Header.Get("webhook-timestamp"), 10, 64)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	r.got = append(r.got, posted{req.Header.Get("webhook-id"), req.Header.Get("webhook-signature"), req.URL.Host, stamp, body, time.Now()})
	n := len(r.got)
	r.mu.Unlock()
	status, header, err := r.reply(n)
	if err != nil {
		return nil, err
	}
	return &http.Response{StatusCode: status, Header: header, Body: io.NopCloser(strings.NewReader("")), Request: req}, nil
}

func (r *receiver) taken() []posted {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]posted{}, r.got...)
}

const secretKey = "canary-canary-canary-canary"

// world is a store in which runs end, and a receiver.
type world struct {
	t     *testing.T
	store *memory.Store
	to    *receiver
	log   bytes.Buffer
	now   func() time.Time
}

func newWorld(t *testing.T) *world {
	w := &world{t: t, store: memory.New(memory.Options{}), to: &receiver{}}
	w.to.reply = func(int) (int, http.Header, error) { return http.StatusNoContent, nil, nil }
	return w
}

func (w *world) sender(hooks ...webhook.Hook) *webhook.Sender {
	if len(hooks) == 0 {
		hooks = []webhook.Hook{{Name: "ops", URL: "https://ops.example/x?key=canary", Key: []byte(secretKey)}}
	}
	return webhook.New(webhook.Options{
		Store: w.store.Handle(), Hooks: hooks, Client: &http.Client{Transport: w.to}, Now: w.now,
		Log:   slog.New(slog.NewTextHandler(&w.log, nil)),
		NewID: func(now time.Time) string { return strconv.FormatInt(now.UnixNano(), 36) },
		Describe: func(_ context.Context, n webhook.News) (any, error) {
			if n.Run == "gone" {
				return nil, nil
			}
			return map[string]any{"id": n.Run, "status": n.Status}, nil
		},
	})
}

// serve has a sender at work until stop ends it.
func (w *world) serve(hooks ...webhook.Hook) (s *webhook.Sender, stop func()) {
	s = w.sender(hooks...)
	ctx, cancel := context.WithCancel(w.t.Context())
	done := make(chan struct{})
	go func() { defer close(done); s.Run(ctx) }()
	return s, func() { cancel(); <-done }
}

func (w *world) end(id string, status run.Status) {
	w.t.Helper()
	err := w.store.Create(w.t.Context(), run.Record{ID: id}, nil, nil)
	h, aerr := w.store.Acquire(w.t.Context(), id, "worker", time.Minute)
	if err := errors.Join(err, aerr); err != nil {
		w.t.Fatal(err)
	}
	w.store.Commit(&run.Batch{Run: id, Epoch: h.Record.Epoch, State: &run.State{Status: status}, Release: true}, func(err error) {
		if err != nil {
			w.t.Fatal(err)
		}
	})
}

func (w *world) delivery() webhook.Delivery {
	w.t.Helper()
	list, err := w.store.Deliveries(w.t.Context(), webhook.Filter{})
	if err != nil || len(list) != 1 {
		w.t.Fatalf("%+v, %v", list, err)
	}
	return list[0]
}

// bubble gives a test virtual time.
func bubble(t *testing.T, test func(w *world)) {
	synctest.Test(t, func(t *testing.T) { test(newWorld(t)) })
}

func TestEndsAreTold(t *testing.T) {
	bubble(t, func(w *world) {
		s, stop := w.serve(
			webhook.Hook{Name: "ops", URL: "https://ops.example/", Key: []byte(secretKey)},
			webhook.Hook{Name: "desk", URL: "https://desk.example/", Key: []byte(secretKey), Events: []webhook.Event{webhook.Waiting}},
		)
		for id, status := range map[string]run.Status{"r1": run.Done, "r2": run.Failed, "r3": run.Cancelled, "r4": run.Waiting, "r5": run.Paused, "gone": run.Done} {
			w.end(id, status)
		}
		s.Nudge()
		time.Sleep(time.Second) // sooner than is looked by itself
		seen := map[string]bool{}
		for _, p := range w.to.taken() {
			var m struct {
				Type string
				Data struct{ ID, Status string }
			}
			if err := json.Unmarshal(p.body, &m); err != nil {
				w.t.Fatal(err)
			}
			if p.signature != webhook.Sign([]byte(secretKey), p.id, time.Unix(p.stamp, 0), p.body) || p.stamp != p.at.Unix() {
				w.t.Errorf("%+v is not signed", p)
			}
			seen[fmt.Sprint(p.host, " ", m.Type, " ", m.Data.ID)] = true
		}
		for _, want := range []string{"ops.example run.done r1", "ops.example run.failed r2", "ops.example run.cancelled r3", "desk.example run.waiting r4"} {
			if !seen[want] {
				w.t.Errorf("%s was not told", want)
			}
		}
		if len(seen) != 4 {
			w.t.Errorf("told: %v", seen)
		}
		stop()
		if news, err := w.store.News(w.t.Context(), 10); err != nil || len(news) != 0 {
			w.t.Errorf("%+v, %v", news, err)
		}
	})
}

// What is not taken is sent again, the same under the same id, and given up at last.
func TestItIsSentAgain(t *testing.T) {
	bubble(t, func(w *world) {
		w.to.reply = func(int) (int, http.Header, error) { return http.StatusInternalServerError, nil, nil }
		_, stop := w.serve()
		defer stop()
		w.end("r1", run.Done)
		time.Sleep(40 * time.Hour)
		got := w.to.taken()
		if len(got) != 9 {
			w.t.Fatalf("sent %d times", len(got))
		}
		for i, p := range got {
			if p.id != got[0].id || !bytes.Equal(p.body, got[0].body) {
				w.t.Errorf("attempt %d is another message: %+v", i, p)
			}
			if i > 1 && p.at.Sub(got[i-1].at) < got[i-1].at.Sub(got[i-2].at) {
				w.t.Errorf("attempt %d came after %v", i, p.at.Sub(got[i-1].at))
			}
		}
		if d := w.delivery(); d.State != webhook.GivenUp || d.Attempts != 9 || d.Status != 500 || !d.Next.IsZero() || d.Error == "" {
			w.t.Errorf("%+v", d)
		}
	})
}

func TestWhatItReplies(t *testing.T) {
	refuse := func(status int, header http.Header) func(int) (int, http.Header, error) {
		return func(n int) (int, http.Header, error) {
			if n > 1 {
				return http.StatusOK, nil, nil
			}
			return status, header, nil
		}
	}
	for name, c := range map[string]struct {
		reply func(int) (int, http.Header, error)
		sent  int
		state webhook.State
	}{
		"gone":        {refuse(http.StatusGone, nil), 1, webhook.GivenUp},
		"a redirect":  {refuse(http.StatusFound, http.Header{"Location": {"http://127.0.0.1/"}}), 2, webhook.Delivered},
		"not found":   {refuse(http.StatusNotFound, nil), 2, webhook.Delivered},
		"leave alone": {refuse(http.StatusTooManyRequests, http.Header{"Retry-After": {"7200"}}), 1, webhook.Pending},
		"nobody there": {func(n int) (int, http.Header, error) {
			if n > 1 {
				return http.StatusOK, nil, nil
			}
			return 0, nil, errors.New("connection refused")
		}, 2, webhook.Delivered},
	} {
		bubble(t, func(w *world) {
			w.to.reply = c.reply
			_, stop := w.serve()
			defer stop()
			w.end("r1", run.Done)
			time.Sleep(time.Hour)
			if d := w.delivery(); len(w.to.taken()) != c.sent || d.State != c.state {
				w.t.Errorf("%s: sent %d times, %+v", name, len(w.to.taken()), d)
			}
			if strings.Contains(w.log.String()+w.delivery().Error, "canary") {
				w.t.Errorf("%s: a secret is told: %s %s", name, w.log.String(), w.delivery().Error)
			}
		})
	}
}

// An address that does not answer keeps nobody else waiting.
func TestASlowAddress(t *testing.T) {
	bubble(t, func(w *world) {
		slow := make(chan struct{})
		w.to.reply = func(int) (int, http.Header, error) { <-slow; return http.StatusOK, nil, nil }
		other := &receiver{reply: func(int) (int, http.Header, error) { return http.StatusOK, nil, nil }}
		s := webhook.New(webhook.Options{
			Store: w.store.Handle(), Client: &http.Client{Transport: byHost{"slow.example": w.to, "quick.example": other}},
			Hooks:    []webhook.Hook{{Name: "a", URL: "https://slow.example/", Key: []byte(secretKey)}, {Name: "b", URL: "https://quick.example/", Key: []byte(secretKey)}},
			Describe: func(_ context.Context, n webhook.News) (any, error) { return n.Run, nil },
		})
		ctx, cancel := context.WithCancel(w.t.Context())
		done := make(chan struct{})
		go func() { defer close(done); s.Run(ctx) }()
		for i := range 20 {
			w.end(fmt.Sprint("r", i), run.Done)
		}
		s.Nudge()
		time.Sleep(time.Second)
		if n, m := len(w.to.taken()), len(other.taken()); n != 4 || m != 20 {
			w.t.Errorf("%d are on their way to the slow one, %d were taken by the other", n, m)
		}
		close(slow)
		time.Sleep(time.Second)
		if n := len(w.to.taken()); n != 20 {
			w.t.Errorf("the slow one took %d", n)
		}
		cancel()
		<-done
	})
}

type byHost map[string]http.RoundTripper

func (b byHost) RoundTrip(r *http.Request) (*http.Response, error) { return b[r.URL.Host].RoundTrip(r) }

// Several processes send each message once; one that ends in the middle leaves its
// messages to the next.
func TestProcessesShareTheWork(t *testing.T) {
	bubble(t, func(w *world) {
		var stops []func()
		for range 3 {
			_, stop := w.serve()
			stops = append(stops, stop)
		}
		for i := range 10 {
			w.end(fmt.Sprint("r", i), run.Done)
		}
		time.Sleep(time.Minute)
		for _, stop := range stops {
			stop()
		}
		if n := len(w.to.taken()); n != 10 {
			w.t.Errorf("10 messages were sent %d times", n)
		}
		w.end("last", run.Done)
		s := w.sender()
		ctx, cancel := context.WithCancel(w.t.Context())
		w.to.reply = func(int) (int, http.Header, error) { cancel(); return 0, nil, errors.New("killed") }
		s.Run(ctx) // dies while it sends
		w.to.reply = func(int) (int, http.Header, error) { return http.StatusOK, nil, nil }
		_, stop := w.serve()
		time.Sleep(2 * time.Minute)
		stop()
		got := w.to.taken()
		if len(got) != 12 || got[10].id != got[11].id {
			w.t.Errorf("%d messages", len(got))
		}
	})
}

// A clock that is set back far does not keep messages waiting.
func TestTheClockIsSetBack(t *testing.T) {
	bubble(t, func(w *world) {
		ahead := 300 * 24 * time.Hour
		w.now = func() time.Time { return time.Now().Add(ahead) }
		w.to.reply = func(int) (int, http.Header, error) { return http.StatusBadGateway, nil, nil }
		_, stop := w.serve()
		w.end("r1", run.Done)
		w.end("r2", run.Done)
		// News are by the store's clock, which is not ahead: they would be stale. The
		// sender may have looked before they came: it looks again by itself.
		time.Sleep(time.Minute)
		stop()
		if got := w.to.taken(); len(got) != 0 {
			w.t.Errorf("stale news was told: %+v", got)
		}
		s := w.sender()
		if _, err := s.Try(w.t.Context(), "ops"); err != nil {
			w.t.Fatal(err)
		}
		w.now = nil
		w.to.reply = func(int) (int, http.Header, error) { return http.StatusOK, nil, nil }
		_, stop = w.serve()
		time.Sleep(time.Minute)
		stop()
		if d := w.delivery(); d.State != webhook.Delivered {
			w.t.Errorf("%+v", d)
		}
	})
}

func TestRetryAndTry(t *testing.T) {
	bubble(t, func(w *world) {
		w.to.reply = func(n int) (int, http.Header, error) {
			if n == 1 {
				return http.StatusGone, nil, nil
			}
			return http.StatusOK, nil, nil
		}
		s, stop := w.serve()
		defer stop()
		d, err := s.Try(w.t.Context(), "ops")
		if err != nil || d.Event != webhook.Test {
			w.t.Fatalf("%+v, %v", d, err)
		}
		time.Sleep(time.Second)
		if d := w.delivery(); d.State != webhook.GivenUp {
			w.t.Fatalf("%+v", d)
		}
		if _, err := s.Retry(w.t.Context(), d.ID); err != nil {
			w.t.Fatal(err)
		}
		time.Sleep(time.Second)
		if d := w.delivery(); d.State != webhook.Delivered || d.Attempts != 1 || d.Status != 200 {
			w.t.Errorf("%+v", d)
		}
		if _, err := s.Retry(w.t.Context(), "msg_none"); !errors.Is(err, webhook.ErrNone) {
			w.t.Error(err)
		}
		if _, err := s.Try(w.t.Context(), "none"); err == nil {
			w.t.Error("a webhook that there is not was tried")
		} else if _, ok := errors.AsType[*usage.Error](err); !ok {
			w.t.Error(err)
		}
	})
}
