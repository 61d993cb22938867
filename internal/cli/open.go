package cli

import (
	"context"
	"io"
	"net"
	"net/url"
	"os/exec"
	"runtime"
	"strconv"
	"time"

	"dossier/internal/base/term"
	"dossier/internal/server"
	"dossier/lang"
)

type openCmd struct {
	serveCmd `embed:""`
}

func (openCmd) Help() string {
	return `Opens the page on which to ask, to watch a research and to check its report. Where
no server runs, this command is one until Ctrl-C stops it; runs under way are kept.

$BROWSER names the program that opens pages, where it is not the system's own.

` + examples("dossier open", "dossier open --port 9000")
}

func (c openCmd) Run(a *app) error {
	_, host, port, err := c.address(a)
	if err != nil {
		return err
	}
	at := net.JoinHostPort(host, strconv.Itoa(port))
	if port != 0 && server.Reached(reachable(at)) {
		a.show("http://" + at)
		return nil
	}
	return c.serve(a, a.show)
}

// show opens an address in a browser, and says where the page is if there is none.
func (a *app) show(address string) {
	u, err := url.Parse(address)
	if err != nil {
		return // it is one that was listened on
	}
	u.Host = reachable(u.Host)
	key := "open.opened"
	if !a.browse(u.String() + "/") {
		key = "open.by-hand"
	}
	if !a.JSON {
		_, _ = io.WriteString(a.proc.Stdout, term.Clean(lang.Text(a.locale(), key, "url", u.String()))+"\n")
	}
}

// reachable is an address as this machine reaches what listens on it.
func reachable(at string) string {
	host, port, err := net.SplitHostPort(at)
	if ip := net.ParseIP(host); err == nil && (host == "" || ip != nil && ip.IsUnspecified()) {
		return net.JoinHostPort("127.0.0.1", port)
	}
	return at
}

// browserPatience is how long to wait for a program that opens a page: those that
// hand it over end at once, a browser itself stays.
const browserPatience = 2 * time.Second

// browse has a program open a page, and says whether one took it.
func (a *app) browse(page string) bool {
	name, args := opener(getenv(a.proc.Env, "BROWSER"))
	path, err := exec.LookPath(name)
	if err != nil {
		return false
	}
	cmd := exec.Command(path, append(args, page)...)
	cmd.Env = a.proc.Env
	if err := cmd.Start(); err != nil {
		return false
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	ctx, cancel := context.WithTimeout(a.ctx, browserPatience)
	defer cancel()
	select {
	case err := <-ended:
		return err == nil
	case <-ctx.Done():
		return true
	}
}

// opener is the program that opens pages on this system.
func opener(chosen string) (name string, args []string) {
	switch {
	case chosen != "":
		return chosen, nil
	case runtime.GOOS == "darwin":
		return "open", nil
	case runtime.GOOS == "windows":
		return "rundll32", []string{"url.dll,FileProtocolHandler"}
	}
	return "xdg-open", nil
}
