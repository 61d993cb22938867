package sources

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"dossier/cite"
	"dossier/event"
	"dossier/internal/store/memory"
	"dossier/llm"
	"dossier/run"
)

// shelf is a corpus of a few texts, each a document of one passage, that finds
// what shares a word with a query.
type shelf struct {
	texts map[string]string // by ref
	order []string
	// What goes wrong: searches by query, readings by ref.
	findFails map[string]error
	readFails map[string]error
	// placeless leaves it to reading where passages are.
	placeless bool

	mu      sync.Mutex
	queries []string
	reads   []string
}

func newShelf(pairs ...string) *shelf {
	s := &shelf{texts: map[string]string{}, findFails: map[string]error{}, readFails: map[string]error{}}
	for i := 0; i < len(pairs); i += 2 {
		s.order = append(s.order, pairs[i])
		s.texts[pairs[i]] = pairs[i+1]
	}
	return s
}

func (s *shelf) Name() string { return "shelf" }

func words(text string) map[string]bool {
	out := map[string]bool{}
	for w := range strings.FieldsSeq(strings.ToLower(text)) {
		if w = strings.Trim(w, ".,?!\"“”"); len(w) > 3 {
			out[w] = true
		}
	}
	return out
}

func (s *shelf) Find(_ context.Context, q Query) (Finding, error) {
	query, limit := q.Text, q.Limit
	s.mu.Lock()
	s.queries = append(s.queries, query)
	s.mu.Unlock()
	if err := s.findFails[query]; err != nil {
		return Finding{}, err
	}
	if err := s.findFails["*"]; err != nil {
		return Finding{}, err
	}
	var out []Lead
	for _, ref := range s.order {
		text, score := s.texts[ref], 0
		for w := range words(query) {
			if words(text)[w] {
				score++
			}
		}
		if score == 0 || len(out) == limit {
			continue
		}
		l := Lead{ID: ref + ".0", Ref: ref, Kind: cite.Web, URI: "https://example.org/" + ref, Title: ref, Text: text, Ranking: float64(score)}
		if !s.placeless {
			l.Spot, l.Ranked = Spot{Start: 0, End: len(text)}, true
		}
		out = append(out, l)
	}
	return Finding{Leads: out}, nil
}

func (s *shelf) Read(_ context.Context, lead Lead) (Document, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reads = append(s.reads, lead.Ref)
	if err := s.readFails[lead.Ref]; err != nil {
		return Document{}, err
	}
	text := s.texts[lead.Ref]
	d := Document{Text: text}
	if s.placeless {
		half := strings.Index(text, ". ") + 1
		d.Passages = []Spot{{Start: 0, End: max(half, 1)}, {Start: max(half, 1), End: len(text)}}
	}
	return d, nil
}

func (s *shelf) Weights(context.Context) (Weights, error) { return even{}, nil }

// script is a model that answers by what it is asked to do: the beginning of
// its instructions.
type script struct {
	mu      sync.Mutex
	replies map[string]any
	calls   map[string]int
	prompts map[string]string // the last one, of the user
}

func (m *script) Stream(_ context.Context, req *llm.Request, _ func(llm.Chunk)) (*llm.Response, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for task, begins := range map[string]string{
		"plan": "You plan", "followups": "You look for", "note": "You read one", "judge": "You check", "rewrite": "You correct", "rerank": "You put search results",
	} {
		if !strings.HasPrefix(req.Messages[0].Content, begins) {
			continue
		}
		m.calls[task]++
		m.prompts[task] = req.Messages[len(req.Messages)-1].Content
		reply, ok := m.replies[task]
		if !ok {
			return nil, &llm.Error{Kind: llm.ErrServer, Message: "no reply for " + task}
		}
		raw, err := json.Marshal(reply)
		if err != nil {
			return nil, err
		}
		return &llm.Response{Model: "m", Message: llm.Message{Role: llm.RoleAssistant, Content: string(raw)}, Finish: llm.FinishStop, Usage: llm.Usage{Input: 10, Output: 5}}, nil
	}
	return nil, fmt.Errorf("an unknown prompt: %s", req.Messages[0].Content)
}

func scripted(replies map[string]any) *script {
	return &script{replies: replies, calls: map[string]int{}, prompts: map[string]string{}}
}

func (m *script) models() *llm.Models {
	if m == nil {
		return &llm.Models{}
	}
	return &llm.Models{MaxObjectRetries: -1, Roles: map[llm.RoleName]llm.Setting{llm.ForDefault: {Model: m, Name: "m"}}}
}

// done is a run of one piece of code that is over.
type done struct {
	steps []string // that came to a result
	rec   run.Record
	log   []event.Data
}

// perform executes code as a run, and replays it.
func perform(t *testing.T, limits run.Limits, code func(ctx context.Context, s *run.Scope, b Blobs) error) done {
	t.Helper()
	store := memory.New(memory.Options{})
	if err := store.Create(t.Context(), run.Record{ID: "r", Session: "r", Status: run.Queued, Created: time.Unix(1_800_000_000, 0)}, nil, nil); err != nil {
		t.Fatal(err)
	}
	fn := func(ctx context.Context, s *run.Scope) error { return code(ctx, s, store) }
	x := run.NewExecutor(run.ExecutorConfig{
		Journal: store, Owner: "w", Publish: func(event.Event) {},
		Program: func(run.Record) (run.Func, run.Limits, error) { return fn, limits, nil },
	})
	defer x.Close()
	if _, err := x.Execute(t.Context(), "r"); err != nil {
		t.Fatal(err)
	}
	h, err := store.History(t.Context(), "r")
	if err != nil {
		t.Fatal(err)
	}
	placed, err := store.Events(t.Context(), "r", 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := run.Replay(t.Context(), h, placed, fn, limits); err != nil {
		t.Error(err)
	}
	d := done{rec: h.Record}
	for _, entry := range h.Entries {
		if entry.Kind == run.EntryStep {
			d.steps = append(d.steps, entry.Key)
		}
	}
	for _, p := range placed {
		d.log = append(d.log, p.Data)
	}
	return d
}

// gather is Gather as a run. The evidence is that of the run itself.
func gather(t *testing.T, job Job, limits run.Limits) (*Evidence, done) {
	t.Helper()
	if job.Tuning == (Tuning{}) {
		job.Tuning = Tuning{Queries: 2, Iterations: 3, MaxResults: 8, TopK: 8, ReadTop: 4}
	}
	job.Tuning.MinIterations = max(job.Tuning.MinIterations, 1)
	job.Where, job.Language = "a shelf", "en"
	var found *Evidence
	d := perform(t, limits, func(ctx context.Context, s *run.Scope, b Blobs) error {
		job.Blobs = b
		e, err := Gather(ctx, s, job)
		if found == nil {
			found = e
		}
		return err
	})
	return found, d
}

// rounds returns the queries that were put to the corpus, by round.
func (d done) rounds() [][]string {
	var out [][]string
	for _, data := range d.log {
		if s, ok := data.(event.SearchStarted); ok {
			for len(out) < s.Round {
				out = append(out, nil)
			}
			out[s.Round-1] = append(out[s.Round-1], s.Query)
		}
	}
	return out
}
