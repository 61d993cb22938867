package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"dossier/bench/internal/lab"
)

// side is one of those that are measured.
type side struct {
	name    string
	program string
	args    []string
}

// The sides that are always there.
const (
	bare    = "bare loop"
	ours    = "ours"
	durable = "ours, SQLite"
)

// contest is a lab with the programs of all sides.
type contest struct {
	*lab.Lab
	sides   []side
	missing []string // frameworks that could not be built
}

// prepare builds the programs and starts the model server.
func prepare(ctx context.Context, root, yardsticks string, peers []string) (_ *contest, err error) {
	parts := []string{"agents/harness", "agents/baseline"}
	for _, p := range peers {
		parts = append(parts, "agents/"+p)
	}
	l, err := lab.Open(ctx, yardsticks, parts...)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			l.Close()
		}
	}()
	c := &contest{Lab: l, sides: []side{{name: bare, program: "baseline"}}}
	build := func(name string) error {
		return l.Build(ctx, lab.Build{Name: name, In: l.Source(filepath.Join("agents", name)), Pkg: "."})
	}
	if err := build("baseline"); err != nil {
		return nil, err
	}
	for _, p := range peers {
		if err := build(p); err != nil {
			fmt.Println(err)
			c.missing = append(c.missing, p)
			continue
		}
		c.sides = append(c.sides, side{name: p, program: p})
	}
	if err := c.buildOurs(ctx, root); err != nil {
		return nil, err
	}
	c.sides = append(c.sides, side{name: ours, program: "ours"}, side{name: durable, program: "ours", args: []string{"-store", "sqlite"}})
	return c, ctx.Err()
}

// buildOurs builds our side with the harness, which the project itself does
// not require: a copy of go.mod does.
func (c *contest) buildOurs(ctx context.Context, root string) error {
	mod := filepath.Join(c.Dir, "ours.mod")
	for _, f := range []struct{ from, to string }{{"go.mod", mod}, {"go.sum", filepath.Join(c.Dir, "ours.sum")}} {
		text, err := os.ReadFile(filepath.Join(root, f.from))
		if err != nil {
			return err
		}
		if err := os.WriteFile(f.to, text, 0o600); err != nil {
			return err
		}
	}
	edit := exec.CommandContext(ctx, "go", "mod", "edit", "-require=perf/harness@v0.0.0", "-replace=perf/harness="+c.Source("agents/harness"), mod)
	if out, err := edit.CombinedOutput(); err != nil {
		return fmt.Errorf("requiring the harness: %w\n%s", err, out)
	}
	return c.Build(ctx, lab.Build{Name: "ours", In: root, Pkg: "./bench/agents/ours", Args: []string{"-tags", "harness", "-modfile", mod}})
}

// leftOut says which frameworks are not in the table.
func (c *contest) leftOut() string {
	if len(c.missing) == 0 {
		return ""
	}
	return "not built here, and so left out: " + strings.Join(c.missing, ", ") + "\n"
}

const (
	crowd = 1000   // sessions at once
	staff = 10_000 // idle agents
)

// trial is a way of running the programs, and what is read from it.
type trial struct {
	core    string
	args    []string
	figures []*figure
}

func trials() []trial {
	return []trial{
		{core: "1", args: []string{"-mode", "step", "-rounds", "9"}, figures: []*figure{
			{name: "CPU per step", key: "cpu_us_per_step", unit: "µs"},
			{name: "allocations per step", key: "allocs_per_step"},
		}},
		{core: "1", args: []string{"-mode", "step", "-stream", "-rounds", "9"}, figures: []*figure{
			{name: "CPU per streamed step", key: "cpu_us_per_step", unit: "µs"},
			{name: "allocations per streamed step", key: "allocs_per_step"},
		}},
		{args: []string{"-mode", "conc", "-sessions", fmt.Sprint(crowd)}, figures: []*figure{
			{name: "1,000 sessions × 10 steps at 50 ms", key: "total_ms", unit: "ms"},
			{name: "their CPU", key: "cpu_ms", unit: "ms"},
		}},
		{args: []string{"-mode", "idle", "-sessions", fmt.Sprint(staff)}, figures: []*figure{
			{name: "heap per idle agent", key: "heap_bytes_per_agent", unit: "B"},
		}},
	}
}

// measure takes all figures.
func (c *contest) measure(ctx context.Context, reps int) ([]*figure, error) {
	all := trials()
	for turn := range reps {
		fmt.Printf("turn %d of %d\n", turn+1, reps)
		for _, t := range all {
			for _, s := range c.sides {
				v, err := c.Result(ctx, t.core, s.program, slices.Concat(t.args, s.args)...)
				if err != nil {
					return nil, err
				}
				for _, f := range t.figures {
					f.add(s.name, v[f.key])
				}
			}
		}
	}
	var figures []*figure
	for _, t := range all {
		figures = append(figures, t.figures...)
	}
	return figures, nil
}
