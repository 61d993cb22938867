// Command webbuild bundles the page: web/src and the packages beside it become
// the few files that the program embeds. It needs nothing but Go. The same
// sources give the same bytes.
//
//	go run . -web ../../web                    # writes web/dist
//	go run . -web ../../web -out DIR           # writes somewhere else, to compare
//	go run . -web ../../web -out DIR -script src/fold.check.ts
//
// The last one bundles a single script for Node.js.
package main

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"path/filepath"
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
	packages, err := packages(filepath.Join(web, "packages"))
	if err != nil {
		return err
	}
	o := api.BuildOptions{
		AbsWorkingDir: web, Outdir: out, Write: true, Bundle: true, Alias: packages, Charset: api.CharsetUTF8,
		JSX: api.JSXAutomatic, JSXImportSource: "preact", TsconfigRaw: "{}", LogLevel: api.LogLevelSilent, LegalComments: api.LegalCommentsNone,
		Format: api.FormatESModule,
	}
	if script != "" {
		o.EntryPointsAdvanced = []api.EntryPoint{{InputPath: script, OutputPath: "script"}}
		o.OutExtension, o.Platform = map[string]string{".js": ".mjs"}, api.PlatformNode
		return bundle(o)
	}
	o.EntryPointsAdvanced = []api.EntryPoint{{InputPath: "src/main.tsx", OutputPath: "app"}, {InputPath: "src/style/app.css", OutputPath: "app"}}
	o.MinifyWhitespace, o.MinifyIdentifiers, o.MinifySyntax = true, true, true
	o.Target, o.Platform = api.ES2022, api.PlatformBrowser
	if err := bundle(o); err != nil {
		return err
	}
	for _, name := range []string{"index.html", "icon.svg"} {
		raw, err := os.ReadFile(filepath.Join(web, "src", name))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(out, name), raw, 0o644); err != nil {
			return err
		}
	}
	return nil
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

// packages reads which file stands for each package of others, and checks that
// each is the one that was taken.
func packages(dir string) (map[string]string, error) {
	list, err := os.Open(filepath.Join(dir, "packages.txt"))
	if err != nil {
		return nil, err
	}
	defer list.Close()
	found := map[string]string{}
	lines := bufio.NewScanner(list)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) == 0 || strings.HasPrefix(fields[0], "#") {
			continue
		}
		if len(fields) != 4 {
			return nil, fmt.Errorf("packages.txt: %q has not four fields", lines.Text())
		}
		name, file, want := fields[0], filepath.Join(dir, fields[2]), fields[3]
		raw, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		sum := sha256.Sum256(raw)
		if got := hex.EncodeToString(sum[:]); got != want {
			return nil, fmt.Errorf("%s is not the file that was taken: its sum is %s, and %s is expected", fields[2], got, want)
		}
		found[name] = file
	}
	return found, lines.Err()
}
