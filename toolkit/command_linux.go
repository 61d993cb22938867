package toolkit

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// operands say which arguments of a program are no files.
type operands struct {
	valued  string // letters of options that take the next argument
	pattern string // letters of options without which the first operand is a pattern
}

// reading are the programs of looking that print what is in files.
var reading = map[string]operands{
	"cat": {}, "wc": {}, "head": {valued: "nc"}, "tail": {valued: "ncs"}, "sort": {valued: "ktS"}, "uniq": {valued: "fsw"},
	"grep": {valued: "emABCdD", pattern: "ef"},
}

// pinned are the files that a command was given, opened before it starts.
type pinned struct {
	files []*os.File
	names []string // as they were given
	empty string   // the folder in which the command works, with nothing in it
}

// pin opens the files that a command is to read and has it read what was opened:
// a path that was checked may lead elsewhere a moment later. They are opened below
// the workspace, whatever is swapped meanwhile, and a name that is not there now is
// not there for the command either.
func (w *workspace) pin(cmd *exec.Cmd) (*pinned, error) {
	program := filepath.Base(cmd.Path)
	how, ok := reading[program]
	if w.unsafe || !ok {
		return nil, nil
	}
	root, err := os.OpenRoot(w.dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	p := &pinned{}
	if p.empty, err = os.MkdirTemp("", "dossier-command-"); err != nil {
		return nil, err
	}
	args := slices.Clone(cmd.Args[1:])
	files := how.files(args)
	if program == "grep" && len(files) == 0 && through(program).refuses(args) != "" {
		args, files = append(args, "."), []int{len(args)} // it would begin where it works
	}
	for _, i := range files {
		if err := p.open(root, w, &args[i]); err != nil {
			p.close()
			return nil, err
		}
	}
	cmd.Args, cmd.Dir, cmd.ExtraFiles = append(cmd.Args[:1:1], args...), p.empty, p.files
	return p, nil
}

// files are the places of arguments that may be files.
func (o operands) files(args []string) []int {
	var out []int
	pattern := o.pattern != ""
	ended, value := false, false
	for i, a := range args {
		switch {
		case value:
			value = false
		case ended || !strings.HasPrefix(a, "-") || a == "-":
			if pattern {
				pattern = false
			} else {
				out = append(out, i)
			}
		case a == "--":
			ended = true
		case strings.HasPrefix(a, "--"):
			pattern = pattern && !strings.HasPrefix(a, "--regexp") && !strings.HasPrefix(a, "--file")
		default:
			for at, letter := range a[1:] {
				pattern = pattern && !strings.ContainsRune(o.pattern, letter)
				if strings.ContainsRune(o.valued, letter) {
					value = at == len(a)-2
					break
				}
			}
		}
	}
	return out
}

// open opens one file and puts what was opened in the place of its name.
func (p *pinned) open(root *os.Root, w *workspace, arg *string) error {
	rel := *arg
	if filepath.IsAbs(rel) {
		var err error
		if rel, err = filepath.Rel(w.dir, realPath(w.dir, rel)); err != nil {
			return nil //nolint:nilerr // it is not there
		}
	}
	f, err := root.OpenFile(rel, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR), errors.Is(err, syscall.ENAMETOOLONG), errors.Is(err, syscall.ENXIO):
		return nil
	case err != nil:
		return fmt.Errorf("%s can't be read: %w", *arg, err)
	}
	p.files, p.names = append(p.files, f), append(p.names, *arg)
	at, err := os.Readlink("/proc/self/fd/" + strconv.Itoa(int(f.Fd())))
	if err != nil {
		return err
	}
	if err := w.checkPath(at); err != nil {
		return err
	}
	*arg = opened + strconv.Itoa(2+len(p.files)) // those of the child begin at 3
	return nil
}

const opened = "/proc/self/fd/"

var openedName = regexp.MustCompile(opened + `(\d+)`)

// told puts the names that were given back into what a command printed.
func (p *pinned) told(text string) string {
	if p == nil {
		return text
	}
	return openedName.ReplaceAllStringFunc(text, func(name string) string {
		n, err := strconv.Atoi(strings.TrimPrefix(name, opened))
		if err != nil || n < 3 || n-3 >= len(p.names) {
			return name
		}
		return p.names[n-3]
	})
}

func (p *pinned) close() {
	if p == nil {
		return
	}
	for _, f := range p.files {
		_ = f.Close()
	}
	_ = os.Remove(p.empty)
}
