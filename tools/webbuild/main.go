// Command webbuild bundles the page: web/src and the packages of others that it
// uses, as they are pinned in the folder clients, become the few files that the
// program embeds. The same sources give the same bytes.
//
//	go run . -web ../../web                    # writes web/dist
//	go run . -web ../../web -out DIR           # writes somewhere else, to compare
//	go run . -web ../../web -out DIR -script src/fold.check.ts
//
// The last one bundles a single script for Node.js.
package main

import (
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

func main() {
	web := flag.String("web", "../../web", "folder of the page")
	out := flag.String("out", "", "folder to write to (default: dist of the page)")
	script := flag.String("script", "", "bundle this script for Node.js instead")
	flag.Parse()
	if *out == "" {
		*out = filepath.Join(*web, "dist")
	}
	if err := build(*web, *out, *script); err != nil {
		fmt.Fprintln(os.Stderr, "webbuild:", err)
		os.Exit(1)
	}
}

// build bundles the page, or a script of it, into a folder.
func build(web, out, script string) error {
	web, err := filepath.Abs(web)
	if err != nil {
		return err
	}
	if out, err = filepath.Abs(out); err != nil {
		return err
	}
	packages := filepath.Join(filepath.Dir(web), "clients", "node_modules")
	if _, err := os.Stat(packages); err != nil {
		return fmt.Errorf("the packages of others are not installed: `make clients` does it: %w", err)
	}
	o := api.BuildOptions{
		AbsWorkingDir: web, Outdir: out, Write: true, Bundle: true, NodePaths: []string{packages}, Charset: api.CharsetUTF8,
		JSX: api.JSXTransform, JSXFactory: "createElement", JSXFragment: "Fragment", Inject: []string{filepath.Join(web, "src", "jsx.ts")}, TsconfigRaw: "{}", LogLevel: api.LogLevelSilent, LegalComments: api.LegalCommentsNone,
		Format: api.FormatESModule,
	}
	if script != "" {
		o.EntryPointsAdvanced = []api.EntryPoint{{InputPath: script, OutputPath: "script"}}
		o.OutExtension, o.Platform = map[string]string{".js": ".mjs"}, api.PlatformNode
		return bundle(o)
	}
	o.EntryPointsAdvanced = []api.EntryPoint{{InputPath: "src/main.tsx", OutputPath: "app"}, {InputPath: "src/style/app.css", OutputPath: "app"}}
	src := filepath.Join(web, "src")
	build, err := buildOf(src, filepath.Join(filepath.Dir(packages), "package-lock.json"))
	if err != nil {
		return err
	}
	says, err := collect(src)
	if err != nil {
		return err
	}
	o.Plugins = []api.Plugin{says.plugin(src), core}
	o.Splitting, o.ChunkNames = true, "[name]"
	o.Define, o.Footer = map[string]string{"BUILD": strconv.Quote(build)}, map[string]string{"js": "export const build=" + strconv.Quote(build)}
	o.MinifyWhitespace, o.MinifyIdentifiers, o.MinifySyntax = true, true, true
	o.Target, o.Platform = api.ES2022, api.PlatformBrowser
	if err := bundle(o); err != nil {
		return err
	}
	if err := says.write(out, build); err != nil {
		return err
	}
	for _, name := range []string{"index.html", "icon.svg"} {
		raw, err := os.ReadFile(filepath.Join(src, name))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(out, name), raw, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// buildOf names what the page is made of, so that a part of one page is not taken
// for a part of another.
func buildOf(src, lock string) (string, error) {
	sum := sha256.New()
	add := func(path string, d fs.DirEntry, err error) error {
		if err != nil || d != nil && d.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path)
		fmt.Fprintf(sum, "%d\n%s", len(raw), raw)
		return err
	}
	if err := filepath.WalkDir(src, add); err != nil {
		return "", err
	}
	if err := add(lock, nil, nil); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)[:6]), nil
}

func bundle(o api.BuildOptions) error {
	made := api.Build(o)
	if len(made.Errors)+len(made.Warnings) == 0 {
		return nil
	}
	said := append(api.FormatMessages(made.Errors, api.FormatMessagesOptions{Kind: api.ErrorMessage}),
		api.FormatMessages(made.Warnings, api.FormatMessagesOptions{Kind: api.WarningMessage})...)
	return fmt.Errorf("%s", strings.Join(said, ""))
}
