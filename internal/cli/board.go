package cli

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"dossier/event"
	"dossier/internal/base/term"
	"dossier/lang"
)

// board is where progress is shown.
type board interface {
	// observe takes an event in, and reports whether the board shows it by
	// itself. If not, it may be worth a line.
	observe(ev event.Event) bool
	// line tells what is happening now.
	line(text string)
	// hide takes the board off the screen until the next line.
	hide()
	// say leaves a line on the screen, above the board.
	say(text string)
	close()
}

// silent shows nothing.
type silent struct{}

func (silent) observe(event.Event) bool { return true }
func (silent) line(string)              {}
func (silent) hide()                    {}
func (silent) say(string)               {}
func (silent) close()                   {}

// lines writes one line per thing that happens, for a pipe or a file.
type lines struct{ out io.Writer }

func (lines) observe(event.Event) bool { return false }
func (l lines) line(text string)       { fmt.Fprintln(l.out, text) }
func (lines) hide()                    {}
func (l lines) say(text string)        { fmt.Fprintln(l.out, text) }
func (lines) close()                   {}

// panel keeps the last lines of a terminal alive. The first says what happens
// now and for how long the run has been going on; those below it tell the
// facts of a run that plans, searches and reads. An ordinary answer has none,
// and its panel is one line.
type panel struct {
	out   io.Writer
	width func() int

	mu    sync.Mutex
	facts facts
	text  string
	off   bool     // hidden until the next line
	shown []string // what is on the screen
	frame int
	began time.Time
	quit  chan struct{}
	done  sync.WaitGroup
}

var frames = []string{"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"}

// frameEvery is how often a panel is drawn while nothing happens.
const frameEvery = 100 * time.Millisecond

func newPanel(out io.Writer, width func() int, code lang.Code) *panel {
	p := &panel{out: out, width: width, facts: facts{lang: code}, began: time.Now(), quit: make(chan struct{})}
	p.done.Go(p.turn)
	return p
}

func (p *panel) turn() {
	tick := time.NewTicker(frameEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			p.mu.Lock()
			if len(p.shown) > 0 {
				p.frame++
				p.draw()
			}
			p.mu.Unlock()
		case <-p.quit:
			return
		}
	}
}

// draw writes the panel over what was there. p.mu is held.
func (p *panel) draw() {
	width := p.width()
	head := frames[p.frame%len(frames)] + " " + time.Since(p.began).Round(time.Second).String()
	if p.text != "" {
		head += " · " + p.text
	}
	next := append([]string{term.Fit(head, width-1)}, p.facts.lines(width-1)...)
	var b strings.Builder
	b.WriteString(home(p.shown, width))
	for i, l := range next {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(l + "\x1b[K")
	}
	b.WriteString("\x1b[J")
	_, _ = io.WriteString(p.out, b.String())
	p.shown = next
}

// home moves the cursor from the end of lines that were written to their
// start. In a terminal that became narrower each may take several rows.
func home(lines []string, width int) string {
	rows := rowsOf(lines, width)
	if rows < 2 {
		return "\r"
	}
	return fmt.Sprintf("\r\x1b[%dA", rows-1)
}

func (p *panel) observe(ev event.Event) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	own := p.facts.observe(ev)
	if own && !p.off {
		if now := p.facts.now(ev); now != "" {
			p.text = now
		}
		p.draw()
	}
	return own
}

func (p *panel) line(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.text, p.off = text, false
	p.draw()
}

func (p *panel) hide() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.shown) > 0 {
		_, _ = io.WriteString(p.out, home(p.shown, p.width())+"\x1b[J")
	}
	p.text, p.off, p.shown = "", true, nil
}

func (p *panel) say(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.shown) > 0 {
		text = home(p.shown, p.width()) + "\x1b[J" + text
	}
	_, _ = io.WriteString(p.out, text+"\n")
	if p.shown = nil; !p.off {
		p.draw()
	}
}

// close leaves what came of it. This stays, so it is not shortened but goes on
// in another line.
func (p *panel) close() {
	close(p.quit)
	p.done.Wait()
	p.mu.Lock()
	last := p.text
	if summary := p.facts.summary(); last != "" && summary != "" {
		last += " · " + summary
	}
	p.mu.Unlock()
	p.hide()
	if last != "" {
		fmt.Fprintln(p.out, inLines(last, p.width()))
	}
}

// inLines breaks a row of parts between them where it is wider than a line.
func inLines(row string, width int) string {
	const between = " · "
	var b strings.Builder
	at := 0
	for i, part := range strings.Split(row, between) {
		w := term.Width(part)
		switch {
		case i == 0:
		case at+term.Width(between)+w > width:
			b.WriteString("\n  ")
			at = 2
		default:
			b.WriteString(between)
			at += term.Width(between)
		}
		b.WriteString(part)
		at += w
	}
	return b.String()
}

// newBoard chooses how progress is shown.
func (a *app) newBoard(code lang.Code) board {
	if a.Quiet {
		return silent{}
	}
	if _, ok := a.terminal(a.proc.Stderr); !ok || a.dumb() {
		return lines{a.proc.Stderr}
	}
	return newPanel(a.proc.Stderr, func() int {
		width, _ := a.terminal(a.proc.Stderr)
		return max(width, 20)
	}, code)
}
