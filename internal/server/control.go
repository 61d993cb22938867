package server

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"dossier/internal/base/datadir"
)

// controlDir in a data directory has a file for each process that works there
// and can be reached. Only the user can read them.
const controlDir = "control"

// maxSocketPath is what every system takes as the path of a Unix socket.
const maxSocketPath = 100

type control struct {
	Network string `json:"network"`
	Address string `json:"address"`
	Token   string `json:"token"`
	PID     int    `json:"pid"`
}

// Errors of a Client.
var (
	// ErrNoPeer says that a process can't be reached.
	ErrNoPeer = errors.New("the process can't be reached")
	// ErrGone says that the process on the other side went away, or doesn't
	// answer; what became of the request is unknown.
	ErrGone = errors.New("the process that works on the run does not answer")
)

// Server serves the runs API of a process to the user's other processes.
type Server struct {
	http   *http.Server
	file   string
	socket string
	cancel context.CancelFunc
	served chan struct{}
}

// Serve begins to serve the runs of a process, under its name in a data
// directory. What processes that are gone left there is removed.
func Serve(dir, name string, runs Engine, version string) (*Server, error) {
	all := filepath.Join(dir, controlDir)
	if err := os.MkdirAll(all, 0o700); err != nil {
		return nil, fmt.Errorf("control socket: %w", err)
	}
	tidy(dir)
	l, socket, err := listen(all, name)
	if err != nil {
		return nil, fmt.Errorf("control socket: %w", err)
	}
	c := control{Network: l.Addr().Network(), Address: l.Addr().String(), Token: rand.Text(), PID: os.Getpid()}
	file := filepath.Join(all, name+".json")
	if err := writeControl(file, c); err != nil {
		_ = l.Close()
		return nil, fmt.Errorf("control socket: %w", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	a := &api{engine: runs, version: version, closing: ctx}
	s := &Server{
		http: &http.Server{Handler: a.private(c.Token), ReadHeaderTimeout: 10 * time.Second},
		file: file, socket: socket, cancel: cancel, served: make(chan struct{}),
	}
	go func() {
		defer close(s.served)
		_ = s.http.Serve(l) // it ends by Close
	}()
	return s, nil
}

// tidy removes what processes that are gone left behind. What can't be removed
// does no harm.
func tidy(dir string) {
	left, err := os.ReadDir(filepath.Join(dir, controlDir))
	if err != nil {
		return
	}
	for _, f := range left {
		name, ours := strings.CutSuffix(f.Name(), ".json")
		if !ours {
			name, ours = strings.CutSuffix(f.Name(), ".sock")
		}
		if !ours {
			continue
		}
		if alive, err := datadir.Alive(dir, name); err == nil && !alive {
			_ = os.Remove(filepath.Join(dir, controlDir, f.Name()))
		}
	}
}

// closeGrace is how long requests under way may take when the server closes.
const closeGrace = 2 * time.Second

// Close stops serving: new requests are refused, streams are told, and other
// requests get a moment to end.
func (s *Server) Close() error {
	_ = os.Remove(s.file)
	s.cancel()
	ctx, cancel := context.WithTimeout(context.Background(), closeGrace)
	defer cancel()
	err := s.http.Shutdown(ctx)
	if err != nil {
		err = s.http.Close()
	}
	<-s.served
	if s.socket != "" {
		_ = os.Remove(s.socket) // closing the listener usually did
		if filepath.Dir(s.socket) != filepath.Dir(s.file) {
			_ = os.Remove(filepath.Dir(s.socket))
		}
	}
	return err
}

// listen opens a Unix socket in dir, or loopback TCP where Unix sockets have
// no permissions.
func listen(dir, name string) (l net.Listener, socket string, err error) {
	if runtime.GOOS == "windows" {
		l, err = net.Listen("tcp", "127.0.0.1:0")
		return l, "", err
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, "", err
	}
	socket = filepath.Join(abs, name+".sock")
	if len(socket) > maxSocketPath {
		short, err := os.MkdirTemp("", "dossier-")
		if err != nil {
			return nil, "", err
		}
		socket = filepath.Join(short, "control.sock")
	}
	l, err = net.Listen("unix", socket)
	if err != nil {
		return nil, "", err
	}
	if err := os.Chmod(socket, 0o600); err != nil {
		_ = l.Close()
		return nil, "", err
	}
	return l, socket, nil
}

// writeControl replaces the control file at once, so that nobody reads half.
func writeControl(file string, c control) error {
	raw, err := json.Marshal(c)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(file), ".*") // created with mode 0600
	if err != nil {
		return err
	}
	_, err = f.Write(raw)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), file)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

// readControl fails with ErrNoPeer when there is no control file that can be
// read.
func readControl(dir, name string) (control, error) {
	var c control
	raw, err := os.ReadFile(filepath.Join(dir, controlDir, name+".json"))
	if err != nil {
		return c, fmt.Errorf("%w: %w", ErrNoPeer, err)
	}
	if err := json.Unmarshal(raw, &c); err != nil {
		return c, fmt.Errorf("%w: its control file is broken", ErrNoPeer)
	}
	return c, nil
}

// withEnd returns a context that ends with either of two.
func withEnd(ctx, other context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(other, cancel)
	return ctx, func() { stop(); cancel() }
}
