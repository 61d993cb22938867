package lang

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var placeholder = regexp.MustCompile(`\{[^{}]*\}`)

func placeholders(text string) []string {
	found := placeholder.FindAllString(text, -1)
	slices.Sort(found)
	return slices.Compact(found)
}

// The catalogues must have the same keys, the same placeholders, and the
// plural forms of their language.
func TestCataloguesAgree(t *testing.T) {
	english := catalogues()[English]
	for _, c := range Locales {
		messages := catalogues()[c]
		if got, want := slices.Sorted(maps.Keys(messages)), slices.Sorted(maps.Keys(english)); !slices.Equal(got, want) {
			t.Errorf("%s: keys %v, want %v", c, got, want)
		}
		for key, m := range messages {
			e := english[key]
			if (m.forms == nil) != (e.forms == nil) {
				t.Errorf("%s: %s: plural in one language only", c, key)
				continue
			}
			if m.forms == nil {
				if got, want := placeholders(m.text), placeholders(e.text); !slices.Equal(got, want) {
					t.Errorf("%s: %s: placeholders %v, want %v", c, key, got, want)
				}
				continue
			}
			want := slices.Sorted(slices.Values(pluralForms[c]))
			if got := slices.Sorted(maps.Keys(m.forms)); !slices.Equal(got, want) {
				t.Errorf("%s: %s: forms %v, want %v", c, key, got, want)
			}
			for form, text := range m.forms {
				if got, want := placeholders(text), placeholders(e.forms["other"]); !slices.Equal(got, want) {
					t.Errorf("%s: %s[%s]: placeholders %v, want %v", c, key, form, got, want)
				}
			}
		}
	}
}

// A long message must be in the language of its catalogue.
func TestCataloguesAreTranslated(t *testing.T) {
	for _, c := range Locales {
		for key, m := range catalogues()[c] {
			if text := placeholder.ReplaceAllString(m.text, ""); len(text) > 40 {
				if got := Detect(text); got != c {
					t.Errorf("%s: %s looks %s: %q", c, key, got, text)
				}
			}
		}
	}
}

func TestText(t *testing.T) {
	for _, c := range []struct {
		got, want string
	}{
		{Text(Russian, "status.done"), "готово"},
		{Text("de", "status.done"), "done"},
		{Text(Chinese, "no.such.key"), "no.such.key"},
		{Text(English, "run.failed", "reason", "no {command}"), "The run failed: no {command}"},
		{Text(Chinese, "run.resume", "command", "dossier runs resume 1"), "继续运行：dossier runs resume 1"},
		{Text(English, "sources.count", "n", 1), "1 source"},
		{Text(English, "sources.count", "n", 0), "0 sources"},
		{Text(Chinese, "sources.count", "n", 3), "3 个来源"},
		{Text(Russian, "sources.count", "n", 1.5), "1.5 источников"},
		{Text(Russian, "sources.count"), "{n} источников"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
	for n, want := range map[int]string{
		0: "0 источников", 1: "1 источник", 2: "2 источника", 4: "4 источника", 5: "5 источников", 11: "11 источников",
		12: "12 источников", 14: "14 источников", 21: "21 источник", 22: "22 источника", 111: "111 источников", 1001: "1001 источник",
	} {
		if got := Text(Russian, "sources.count", "n", n); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestTextKeepsLayout(t *testing.T) {
	for _, c := range Locales {
		text := Text(c, "no-model.connect")
		for _, part := range []string{"OPENAI_API_KEY", "OPENAI_BASE_URL", "Ollama", "LM Studio", "`dossier-llmtest`", "\n  - "} {
			if !strings.Contains(text, part) {
				t.Errorf("%s: no %q in %q", c, part, text)
			}
		}
	}
}

func TestParseMessagesRefuses(t *testing.T) {
	for _, data := range []string{"key", "a = x\na = y", "a =", "a = x\na[one] = y", "a[one] = x\na[one] = y"} {
		if m, err := parseMessages(data); err == nil {
			t.Errorf("%q gives %v", data, m)
		}
	}
}

// The frame is in the language of the question, also where that is short and
// names things in another script.
func TestForAnswerOfShortQuestions(t *testing.T) {
	for text, want := range map[string]Code{
		"пароль root": Russian, "настройка apt sources.list": Russian, "debian пароль": Russian, "порт": Russian, "SSH ключ": Russian,
		"systemctl restart nginx не работает": Russian, "пароль": Russian, "nginx 配置": Chinese, "apt install 出错": Chinese, "root password": English,
		"What does the word привет mean?": English, "пароль користувача їжак": "uk", "mot de passe root": "fr",
	} {
		for _, locale := range []Code{English, Russian, Chinese} {
			if got := ForAnswer(text, locale); got != want {
				t.Errorf("%q for a reader of %s: %s, want %s", text, locale, got, want)
			}
		}
	}
}
