package llm

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// A request that is let through at a glance would have been let through by
// the count.
func TestMostTokensIsABound(t *testing.T) {
	text := rapid.OneOf(
		rapid.String(),
		rapid.StringOfN(rapid.RuneFrom([]rune("a 1,\n的é😀")), 0, 40, -1),
		rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 40), func(b []byte) string { return string(b) }),
	)
	rapid.Check(t, func(t *rapid.T) {
		req := &Request{}
		for range rapid.IntRange(0, 4).Draw(t, "messages") {
			m := Message{Content: text.Draw(t, "content"), Name: text.Draw(t, "name")}
			for range rapid.IntRange(0, 2).Draw(t, "calls") {
				m.ToolCalls = append(m.ToolCalls, ToolCall{Name: text.Draw(t, "tool"), Arguments: text.Draw(t, "arguments")})
			}
			req.Messages = append(req.Messages, m)
		}
		for range rapid.IntRange(0, 2).Draw(t, "tools") {
			req.Tools = append(req.Tools, Tool{Name: text.Draw(t, "name"), Description: text.Draw(t, "description"), Parameters: []byte(text.Draw(t, "parameters"))})
		}
		if rapid.Bool().Draw(t, "format") {
			req.Format = &Format{Schema: []byte(text.Draw(t, "schema"))}
		}
		if most, count := mostTokens(req), CountRequest(req); most < count {
			t.Errorf("bound %d is below the count %d", most, count)
		}
	})
}

func TestFamilyKeys(t *testing.T) {
	check := func(key string) {
		if len(key) > longestFamily || key != strings.ToLower(key) || strings.Contains(key, "/") {
			t.Errorf("family %q would never be found", key)
		}
	}
	for key := range windows {
		check(key)
	}
	for key := range prices {
		check(key)
	}
}

func TestConfiguredNameWithProvider(t *testing.T) {
	w := Windows{Override: map[string]int{"Vendor/My-Model": 1234}}
	if n := w.For("vendor/my-model"); n != 1234 {
		t.Errorf("window = %d, want the configured 1234", n)
	}
	if n := w.For("other/my-model"); n != UnknownWindow {
		t.Errorf("window of another provider's model = %d", n)
	}
}
