package terms

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"dossier/lang"
	"dossier/lang/terms/internal/dictfile"
	"dossier/lang/terms/internal/table"
)

// Installed is where Debian's packages put the dictionaries of dictd.
const Installed = "/usr/share/dictd"

// Shelf keeps dictionaries that a user added, packed, in a folder of its own,
// and knows those that are installed on the machine. The zero value of
// Installed knows none.
type Shelf struct {
	Dir       string // is made when something is put there
	Installed string // a folder of dictd's dictionaries
}

// Entry is a dictionary on a shelf.
type Entry struct {
	Name      string    `json:"name"`
	Title     string    `json:"title,omitempty"` // as the dictionary calls itself
	Lang      lang.Code `json:"lang"`            // beside English
	Terms     int       `json:"terms"`           // of that language
	Format    string    `json:"format"`
	Source    string    `json:"source"`              // the file that it was made from
	Installed bool      `json:"installed,omitempty"` // found on the machine, not added
	Problem   string    `json:"problem,omitempty"`   // why it is not used
}

// What Shelf's methods fail with.
var (
	ErrNoDictionary = errors.New("there is no such dictionary")
	ErrKnown        = errors.New("there is a dictionary of this name already")
)

const (
	suffix = ".terms"
	found  = "installed" // folder of the packed copies of what is installed
)

// BuiltIn returns the dictionaries that come with the program.
func BuiltIn() []Entry {
	var out []Entry
	for _, file := range [][]byte{russianTerms, chineseTerms} {
		about, err := table.Describe(file)
		if err != nil {
			panic("the program's own table: " + err.Error()) // a test opens them
		}
		e := entry(about.Name, about)
		e.Format, e.Source = "built in", about.Source+"; "+about.Licence
		out = append(out, e)
	}
	return out
}

// Add reads the dictionary in a file and keeps a packed copy: the file is not
// needed any more. Without a name it is called like the file. It fails with
// ErrKnown and ErrLanguages.
func (s Shelf) Add(path, name string) (Entry, error) {
	if name == "" {
		name = nameOf(path)
	}
	if err := checkName(name); err != nil {
		return Entry{}, err
	}
	target := filepath.Join(s.Dir, name+suffix)
	if _, err := os.Stat(target); err == nil {
		return Entry{}, fmt.Errorf("%s: %w", name, ErrKnown)
	}
	source, err := filepath.Abs(path)
	if err != nil {
		return Entry{}, err
	}
	data, about, err := compile(path, table.About{Name: name, Source: source})
	if err != nil {
		return Entry{}, err
	}
	if err := write(target, data); err != nil {
		return Entry{}, err
	}
	return entry(name, about), nil
}

// Remove forgets a dictionary that was added. It fails with ErrNoDictionary.
func (s Shelf) Remove(name string) error {
	if checkName(name) != nil {
		return fmt.Errorf("%s: %w", name, ErrNoDictionary)
	}
	err := os.Remove(filepath.Join(s.Dir, name+suffix))
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: %w", name, ErrNoDictionary)
	}
	return err
}

// List returns the dictionaries that were added and those that are installed,
// in order of their names.
func (s Shelf) List() ([]Entry, error) {
	var out []Entry
	err := s.each(func(name, path string) {
		about, err := describe(path)
		e := entry(name, about)
		if err != nil {
			e.Problem = err.Error()
		}
		out = append(out, e)
	})
	if err != nil {
		return nil, err
	}
	for _, i := range s.installed() {
		_, about, err := s.open(i)
		e := entry(i.name, about)
		e.Installed, e.Source = true, i.path
		if err != nil {
			e.Problem = err.Error()
		}
		out = append(out, e)
	}
	return out, nil
}

// Tables returns the dictionaries of a language for New. Those that are
// installed are only asked for what no other knows. What is damaged is left
// out; List says so.
func (s Shelf) Tables(code lang.Code) []*Table {
	var out []*Table
	_ = s.each(func(_, path string) { // a folder that cannot be read has none
		if about, err := describe(path); err != nil || about.Lang != code {
			return
		}
		if data, err := os.ReadFile(path); err == nil {
			if t, err := table.Open(data); err == nil {
				out = append(out, &Table{t: t})
			}
		}
	})
	for _, i := range s.installed() {
		data, about, err := s.open(i)
		if err != nil || about.Lang != code {
			continue
		}
		if t, err := table.Open(data); err == nil {
			out = append(out, &Table{t: t, last: true})
		}
	}
	return out
}

// each calls yield with the dictionaries that were added.
func (s Shelf) each(yield func(name, path string)) error {
	files, err := os.ReadDir(s.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, f := range files {
		if name, ok := strings.CutSuffix(f.Name(), suffix); ok && !f.IsDir() {
			yield(name, filepath.Join(s.Dir, f.Name()))
		}
	}
	return nil
}

// installation is a dictionary that was found on the machine.
type installation struct{ name, path string }

// installed finds those dictionaries that are between languages we know, by a
// look at their first entries.
func (s Shelf) installed() []installation {
	if s.Installed == "" {
		return nil
	}
	paths, _ := filepath.Glob(filepath.Join(s.Installed, "*.index")) // the pattern is right
	slices.Sort(paths)
	var out []installation
	for _, path := range paths {
		seen, ours := 0, 0
		_, err := dictfile.Sample(path, func(e dictfile.Entry) bool {
			seen++
			one := false
			pairs(e, func(lang.Code, string, string, float64) { one = true })
			if one {
				ours++
			}
			return seen < 200
		})
		if err == nil && ours > 0 && ours*4 > seen {
			out = append(out, installation{strings.TrimSuffix(filepath.Base(path), ".index"), path})
		}
	}
	return out
}

// open returns an installed dictionary packed. The copy that was made the last
// time serves as long as the file is the same.
func (s Shelf) open(i installation) ([]byte, table.About, error) {
	info, err := os.Stat(i.path)
	if err != nil {
		return nil, table.About{}, err
	}
	stamp := fmt.Sprintf("%d %d", info.Size(), info.ModTime().UnixNano())
	copied := filepath.Join(s.Dir, found, i.name+suffix)
	if data, err := os.ReadFile(copied); err == nil {
		if about, err := table.Describe(data); err == nil && about.Stamp == stamp {
			return data, about, nil
		}
	}
	data, about, err := compile(i.path, table.About{Name: i.name, Source: i.path, Stamp: stamp})
	if err != nil {
		return nil, about, err
	}
	_ = write(copied, data) // the next time is slower
	return data, about, nil
}

// write puts a file in its place in one go.
func write(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// describe reads what is in a packed file.
func describe(path string) (table.About, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return table.About{}, err
	}
	return table.Describe(data)
}

func entry(name string, a table.About) Entry {
	return Entry{Name: name, Title: a.Title, Lang: a.Lang, Terms: a.Terms, Format: a.Format, Source: a.Source}
}

// nameOf is the name of a file without what its format adds to it.
func nameOf(path string) string {
	name := filepath.Base(path)
	for _, ext := range []string{".gz", ".dz", ".index", ".dict", ".u8", ".txt", ".tsv", ".dsl"} {
		name = strings.TrimSuffix(name, ext)
	}
	return name
}

func checkName(name string) error {
	bad := name == "" || name[0] == '.' || len(name) > 100 || strings.ContainsFunc(name, func(r rune) bool {
		return r == '/' || r == '\\' || r == ':' || unicode.IsControl(r)
	})
	if bad {
		return fmt.Errorf("%q is no name for a dictionary", name)
	}
	return nil
}
