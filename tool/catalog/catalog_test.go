package catalog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"dossier/llm"
	"dossier/tool"
)

// stub is a tool that is only looked at.
type stub struct{ spec tool.Spec }

func (s *stub) Spec() *tool.Spec { return &s.spec }

func (s *stub) Call(context.Context, *tool.Call) (tool.Result, error) { return tool.Result{}, nil }

func stubOf(t testing.TB, e Entry) tool.Tool {
	t.Helper()
	raw := e.Schema
	if raw == nil {
		raw = json.RawMessage(`{"type":"object"}`)
	}
	schema, err := llm.ParseSchema(e.Name, raw)
	if err != nil {
		t.Fatal(err)
	}
	return &stub{tool.Spec{Name: e.Name, Origin: e.Origin, Description: e.Description, Schema: schema, Tags: e.Tags, Examples: e.Examples}}
}

// system makes a tool a system tool.
func system(t tool.Tool) tool.Tool {
	t.Spec().System = true
	return t
}

// furnished returns a catalog with the office and two system tools.
func furnished(t testing.TB, store Store, opts Options) *Catalog {
	t.Helper()
	c := New(store, opts)
	byOrigin := map[string][]tool.Tool{}
	var order []string
	for _, e := range office() {
		if byOrigin[e.Origin] == nil {
			order = append(order, e.Origin)
		}
		byOrigin[e.Origin] = append(byOrigin[e.Origin], stubOf(t, e))
	}
	builtin := []tool.Tool{
		system(stubOf(t, Entry{Name: "reasoningtool", Origin: tool.Builtin, Description: "Think about the weather."})),
		system(stubOf(t, Entry{Name: "finalanswertool", Origin: tool.Builtin, Description: "Answer."})),
		stubOf(t, Entry{Name: "web_search", Origin: tool.Builtin, Description: "Search the web."}),
	}
	put(t, c, tool.Builtin, builtin)
	for _, o := range order {
		put(t, c, o, byOrigin[o])
	}
	return c
}

func put(t testing.TB, c *Catalog, from string, tools []tool.Tool) {
	t.Helper()
	if err := c.Put(t.Context(), from, "", tools); err != nil {
		t.Fatal(err)
	}
}

func selected(t testing.TB, c *Catalog, task string, p Policy) (list, notes string) {
	t.Helper()
	s, err := c.Select(t.Context(), task, p)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, one := range s.Tools {
		all = append(all, one.Spec().Name)
	}
	return strings.Join(all, " "), strings.Join(s.Notes, "\n")
}

func TestSelect(t *testing.T) {
	const task = "what is the weather forecast for the city of Paris"
	for name, c := range map[string]struct {
		policy Policy
		task   string
		want   string
		notes  string
	}{
		"system tools only": {want: "reasoningtool finalanswertool"},
		"listed ones come first, in their order": {
			policy: Policy{Listed: []string{"WebSearch", "mcp:travel", "mcp:mail/sendEmail", "reasoning_tool"}},
			want:   "web_search searchFlights book_hotel send_email reasoningtool finalanswertool",
		},
		"always": {
			policy: Policy{Always: []string{"book_hotel"}, Listed: []string{"web_search"}},
			want:   "web_search reasoningtool finalanswertool book_hotel",
		},
		"on demand": {
			policy: Policy{OnDemand: true, K: 1}, task: task,
			want: "reasoningtool finalanswertool get_weather",
		},
		"what is there takes none of the places": {
			policy: Policy{OnDemand: true, K: 1, Listed: []string{"get_weather"}}, task: "the weather forecast and the quality of the air in the city",
			want: "get_weather reasoningtool finalanswertool get_air_quality",
		},
		"nothing fits": {
			policy: Policy{OnDemand: true}, task: "solve the quadratic equation",
			want: "reasoningtool finalanswertool",
		},
		"never": {
			policy: Policy{OnDemand: true, K: 1, Never: []string{"get_weather", "mcp:mail", "finalanswertool"}, Always: []string{"send_email"}}, task: task,
			want: "reasoningtool finalanswertool",
		},
		"a missing tool is told of": {
			policy: Policy{Listed: []string{"nothing", "mcp:gone"}},
			want:   "reasoningtool finalanswertool",
			notes:  "There is no tool nothing.\nThere is no tool mcp:gone.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, notes := selected(t, furnished(t, nil, Options{}), c.task, c.policy)
			if got != c.want || notes != c.notes {
				t.Errorf("got %q, notes %q; want %q, notes %q", got, notes, c.want, c.notes)
			}
		})
	}
}

func TestSelectLeavesOutWhatIsDown(t *testing.T) {
	c := furnished(t, nil, Options{})
	policy := Policy{Listed: []string{"mcp:travel"}, OnDemand: true, K: 1}
	c.Report("mcp:travel", errors.New("connection refused"))
	c.Report("mcp:meteo", errors.New("it hangs"))
	got, notes := selected(t, c, "what is the weather forecast for the city", policy)
	const want = "The tools of mcp:travel can't be called at the moment: connection refused\nThe tools of mcp:meteo can't be called at the moment: it hangs"
	if got != "reasoningtool finalanswertool" || notes != want {
		t.Errorf("down: %q, notes %q", got, notes)
	}
	c.Report("mcp:travel", nil)
	c.Report("mcp:meteo", nil)
	c.Report("mcp:nobody", nil)
	if got, notes = selected(t, c, "what is the weather forecast for the city", policy); got != "searchFlights book_hotel reasoningtool finalanswertool get_weather" || notes != "" {
		t.Errorf("up again: %q, notes %q", got, notes)
	}
}

func TestSelectTellsOfEqualNames(t *testing.T) {
	c := furnished(t, nil, Options{})
	put(t, c, "mcp:other", []tool.Tool{stubOf(t, Entry{Name: "sendEmail", Origin: "mcp:other", Description: "Send an email."})})
	got, notes := selected(t, c, "", Policy{Listed: []string{"mcp:other", "mcp:mail"}})
	if got != "sendEmail reasoningtool finalanswertool" || notes != "send_email of mcp:mail is left out: that of mcp:other has the same name." {
		t.Errorf("%q, notes %q", got, notes)
	}
}

func TestPut(t *testing.T) {
	c := furnished(t, nil, Options{})
	weather := stubOf(t, office()[0])
	if err := c.Put(t.Context(), "mcp:elsewhere", "", []tool.Tool{weather}); err == nil {
		t.Error("a tool of another origin was taken")
	}
	put(t, c, "mcp:meteo", nil)
	if _, err := c.Resolve(t.Context(), "get_weather"); err == nil {
		t.Error("a tool of an origin that left is still there")
	}
	if got, err := c.Search(t.Context(), "weather forecast", 1); err != nil || slices.Contains(names(got), "get_weather") {
		t.Errorf("it is still found: %v, %v", names(got), err)
	}
	put(t, c, "mcp:meteo", []tool.Tool{weather})
	got, err := c.Resolve(t.Context(), "mcp:meteo/GetWeather")
	if err != nil || len(got) != 1 || got[0] != weather {
		t.Errorf("it is not back: %v, %v", got, err)
	}
	if all := c.Tools(t.Context()); all[len(all)-1] != weather {
		t.Error("it does not come last")
	}
}

func TestIndexIsMadeAgainOnlyWhenEntriesChange(t *testing.T) {
	e := &meanings{}
	c := furnished(t, nil, Options{Embedder: e})
	search := func() {
		t.Helper()
		if _, err := c.Search(t.Context(), "weather", 3); err != nil {
			t.Fatal(err)
		}
	}
	search()
	before := e.calls
	search()
	put(t, c, "mcp:mail", []tool.Tool{stubOf(t, office()[4])}) // the same again
	search()
	if e.calls != before+2 { // one call for each query
		t.Errorf("%d calls of the embedder for two queries", e.calls-before)
	}
	put(t, c, "mcp:mail", []tool.Tool{stubOf(t, Entry{Name: "send_fax", Origin: "mcp:mail"})})
	search()
	if e.calls != before+4 {
		t.Errorf("%d calls of the embedder after a change", e.calls-before)
	}
}

func TestFinder(t *testing.T) {
	c := furnished(t, nil, Options{})
	finder := c.Finder(Policy{K: 2, Never: []string{"get_air_quality"}})
	spec := finder.Spec()
	if spec.Name != "searchtoolstool" || spec.Kind != tool.Finding || !spec.System || !strings.Contains(string(spec.Schema.Strict), `"query"`) {
		t.Fatalf("spec: %+v", spec)
	}
	call := func(args string) (tool.Result, error) {
		return finder.Call(t.Context(), &tool.Call{Args: json.RawMessage(args), State: &tool.State{}})
	}
	r, err := call(`{"query":"weather forecast of a city"}`)
	if err != nil || r.Change.Found[0] != "get_weather" || slices.Contains(r.Change.Found, "get_air_quality") || !strings.Contains(r.Text, "- get_weather: Get the weather forecast for a city.") {
		t.Errorf("found %v, %v: %s", r.Change.Found, err, r.Text)
	}
	if r, err = call(`{"query":"solve the quadratic equation"}`); err != nil || len(r.Change.Found) != 0 || !strings.HasPrefix(r.Text, "No tool") {
		t.Errorf("found %v, %v: %s", r.Change.Found, err, r.Text)
	}
	var wrong *tool.ArgumentError
	if _, err = call(`{"query":"  "}`); !errors.As(err, &wrong) {
		t.Errorf("an empty query: %v", err)
	}
	c.Report("mcp:meteo", errors.New("gone"))
	if r, err = call(`{"query":"weather forecast of a city"}`); err != nil || !strings.Contains(r.Text, "mcp:meteo can't be called") {
		t.Errorf("down: %v: %s", err, r.Text)
	}
}

func TestLine(t *testing.T) {
	for text, want := range map[string]string{
		"One.\nTwo": "One.", "a\n\n b": "a b", "": "", strings.Repeat("ж", 500): strings.Repeat("ж", lineLength-1) + "…",
	} {
		if got := line(text); got != want {
			t.Errorf("%.20q: %q", text, got)
		}
	}
}

// shop is a store of its own, to be looked at.
type shop struct {
	mu      sync.Mutex
	puts    [][]Entry
	uses    []ToolUse
	writes  int
	failing error
}

func (s *shop) PutTools(_ context.Context, entries []Entry) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.puts = append(s.puts, entries)
	return s.failing
}

func (s *shop) ToolRecords(context.Context) ([]Record, error) { return nil, nil }

func (s *shop) RecordUse(_ context.Context, uses []ToolUse) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writes++
	if s.failing == nil {
		s.uses = append(s.uses, uses...)
	}
	return s.failing
}

// seen returns how often use was written, and what.
func (s *shop) seen() (writes int, uses []ToolUse) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.writes, slices.Clone(s.uses)
}

func TestUseIsWrittenInBatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &shop{}
		c := furnished(t, store, Options{})
		mail := office()[4]
		spec := stubOf(t, mail).Spec()
		start := time.Now()
		for range 1000 {
			c.RecordUse(spec, time.Second, nil)
		}
		c.RecordUse(spec, time.Second, errors.New("refused\xff"))
		synctest.Wait()
		if writes, _ := store.seen(); writes != 0 {
			t.Fatalf("%d writes at once", writes)
		}
		time.Sleep(2 * flushAfter)
		synctest.Wait()
		want := ToolUse{mail.Origin, mail.Name, Use{
			Calls: 1001, Failures: 1, Time: 1001 * time.Second, Last: start, OK: start, Failed: start, Error: "refused\uFFFD",
		}}
		if writes, uses := store.seen(); writes != 1 || len(uses) != 1 || uses[0] != want {
			t.Fatalf("%d writes: %+v", writes, uses)
		}
		// What could not be written stays.
		store.failing = errors.New("disk full")
		c.RecordUse(spec, time.Second, nil)
		if err := c.Flush(t.Context()); err == nil {
			t.Fatal("a failing store is silent")
		}
		c.RecordUse(spec, time.Second, nil)
		store.failing = nil
		if err := c.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := store.uses[len(store.uses)-1]; got.Calls != 2 {
			t.Fatalf("after a failure: %+v", got)
		}
	})
}

func TestHealthIsWritten(t *testing.T) {
	store := &shop{}
	c := furnished(t, store, Options{Now: func() time.Time { return time.Unix(7, 0) }})
	c.Report("mcp:meteo", errors.New("gone"))
	if err := c.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(store.uses) != 2 || store.uses[0].Calls != 0 || store.uses[0].Error != "gone" || store.uses[1].Healthy() {
		t.Errorf("%+v", store.uses)
	}
	puts := len(store.puts)
	put(t, c, "mcp:mail", []tool.Tool{stubOf(t, office()[4])})
	if len(store.puts) != puts {
		t.Error("tools that did not change were written again")
	}
	store.failing = errors.New("disk full")
	if err := c.Put(t.Context(), "mcp:mail", "new", []tool.Tool{stubOf(t, office()[4])}); err == nil {
		t.Error("a failing store is silent")
	}
	if _, err := c.Resolve(t.Context(), "send_email"); err != nil {
		t.Errorf("what could not be written is not there: %v", err)
	}
}

func TestRecordsWithoutAStore(t *testing.T) {
	c := furnished(t, nil, Options{})
	c.RecordUse(stubOf(t, office()[0]).Spec(), time.Second, nil)
	records, err := c.Records(t.Context())
	if err != nil || len(records) != len(office())+3 {
		t.Fatalf("%d records, %v", len(records), err)
	}
	i := slices.IndexFunc(records, func(r Record) bool { return r.Name == "get_weather" })
	if records[i].Calls != 1 {
		t.Errorf("%+v", records[i])
	}
}

func TestManyAtOnce(t *testing.T) {
	c := furnished(t, &shop{}, Options{})
	var crowd sync.WaitGroup
	for i := range 8 {
		crowd.Go(func() {
			origin := fmt.Sprintf("mcp:%d", i)
			one := stubOf(t, Entry{Name: fmt.Sprintf("tool_%d", i), Origin: origin, Description: "Weather of the world."})
			for n := range 20 {
				if err := c.Put(t.Context(), origin, fmt.Sprint(n), []tool.Tool{one}); err != nil {
					t.Error(err)
				}
				if _, err := c.Select(t.Context(), "weather forecast for a city", Policy{OnDemand: true, Listed: []string{origin}}); err != nil {
					t.Error(err)
				}
				c.RecordUse(one.Spec(), time.Millisecond, nil)
				c.Report(origin, nil)
			}
		})
	}
	crowd.Wait()
	if err := c.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}
