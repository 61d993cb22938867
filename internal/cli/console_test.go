package cli_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"dossier"
	"dossier/event"
	"dossier/internal/cli"
	"dossier/llm"
	"dossier/llm/llmtest"
	"dossier/run"
)

// service is a service of the console agent that replies as it is told, by path.
type service struct {
	replies map[string]string // "500 text" is a status with a body; "" is 200
	mu      sync.Mutex
	asked   []string
}

func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	s.asked = append(s.asked, strings.TrimSpace(r.Method+" "+r.URL.Path+" "+string(body)))
	s.mu.Unlock()
	reply, ok := s.replies[r.URL.Path]
	if !ok {
		reply = `{"status":"ok"}`
	}
	if reply == "hang" {
		<-r.Context().Done()
		return
	}
	if status, text, found := strings.Cut(reply, " "); found && len(status) == 3 {
		var code int
		if _, err := fmt.Sscan(status, &code); err == nil {
			w.WriteHeader(code)
			reply = text
		}
	}
	_, _ = io.WriteString(w, reply)
}

// session is what a session of the console agent left behind.
type session struct {
	code        int
	stdout, err string
	log         []string   // of the agent's steps, without times
	history     []string   // who: text; status lines are those of the agent that no model sees
	saw         [][]string // what reached the model, call by call, without the system's prompt
	asked       []string   // of the services
	raw         string     // the whole log file
}

type consoleCase struct {
	input   string
	model   []string // replies, in order; "!500" is a failure; nil for no model
	replies map[string]string
	set     []string
	home    string // of an earlier session; "" begins anew
	args    []string
}

var (
	logLine = regexp.MustCompile(`^\S+ ([A-Z]+ \[(?:main|cls|select|valid|exec)\] .*)$`)
	stack   = regexp.MustCompile(` stack="[^"]*completions\.go[^"]*"`)
)

// play has a session with a scripted model and services elsewhere.
func (c consoleCase) play(t *testing.T) session {
	t.Helper()
	home := c.home
	if home == "" {
		home = t.TempDir()
	}
	services := &service{replies: c.replies}
	there := httptest.NewServer(services)
	defer there.Close()
	args := []string{"console", "--data", filepath.Join(home, "data"), "--set", "governor.retries=0", "--set", "console.rag_url=" + there.URL + "/rag", "--set", "console.haiku_url=" + there.URL + "/haiku"}
	var model *llmtest.Server
	if c.model != nil {
		var script llmtest.Script
		for i, reply := range c.model {
			rule := llmtest.Rule{Turn: i + 1, Reply: llmtest.Say(reply)}
			if reply == "!500" {
				rule = llmtest.Rule{Turn: i + 1, Fault: &llmtest.Fault{Kind: llmtest.Status, Status: 500}}
			}
			script.Rules = append(script.Rules, rule)
		}
		model = llmtest.Start(t, script)
		args = append(args, "--set", "models.default.base_url="+model.URL()+"/v1", "--set", "models.default.model=scripted")
	}
	for _, s := range c.set {
		args = append(args, "--set", s)
	}
	args = append(args, c.args...)
	var out, errs bytes.Buffer
	code := cli.Main(cli.Process{
		Args: args, Env: []string{"HOME=" + home, "LANG=en_US.UTF-8", "DOSSIER_CONFIG=none", "DOSSIER_SEARCH_ENGINES=none"}, Dir: home,
		Stdin: strings.NewReader(c.input), Stdout: &out, Stderr: &errs, Terminal: func(any) (int, int, bool) { return 0, 0, false },
		Interrupts: make(chan os.Signal), Terminate: t.Context(),
	})
	got := session{code: code, stdout: out.String(), err: errs.String(), asked: services.asked}
	raw, err := os.ReadFile(filepath.Join(home, "data", "logs", "dossier.log"))
	if err != nil {
		t.Fatal(err)
	}
	got.raw = string(raw)
	for line := range strings.Lines(got.raw) {
		if m := logLine.FindStringSubmatch(strings.TrimSpace(line)); m != nil {
			got.log = append(got.log, stack.ReplaceAllString(m[1], " stack"))
		}
	}
	got.history = history(t, home)
	if model != nil {
		for _, call := range model.Calls() {
			var said []string
			for _, m := range call.Request.Messages {
				if m.Role != llm.RoleSystem {
					said = append(said, string(m.Role)+": "+m.Content)
				}
			}
			got.saw = append(got.saw, said)
		}
	}
	return got
}

// history is the conversation as it is kept: what the user said, and the lines that
// the agent added.
func history(t *testing.T, home string) (out []string) {
	t.Helper()
	e, err := dossier.Open(t.Context(), dossier.Options{DataDir: filepath.Join(home, "data"), ConfigFile: "none", Env: []string{"HOME=" + home}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = e.Close() }()
	runs, err := e.List(t.Context(), dossier.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(runs, func(a, b run.Record) int { return a.Created.Compare(b.Created) })
	for _, rec := range runs {
		log, err := e.Log(t.Context(), rec.ID, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, ev := range log {
			switch d := ev.Data.(type) {
			case event.Message:
				if d.Role == "user" {
					out = append(out, "user: "+d.Text)
				}
			case event.ConsoleLine:
				if d.Kept {
					out = append(out, d.Role+": "+d.Text)
				}
			}
		}
	}
	return out
}

const (
	consoleHelp = `Я отвечаю на вопросы по вашим документам и пишу хайку.
  вопрос:  Как продлить визу?
  хайку:   Напиши хайку про осень
Команды: /help — справка, /exit — выход.
`
	relevant   = `{"relevant": true}`
	irrelevant = `{"relevant": false}`
)

func chosen(tool, parameters string) string {
	return `{"tool": "` + tool + `", "parameters": ` + parameters + `}`
}

// compared holds lines against those that are wanted, of which one that ends in … is
// a beginning.
func compared(t *testing.T, what string, got, want []string) {
	t.Helper()
	same := len(got) == len(want)
	for i := 0; same && i < len(got); i++ {
		if start, open := strings.CutSuffix(want[i], "…"); open {
			same = strings.HasPrefix(got[i], start)
		} else {
			same = got[i] == want[i]
		}
	}
	if !same {
		t.Errorf("%s:\n  %s\nwant:\n  %s", what, strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

// What each branch of the second to the fifth step begins with, as far as the step
// goes.
var (
	clsOut = []string{"Анализирую релевантность запроса..", "Запрос релевантен, думаю.."}
	clsLog = []string{"DEBUG [cls] AgentClassify", "DEBUG [cls] classify_intent // Relevant query"}
)

func selOut(tool, parameters string) []string {
	return append(slices.Clone(clsOut), "Выбираю подходящий инструмент..", "Выбран инструмент "+tool+" с параметрами "+parameters)
}

func selLog() []string {
	return append(slices.Clone(clsLog), "DEBUG [select] AgentSelect", "DEBUG [select] select_tool_call // Selection OK")
}

func valOut(tool, parameter, word, text string) []string {
	return append(selOut(tool, parameter+": "+text), "Валидирую инструмент..", "Инструмент "+tool+" проверен и готов к вызову. "+word+": "+text, "Выполняю инструмент..")
}

func valLog() []string {
	return append(selLog(), "DEBUG [valid] AgentValidate", "DEBUG [valid] validate_tool_call // Validation OK", "DEBUG [exec] AgentExecute")
}

const (
	ragSorry      = "Произошла чудовищная ошибка при запросе на RAG сервис.. Тысяча извинений! Попробуем снова?"
	haikuSorry    = "Произошла чудовищная ошибка при генерации хайку.. Тысяча извинений! Попробуем снова?"
	notUnderstood = "Не совсем понял вопрос. Просьба переформулировать."
)

// TestConsoleBranches has every branch of seed 004 (its lines are named), with what it
// says, logs, keeps and sends to the model. Where the table differs from the seed,
// resolutions 1, 2, 5 and 6 say so: labels and values of a haiku the right way round,
// commands matched whole, health before the call, statuses not sent to the model.
func TestConsoleBranches(t *testing.T) {
	question := chosen("rag_search", `{"question": "Что такое GPL?"}`)
	theme := chosen("generate_haiku", `{"theme": "осень"}`)
	rag := func(path, reply string) map[string]string { return map[string]string{"/rag" + path: reply} }
	poet := func(path, reply string) map[string]string { return map[string]string{"/haiku" + path: reply} }
	ragOut, haikuOut := valOut("rag_search", "question", "Запрос", "Что такое GPL?"), valOut("generate_haiku", "theme", "Тема", "осень")
	type branch struct {
		name, seed string
		model      []string
		replies    map[string]string
		set        []string
		out        []string // between the greeting and the goodbye
		log        []string // between AgentStart and AgentRestart
		last       []string // of the log, if it is not AgentRestart and AgentEnd
		reply      string   // that is kept beside the statuses; "" for none
		code       int
		asked      []string
	}
	branches := []branch{
		{
			name: "the model fails at the intent", seed: "64-67", model: []string{"!500"}, code: 3, last: []string{},
			out: []string{clsOut[0], "Ошибка при запросе LLM, завершаюсь.."},
			log: []string{clsLog[0], "CRITICAL [cls] chat completion failed error=…", "CRITICAL [cls] classify_intent // LLM Error: model scripted at 127.0.0.1…"},
		},
		{
			name: "the intent can't be read", seed: "69-72", model: []string{"да, конечно"}, code: 1, last: []string{},
			out: []string{clsOut[0], "Ошибка при разборе ответа LLM, завершаюсь.."},
			log: []string{clsLog[0], `CRITICAL [cls] classify_intent // LLM Response Parse Error: no JSON object: "да, конечно"`},
		},
		{
			name: "irrelevant", seed: "74-78", model: []string{irrelevant},
			out: append([]string{clsOut[0], "Запрос не связан с функционалом агента."}, strings.Split(strings.TrimSpace(consoleHelp), "\n")...),
			log: []string{clsLog[0], "WARN [cls] classify_intent // Irrelevant query"}, reply: "Запрос не связан с функционалом агента.",
		},
		{
			name: "the model fails at the tool", seed: "94-97", model: []string{relevant, "!500"}, code: 3, last: []string{},
			out: append(slices.Clone(clsOut), "Выбираю подходящий инструмент..", "Ошибка при запросе LLM, завершаюсь.."),
			log: append(slices.Clone(clsLog), "DEBUG [select] AgentSelect", "CRITICAL [select] chat completion failed error=…", "CRITICAL [select] select_tool_call // LLM Error: …"),
		},
		{
			name: "the tool can't be read", seed: "99-102", model: []string{relevant, `{"parameters": {}}`}, code: 1, last: []string{},
			out: append(slices.Clone(clsOut), "Выбираю подходящий инструмент..", "Ошибка при разборе ответа LLM, завершаюсь.."),
			log: append(slices.Clone(clsLog), "DEBUG [select] AgentSelect", "CRITICAL [select] select_tool_call // LLM Response Parse Error: the field tool is missing: …"),
		},
		{
			name: "no tool", seed: "104-107", model: []string{relevant, `{"tool": null, "parameters": {}}`},
			out:   append(slices.Clone(clsOut), "Выбираю подходящий инструмент..", "Не удалось определить инструмент. Просьба переформулировать запрос."),
			log:   append(slices.Clone(clsLog), "DEBUG [select] AgentSelect", "WARN [select] select_tool_call // Selection Fail"),
			reply: "Не удалось определить инструмент. Просьба переформулировать запрос.",
		},
		{
			name: "no question", seed: "125-128", model: []string{relevant, chosen("rag_search", `{}`)},
			out: append(selOut("rag_search", "—"), "Валидирую инструмент..", notUnderstood),
			log: append(selLog(), "DEBUG [valid] AgentValidate", "WARN [valid] validate_tool_call // Missing Param: rag_search::question"), reply: notUnderstood,
		},
		{
			name: "question is null", seed: "125-128", model: []string{relevant, chosen("rag_search", `{"question": null}`)},
			out: append(selOut("rag_search", "question: null"), "Валидирую инструмент..", notUnderstood),
			log: append(selLog(), "DEBUG [valid] AgentValidate", "WARN [valid] validate_tool_call // Missing Param: rag_search::question"), reply: notUnderstood,
		},
		{
			name: "question of the wrong type", seed: "125-128", model: []string{relevant, chosen("rag_search", `{"question": ["a"]}`)},
			out: append(selOut("rag_search", `question: ["a"]`), "Валидирую инструмент..", notUnderstood),
			log: append(selLog(), "DEBUG [valid] AgentValidate", "WARN [valid] validate_tool_call // Wrong Type Param: rag_search::question"), reply: notUnderstood,
		},
		{
			name: "empty question", seed: "130-133", model: []string{relevant, chosen("rag_search", `{"question": "  "}`)},
			out: append(selOut("rag_search", "question:   "), "Валидирую инструмент..", notUnderstood),
			log: append(selLog(), "DEBUG [valid] AgentValidate", "WARN [valid] validate_tool_call // Empty Param: rag_search::question"), reply: notUnderstood,
		},
		{
			name: "long question", seed: "135-138", model: []string{relevant, chosen("rag_search", `{"question": "`+strings.Repeat("я", 31)+`"}`)},
			out:   append(selOut("rag_search", "question: "+strings.Repeat("я", 31)), "Валидирую инструмент..", "Вопрос слишком длинный. Просьба сформулировать более кратко."),
			log:   append(selLog(), "DEBUG [valid] AgentValidate", "WARN [valid] validate_tool_call // Too Long Param: rag_search::question"),
			reply: "Вопрос слишком длинный. Просьба сформулировать более кратко.",
		},
		{
			name: "no theme", seed: "147-150", model: []string{relevant, chosen("generate_haiku", `{}`)},
			out: append(selOut("generate_haiku", "—"), "Валидирую инструмент..", notUnderstood),
			log: append(selLog(), "DEBUG [valid] AgentValidate", "WARN [valid] validate_tool_call // Missing Param: generate_haiku::theme"), reply: notUnderstood,
		},
		{
			name: "theme of the wrong type", seed: "147-150", model: []string{relevant, chosen("generate_haiku", `{"theme": 7}`)},
			out: append(selOut("generate_haiku", "theme: 7"), "Валидирую инструмент..", notUnderstood),
			log: append(selLog(), "DEBUG [valid] AgentValidate", "WARN [valid] validate_tool_call // Wrong Type Param: generate_haiku::theme"), reply: notUnderstood,
		},
		{
			name: "empty theme", seed: "152-155", model: []string{relevant, chosen("generate_haiku", `{"theme": ""}`)},
			out: append(selOut("generate_haiku", "theme: "), "Валидирую инструмент..", notUnderstood),
			log: append(selLog(), "DEBUG [valid] AgentValidate", "WARN [valid] validate_tool_call // Empty Param: generate_haiku::theme"), reply: notUnderstood,
		},
		{
			name: "long theme", seed: "157-160", model: []string{relevant, chosen("generate_haiku", `{"theme": "`+strings.Repeat("秋", 21)+`"}`)},
			out:   append(selOut("generate_haiku", "theme: "+strings.Repeat("秋", 21)), "Валидирую инструмент..", "Тема слишком длинная. Просьба сформулировать более кратко."),
			log:   append(selLog(), "DEBUG [valid] AgentValidate", "WARN [valid] validate_tool_call // Too Long Param: generate_haiku::theme"),
			reply: "Тема слишком длинная. Просьба сформулировать более кратко.",
		},
		{
			name: "a tool that is not there", seed: "167-170", model: []string{relevant, chosen("rm_rf", `{"x": 1}`)},
			out:   append(selOut("rm_rf", "x: 1"), "Валидирую инструмент..", "Не удалось провалидировать запрос. Просьба переформулировать."),
			log:   append(selLog(), "DEBUG [valid] AgentValidate", "WARN [valid] validate_tool_call // Unknown tool: rm_rf"),
			reply: "Не удалось провалидировать запрос. Просьба переформулировать.",
		},
		{
			name: "rag: nobody there", seed: "187-195", model: []string{relevant, question}, set: []string{"console.rag_url=http://127.0.0.1:1"}, out: append(slices.Clone(ragOut), ragSorry),
			log: append(valLog(), "ERROR [exec] check_health // Unexpected error: …", "ERROR [exec] answer_question // Health check failed"), reply: ragSorry,
		},
		{
			name: "rag: health fails", seed: "187-195", model: []string{relevant, question}, replies: rag("/health", "503 down"), out: append(slices.Clone(ragOut), ragSorry),
			log:   append(valLog(), "ERROR [exec] check_health // Unexpected error: /health: HTTP 503: down", "ERROR [exec] answer_question // Health check failed"),
			reply: ragSorry, asked: []string{"GET /rag/health"},
		},
		{
			name: "rag: health is garbage", seed: "187-195", model: []string{relevant, question}, replies: rag("/health", "<html>no</html>"), out: append(slices.Clone(ragOut), ragSorry),
			log:   append(valLog(), "ERROR [exec] check_health // Unexpected error: the reply is no status: …", "ERROR [exec] answer_question // Health check failed"),
			reply: ragSorry,
		},
		{
			name: "rag: not well", seed: "197", model: []string{relevant, question}, replies: rag("/health", `{"status":"degraded"}`), out: append(slices.Clone(ragOut), ragSorry),
			log: append(valLog(), "ERROR [exec] answer_question // Health check failed"), reply: ragSorry,
		},
		{
			name: "rag: search fails", seed: "199", model: []string{relevant, question}, replies: rag("/search", "500 boom"), out: append(slices.Clone(ragOut), ragSorry),
			log: append(valLog(), "ERROR [exec] answer_question // Unexpected error: /search: HTTP 500: boom"), reply: ragSorry,
		},
		{
			name: "rag: search is garbage", seed: "199", model: []string{relevant, question}, replies: rag("/search", "]["), out: append(slices.Clone(ragOut), ragSorry),
			log: append(valLog(), "ERROR [exec] answer_question // Unexpected error: the reply can't be read: …"), reply: ragSorry,
		},
		{
			name: "rag: no answer in it", seed: "199", model: []string{relevant, question}, replies: rag("/search", "{}"), out: append(slices.Clone(ragOut), ragSorry),
			log: append(valLog(), "ERROR [exec] answer_question // Unexpected error: the reply has no answer"), reply: ragSorry,
		},
		{
			name: "rag: an error field", seed: "200", model: []string{relevant, question}, replies: rag("/search", `{"error":"no index"}`), out: append(slices.Clone(ragOut), ragSorry),
			log: append(valLog(), "ERROR [exec] answer_question // Search error: no index"), reply: ragSorry,
		},
		{
			name: "rag: an answer", seed: "183, 223-227", model: []string{relevant, question},
			replies: rag("/search", `{"answer":"Лицензия.","chunk_title_list":["GPL","FAQ"],"chunk_texts":["GNU GPL — лицензия.","Вопросы"],"error":null}`),
			out:     append(slices.Clone(ragOut), "Ответ RAG: Лицензия.", "Заголовки топ-2 документов: GPL, FAQ"),
			log:     append(valLog(), `DEBUG [exec] rag_chunks_message: \n[1] GPL\n    GNU GPL — лицензия.\n[2] FAQ\n    Вопросы`), reply: "Ответ RAG: Лицензия.",
			asked: []string{"GET /rag/health", `POST /rag/search {"question":"Что такое GPL?","top_k":2}`},
		},
		{
			name: "haiku: nobody there", seed: "236-244", model: []string{relevant, theme}, set: []string{"console.haiku_url=http://127.0.0.1:1"}, out: append(slices.Clone(haikuOut), haikuSorry),
			log: append(valLog(), "ERROR [exec] check_health // Unexpected error: …", "ERROR [exec] generate_haiku // Health check failed"), reply: haikuSorry,
		},
		{
			name: "haiku: health is garbage", seed: "236-244", model: []string{relevant, theme}, replies: poet("/health", "{}"), out: append(slices.Clone(haikuOut), haikuSorry),
			log:   append(valLog(), "ERROR [exec] check_health // Unexpected error: the reply has no status", "ERROR [exec] generate_haiku // Health check failed"),
			reply: haikuSorry,
		},
		{
			name: "haiku: health fails", seed: "236-244", model: []string{relevant, theme}, replies: poet("/health", "500 x"), out: append(slices.Clone(haikuOut), haikuSorry),
			log:   append(valLog(), "ERROR [exec] check_health // Unexpected error: /health: HTTP 500: x", "ERROR [exec] generate_haiku // Health check failed"),
			reply: haikuSorry, asked: []string{"GET /haiku/health"},
		},
		{
			name: "haiku: not well", seed: "246", model: []string{relevant, theme}, replies: poet("/health", `"sick"`), out: append(slices.Clone(haikuOut), haikuSorry),
			log: append(valLog(), "ERROR [exec] generate_haiku // Health check failed"), reply: haikuSorry,
		},
		{
			name: "haiku: the call fails", seed: "248", model: []string{relevant, theme}, replies: poet("/generate_haiku", "404 nope"), out: append(slices.Clone(haikuOut), haikuSorry),
			log: append(valLog(), "ERROR [exec] generate_haiku // Unexpected error: /generate_haiku: HTTP 404: nope"), reply: haikuSorry,
		},
		{
			name: "haiku: the poem is garbage", seed: "248", model: []string{relevant, theme}, replies: poet("/generate_haiku", "<html>"), out: append(slices.Clone(haikuOut), haikuSorry),
			log: append(valLog(), "ERROR [exec] generate_haiku // Unexpected error: the reply can't be read: …"), reply: haikuSorry,
		},
		{
			name: "haiku: no poem in it", seed: "248", model: []string{relevant, theme}, replies: poet("/generate_haiku", `{"haiku_text":" "}`), out: append(slices.Clone(haikuOut), haikuSorry),
			log: append(valLog(), "ERROR [exec] generate_haiku // Unexpected error: the reply has no haiku_text"), reply: haikuSorry,
		},
		{
			name: "haiku: an error field", seed: "249", model: []string{relevant, theme}, replies: poet("/generate_haiku", `{"error":{"code":7}}`), out: append(slices.Clone(haikuOut), haikuSorry),
			log: append(valLog(), `ERROR [exec] generate_haiku // Generation error: {"code":7}`), reply: haikuSorry,
		},
		{
			name: "haiku: a poem", seed: "232, 270-274; resolution 1", model: []string{relevant, theme},
			replies: poet("/generate_haiku", `{"haiku_text":"Старый пруд\nпрыг лягушка\n\nвсплеск","syllables_per_line":[3,4,1],"total_words":5,"error":""}`),
			out:     append(slices.Clone(haikuOut), "Хайку: Старый пруд | прыг лягушка | всплеск", "#слогов построчно: 3-4-1", "#слов итого: 5"),
			log:     valLog(), reply: "Хайку: Старый пруд | прыг лягушка | всплеск",
			asked: []string{"GET /haiku/health", `POST /haiku/generate_haiku {"theme":"осень"}`},
		},
		{
			name: "health as healthy", seed: "197; resolution 37", model: []string{relevant, theme},
			replies: map[string]string{"/haiku/health": `{"status":"healthy"}`, "/haiku/generate_haiku": `{"haiku_text":"а","syllables_per_line":[1],"total_words":1}`},
			out:     append(slices.Clone(haikuOut), "Хайку: а", "#слогов построчно: 1", "#слов итого: 1"), log: valLog(), reply: "Хайку: а",
		},
	}
	for _, b := range branches {
		t.Run(b.name+" ("+b.seed+")", func(t *testing.T) {
			got := consoleCase{input: "Запрос\n", model: b.model, replies: b.replies, set: b.set}.play(t)
			if got.code != b.code {
				t.Errorf("exit code %d, want %d\n%s", got.code, b.code, got.err)
			}
			out := append(strings.Split(strings.TrimSpace(consoleHelp), "\n"), b.out...)
			last := b.last
			if last == nil {
				out, last = append(out, "До свидания!"), []string{"DEBUG [main] AgentRestart", "DEBUG [main] AgentEnd"}
			}
			compared(t, "stdout", strings.Split(strings.TrimSuffix(got.stdout, "\n"), "\n"), out)
			compared(t, "log", got.log, slices.Concat([]string{"DEBUG [main] AgentStart"}, b.log, last))
			kept := []string{"user: Запрос"}
			for _, line := range b.out {
				for _, start := range []string{"Запрос релевантен", "Выбран инструмент", "Инструмент "} {
					if strings.HasPrefix(line, start) {
						kept = append(kept, "status: "+line)
					}
				}
			}
			if b.reply != "" {
				kept = append(kept, "reply: "+b.reply)
			}
			compared(t, "history", got.history, kept)
			for i, saw := range got.saw {
				if len(saw) != 1 || saw[0] != "user: Запрос" {
					t.Errorf("call %d: the model saw %q", i+1, saw)
				}
			}
			if len(got.saw) != len(b.model) {
				t.Errorf("%d calls to the model, want %d", len(got.saw), len(b.model))
			}
			if b.asked != nil {
				compared(t, "services", got.asked, b.asked)
			}
		})
	}
}

// The first step: lines 42 to 53 of the seed.
func TestConsoleMain(t *testing.T) {
	for _, exit := range []string{"/exit", "/quit", "/q", "exit", "quit", "q", " QUIT\t", "/Exit"} {
		got := consoleCase{input: exit + "\nникогда\n", model: []string{}}.play(t)
		if got.code != 0 || got.stdout != consoleHelp+"До свидания!\n" || len(got.saw) > 0 || len(got.history) > 0 {
			t.Errorf("%q: %d %q", exit, got.code, got.stdout)
		}
		compared(t, "log", got.log, []string{"DEBUG [main] AgentStart", "DEBUG [main] AgentEnd"})
	}
	got := consoleCase{input: "/help\nHELP\n?\n\n   \n\x1b[31m\x07\n", model: []string{}}.play(t)
	if got.stdout != strings.Repeat(consoleHelp, 4)+"До свидания!\n" || len(got.saw) > 0 || len(got.history) > 0 {
		t.Errorf("%q, %q", got.stdout, got.history)
	}
	compared(t, "log", got.log, []string{"DEBUG [main] AgentStart", "DEBUG [main] AgentHelp", "DEBUG [main] AgentHelp", "DEBUG [main] AgentHelp", "DEBUG [main] AgentEnd"})
	// A command is a whole line (resolution 2).
	got = consoleCase{input: "how do I quit?\n", model: []string{irrelevant}}.play(t)
	if len(got.saw) != 1 || strings.Count(got.stdout, "До свидания!") != 1 || !strings.Contains(got.stdout, "не связан") {
		t.Errorf("%q", got.stdout)
	}
}

// The model sees the last messages of the conversation, replies but no statuses, and
// long ones shortened.
func TestConsoleContext(t *testing.T) {
	var input strings.Builder
	var replies []string
	for i := range 7 {
		fmt.Fprintf(&input, "запрос %d\n", i+1)
		replies = append(replies, irrelevant)
	}
	got := consoleCase{input: input.String(), model: replies}.play(t)
	last := got.saw[6]
	if len(last) != 10 || last[9] != "user: запрос 7" || last[8] != "assistant: Запрос не связан с функционалом агента." || last[1] != "user: запрос 3" {
		t.Errorf("the model saw %q", last)
	}
	long := strings.Repeat("ы", 10_000)
	got = consoleCase{input: "a\x00b\x1b[2Jc\xff\n" + long + "\n", model: []string{irrelevant, irrelevant}}.play(t)
	if got.saw[0][0] != "user: abc" {
		t.Errorf("%q", got.saw[0])
	}
	if said := []rune(got.saw[1][2]); len(said) != len("user: ")+4000 || !strings.Contains(got.saw[1][2], "ы … ы") {
		t.Errorf("the model saw %d characters", len(said))
	}
	if got.history[2] != "user: "+long {
		t.Errorf("the history has %d bytes", len(got.history[2]))
	}
	// Names of settings in any case.
	got = consoleCase{input: "1\n2\n", model: []string{irrelevant, irrelevant}, set: []string{"CONTEXT_HIST_LIMIT=1"}}.play(t)
	if len(got.saw[1]) != 1 {
		t.Errorf("the model saw %q", got.saw[1])
	}
}

// With console.exit_on_llm_error=false a failure of the model ends the turn.
func TestConsoleGoesOnAfterAModelFailed(t *testing.T) {
	got := consoleCase{input: "один\nдва\n", model: []string{"!500", irrelevant}, set: []string{"console.exit_on_llm_error=false"}}.play(t)
	if got.code != 0 || !strings.Contains(got.stdout, "Ошибка при запросе LLM. Попробуем снова?\n") || !strings.HasSuffix(got.stdout, "До свидания!\n") {
		t.Errorf("%d %s", got.code, got.stdout)
	}
	compared(t, "history", got.history, []string{"user: один", "user: два", "reply: Запрос не связан с функционалом агента."})
	got = consoleCase{input: "один\nдва\n", model: []string{"!500", irrelevant}}.play(t)
	if got.code != 3 || len(got.saw) != 1 || !strings.Contains(got.err, "HTTP 500") || !strings.Contains(got.err, "hint: ") {
		t.Errorf("%d %q %s", got.code, got.saw, got.err)
	}
}

// log.verbose writes payloads and responses, without keys.
func TestConsoleVerbose(t *testing.T) {
	const key = "sk-verysecretkey1234567890"
	got := consoleCase{input: "мой ключ " + key + "\n", model: []string{irrelevant}, set: []string{"log.verbose=true", "models.default.api_key=" + key}}.play(t)
	if strings.Contains(got.raw, "verysecret") {
		t.Error("a key is in the log")
	}
	compared(t, "log", got.log, []string{
		"DEBUG [main] AgentStart", "DEBUG [cls] AgentClassify", "DEBUG [cls] chat completion payload payload=…", "DEBUG [cls] chat completion response response=…",
		"WARN [cls] classify_intent // Irrelevant query", "DEBUG [main] AgentRestart", "DEBUG [main] AgentEnd",
	})
	if strings.Count(got.raw, "relevant") < 2 || !strings.Contains(got.raw, `\"model\":\"scripted\"`) {
		t.Errorf("%s", got.raw)
	}
	quiet := consoleCase{input: "да\n", model: []string{irrelevant}, set: []string{"log.level=warn"}}.play(t)
	compared(t, "log", quiet.log, []string{"WARN [cls] classify_intent // Irrelevant query"})
}

// A service that does not answer is given up, at the call and at the look before it.
func TestConsoleSlowService(t *testing.T) {
	for path, want := range map[string][]string{
		"/haiku/generate_haiku": {haikuSorry, "ERROR [exec] generate_haiku // Unexpected error: no reply within 2s"},
		"/haiku/health":         {haikuSorry, "ERROR [exec] check_health // Unexpected error: no reply within 100ms", "ERROR [exec] generate_haiku // Health check failed"},
		"/rag/search":           {ragSorry, "ERROR [exec] answer_question // Unexpected error: no reply within 2s"},
		"/rag/health":           {ragSorry, "ERROR [exec] check_health // Unexpected error: no reply within 100ms", "ERROR [exec] answer_question // Health check failed"},
	} {
		patience := "2s" // in which the look before the call is answered
		if strings.HasSuffix(path, "/health") {
			patience = "100ms"
		}
		choice := chosen("generate_haiku", `{"theme":"лес"}`)
		if strings.HasPrefix(path, "/rag") {
			choice = chosen("rag_search", `{"question":"лес"}`)
		}
		got := consoleCase{
			input: "лес\n", model: []string{relevant, choice}, replies: map[string]string{path: "hang"}, set: []string{"console.service_timeout=" + patience},
		}.play(t)
		if got.code != 0 || !strings.Contains(got.stdout, want[0]+"\nДо свидания!\n") {
			t.Errorf("%s: %d %s", path, got.code, got.stdout)
		}
		for _, line := range want[1:] {
			if !slices.Contains(got.log, line) {
				t.Errorf("%s: %q is not in the log: %q", path, line, got.log)
			}
		}
	}
}

// A session that goes on is not greeted again, and the model sees what was said (lines
// 42 to 45 of the seed).
func TestConsoleContinues(t *testing.T) {
	home := t.TempDir()
	consoleCase{input: "один\n", model: []string{irrelevant}, home: home}.play(t)
	if err := os.Remove(filepath.Join(home, "data", "logs", "dossier.log")); err != nil {
		t.Fatal(err)
	}
	got := consoleCase{input: "два\n", model: []string{irrelevant}, home: home, args: []string{"--continue"}}.play(t)
	if !strings.HasPrefix(got.stdout, "Анализирую") {
		t.Errorf("%s", got.stdout)
	}
	compared(t, "log", got.log, []string{
		"DEBUG [main] AgentRestart", "DEBUG [cls] AgentClassify", "WARN [cls] classify_intent // Irrelevant query", "DEBUG [main] AgentRestart", "DEBUG [main] AgentEnd",
	})
	compared(t, "the model", got.saw[0], []string{"user: один", "assistant: Запрос не связан с функционалом агента.", "user: два"})
}

// Without a model rules decide, and say so; the services of this program do the work.
func TestConsoleWithoutAModel(t *testing.T) {
	const none = " (по правилам, без модели)"
	got := consoleCase{input: "Напиши хайку про осень\nспасибо\nнапиши хайку\nЧто такое GPL?\n", set: []string{"console.haiku_url=", "console.rag_url="}}.play(t)
	for _, line := range []string{
		"Модель не подключена: смысл запроса и инструмент определяются по правилам.", "Запрос релевантен, думаю.." + none,
		"Выбран инструмент generate_haiku с параметрами theme: осень" + none, "#слогов построчно: 5-7-5", "Хайку собрано из списков слов, без модели.",
		"Запрос не связан с функционалом агента." + none, notUnderstood, "Выбран инструмент rag_search с параметрами question: Что такое GPL?" + none, ragSorry,
	} {
		if !strings.Contains(got.stdout, line+"\n") {
			t.Errorf("%q is missing in\n%s", line, got.stdout)
		}
	}
	if got.code != 0 || !strings.Contains(got.err, "dossier kb add DIR") || !slices.Contains(got.log, "DEBUG [cls] classify_intent // Relevant query by=rules") {
		t.Errorf("%d %s\n%q", got.code, got.err, got.log)
	}
}

// Other languages through the catalogue, and events for programs.
func TestConsoleLanguagesAndJSON(t *testing.T) {
	for code, want := range map[string][]string{"en": {"The request has nothing to do with what the agent does.", "Goodbye!"}, "zh": {"请求与本助手的功能无关。", "再见！"}} {
		got := consoleCase{input: "x\n", model: []string{irrelevant}, set: []string{"lang=" + code}}.play(t)
		for _, line := range want {
			if !strings.Contains(got.stdout, line+"\n") {
				t.Errorf("%s: %s", code, got.stdout)
			}
		}
	}
	got := consoleCase{input: "x\n", model: []string{irrelevant}}
	home := t.TempDir()
	var out bytes.Buffer
	model := llmtest.Start(t, llmtest.Script{Rules: []llmtest.Rule{{Reply: llmtest.Say(irrelevant)}}})
	cli.Main(cli.Process{
		Args: []string{"console", "--json", "--data", home, "--set", "models.default.base_url=" + model.URL() + "/v1", "--set", "models.default.model=scripted"},
		Env:  []string{"HOME=" + home, "DOSSIER_CONFIG=none"}, Dir: home, Stdin: strings.NewReader(got.input), Stdout: &out, Stderr: io.Discard,
		Terminal: func(any) (int, int, bool) { return 0, 0, false }, Interrupts: make(chan os.Signal), Terminate: t.Context(),
	})
	lines := 0
	for line := range strings.Lines(out.String()) {
		var ev event.Event
		if err := json.Unmarshal([]byte(line), &ev); err != nil {
			t.Errorf("%q: %v", line, err)
		}
		if _, ok := ev.Data.(event.ConsoleLine); ok {
			lines++
		}
	}
	if lines != 3 {
		t.Errorf("%d lines\n%s", lines, &out)
	}
}
