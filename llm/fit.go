package llm

import (
	"context"
	"fmt"
	"slices"
)

// FitOptions are the settings of a compaction.
type FitOptions struct {
	// Reserve is kept free for the reply: by default the request's MaxTokens,
	// and without that an eighth of the window, at most 8192.
	Reserve int
	// Summarize condenses messages that have to go, for a model to read. When
	// it is nil or fails they are dropped, and a mark says how many.
	Summarize func(ctx context.Context, dropped []Message) (string, error)
}

// Fitted says what a compaction did.
type Fitted struct {
	Tokens     int // estimate of the request as it is now
	Dropped    int // messages
	Cut        int // messages that lost their middle
	Summarized bool
}

func reserve(req *Request, window int, opts FitOptions) int {
	n := opts.Reserve
	if n == 0 {
		n = req.MaxTokens
	}
	if n == 0 {
		n = min(window/8, 8192)
	}
	return min(n, window/2)
}

// Fit makes a request that fits the window. What fits is returned as it is.
// Otherwise go, in this order: the oldest turns before the last user message;
// the middles of over-long messages; the oldest tool exchanges after the last
// user message; more of the middles. System messages, the last user message
// and the last exchange stay, tool calls stay with their results, and req
// itself isn't changed. When even that is too long the error is an *Error of
// kind ErrTooLong.
func Fit(ctx context.Context, req *Request, window int, opts FitOptions) (*Request, Fitted, error) {
	room := window - reserve(req, window, opts)
	total := CountRequest(req)
	if total <= room {
		return req, Fitted{Tokens: total}, nil
	}
	f := newFitter(req, room)
	f.dropBefore()
	var done Fitted
	if dropped := f.dropped(); len(dropped) > 0 {
		done.Summarized = f.summarize(ctx, dropped, opts.Summarize)
	}
	capTokens := f.cap(comfortable)
	for capTokens < comfortable && f.dropAfter() {
		capTokens = f.cap(comfortable)
	}
	if capTokens < comfortable {
		capTokens = f.cap(smallest)
	}
	out, cut := f.build(req, capTokens)
	done.Cut = cut
	done.Dropped = len(f.dropped())
	done.Tokens = CountRequest(out)
	if done.Tokens > room {
		return nil, done, &Error{Kind: ErrTooLong, Model: req.Model, Message: fmt.Sprintf(
			"the request needs about %d tokens and the model's window leaves %d for it: shorten the question or choose a model with a larger window", done.Tokens, room)}
	}
	return out, done, nil
}

const (
	comfortable = 400 // tokens that a message is left with before others are dropped
	smallest    = 40
	noteTokens  = 30 // for the mark that says how much was left out
	maxSummary  = 1000
)

// fitter sorts messages into units that stay or go together.
type fitter struct {
	messages []Message
	size     []int // tokens of each message
	content  []int // and of its text alone
	unit     []int // number of the unit of each message; -1 for those that stay
	gone     []bool
	lastUser int
	units    int
	room     int // for messages
	note     string
}

func newFitter(req *Request, room int) *fitter {
	f := &fitter{messages: req.Messages, lastUser: -1, room: room - perRequest - countFrame(req)}
	n := len(req.Messages)
	f.size, f.content, f.unit, f.gone = make([]int, n), make([]int, n), make([]int, n), make([]bool, n)
	for i := range req.Messages {
		f.size[i] = CountMessage(&req.Messages[i])
		f.content[i] = EstimateTokens(req.Messages[i].Content)
		if req.Messages[i].Role == RoleUser {
			f.lastUser = i
		}
	}
	for i, m := range req.Messages {
		switch {
		case m.Role == RoleSystem || i == f.lastUser:
			f.unit[i] = -1
		case m.Role == RoleTool && i > 0 && f.unit[i-1] >= 0:
			f.unit[i] = f.unit[i-1]
		default:
			f.unit[i] = f.units
			f.units++
		}
	}
	return f
}

func (f *fitter) total() int {
	n := EstimateTokens(f.note)
	for i, s := range f.size {
		if !f.gone[i] {
			n += s
		}
	}
	return n
}

// drop drops the oldest unit that begins in [from, to) and says whether there
// was one.
func (f *fitter) drop(from, to int) bool {
	for i := from; i < to; i++ {
		if f.unit[i] < 0 || f.gone[i] {
			continue
		}
		for j := i; j < len(f.unit) && f.unit[j] == f.unit[i]; j++ {
			f.gone[j] = true
		}
		return true
	}
	return false
}

// dropBefore drops turns before the last user message until what is left fits
// or nothing is left.
func (f *fitter) dropBefore() {
	allowance := f.room - noteTokens
	for f.total() > allowance && f.drop(0, max(f.lastUser, 0)) {
	}
}

// dropAfter drops one exchange after the last user message, but not the last.
func (f *fitter) dropAfter() bool {
	last := -1
	for i := range f.unit {
		if f.unit[i] == f.units-1 && f.unit[i] >= 0 {
			last = i
			break
		}
	}
	if last <= f.lastUser {
		return false
	}
	if !f.drop(f.lastUser+1, last) {
		return false
	}
	f.setNote()
	return true
}

func (f *fitter) dropped() (out []Message) {
	for i, m := range f.messages {
		if f.gone[i] {
			out = append(out, m)
		}
	}
	return out
}

func (f *fitter) setNote() {
	f.note = fmt.Sprintf("[%d earlier messages were left out]", len(f.dropped()))
}

func (f *fitter) summarize(ctx context.Context, dropped []Message, with func(context.Context, []Message) (string, error)) bool {
	f.setNote()
	if with == nil {
		return false
	}
	text, err := with(ctx, slices.Clone(dropped))
	if err != nil || text == "" {
		return false
	}
	f.note = "Summary of the earlier conversation:\n" + CutMiddle(text, min(maxSummary, max(smallest, f.room/4)))
	return true
}

// cap finds the largest number of tokens per message with which everything
// fits, not below least.
func (f *fitter) cap(least int) int {
	fits := func(limit int) bool {
		n := EstimateTokens(f.note) + noteTokens
		for i := range f.size {
			if !f.gone[i] {
				n += f.capped(i, limit)
			}
		}
		return n <= f.room
	}
	low, high := least-1, least
	for _, n := range f.content {
		high = max(high, n+1)
	}
	for high-low > 1 {
		if mid := (low + high) / 2; fits(mid) {
			low = mid
		} else {
			high = mid
		}
	}
	return low
}

// capped is the size of message i when its text is cut to limit tokens. Names
// and arguments can't be cut.
func (f *fitter) capped(i, limit int) int {
	return f.size[i] - f.content[i] + min(f.content[i], limit)
}

func (f *fitter) build(req *Request, limit int) (*Request, int) {
	out := *req
	out.Messages = make([]Message, 0, len(req.Messages)+1)
	cut := 0
	for i, m := range req.Messages {
		if f.gone[i] {
			continue
		}
		if text := CutMiddle(m.Content, max(limit, smallest)); text != m.Content {
			m.Content = text
			cut++
		}
		out.Messages = append(out.Messages, m)
	}
	if f.note != "" {
		if len(out.Messages) > 0 && out.Messages[0].Role == RoleSystem {
			out.Messages[0].Content += "\n\n" + f.note
		} else {
			out.Messages = slices.Insert(out.Messages, 0, Message{Role: RoleSystem, Content: f.note})
		}
	}
	return &out, cut
}
