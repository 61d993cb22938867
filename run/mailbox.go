package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Mailbox carries values between the branches of a run. It is durable and
// ordered: the order in which the receiver saw the messages is recorded, so a
// resumed run sees the same order.
type Mailbox[T any] struct {
	scope    *Scope
	path     string
	receives int
}

// NewMailbox returns the mailbox name of a scope, whose goroutine receives
// from it.
func NewMailbox[T any](s *Scope, name string) *Mailbox[T] {
	key, err := s.reserve(name)
	if err != nil {
		s.exec.fail(err)
	}
	s.exec.openBox(key)
	return &Mailbox[T]{scope: s, path: key}
}

// Send puts v into the mailbox, from the scope of the sender. It does not wait
// for the receiver. A resumed run does not send twice.
func (m *Mailbox[T]) Send(from *Scope, v T) error {
	if from.sends == nil {
		from.sends = make(map[string]int)
	}
	from.sends[m.path]++
	key := from.path + ">" + m.path + "#" + strconv.Itoa(from.sends[m.path])
	raw, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("mailbox %s: %w", m.path, err)
	}
	return m.scope.exec.send(from, m.path, Entry{Kind: EntrySend, Key: key, Value: raw})
}

// Receive takes the next message out, waiting for one. When nothing in the run
// is left that could send, it returns ErrNoSender.
func (m *Mailbox[T]) Receive(ctx context.Context) (T, error) {
	var v T
	m.receives++
	raw, err := m.scope.exec.receive(ctx, m.scope, m.path, m.path+"<#"+strconv.Itoa(m.receives))
	if err != nil {
		return v, err
	}
	if err := json.Unmarshal(raw, &v); err != nil {
		return v, fmt.Errorf("mailbox %s: %w", m.path, err)
	}
	return v, nil
}

// box is a mailbox while the run is executed.
type box struct {
	queue    []message
	receiver *waiter
}

type message struct {
	key string
	raw json.RawMessage
}

// openBox fills a mailbox with what was sent and not received before.
func (e *execution) openBox(path string) {
	var sent []*Entry
	received := make(map[string]bool)
	for at, entry := range e.history {
		switch {
		case at.kind == EntrySend && mailboxOf(at.key) == path:
			sent = append(sent, entry)
		case at.kind == EntryReceive && strings.HasPrefix(at.key, path+"<#"):
			var key string
			if json.Unmarshal(entry.Value, &key) == nil {
				received[key] = true
			}
		}
	}
	slices.SortFunc(sent, func(a, b *Entry) int { return int(a.Ord - b.Ord) })
	b := new(box)
	for _, entry := range sent {
		if !received[entry.Key] {
			b.queue = append(b.queue, message{entry.Key, entry.Value})
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.boxes == nil {
		e.boxes = make(map[string]*box)
	}
	e.boxes[path] = b
}

// mailboxOf returns the path of the mailbox that a send's key goes to.
func mailboxOf(key string) string {
	_, to, _ := strings.Cut(key, ">")
	to, _, _ = strings.Cut(to, "#")
	return to
}

func (e *execution) send(from *Scope, path string, m Entry) error {
	if _, sent := from.recall(EntrySend, m.Key); sent {
		return nil
	}
	if e.replay != nil {
		return e.live("message "+m.Key, from.branch)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.refuseLocked(); err != nil {
		return err
	}
	e.append(from.branch, m)
	e.flagLocked()
	b := e.boxes[path]
	b.queue = append(b.queue, message{m.Key, m.Value})
	if b.receiver != nil {
		e.wake(b.receiver)
		b.receiver = nil
	}
	return nil
}

// unreceived records that a receive brought nothing, because nobody was left
// who could have sent (then its value is an empty key) or because the context
// of the receiver had ended (then it is a Fault): the code goes another way
// from there, and has to when it runs again. e.mu is held.
func (e *execution) unreceived(s *Scope, key string, why error) error {
	if e.replay != nil || Stopped(why) {
		return why
	}
	if err := e.refuseLocked(); err != nil {
		return err
	}
	entry := Entry{Kind: EntryReceive, Key: key, Value: json.RawMessage(`""`)}
	if !errors.Is(why, ErrNoSender) {
		f := faultFrom(&interruptedError{why})
		raw, err := json.Marshal(f)
		if err != nil {
			return err
		}
		entry.Value, entry.Short = raw, shortfall(why)
		why = &StepError{Key: entry.Key, Fault: f, Err: why}
	}
	e.append(s.branch, entry)
	e.flagLocked()
	return why
}

func (e *execution) receive(ctx context.Context, s *Scope, path, key string) (json.RawMessage, error) {
	if entry, ok := s.recall(EntryReceive, key); ok {
		var from string
		var broken Fault
		if json.Unmarshal(entry.Value, &broken) == nil {
			return nil, &StepError{Key: key, Fault: broken}
		}
		if err := json.Unmarshal(entry.Value, &from); err != nil {
			return nil, fmt.Errorf("mailbox %s: %w", path, err)
		}
		if from == "" {
			return nil, ErrNoSender
		}
		sent, ok := e.lookup(EntrySend, from)
		if !ok {
			return nil, fmt.Errorf("mailbox %s: the journal lacks the message %s", path, from)
		}
		return sent.Value, nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	b := e.boxes[path]
	for {
		if err := e.refuseLocked(); err != nil {
			return nil, err
		}
		if len(b.queue) > 0 && e.replay != nil {
			return nil, e.live("receive "+key, s.branch)
		}
		if len(b.queue) > 0 {
			m := b.queue[0]
			b.queue = b.queue[1:]
			raw, err := json.Marshal(m.key)
			if err != nil {
				return nil, err
			}
			e.append(s.branch, Entry{Kind: EntryReceive, Key: key, Value: raw})
			e.flagLocked()
			return m.raw, nil
		}
		w := &waiter{kind: waitReceive, key: path}
		b.receiver = w
		if err := e.block(ctx, w); err != nil {
			b.receiver = nil
			return nil, e.unreceived(s, key, err)
		}
	}
}
