package run

import (
	"context"
	"encoding/json"
	"strconv"
	"time"

	"dossier/event"
)

// Question is what a run asks its user.
type Question struct {
	Questions []string `json:"questions"`
	Options   []string `json:"options,omitempty"`
	Reason    string   `json:"reason,omitempty"`
	// Iteration is that of the agent that asks; 0 for others.
	Iteration int `json:"iteration,omitempty"`
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
	if entry, ok := s.recall(EntryAnswer, key); ok {
		var a reply
		err := json.Unmarshal(entry.Value, &a)
		if err == nil {
			// The places count as emitted again, for a replay.
			err = s.replayAsk(key, q, a.Answer)
		}
		if err == nil && a.Fault != nil {
			err = &StepError{Key: key, Fault: *a.Fault}
		}
		return a.Answer, err
	}
	if e.replay != nil {
		if e.has(EntryAsk, key) {
			if err := e.replay.emitted(s.asked(key, q)); err != nil {
				return Answer{}, err
			}
		}
		return Answer{}, e.live("question "+key, s.branch)
	}
	if _, asked := s.recall(EntryAsk, key); !asked {
		raw, err := json.Marshal(q)
		if err != nil {
			return Answer{}, err
		}
		entry := Entry{Kind: EntryAsk, Key: key, Value: raw}
		if err := e.recordWith(s.branch, []emission{s.asked(key, q)}, entry); err != nil {
			return Answer{}, err
		}
	}
	a, err := e.awaitAnswer(ctx, key)
	entry, made := Entry{Kind: EntryAnswer, Key: key}, reply{Answer: a}
	switch stop := e.stopped(); {
	case err == nil:
	case stop != nil || Stopped(err):
		return Answer{}, err
	default: // nobody waits for the answer any more
		f := faultFrom(&interruptedError{err})
		made = reply{Answer{Skipped: true}, &f}
		err = &StepError{Key: key, Fault: f, Err: err}
	}
	if made.Skipped {
		entry.Short = shortFinish
	}
	var merr error
	if entry.Value, merr = json.Marshal(made); merr != nil {
		return Answer{}, merr
	}
	if rerr := e.recordWith(s.branch, []emission{s.answered(key, made.Answer)}, entry); rerr != nil {
		return Answer{}, rerr
	}
	return made.Answer, err
}

// reply is an Answer as it is recorded: with the fault of a question whose
// context ended before there was one.
type reply struct {
	Answer
	Fault *Fault `json:"fault,omitempty"`
}

func (s *Scope) asked(key string, q Question) emission {
	return emission{key + "#asked", s.agent, event.ClarifyAsked{ID: key, Questions: q.Questions, Options: q.Options, Reason: q.Reason, Iteration: q.Iteration}, time.Now()}
}

func (s *Scope) answered(key string, a Answer) emission {
	return emission{key + "#answered", s.agent, event.ClarifyAnswered{ID: key, Answer: a.Text, Skipped: a.Skipped}, time.Now()}
}

func (s *Scope) replayAsk(key string, q Question, a Answer) error {
	if s.exec.replay == nil {
		return nil
	}
	for _, ev := range []emission{s.asked(key, q), s.answered(key, a)} {
		if err := s.exec.replay.emitted(ev); err != nil {
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
