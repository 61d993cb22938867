package main

import (
	"errors"
	"os"
	"regexp"

	"github.com/evanw/esbuild/pkg/api"
)

// shared is what ends the file of marked: one instance for everybody, with functions
// around it. It keeps all of the package in the page, which makes its own of a lexer, a
// renderer and a parser.
var (
	shared  = regexp.MustCompile(`var \w+=new \w+;function \w+\(\w+,\w+\)\{return \w+\.parse\(.*(export\{)`)
	exports = regexp.MustCompile(`(\w+) as (Lexer|Parser|Renderer)\b`)
)

// core leaves of marked what the page is made of.
var core = api.Plugin{Name: "marked", Setup: func(b api.PluginBuild) {
	b.OnLoad(api.OnLoadOptions{Filter: `/marked\.esm\.js$`}, func(a api.OnLoadArgs) (api.OnLoadResult, error) {
		raw, err := os.ReadFile(a.Path)
		if err != nil {
			return api.OnLoadResult{}, err
		}
		end := shared.FindSubmatchIndex(raw)
		if end == nil {
			return api.OnLoadResult{}, errors.New("this version of marked is built otherwise: what it shares is not found")
		}
		text := string(raw[:end[0]]) + "export{"
		for i, m := range exports.FindAllString(string(raw[end[2]:]), -1) {
			if i > 0 {
				text += ","
			}
			text += m
		}
		text += "}"
		return api.OnLoadResult{Contents: &text, Loader: api.LoaderJS}, nil
	})
}}
