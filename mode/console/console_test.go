package console

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"dossier/llm"
)

var update = flag.Bool("update", false, "rewrite golden files")

// TestPrompts freezes what the model is told.
func TestPrompts(t *testing.T) {
	in := input{
		Request: "а про зиму?", QuestionMaxLen: 30, ThemeMaxLen: 20,
		History: []llm.Message{{Role: llm.RoleUser, Content: "Напиши хайку про осень"}, {Role: llm.RoleAssistant, Content: "Хайку: а | б | в"}},
	}
	var out bytes.Buffer
	for _, task := range []interface {
		Messages(input) ([]llm.Message, error)
	}{classifying, selecting} {
		messages, err := task.Messages(in)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range messages {
			fmt.Fprintf(&out, "--- %s\n%s\n", m.Role, m.Content)
		}
		fmt.Fprintln(&out)
	}
	const golden = "testdata/prompts.golden"
	if *update {
		if err := os.WriteFile(golden, out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(out.Bytes(), want) {
		t.Errorf("the prompts differ from %s (-update rewrites it):\n%s", golden, &out)
	}
}

// Replies as models write them.
func TestReplies(t *testing.T) {
	for text, want := range map[string]string{
		`{"relevant": true}`:                     "true",
		"```json\n{\"relevant\": false}\n```":    "false",
		`Вот ответ: {"relevant": "да"} — готово`: "true",
		`{relevant: true,}`:                      "true",
		`{"relevant": "maybe"}`:                  "!",
		`{"релевантно": true}`:                   "!",
		``:                                       "!",
		`true`:                                   "!",
		`[]`:                                     "!",
		`I cannot help with that.`:               "!",
		`{"relevant": true, "why": "{\"relevant\":"}`: "true",
	} {
		got, err := readRelevant(text)
		said := fmt.Sprint(got)
		if err != nil {
			said = "!"
		}
		if said != want {
			t.Errorf("%q: %s %v", text, said, err)
		}
	}
	for text, want := range map[string]string{
		`{"tool":"rag_search","parameters":{"question":"a"}}`: `rag_search question: a`,
		`{"tool":" rag_search ","parameters":null}`:           `rag_search —`,
		`{"tool":"none"}`:                                             ` —`,
		`{"tool":null,"parameters":{}}`:                               ` —`,
		`{"tool":"x","parameters":{"b":[1],"a":"я","c":null}}`:        `x a: я, b: [1], c: null`,
		`{"tool":7,"parameters":{}}`:                                  "!",
		`{"tool":"x","parameters":"y"}`:                               "!",
		`{"parameters":{}}`:                                           "!",
		"Sure!\n{\"tool\": \"generate_haiku\", \"parameters\": {}}\n": `generate_haiku —`,
	} {
		got, err := readChoice(text)
		said := got.Tool + " " + got.parameters()
		if err != nil {
			said = "!"
		}
		if said != want {
			t.Errorf("%q: %q %v", text, said, err)
		}
	}
}

func TestRules(t *testing.T) {
	for request, want := range map[string]string{
		"Напиши хайку про осень":              `generate_haiku {"theme":"осень"}`,
		"хайку на тему «первый снег»!":        `generate_haiku {"theme":"первый снег"}`,
		"Write a haiku about the sea, please": `generate_haiku {"theme":"the sea, please"}`,
		"Haiku: rain":                         `generate_haiku {"theme":"rain"}`,
		"хокку о любви":                       `generate_haiku {"theme":"любви"}`,
		"写一首关于秋天的俳句":                          `generate_haiku {"theme":"秋天"}`,
		"Напиши хайку":                        `generate_haiku {}`,
		"Что такое GPL?":                      `rag_search {"question":"Что такое GPL?"}`,
		"найди мне сроки отпуска":             `rag_search {"question":"сроки отпуска"}`,
		"настройка прокси":                    `rag_search {"question":"настройка прокси"}`,
		"签证怎么办？":                              `rag_search {"question":"签证怎么办？"}`,
		"Привет!":                             "",
		"спасибо, хорошо":                     "",
		"thank you":                           "",
		"Включи музыку":                       "",
		"translate this":                      "",
		"42 + 1":                              "",
		"???":                                 "",
		"":                                    "",
	} {
		got := ""
		if relevantByRules(request) {
			c := chooseByRules(request)
			if c.Parameters == nil {
				c.Parameters = map[string]json.RawMessage{}
			}
			raw, err := json.Marshal(c.Parameters)
			if err != nil {
				t.Fatal(err)
			}
			got = c.Tool + " " + string(raw)
		}
		if got != want {
			t.Errorf("%q: %s, want %s", request, got, want)
		}
	}
}

func TestCheckTopK(t *testing.T) {
	set := Settings{QuestionMaxLen: 30, ThemeMaxLen: 20, TopK: 2}
	for raw, want := range map[string]int{`5`: 5, `"5"`: 2, `0`: 2, `-1`: 2, `1000`: 2, `2.5`: 2, `null`: 2} {
		c, wrong := check(choice{ToolSearch, map[string]json.RawMessage{"question": json.RawMessage(`"a"`), "top_k": json.RawMessage(raw)}}, set)
		if wrong != "" || c.TopK != want {
			t.Errorf("%s: %+v %s", raw, c, wrong)
		}
	}
}

// Lengths count in characters, and the longest is still right.
func TestCheckLengths(t *testing.T) {
	set := Settings{QuestionMaxLen: 30, ThemeMaxLen: 20, TopK: 2}
	for _, c := range []struct {
		tool, parameter, letter string
		most                    int
	}{{ToolSearch, "question", "я", 30}, {ToolHaiku, "theme", "秋", 20}} {
		for n, want := range map[int]bool{c.most: true, c.most + 1: false} {
			if got, wrong := check(choice{c.tool, given(c.parameter, strings.Repeat(c.letter, n))}, set); got.OK != want {
				t.Errorf("%s of %d: %+v %s", c.parameter, n, got, wrong)
			}
		}
	}
}

func TestShorten(t *testing.T) {
	for _, c := range []struct {
		text string
		most int
		want string
	}{{"абвгд", 5, "абвгд"}, {"абвгдежзик", 7, "аб … ик"}, {"абвгдежзик", 8, "абв … ик"}} {
		if got := shorten(c.text, c.most); got != c.want || len([]rune(got)) > c.most {
			t.Errorf("%q: %q", c.text, got)
		}
	}
}
