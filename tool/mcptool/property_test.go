package mcptool

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"pgregory.net/rapid"

	"dossier/tool"
)

// Whatever the texts are, what a model gets is a JSON array within the limit,
// and nothing is missing without being said.
func TestArrayProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		texts := rapid.SliceOfN(rapid.String(), 0, 20).Draw(t, "texts")
		limit := rapid.IntRange(200, 2000).Draw(t, "limit")
		parts := make([]part, len(texts))
		for i, text := range texts {
			parts[i].text = strings.Repeat(text, rapid.IntRange(1, 100).Draw(t, "times"))
		}
		out := array(parts, limit)
		if n := utf8.RuneCountInString(out); n > limit {
			t.Fatalf("%d characters, not %d", n, limit)
		}
		var got []string
		if err := json.Unmarshal([]byte(out), &got); err != nil {
			t.Fatalf("%v in %s", err, out)
		}
		whole := len(got) == len(parts)
		for i := range got {
			whole = whole && got[i] == strings.ToValidUTF8(parts[i].text, "\uFFFD")
		}
		if !whole && (len(got) == 0 || !strings.HasSuffix(got[len(got)-1], "]") || !strings.Contains(got[len(got)-1], "[cut: ")) {
			t.Fatalf("something is missing in %s", out)
		}
	})
}

// Names can be told to a model and are distinct, and the first of a name keeps
// it.
func TestNamesProperty(t *testing.T) {
	allowed := regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)
	rapid.Check(t, func(t *rapid.T) {
		c := New(t.Context(), []Server{{Name: "a"}, {Name: "b б"}}, Options{})
		name := rapid.OneOf(rapid.SampledFrom([]string{"search", "Search", "se_arch", "поиск", "."}), rapid.String(), rapid.StringN(60, 80, -1))
		var tools []tool.Tool
		for _, s := range c.servers {
			var list []*mcp.Tool
			for range rapid.IntRange(0, 8).Draw(t, "tools") {
				list = append(list, &mcp.Tool{Name: name.Draw(t, "name")})
			}
			tools = append(tools, s.specs(list)...)
		}
		distinct := Distinct(tools, "final_answer")
		if _, err := tool.NewSet(distinct...); err != nil {
			t.Fatal(err)
		}
		for i, one := range distinct {
			if !allowed.MatchString(one.Spec().Name) || one.Spec().Origin != tools[i].Spec().Origin {
				t.Fatalf("%+v", one.Spec())
			}
		}
		if len(tools) > 0 && distinct[0].Spec().Name != tools[0].Spec().Name {
			t.Fatal("the first lost its name")
		}
	})
}
