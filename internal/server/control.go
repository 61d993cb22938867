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
	"time"
)

// controlFile in a data directory says where its owner listens. Only the user
// can read it.
const controlFile = "control.json"

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
	// ErrNoOwner says that nobody serves the data directory.
	ErrNoOwner = errors.New("no process serves the data directory")
	// ErrGone says that the process on the other side went away, or doesn't
	// answer; what became of the request is unknown.
	ErrGone = errors.New("the process that works on the runs does not answer")
)

// Server serves the runs API of a data directory to the user's own processes.
type Server struct {
	http   *http.Server
	dir    string
	socket string
	cancel context.CancelFunc
	served chan struct{}
}

// Serve begins to serve runs for the data directory dir, which the caller
// owns: whatever an earlier owner left there is replaced.
func Serve(dir string, runs Engine, version string) (*Server, error) {
	l, socket, err := listen(dir)
	if err != nil {
		return nil, fmt.Errorf("control socket: %w", err)
	}
	c := control{Network: l.Addr().Network(), Address: l.Addr().String(), Token: rand.Text(), PID: os.Getpid()}
	if err := writeControl(dir, c); err != nil {
		_ = l.Close()
		return nil, fmt.Errorf("control socket: %w", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	a := &api{runs: runs, version: version, closing: ctx}
	s := &Server{
		http: &http.Server{Handler: a.handler(c.Token), ReadHeaderTimeout: 10 * time.Second},
		dir:  dir, socket: socket, cancel: cancel, served: make(chan struct{}),
	}
	go func() {
		defer close(s.served)
		_ = s.http.Serve(l) // it ends by Close
	}()
	return s, nil
}

// closeGrace is how long requests under way may take when the server closes.
const closeGrace = 2 * time.Second

// Close stops serving: new requests are refused, streams are told, and other
// requests get a moment to end.
func (s *Server) Close() error {
	_ = os.Remove(filepath.Join(s.dir, controlFile))
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
		if filepath.Dir(s.socket) != s.dir {
			_ = os.Remove(filepath.Dir(s.socket))
		}
	}
	return err
}

// listen opens a Unix socket in dir, or loopback TCP where Unix sockets have
// no permissions.
func listen(dir string) (l net.Listener, socket string, err error) {
	if runtime.GOOS == "windows" {
		l, err = net.Listen("tcp", "127.0.0.1:0")
		return l, "", err
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, "", err
	}
	socket = filepath.Join(abs, "control.sock")
	if len(socket) > maxSocketPath {
		short, err := os.MkdirTemp("", "dossier-")
		if err != nil {
			return nil, "", err
		}
		socket = filepath.Join(short, "control.sock")
	}
	_ = os.Remove(socket) // of an owner that was killed
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
func writeControl(dir string, c control) error {
	raw, err := json.Marshal(c)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, controlFile+".*") // created with mode 0600
	if err != nil {
		return err
	}
	_, err = f.Write(raw)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), filepath.Join(dir, controlFile))
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

// readControl fails with ErrNoOwner when there is no control file that can be
// read.
func readControl(dir string) (control, error) {
	var c control
	raw, err := os.ReadFile(filepath.Join(dir, controlFile))
	if err != nil {
		return c, fmt.Errorf("%w: %w", ErrNoOwner, err)
	}
	if err := json.Unmarshal(raw, &c); err != nil {
		return c, fmt.Errorf("%w: its control file is broken", ErrNoOwner)
	}
	return c, nil
}

// withEnd returns a context that ends with either of two.
func withEnd(ctx, other context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(other, cancel)
	return ctx, func() { stop(); cancel() }
}
