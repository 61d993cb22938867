package agui

import (
	"encoding/json"
	"slices"
	"strconv"

	"dossier/event"
)

// State is what clients know of a run beside its messages. They get it whole when
// they begin to listen, and then as patches.
type State struct {
	Run       string                    `json:"run"`
	Session   string                    `json:"session"`
	Status    string                    `json:"status"`
	Plan      *event.PlanUpdated        `json:"plan"`
	Todos     []event.TodoUpdated       `json:"todos"`
	Notes     []event.NoteAdded         `json:"notes"`
	Searches  []Search                  `json:"searches"`
	Sources   []Source                  `json:"sources"`
	Sections  []event.ReportSection     `json:"sections"`
	Coverage  map[string]event.Coverage `json:"coverage"`
	FollowUps []string                  `json:"followups"`
}

// Search is a query, and what became of it.
type Search struct {
	Query string `json:"query"`
	Round int    `json:"round,omitempty"`
	Done  bool   `json:"done,omitempty"`
	Found int    `json:"found"`
	Error string `json:"error,omitempty"`
}

// Source is one that was found, and whether it was read.
type Source struct {
	Number int    `json:"number"`
	Title  string `json:"title,omitempty"`
	URL    string `json:"url"`
	Read   bool   `json:"read,omitempty"`
	Failed string `json:"failed,omitempty"`
}

func newState() *State {
	return &State{
		Todos: []event.TodoUpdated{}, Notes: []event.NoteAdded{}, Searches: []Search{}, Sources: []Source{}, Sections: []event.ReportSection{},
		Coverage: map[string]event.Coverage{}, FollowUps: []string{},
	}
}

// frozen is the state as it is now.
func (s *State) frozen() json.RawMessage {
	raw, err := json.Marshal(s)
	if err != nil { // what is in it was decoded from JSON
		panic(err)
	}
	return raw
}

// apply takes in an event and returns what it changes, nothing where the state
// does not depend on such.
func (s *State) apply(d event.Data) []Operation {
	switch d := d.(type) {
	case event.RunStatus:
		s.Status = d.Status
		return set("/status", d.Status)
	case event.PlanUpdated:
		s.Plan = &d
		return set("/plan", d)
	case event.TodoUpdated:
		return put(&s.Todos, "/todos", d, func(t event.TodoUpdated) bool { return t.ID == d.ID })
	case event.NoteAdded:
		return put(&s.Notes, "/notes", d, func(n event.NoteAdded) bool { return n.ID != "" && n.ID == d.ID })
	case event.SearchStarted:
		return put(&s.Searches, "/searches", Search{Query: d.Query, Round: d.Round}, func(q Search) bool { return q.Query == d.Query && !q.Done })
	case event.SearchResults:
		asked := func(q Search) bool { return q.Query == d.Query && !q.Done }
		q := Search{Query: d.Query, Done: true, Found: d.Found, Error: d.Error}
		if i := slices.IndexFunc(s.Searches, asked); i >= 0 {
			q.Round = s.Searches[i].Round
		}
		return put(&s.Searches, "/searches", q, asked)
	case event.SourceFound:
		src := Source{Number: d.Number, Title: d.Title, URL: d.URL, Read: d.Hash != ""}
		return put(&s.Sources, "/sources", src, func(known Source) bool { return known.Number == d.Number })
	case event.SourceRead:
		return s.source(d.URL, func(src *Source) { src.Read = true })
	case event.SourceFailed:
		return s.source(d.URL, func(src *Source) { src.Failed = d.Reason })
	case event.ReportSection:
		return put(&s.Sections, "/sections", d, func(known event.ReportSection) bool { return known.Index == d.Index })
	case event.ReportReset:
		s.Sections = []event.ReportSection{}
		return set("/sections", s.Sections)
	case event.Coverage:
		s.Coverage[d.Of] = d
		return set("/coverage/"+pointer(d.Of), d)
	case event.FollowUps:
		s.FollowUps = d.Questions
		return set("/followups", d.Questions)
	}
	return nil
}

// source changes a source that has a number; others are not told of yet.
func (s *State) source(url string, change func(*Source)) []Operation {
	i := slices.IndexFunc(s.Sources, func(src Source) bool { return src.URL == url })
	if i < 0 {
		return nil
	}
	change(&s.Sources[i])
	return []Operation{{"replace", "/sources/" + strconv.Itoa(i), s.Sources[i]}}
}

// set gives a member of an object a value.
func set(path string, value any) []Operation { return []Operation{{"add", path, value}} }

// put replaces the first of a list that is the same, or appends.
func put[T any](list *[]T, path string, value T, same func(T) bool) []Operation {
	if i := slices.IndexFunc(*list, same); i >= 0 {
		(*list)[i] = value
		return []Operation{{"replace", path + "/" + strconv.Itoa(i), value}}
	}
	*list = append(*list, value)
	return []Operation{{"add", path + "/-", value}}
}

// pointer escapes a name in a JSON pointer.
func pointer(name string) string {
	out := make([]byte, 0, len(name))
	for _, c := range []byte(name) {
		switch c {
		case '~':
			out = append(out, "~0"...)
		case '/':
			out = append(out, "~1"...)
		default:
			out = append(out, c)
		}
	}
	return string(out)
}
