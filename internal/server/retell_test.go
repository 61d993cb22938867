package server_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"dossier"
	"dossier/event"
	"dossier/internal/a2a"
	"dossier/internal/server"
	"dossier/mode"
	"dossier/run"
)

// A request that asks for Russian or Chinese is refused in it, with the same code and
// status; without that, and for English, each byte is as it always was.
func TestProblemsAreToldInTheCallersLanguage(t *testing.T) {
	s := serve(t, nil)
	rec := s.runOf("ann", "hello")
	for _, c := range []struct {
		token, method, path, body string
		english, russian, chinese server.Problem
	}{
		{
			s.ann, "POST", "/api/runs", `{"mode":"magic","question":"x"}`,
			server.Problem{Code: "usage", Message: `there is no mode "magic"`, Hint: "the modes are "},
			server.Problem{Message: "Режима «magic» нет", Hint: "Есть режимы: "},
			server.Problem{Message: "没有模式“magic”", Hint: "可用模式："},
		},
		{
			s.ann, "POST", "/api/runs", `{"mode":"scripted","question":" "}`,
			server.Problem{Code: "usage", Message: "the question is empty", Hint: "say what you want to know"},
			server.Problem{Message: "Вопрос пуст", Hint: "Напишите, что хотите узнать, например: почему небо голубое?"},
			server.Problem{Message: "问题为空", Hint: "请写下想了解的内容"},
		},
		{
			s.ann, "GET", "/api/runs/nobody", "",
			server.Problem{Code: "unknown_run", Message: `no such run: "nobody"`, Hint: "`dossier runs list` shows the runs"},
			server.Problem{Message: "Запуска «nobody» нет", Hint: "Все запуски — в библиотеке"},
			server.Problem{Message: "没有运行“nobody”", Hint: "所有运行都在资料库中"},
		},
		{
			s.ann, "POST", "/api/runs/" + rec.ID + "/answer", `{"text":"x"}`,
			server.Problem{Code: "not_waiting", Message: `run "` + rec.ID + `" is done: the run is not waiting for an answer`, Hint: "`dossier runs show ID`"},
			server.Problem{Message: "Запуск сейчас не ждёт ответа", Hint: "Что он делает, видно на его странице"},
			server.Problem{Message: "该运行现在不需要回答", Hint: "在它的页面可查看进度"},
		},
		{
			s.ann, "GET", "/api/kb/collections/none", "",
			server.Problem{Code: "no_collection", Message: `collection "none": there is no such collection`, Hint: "`dossier kb list`"},
			server.Problem{Message: "Коллекции «none» нет", Hint: "Все коллекции — на странице «Знания»"},
			server.Problem{Message: "没有集合“none”", Hint: "全部集合见“知识库”页面"},
		},
		{
			s.ann, "GET", "/api/templates/none", "",
			server.Problem{Code: "no_template", Message: `template "none": there is no such template`, Hint: "`dossier templates list`"},
			server.Problem{Message: "Шаблона «none» нет", Hint: "Все шаблоны — на странице «Агенты»"},
			server.Problem{Message: "没有模板“none”", Hint: "全部模板见“智能体”页面"},
		},
		{
			s.ann, "POST", "/api/schedules", `{"cron":"61 * * * *","request":{"mode":"scripted","question":"x"}}`,
			server.Problem{Code: "usage", Message: `the minute can't be "61": it is from 0 to 59`, Hint: `write it as "30 7 * * mon-fri"`},
			server.Problem{Message: "«61» не подходит: нужно от 0 до 59", Hint: "Пишите так: «30 7 * * mon-fri»"},
			server.Problem{Message: "“61”无效：应为 0 到 59", Hint: "请写成“30 7 * * mon-fri”"},
		},
		{
			"operator-secret", "POST", "/api/tokens", `{"user":"ann","scopes":["everything"]}`,
			server.Problem{Code: "usage", Message: `there is no scope "everything"`, Hint: "the scopes are "},
			server.Problem{Message: "Права «everything» нет", Hint: "Есть права: "},
			server.Problem{Message: "没有权限“everything”", Hint: "可用权限："},
		},
		{
			s.ann, "POST", "/api/runs", `{"mode":`,
			server.Problem{Code: "usage", Message: "the JSON of the request ends in the middle"},
			server.Problem{Message: "JSON запроса обрывается на середине"},
			server.Problem{Message: "请求的 JSON 不完整"},
		},
		{
			"", "GET", "/api/runs", "",
			server.Problem{Code: "unauthorized", Message: "this server asks for a token", Hint: "`dossier tokens create USER` makes one"},
			server.Problem{Message: "Этому серверу нужен токен", Hint: "Токен выдаёт администратор сервера"},
			server.Problem{Message: "此服务器需要令牌", Hint: "令牌由服务器管理员发放"},
		},
		{
			s.ann, "GET", "/api/nothing", "",
			server.Problem{Code: "no_route", Message: "there is nothing at GET /api/nothing", Hint: "GET /docs lists what there is"},
			server.Problem{Message: "Такого адреса на сервере нет: GET /api/nothing", Hint: "Что есть, перечислено в /docs"},
			server.Problem{Message: "服务器上没有这个地址：GET /api/nothing", Hint: "/docs 列出了可用的地址"},
		},
	} {
		status, plain := s.ask(c.token, c.method, c.path, c.body)
		check := func(want server.Problem, accept string) {
			t.Helper()
			got, raw := s.ask(c.token, c.method, c.path, c.body, "Accept-Language", accept)
			var p server.Problem
			if err := json.Unmarshal([]byte(raw), &p); err != nil || got != status || p.Code != c.english.Code || p.Message != want.Message || !strings.HasPrefix(p.Hint, want.Hint) || (p.Hint == "") != (want.Hint == "") {
				t.Errorf("%s %s for %q: %d %s, %v", c.method, c.path, accept, got, raw, err)
			}
			if want.Message == c.english.Message && raw != plain {
				t.Errorf("%s %s for %q says %s, and %s without a language", c.method, c.path, accept, raw, plain)
			}
		}
		for _, accept := range []string{"", "en", "en-GB,ru;q=0.8", "fr, *;q=0.1", ";;q=x", "*"} {
			check(c.english, accept)
		}
		for _, accept := range []string{"ru", "ru-RU,ru;q=0.9,en;q=0.8", "en;q=0.2,ru", "fr,ru;q=0.3"} {
			check(c.russian, accept)
		}
		for _, accept := range []string{"zh", "zh-CN,zh;q=0.9", "zh-Hant-TW"} {
			check(c.chinese, accept)
		}
	}
}

// Other protocols say what their clients know.
func TestOtherProtocolsAreNotRetold(t *testing.T) {
	s := serve(t, nil)
	for _, path := range []string{"/.well-known/agent-card.json", a2a.Root + "x"} {
		if _, raw := s.ask("", "GET", path, "", "Accept-Language", "ru"); !strings.Contains(raw, "this server asks for a token") {
			t.Errorf("%s says %s", path, raw)
		}
	}
}

// Why a run failed is recorded in English, and read in the caller's language wherever
// the record is.
func TestFailuresAreToldInTheCallersLanguage(t *testing.T) {
	s := serve(t, nil)
	for _, c := range []struct{ mode, question, english, russian, chinese string }{
		{"scripted", "fail", "it broke", "Что-то пошло не так: it broke", "出错了：it broke"},
		{"chat", "why?", "no model is configured", "Модель не подключена", "未连接模型"},
	} {
		rec, err := s.engine.Start(t.Context(), dossier.Request{Mode: c.mode, User: "ann", Request: mode.Request{Question: c.question}})
		if err != nil {
			t.Fatal(err)
		}
		s.until(rec.ID, run.Failed)
		for _, path := range []string{"/api/runs/" + rec.ID + "?view=record", "/api/runs/" + rec.ID, "/api/runs?mode=" + c.mode, "/api/sessions/" + rec.Session} {
			_, plain := s.ask(s.ann, "GET", path, "")
			if !strings.Contains(plain, `"message":"`+c.english) {
				t.Errorf("%s says %s", path, plain)
			}
			if _, raw := s.ask(s.ann, "GET", path, "", "Accept-Language", "en"); raw != plain {
				t.Errorf("%s says %s in English", path, raw)
			}
			for accept, want := range map[string]string{"ru": c.russian, "zh": c.chinese} {
				if _, raw := s.ask(s.ann, "GET", path, "", "Accept-Language", accept); !strings.Contains(raw, `"failure":{"code"`) || !strings.Contains(raw, `"message":"`+want+`"`) {
					t.Errorf("%s in %s says %s", path, accept, raw)
				}
			}
		}
		log, err := s.engine.Log(t.Context(), rec.ID, 0)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(log, func(ev event.Event) bool {
			e, ok := ev.Data.(event.RunError)
			return ok && strings.Contains(e.Message, c.english)
		}) {
			t.Errorf("the log says %v", log)
		}
	}
}

// What an agent or a tool of the program is for is said in the caller's language, down
// to the arguments; those of others stay as they are.
func TestAgentsAndToolsAreDescribedInTheCallersLanguage(t *testing.T) {
	s := serve(t, nil)
	for _, to := range []string{"ru", "zh"} {
		var english, told []dossier.AgentEntry
		s.both("/api/agents", to, &english, &told)
		if len(told) < 10 {
			t.Fatalf("there are %d agents", len(told))
		}
		for i, a := range told {
			was := english[i]
			if a.Name != was.Name || a.Description == was.Description {
				t.Errorf("%s: the agent %s is %q", to, a.Name, a.Description)
			}
			for j, ability := range a.Capabilities {
				if ability == was.Capabilities[j] {
					t.Errorf("%s: the agent %s is able to %q", to, a.Name, ability)
				}
			}
		}
		var plain, list dossier.ToolList
		s.both("/api/tools", to, &plain, &list)
		if len(list.Tools) < 20 {
			t.Fatalf("there are %d tools", len(list.Tools))
		}
		for i, tool := range list.Tools {
			was := plain.Tools[i]
			if tool.Name != was.Name || tool.Description == was.Description {
				t.Errorf("%s: the tool %s is %q", to, tool.Name, tool.Description)
			}
			before, after := descriptions(t, was.Schema), descriptions(t, tool.Schema)
			if len(before) != len(after) {
				t.Fatalf("%s: the schema of %s is %s", to, tool.Name, tool.Schema)
			}
			for at, text := range after {
				if text == before[at] {
					t.Errorf("%s: %s%s is %q", to, tool.Name, at, text)
				}
			}
		}
	}
}

// both gets something in English and in another language.
func (s *site) both(path, to string, english, told any) {
	s.t.Helper()
	for accept, into := range map[string]any{"": english, to: told} {
		if _, raw := s.ask(s.ann, "GET", path, "", "Accept-Language", accept); json.Unmarshal([]byte(raw), into) != nil {
			s.t.Fatalf("%s in %q says %s", path, accept, raw)
		}
	}
}

// descriptions are those in a schema, by where they are.
func descriptions(t *testing.T, schema json.RawMessage) map[string]string {
	t.Helper()
	var tree any
	if err := json.Unmarshal(schema, &tree); err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	var look func(at string, node any)
	look = func(at string, node any) {
		switch node := node.(type) {
		case map[string]any:
			for key, value := range node {
				if text, ok := value.(string); ok && key == "description" {
					out[at] = text
				}
				look(at+"/"+key, value)
			}
		case []any:
			for _, value := range node {
				look(at+"/-", value)
			}
		}
	}
	look("", tree)
	return out
}
