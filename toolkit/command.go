package toolkit

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"dossier/run"
	"dossier/tool"
)

// Commands are what an operator allows of RunCommand. The zero value allows
// nothing. An agent's own settings can only narrow it.
type Commands struct {
	// Workspace is the folder in which commands work.
	Workspace string
	// Programs that may be run, by name or absolute path; nil is a list of
	// those that only look.
	Programs []string
	// Unsafe lets agents ask for the mode in which any program may be run, with
	// any arguments.
	Unsafe bool
}

// looking are programs that change nothing, with the options that would have
// them do so, run others or leave the workspace.
var looking = map[string]forbidden{
	"ls":  {short: "L", long: []string{"--dereference", "--dereference-command-line"}},
	"cat": {}, "head": {}, "tail": {}, "pwd": {}, "echo": {},
	"wc":   {long: []string{"--files0-from"}},
	"grep": {short: "R", long: []string{"--dereference-recursive"}},
	"date": {short: "sf", long: []string{"--set", "--file"}, valued: "dr", opens: "+"}, // another operand sets the clock
	"uniq": {operands: 1},
	"sort": {short: "oT", long: []string{"--output", "--compress-program", "--files0-from", "--temporary-directory"}},
	"find": {words: []string{"-exec", "-execdir", "-ok", "-okdir", "-delete", "-fprint", "-fprint0", "-fprintf", "-fls", "-files0-from", "-follow", "-L"}},
}

// forbidden are options that a program may not be given.
type forbidden struct {
	short    string   // letters
	long     []string // also when shortened
	words    []string // as they stand
	operands int      // how many arguments that are no options at most; 0 is any
	opens    string   // what those have to begin with
	valued   string   // letters of options that take the next argument
}

// refuses returns the argument that may not be given.
func (f forbidden) refuses(args []string) string {
	operands, ended, value := 0, false, false
	for _, a := range args {
		if value {
			value = false
			continue
		}
		switch {
		case slices.Contains(f.words, a):
			return a
		case ended || !strings.HasPrefix(a, "-") || a == "-":
			if operands++; f.operands > 0 && operands > f.operands || !strings.HasPrefix(a, f.opens) {
				return a
			}
		case a == "--":
			ended = true
		case strings.HasPrefix(a, "--"):
			name, _, _ := strings.Cut(a, "=")
			if slices.ContainsFunc(f.long, func(l string) bool { return strings.HasPrefix(l, name) }) {
				return a
			}
		default:
			// The letters behind an option that takes a value are its value.
			for i, letter := range a[1:] {
				if strings.ContainsRune(f.short, letter) {
					return a
				}
				if strings.ContainsRune(f.valued, letter) {
					value = i == len(a)-2
					break
				}
			}
		}
	}
	return ""
}

const (
	defaultCommandTime = 60 * time.Second
	mostCommandTime    = 600
	mostOutput         = 30_000 // bytes of each stream
)

// commandConfig are the settings of the command tool.
type commandConfig struct {
	Workspace string `json:"workspace_path"`
	Mode      string `json:"mode"`
	Timeout   int    `json:"timeout_seconds"`
	// Include and Programs are programs, by name or path; Exclude programs and
	// paths of the workspace that may not be used.
	Include  []string `json:"include_paths"`
	Programs []string `json:"programs"`
	Exclude  []string `json:"exclude_paths"`
}

type commandArgs struct {
	Reasoning string `json:"reasoning" jsonschema:"what the command is for"`
	Command   string `json:"command" jsonschema:"one program and its arguments; there is no shell: no pipes, redirections, variables or file patterns"`
}

func commandMakers() []maker {
	return []maker{{name: RunCommand, make: runCommand, check: func(config json.RawMessage, s Settings) error {
		_, err := workspaceFor(config, s)
		return err
	}}}
}

// workspaceFor is the workspace that settings allow.
func workspaceFor(config json.RawMessage, s Settings) (*workspace, error) {
	var conf commandConfig
	if err := readConfig(RunCommand, config, &conf); err != nil {
		return nil, err
	}
	w, err := newWorkspace(conf, s.Commands)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", RunCommand, err)
	}
	return w, nil
}

func runCommand(config json.RawMessage, s Settings) (tool.Tool, error) {
	if err := readConfig(RunCommand, config, &commandConfig{}); err != nil {
		return nil, err
	}
	w, off := workspaceFor(config, s)
	if off != nil {
		w = &workspace{timeout: defaultCommandTime}
	}
	return tool.New(tool.Spec{
		Name: RunCommand, Effect: run.Effectful, Timeout: w.timeout + 5*time.Second, Tags: []string{"system", "command", "files"},
		Description: "Run one program in the workspace folder and read what it prints. There is no shell. " + w.what(),
		Examples:    []string{"list the files", "run a command", "search in files", "выполни команду", "运行命令"},
	}, func(ctx context.Context, _ *tool.Call, in commandArgs) (tool.Result, error) {
		if off != nil {
			return tool.Result{}, off
		}
		words, err := splitCommand(in.Command)
		if err != nil {
			return tool.Result{}, err
		}
		program, err := w.admit(words)
		if err != nil {
			return tool.Result{}, err
		}
		return w.run(ctx, program, words[1:])
	}), nil
}

// workspace is a folder and what may be run in it.
type workspace struct {
	dir      string // without links
	programs []string
	unsafe   bool
	exclude  []string // names of programs, and paths in the folder
	timeout  time.Duration
}

func newWorkspace(conf commandConfig, allowed Commands) (*workspace, error) {
	if allowed.Workspace == "" {
		return nil, errors.New("running commands is off: it is allowed by the folder for it, tools.run_command_tool.workspace_path of the configuration file")
	}
	root, err := resolved(allowed.Workspace)
	if err != nil {
		return nil, fmt.Errorf("tools.run_command_tool.workspace_path: %w", err)
	}
	w := &workspace{dir: root, programs: allowed.Programs, exclude: conf.Exclude, timeout: time.Duration(conf.Timeout) * time.Second}
	if conf.Workspace != "" && conf.Workspace != allowed.Workspace {
		dir := conf.Workspace
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(root, dir)
		}
		if w.dir, err = resolved(dir); err != nil {
			return nil, fmt.Errorf("workspace_path: %w", err)
		}
		if !inside(root, w.dir) {
			return nil, fmt.Errorf("workspace_path %s lies outside of %s, in which the operator allows commands", conf.Workspace, allowed.Workspace)
		}
	}
	switch conf.Mode {
	case "", "safe":
	case "unsafe":
		if !allowed.Unsafe {
			return nil, errors.New("the mode unsafe is not allowed by the operator; use safe")
		}
		w.unsafe = true
	default:
		return nil, fmt.Errorf("there is no mode %q: use safe or unsafe", conf.Mode)
	}
	if conf.Timeout < 0 || conf.Timeout > mostCommandTime {
		return nil, fmt.Errorf("timeout_seconds is %d: it has to be between 1 and %d", conf.Timeout, mostCommandTime)
	}
	w.timeout = cmp.Or(w.timeout, defaultCommandTime)
	if w.programs == nil {
		for name := range looking {
			w.programs = append(w.programs, name)
		}
		slices.Sort(w.programs)
	}
	if err := w.narrow("programs", conf.Programs); err != nil {
		return nil, err
	}
	return w, w.narrow("include_paths", conf.Include)
}

// narrow leaves only some of the programs that the operator allows.
func (w *workspace) narrow(key string, programs []string) error {
	if len(programs) == 0 || w.unsafe {
		return nil
	}
	for _, p := range programs {
		if !slices.Contains(w.programs, p) {
			return fmt.Errorf("%s names %s, which is not among the programs that the operator allows: %s. Others are allowed by tools.run_command_tool.programs of the configuration file", key, p, strings.Join(w.programs, ", "))
		}
	}
	w.programs = programs
	return nil
}

// resolved is a folder that exists, without links.
func resolved(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return "", err
	}
	info, err := os.Stat(dir)
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("%s is no folder", dir)
	}
	return dir, err
}

// inside says whether a path without links lies in a folder without links.
func inside(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// what tells the model what it may run.
func (w *workspace) what() string {
	if w.unsafe {
		return "Any program may be run."
	}
	return "Programs: " + strings.Join(w.programs, ", ") + "."
}

// admit returns the file of the program that words run, or why they may not.
func (w *workspace) admit(words []string) (string, error) {
	name, args := words[0], words[1:]
	if slices.Contains(w.exclude, name) || slices.Contains(w.exclude, filepath.Base(name)) {
		return "", fmt.Errorf("%s may not be run here", name)
	}
	if !w.unsafe {
		if !slices.Contains(w.programs, name) {
			return "", fmt.Errorf("%s may not be run here. Programs: %s", name, strings.Join(w.programs, ", "))
		}
		if bad := looking[filepath.Base(name)].refuses(args); bad != "" {
			return "", fmt.Errorf("%s may not be given %s here", name, bad)
		}
		if err := w.checkBelow(filepath.Base(name), args); err != nil {
			return "", err
		}
	}
	for _, a := range args {
		if err := w.check(a); err != nil {
			return "", err
		}
	}
	program, err := exec.LookPath(name)
	if err != nil || !filepath.IsAbs(program) {
		return "", fmt.Errorf("there is no program %s", name)
	}
	return program, nil
}

// check says whether an argument may be passed: wherever a path may stand in it,
// the path has to lie in the workspace. In the unsafe mode only what is excluded
// is looked for.
func (w *workspace) check(arg string) error {
	if err := w.checkPath(arg); err != nil || !strings.HasPrefix(arg, "-") {
		return err
	}
	if strings.HasPrefix(arg, "--") {
		_, value, _ := strings.Cut(arg, "=")
		return w.checkPath(value)
	}
	for i := 2; i < len(arg); i++ { // the path may follow any letter: -f/etc/passwd
		if err := w.checkPath(arg[i:]); err != nil {
			return err
		}
		if arg[i] == '/' {
			break
		}
	}
	return nil
}

func (w *workspace) checkPath(arg string) error {
	path := realPath(w.dir, arg)
	if !w.unsafe && (!inside(w.dir, path) || strings.HasPrefix(arg, "~")) {
		return fmt.Errorf("%s leads out of the workspace. Use paths inside of it", arg)
	}
	for _, x := range w.exclude {
		if inside(realPath(w.dir, x), path) {
			return fmt.Errorf("%s may not be used here", arg)
		}
	}
	return nil
}

// checkBelow refuses what would go through a folder with something excluded in
// it. Where find begins is plain; of other programs it can't be told from their
// arguments.
func (w *workspace) checkBelow(program string, args []string) error {
	recursive := through(program).refuses(args)
	for _, x := range w.exclude {
		if !w.has(x) {
			continue
		}
		if recursive != "" {
			return fmt.Errorf("%s may not be given %s here, for %s is excluded. Name files, or look with find", program, recursive, x)
		}
		if program != "find" {
			continue
		}
		for _, start := range findStarts(args) {
			if inside(realPath(w.dir, start), realPath(w.dir, x)) {
				return fmt.Errorf("%s has %s in it, which is excluded. Begin in another folder", start, x)
			}
		}
	}
	return nil
}

// through are the options with which a program goes through folders.
func through(program string) forbidden {
	switch program {
	case "grep":
		return forbidden{short: "rd", long: []string{"--recursive", "--directories"}}
	case "ls":
		return forbidden{short: "R", long: []string{"--recursive"}}
	}
	return forbidden{}
}

// findStarts are the paths at which find begins: those before its first option.
func findStarts(args []string) []string {
	for i, a := range args {
		if strings.HasPrefix(a, "-") || a == "(" || a == "!" {
			args = args[:i]
			break
		}
	}
	if len(args) == 0 {
		return []string{"."}
	}
	return args
}

// has says whether there is something under a path of the workspace.
func (w *workspace) has(path string) bool {
	_, err := os.Lstat(realPath(w.dir, path))
	return err == nil
}

// mostLinks bounds the links of a path, as systems do.
const mostLinks = 255

// realPath is where a path leads, seen from dir, whether or not there is
// something. It goes by the system's rule and not by the path's text: what
// follows a link begins where the link leads.
func realPath(dir, path string) string {
	at := dir
	if filepath.IsAbs(path) {
		at = filepath.VolumeName(path) + string(filepath.Separator)
		path = path[len(filepath.VolumeName(path)):]
	}
	split := func(path string) []string {
		return strings.FieldsFunc(path, func(r rune) bool { return r < 0x80 && os.IsPathSeparator(uint8(r)) })
	}
	rest := split(path)
	for links := 0; len(rest) > 0; {
		name := rest[0]
		rest = rest[1:]
		switch name {
		case ".":
			continue
		case "..":
			at = filepath.Dir(at)
			continue
		}
		next := filepath.Join(at, name)
		to, err := os.Readlink(next)
		if err != nil || links == mostLinks {
			at = next
			continue
		}
		links++
		if filepath.IsAbs(to) {
			at = filepath.VolumeName(to) + string(filepath.Separator)
			to = to[len(filepath.VolumeName(to)):]
		}
		rest = append(split(to), rest...)
	}
	return at
}

// run runs a program and returns what it printed. All that it started ends with
// it.
func (w *workspace) run(ctx context.Context, program string, args []string) (tool.Result, error) {
	ctx, cancel := context.WithTimeout(ctx, w.timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = w.dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + w.dir, "LANG=C.UTF-8", "TZ=UTC"}
	var out, errs limited
	cmd.Stdout, cmd.Stderr = &out, &errs
	cmd.WaitDelay = time.Second
	alone(cmd)
	files, err := w.pin(cmd)
	if err != nil {
		return tool.Result{}, err
	}
	defer files.close()
	err = cmd.Run()
	endGroup(cmd)
	var exit *exec.ExitError
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return tool.Result{}, fmt.Errorf("the command was stopped after %s. Run one that does less. It had printed:\n%s", w.timeout, files.told(out.String()))
	case ctx.Err() != nil:
		return tool.Result{}, context.Cause(ctx)
	case err != nil && !errors.As(err, &exit) && !errors.Is(err, exec.ErrWaitDelay):
		return tool.Result{}, fmt.Errorf("the command could not be run: %w", err)
	}
	printed := struct {
		Exit   int    `json:"exit_code"`
		Stdout string `json:"stdout"`
		Stderr string `json:"stderr,omitempty"`
	}{cmd.ProcessState.ExitCode(), files.told(out.String()), files.told(errs.String())}
	data, err := json.Marshal(printed)
	text := fmt.Sprintf("Exit code: %d\n\n%s", printed.Exit, printed.Stdout)
	if printed.Stderr != "" {
		text += "\n\nErrors:\n" + printed.Stderr
	}
	return tool.Result{Text: text, Data: data}, err
}

// limited keeps the beginning of what is printed.
type limited struct {
	kept bytes.Buffer
	lost int
}

func (l *limited) Write(b []byte) (int, error) {
	room := min(len(b), max(0, mostOutput-l.kept.Len()))
	l.kept.Write(b[:room])
	l.lost += len(b) - room
	return len(b), nil
}

func (l *limited) String() string {
	text := strings.ToValidUTF8(l.kept.String(), "\uFFFD")
	if l.lost > 0 {
		text += fmt.Sprintf("\n[cut: %d more bytes]", l.lost)
	}
	return text
}
