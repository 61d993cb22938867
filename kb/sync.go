package kb

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"dossier/reader"
)

// Unreadable is the reason of a failure that is not about what a file holds:
// it could not be opened, or the machine could not read it. Such a file is
// tried again with every sync.
const Unreadable reader.Reason = "unreadable"

// SyncOptions are the settings of one sync. The zero value works.
type SyncOptions struct {
	// Progress is called from one goroutine at a time: at least every tenth
	// of a second while there is work, and with each new phase.
	Progress func(Progress)
	// Rehash reads every file again, whatever its times say, and gives those
	// that failed another try.
	Rehash bool
}

// Phase is what a sync is doing.
type Phase string

// The phases, in their order.
const (
	Walking   Phase = "walking"   // counting files
	Reading   Phase = "reading"   // files that are new or changed
	Embedding Phase = "embedding" // chunks that have no vector yet
	Finishing Phase = "finishing"
)

// Progress says how far a sync is.
type Progress struct {
	Phase   Phase  `json:"phase"`
	Found   int    `json:"found"` // files in the roots
	Total   int    `json:"total"` // of them to read, or chunks to embed
	Done    int    `json:"done"`  // of Total
	Added   int    `json:"added"`
	Changed int    `json:"changed"`
	Removed int    `json:"removed"`
	Reread  int    `json:"reread,omitempty"`
	Failed  int    `json:"failed"`
	Bytes   int64  `json:"bytes"` // read
	Current string `json:"current,omitempty"`
}

// FileFailure is a file without text, and why.
type FileFailure struct {
	Path string `json:"path"`
	Failure
}

// Skip is something that is no file to read.
type Skip struct {
	Path string `json:"path"`
	Why  string `json:"why"`
}

// SyncResult is what a sync did and found.
type SyncResult struct {
	Collection Collection `json:"collection"` // as it is now
	Found      int        `json:"found"`      // files in the roots
	Unchanged  int        `json:"unchanged"`
	Added      int        `json:"added"` // documents with text
	Changed    int        `json:"changed"`
	Removed    int        `json:"removed"`
	// Reread counts the files that are as they were and were read again because
	// another version of the program had read them.
	Reread int `json:"reread,omitempty"`
	// Ignored counts the files that are no documents, like pictures.
	Ignored int `json:"ignored"`
	// Failures are the documents that have no text now, by path, also those
	// that failed before and have not changed since.
	Failures []FileFailure `json:"failures,omitempty"`
	// Skipped counts links, pipes and the like; Skips are the first of them.
	Skipped  int           `json:"skipped"`
	Skips    []Skip        `json:"skips,omitempty"`
	Warnings []string      `json:"warnings,omitempty"`
	Bytes    int64         `json:"bytes"` // read
	Duration time.Duration `json:"duration"`
}

// granularity is how coarse the clock of a file system may be: a file that
// was changed less than this before it was read may have changed again
// without another time to show for it.
const granularity = 2 * time.Second

// Sync makes a collection mirror its roots: files that are new or changed are
// read, those that went are removed. What has been done stays done when it is
// cut short, and the next sync goes on from there. A file that cannot be read
// is listed and the rest goes on; a root that is gone is an error, and nothing
// is removed. One sync of a collection runs at a time, others wait.
func (l *Library) Sync(ctx context.Context, name string, opts SyncOptions) (SyncResult, error) {
	c, err := l.Get(ctx, name)
	if err != nil {
		return SyncResult{}, err
	}
	release, err := l.take(ctx, c.ID)
	if err != nil {
		return SyncResult{}, fmt.Errorf("sync %q: waiting for another sync: %w", name, err)
	}
	defer release()
	s := &syncing{l: l, id: c.ID, opts: opts, began: time.Now()}
	err = s.run(ctx, c.Roots)
	s.result.Duration = time.Since(s.began)
	if err != nil {
		return s.result, fmt.Errorf("sync %q: %w", name, err)
	}
	return s.result, nil
}

// syncing is one sync under way.
type syncing struct {
	l        *Library
	id       string
	opts     SyncOptions
	began    time.Time
	walk     *walker
	progress Progress
	reported time.Time
	result   SyncResult
	mute     bool // the embedder failed: it is not asked again
}

func (s *syncing) run(ctx context.Context, roots []string) error {
	s.enter(Walking)
	s.walk = &walker{ctx: ctx, open: s.l.open, report: func(n int, path string) {
		s.progress.Found = n
		s.report(path)
	}}
	if err := s.walk.walk(roots); err != nil {
		return err
	}
	s.progress.Found = len(s.walk.files)
	s.result.Found = len(s.walk.files)
	s.result.Skipped, s.result.Skips = s.walk.skips, s.walk.skipped
	if len(s.walk.files) == 0 {
		s.warn("there are no files in " + strings.Join(roots, ", "))
	}
	for {
		err := s.pass(ctx)
		if errors.Is(err, ErrChanged) && ctx.Err() == nil {
			continue // another process put something in: start from what is there now
		}
		if err != nil {
			return err
		}
		break
	}
	failed, err := s.l.store.FailedDocuments(ctx, s.id)
	if err != nil {
		return err
	}
	for _, d := range failed {
		if !d.told() {
			s.result.Ignored++
			continue
		}
		s.result.Failures = append(s.result.Failures, FileFailure{d.Path, *d.Failure})
	}
	s.result.Collection, err = s.l.store.Collection(ctx, s.id)
	s.progress.Current = ""
	s.enter(Finishing)
	return err
}

// told reports whether it is worth telling that a file could not be read. What is
// no document is left out, and so is a file of markup or data without a word in
// it: nothing is missing because of it, as it is because of a scan.
func (d *Document) told() bool {
	if d.Failure == nil || d.Failure.Reason == reader.Unsupported {
		return false
	}
	return d.Failure.Reason != reader.NoText || !slices.Contains([]reader.Format{reader.HTML, reader.JSON, reader.CSV}, d.Format)
}

// Failures returns the documents of a collection that have no text, by path.
// Files that are no documents, like pictures, are not among them.
func (l *Library) Failures(ctx context.Context, name string) ([]FileFailure, error) {
	c, err := l.Get(ctx, name)
	if err != nil {
		return nil, err
	}
	failed, err := l.store.FailedDocuments(ctx, c.ID)
	if err != nil {
		return nil, fmt.Errorf("collection %q: %w", name, err)
	}
	var out []FileFailure
	for _, d := range failed {
		if d.told() {
			out = append(out, FileFailure{d.Path, *d.Failure})
		}
	}
	return out, nil
}

func (s *syncing) warn(text string) { s.result.Warnings = append(s.result.Warnings, text) }

// enter begins a phase.
func (s *syncing) enter(p Phase) {
	s.progress.Phase, s.reported = p, time.Time{}
	s.report(s.progress.Current)
}

// report tells how far it is, not more often than is of use.
func (s *syncing) report(path string) {
	s.progress.Current = path
	if s.opts.Progress == nil || time.Since(s.reported) < tick {
		return
	}
	s.opts.Progress(s.progress)
	s.reported = time.Now()
}

// tick is the time between reports.
const tick = 100 * time.Millisecond

// task is a file to look at.
type task struct {
	found
	old *File // what is known of it; nil if it is new
	// outdated says that it is looked at for no other reason than that another
	// version of the program read it.
	outdated bool
}

// same reports whether size and time say that the file has not changed.
func (t *task) same() bool {
	return t.old != nil && t.old.Size == t.size && t.old.Modified.Equal(stamp(t.modified))
}

// stamp is a file's time as it is kept.
func stamp(t time.Time) time.Time { return t.UTC() }

// pass brings the collection to what the walk found.
func (s *syncing) pass(ctx context.Context) error {
	c, err := s.l.store.Collection(ctx, s.id)
	if err != nil {
		return err
	}
	files, err := s.l.store.Files(ctx, s.id)
	if err != nil {
		return err
	}
	a, err := newApplier(ctx, s, c, files)
	if err != nil {
		return err
	}
	tasks, gone := s.compare(c, files)
	s.result.Unchanged = len(s.walk.files) - len(tasks)
	s.progress.Total, s.progress.Done = len(tasks), 0
	s.enter(Reading)
	for _, n := range gone {
		if err := a.remove(ctx, n); err != nil {
			return err
		}
	}
	err = s.read(ctx, tasks, a)
	if err != nil && ctx.Err() != nil && !errors.Is(err, ErrChanged) {
		// What was read until now is not lost.
		late, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer cancel()
		return errors.Join(err, a.commit(late))
	}
	if err != nil {
		return err
	}
	return a.finish(ctx)
}

// compare returns the files to read and the numbers of documents whose files
// are gone. Both lists are in the order of paths.
func (s *syncing) compare(c Collection, files []File) (tasks []task, gone []int64) {
	verified := c.Synced
	if verified.IsZero() {
		verified = c.Created // nothing was read before
	}
	racy := verified.Add(-granularity)
	reading := s.l.Reading()
	at := 0
	for _, f := range s.walk.files {
		for ; at < len(files) && files[at].Path < f.path; at++ {
			if !s.walk.unseen(files[at].Path) {
				gone = append(gone, files[at].N)
			}
		}
		t := task{found: f}
		if at < len(files) && files[at].Path == f.path {
			t.old = &files[at]
			at++
		}
		switch {
		case !t.same(), s.opts.Rehash:
		case t.old.Failed && t.old.Hash == "":
			if f.err != nil || f.size > s.l.opts.MaxFile {
				continue // as it was
			}
		case !t.old.Modified.Before(racy):
		case t.old.Reading == reading:
			continue
		default:
			t.outdated = true
		}
		tasks = append(tasks, t)
	}
	for ; at < len(files); at++ {
		if !s.walk.unseen(files[at].Path) {
			gone = append(gone, files[at].N)
		}
	}
	return tasks, gone
}
