package toolkit

import (
	"regexp"
	"strconv"
	"strings"

	"dossier/cite"
	"dossier/search"
	"dossier/tool"
)

// deliverable is a text of a model as a user may get it: without images, HTML
// and addresses, by which a page that was read could make the user's client
// call it. Addresses of sources and of the task stay, and so does code. Numbers
// of sources that don't exist go where there are sources at all.
func deliverable(text string, s *tool.State) string {
	known := newAddresses(s)
	var b strings.Builder
	for _, part := range fenced(text) {
		if !part.code {
			part.text = withKnownAddresses(part.text, known)
		}
		b.WriteString(part.text)
	}
	out := strings.TrimSpace(b.String())
	if len(s.Sources) > 0 {
		out, _ = cite.OnlyKnown(out, func(n int) bool { _, ok := s.Source(n); return ok })
	}
	return out
}

// piece is a stretch of Markdown that is a block of code, or is none.
type piece struct {
	text string
	code bool
}

// fenced cuts a text at its blocks of code. One that is never closed is none.
func fenced(text string) []piece {
	var out []piece
	lines := strings.SplitAfter(text, "\n")
	add := func(from, to int, code bool) {
		if from < to {
			out = append(out, piece{strings.Join(lines[from:to], ""), code})
		}
	}
	start := 0
	for i := 0; i < len(lines); i++ {
		if !strings.HasPrefix(lines[i], "```") {
			continue
		}
		for j := i + 1; j < len(lines); j++ {
			if strings.TrimRight(lines[j], " \r\n") == "```" {
				add(start, i, false)
				add(i, j+1, true)
				start, i = j+1, j
				break
			}
		}
	}
	add(start, len(lines), false)
	return out
}

// Known addresses are put aside under these marks, which no text needs.
const (
	openMark  = "\uE0F0"
	closeMark = "\uE0F1"
)

var (
	knownLink = regexp.MustCompile(`(!?)\[([^\[\]\n]*)\]\((https?://[^\s()<>]+)\)`)
	written   = regexp.MustCompile(`https?://[^\s<>"'“”«»「」『』【】()（）、。，；\[\]` + "`" + `]+`)
	putAside  = regexp.MustCompile(openMark + `(\d+)` + closeMark)
)

// withKnownAddresses is cite.Sanitize that leaves addresses which are known.
func withKnownAddresses(text string, known addresses) string {
	text = strings.NewReplacer(openMark, "", closeMark, "").Replace(text)
	var kept []string
	keep := func(at string) (string, bool) {
		if !known.has(at) {
			return "", false
		}
		kept = append(kept, at)
		return openMark + strconv.Itoa(len(kept)-1) + closeMark, true
	}
	text = knownLink.ReplaceAllStringFunc(text, func(link string) string {
		m := knownLink.FindStringSubmatch(link)
		mark, ok := keep(m[3])
		if m[1] != "" || !ok { // images load by themselves
			return link
		}
		if strings.TrimSpace(m[2]) == "" || m[2] == m[3] {
			return mark
		}
		return m[2] + " (" + mark + ")"
	})
	text = written.ReplaceAllStringFunc(text, func(found string) string {
		at := strings.TrimRight(found, ".,;:!?…*_|")
		mark, ok := keep(at)
		if !ok {
			return found
		}
		return mark + found[len(at):]
	})
	return putAside.ReplaceAllStringFunc(cite.Sanitize(text), func(mark string) string {
		n, err := strconv.Atoi(putAside.FindStringSubmatch(mark)[1])
		if err != nil || n >= len(kept) {
			return ""
		}
		return kept[n]
	})
}

// addresses are those that may be opened and shown: of the sources, and named in
// the task.
type addresses struct {
	sources map[string]tool.Source // by normal form
	task    map[string]bool
}

func newAddresses(s *tool.State) addresses {
	a := addresses{sources: make(map[string]tool.Source, len(s.Sources)), task: make(map[string]bool)}
	for _, src := range s.Sources {
		if normal, err := search.NormalURL(src.URL); err == nil {
			a.sources[normal] = src
		}
	}
	for _, at := range named(s.Task) {
		if normal, err := search.NormalURL(at); err == nil {
			a.task[normal] = true
		}
	}
	return a
}

// find returns the normal form of an address that may be opened, and the source
// that it is, if it is one.
func (a addresses) find(at string) (normal string, src tool.Source, ok bool) {
	normal, err := search.NormalURL(strings.TrimSpace(at))
	if err != nil {
		return "", tool.Source{}, false
	}
	if src, ok := a.sources[normal]; ok {
		return normal, src, true
	}
	return normal, tool.Source{}, a.task[normal]
}

func (a addresses) has(at string) bool {
	_, _, ok := a.find(at)
	return ok
}

// Addresses without a scheme, and, where letters of another script follow at
// once, the part that can be nothing else.
var (
	plainAddress = regexp.MustCompile(`https?://[!-~]+`)
	bareAddress  = regexp.MustCompile(`(?:[\p{L}\p{N}](?:[\p{L}\p{N}-]*[\p{L}\p{N}])?\.)+\p{L}{2,}(?::\d+)?(?:/[^\s<>"'“”«»「」『』【】()（）、。，；\[\]]*)?`)
	plainBare    = regexp.MustCompile(`(?:[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?\.)+[A-Za-z]{2,}(?::\d+)?(?:/[!-~]*)?`)
)

// named are the addresses that stand in a text, with and without a scheme.
func named(text string) []string {
	var out []string
	add := func(at string) { out = append(out, at, strings.TrimRight(at, ".,;:!?…*_'\"`)]}>")) }
	for _, at := range written.FindAllString(text, -1) {
		add(at)
	}
	for _, at := range plainAddress.FindAllString(text, -1) {
		add(at)
	}
	for _, at := range append(bareAddress.FindAllString(text, -1), plainBare.FindAllString(text, -1)...) {
		add("https://" + at)
		add("http://" + at)
	}
	return out
}
