package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"dossier/index"
	"dossier/llm"
	"dossier/tool/catalog"
)

// described is a tool as the sets write it.
type described struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Server      string          `json:"server"` // LiveMCP
	About       string          `json:"server_description"`
	Category    string          `json:"category"`
	Schema      json.RawMessage `json:"schema"`
	Arguments   json.RawMessage `json:"parameters"` // BFCL: a schema; Seal: its properties

	APIName        string `json:"api_name"` // Seal
	APIDescription string `json:"api_description"`
	Field          string `json:"field"`
}

func (d *described) entry() (catalog.Entry, error) {
	e := catalog.Entry{Name: d.Name, Description: d.Description, About: d.About, Schema: d.Schema}
	if d.Server != "" {
		e.Origin = "mcp:" + d.Server
	}
	if d.Category != "" {
		e.Tags = []string{d.Category}
	}
	switch {
	case d.APIName != "":
		e.Name, e.Description, e.Tags = d.APIName, d.APIDescription, strings.Split(d.Field, "/")
		schema, err := json.Marshal(map[string]any{"type": "object", "properties": d.Arguments})
		e.Schema = schema
		return e, err
	case d.Arguments != nil:
		e.Schema = d.Arguments
	}
	return e, nil
}

func entriesOf(all []described) ([]catalog.Entry, error) {
	entries := make([]catalog.Entry, len(all))
	for i := range all {
		e, err := all[i].entry()
		if err != nil {
			return nil, fmt.Errorf("tool %s: %w", all[i].Name, err)
		}
		entries[i] = e
	}
	return entries, nil
}

// toolSet is a catalog with what it costs to send its tools to a model.
type toolSet struct {
	ix     *catalog.Index
	tokens map[string]int // by origin and name
	all    int
}

func readTools(ctx context.Context, e *Env) (*toolSet, error) {
	described, err := readLines[described](e, "tools.jsonl.gz")
	if err != nil {
		return nil, err
	}
	entries, err := entriesOf(described)
	if err != nil {
		return nil, err
	}
	s := &toolSet{tokens: map[string]int{}}
	for i := range entries {
		n, err := tokensOf(&entries[i])
		if err != nil {
			return nil, err
		}
		s.tokens[entries[i].Origin+"/"+entries[i].Name] = n
		s.all += n
	}
	s.ix, err = catalog.NewIndex(ctx, entries, nil)
	return s, err
}

// tokensOf estimates what a tool takes of a model's window.
func tokensOf(e *catalog.Entry) (int, error) {
	schema := e.Schema
	if schema == nil {
		schema = json.RawMessage(`{"type":"object","properties":{}}`)
	}
	raw, err := json.Marshal(llm.Tool{Name: e.Name, Description: e.Description, Parameters: schema})
	if err != nil {
		return 0, fmt.Errorf("tool %s: %w", e.Name, err)
	}
	return llm.EstimateTokens(string(raw)), nil
}

// measure reports recall@k and, for tasks that need several tools, all@k,
// under their names with the suffix. It returns the sum of the shares of tokens
// that were saved. A tool counts by its name: the sets name no server.
func (s *toolSet) measure(ctx context.Context, e *Env, suffix string, k int, topics []topic, several bool) (saved float64, err error) {
	recall, all := 0.0, 0
	rank := func(t topic) (ranking, error) {
		found, err := s.ix.Search(ctx, t.Text, k)
		if err != nil {
			return nil, err
		}
		var r ranking
		sent := 0
		seen := map[string]bool{}
		for _, f := range found {
			sent += s.tokens[f.Origin+"/"+f.Name]
			if !seen[f.Name] {
				seen[f.Name] = true
				r = append(r, index.Hit{ID: f.Name, Score: f.Score})
			}
		}
		saved += 1 - float64(sent)/float64(max(1, s.all))
		return r, nil
	}
	err = e.rank(ctx, suffix, topics, rank, func(t topic, r ranking) {
		found := 0
		for _, h := range r {
			if t.Relevant[h.ID] > 0 {
				found++
			}
		}
		recall += float64(found) / float64(max(1, len(t.Relevant)))
		if found == len(t.Relevant) {
			all++
		}
	})
	if err != nil {
		return 0, err
	}
	e.Score(fmt.Sprintf("recall@%d%s", k, suffix), recall/float64(max(1, len(topics))), len(topics))
	if several {
		e.Ratio(fmt.Sprintf("all@%d%s", k, suffix), all, len(topics))
	}
	return saved, nil
}

// needs makes a topic of a task and the names of the tools that it needs.
func needs(id, text string, names ...string) topic {
	t := topic{ID: id, Text: text, Relevant: map[string]float64{}}
	for _, n := range names {
		t.Relevant[n] = 1
	}
	return t
}

// runTools measures the search for tools in catalogs with tasks.
func runTools(ctx context.Context, e *Env) error {
	tools, err := readTools(ctx, e)
	if err != nil {
		return err
	}
	type task struct {
		ID      string   `json:"_id"`
		SealID  string   `json:"id"`
		Query   string   `json:"query"`
		Gold    []string `json:"gold_tools"` // LiveMCP
		Calling []struct {
			API string `json:"api"`
		} `json:"calling"` // Seal
	}
	files, err := e.Files("*.jsonl.gz")
	if err != nil {
		return err
	}
	var tasks []task
	for _, file := range files {
		if file == "tools.jsonl.gz" {
			continue
		}
		more, err := readLines[task](e, file)
		if err != nil {
			return err
		}
		tasks = append(tasks, more...)
	}
	var topics []topic
	for _, t := range tasks {
		for _, c := range t.Calling {
			t.Gold = append(t.Gold, c.API)
		}
		topics = append(topics, needs(t.ID+t.SealID, t.Query, t.Gold...))
	}
	saved, err := tools.measure(ctx, e, "", 10, topics, true)
	if err != nil {
		return err
	}
	e.Score("tokens-saved", saved/float64(max(1, len(topics))), len(topics))
	return nil
}

// runMetaTool measures the search for tools with questions that need one tool
// and such that need two.
func runMetaTool(ctx context.Context, e *Env) error {
	tools, err := readTools(ctx, e)
	if err != nil {
		return err
	}
	single, err := readLines[struct{ Query, Tool string }](e, "single_tool_queries.jsonl.gz")
	if err != nil {
		return err
	}
	multi, err := readLines[struct {
		Query string
		Tool  []string
	}](e, "multi_tool_queries.jsonl.gz")
	if err != nil {
		return err
	}
	var one, several []topic
	for i, q := range single {
		one = append(one, needs(fmt.Sprintf("s%d", i), q.Query, q.Tool))
	}
	for i, q := range multi {
		several = append(several, needs(fmt.Sprintf("m%d", i), q.Query, q.Tool...))
	}
	savedOne, err := tools.measure(ctx, e, ".single", 5, one, false)
	if err != nil {
		return err
	}
	savedSeveral, err := tools.measure(ctx, e, ".multi", 5, several, true)
	if err != nil {
		return err
	}
	n := len(one) + len(several)
	e.Score("tokens-saved", (savedOne+savedSeveral)/float64(max(1, n)), n)
	return nil
}

// runBFCL measures whether the catalog knows when it has no tool: each question
// brings its own few functions.
func runBFCL(ctx context.Context, e *Env) error {
	type row struct {
		ID       string                             `json:"id"`
		Question [][]struct{ Role, Content string } `json:"question"`
		Function []described                        `json:"function"`
	}
	files, err := e.Files("*.jsonl.gz")
	if err != nil {
		return err
	}
	var abstained, falsely, none, some int
	for _, file := range files {
		rows, err := readLines[row](e, file)
		if err != nil {
			return err
		}
		irrelevant := strings.Contains(file, "irrelevance")
		for _, r := range rows {
			query := ""
			for _, turn := range r.Question[:min(1, len(r.Question))] {
				for _, m := range turn {
					if m.Role == "user" {
						query = m.Content
					}
				}
			}
			passing, err := fitting(ctx, query, r.Function)
			if err != nil {
				return fmt.Errorf("%s: %w", r.ID, err)
			}
			if err := e.Record(map[string]any{"id": r.ID, "tools": passing}); err != nil {
				return err
			}
			switch abstains := len(passing) == 0; {
			case irrelevant:
				none++
				abstained += count(abstains)
			default:
				some++
				falsely += count(abstains)
			}
		}
	}
	if none == 0 || some == 0 {
		return errors.New("rows with and without a function that serves them are needed")
	}
	e.Ratio("abstain", abstained, none)
	e.Ratio("false-abstain", falsely, some)
	return nil
}

// fitting returns the functions that are surely enough for a query.
func fitting(ctx context.Context, query string, functions []described) ([]string, error) {
	entries, err := entriesOf(functions)
	if err != nil {
		return nil, err
	}
	ix, err := catalog.NewIndex(ctx, entries, nil)
	if err != nil {
		return nil, err
	}
	found, err := ix.Search(ctx, query, len(entries))
	if err != nil {
		return nil, err
	}
	var names []string
	for _, f := range found {
		if f.Confidence >= catalog.Enough {
			names = append(names, f.Name)
		}
	}
	return names, nil
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}
