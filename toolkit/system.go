package toolkit

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"dossier/agent"
	"dossier/event"
	"dossier/run"
	"dossier/tool"
)

// The names of the tools that clients know.
const (
	Reasoning     = "reasoningtool"
	FinalAnswer   = "finalanswertool"
	CreateReport  = "createreporttool"
	Clarification = "clarificationtool"
	GeneratePlan  = "generateplantool"
	AdaptPlan     = "adaptplantool"
	AnswerUser    = "answertool"
	WebSearch     = "websearchtool"
	ExtractPages  = "extractpagecontenttool"
	RunCommand    = "runcommandtool"
)

func systemMakers() []maker {
	return []maker{
		plain(Reasoning, func(Settings) tool.Tool { return reasoning() }),
		plain(Clarification, func(Settings) tool.Tool { return clarification() }),
		plain(GeneratePlan, func(Settings) tool.Tool { return generatePlan() }),
		plain(AdaptPlan, func(Settings) tool.Tool { return adaptPlan() }),
		plain(CreateReport, func(s Settings) tool.Tool { return createReport(s.ReportsDir) }),
		plain(FinalAnswer, func(Settings) tool.Tool { return finalAnswer() }),
		plain(AnswerUser, func(Settings) tool.Tool { return answerUser() }),
	}
}

func reasoning() tool.Tool {
	return tool.New(tool.Spec{
		Name: Reasoning, Kind: tool.Reasoning, System: true, Effect: run.Pure, Tags: []string{"system", "thinking"},
		Description: "Think before the next action: what is known, where the plan stands, what is left. Call it before every other tool.",
		Examples:    []string{"think about what to do next"},
	}, func(context.Context, *tool.Call, agent.Reasoning) (tool.Result, error) { return tool.Result{}, nil })
}

type clarificationArgs struct {
	Reasoning    string   `json:"reasoning" max:"200" jsonschema:"why the task can't be done without asking"`
	UnclearTerms []string `json:"unclear_terms" min:"1" max:"3" jsonschema:"words of the task that may mean several things"`
	Assumptions  []string `json:"assumptions" min:"2" max:"3" jsonschema:"what they may mean"`
	Questions    []string `json:"questions" min:"1" max:"3" jsonschema:"questions to the user, in the user's language"`
}

// Validate refuses questions that ask nothing.
func (a *clarificationArgs) Validate() error {
	for _, q := range a.Questions {
		if strings.TrimSpace(q) == "" {
			return errors.New("questions has an empty one: write each question out")
		}
	}
	return nil
}

func clarification() tool.Tool {
	return tool.New(tool.Spec{
		Name: Clarification, Kind: tool.Clarify, System: true, Effect: run.Pure, Tags: []string{"system", "user"},
		Description: "Ask the user when the task is unclear and the answer would change what is done. The work waits for the answer.",
		Examples:    []string{"ask the user what is meant"},
	}, func(_ context.Context, _ *tool.Call, in clarificationArgs) (tool.Result, error) {
		return tool.Result{
			Text:   strings.Join(in.Questions, "\n"),
			Change: tool.Change{Ask: &run.Question{Questions: in.Questions, Reason: in.Reasoning}},
		}, nil
	})
}

type generatePlanArgs struct {
	Reasoning        string   `json:"reasoning" jsonschema:"why the task is gone about in this way"`
	ResearchGoal     string   `json:"research_goal" jsonschema:"what is to be found out"`
	PlannedSteps     []string `json:"planned_steps" min:"3" max:"4" jsonschema:"steps in their order"`
	SearchStrategies []string `json:"search_strategies" min:"2" max:"3" jsonschema:"where and how to look"`
}

func generatePlan() tool.Tool {
	return tool.New(tool.Spec{
		Name: GeneratePlan, Kind: tool.Planning, System: true, Effect: run.Pure, Tags: []string{"system", "plan"},
		Description: "Make a plan for a task that takes several steps: its goal, the steps, and where to look.",
		Examples:    []string{"plan the research", "split the task into steps"},
	}, func(_ context.Context, c *tool.Call, in generatePlanArgs) (tool.Result, error) {
		return planned(c, &tool.Plan{Goal: in.ResearchGoal, Steps: in.PlannedSteps, Strategies: in.SearchStrategies}, struct {
			Goal       string   `json:"research_goal"`
			Steps      []string `json:"planned_steps"`
			Strategies []string `json:"search_strategies"`
		}{in.ResearchGoal, in.PlannedSteps, in.SearchStrategies})
	})
}

type adaptPlanArgs struct {
	Reasoning    string   `json:"reasoning" jsonschema:"what was found that changes the plan"`
	OriginalGoal string   `json:"original_goal" jsonschema:"the goal so far"`
	NewGoal      string   `json:"new_goal" jsonschema:"the goal from now on"`
	PlanChanges  []string `json:"plan_changes" min:"1" max:"3" jsonschema:"what is different now"`
	NextSteps    []string `json:"next_steps" min:"2" max:"4" jsonschema:"steps that are left, in their order"`
}

func adaptPlan() tool.Tool {
	return tool.New(tool.Spec{
		Name: AdaptPlan, Kind: tool.Planning, System: true, Effect: run.Pure, Tags: []string{"system", "plan"},
		Description: "Change the plan when what was found contradicts it or opens a better way.",
		Examples:    []string{"change the plan", "the findings don't fit the plan"},
	}, func(_ context.Context, c *tool.Call, in adaptPlanArgs) (tool.Result, error) {
		plan := &tool.Plan{Goal: in.NewGoal, Steps: in.NextSteps, Changes: in.PlanChanges}
		if c.State.Plan != nil {
			plan.Strategies = c.State.Plan.Strategies
		}
		return planned(c, plan, struct {
			Original string   `json:"original_goal"`
			Goal     string   `json:"new_goal"`
			Changes  []string `json:"plan_changes"`
			Steps    []string `json:"next_steps"`
		}{in.OriginalGoal, in.NewGoal, in.PlanChanges, in.NextSteps})
	})
}

// planned tells of a plan and returns what the model said of it.
func planned(c *tool.Call, plan *tool.Plan, said any) (tool.Result, error) {
	told := event.PlanUpdated{Title: plan.Goal}
	for _, step := range plan.Steps {
		told.Steps = append(told.Steps, event.PlanStep{Title: step, State: "pending"})
	}
	if err := c.Scope.Emit(told); err != nil {
		return tool.Result{}, err
	}
	return asJSON(said, tool.Change{Plan: plan})
}

type finalAnswerArgs struct {
	Reasoning      string   `json:"reasoning" jsonschema:"why the task is done, or why it can't be"`
	CompletedSteps []string `json:"completed_steps" min:"1" max:"5" jsonschema:"what was done"`
	Answer         string   `json:"answer" jsonschema:"the whole answer to the user, in the user's language; cite sources by number as in [1]"`
	Status         string   `json:"status" enum:"completed,failed" jsonschema:"whether the task was done"`
}

// Validate refuses an end without an answer.
func (a *finalAnswerArgs) Validate() error {
	if strings.TrimSpace(a.Answer) == "" {
		return errors.New("answer is empty: write the answer there, or say why there is none")
	}
	return nil
}

func finalAnswer() tool.Tool {
	return tool.New(tool.Spec{
		Name: FinalAnswer, Kind: tool.Final, System: true, Effect: run.Pure, Tags: []string{"system", "answer"},
		Description: "End the task with the answer to the user. Call it once, when the task is done or can't be done.",
		Examples:    []string{"give the final answer", "finish the task"},
	}, func(_ context.Context, c *tool.Call, in finalAnswerArgs) (tool.Result, error) {
		in.Answer = deliverable(in.Answer, c.State)
		return asJSON(in, tool.Change{Answer: &tool.Answer{Text: in.Answer, Status: tool.Status(in.Status), Steps: in.CompletedSteps}})
	})
}

type answerArgs struct {
	Reasoning          string `json:"reasoning" max:"200" jsonschema:"why the user should hear this now"`
	IntermediateResult string `json:"intermediate_result" min:"10" max:"2000" jsonschema:"what to tell the user, in the user's language"`
	ContinueResearch   bool   `json:"continue_research" default:"true" jsonschema:"whether the work goes on afterwards"`
}

func answerUser() tool.Tool {
	return tool.New(tool.Spec{
		Name: AnswerUser, Kind: tool.Answering, Effect: run.Pure, Tags: []string{"answer", "user", "dialog"},
		Description: "Tell the user a result: an intermediate one, after which the work goes on, or with continue_research false the one that ends it.",
		Examples:    []string{"tell the user what was found so far"},
	}, func(_ context.Context, c *tool.Call, in answerArgs) (tool.Result, error) {
		text := deliverable(in.IntermediateResult, c.State)
		if in.ContinueResearch {
			return tool.Result{Text: text}, nil
		}
		return tool.Result{Text: text, Change: tool.Change{Answer: &tool.Answer{Text: text, Status: tool.Completed}}}, nil
	})
}

// asJSON is a result whose text is v as people read it.
func asJSON(v any, change tool.Change) (tool.Result, error) {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		return tool.Result{}, err
	}
	text := strings.TrimSuffix(b.String(), "\n")
	return tool.Result{Text: text, Data: json.RawMessage(text), Change: change}, nil
}
