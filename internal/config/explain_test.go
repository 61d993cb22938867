package config

import (
	"bytes"
	"os"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestTemplate reads the example file as it is and with every setting put in
// force: it must say what the defaults say.
func TestTemplate(t *testing.T) {
	env := []string{"HOME=/h", "OPENAI_API_KEY=k"}
	want := mustLoad(t, Sources{Env: env}, nil)
	open := strings.Builder{}
	settings := 0
	for line := range strings.Lines(Template()) {
		text := strings.TrimLeft(line, " ")
		if strings.HasPrefix(text, "#") && !strings.HasPrefix(text, "# ") {
			line = line[:len(line)-len(text)] + text[1:]
			settings++
		}
		open.WriteString(line)
	}
	if settings < 50 {
		t.Fatalf("%d settings", settings)
	}
	for name, text := range map[string]string{"as it is": Template(), "in force": open.String()} {
		got := mustLoad(t, Sources{Env: env}, yamlFile(text))
		g, w := got.Explain(), want.Explain()
		for i := range w {
			// Paths in a file are relative to it.
			if !strings.HasSuffix(g[i].Path, "_dir") && (g[i].Path != w[i].Path || g[i].Value != w[i].Value) {
				t.Errorf("%s: %s = %q, want %q", name, g[i].Path, g[i].Value, w[i].Value)
			}
		}
	}
}

func TestRender(t *testing.T) {
	c := mustLoad(t, Sources{
		Env:   []string{"HOME=/home/u", "OPENAI_API_KEY=k", "CHAT_HISTORY_LIMIT=9", "CHAT_MODEL=gpt-x"},
		Flags: map[string]string{"chat.history_limit": "4"},
	}, yamlFile("chat_history_limit: 5\nlimits: {cost: 2}\ntools:\n  web: {api_key: k, n: 1}\n  \"a\\e[1m\": 1\n"))
	var out bytes.Buffer
	if err := c.Render(&out, false); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"chat_history_limit", "CHAT_MODEL", "dossier_lang", "llm.api_key", "tools", "agents", "models.writer.model"} {
		out.WriteString("\n-- " + key + "\n")
		if err := c.RenderKey(&out, key); err != nil {
			t.Fatal(err)
		}
	}
	const golden = "testdata/render.txt"
	if *update {
		if err := os.WriteFile(golden, out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if out.String() != string(want) {
		t.Errorf("got:\n%s", out.String())
	}
	if err := c.RenderKey(&out, "chat.histori_limit"); err == nil || err.Error() != "chat.histori_limit: no such setting; did you mean chat.history_limit?" {
		t.Errorf("unknown key: %v", err)
	}
}

// TestDistance holds the edit distance to what makes it one.
func TestDistance(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringMatching(`[ab_]{0,8}`)
		a, b := word.Draw(t, "a"), word.Draw(t, "b")
		d := distance(a, b, 100)
		if d != distance(b, a, 100) || (d == 0) != (a == b) || d > max(len(a), len(b)) {
			t.Fatalf("distance %d", d)
		}
		if a != "" {
			i := rapid.IntRange(0, len(a)-1).Draw(t, "i")
			if e := distance(a, a[:i]+a[i+1:], 100); e != 1 {
				t.Fatalf("one deletion: %d", e)
			}
		}
	})
}

// TestExpand: a text whose dollars are escaped comes back as it was.
func TestExpand(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringMatching(`([a{}:-]|\$[a ]|\$\{){0,8}`).Draw(t, "s")
		env := environ{"a=1"}
		if got, problem := env.expand(strings.ReplaceAll(s, "${", "$${")); problem != "" || got != s {
			t.Fatalf("%q: %q %s", s, got, problem)
		}
	})
}

func BenchmarkLoad(b *testing.B) {
	dir := b.TempDir()
	if err := os.WriteFile(dir+"/dossier.yaml", []byte("llm: {model: m, api_key: OPENAI_API_KEY}\nchat: {history_limit: 5}\nlimits: {cost: 2, time: 10m}\n"), 0o644); err != nil {
		b.Fatal(err)
	}
	env := append(os.Environ(), "OPENAI_API_KEY=k", "CHAT_MODEL=m", "HOME=/h")
	b.Run("cold", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			buildSchema(reflect.TypeFor[Config]())
		}
	})
	b.Run("none", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := Load(Sources{Env: env, File: NoFile}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("file", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := Load(Sources{Env: env, Dir: dir}); err != nil {
				b.Fatal(err)
			}
		}
	})
	c, err := Load(Sources{Env: env, Dir: dir})
	if err != nil {
		b.Fatal(err)
	}
	b.Run("model", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			c.Model(RoleChat)
		}
	})
}
