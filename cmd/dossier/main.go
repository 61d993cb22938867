// Command dossier answers questions and keeps every run. See dossier --help.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"dossier/internal/base/headroom"
	"dossier/internal/cli"
	"dossier/reader"
)

func main() {
	reader.WorkerMain()
	headroom.Keep(headroom.Default)
	os.Exit(run())
}

func run() int {
	interrupts := make(chan os.Signal, 4)
	signal.Notify(interrupts, os.Interrupt)
	terminate, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	return cli.Main(cli.Process{
		Args: os.Args[1:], Env: os.Environ(), Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Terminal: cli.Terminal, Interrupts: interrupts, Terminate: terminate,
	})
}
