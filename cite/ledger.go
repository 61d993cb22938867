package cite

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"dossier/lang"
)

// Ledger numbers the sources of a run from 1, in order of first use. A run
// that asks in the same order gets the same numbers. It is safe for concurrent
// use, and its JSON form restores it.
type Ledger struct {
	mu       sync.Mutex
	sources  []Source
	sketches []lang.Sketch // of the sources that were read
	byURI    map[string]int
}

// NewLedger returns a ledger without sources.
func NewLedger() *Ledger { return &Ledger{byURI: map[string]int{}} }

// LedgerOf returns a ledger that has the sources given under the numbers that they
// have, and none under others. It is there to look things up.
func LedgerOf(sources []Source) *Ledger {
	l := NewLedger()
	for _, s := range sources {
		for len(l.sources) < s.Number {
			l.sources, l.sketches = append(l.sources, Source{}), append(l.sketches, lang.Sketch{})
		}
		if s.Number > 0 {
			l.sources[s.Number-1] = s
			l.byURI[Canonical(s.URI)] = s.Number
		}
	}
	return l
}

// Add returns the source with the URI of s, which gets the next number if it
// is new. Fields that were unknown so far are filled in from s; known ones
// stay, as do number, snapshot and group.
func (l *Ledger) Add(s Source) Source {
	l.mu.Lock()
	defer l.mu.Unlock()
	key := Canonical(s.URI)
	if n, ok := l.byURI[key]; ok {
		known := &l.sources[n-1]
		fill(&known.Title, s.Title)
		fill(&known.Author, s.Author)
		fill(&known.Date, s.Date)
		fill(&known.Lang, s.Lang)
		fill(&known.Site, s.Site)
		return *known
	}
	s.Number, s.Snapshot, s.CopyOf = len(l.sources)+1, "", 0
	if s.Kind == "" {
		s.Kind = Web
		if key[:min(2, len(key))] != "//" {
			s.Kind = File
		}
	}
	if l.byURI == nil {
		l.byURI = map[string]int{}
	}
	l.byURI[key] = s.Number
	l.sources = append(l.sources, s)
	l.sketches = append(l.sketches, lang.Sketch{})
	return s
}

// Anew enters a source whose address the ledger has with another text, as one of
// its own with the next number. The address stands for it from now on.
func (l *Ledger) Anew(s Source) Source {
	l.mu.Lock()
	delete(l.byURI, Canonical(s.URI))
	l.mu.Unlock()
	return l.Add(s)
}

func fill[T ~string](known *T, news T) {
	if *known == "" {
		*known = news
	}
}

// Read records what was read from a source and groups it with the sources
// that carry the same article. Reading a source again replaces its snapshot.
func (l *Ledger) Read(number int, snap *Snapshot) (Source, error) {
	sketch := lang.SketchOf(snap.Text)
	l.mu.Lock()
	defer l.mu.Unlock()
	if number < 1 || number > len(l.sources) {
		return Source{}, fmt.Errorf("cite: read source %d: the ledger has %d", number, len(l.sources))
	}
	l.sources[number-1].Snapshot = snap.Hash
	l.sketches[number-1] = sketch
	l.group()
	return l.sources[number-1], nil
}

// group makes the lowest number among sources that are linked by being copies
// of each other stand for all of them.
func (l *Ledger) group() {
	root := make([]int, len(l.sources))
	for i := range root {
		root[i] = i
		for j := range i {
			if root[j] == root[i] || !l.sketches[i].Copies(l.sketches[j]) {
				continue
			}
			from, to := max(root[i], root[j]), min(root[i], root[j])
			for k := range i + 1 {
				if root[k] == from {
					root[k] = to
				}
			}
		}
	}
	for i := range l.sources {
		l.sources[i].CopyOf = 0
		if root[i] != i {
			l.sources[i].CopyOf = root[i] + 1
		}
	}
}

// Source returns the source with that number.
func (l *Ledger) Source(number int) (Source, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if number < 1 || number > len(l.sources) {
		return Source{}, false
	}
	s := l.sources[number-1]
	return s, s.Number == number
}

// Lookup returns the source of a URL or path.
func (l *Ledger) Lookup(uri string) (Source, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n, ok := l.byURI[Canonical(uri)]
	if !ok {
		return Source{}, false
	}
	return l.sources[n-1], true
}

// Sources returns all sources in order of their numbers.
func (l *Ledger) Sources() []Source {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.sources)
}

// Independent counts the sources among numbers that are not copies of each
// other. Unknown numbers don't count.
func (l *Ledger) Independent(numbers []int) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	groups := map[int]bool{}
	for _, n := range numbers {
		if n >= 1 && n <= len(l.sources) {
			groups[l.sources[n-1].represents()] = true
		}
	}
	return len(groups)
}

// ledgerJSON is the stored form of a Ledger.
type ledgerJSON struct {
	Sources  []Source      `json:"sources"`
	Sketches []lang.Sketch `json:"sketches"`
}

// MarshalJSON implements json.Marshaler.
func (l *Ledger) MarshalJSON() ([]byte, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return json.Marshal(ledgerJSON{append([]Source{}, l.sources...), append([]lang.Sketch{}, l.sketches...)})
}

// UnmarshalJSON implements json.Unmarshaler. It refuses a ledger whose numbers
// are not 1, 2, 3 and so on.
func (l *Ledger) UnmarshalJSON(data []byte) error {
	var in ledgerJSON
	if err := json.Unmarshal(data, &in); err != nil {
		return fmt.Errorf("cite: ledger: %w", err)
	}
	if len(in.Sketches) != len(in.Sources) {
		return fmt.Errorf("cite: ledger: %d sketches for %d sources", len(in.Sketches), len(in.Sources))
	}
	byURI := make(map[string]int, len(in.Sources))
	for i, s := range in.Sources {
		key := Canonical(s.URI)
		twice := byURI[key] != 0 && in.Sources[byURI[key]-1].Snapshot == s.Snapshot
		if s.Number != i+1 || twice || s.CopyOf < 0 || s.CopyOf > i {
			return fmt.Errorf("cite: ledger: source %d is out of order, twice there or a copy of a later one", s.Number)
		}
		byURI[key] = s.Number
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sources, l.sketches, l.byURI = in.Sources, in.Sketches, byURI
	return nil
}
