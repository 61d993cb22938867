package docs

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"dossier/event"
	"dossier/internal/config"
)

// generated holds the part of a document between its two markers to want.
func generated(t *testing.T, doc, part, want string) {
	t.Helper()
	file := filepath.Join(top, filepath.FromSlash(doc))
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	begin, end := "<!-- "+part+": made by go test ./docs -update -->\n", "<!-- end of "+part+" -->\n"
	before, rest, found := strings.Cut(string(raw), begin)
	got, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		t.Fatalf("%s lacks the lines %q and %q", doc, begin, end)
	}
	if got == want {
		return
	}
	if !*update {
		t.Errorf("%s is not what the code says: run `go test ./docs -update`", doc)
		return
	}
	if err := os.WriteFile(file, []byte(before+begin+want+end+after), 0o666); err != nil {
		t.Fatal(err)
	}
}

func TestSettings(t *testing.T) {
	generated(t, "docs/configuration.md", "settings", "```yaml\n"+config.Template()+"```\n")
}

// TestEventKinds makes the tables of kinds from the types and their comments.
func TestEventKinds(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(top, "event", "kinds.go"), nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	kinds := kindNames(file)
	var b strings.Builder
	n := 0
	for _, decl := range file.Decls {
		group, ok := decl.(*ast.GenDecl)
		if !ok || group.Tok != token.TYPE || !group.Lparen.IsValid() {
			continue
		}
		fmt.Fprintf(&b, "\n### %s\n\n| kind | data | what it says |\n| --- | --- | --- |\n", strings.TrimSuffix(strings.TrimSpace(group.Doc.Text()), "."))
		for _, spec := range group.Specs {
			typ := spec.(*ast.TypeSpec)
			kind, ok := kinds[typ.Name.Name]
			if !ok {
				continue // part of another
			}
			n++
			fmt.Fprintf(&b, "| `%s`%s | %s | %s |\n", kind, mark(t, kind), fields(typ.Type.(*ast.StructType)), sentence(typ))
		}
	}
	if n != len(kinds) {
		t.Errorf("%d kinds have a type, %d a name", n, len(kinds))
	}
	generated(t, "docs/events.md", "kinds", strings.TrimPrefix(b.String(), "\n")+"\n")
}

// kindNames maps the name of a type to its kind.
func kindNames(file *ast.File) map[string]string {
	names := map[string]string{}
	for _, decl := range file.Decls {
		group, ok := decl.(*ast.GenDecl)
		if !ok || group.Tok != token.CONST {
			continue
		}
		for _, spec := range group.Specs {
			c := spec.(*ast.ValueSpec)
			kind, err := strconv.Unquote(c.Values[0].(*ast.BasicLit).Value)
			if typ, found := strings.CutPrefix(c.Names[0].Name, "Kind"); found && err == nil {
				names[typ] = kind
			}
		}
	}
	return names
}

// mark tells the transient kinds from the others.
func mark(t *testing.T, kind string) string {
	t.Helper()
	data, err := event.DecodeData(event.Kind(kind), nil)
	if err != nil {
		t.Fatal(err)
	}
	if event.IsTransient(data) {
		return " (transient)"
	}
	return ""
}

func fields(typ *ast.StructType) string {
	var names []string
	for _, f := range typ.Fields.List {
		tag, err := strconv.Unquote(f.Tag.Value)
		if err != nil {
			continue
		}
		name, options, _ := strings.Cut(reflect.StructTag(tag).Get("json"), ",")
		if options == "omitempty" {
			name += "?"
		}
		names = append(names, "`"+name+"`")
	}
	return strings.Join(names, " ")
}

// sentence is a type's comment without the type's name.
func sentence(typ *ast.TypeSpec) string {
	text := strings.Join(strings.Fields(typ.Doc.Text()), " ")
	text = strings.TrimPrefix(text, typ.Name.Name+" ")
	for _, verb := range []string{"is ", "are ", "says that ", "says "} {
		text = strings.TrimPrefix(text, verb)
	}
	return strings.ReplaceAll(text, "|", `\|`)
}

// TestNamedSettingsExist holds settings that the documents name by their path to
// the configuration, and defaults that stand behind them to what they are:
// "`chat.history_limit` (20)".
func TestNamedSettingsExist(t *testing.T) {
	c, err := config.Load(config.Sources{File: config.NoFile})
	if err != nil {
		t.Fatal(err)
	}
	sections := map[string]bool{}
	for _, v := range c.Explain() {
		section, _, _ := strings.Cut(v.Path, ".")
		sections[section] = true
	}
	named := regexp.MustCompile("`([a-z_]+(?:\\.[a-z_]+)+)`(?: \\(([0-9][^ ,;)]*)\\))?")
	n := 0
	for doc, text := range documents(t) {
		if doc == "docs/events.md" || strings.HasPrefix(doc, "CHANGELOG") {
			continue // kinds of events have the same form
		}
		for _, m := range named.FindAllStringSubmatch(text, -1) {
			if section, _, _ := strings.Cut(m[1], "."); !sections[section] {
				continue
			}
			values, err := c.ExplainKey(m[1])
			if err != nil || len(values) == 0 {
				t.Errorf("%s: there is no setting %s", doc, m[1])
				continue
			}
			if n++; m[2] != "" && values[0].Value != m[2] {
				t.Errorf("%s: the default of %s is %s, not %s", doc, m[1], values[0].Value, m[2])
			}
		}
	}
	if n < 10 {
		t.Errorf("the documents name only %d settings", n)
	}
}
