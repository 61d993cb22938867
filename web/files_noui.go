//go:build noui

package web

import "embed"

// files are none: the page was left out.
var files embed.FS
