package config

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"strconv"
	"strings"
)

const redacted = "***"

// Secret is a text that shows itself to nobody: printed, logged or marshalled
// it is "***" (or nothing when empty). Reveal is for use.
type Secret struct {
	// A pointer, so that fmt prints an address even where it cannot call
	// String because the Secret sits in an unexported field.
	text *string
}

// NewSecret hides text.
func NewSecret(text string) Secret {
	if text == "" {
		return Secret{}
	}
	return Secret{&text}
}

// Reveal returns the text. Call it where the text is sent, nowhere else.
func (s Secret) Reveal() string {
	if s.text == nil {
		return ""
	}
	return *s.text
}

// IsZero says whether there is no secret.
func (s Secret) IsZero() bool { return s.text == nil }

func (s Secret) String() string {
	if s.text == nil {
		return ""
	}
	return redacted
}

// GoString keeps %#v silent.
func (s Secret) GoString() string { return `config.Secret("` + s.String() + `")` }

// Format keeps every verb silent.
func (s Secret) Format(f fmt.State, verb rune) { format(f, verb, s) }

// format prints v by its String or GoString whatever the verb: with a verb
// that does not fit, fmt would print the value itself.
func format(f fmt.State, verb rune, v interface {
	fmt.Stringer
	fmt.GoStringer
}) {
	switch {
	case verb == 'v' && f.Flag('#'):
		io.WriteString(f, v.GoString())
	case verb == 'q':
		io.WriteString(f, strconv.Quote(v.String()))
	default:
		io.WriteString(f, v.String())
	}
}

// MarshalText covers JSON, XML and text encoders.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// MarshalJSON gives "***".
func (s Secret) MarshalJSON() ([]byte, error) { return []byte(`"` + s.String() + `"`), nil }

// MarshalYAML gives "***".
func (s Secret) MarshalYAML() (any, error) { return s.String(), nil }

// LogValue gives "***".
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// UnmarshalText takes the text over.
func (s *Secret) UnmarshalText(text []byte) error {
	*s = NewSecret(string(text))
	return nil
}

// URL is an address that may carry a user and a password: printed, logged or
// marshalled it shows neither. string(u) is the address as it was given.
type URL string

func (u URL) String() string {
	s := string(u)
	scheme, rest, ok := strings.Cut(s, "://")
	if !ok {
		return s
	}
	// Of several "@" the last one before the path ends the user part.
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	if at := strings.LastIndexByte(rest[:end], '@'); at >= 0 {
		rest = redacted + rest[at:]
	}
	if path, _, ok := strings.Cut(rest, "?"); ok {
		rest = path + "?" + redacted
	}
	return scheme + "://" + rest
}

// GoString hides what String hides.
func (u URL) GoString() string { return `config.URL("` + u.String() + `")` }

// Format hides what String hides, whatever the verb.
func (u URL) Format(f fmt.State, verb rune) { format(f, verb, u) }

// MarshalText hides what String hides.
func (u URL) MarshalText() ([]byte, error) { return []byte(u.String()), nil }

// LogValue hides what String hides.
func (u URL) LogValue() slog.Value { return slog.StringValue(u.String()) }

// UnmarshalText checks that the text is an address with a scheme and a host.
func (u *URL) UnmarshalText(text []byte) error {
	*u = ""
	if len(text) == 0 {
		return nil
	}
	p, err := url.Parse(string(text))
	if err != nil || p.Host == "" || p.Hostname() == "" {
		return errors.New("expected an address such as https://host/v1")
	}
	switch p.Scheme {
	case "http", "https", "socks5", "socks5h":
	default:
		return errors.New("expected an address that begins with http:// or https://")
	}
	*u = URL(text)
	return nil
}

// Tree is a free section: anything is accepted, and nested values are
// map[string]any, []any, string, int64, float64, bool or nil. Printed, logged
// or marshalled it hides the values whose keys speak of secrets, and all of
// "headers" and "env". Index it to use the values.
type Tree map[string]any

func (t Tree) shown() map[string]any {
	if t == nil {
		return nil
	}
	m, _ := shownValue(map[string]any(t)).(map[string]any)
	return m
}

func shownValue(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			out[k] = shownEntry(k, e)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = shownValue(e)
		}
		return out
	case string:
		if strings.Contains(v, "://") {
			return URL(v).String()
		}
		return maskKeys(v)
	}
	return v
}

func shownEntry(key string, v any) any {
	switch k := strings.ToLower(key); {
	case k == "headers" || k == "env" || isSecretName(k):
		return hide(v)
	}
	return shownValue(v)
}

// hide keeps the shape of v and none of its values.
func hide(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for k := range v {
			out[k] = redacted
		}
		return out
	case nil:
		return nil
	case string:
		if v == "" {
			return ""
		}
	}
	return redacted
}

// isSecretName says whether a lower-case key announces a secret. Keys such as
// max_tokens or token_budget do not.
func isSecretName(key string) bool {
	for _, word := range [...]string{"password", "passwd", "secret", "credential", "authorization", "apikey", "private_key", "access_key", "cookie"} {
		if strings.Contains(key, word) {
			return true
		}
	}
	for _, end := range [...]string{"key", "token", "auth", "dsn"} {
		if key == end || strings.HasSuffix(key, "_"+end) || strings.HasSuffix(key, "-"+end) {
			return true
		}
	}
	return false
}

func (t Tree) String() string { return inline(t.shown()) }

// GoString hides what String hides.
func (t Tree) GoString() string { return "config.Tree(" + t.String() + ")" }

// Format hides what String hides, whatever the verb.
func (t Tree) Format(f fmt.State, verb rune) { format(f, verb, t) }

// MarshalJSON hides what String hides.
func (t Tree) MarshalJSON() ([]byte, error) { return []byte(inline(t.shown())), nil }

// MarshalYAML hides what String hides.
func (t Tree) MarshalYAML() (any, error) { return t.shown(), nil }

// LogValue hides what String hides.
func (t Tree) LogValue() slog.Value { return slog.StringValue(t.String()) }

// maskKeys hides what looks like a key in a text that is about to be shown: a
// value may have landed in the wrong place.
func maskKeys(s string) string {
	if len(s) < 20 || strings.ContainsAny(s, " /\\\n{") {
		return s
	}
	var letter, digit bool
	for _, r := range s {
		switch {
		case '0' <= r && r <= '9':
			digit = true
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z':
			letter = true
		case r > 0x7f:
			return s
		}
	}
	if letter && digit {
		return redacted
	}
	return s
}
