package dossier

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"dossier/internal/store/memory"
	"dossier/lang"
	"dossier/search"
	"dossier/sources"
)

// patient is an engine that answers a doctor as it is told.
type patient struct {
	name  string
	found int
	after time.Duration
	err   error
	// deaf does not hear that nobody waits any more.
	deaf  bool
	asked *[]string
	mu    *sync.Mutex
}

func (p patient) Info() search.Info { return search.Info{Name: p.name} }

func (p patient) Search(ctx context.Context, q search.Query) ([]search.Hit, error) {
	if p.mu != nil {
		p.mu.Lock()
		*p.asked = append(*p.asked, p.name+" "+q.Text)
		p.mu.Unlock()
	}
	if p.deaf {
		ctx = context.WithoutCancel(ctx)
	}
	select {
	case <-time.After(p.after):
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	return make([]search.Hit, p.found), p.err
}

// mindful is an engine with a memory.
type mindful struct{ patient }

func (k mindful) Search(ctx context.Context, q search.Query) ([]search.Hit, error) {
	search.TraceOf(ctx).Tried(search.Attempt{Engine: k.name, Cached: true})
	return k.patient.Search(ctx, q)
}

// bypassed is one that can be asked past its memory.
type bypassed struct{ mindful }

func (b bypassed) Fresh() search.Engine { return b.patient }

func shown(found []Finding) string {
	var b strings.Builder
	for _, f := range found {
		fmt.Fprintf(&b, "%s|%t|%s|%s|%s", f.What, f.OK, f.Detail, f.Hint, f.Took)
		if f.Unset {
			b.WriteString("|unset")
		}
		if !f.Optional {
			b.WriteString("|needed")
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func TestDoctorTriesEachEngine(t *testing.T) {
	const secret = "sk-4711"
	synctest.Test(t, func(t *testing.T) {
		e := &Engine{web: &sources.Web{
			Engines: []search.Engine{
				patient{name: "good", found: 5, after: time.Second},
				patient{name: "one", found: 1},
				patient{name: "none"},
				patient{name: "slow", after: time.Hour},
				patient{name: "deaf", after: time.Hour, deaf: true},
				patient{name: "limited", err: &search.Error{Engine: "limited", Reason: search.RateLimited, Status: 429}},
				patient{name: "locked", err: &search.Error{Engine: "locked", Reason: search.Unauthorized, Status: 401, Detail: "bad key"}},
				patient{name: "own", err: &search.Error{Engine: "own", Reason: search.TooSlow, Detail: "no answer in 3s", Err: context.DeadlineExceeded}},
				patient{name: "odd", err: errors.New("GET https://x/?key=" + secret)},
				mindful{patient{name: "kept", found: 2}},
				bypassed{mindful{patient{name: "asked", found: 2}}},
			},
			Missing: map[string]string{"zyte": "a key", "brave": "a key in BRAVE_API_KEY"},
		}}
		began := time.Now()
		got := shown(e.tryEngines(t.Context(), Checkup{}))
		const want = `engine good|true|5 results||1s
engine one|true|1 result||0s
engine none|true|0 results||0s
engine slow|false|too slow: no answer in 15s||15s
engine deaf|false|too slow: no answer in 15s||15s
engine limited|false|rate-limited (HTTP 429)||0s
engine locked|false|unauthorized (HTTP 401): bad key|check the engine's key in the section search of the configuration|0s
engine own|false|too slow: no answer in 3s||0s
engine odd|false|unavailable: it failed with an unexpected *errors.errorString||0s
engine kept|true|2 results, kept from an earlier search||0s
engine asked|true|2 results||0s
engine brave|false|it needs a key in BRAVE_API_KEY||0s|unset
engine zyte|false|it needs a key||0s|unset
`
		if got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
		if took := time.Since(began); took != ProbeTime {
			t.Errorf("all together took %s", took)
		}
		time.Sleep(time.Hour) // the deaf one comes back
		synctest.Wait()
	})
}

func TestDoctorWithoutTheWeb(t *testing.T) {
	down := &search.Error{Engine: "a", Reason: search.Unreachable}
	for name, web := range map[string]*sources.Web{
		"no search engine is set up": {Missing: map[string]string{"brave": "a key"}},
		"no search engine answers":   {Engines: []search.Engine{patient{name: "a", err: down}, patient{name: "b", err: down}}},
	} {
		found := (&Engine{web: web}).tryEngines(t.Context(), Checkup{})
		last := found[len(found)-1]
		if last.What != "web search" || last.OK || last.Detail != name || last.Hint == "" || !last.Optional {
			t.Errorf("%s: %+v", name, last)
		}
	}
}

// What is sent is one word to each engine, and nothing at all offline.
func TestDoctorSendsOneWord(t *testing.T) {
	var asked []string
	var mu sync.Mutex
	e := engine(t, memory.New(memory.Options{}), nil)
	e.web = &sources.Web{Engines: []search.Engine{patient{name: "a", found: 1, asked: &asked, mu: &mu}, patient{name: "b", asked: &asked, mu: &mu}}}
	found, err := e.Diagnose(t.Context(), Checkup{Offline: true})
	if err != nil || len(asked) != 0 || slices.ContainsFunc(found, func(f Finding) bool { return f.Optional }) {
		t.Errorf("offline: %v, %v, asked %q", found, err, asked)
	}
	found, err = e.Diagnose(t.Context(), Checkup{})
	slices.Sort(asked)
	if err != nil || fmt.Sprint(asked) != "[a science b science]" || found[len(found)-2].Detail != "1 result" || found[0].What != "database" {
		t.Errorf("%v, %v, asked %q", found, err, asked)
	}
	gone, cancel := context.WithCancelCause(t.Context())
	left := errors.New("left")
	cancel(left)
	if _, err := e.Diagnose(gone, Checkup{}); !errors.Is(err, left) && !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// What the command and the page show of the machine comes from here, in the language
// of whoever asks; nothing of it is left in another.
func TestDoctorLooksAtTheMachine(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	e, err := Open(t.Context(), Options{DataDir: dir, ConfigFile: "none", Env: []string{"HOME=" + t.TempDir()}, Set: map[string]string{"search.engines": "arxiv"}})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	check := func(code lang.Code) []Finding {
		t.Helper()
		found, err := e.Diagnose(t.Context(), Checkup{Offline: true, Lang: code})
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	first, last := check(lang.English)[0], func(found []Finding) Finding { return found[len(found)-1] }
	if first.What != "data directory" || !first.OK || first.Detail != dir {
		t.Errorf("%+v", first)
	}
	english := check(lang.English)
	for _, what := range []string{"database", "parser pdf", "font Latin", "browser", "model"} {
		if !slices.ContainsFunc(english, func(f Finding) bool { return f.What == what }) {
			t.Errorf("nothing is said of %s: %+v", what, english)
		}
	}
	for _, code := range []lang.Code{lang.Russian, lang.Chinese} {
		found := check(code)
		for i, f := range found {
			if was := english[i]; f.What == was.What || f.Hint != "" && f.Hint == was.Hint || f.OK != was.OK {
				t.Errorf("%s: %+v as %+v", code, f, was)
			}
		}
		if !slices.ContainsFunc(found, func(f Finding) bool {
			return strings.HasSuffix(f.What, map[lang.Code]string{lang.Russian: "кириллица", lang.Chinese: "西里尔文"}[code])
		}) {
			t.Errorf("%s: the scripts of fonts have English names", code)
		}
		if m := last(found); m.OK || !m.Unset || m.Detail == "" || m.Hint == "" {
			t.Errorf("there is a model: %+v", m)
		}
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if f := e.home.examine(Checkup{}); f.OK || !strings.Contains(f.Detail, dir) || f.Hint == "" {
		t.Errorf("it is gone, and %+v", f)
	}
}
