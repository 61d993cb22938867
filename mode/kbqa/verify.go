package kbqa

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"dossier/agent"
	"dossier/cite"
	"dossier/event"
	"dossier/lang"
	"dossier/llm"
	"dossier/sources"
	"dossier/tool"
	"dossier/toolkit"
)

// noAnswer begins an answer that says there is none.
const noAnswer = "NO ANSWER"

// act carries out a call of the model. What ends the work is verified first.
func (c *course) act(ctx context.Context, w *agent.Work, in agent.Input, call llm.ToolCall, n int) (agent.Action, error) {
	if t, ok := w.Agent.Tools.Get(call.Name); ok && t.Spec().Kind == tool.Final {
		return c.final(ctx, w, in, call, n)
	}
	a, err := w.Act(ctx, in, call, n)
	if err == nil {
		c.look(a, true)
	}
	return a, err
}

// final verifies an answer. The first time that something in it does not hold the
// model is told so, and writes it once more.
func (c *course) final(ctx context.Context, w *agent.Work, in agent.Input, call llm.ToolCall, n int) (agent.Action, error) {
	var said struct {
		Answer string `json:"answer"`
	}
	if json.Unmarshal([]byte(call.Arguments), &said) != nil || strings.TrimSpace(said.Answer) == "" {
		return w.Act(ctx, in, call, n)
	}
	if c.noneIn = strings.HasPrefix(strings.TrimSpace(said.Answer), noAnswer); c.noneIn {
		c.checked = nil
		return w.Act(ctx, in, call, n)
	}
	checked, basis, err := c.verify(ctx, w, said.Answer)
	if err != nil {
		return agent.Action{}, err
	}
	if c.checked == nil || !sources.HoldsBetter(c.checked, checked) {
		c.checked, c.basis = checked, basis
	}
	failing := checked.Failing()
	if c.set.KB.Verify {
		told := event.AgentReflected{Text: lang.Text(c.language, "kbqa.verified", "verified", checked.Covered, "claims", len(checked.Claims)), Sufficient: len(failing) == 0}
		for _, f := range failing {
			told.Gaps = append(told.Gaps, f.Text)
		}
		if err := w.Scope.Emit(told); err != nil {
			return agent.Action{}, err
		}
	}
	if len(failing) == 0 || c.mended || !c.set.KB.Verify {
		return w.Act(ctx, in, call, n)
	}
	c.mended = true
	return agent.Action{Call: call, Outcome: tool.Failure(rewriteOrder(failing))}, nil
}

// rewriteOrder tells a model what in its answer does not hold.
func rewriteOrder(failing []cite.Checked) error {
	var b strings.Builder
	b.WriteString("the documents do not bear out all of the answer:")
	for _, f := range failing {
		fmt.Fprintf(&b, "\n- %s (%s)", strings.Join(strings.Fields(f.Text), " "), sources.WhyNot(f))
	}
	b.WriteString("\nWrite the FinalAnswer once more: correct or leave out these sentences, keep what holds, and cite the number of a source after every sentence.")
	return errors.New(b.String())
}

// verify checks the claims of an answer: by a search for each with the tool
// verify, and against the sources that it cites.
func (c *course) verify(ctx context.Context, w *agent.Work, answer string) (*cite.Result, *sources.Evidence, error) {
	c.checks++
	s := w.Scope.Child("verify-" + strconv.Itoa(c.checks))
	writing := sources.Writing{Language: c.language, Text: answer}
	if c.set.KB.Verify {
		writing.Models, writing.Model = c.models, c.req.Model
		const most = 20 // claims that the tool takes
		var claims []string
		for _, claim := range cite.Split(cite.Sanitize(answer)) {
			if len(claims) < most {
				claims = append(claims, claim.Text)
			}
		}
		if len(claims) > 0 {
			if err := tell(w, lang.Text(c.language, "kbqa.thought-verify")); err != nil {
				return nil, nil, err
			}
			if _, err := c.carry(ctx, w, toolkit.Verify, map[string]any{"claims": claims}); err != nil {
				return nil, nil, err
			}
		}
	}
	basis, err := c.evidence(ctx, s, w.State)
	if err != nil {
		return nil, nil, err
	}
	checked, err := basis.Check(ctx, s, writing)
	return checked, basis, err
}
