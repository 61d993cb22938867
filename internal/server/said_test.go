package server

import (
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"dossier/lang"
)

// known in the book of phrases, in every language.
func bookHas(text string) bool {
	for _, to := range lang.Locales {
		if _, ok := lang.Retell(to, text); !ok {
			return false
		}
	}
	return true
}

// Whatever code a problem has, there must be words for it in every language, and
// for what is said and advised of the errors that keep their identity.
func TestEveryCodeHasWords(t *testing.T) {
	codes := slices.Collect(maps.Keys(statusOf))
	codes = append(codes, "budget", "finished", "panic", "unknown_effect", "tool_failed", "storage", "failed")
	codes = append(codes, kindsOfModelErrors(t)...)
	for _, k := range known {
		codes = append(codes, k.code)
		if !bookHas(k.err.Error()) {
			t.Errorf("%s: nobody retells %q", k.code, k.err)
		}
		if k.hint != "" && !bookHas(k.hint) {
			t.Errorf("%s: nobody retells the hint %q", k.code, k.hint)
		}
	}
	for code, said := range forOthers {
		codes = append(codes, code)
		if !bookHas(said) {
			t.Errorf("%s: nobody retells %q", code, said)
		}
	}
	for _, code := range codes {
		if !bookHas("[" + code + "] something unheard of") {
			t.Errorf("the book of phrases has nothing for the code %s", code)
		}
	}
}

func kindsOfModelErrors(t *testing.T) (kinds []string) {
	f, err := parser.ParseFile(token.NewFileSet(), filepath.Join("..", "..", "llm", "error.go"), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(f, func(n ast.Node) bool {
		if v, ok := n.(*ast.ValueSpec); ok {
			if typ, ok := v.Type.(*ast.Ident); ok && typ.Name == "ErrorKind" {
				kinds = append(kinds, literal(v.Values[0]))
			}
		}
		return true
	})
	if len(kinds) < 10 {
		t.Fatalf("kinds of errors: %q", kinds)
	}
	return kinds
}

// spoken are the folders whose errors reach callers of the API.
var spoken = []string{
	".", "agent", "internal/access", "internal/base/cron", "internal/dispatch", "internal/fleet", "internal/schedule", "internal/server", "internal/store",
	"internal/webhook", "internal/wire", "kb", "llm", "prompt", "run", "search", "sources", "tool",
}

// unspoken are files of theirs about how a program is started or set up, and about
// other protocols and processes.
var unspoken = []string{"internal/server/public.go", "internal/server/a2a.go", "internal/server/client.go", "internal/wire/wire.go", "internal/wire/search.go", "internal/wire/traces.go"}

// alone are texts that no caller of the API gets.
var alone = []string{
	"the token of the data directory is missing or wrong",                                                                                // of the control socket
	`server.folders: "x" is no absolute path`, "write the whole path, as /srv/documents", "server.folders: x", "name folders that exist", // at the start
	"those there are: x; or x", // likewise
}

// What the program says in an error that reaches callers must be in the book of
// phrases: somebody who changes the words, or adds some, has to say them in every
// language.
func TestEveryErrorIsRetold(t *testing.T) {
	n := 0
	for _, dir := range spoken {
		files, err := filepath.Glob(filepath.Join("..", "..", dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			name := filepath.ToSlash(strings.TrimPrefix(file, filepath.Join("..", "..")+string(filepath.Separator)))
			if strings.HasSuffix(file, "_test.go") || slices.Contains(unspoken, name) {
				continue
			}
			for _, text := range saidIn(t, file) {
				n++
				if !slices.Contains(alone, text) && !bookHas(text) {
					t.Errorf("%s says %q, which the book of phrases has not", name, text)
				}
			}
		}
	}
	if n < 150 {
		t.Errorf("only %d texts were found", n)
	}
}

// saidIn are samples of what errors in a file say and advise.
func saidIn(t *testing.T, file string) (texts []string) {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	say := func(e ast.Expr) {
		if text := literal(e); strings.ContainsAny(text, " ") && strings.Trim(text, `x": `) != "" {
			texts = append(texts, text)
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CompositeLit:
			if name := nameOf(n.Type); !strings.HasSuffix(name, "Error") && name != "Problem" || name == "RunError" || name == "ArgumentError" {
				return true
			}
			for _, field := range n.Elts {
				if kv, ok := field.(*ast.KeyValueExpr); ok && (nameOf(kv.Key) == "Message" || nameOf(kv.Key) == "Hint") {
					say(kv.Value)
				}
			}
		case *ast.CallExpr:
			if slices.Contains([]string{"badRequest", "unauthorized", "refuse"}, nameOf(n.Fun)) && len(n.Args) > 0 {
				say(&ast.CallExpr{Fun: ast.NewIdent("Sprintf"), Args: n.Args})
			}
		case *ast.FuncDecl:
			if n.Name.Name != "Fault" && n.Name.Name != "hintFor" {
				return true
			}
			ast.Inspect(n, func(inside ast.Node) bool {
				switch inside := inside.(type) {
				case *ast.ReturnStmt:
					say(inside.Results[len(inside.Results)-1])
				case *ast.AssignStmt:
					say(inside.Rhs[0])
				}
				return true
			})
		}
		return true
	})
	return texts
}

func nameOf(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	}
	return ""
}

var verb = regexp.MustCompile(`%[-+#0-9.]*[a-zA-Z]`)

// literal is a sample of what an expression comes to: what is known only later is x,
// or a number.
func literal(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		if text := constant.MakeFromLiteral(e.Value, e.Kind, 0); text.Kind() == constant.String {
			return constant.StringVal(text)
		}
	case *ast.ParenExpr:
		return literal(e.X)
	case *ast.BinaryExpr:
		return literal(e.X) + literal(e.Y)
	case *ast.CallExpr:
		if nameOf(e.Fun) != "Sprintf" {
			return "x"
		}
		return verb.ReplaceAllStringFunc(literal(e.Args[0]), func(v string) string {
			switch v[len(v)-1] {
			case 'q':
				return strconv.Quote("x")
			case 'd', 'g':
				return "7"
			}
			return "x"
		})
	}
	return "x"
}
