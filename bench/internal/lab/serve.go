package lab

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// Serve builds the product and has it serve with the arguments given, its data in
// dir. It returns where that listens.
func Serve(ctx context.Context, root, dir string, args ...string) (url string, stop func(), err error) {
	program := filepath.Join(dir, "dossier")
	build := exec.CommandContext(ctx, "go", "build", "-o", program, "./cmd/dossier")
	build.Dir = root
	if said, err := build.CombinedOutput(); err != nil {
		return "", nil, fmt.Errorf("building: %w\n%s", err, said)
	}
	server := exec.CommandContext(ctx, program, append([]string{"serve", "--port", "0", "--json", "--data", filepath.Join(dir, "data")}, args...)...)
	server.Cancel = func() error { return server.Process.Signal(os.Interrupt) }
	server.WaitDelay = 10 * time.Second
	said, err := server.StdoutPipe()
	if err != nil {
		return "", nil, err
	}
	if err := server.Start(); err != nil {
		return "", nil, err
	}
	stop = func() {
		_ = server.Cancel()
		_ = server.Wait() // what it says at its end is no result
	}
	var hello struct {
		URL string `json:"url"`
	}
	if err := json.NewDecoder(bufio.NewReader(said)).Decode(&hello); err != nil {
		stop()
		return "", nil, fmt.Errorf("the server says nothing: %w", err)
	}
	return hello.URL, stop, nil
}
