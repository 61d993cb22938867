package cli

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"dossier/event"
	"dossier/internal/base/term"
	"dossier/lang"
	"dossier/run"
)

// Update is for the tests outside of the package too.
var Update = flag.Bool("update", false, "rewrite golden files")

// Glass is glass for the tests outside of the package.
type Glass = glass

// NewGlass makes one.
func NewGlass(columns int) *Glass { return &glass{columns: columns} }

// glass is a terminal as far as a board uses one: it understands a return, a
// line feed, moving up and erasing. Lines longer than it is wide wrap.
type glass struct {
	mu       sync.Mutex
	columns  int
	rows     [][]rune // a wide character is followed by 0
	row, col int
	strange  string // what it did not understand
	written  int
}

func (g *glass) width() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.columns
}

func (g *glass) Write(b []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.written++
	runes := []rune(string(b))
	for i := 0; i < len(runes); i++ {
		for len(g.rows) <= g.row {
			g.rows = append(g.rows, nil)
		}
		switch r := runes[i]; r {
		case '\r':
			g.col = 0
		case '\n':
			g.row, g.col = g.row+1, 0
		case 0x1b:
			end := i + 2
			if i+1 < len(runes) && runes[i+1] == ']' { // a command, up to ESC \
				for end+1 < len(runes) && (runes[end] != 0x1b || runes[end+1] != '\\') {
					end++
				}
				i = end + 1
				continue
			}
			for end < len(runes) && (runes[end] >= '0' && runes[end] <= '9' || runes[end] == ';' || runes[end] == '?') {
				end++
			}
			g.escape(string(runes[i:min(end+1, len(runes))]))
			i = end
		default:
			g.put(r)
		}
	}
	return len(b), nil
}

func (g *glass) put(r rune) {
	size := term.Width(string(r))
	if g.col+size > g.columns {
		g.row, g.col = g.row+1, 0
		for len(g.rows) <= g.row {
			g.rows = append(g.rows, nil)
		}
	}
	line := g.rows[g.row]
	for len(line) < g.col+size {
		line = append(line, ' ')
	}
	line[g.col] = r
	if size == 2 {
		line[g.col+1] = 0
	}
	g.rows[g.row] = line
	g.col += size
}

func (g *glass) escape(seq string) {
	number, _ := strconv.Atoi(strings.Trim(seq, "\x1b[AJKCH"))
	switch {
	case strings.HasSuffix(seq, "m"): // colours
	case strings.HasSuffix(seq, "A") && number > 0:
		g.row = max(0, g.row-number)
	case strings.HasSuffix(seq, "C") && number > 0:
		g.col += number
	case seq == "\x1b[H":
		g.row, g.col = 0, 0
	case seq == "\x1b[K":
		g.rows[g.row] = g.rows[g.row][:min(g.col, len(g.rows[g.row]))]
	case seq == "\x1b[J":
		g.rows[g.row] = g.rows[g.row][:min(g.col, len(g.rows[g.row]))]
		g.rows = g.rows[:g.row+1]
	default:
		g.strange += fmt.Sprintf("%q ", seq)
	}
}

func (g *glass) String() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	var out []string
	for _, r := range g.rows {
		out = append(out, strings.TrimRight(strings.ReplaceAll(string(r), "\x00", ""), " "))
	}
	return strings.TrimRight(strings.Join(out, "\n"), "\n") + "\n"
}

// research are the events of a run in stages, in the words of one language.
func research(plan, query, file string) [][]event.Data {
	steps := func(states ...string) event.PlanUpdated {
		var p event.PlanUpdated
		for i, s := range states {
			p.Steps = append(p.Steps, event.PlanStep{Title: fmt.Sprintf("%s %d\x1b[31m", plan, i+1), State: s})
		}
		return p
	}
	return [][]event.Data{
		{event.RunStatus{Status: string(run.Running)}},
		{event.Progress{What: file, Done: 120, Total: 300, Note: "docs/" + file + ".md"}, event.Progress{What: "pdf", Done: 2}},
		{
			event.Progress{What: file, Done: 300, Total: 300}, event.Progress{What: "pdf", Done: 3, Total: 3}, steps("active", "pending", "pending"),
			event.SearchStarted{Query: query}, event.SearchResults{Query: query, Found: 12, New: 4},
			event.SearchStarted{Query: query, Engine: "arxiv,brave"}, event.SearchResults{
				Query: query, Found: 3, New: 1,
				Engines: []event.EngineReply{{Engine: "arxiv", Error: "rate-limited: HTTP 429\x1b[31m"}, {Engine: "brave", Found: 8}, {Engine: "wikipedia", Found: 3, Cached: true}},
				Dropped: []event.DroppedResult{{Reason: "same-url"}, {Reason: "blocked-domain", Detail: "example.org"}, {Reason: "refused-url"}, {Reason: "same-url"}, {Reason: "same-url"}},
			},
			event.SourceFound{Number: 3, URL: "/d/a.md"}, event.SourceRead{Number: 1, URL: "/d/" + file + ".md"}, event.Usage{Model: "m", Input: 1000, Output: 234, Cost: 0.0012},
		},
		{
			steps("done", "done", "active", "pending", "pending", "pending", "dropped"), event.SearchStarted{Query: query}, event.SearchResults{Query: query, Error: "blocked\nby a wall"},
			event.SearchResults{
				Query: query, Engines: []event.EngineReply{{Engine: "arxiv"}, {Engine: "hn", Error: "odd \x1b[2J"}}, Error: "blocked\nby a wall",
				Dropped: []event.DroppedResult{{Reason: "ugly\x1b[2J"}},
			},
			event.SourceFailed{URL: "https://example.org/x", Reason: "404"}, event.NoteAdded{Text: "n"}, event.Coverage{Of: "facets", Covered: 2, Total: 7},
			event.Coverage{Of: "claims", Covered: 12, Total: 14}, event.BudgetWarning{What: "tokens", Limit: 2000, Spent: 1600},
		},
		{
			event.AgentReasoning{Text: query}, event.AgentAction{Tool: "search", CallID: "1", Arguments: []byte(`{"query":"q"}`)}, event.AgentAction{Tool: "search", CallID: "1", Result: "r"},
			event.AgentAction{Tool: "forecast", CallID: "2", Arguments: []byte(`{"city":"x\u001b[2J","why":"` + plan + `"}`)}, event.AgentAction{Tool: "forecast", CallID: "2", Result: "Error: " + query, Failed: true},
		},
	}
}

func TestBoards(t *testing.T) {
	for _, tc := range []struct {
		code              lang.Code
		plan, query, file string
	}{
		{lang.English, "how cold it may be outside", "heat pump lowest temperature outdoor unit", "reading"},
		{lang.Russian, "при каком морозе он работает", "тепловой насос минимальная температура", "чтение"},
		{lang.Chinese, "热泵在多低的温度下还能工作", "热泵 最低温度 室外机", "读取"},
	} {
		var got strings.Builder
		for _, width := range []int{90, 44, 20} {
			synctest.Test(t, func(t *testing.T) {
				g := &glass{columns: width}
				v := &textView{out: io.Discard, board: newPanel(g, g.width, tc.code), lang: tc.code}
				for i, stage := range research(tc.plan, tc.query, tc.file) {
					for _, d := range stage {
						v.show(event.Event{Run: "r1", Time: time.Now(), Data: d})
					}
					time.Sleep(7 * time.Second)
					synctest.Wait()
					fmt.Fprintf(&got, "-- %d columns, stage %d --\n%s", width, i+1, g)
					for l := range strings.Lines(g.String()) {
						if term.Width(strings.TrimSuffix(l, "\n")) >= width {
							t.Errorf("%d columns: %q is too long", width, l)
						}
					}
				}
				v.show(event.Event{Run: "r1", Time: time.Now(), Data: event.RunStatus{Status: string(run.Done)}})
				v.close()
				fmt.Fprintf(&got, "-- %d columns, the end --\n%s", width, g)
				if g.strange != "" {
					t.Errorf("the terminal does not know %s", g.strange)
				}
				if left := g.String(); !strings.HasPrefix(left, lang.Text(tc.code, "status.done")) || strings.Contains(left, tc.plan) {
					t.Errorf("the board leaves %q", left)
				}
			})
		}
		name := filepath.Join("testdata", "board", string(tc.code)+".txt")
		if *Update {
			if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, []byte(got.String()), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if got.String() != string(want) {
			t.Errorf("%s is not what is drawn; -update rewrites it:\n%s", name, &got)
		}
	}
}

// A board in front of which something is written comes back below it.
func TestABoardGivesWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &glass{columns: 60}
		p := newPanel(g, g.width, lang.English)
		p.line("run r1")
		p.observe(event.Event{Data: event.SourceRead{Number: 1, URL: "a.md"}})
		p.hide()
		if got := g.String(); got != "\n" {
			t.Errorf("hidden, it leaves %q", got)
		}
		before := g.written
		p.observe(event.Event{Data: event.SourceRead{Number: 2, URL: "b.md"}})
		time.Sleep(time.Second)
		synctest.Wait()
		if g.written != before {
			t.Error("a hidden board draws")
		}
		fmt.Fprintln(g, "the answer")
		p.line("goes on")
		if got, want := g.String(), "the answer\n⠋ 1s · goes on\n  2 read · b.md\n"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		p.close()
		if got, want := g.String(), "the answer\ngoes on · 2 read\n"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

// A terminal that became narrower has wrapped what was on it.
func TestABoardIsResized(t *testing.T) {
	lines := []string{strings.Repeat("x", 59), strings.Repeat("中", 20), "y"}
	for width, want := range map[int]string{80: "\r\x1b[2A", 60: "\r\x1b[2A", 40: "\r\x1b[3A", 20: "\r\x1b[5A"} {
		if got := home(lines, width); got != want {
			t.Errorf("%d columns: %q, want %q", width, got, want)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		g := &glass{columns: 30}
		p := newPanel(g, g.width, lang.English)
		p.line(strings.Repeat("long ", 20))
		g.mu.Lock()
		g.columns = 60
		g.mu.Unlock()
		time.Sleep(time.Second)
		synctest.Wait()
		if got := g.String(); strings.Count(got, "\n") != 1 || term.Width(got) < 50 {
			t.Errorf("after it became wider: %q", got)
		}
		p.close()
	})
}

// What an engine said last counts, and a hundred reasons for drops are one line.
func TestFactsOfEngines(t *testing.T) {
	f := facts{lang: lang.English}
	for _, d := range []event.Data{
		event.SearchResults{Query: "q", Engines: []event.EngineReply{{Engine: "a", Error: "too slow: no answer in 15s"}, {Engine: "b"}}},
		event.SearchResults{Query: "q", Engines: []event.EngineReply{{Engine: "c", Error: "brand new"}, {Engine: "b", Cached: true}}, Dropped: []event.DroppedResult{{Reason: "unheard-of"}}},
	} {
		f.observe(event.Event{Data: d})
	}
	got := strings.Join(f.lines(80), "\n")
	if want := "  ✗ a: too slow · ✗ c: brand new · ✓ b (cached)\n  dropped 1: 1 unheard-of"; !strings.HasSuffix(got, want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	f.observe(event.Event{Data: event.SearchResults{Query: "q", Engines: []event.EngineReply{{Engine: "a", Found: 3}}}})
	if got := f.health()[1]; got != "✓ a" {
		t.Error(got)
	}
}

func TestSourceName(t *testing.T) {
	for _, tc := range [][3]string{
		{"A\ntitle", "x", "A title"}, {"", "/d/docs/cli.md", "cli.md"}, {"", `C:\d\cli.md`, "cli.md"}, {"", "https://example.org/a/b", "example.org/a/b"}, {"", "", ""},
	} {
		if got := sourceName(tc[0], tc[1]); got != tc[2] {
			t.Errorf("%q %q: %q, want %q", tc[0], tc[1], got, tc[2])
		}
	}
}

// What was done before the plan is not shown beside it, and a source without a
// name leaves no dangling sign.
func TestFactsForgetWhatIsDone(t *testing.T) {
	f := facts{lang: lang.English}
	for _, d := range []event.Data{
		event.Progress{What: "reading", Total: 9, Note: "a.md"}, event.PlanUpdated{Steps: []event.PlanStep{{Title: "why"}}},
		event.SourceFound{Number: 1},
	} {
		f.observe(event.Event{Data: d})
	}
	if got := strings.Join(f.lines(60), "\n"); got != "  ○ why\n  1 source" {
		t.Errorf("%q", got)
	}
}

func TestInLines(t *testing.T) {
	for width, want := range map[int]string{
		80: "done · 3s · 4 sources · 4 read", 22: "done · 3s · 4 sources\n  4 read", 10: "done · 3s\n  4 sources\n  4 read",
	} {
		if got := inLines("done · 3s · 4 sources · 4 read", width); got != want {
			t.Errorf("%d columns: %q", width, got)
		}
	}
	if got := inLines("готово · 来源四个", 14); got != "готово\n  来源四个" {
		t.Errorf("%q", got)
	}
}
