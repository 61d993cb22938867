package cli

import (
	"fmt"
	"io"
	"sync"
	"time"

	"dossier/internal/term"
)

// board is where progress is shown.
type board interface {
	// line tells what is happening now.
	line(text string)
	// hide takes the board off the screen until the next line.
	hide()
	close()
}

// silent shows nothing.
type silent struct{}

func (silent) line(string) {}
func (silent) hide()       {}
func (silent) close()      {}

// lines writes one line per thing that happens, for a pipe or a file.
type lines struct{ out io.Writer }

func (l lines) line(text string) { fmt.Fprintln(l.out, text) }
func (lines) hide()              {}
func (lines) close()             {}

// spinner keeps one line of a terminal alive with what happens now and for how
// long it has been going on.
type spinner struct {
	out   io.Writer
	width func() int

	mu    sync.Mutex
	text  string
	shown bool
	frame int
	began time.Time
	quit  chan struct{}
	done  sync.WaitGroup
}

var frames = []string{"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"}

// frameEvery is how often a spinner turns.
const frameEvery = 100 * time.Millisecond

func newSpinner(out io.Writer, width func() int) *spinner {
	s := &spinner{out: out, width: width, began: time.Now(), quit: make(chan struct{})}
	s.done.Go(s.turn)
	return s
}

func (s *spinner) turn() {
	tick := time.NewTicker(frameEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			s.mu.Lock()
			if s.text != "" {
				s.frame++
				s.draw()
			}
			s.mu.Unlock()
		case <-s.quit:
			return
		}
	}
}

// draw rewrites the line. s.mu is held.
func (s *spinner) draw() {
	text := fmt.Sprintf("%s %s · %s", frames[s.frame%len(frames)], time.Since(s.began).Round(time.Second), s.text)
	fmt.Fprintf(s.out, "\r\x1b[K%s", term.Fit(text, s.width()-1))
	s.shown = true
}

func (s *spinner) line(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text = text
	s.draw()
}

func (s *spinner) hide() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.shown {
		fmt.Fprint(s.out, "\r\x1b[K")
	}
	s.text, s.shown = "", false
}

func (s *spinner) close() {
	close(s.quit)
	s.done.Wait()
	s.mu.Lock()
	last := s.text
	s.mu.Unlock()
	s.hide()
	if last != "" {
		fmt.Fprintln(s.out, term.Fit(last, s.width()-1))
	}
}

// newBoard chooses how progress is shown.
func (a *app) newBoard() board {
	if a.Quiet {
		return silent{}
	}
	if _, ok := a.terminal(a.proc.Stderr); !ok {
		return lines{a.proc.Stderr}
	}
	return newSpinner(a.proc.Stderr, func() int {
		width, _ := a.terminal(a.proc.Stderr)
		return max(width, 20)
	})
}
