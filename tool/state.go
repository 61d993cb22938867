package tool

import (
	"encoding/json"
	"maps"
	"slices"

	"dossier/run"
)

// Status of an agent, as clients see it.
type Status string

// The statuses.
const (
	Inited      Status = "inited"
	Researching Status = "researching"
	Waiting     Status = "waiting_for_clarification"
	Completed   Status = "completed"
	Failed      Status = "failed"
	Errored     Status = "error"
	Cancelled   Status = "cancelled"
)

// Finished says whether the agent's work is over.
func (s Status) Finished() bool {
	return s == Completed || s == Failed || s == Errored || s == Cancelled
}

// State is what the tools of an agent's run share. It is changed by applying
// results in their order, so that a resumed run comes to the same state.
type State struct {
	Status         Status                     `json:"state"`
	Iteration      int                        `json:"iteration"`
	Searches       int                        `json:"searches_used"`
	Clarifications int                        `json:"clarifications_used"`
	Sources        []Source                   `json:"sources,omitempty"`
	Plan           *Plan                      `json:"plan,omitempty"`
	Notes          []Note                     `json:"notes,omitempty"`
	Report         *Report                    `json:"report,omitempty"`
	Result         string                     `json:"execution_result,omitempty"`
	Custom         map[string]json.RawMessage `json:"custom_context,omitempty"`
	// Calls counts the calls of each tool by its name.
	Calls map[string]int `json:"calls,omitempty"`
	// Found are the tools that a search for tools has brought in.
	Found []string `json:"found_tools,omitempty"`

	// Task is what the agent was asked to do, and Lang the language of the
	// answer, as a code. Created is the day of the run.
	Task    string `json:"task"`
	Lang    string `json:"lang,omitempty"`
	Created string `json:"created,omitempty"`
}

// Source is something that was found, and maybe read.
type Source struct {
	Number  int    `json:"number"`
	Title   string `json:"title,omitempty"`
	URL     string `json:"url"`
	Snippet string `json:"snippet,omitempty"`
	// Text names the blob that holds what was read; empty until it is.
	Text string `json:"text,omitempty"`
	// Letters counts the characters of that text.
	Letters int `json:"letters,omitempty"`
}

// Plan is what the agent has set out to do.
type Plan struct {
	Goal       string   `json:"goal"`
	Steps      []string `json:"steps"`
	Strategies []string `json:"strategies,omitempty"`
	Changes    []string `json:"changes,omitempty"`
}

// Note is something worth keeping, with the numbers of its sources.
type Note struct {
	Text    string `json:"text"`
	Sources []int  `json:"sources,omitempty"`
}

// Report is a report that the agent wrote.
type Report struct {
	Title      string `json:"title"`
	Content    string `json:"content"`
	Confidence string `json:"confidence,omitempty"`
	File       string `json:"file,omitempty"`
}

// Answer ends an agent's work.
type Answer struct {
	Text   string   `json:"text"`
	Status Status   `json:"status"` // Completed or Failed
	Steps  []string `json:"steps,omitempty"`
}

// Change is what a result does to the state. The zero value does nothing.
type Change struct {
	// Searches that were used up.
	Searches int `json:"searches,omitempty"`
	// Sources that are new, with numbers that go on from those there are, or
	// that are known better now.
	Sources []Source `json:"sources,omitempty"`
	Plan    *Plan    `json:"plan,omitempty"`
	Notes   []Note   `json:"notes,omitempty"`
	Report  *Report  `json:"report,omitempty"`
	// Answer ends the work.
	Answer *Answer `json:"answer,omitempty"`
	// Ask is put to the user; the answer is added to the result's text.
	Ask *run.Question `json:"ask,omitempty"`
	// Found are tools to put before the model from now on.
	Found []string `json:"found,omitempty"`
	// Custom entries are set; null removes one.
	Custom map[string]json.RawMessage `json:"custom,omitempty"`
}

// IsZero is for encoding/json, which copies what it does not ask by pointer.
func (c *Change) IsZero() bool {
	return c.Searches == 0 && c.Sources == nil && c.Plan == nil && c.Notes == nil && c.Report == nil &&
		c.Answer == nil && c.Ask == nil && c.Found == nil && c.Custom == nil
}

// Copy returns the state as it is now. What is applied later does not show in
// it, so that a call which outlives its time reads nothing that changes.
func (s *State) Copy() *State {
	c := *s
	c.Sources = slices.Clone(s.Sources)
	c.Notes, c.Found = slices.Clip(s.Notes), slices.Clip(s.Found)
	c.Custom, c.Calls = maps.Clone(s.Custom), maps.Clone(s.Calls)
	return &c
}

// Apply changes the state as a result wants it.
func (s *State) Apply(c Change) {
	s.Searches += c.Searches
	for _, src := range c.Sources {
		s.keep(src)
	}
	if c.Plan != nil {
		s.Plan = c.Plan
	}
	s.Notes = append(s.Notes, c.Notes...)
	if c.Report != nil {
		s.Report = c.Report
	}
	if c.Answer != nil {
		s.Result, s.Status = c.Answer.Text, c.Answer.Status
	}
	for _, name := range c.Found {
		if !slices.Contains(s.Found, name) {
			s.Found = append(s.Found, name)
		}
	}
	if len(c.Custom) == 0 {
		return
	}
	if s.Custom == nil {
		s.Custom = make(map[string]json.RawMessage)
	}
	for _, key := range slices.Sorted(maps.Keys(c.Custom)) {
		if v := c.Custom[key]; v == nil || string(v) == "null" {
			delete(s.Custom, key)
		} else {
			s.Custom[key] = v
		}
	}
}

// keep adds a source, or what is new about one. A source is its address: the
// number of the first mention stands.
func (s *State) keep(src Source) {
	if i := slices.IndexFunc(s.Sources, func(o Source) bool { return o.URL == src.URL }); i >= 0 {
		old := &s.Sources[i]
		if src.Title != "" {
			old.Title = src.Title
		}
		if src.Snippet != "" {
			old.Snippet = src.Snippet
		}
		if src.Text != "" {
			old.Text, old.Letters = src.Text, src.Letters
		}
		return
	}
	src.Number = len(s.Sources) + 1
	s.Sources = append(s.Sources, src)
}

// Number returns the number of an address among the sources, or the one that it
// gets when after others that are new have got theirs.
func (s *State) Number(url string, after int) (n int, known bool) {
	for _, src := range s.Sources {
		if src.URL == url {
			return src.Number, true
		}
	}
	return len(s.Sources) + after + 1, false
}

// Source returns the source with a number.
func (s *State) Source(n int) (Source, bool) {
	if n < 1 || n > len(s.Sources) {
		return Source{}, false
	}
	return s.Sources[n-1], true
}
