package cli

import (
	"encoding/json"
	"testing"

	"dossier/event"
	"dossier/mode"
	"dossier/report"
	"dossier/run"
)

func TestJudge(t *testing.T) {
	done := func(mode string) run.Record { return run.Record{Mode: mode, Status: run.Done} }
	failed := func(code string) run.Record {
		return run.Record{Mode: "chat", Status: run.Failed, Failure: &run.Failure{Code: code}}
	}
	asked, err := json.Marshal(mode.Request{Question: "q", MinCoverage: 0.8})
	if err != nil {
		t.Fatal(err)
	}
	wants := done("web_search")
	wants.Request = asked
	covers := func(covered, claims int) *report.Report {
		r := &report.Report{Outcome: report.Answered}
		r.Coverage.Claims = report.Share{Covered: covered, Total: claims}
		return r
	}
	nothing := &report.Report{Outcome: report.Nothing}
	hit := event.BudgetWarning{What: "tokens", Limit: 1, Spent: 2, Hit: true}
	near := event.BudgetWarning{What: "tokens", Limit: 10, Spent: 8}
	gaveUp := event.AgentFinished{Name: "a", Outcome: "failed"}
	completed := event.AgentFinished{Name: "a", Outcome: "completed"}
	noKey := event.RunError{Code: "auth", Hint: "get a key"}
	for name, c := range map[string]struct {
		rec    run.Record
		events []event.Data
		report *report.Report
		want   int
	}{
		"answered":                      {rec: done("chat"), want: exitOK},
		"cancelled":                     {rec: run.Record{Status: run.Cancelled}, events: []event.Data{hit}, want: exitCancelled},
		"failed":                        {rec: failed("panic"), want: exitFailure},
		"failed for no reason":          {rec: run.Record{Status: run.Failed}, want: exitFailure},
		"failed for a provider":         {rec: failed("rate_limited"), want: exitProvider},
		"failed for a budget":           {rec: failed("budget"), want: exitBudget},
		"near a limit":                  {rec: done("chat"), events: []event.Data{near}, want: exitOK},
		"at a limit":                    {rec: done("chat"), events: []event.Data{near, hit}, want: exitBudget},
		"at a limit, with nothing":      {rec: done("web_search"), events: []event.Data{hit}, report: nothing, want: exitBudget},
		"a limit that was raised":       {rec: done("chat"), events: []event.Data{hit, event.RunReopened{Raised: []string{"tokens"}}}, want: exitOK},
		"another limit was raised":      {rec: done("chat"), events: []event.Data{hit, event.RunReopened{Raised: []string{"cost"}}}, want: exitBudget},
		"what is void":                  {rec: done("chat"), events: []event.Data{hit, gaveUp, event.RunReopened{Void: [][2]int64{{1, 2}}}}, want: exitOK},
		"what is not void":              {rec: done("chat"), events: []event.Data{hit, gaveUp, event.RunReopened{Void: [][2]int64{{2, 2}}}}, want: exitBudget},
		"the agent gave up":             {rec: done("agents"), events: []event.Data{gaveUp}, want: exitNotEnough},
		"the agent gave up for a key":   {rec: done("agents"), events: []event.Data{noKey, gaveUp}, want: exitProvider},
		"trouble that was got over":     {rec: done("agents"), events: []event.Data{noKey, completed}, want: exitOK},
		"an agent that another called":  {rec: done("agents"), events: []event.Data{gaveUp, completed}, want: exitOK},
		"an agent's report of nothing":  {rec: done("agents"), events: []event.Data{completed}, report: nothing, want: exitOK},
		"nothing found":                 {rec: done("deep_search"), report: nothing, want: exitNotEnough},
		"a researcher found nothing":    {rec: done("deep_research"), events: []event.Data{completed, gaveUp}, report: covers(3, 5), want: exitOK},
		"parts have no answer":          {rec: done("deep_research"), events: []event.Data{gaveUp}, report: &report.Report{Outcome: report.Partial}, want: exitOK},
		"no researcher found anything":  {rec: done("deep_research"), events: []event.Data{noKey, gaveUp}, report: nothing, want: exitNotEnough},
		"no report":                     {rec: wants, want: exitOK},
		"as much as wanted":             {rec: wants, report: covers(4, 5), want: exitOK},
		"less than wanted":              {rec: wants, report: covers(3, 5), want: exitNotEnough},
		"little, where none was wanted": {rec: done("web_search"), report: covers(1, 5), want: exitOK},
	} {
		var seen course
		for i, d := range c.events {
			seen.see(event.Event{Seq: int64(i + 1), Data: d})
		}
		got := judge(c.rec, seen, c.report)
		if got.code != c.want {
			t.Errorf("%s: exit code %d, want %d", name, got.code, c.want)
		}
		if name == "less than wanted" && got.note == "" || name == "the agent gave up for a key" && got.hint == "" {
			t.Errorf("%s: nothing is said: %+v", name, got)
		}
	}
}
