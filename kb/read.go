package kb

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"time"

	"dossier/lang"
	"dossier/reader"
)

// outcome is what came of a task.
type outcome struct {
	action action
	doc    Document
	read   int // bytes
	err    error
}

// action is what a task asks of the collection.
type action int

const (
	keep  action = iota // nothing changed
	touch               // the content is the same, the time is not
	put                 // a document, with text or with a failure
	drop                // the file is gone
)

// read has workers do the tasks and applies what comes of them in the order of
// the tasks.
func (s *syncing) read(ctx context.Context, tasks []task, a *applier) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	type job struct {
		*task
		done chan outcome
	}
	// The queue bounds what waits for its turn.
	work, queue := make(chan job), make(chan job, 4*s.l.opts.Workers)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel(nil)
	wg.Go(func() {
		defer close(work)
		defer close(queue)
		for i := range tasks {
			j := job{&tasks[i], make(chan outcome, 1)}
			select {
			case queue <- j:
			case <-ctx.Done():
				return
			}
			select {
			case work <- j:
			case <-ctx.Done():
				return
			}
		}
	})
	for range s.l.opts.Workers {
		wg.Go(func() {
			for j := range work {
				j.done <- s.look(ctx, j.task)
			}
		})
	}
	ticks := time.NewTicker(tick)
	defer ticks.Stop()
	for j := range queue {
		var o outcome
		for waiting := true; waiting; {
			select {
			case o = <-j.done:
				waiting = false
			case <-ticks.C:
				s.report(j.path)
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
		if o.err != nil {
			return o.err
		}
		s.progress.Done++
		s.progress.Bytes += int64(o.read)
		s.result.Bytes += int64(o.read)
		if err := a.apply(ctx, j.task, o); err != nil {
			return err
		}
		s.report(j.path)
	}
	return context.Cause(ctx)
}

// look reads a file and says what it means for the collection.
func (s *syncing) look(ctx context.Context, t *task) outcome {
	if t.err != nil {
		return t.failed(Unreadable, plain(t.err))
	}
	if t.size > s.l.opts.MaxFile {
		return t.tooLarge(s.l.opts.MaxFile)
	}
	body, info, err := s.l.readFile(t.path, s.l.opts.MaxFile)
	if info != nil {
		t.size, t.modified = info.Size(), info.ModTime()
	}
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, errNotRegular):
		return outcome{action: drop}
	case errors.Is(err, errTooLarge):
		return t.tooLarge(s.l.opts.MaxFile)
	case err != nil:
		return t.failed(Unreadable, plain(err))
	}
	sum := sha256.Sum256(body)
	doc := t.document()
	doc.Reading = s.l.Reading()
	doc.Hash = hex.EncodeToString(sum[:])
	if t.old != nil && t.old.Hash == doc.Hash && t.old.Reading == doc.Reading && !(s.opts.Rehash && t.old.Failed) {
		if t.same() {
			return outcome{action: keep, read: len(body)}
		}
		return outcome{action: touch, doc: doc, read: len(body)}
	}
	page, err := s.l.reader.Read(ctx, reader.Document{Path: t.path, Body: body})
	var about *reader.Error
	switch {
	case err == nil:
	case ctx.Err() != nil:
		return outcome{err: context.Cause(ctx)}
	case errors.As(err, &about):
		doc.Format, doc.Failure = about.Format, &Failure{about.Reason, about.Why}
		return outcome{action: put, doc: doc, read: len(body)}
	default: // not the document's fault
		o := t.failed(Unreadable, err.Error())
		o.read = len(body)
		return o
	}
	s.l.fill(&doc, page)
	if len(doc.Chunks) == 0 {
		doc.Text, doc.Failure = "", &Failure{reader.NoText, "there are no words in it"}
	}
	return outcome{action: put, doc: doc, read: len(body)}
}

// fill puts what was read into a document.
func (l *Library) fill(doc *Document, page *reader.Page) {
	doc.Format, doc.Title, doc.Author, doc.Date = page.Format, page.Title, page.Author, page.Date
	doc.Lang, doc.Warnings = lang.Code(page.Lang), page.Warnings
	doc.Text, doc.Chunks = page.Text, Cut(page, l.opts.ChunkSize)
}

// Read reads a text that is no file as one of that name would be read. It is in
// no collection.
func (l *Library) Read(ctx context.Context, name, text string) (Document, error) {
	page, err := l.reader.Read(ctx, reader.Document{Path: name, Body: []byte(text)})
	if err != nil {
		return Document{}, err
	}
	doc := Document{N: 1, Path: name}
	l.fill(&doc, page)
	return doc, nil
}

// document is what is known of the file itself.
func (t *task) document() Document {
	return Document{Path: t.path, Size: t.size, Modified: stamp(t.modified)}
}

// failed is the outcome of a file that could not be read.
func (t *task) failed(reason reader.Reason, why string) outcome {
	if t.outdated || t.same() && t.old.Failed && t.old.Hash == "" {
		return outcome{action: keep} // what is known of it holds, or it is listed already
	}
	doc := t.document()
	doc.Failure = &Failure{reason, why}
	return outcome{action: put, doc: doc}
}

func (t *task) tooLarge(limit int64) outcome {
	return t.failed(reader.TooLarge, fmt.Sprintf("it has %d MiB; files up to %d MiB are read", t.size>>20, limit>>20))
}

// plain is an error of a file without the file's name, which stands beside it.
func plain(err error) string {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err.Error()
	}
	return err.Error()
}
