//go:build !noui

package web

import "embed"

//go:embed dist
var files embed.FS
