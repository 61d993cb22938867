package fleet

import (
	"context"
	"errors"
	"fmt"
)

// Drain lets an instance take no new runs. What it has admitted goes on, runs
// that wait for their users included; when nothing is at work it is stopped.
func (f *Fleet) Drain(ctx context.Context, instance string) error {
	return f.managed(ctx, instance, func(row Instance) error {
		return f.store.SetInstanceState(ctx, row.ID, Draining)
	})
}

// Stop lets an instance take no runs at all. Its queue is emptied. It returns
// the runs that have a slot and those that have waited, which the caller has
// to pause or cancel; the former still have to Leave.
func (f *Fleet) Stop(ctx context.Context, instance string) (running, waiting []string, err error) {
	err = f.managed(ctx, instance, func(row Instance) (err error) {
		running, waiting, err = f.store.StopInstance(ctx, row.ID)
		return err
	})
	return running, waiting, err
}

// Start makes an instance take runs again, after its template was checked.
func (f *Fleet) Start(ctx context.Context, instance string) error {
	return f.managed(ctx, instance, func(row Instance) error {
		if row.State == Ready {
			return nil
		}
		f.starting.Store(row.ID, struct{}{})
		defer f.starting.Delete(row.ID)
		if _, _, err := f.Definition(ctx, row.Template, row.Version); err != nil {
			return fmt.Errorf("start instance %q: %w", row.Name, err)
		}
		return f.store.SetInstanceState(ctx, row.ID, Ready)
	})
}

// Upgrade lets new runs of an instance be made from another version of its
// template; 0 follows the published one. Runs that were admitted keep theirs.
func (f *Fleet) Upgrade(ctx context.Context, instance string, version int) error {
	return f.managed(ctx, instance, func(row Instance) error {
		if err := f.usable(ctx, ref{row.Template, version}); err != nil {
			return fmt.Errorf("upgrade instance %q: %w", row.Name, err)
		}
		return f.store.SetInstanceVersion(ctx, row.ID, version)
	})
}

// Remove forgets an instance that has no work. Its sessions are free then.
func (f *Fleet) Remove(ctx context.Context, instance string) error {
	return f.managed(ctx, instance, func(row Instance) error {
		err := f.store.RemoveInstance(ctx, row.ID)
		if !errors.Is(err, ErrInUse) {
			return err
		}
		load, unknown := f.load(ctx, row.ID)
		if unknown != nil {
			return unknown
		}
		return fmt.Errorf("remove instance %q: %w: %d runs are at work and %d wait: drain it first, or stop it", row.Name, ErrInUse, load.Running, load.Queued)
	})
}

// managed finds an instance and does something to it while nobody else does.
func (f *Fleet) managed(ctx context.Context, instance string, do func(row Instance) error) error {
	f.lifecycle.Lock()
	defer f.lifecycle.Unlock()
	row, err := f.find(ctx, instance)
	if err != nil {
		return err
	}
	return do(row)
}
