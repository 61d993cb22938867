package run

import (
	"context"
	"encoding/json"
	"strconv"

	"dossier/event"
)

// Question is what a run asks its user.
type Question struct {
	Questions []string `json:"questions"`
	Options   []string `json:"options,omitempty"`
	Reason    string   `json:"reason,omitempty"`
}

// Answer is what the user said. Skipped says that the user was asked in vain:
// the run was told to finish.
type Answer struct {
	Text    string `json:"text"`
	Skipped bool   `json:"skipped,omitempty"`
}

// Ask puts a question to the user and returns the answer. The question is
// durable. While other branches of the run are at work Ask waits for them and
// for the answer; when nothing else is left to do the run is parked: every
// kernel call returns ErrParked, the code unwinds, and nothing stays in
// memory. The answer, whenever and wherever it comes, resumes the run.
func (s *Scope) Ask(ctx context.Context, q Question) (Answer, error) {
	s.asks++
	key := s.path + "?" + strconv.Itoa(s.asks)
	e := s.exec
	if entry, ok := e.lookup(EntryAnswer, key); ok {
		var a Answer
		err := json.Unmarshal(entry.Value, &a)
		if err == nil {
			// The places count as emitted again, for a replay.
			err = s.replayAsk(key, q, a)
		}
		return a, err
	}
	if e.replay != nil {
		return Answer{}, e.live("question " + key)
	}
	if _, asked := e.lookup(EntryAsk, key); !asked {
		raw, err := json.Marshal(q)
		if err != nil {
			return Answer{}, err
		}
		if err := e.recordWith(s.asked(key, q), Entry{Key: key, Kind: EntryAsk, Value: raw}); err != nil {
			return Answer{}, err
		}
	}
	a, err := e.awaitAnswer(ctx, key)
	if err != nil {
		return Answer{}, err
	}
	raw, err := json.Marshal(a)
	if err != nil {
		return Answer{}, err
	}
	return a, e.recordWith(s.answered(key, a), Entry{Key: key, Kind: EntryAnswer, Value: raw})
}

// emission is an event with its place, before it is in the log.
type emission struct {
	place, agent string
	data         event.Data
}

func (s *Scope) asked(key string, q Question) emission {
	return emission{key + "#asked", s.agent, event.ClarifyAsked{ID: key, Questions: q.Questions, Options: q.Options, Reason: q.Reason}}
}

func (s *Scope) answered(key string, a Answer) emission {
	return emission{key + "#answered", s.agent, event.ClarifyAnswered{ID: key, Answer: a.Text, Skipped: a.Skipped}}
}

func (s *Scope) replayAsk(key string, q Question, a Answer) error {
	if s.exec.replay == nil {
		return nil
	}
	for _, ev := range []emission{s.asked(key, q), s.answered(key, a)} {
		if err := s.exec.replay.emitted(ev.place, ev.agent, ev.data); err != nil {
			return err
		}
	}
	return nil
}

// awaitAnswer blocks until the question has an answer or the run stops.
func (e *execution) awaitAnswer(ctx context.Context, key string) (Answer, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for {
		if err := e.refuseLocked(); err != nil {
			return Answer{}, err
		}
		if text, ok := e.answers[key]; ok {
			return Answer{Text: text}, nil
		}
		if e.finishing {
			return Answer{Skipped: true}, nil
		}
		if err := e.block(ctx, &waiter{kind: waitAsk, key: key}); err != nil {
			return Answer{}, err
		}
	}
}
