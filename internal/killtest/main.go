// Command killtest shows that runs lose nothing: a child process works through
// scripted runs with parallel branches, mailboxes and questions, is killed
// with SIGKILL again and again, at random moments and at commit boundaries,
// and is started anew each time. At the end the journal, the event logs, the
// answers and the model server's own call log are held against what an
// undisturbed child did.
//
// With -faults the model, the search engine and an effect that must not happen
// twice fail too, in phases of random length: runs fail and are resumed, budgets
// are spent and raised, and runs ask about effects of which nobody knows.
//
// With -search the child is the product's own engine that searches a local web,
// killed at each of its calls to the model, the search engine and the pages;
// with -agents it is one of its agents at a piece of research; with -queued it
// has many runs queued on the instances of an agent. With -deep it is a deep
// research, by a team and by the evidence loop, killed at random moments. With
// -serve it is `dossier serve`, whose clients follow runs over server-sent events,
// Socket.IO and the Responses API and come back after each kill; with -full it is
// not killed, but finds its disk full for a while.
//
// Its last line is the verdict, and it exits 0 only when all of it holds. With
// -keep DIR the databases and the call logs stay for other programs to check.
package main

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"dossier/llm/llmtest"
	"dossier/reader"
)

func main() {
	reader.WorkerMain() // of a child that searches
	if raw := os.Getenv(orderVar); raw != "" {
		if err := childMain(raw); err != nil {
			fmt.Fprintln(os.Stderr, "killtest child:", err)
			os.Exit(1)
		}
		return
	}
	cycles := flag.Int("cycles", 200, "how often to kill the child with an unfinished run")
	seed := flag.Uint64("seed", uint64(time.Now().UnixNano()), "of the random moments")
	search := flag.Bool("search", false, "kill a search of the web at each of its calls to model, engine and pages instead")
	agents := flag.Bool("agents", false, "kill agents, one with each decider, at each of their calls instead")
	deep := flag.Bool("deep", false, "kill deep research, by each of its engines, at random moments instead")
	faults := flag.Bool("faults", false, "have model, search engine and effects fail too, resume runs and raise their budgets")
	queued := flag.Int("queued", 0, "kill a process that has so many runs queued on the instances of an agent instead")
	serve := flag.Bool("serve", false, "kill dossier serve while clients follow its runs instead")
	fills := flag.Bool("full", false, "fill the disk under dossier serve for a while instead")
	zombie := flag.Bool("zombie", false, "stop a worker past its lease instead, let another take over, and wake the first")
	keep := flag.String("keep", "", "leave databases and call logs in this `directory`")
	flag.Parse()
	dir := *keep
	if dir == "" {
		tmp, err := os.MkdirTemp("", "killtest")
		if err != nil {
			fmt.Fprintln(os.Stderr, "killtest:", err)
			os.Exit(1)
		}
		defer os.RemoveAll(tmp)
		dir = tmp
	}
	t := &test{self: os.Args[0], zombie: *zombie, searches: *search, agents: *agents, research: *deep, failures: *faults, serves: *serve, fills: *fills, queue: *queued, dir: dir, cycles: *cycles, seed: *seed, out: os.Stdout, errs: os.Stderr}
	ok, err := t.run(context.Background())
	if err != nil {
		fmt.Fprintln(os.Stderr, "killtest:", err)
	}
	if !ok || err != nil {
		if *keep == "" {
			_ = os.RemoveAll(dir)
		}
		os.Exit(1)
	}
}

// test is one run of the whole test.
type test struct {
	self      string // program to start as a child
	zombie    bool
	searches  bool
	agents    bool
	research  bool
	failures  bool
	serves    bool
	fills     bool
	queue     int
	dir       string
	cycles    int
	seed      uint64
	out, errs io.Writer
}

// concurrent runs a child works on.
const concurrent = 3

func (t *test) run(ctx context.Context) (bool, error) {
	if t.zombie {
		return t.takeover(ctx)
	}
	if t.searches {
		return t.search(ctx, searches())
	}
	if t.agents {
		return t.search(ctx, agentsAtWork())
	}
	if t.research {
		return t.deep(ctx)
	}
	if t.serves {
		return t.served(ctx)
	}
	if t.fills {
		return t.full(ctx)
	}
	if t.queue > 0 {
		return t.queued(ctx)
	}
	if t.failures {
		return t.faults(ctx)
	}
	fmt.Fprintf(t.out, "killing a worker %d times, seed %d\n", t.cycles, t.seed)
	killed := filepath.Join(t.dir, "killed")
	kills, err := t.disturbed(ctx, killed)
	if err != nil {
		return false, err
	}
	_, total, err := unfinished(ctx, killed)
	if err != nil {
		return false, err
	}
	calm := filepath.Join(t.dir, "undisturbed")
	if err := t.undisturbed(ctx, calm, total); err != nil {
		return false, err
	}
	want, err := answers(ctx, calm)
	if err != nil {
		return false, err
	}
	v, err := check(ctx, killed, want)
	if err != nil {
		return false, err
	}
	for _, line := range v.unequal {
		fmt.Fprintln(t.out, line)
	}
	fmt.Fprintf(t.out, "%d runs, %d steps, %d model calls of which %d were cut off by a kill before they were recorded\n", v.runs, v.steps, v.calls, v.calls-v.steps)
	fmt.Fprintf(t.out, "kills: %d at random moments, %d before a commit, %d after one\n", kills.random, kills.before, kills.after)
	fmt.Fprintf(t.out, "lost=%d duplicated=%d repeated_calls=%d gaps=%d answers_equal=%t cycles=%d\n",
		v.lost, v.duplicated, v.repeated, v.gaps, len(v.unequal) == 0, kills.total())
	return v.ok() && kills.total() == t.cycles, nil
}

type kills struct{ random, before, after int }

func (k kills) total() int { return k.random + k.before + k.after }

// disturbed kills children until there were enough kills, and lets a last one
// finish everything.
func (t *test) disturbed(ctx context.Context, dir string) (kills, error) {
	srv, err := t.serve(dir, nil)
	if err != nil {
		return kills{}, err
	}
	defer srv.close()
	rnd := rand.New(rand.NewPCG(t.seed, 1))
	var k kills
	for tries := 0; k.total() < t.cycles; tries++ {
		if tries > 4*t.cycles+20 {
			return k, errors.New("the children end before they can be killed")
		}
		o := order{Dir: dir, URL: srv.url, Owner: fmt.Sprintf("child-%d", tries), Runs: concurrent, Most: 1 << 20, Sole: true}
		var patience time.Duration
		counter := &k.random
		switch tries % 3 {
		case 0:
			patience = time.Duration(rnd.Int64N(int64(80 * time.Millisecond)))
		case 1, 2:
			// Each boundary in turn, from both sides.
			o.Boundary, o.After = 1+(tries/3)%60, tries%3 == 2
			counter = &k.before
			if o.After {
				counter = &k.after
			}
		}
		if err := t.kill(ctx, o, patience); err != nil {
			return k, err
		}
		open, _, err := unfinished(ctx, dir)
		if err != nil {
			return k, err
		}
		if open > 0 {
			*counter++
		}
		if k.total()%20 == 0 {
			fmt.Fprintf(t.errs, "\r%d kills", k.total())
		}
	}
	fmt.Fprintf(t.errs, "\r%d kills\n", k.total())
	return k, t.finish(ctx, order{Dir: dir, URL: srv.url, Owner: "last", Runs: concurrent, Most: 1 << 20, Drain: true, Sole: true})
}

// undisturbed has a child work through as many runs in peace.
func (t *test) undisturbed(ctx context.Context, dir string, runs int) error {
	srv, err := t.serve(dir, nil)
	if err != nil {
		return err
	}
	defer srv.close()
	return t.finish(ctx, order{Dir: dir, URL: srv.url, Owner: "calm", Runs: concurrent, Most: runs, Sole: true})
}

// kill starts a child and kills it, at the boundary that the order names or
// patience after it began to work.
func (t *test) kill(ctx context.Context, o order, patience time.Duration) error {
	cmd, said, err := t.start(ctx, o)
	if err != nil {
		return err
	}
	wanted := sayWorking
	if o.Boundary > 0 {
		wanted = sayBoundary
	}
	for line := range said {
		if line == wanted {
			break
		}
	}
	if patience > 0 {
		time.Sleep(patience) // the moment is what is random here
	}
	return kill(cmd)
}

// kill ends a child at once and waits until it is gone.
func kill(cmd *exec.Cmd) error {
	if err := cmd.Process.Kill(); err != nil {
		return err
	}
	err := cmd.Wait()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		if ws, ok := exit.Sys().(syscall.WaitStatus); ok && ws.Signaled() && ws.Signal() == syscall.SIGKILL {
			return nil
		}
	}
	return fmt.Errorf("the child ended by itself: %w", err)
}

// finish lets a child work to its end.
func (t *test) finish(ctx context.Context, o order) error {
	cmd, said, err := t.start(ctx, o)
	if err != nil {
		return err
	}
	for range said {
	}
	return cmd.Wait()
}

// start starts a child and returns what it says, line by line.
func (t *test) start(ctx context.Context, o order) (*exec.Cmd, <-chan string, error) {
	raw, err := json.Marshal(o)
	if err != nil {
		return nil, nil, err
	}
	cmd := exec.CommandContext(ctx, t.self)
	cmd.Env = append(os.Environ(), orderVar+"="+string(raw))
	cmd.Stderr = t.errs
	if o.SmallDisk {
		alone(cmd)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, nil, err
	}
	said := make(chan string, 16)
	go func() {
		defer close(said)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			said <- lines.Text()
		}
	}()
	return cmd, said, nil
}

// server is the scripted model. Its call log is written before each reply.
type server struct {
	url  string
	http *httptest.Server
	log  *os.File
}

// serve starts the scripted model; wait, unless it is nil, is called before each
// reply.
func (t *test) serve(dir string, wait func()) (*server, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	log, err := os.OpenFile(filepath.Join(dir, "calls.jsonl"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	model := scripted(time.Millisecond)
	model.LogTo(log)
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if wait != nil && r.Method == http.MethodPost {
			wait()
		}
		model.ServeHTTP(w, r)
	}))
	return &server{url: h.URL + "/v1", http: h, log: log}, nil
}

// scripted is a model that says the same to the same question.
func scripted(latency time.Duration) *llmtest.Server {
	return llmtest.New(llmtest.Script{
		Latency: latency,
		Rules: []llmtest.Rule{{Reply: llmtest.Do(func(q *llmtest.Request) *llmtest.Reply {
			sum := sha256.Sum256([]byte(q.Question()))
			return llmtest.Say("said " + hex.EncodeToString(sum[:6]))
		})}},
	})
}

func (s *server) close() {
	s.http.CloseClientConnections()
	s.http.Close()
	_ = s.log.Close()
}
