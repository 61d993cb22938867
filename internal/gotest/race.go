package main

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strings"
)

// raced are the packages where goroutines meet. Their tests run a second time
// under the race detector; a name with a slash at its end stands for all below.
var raced = []string{
	"dossier", "dossier/agent", "dossier/internal/dispatch", "dossier/internal/fleet", "dossier/internal/schedule", "dossier/internal/webhook", "dossier/internal/server", "dossier/internal/server/socketio", "dossier/internal/store/", "dossier/llm/", "dossier/run",
}

// repeating are tests of the root that do the same work for every question of
// an invented web, for every commit of a run, at many calls of its model or under
// every configuration: a
// race in it shows in the other tests too, and these would take longer than all
// the rest together.
var repeating = []string{
	"TestWebCitesOnlyWhatWasRead", "TestWebWithoutAModel", "TestWebDoesWhatTheSeedSays", "TestWebAfterALongConversation",
	"TestRunsGoOnWithWhatThereIs", "TestReplayNeedsNoConfiguration", "TestDeepResearchWhoseModelGoes", "TestDeepResearchWithinABudget",
	"TestWebSurvivesAPowerCut", "TestAgentsSurviveAPowerCut", "TestResearchSurvivesAPowerCut",
	"TestTeamSurvivesAPowerCut", "TestLoopSurvivesAPowerCut", "TestKnowledgeBaseAgentSurvivesAPowerCut",
}

// racing is what go test is told beside the packages. SQLite is C that was
// translated to Go: with the detector in it the tests of its store take three
// times as long, and it is not ours to find races in.
func racing() []string {
	return []string{"-race", "-vet=off", "-timeout=20m", "-gcflags=modernc.org/...=-race=false", "-skip=^(" + strings.Join(repeating, "|") + ")$"}
}

// toRace picks those of the packages that are raced.
func toRace(pkgs []string) []string {
	return slices.DeleteFunc(slices.Clone(pkgs), func(pkg string) bool {
		return !slices.ContainsFunc(raced, func(name string) bool {
			return pkg == strings.TrimSuffix(name, "/") || strings.HasSuffix(name, "/") && strings.HasPrefix(pkg, name)
		})
	})
}

// race tests what of the report's packages is raced. Where the detector can't
// be had the report says so, and that is all.
func race(ctx context.Context, rep *report) error {
	pkgs := toRace(rep.tested)
	if len(pkgs) == 0 {
		return nil
	}
	if why := noRace(ctx); why != "" {
		fmt.Fprintf(rep.out, "--   race detector: not run, %s\n", why)
		return nil
	}
	rep.mark = " (race)"
	cmd := goCommand(ctx, slices.Concat([]string{"test", "-json"}, racing(), pkgs)...)
	cmd.Env = append(cmd.Environ(), "CGO_ENABLED=1")
	return feed(cmd, rep)
}

// noRace says why the race detector can't be had here; "" if it can.
func noRace(ctx context.Context) string {
	// Platforms without it are refused before anything is looked at.
	cmd := goCommand(ctx, "list", "-race", "-f", " ", "runtime")
	cmd.Env = append(cmd.Environ(), "CGO_ENABLED=1")
	var said bytes.Buffer
	cmd.Stderr = &said
	if err := cmd.Run(); err != nil {
		return "the go tool says: " + strings.TrimSpace(said.String())
	}
	cc, err := goOutput(ctx, "env", "CC")
	if err != nil {
		return err.Error()
	}
	name, _, _ := strings.Cut(strings.TrimSpace(string(cc)), " ")
	if _, err := exec.LookPath(name); err != nil {
		return fmt.Sprintf("it needs a C compiler and there is no %s", name)
	}
	return ""
}
