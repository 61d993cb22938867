package logs

import (
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"
)

const mask = "[redacted]"

// Redactor masks secrets: those that it was told of, and what looks like one.
// The zero value is ready; it is safe for concurrent use.
type Redactor struct {
	mu     sync.Mutex
	known  []string
	masker atomic.Pointer[strings.Replacer]
}

// shortest is the length below which a secret isn't masked by itself: it would
// tear ordinary words apart.
const shortest = 6

// Add makes the redactor mask a secret wherever it appears, also as it looks
// in a URL or in JSON.
func (r *Redactor) Add(secrets ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range secrets {
		if len(s) < shortest {
			continue
		}
		forms := []string{s, url.QueryEscape(s), url.PathEscape(s)}
		if quoted, err := json.Marshal(s); err == nil {
			forms = append(forms, string(quoted[1:len(quoted)-1]))
		}
		for _, f := range forms {
			if !slices.Contains(r.known, f) {
				r.known = append(r.known, f)
			}
		}
	}
	// The replacer takes the first that fits, so longer ones come first.
	slices.SortStableFunc(r.known, func(a, b string) int { return len(b) - len(a) })
	pairs := make([]string, 0, 2*len(r.known))
	for _, s := range r.known {
		pairs = append(pairs, s, mask)
	}
	r.masker.Store(strings.NewReplacer(pairs...))
}

var secretKeys = `(?:[a-z0-9_-]*(?:authorization|api[-_]?key|apikey|secret|password|passwd|credentials)|(?:access[-_]?|refresh[-_]?|auth[-_]?|id[-_]?|bot[-_]?)?token)`

var patterns = []struct {
	re   *regexp.Regexp
	with string
}{
	{regexp.MustCompile(`(?i)\b(bearer|basic)\s+[a-z0-9._~+/=-]{6,}`), "$1 " + mask},
	{regexp.MustCompile(`\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?`), mask},
	{regexp.MustCompile(`\b(?:sk|pk|rk|gsk|xai|hf|tvly|ghp|gho|glpat|nvapi|xox[abp])[-_][A-Za-z0-9_-]{12,}`), mask},
	{regexp.MustCompile(`\bdossier_[a-z2-7]{10}_[a-z2-7]{12,}`), mask}, // our own: see access
	{regexp.MustCompile(`\b(?:AIza[A-Za-z0-9_-]{30,}|AKIA[A-Z0-9]{12,})`), mask},
	{regexp.MustCompile(`://[^/\s:@"]*:[^/\s@"]+@`), "://" + mask + "@"},
	{regexp.MustCompile(`(?i)(\b` + secretKeys + `\\?["']?\s*[:=]\s*)(\\?"(?:[^"\\]|\\[^"])*\\?"|'[^']*'|[^\s,;&}\])"']+)`), "${1}" + mask},
}

var wholeSecretKey = regexp.MustCompile(`(?i)^` + secretKeys + `$`)

func secretKey(key string) bool { return wholeSecretKey.MatchString(key) }

// Mask masks the secrets that the redactor was told of.
func (r *Redactor) Mask(s string) string {
	if m := r.masker.Load(); m != nil {
		s = m.Replace(s)
	}
	return s
}

// Redact masks those, and what looks like a secret.
func (r *Redactor) Redact(s string) string {
	s = r.Mask(s)
	for _, p := range patterns {
		s = p.re.ReplaceAllString(s, p.with)
	}
	return s
}

// Clean is Redact of the Printable text.
func (r *Redactor) Clean(s string) string { return r.Redact(Printable(s)) }

// Printable drops what a terminal would obey rather than show: escape
// sequences, control characters except line breaks and tabs, and marks that
// turn the direction of text around. Invalid UTF-8 becomes U+FFFD.
func Printable(s string) string {
	if plain(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == 0x1b || r == 0x9b || r == 0x9d || r == 0x90:
			i += escapeLen(s[i:], r, n)
			continue
		case r == '\n' || r == '\t':
			b.WriteRune(r)
		case r < ' ' || r >= 0x7f && r < 0xa0, r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069:
		default:
			b.WriteRune(r) // U+FFFD for an invalid byte
		}
		i += n
	}
	return b.String()
}

// plain says that there is nothing to drop in s, without decoding it.
func plain(s string) bool {
	for i := range len(s) {
		c := s[i]
		if c < ' ' && c != '\n' && c != '\t' || c == 0x7f || c == 0xc2 || c == 0xe2 {
			return false
		}
	}
	return utf8.ValidString(s)
}

// escapeLen is the length of the escape sequence that s begins with.
func escapeLen(s string, first rune, n int) int {
	kind := first
	if first == 0x1b {
		if len(s) < 2 {
			return len(s)
		}
		n = 2
		switch s[1] {
		case '[':
			kind = 0x9b
		case ']', 'P', 'X', '^', '_':
			kind = 0x9d
		default:
			if s[1] < ' ' || s[1] > '~' {
				return 1
			}
			return 2
		}
	}
	if kind == 0x9b { // ends with a letter
		for ; n < len(s); n++ {
			if s[n] >= 0x40 && s[n] <= 0x7e {
				return n + 1
			}
			if s[n] < 0x20 || s[n] > 0x3f {
				return n // it was no sequence after all
			}
		}
		return n
	}
	// A string, ended by BEL or ESC \; without an end only its start goes.
	start := n
	for ; n < len(s); n++ {
		if s[n] == 0x07 {
			return n + 1
		}
		if s[n] == 0x1b && n+1 < len(s) && s[n+1] == '\\' {
			return n + 2
		}
		if s[n] == '\n' {
			break
		}
	}
	return start
}
