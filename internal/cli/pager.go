package cli

import (
	"cmp"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// page shows lines in the user's pager: DOSSIER_PAGER, PAGER or less. It reports
// whether it did; there may be no pager, or none wanted.
func (a *app) page(lines []string) bool {
	out, ok := a.stream(a.proc.Stdout).(*os.File)
	if !ok || !a.interactive() {
		return false
	}
	env := a.proc.Env
	words := strings.Fields(cmp.Or(getenv(env, "DOSSIER_PAGER"), getenv(env, "PAGER"), "less"))
	if len(words) == 0 || words[0] == "cat" {
		return false
	}
	if getenv(env, "LESS") == "" {
		env = append(slices.Clip(env), "LESS=FRX") // one screen needs no pager, colours are kept, the text stays
	}
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = env, a.proc.Dir, out, os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return false
	}
	if err := cmd.Start(); err != nil {
		a.log.Warn("the pager did not start", "pager", words[0], "error", err)
		return false
	}
	defer a.onInterrupt(func() {})() // it is the pager's
	_, _ = io.WriteString(in, strings.Join(lines, "\n")+"\n")
	_ = in.Close()
	_ = cmd.Wait() // one that was left early is no failure
	return true
}
