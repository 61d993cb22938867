package fleet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"dossier/run"
)

// Outcome is what became of a run of a template.
type Outcome struct {
	Run      string     `json:"run"`
	Template string     `json:"template"`
	Version  int        `json:"version"`
	Instance string     `json:"instance,omitempty"` // id; empty without one
	Status   run.Status `json:"status"`
	// Coverage is the share of claims with a verified passage; nil for a run
	// that makes none.
	Coverage *float64      `json:"coverage,omitempty"`
	Tokens   int           `json:"tokens"`
	Cost     float64       `json:"cost"` // USD
	Time     time.Duration `json:"time"` // that was worked on it
	At       time.Time     `json:"at"`
}

// VersionStats is what runs of a version have cost and brought.
type VersionStats struct {
	Version   int `json:"version"`
	Runs      int `json:"runs"`
	Done      int `json:"done"`
	Failed    int `json:"failed"`
	Cancelled int `json:"cancelled"`
	// Success is the share of done runs among those that were not cancelled;
	// nil when there are none.
	Success *float64 `json:"success,omitempty"`
	// Coverage is the mean over the runs that have one, and Covered is how
	// many these are.
	Coverage *float64              `json:"coverage,omitempty"`
	Covered  int                   `json:"covered"`
	Tokens   Spread[int]           `json:"tokens"`
	Cost     Spread[float64]       `json:"cost"`
	Time     Spread[time.Duration] `json:"time"`
	Last     time.Time             `json:"last"`
}

// Spread tells of a quantity over many runs.
type Spread[T int | float64 | time.Duration] struct {
	Total  T `json:"total"`
	Mean   T `json:"mean"`
	Median T `json:"p50"`
}

// Record keeps what became of a run. A run that is recorded again, because it
// was reopened or because nobody knows whether it was, replaces itself.
func (f *Fleet) Record(ctx context.Context, o Outcome) error {
	switch {
	case o.Run == "" || o.Template == "" || o.Version < 1:
		return errors.New("an outcome needs a run, a template and a version")
	case !o.Status.Ended():
		return fmt.Errorf("outcome of run %q: it is %s, and only a run that is over has one", o.Run, o.Status)
	}
	if o.At.IsZero() {
		o.At = f.now()
	}
	o.At = o.At.UTC()
	return f.explain(ctx, o.Template, f.store.PutOutcome(ctx, o))
}

// Stats returns what runs of each version have cost and brought, the oldest
// version first. A version without runs is not in it.
func (f *Fleet) Stats(ctx context.Context, template string) ([]VersionStats, error) {
	type gathered struct {
		VersionStats

		coverage float64
		tokens   []int
		cost     []float64
		time     []time.Duration
	}
	versions := map[int]*gathered{}
	err := f.store.EachOutcome(ctx, template, func(o Outcome) error {
		g := versions[o.Version]
		if g == nil {
			g = &gathered{VersionStats: VersionStats{Version: o.Version}}
			versions[o.Version] = g
		}
		g.Runs++
		switch o.Status {
		case run.Done:
			g.Done++
		case run.Failed:
			g.Failed++
		case run.Cancelled:
			g.Cancelled++
		}
		if o.Coverage != nil {
			g.Covered++
			g.coverage += *o.Coverage
		}
		g.tokens, g.cost, g.time = append(g.tokens, o.Tokens), append(g.cost, o.Cost), append(g.time, o.Time)
		if o.At.After(g.Last) {
			g.Last = o.At
		}
		return nil
	})
	if err != nil {
		return nil, f.explain(ctx, template, err)
	}
	var stats []VersionStats
	for _, n := range slices.Sorted(maps.Keys(versions)) {
		g := versions[n]
		g.Success = share(float64(g.Done), g.Done+g.Failed)
		g.VersionStats.Coverage = share(g.coverage, g.Covered)
		g.Tokens, g.Cost, g.Time = spread(g.tokens), spread(g.cost), spread(g.time)
		stats = append(stats, g.VersionStats)
	}
	return stats, nil
}

func share(sum float64, of int) *float64 {
	if of == 0 {
		return nil
	}
	return new(sum / float64(of))
}

// spread takes values over.
func spread[T int | float64 | time.Duration](values []T) (s Spread[T]) {
	slices.SortFunc(values, cmp.Compare[T])
	for _, v := range values {
		s.Total += v
	}
	if n := len(values); n > 0 {
		s.Mean, s.Median = s.Total/T(n), (values[(n-1)/2]+values[n/2])/2
	}
	return s
}
