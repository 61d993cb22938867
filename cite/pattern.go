package cite

import (
	"regexp"
	"sync"
)

// pattern compiles a regular expression when it is first used: all of them at
// once would cost a program that doesn't need them its start.
func pattern(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}
