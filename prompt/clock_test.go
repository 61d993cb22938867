package prompt_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"dossier/event"
	"dossier/internal/store/memory"
	"dossier/llm"
	"dossier/prompt"
	"dossier/run"
)

// works executes a run that does fn, and returns all that was told of it, in
// the order in which it was heard, and how long it took.
func works(t *testing.T, fn run.Func) (heard []event.Event, took time.Duration) {
	t.Helper()
	s := memory.New(memory.Options{})
	if err := s.Create(t.Context(), run.Record{ID: "r", Status: run.Queued, Created: time.Now()}, nil, nil); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	x := run.NewExecutor(run.ExecutorConfig{Journal: s, Owner: "w", Program: func(run.Record) (run.Func, run.Limits, error) {
		return func(ctx context.Context, sc *run.Scope) error {
			defer func() { took = time.Since(began) }()
			return fn(ctx, sc)
		}, run.Limits{}, nil
	}, Publish: func(ev event.Event) { heard = append(heard, ev) }})
	if _, err := x.Execute(t.Context(), "r"); err != nil {
		t.Fatal(err)
	}
	x.Close()
	return heard, took
}

// decisions are those of a mode that searches: some that prepare, one that
// writes, one that checks.
func decisions(models *llm.Models, decided *[]string) run.Func {
	return func(ctx context.Context, s *run.Scope) error {
		ctx = prompt.Within(ctx, 30*time.Second)
		for i, role := range []llm.RoleName{llm.ForSummarizer, llm.ForSummarizer, llm.ForSummarizer, llm.ForSummarizer, llm.ForWriter, llm.ForVerifier} {
			tk := task(split)
			tk.Name, tk.Role = fmt.Sprint(role, "-", i), role
			if role == llm.ForWriter {
				tk.Least = 1. / 3
			}
			made, err := tk.Do(ctx, s, models, "one two", prompt.Options[plan]{})
			if err != nil {
				return err
			}
			by := "model"
			if made.Extractive {
				by = made.Why
			}
			*decided = append(*decided, by)
		}
		return nil
	}
}

// governed is a model behind a governor with its defaults.
func governed(m llm.Model) *llm.Models {
	return &llm.Models{Roles: map[llm.RoleName]llm.Setting{llm.ForDefault: {Model: llm.NewGovernor(llm.GovernorConfig{Endpoint: "e"}).Wrap(m), Name: "m"}}}
}

// TestAModelThatFailsCostsLittleTime holds what a run does with a model that
// answers only 500: it is told at once, repeated a little, and rules go on.
func TestAModelThatFailsCostsLittleTime(t *testing.T) {
	for name, err := range map[string]*llm.Error{
		"500":     {Kind: llm.ErrServer, Endpoint: "e", Status: 500, Message: "no"},
		"refused": {Kind: llm.ErrUnreachable, Endpoint: "e", Message: "connection refused"},
		"429":     {Kind: llm.ErrRateLimited, Endpoint: "e", Status: 429},
		"later":   {Kind: llm.ErrRateLimited, Endpoint: "e", Status: 429, RetryAfter: time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				calls := 0
				m := model(func(*llm.Request) (*llm.Response, error) { calls++; return nil, err })
				var decided []string
				heard, took := works(t, decisions(governed(m), &decided))
				if len(decided) != 6 || slices.Contains(decided, "model") {
					t.Errorf("decided %q", decided)
				}
				most := 10 * time.Second
				if name == "429" { // which may pass at any moment
					most = 40 * time.Second
				}
				if took > most {
					t.Errorf("it took %v and %d calls", took, calls)
				}
				first := slices.IndexFunc(heard, func(ev event.Event) bool {
					switch d := ev.Data.(type) {
					case event.ModelWaiting:
						return d.Code == string(err.Kind)
					case event.ModelFailed:
						return d.Code == string(err.Kind) && d.Then == string(llm.ThenRules)
					}
					return false
				})
				if first < 0 || heard[first].Time.Sub(heard[0].Time) > time.Second {
					t.Errorf("nobody was told at once: %+v", heard)
				}
				byRules := 0
				for _, ev := range heard {
					if d, ok := ev.Data.(event.ModelFailed); ok && d.Then == string(llm.ThenRules) {
						byRules++
					}
				}
				if byRules != 6 {
					t.Errorf("%d decisions are told to be by rules", byRules)
				}
			})
		})
	}
}

// slow is a model that answers after a while, or leaves when it is told to.
type slow time.Duration

func (d slow) Stream(ctx context.Context, req *llm.Request, sink func(llm.Chunk)) (*llm.Response, error) {
	select {
	case <-time.After(time.Duration(d)):
		return says(`{"steps":["a"]}`).Stream(ctx, req, sink)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func TestTheTimeOfAModeIsKept(t *testing.T) {
	for _, c := range []struct {
		reply, most time.Duration
		by          string // who decided: m the model, r rules
	}{
		{time.Second, 6 * time.Second, "mmmmmm"},
		{6 * time.Second, 31 * time.Second, "mmrrmm"},
		{9 * time.Second, 31 * time.Second, "mrrrmr"},
		{10 * time.Minute, 31 * time.Second, "rrrrrr"},
	} {
		t.Run(c.reply.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var decided []string
				_, took := works(t, decisions(governed(slow(c.reply)), &decided))
				by := ""
				for _, d := range decided {
					if d == "model" {
						by += "m"
					} else {
						by += "r"
						if !strings.Contains(d, "30s") {
							t.Errorf("why: %s", d)
						}
					}
				}
				if by != c.by || took > c.most {
					t.Errorf("decided %s in %v, want %s in %v", by, took, c.by, c.most)
				}
			})
		})
	}
}

func TestSilenceIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		heard, _ := works(t, func(ctx context.Context, s *run.Scope) error {
			_, err := task(nil).Do(ctx, s, governed(slow(time.Minute)), "q", prompt.Options[plan]{})
			return err
		})
		var waited []float64
		for _, ev := range heard {
			if d, ok := ev.Data.(event.ModelWaiting); ok && d.Code == "quiet" && d.Model == "m" {
				waited = append(waited, d.Wait)
			}
		}
		if !slices.Equal(waited, []float64{10, 20, 40}) {
			t.Errorf("told at %v", waited)
		}
	})
}

// Whoever begins to listen while the next attempt is waited for learns of it too.
func TestFailureIsToldAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fails := 1
		m := model(func(*llm.Request) (*llm.Response, error) {
			if fails--; fails >= 0 {
				return nil, &llm.Error{Kind: llm.ErrRateLimited, Endpoint: "e", Status: 429, RetryAfter: 7 * time.Second}
			}
			return nil, &llm.Error{Kind: llm.ErrAuth, Endpoint: "e", Status: 401}
		})
		heard, _ := works(t, func(ctx context.Context, s *run.Scope) error {
			_, err := task(nil).Do(ctx, s, governed(m), "q", prompt.Options[plan]{})
			return err
		})
		told := 0
		for _, ev := range heard {
			if d, ok := ev.Data.(event.ModelWaiting); ok && d.Code == string(llm.ErrRateLimited) && d.Wait > 0 {
				told++
			}
		}
		if told < 3 {
			t.Errorf("told %d times in 7 s: %+v", told, heard)
		}
	})
}
