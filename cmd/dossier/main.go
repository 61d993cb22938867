// Command dossier answers questions and keeps every run. See dossier --help.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/term"

	"dossier/internal/cli"
	"dossier/reader"
)

func main() {
	reader.WorkerMain()
	os.Exit(run())
}

func run() int {
	interrupts := make(chan os.Signal, 4)
	signal.Notify(interrupts, os.Interrupt)
	terminate, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	return cli.Main(cli.Process{
		Args: os.Args[1:], Env: os.Environ(), Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Terminal: terminal, Interrupts: interrupts, Terminate: terminate,
	})
}

// terminal says whether a stream is a terminal, and how wide.
func terminal(stream any) (int, bool) {
	f, ok := stream.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return 0, false
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil || width <= 0 {
		width = 80
	}
	return width, true
}
