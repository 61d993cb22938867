package dossier

import (
	"io"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"dossier/internal/agenttest"
	"dossier/internal/base/trace/tracetest"
	"dossier/internal/store"
	"dossier/internal/store/memory"
	"dossier/llm/llmtest"
	"dossier/mode"
	"dossier/run"
)

// collectedBy are the settings by which a collector is told of everything.
func collectedBy(c *tracetest.Collector) map[string]string {
	return map[string]string{"traces.endpoint": c.URL, "traces.headers": "x-tenant=seven"}
}

var (
	counts  = regexp.MustCompile(`_tokens=\d+`)
	varying = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|chatcmpl-[A-Za-z0-9-]+|call_[0-9a-f]{8,}`)
	ports   = regexp.MustCompile(`server\.port=\d+`)
)

// tree holds a tree of spans against a file.
func tree(t *testing.T, name, id, got string) {
	t.Helper()
	got = strings.ReplaceAll(got, id, "RUN")
	got = counts.ReplaceAllString(got, "_tokens=N")
	golden(t, "trace-"+name+".golden", []byte(ports.ReplaceAllString(varying.ReplaceAllString(got, "ID"), "server.port=PORT")))
}

// complete says what is wrong with the spans of a run: all are in one trace, each has
// its parent among them but the run's own, is of the service, and follows the names
// of one version.
func complete(t *testing.T, spans []tracetest.Span) {
	t.Helper()
	ids, steps := map[string]bool{}, map[string]int{}
	for _, s := range spans {
		if ids[s.ID()] {
			t.Errorf("%s was told of twice", s.Name)
		}
		ids[s.ID()] = true
		if key := s.Attribute("dossier.step"); key != "" {
			steps[key]++
		}
	}
	for key, n := range steps {
		if n > 1 {
			t.Errorf("step %s was told of %d times", key, n)
		}
	}
	roots := 0
	for _, s := range spans {
		if s.Trace() != spans[0].Trace() {
			t.Errorf("%s is in a trace of its own", s.Name)
		}
		if s.Parent() == "" {
			roots++
		} else if !ids[s.Parent()] {
			t.Errorf("%s %s has no parent", s.Name, s.Attribute("dossier.step"))
		}
		if s.EndTimeUnixNano < s.StartTimeUnixNano {
			t.Errorf("%s ends before it begins", s.Name)
		}
		if s.Resource["service.name"] != "dossier" || s.Schema != "https://opentelemetry.io/schemas/1.41.0" {
			t.Errorf("%s is of %v, schema %s", s.Name, s.Resource, s.Schema)
		}
	}
	if roots != 1 {
		t.Errorf("%d spans have none above them", roots)
	}
}

// used sums the tokens of the calls to models.
func used(spans []tracetest.Span) (in, out int) {
	for _, s := range spans {
		n, _ := strconv.Atoi(s.Attribute("gen_ai.usage.input_tokens"))
		m, _ := strconv.Atoi(s.Attribute("gen_ai.usage.output_tokens"))
		in, out = in+n, out+m
	}
	return in, out
}

// The spans of a run are those of the run, its agents, steps, tools and calls to
// models, with what the conventions want to know, and how each failed.
func TestTraces(t *testing.T) {
	all := courses()
	find := func(name string) course {
		i := slices.IndexFunc(all, func(c course) bool { return c.name == name })
		if i < 0 {
			t.Fatalf("there is no course %q", name)
		}
		return all[i]
	}
	forbidden := llmtest.CallTool("runcommandtool", map[string]any{"reasoning": "look", "command": "rm parcel"})
	limited := llmtest.Script{Rules: []llmtest.Rule{
		{Turn: 1, Fault: &llmtest.Fault{Kind: llmtest.RateLimit}}, {Turn: 2, Reply: forbidden}, {Turn: 3, Fault: &llmtest.Fault{Kind: llmtest.Auth}},
	}}
	refused := llmtest.Script{Rules: []llmtest.Rule{{Fault: &llmtest.Fault{Kind: llmtest.Quota}}}}
	for name, c := range map[string]struct {
		course
		show  func(tracetest.Span) string
		kinds bool // show those, since how many there are is up to who is faster
		flags map[string]string
	}{
		"web_search":    {course: find("web_search")},
		"deep_research": {course: find("deep_research"), kinds: true},
		"rules":         {course: find("deep_research by rules"), kinds: true},
		"evidence":      {course: find("evidence loop"), kinds: true},
		"agent":         {course: find("agent with agents")},
		"asks":          {course: find("agent by sgr"), show: tracetest.Named},
		"failing":       {course: course{script: limited, req: func(*around) Request { return byAgent("doer", "Put the parcel on the scale") }}},
		"tool": {course: course{status: run.Failed, req: func(*around) Request {
			return Request{Mode: "tool", Request: mode.Request{Agent: "run_command_tool", Question: `{"reasoning":"x","command":"rm x"}`}}
		}}},
		"refused": {course: course{script: refused, status: run.Failed, req: func(*around) Request { return ask("hello") }}, flags: map[string]string{"governor.retries": "1"}},
	} {
		t.Run(name, func(t *testing.T) {
			a, collector := newAround(t, c.script), tracetest.Start(t)
			under := a.settings(t)["whole"]
			if c.under != "" {
				under = a.settings(t)[c.under]
			}
			if c.loop {
				under = under.with(looped)
			}
			disk := memory.New(memory.Options{})
			e := under.with(collectedBy(collector)).with(c.flags).engine(t, disk)
			id, _ := converse(t, e, c.req(a), agenttest.Reply)
			settled(t, e, id)
			rec, err := e.Get(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			if want := c.status; want != "" && rec.Status != want || want == "" && rec.Status != run.Done {
				t.Fatalf("the run is %s: %+v", rec.Status, rec.Failure)
			}
			if _, err := e.Replay(t.Context(), id); err != nil { // of which nobody is told
				t.Error(err)
			}
			if err := e.Close(); err != nil {
				t.Fatal(err)
			}
			spans := collector.Spans()
			if len(spans) == 0 {
				t.Fatal("no spans")
			}
			complete(t, spans)
			if in, out := used(spans); in != rec.Spent.InputTokens || out != rec.Spent.OutputTokens {
				t.Errorf("calls of %d and %d tokens were told of; the run spent %+v", in, out, rec.Spent)
			}
			got := tracetest.Paths(spans)
			if !c.kinds {
				got = tracetest.Tree(spans, c.show)
			}
			tree(t, name, id, got)
			for _, said := range []string{"newt", "parcel on", "hello", "Kestrel", "Oststrand"} {
				if strings.Contains(string(collector.Raw()), said) {
					t.Errorf("the trace has %q, which somebody said", said)
				}
			}
		})
	}
}

// lasting is a store that processes come and go at.
type lasting struct{ store.Store }

func (lasting) Close() error { return nil }

// A run that is left and taken up again, by another process, is one trace: what was
// done is told of once, and each span has its place.
func TestTraceGoesOn(t *testing.T) {
	reached, stop := make(chan struct{}), make(chan struct{})
	var once sync.Once
	calls := callsThen("websearchtool", "agent_helper")
	again := calls.Rules[len(calls.Rules)-1].Reply.Func
	var blocking atomic.Bool
	blocking.Store(true)
	calls.Rules[len(calls.Rules)-1].Reply = llmtest.Do(func(req *llmtest.Request) *llmtest.Reply {
		reply := again(req)
		if blocking.Load() && len(reply.ToolCalls) > 0 && reply.ToolCalls[0].Name == "finalanswertool" { // the helper's
			once.Do(func() { close(reached) })
			<-stop
		}
		return reply
	})
	a, first, second := newAround(t, calls), tracetest.Start(t), tracetest.Start(t)
	disk := lasting{memory.New(memory.Options{})}
	e := a.whole(t).with(collectedBy(first)).engine(t, disk)
	rec, err := e.Start(t.Context(), byAgent("boss", "How old are newts?"))
	if err != nil {
		t.Fatal(err)
	}
	<-reached
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	blocking.Store(false)
	close(stop)
	before := first.Spans()
	for _, s := range before {
		if name, _, _ := strings.Cut(s.Name, " "); name == "invoke_workflow" || name == "invoke_agent" {
			t.Errorf("%s was told of before it was over", s.Name)
		}
	}
	e = a.whole(t).with(collectedBy(second)).engine(t, disk)
	if err := e.Resume(t.Context(), rec.ID, ResumeOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := finished(t.Context(), e, rec.ID); err != nil {
		t.Fatal(err)
	}
	settled(t, e, rec.ID)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	after := second.Spans()
	if len(before) == 0 || len(after) == 0 {
		t.Fatalf("%d spans before, %d after", len(before), len(after))
	}
	all := slices.Concat(before, after)
	complete(t, all)
	begun := map[string]uint64{}
	for _, s := range all {
		begun[s.ID()] = s.StartTimeUnixNano
	}
	for _, s := range all {
		// What was lost with the first process is a part of what was done again.
		if lost := s.Attribute("error.type") == "cancelled"; !lost && s.Parent() != "" && begun[s.Parent()] > s.StartTimeUnixNano {
			t.Errorf("%s began before what it is a part of", s.Name)
		}
	}
	tree(t, "resumed", rec.ID, tracetest.Tree(all, tracetest.Named))
}

// A collector that is gone, or takes its time, is nothing that a run notices.
func TestNobodyWaitsForACollector(t *testing.T) {
	// Each span is sent at once, and hardly any waits for its turn.
	for name, value := range map[string]string{"SCHEDULE_DELAY": "1", "MAX_EXPORT_BATCH_SIZE": "1", "MAX_QUEUE_SIZE": "2"} {
		t.Setenv("OTEL_BSP_"+name, value)
	}
	script := llmtest.Script{Rules: []llmtest.Rule{{Reply: llmtest.JSON(map[string]any{"reasoning": "r", "answer": "Hello to you.", "key_points": []string{}})}}}
	for name, collect := range map[string]func(w http.ResponseWriter, r *http.Request) bool{
		"silent": func(_ http.ResponseWriter, r *http.Request) bool {
			_, _ = io.Copy(io.Discard, r.Body)
			<-r.Context().Done() // a run that waited would not end
			return false
		},
		"broken": func(w http.ResponseWriter, _ *http.Request) bool {
			w.WriteHeader(http.StatusInternalServerError)
			return false
		},
		"gone": nil,
	} {
		t.Run(name, func(t *testing.T) {
			a, collector := newAround(t, script), tracetest.Start(t)
			flags := collectedBy(collector)
			if collect == nil {
				flags["traces.endpoint"] = deadEnd
			}
			collector.Before(collect)
			e := a.whole(t).with(flags).engine(t, memory.New(memory.Options{}))
			for n := 0; n < 3 || collect != nil && collector.Requests() == 0; n++ {
				id, _ := converse(t, e, ask("hello"), "")
				if rec, err := e.Get(t.Context(), id); err != nil || rec.Status != run.Done {
					t.Errorf("%+v, %v", rec.Status, err)
				}
			}
			if err := e.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}
