package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
)

// slowest is how many of the slow tests are named, and slow what counts as one.
const (
	slowest = 5
	slow    = 500 * time.Millisecond
)

// A line is one line of `go test -json`, as `go doc test2json` and `go help
// buildjson` describe it.
type line struct {
	Action      string
	Package     string
	ImportPath  string
	Test        string
	Elapsed     float64
	Output      string
	FailedBuild string
}

// A result is what became of one test or subtest.
type result struct {
	name     string
	action   string // pass, fail, skip; empty while it runs
	elapsed  time.Duration
	output   []string
	children int
	failed   int // children that failed
}

// A pack is a package under test.
type pack struct {
	path   string
	tests  []*result
	byName map[string]*result
	output []string
	cached bool
}

// A report turns the stream of events into lines for a reader.
type report struct {
	out        io.Writer
	strict     bool   // a skipped test is a failure
	mark       string // behind the packages of this round
	tested     []string
	packs      map[string]*pack
	builds     map[string][]string // what the compiler said, per import path
	shown      map[string]bool     // builds already printed
	done       []timed
	skips      []string
	passed     int
	failed     int
	skipped    int
	unfinished int
}

type timed struct {
	name    string
	elapsed time.Duration
}

func newReport(out io.Writer, strict bool) *report {
	return &report{
		out:    out,
		strict: strict,
		packs:  map[string]*pack{},
		builds: map[string][]string{},
		shown:  map[string]bool{},
	}
}

// read takes the stream to its end. A line that is not JSON is passed on as it
// is: the go tool writes some of its complaints so.
func (r *report) read(in io.Reader) error {
	buffered := bufio.NewReader(in)
	for {
		text, err := buffered.ReadBytes('\n')
		if text = bytes.TrimRight(text, "\n"); len(text) > 0 {
			var l line
			if text[0] != '{' || json.Unmarshal(text, &l) != nil {
				fmt.Fprintf(r.out, "%s\n", text)
			} else {
				r.take(l)
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read the output of go test: %w", err)
		}
	}
}

func (r *report) take(l line) {
	switch l.Action {
	case "build-output":
		r.builds[l.ImportPath] = append(r.builds[l.ImportPath], l.Output)
		return
	case "build-fail":
		return
	}
	if l.Package == "" {
		return
	}
	p := r.packs[l.Package]
	if p == nil {
		p = &pack{path: l.Package + r.mark, byName: map[string]*result{}}
		r.packs[l.Package] = p
	}
	if l.Test == "" {
		r.takePackage(p, l)
		return
	}
	t := p.test(l.Test)
	switch l.Action {
	case "output":
		if !strings.HasPrefix(l.Output, "=== ") {
			t.output = append(t.output, l.Output)
		}
	case "pass", "fail", "skip":
		t.action = l.Action
		t.elapsed = seconds(l.Elapsed)
		if l.Action == "pass" {
			t.output = nil
		}
	}
}

func (r *report) takePackage(p *pack, l line) {
	switch l.Action {
	case "output":
		if strings.HasSuffix(l.Output, "\t(cached)\n") {
			p.cached = true
		}
		p.output = append(p.output, l.Output)
	case "pass":
		r.count(p)
		r.packageLine("ok", p, took(p, l))
	case "skip":
		r.packageLine("--", p, "no tests")
	case "fail":
		r.packageFailed(p, l)
	default:
		return
	}
	if l.Action != "output" {
		delete(r.packs, l.Package)
	}
	if l.Action == "pass" || l.Action == "fail" {
		r.tested = append(r.tested, l.Package)
	}
}

func (r *report) packageLine(word string, p *pack, note string) {
	fmt.Fprintf(r.out, "%-4s %-40s %s\n", word, p.path, note)
}

func (r *report) packageFailed(p *pack, l line) {
	for _, t := range p.tests {
		if t.action == "" {
			t.action = "fail" // it was running when the package ended
		}
	}
	if r.count(p) == 0 {
		r.failed++ // the package failed, none of its tests did
	}
	note := took(p, l)
	if l.FailedBuild != "" {
		note = "did not build"
	}
	r.packageLine("FAIL", p, note)
	if l.FailedBuild != "" && !r.shown[l.FailedBuild] {
		r.shown[l.FailedBuild] = true
		r.quote(r.builds[l.FailedBuild])
	}
	for _, t := range p.tests {
		if t.action == "fail" {
			r.quote(t.output)
		}
	}
	r.quote(slices.DeleteFunc(p.output, isVerdict))
}

// isVerdict tells the lines in which go test repeats what the report says itself.
func isVerdict(text string) bool {
	return text == "PASS\n" || text == "FAIL\n" || strings.HasPrefix(text, "FAIL\t")
}

func (r *report) quote(output []string) {
	text := strings.Join(output, "")
	for l := range strings.Lines(text) {
		fmt.Fprintf(r.out, "     %s\n", strings.TrimRight(l, "\n"))
	}
}

// count adds the tests of a finished package and returns how many failed. A
// test with subtests counts through them, unless it failed by itself.
func (r *report) count(p *pack) (failed int) {
	for _, t := range p.tests {
		if t.action == "fail" {
			if parent := p.parent(t.name); parent != nil {
				parent.failed++
			}
		}
	}
	for _, t := range p.tests {
		if t.children > 0 && (t.action != "fail" || t.failed > 0) {
			continue
		}
		switch t.action {
		case "pass":
			r.passed++
		case "fail":
			failed++
		case "skip":
			r.skipped++
			r.skips = append(r.skips, p.path+" "+t.name+reason(t.output))
		default:
			// The package passed while a test of it has no result: nothing
			// that we know of does that, and it must not pass for a success.
			r.unfinished++
		}
		if !p.cached {
			r.done = append(r.done, timed{p.path + " " + t.name, t.elapsed})
		}
	}
	r.failed += failed
	return failed
}

// reason is what a skipped test said, on one line.
func reason(output []string) string {
	for _, text := range output {
		if !strings.HasPrefix(strings.TrimSpace(text), "--- ") {
			return ": " + strings.TrimSpace(text)
		}
	}
	return ""
}

// finish prints the end of the report and reports whether all is well. ran is
// how the go tool ended.
func (r *report) finish(ran error) bool {
	slices.SortStableFunc(r.done, func(a, b timed) int { return int(b.elapsed - a.elapsed) })
	for i, t := range r.done {
		if i == slowest || t.elapsed < slow {
			break
		}
		fmt.Fprintf(r.out, "slow %s %.1fs\n", t.name, t.elapsed.Seconds())
	}
	for _, s := range r.skips {
		fmt.Fprintln(r.out, "skip", s)
	}
	for _, path := range slices.Sorted(maps.Keys(r.packs)) { // the stream ended inside these
		fmt.Fprintf(r.out, "FAIL %s: no result\n", r.packs[path].path)
		r.unfinished++
	}
	r.failed += r.unfinished
	if ran != nil && r.failed == 0 {
		fmt.Fprintln(r.out, "FAIL go test:", ran)
		r.failed++
	}
	if r.strict && r.skipped > 0 {
		fmt.Fprintln(r.out, "FAIL CI=true: a skipped test is a failure")
	}
	fmt.Fprintf(r.out, "%d passed, %d failed, %d skipped\n", r.passed, r.failed, r.skipped)
	return r.failed == 0 && (!r.strict || r.skipped == 0)
}

// test is the named test, made known to its parent when it is new.
func (p *pack) test(name string) *result {
	t := p.byName[name]
	if t == nil {
		t = &result{name: name}
		p.byName[name] = t
		p.tests = append(p.tests, t)
		if parent := p.parent(name); parent != nil {
			parent.children++
		}
	}
	return t
}

// parent is the nearest test that name is a subtest of. A subtest's own name
// may hold slashes, so the nearest one is not always the text before the last.
func (p *pack) parent(name string) *result {
	for {
		cut := strings.LastIndexByte(name, '/')
		if cut < 0 {
			return nil
		}
		name = name[:cut]
		if t := p.byName[name]; t != nil {
			return t
		}
	}
}

func took(p *pack, l line) string {
	if p.cached {
		return "(cached)"
	}
	return fmt.Sprintf("%.1fs", l.Elapsed)
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
