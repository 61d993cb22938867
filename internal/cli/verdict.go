package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"dossier/event"
	"dossier/lang"
	"dossier/mode"
	"dossier/report"
	"dossier/run"
	"dossier/tool"
)

// course is what of a run's events decides how a command ends, in their order
// and without those that a resumption has made void.
type course []event.Event

func (c *course) see(ev event.Event) {
	switch d := ev.Data.(type) {
	case event.RunReopened:
		*c = slices.DeleteFunc(*c, func(was event.Event) bool {
			hit, isHit := was.Data.(event.BudgetWarning)
			return isHit && slices.Contains(d.Raised, hit.What) || slices.ContainsFunc(d.Void, func(gone [2]int64) bool {
				return gone[0] <= was.Seq && was.Seq <= gone[1]
			})
		})
	case event.BudgetWarning, event.Message, event.RunError, event.AgentFinished:
		*c = append(*c, ev)
	}
}

// last returns the last event of a type that is as wanted, or nothing.
func last[T event.Data](c course, wanted func(T) bool) (out T, found bool) {
	for _, ev := range slices.Backward(c) {
		if d, ok := ev.Data.(T); ok && wanted(d) {
			return d, true
		}
	}
	return out, false
}

func anyOf[T any](T) bool { return true }

// answer is what the run said at last.
func (c course) answer() event.Message {
	m, _ := last(c, func(m event.Message) bool { return m.Role == "assistant" })
	return m
}

// verdict is how a command ends whose run is over: its exit code, and what there
// is to say beside what the run has told.
type verdict struct {
	code       int
	note, hint string
}

// judge decides how a command ends whose run is over. It looks at what is
// recorded alone, so that the command which started the run ends as the one that
// took it up again, whatever happened between. The report is nil where there is
// none.
func judge(rec run.Record, c course, r *report.Report) verdict {
	switch rec.Status {
	case run.Cancelled:
		return verdict{code: exitCancelled}
	case run.Failed:
		if rec.Failure == nil {
			return verdict{code: exitFailure}
		}
		return verdict{code: cmp.Or(exitCodes[rec.Failure.Code], exitFailure)}
	}
	if _, spent := last(c, func(b event.BudgetWarning) bool { return b.Hit }); spent {
		return verdict{code: exitBudget}
	}
	if end, ok := last(c, anyOf[event.AgentFinished]); ok && !searches(rec.Mode) && end.Outcome != string(tool.Completed) {
		// The agent that was last at work found no answer; perhaps it is known why.
		// Of a team's researchers it is the report that counts.
		trouble, _ := last(c, anyOf[event.RunError])
		if code, ok := exitCodes[trouble.Code]; ok {
			return verdict{code: code, hint: trouble.Hint}
		}
		return verdict{code: exitNotEnough}
	}
	if r == nil || !searches(rec.Mode) {
		return verdict{}
	}
	var asked mode.Request
	_ = json.Unmarshal(rec.Request, &asked) // a run that is over had a request that could be read
	switch cover := r.Coverage.Claims.Of(); {
	case r.Outcome == report.Nothing:
		return verdict{code: exitNotEnough}
	case cover < asked.MinCoverage:
		percent := func(share float64) string { return fmt.Sprintf("%.0f%%", 100*share) }
		return verdict{code: exitNotEnough, note: lang.Text(r.Lang, "research.below", "share", percent(cover), "wanted", percent(asked.MinCoverage))}
	}
	return verdict{}
}
