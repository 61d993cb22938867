package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

// languages are those of the page. Who says something in one says it in all: a test
// of the page holds the catalogues beside each other.
var languages = []string{"en", "ru", "zh"}

var (
	// constant is a key as the sources say it, listed one of a list of keys, and quoted
	// whatever may be one.
	constant = regexp.MustCompile(`\bt\('([\w.]+)'`)
	listed   = regexp.MustCompile(`\['[^']*', '([\w.]+)'\]`)
	quoted   = regexp.MustCompile(`['"](\w+\.[\w.]+)['"]`)
	// computed are sets of keys of which one is chosen when the page runs.
	computed = regexp.MustCompile("\\bt\\(`([\\w.]+)\\.\\$\\{|\\b(?:word|count)\\('(\\w+)'")
)

// words are what the page says. A key that the sources say is a number in the files
// that are served; those of sets, and those that stand elsewhere too, keep their names.
type words struct {
	catalogues map[string]map[string]string // by language
	numbered   []string                     // keys, in the order of their numbers
	number     map[string]int
}

// collect reads what the page says. It fails for a key that nobody has words for,
// and for one that nothing says.
func collect(src string) (*words, error) {
	w := &words{catalogues: map[string]map[string]string{}, number: map[string]int{}}
	for _, code := range languages {
		raw, err := os.ReadFile(filepath.Join(src, "i18n", code+".json"))
		if err != nil {
			return nil, err
		}
		var c map[string]string
		if err := json.Unmarshal(raw, &c); err != nil {
			return nil, fmt.Errorf("%s: %w", code, err)
		}
		w.catalogues[code] = c
	}
	said, elsewhere, sets := map[string]bool{}, map[string]int{}, map[string]bool{}
	err := filepath.WalkDir(src, func(file string, d fs.DirEntry, err error) error {
		if err != nil || !isScript(file) {
			return err
		}
		raw, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		for _, pattern := range []*regexp.Regexp{constant, listed} {
			for _, m := range pattern.FindAllSubmatch(raw, -1) {
				said[string(m[1])] = true
				elsewhere[string(m[1])]--
				if w.catalogues["en"][string(m[1])] == "" {
					return fmt.Errorf("%s says %s, and no catalogue has it", file, m[1])
				}
			}
		}
		for _, m := range quoted.FindAllSubmatch(raw, -1) {
			elsewhere[string(m[1])]++
		}
		for _, m := range computed.FindAllSubmatch(raw, -1) {
			sets[string(m[1])+string(m[2])] = true
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for key := range w.catalogues["en"] {
		set, _, _ := strings.Cut(key, ".")
		switch {
		case sets[set] || elsewhere[key] > 0: // it keeps its name
		case said[key]:
			w.numbered = append(w.numbered, key)
		default:
			return nil, fmt.Errorf("nothing says %s", key)
		}
	}
	slices.Sort(w.numbered) // what belongs together is found together, and compresses well
	for i, key := range w.numbered {
		w.number[key] = i
	}
	return w, nil
}

func isScript(file string) bool { return strings.HasPrefix(filepath.Ext(file), ".ts") }

// plugin has the sources say numbers.
func (w *words) plugin(src string) api.Plugin {
	return api.Plugin{Name: "words", Setup: func(b api.PluginBuild) {
		b.OnLoad(api.OnLoadOptions{Filter: `\.tsx?$`}, func(a api.OnLoadArgs) (api.OnLoadResult, error) {
			if !strings.HasPrefix(a.Path, src) {
				return api.OnLoadResult{}, nil
			}
			raw, err := os.ReadFile(a.Path)
			if err != nil {
				return api.OnLoadResult{}, err
			}
			text := string(raw)
			for _, pattern := range []*regexp.Regexp{constant, listed} {
				text = pattern.ReplaceAllStringFunc(text, func(call string) string {
					key := pattern.FindStringSubmatch(call)[1]
					n, ok := w.number[key]
					if !ok {
						return call
					}
					return strings.Replace(call, "'"+key+"'", strconv.Itoa(n), 1)
				})
			}
			loader := api.LoaderTS
			if filepath.Ext(a.Path) == ".tsx" {
				loader = api.LoaderTSX
			}
			return api.OnLoadResult{Contents: &text, Loader: loader, ResolveDir: filepath.Dir(a.Path)}, nil
		})
	}}
}

// catalogue is a file of the words of a language.
type catalogue struct {
	Build    string            `json:"build"`
	Numbered []string          `json:"numbered"`
	Named    map[string]string `json:"named"`
}

// write writes the words of each language into a folder.
func (w *words) write(out, build string) error {
	for code, said := range w.catalogues {
		c := catalogue{Build: build, Named: map[string]string{}}
		for _, key := range w.numbered {
			c.Numbered = append(c.Numbered, said[key])
		}
		for key, text := range said {
			if _, ok := w.number[key]; !ok {
				c.Named[key] = text
			}
		}
		var b strings.Builder
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		if err := e.Encode(c); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(out, code+".json"), []byte(b.String()), 0o644); err != nil {
			return err
		}
	}
	return nil
}
