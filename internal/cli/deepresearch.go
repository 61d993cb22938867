package cli

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"dossier"
	"dossier/internal/base/term"
	"dossier/lang"
	"dossier/mode"
	"dossier/report"
	"dossier/run"
)

// deepResearchMode is the mode that writes whole reports.
const deepResearchMode = "deep_research"

// deepFlags are those of deep research.
type deepFlags struct {
	DeepResearch  bool   `help:"Write a thorough report, as --mode deep_research; -q QUESTION is the question here."`
	Engine        string `placeholder:"NAME" enum:",loop,supervisor" default:"" help:"Who works on a deep research: supervisor (a team) or loop (rounds until the evidence is enough)."`
	MaxIterations *int   `placeholder:"N" help:"Most rounds of the engine loop, from 1 to 10."`
	Plan          string `placeholder:"HOW" enum:",auto,show,edit" default:"" help:"Show the plan of a deep research before anything is spent on it (show), and let it be changed (edit)."`
	Provider      string `short:"p" placeholder:"NAME" help:"Provider of the models, as models.default.provider."`
}

// set makes settings of the flags, which come before those of the environment.
func (f *deepFlags) set(a *app, c *researchCmd) error {
	if f.DeepResearch {
		c.Mode = deepResearchMode
	}
	f.DeepResearch = c.Mode == deepResearchMode
	given := map[string]string{"deep_research.engine": f.Engine, "deep_research.plan": f.Plan}
	if f.MaxIterations != nil {
		given["deep_research.max_iterations"] = fmt.Sprint(*f.MaxIterations)
	}
	maps.DeleteFunc(given, func(_, v string) bool { return v == "" })
	if names := slices.Sorted(maps.Keys(given)); len(names) > 0 && !f.DeepResearch {
		flag := "--" + strings.ReplaceAll(strings.TrimPrefix(names[0], "deep_research."), "_", "-")
		return &failure{code: exitUsage, message: flag + " is about deep research", hint: "add --deep-research, or leave it out"}
	}
	if f.Provider != "" {
		given["models.default.provider"] = f.Provider
	}
	if len(given) == 0 {
		return nil
	}
	set := maps.Clone(a.Set)
	if set == nil {
		set = make(map[string]string)
	}
	maps.Copy(set, given)
	a.Set = set
	return nil
}

// goOn has a question that follows a deep research, and names nothing to ask, ask
// what that asked.
func (f *deepFlags) goOn(a *app, l *link, req *dossier.Request, code lang.Code) error {
	if in := req.In; !f.DeepResearch || req.Session == "" || len(in.Paths) > 0 || in.Collection != "" || in.Web != nil || strings.TrimSpace(req.Context) != "" {
		return nil
	}
	list, err := l.List(a.ctx, dossier.Filter{Session: req.Session, Status: run.Done})
	if err != nil {
		return err
	}
	i := slices.IndexFunc(list, func(r run.Record) bool { return r.Mode == deepResearchMode })
	if i < 0 {
		return nil
	}
	before, err := l.Get(a.ctx, list[i].ID)
	if err != nil {
		return err
	}
	var asked mode.Request
	if err := json.Unmarshal(before.Request, &asked); err != nil {
		return fmt.Errorf("the request of run %s: %w", before.ID, err)
	}
	asked.In.Base, req.In = req.In.Base, asked.In
	places := documentsOf(asked.In)
	if asked.In.Web != nil {
		places = append(places, lang.Text(code, "chat.web"))
	}
	if len(places) > 0 {
		a.notef("%s", lang.Text(code, "place.before", "places", term.Line(strings.Join(places, ", "))))
	}
	return nil
}

// tellNext says what may be asked next, where the report is not shown.
func (a *app) tellNext(r *report.Report) {
	if len(r.FollowUps) == 0 {
		return
	}
	a.notef("%s", lang.Text(r.Lang, "next.ask", "command", `dossier research --deep-research --continue "…"`))
	for _, q := range r.FollowUps {
		a.notef("- %s", term.Line(q))
	}
}

// questionFlag takes -q for the question of a deep research where a value follows
// it; otherwise it is --quiet, as everywhere.
func questionFlag(args []string) []string {
	if !slices.Contains(args, "research") || !slices.Contains(args, "--deep-research") {
		return args
	}
	for i, arg := range args {
		if arg == "--" {
			break
		}
		if arg == "-q" && i+1 < len(args) && (args[i+1] == "-" || !strings.HasPrefix(args[i+1], "-")) {
			return slices.Delete(slices.Clone(args), i, i+1)
		}
	}
	return args
}

// askQuestion asks for the question.
func (a *app) askQuestion() (string, error) {
	return a.prompt(a.ctx, run.Question{Questions: []string{lang.Text(a.locale(), "question.ask")}})
}
