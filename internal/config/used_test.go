package config_test

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"dossier/internal/config"
)

const (
	configPath = "dossier/internal/config"
	llmPath    = "dossier/llm"
)

// excused are settings whose fields nothing reads, and why that is right.
var excused = map[string]string{
	"Config.Agents":                     "Definition reads the entries, which have keys of their own",
	"Config.MCP":                        "MCPServer reads it by name",
	"Config.A2A":                        "RemoteAgent reads it by name",
	"Prompts.SystemPromptFile":          promptsByName,
	"Prompts.SystemPromptStr":           promptsByName,
	"Prompts.InitialUserRequestFile":    promptsByName,
	"Prompts.InitialUserRequestStr":     promptsByName,
	"Prompts.ClarificationResponseFile": promptsByName,
	"Prompts.ClarificationResponseStr":  promptsByName,
}

const promptsByName = "Definition reads the one that the higher layer says"

// A setting that nothing reads is a promise that nothing keeps. Every field of
// the configuration has to be read by the program, be it by the code here that
// hands it on, and every role that can have a model has to be that of some call.
func TestEverySettingIsRead(t *testing.T) {
	fields, roles := usedByProgram(t)
	for _, name := range settings(reflect.TypeFor[config.Config]()) {
		if why, ok := excused[name]; fields[name] == ok {
			t.Errorf("%s: is it read: %v; why it need not be: %q", name, fields[name], why)
		}
	}
	for _, role := range config.Roles() {
		name := "For" + strings.ToUpper(string(role[:1])) + string(role[1:])
		if !roles[name] && role != config.RoleDefault {
			t.Errorf("models.%s: nothing calls a model as llm.%s", role, name)
		}
	}
}

// settings are the fields below a type that hold settings, as Type.Field.
// Sections are those that lie within.
func settings(typ reflect.Type) []string {
	var out []string
	for f := range typ.Fields() {
		switch {
		case !f.IsExported():
		case f.Type.Kind() == reflect.Struct && f.Type.PkgPath() == configPath && f.Type.NumMethod() == 0 && f.Type.NumField() > 0 && f.Type.Field(0).Tag.Get("key") != "":
			out = append(out, settings(f.Type)...)
		default:
			out = append(out, typ.Name()+"."+f.Name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// usedByProgram tells which fields of this package's structs and, outside of llm,
// which of its constants the program's code names. Reading and printing settings
// goes by reflection, so that a field which is named is a field that is used.
func usedByProgram(t *testing.T) (fields, constants map[string]bool) {
	t.Helper()
	type pkg struct {
		ImportPath, Dir, Export string
		GoFiles, Deps           []string
		Module                  *struct{ Main bool }
	}
	cmd := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles,Deps,Module", "./cmd/dossier")
	cmd.Dir = filepath.Join("..", "..")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	exports := map[string]string{}
	var ours []pkg
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p pkg
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		exports[p.ImportPath] = p.Export
		if p.Module != nil && p.Module.Main && p.ImportPath != llmPath {
			if slices.Contains(p.Deps, llmPath) { // config is above llm
				ours = append(ours, p)
			}
		}
	}
	fields, constants = map[string]bool{}, map[string]bool{}
	fset := token.NewFileSet()
	load := importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	for _, p := range ours {
		var files []*ast.File
		for _, name := range p.GoFiles {
			f, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, f)
		}
		info := &types.Info{Selections: map[*ast.SelectorExpr]*types.Selection{}, Uses: map[*ast.Ident]types.Object{}}
		if _, err := (&types.Config{Importer: load}).Check(p.ImportPath, fset, files, info); err != nil {
			t.Fatal(err)
		}
		for _, s := range info.Selections {
			if s.Kind() == types.FieldVal {
				follow(s.Recv(), s.Index(), fields)
			}
		}
		for _, o := range info.Uses {
			if c, ok := o.(*types.Const); ok && c.Pkg() != nil && c.Pkg().Path() == llmPath {
				constants[c.Name()] = true
			}
		}
	}
	if len(fields) < 20 || len(constants) < 5 {
		t.Fatalf("found only %v, %v", fields, constants)
	}
	return fields, constants
}

// follow notes each field that a selection goes through, as Type.Field.
func follow(typ types.Type, index []int, fields map[string]bool) {
	for _, i := range index {
		if p, ok := typ.Underlying().(*types.Pointer); ok {
			typ = p.Elem()
		}
		f := typ.Underlying().(*types.Struct).Field(i)
		if named, ok := types.Unalias(typ).(*types.Named); ok && named.Obj().Pkg() != nil && named.Obj().Pkg().Path() == configPath {
			fields[named.Obj().Name()+"."+f.Name()] = true
		}
		typ = f.Type()
	}
}
