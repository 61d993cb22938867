package cli

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/alecthomas/kong"
)

// Version of the program; releases set it when they link.
var Version = ""

// version is Version, or what the build knows of itself.
func version() string {
	if Version != "" {
		return Version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "devel"
}

func versionLine() string {
	return fmt.Sprintf("dossier %s %s %s/%s", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

type versionFlag bool

// BeforeReset prints the version before the rest of the line is checked.
func (versionFlag) BeforeReset(k *kong.Kong) error {
	fmt.Fprintln(k.Stdout, versionLine())
	k.Exit(exitOK)
	return nil
}

type versionCmd struct{}

func (versionCmd) Help() string { return examples("dossier version", "dossier version --json") }

func (versionCmd) Run(a *app) error {
	if !a.JSON {
		_, err := fmt.Fprintln(a.proc.Stdout, versionLine())
		return err
	}
	return json.NewEncoder(a.proc.Stdout).Encode(map[string]string{
		"version": version(), "go": runtime.Version(), "os": runtime.GOOS, "arch": runtime.GOARCH,
	})
}
