package dossier

import (
	"errors"
	"strings"
	"testing"

	"dossier/internal/store/memory"
	"dossier/lang"
	"dossier/llm/llmtest"
	"dossier/search"
	"dossier/sources"
)

// Each model is there once for the roles that share it, and one small call says how
// it is: the first failure is the answer, nothing is repeated, and no key is told.
func TestConnectionsAreTried(t *testing.T) {
	const secret = "hush-4711"
	fails := func(model string, kind llmtest.FaultKind) llmtest.Rule {
		return llmtest.Rule{Model: model, Fault: &llmtest.Fault{Kind: kind}}
	}
	srv := llmtest.Start(t, llmtest.Script{Rules: []llmtest.Rule{
		fails("locked", llmtest.Auth), fails("busy", llmtest.RateLimit), fails("slow", llmtest.Slow), fails("poor", llmtest.Quota), {Reply: llmtest.Say(" I am here. ")},
	}})
	e := configured(t, memory.New(memory.Options{}), "governor: {first_byte_timeout: 4s, idle_timeout: 4s}\nmodels:\n  default: {base_url: "+srv.URL()+"/v1, model: good, api_key: "+secret+"}\n"+
		"  chat: {model: locked}\n  summarizer: {model: busy}\n  writer: {model: slow}\n  verifier: {model: poor}\n")
	e.web = &sources.Web{
		Engines: []search.Engine{patient{name: "fine", found: 3}, patient{name: "shut", err: &search.Error{Engine: "shut", Reason: search.Unauthorized, Status: 401}}},
		Missing: map[string]string{"brave": "a key in BRAVE_API_KEY"},
	}
	list, err := e.Connections(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, c := range list {
		names = append(names, c.Kind+" "+strings.Join(append([]string{c.Name}, c.Roles...), ",")+" "+c.Model+c.Missing)
	}
	const want = `model default,default,researcher good
model chat,chat locked
model summarizer,summarizer busy
model writer,writer slow
model verifier,verifier poor
engine fine 
engine shut 
engine brave a key in BRAVE_API_KEY`
	if got := strings.Join(names, "\n"); got != want {
		t.Errorf("there are\n%s\nwant\n%s", got, want)
	}
	for _, c := range []struct {
		kind, name, code, detail string
		calls                    int
	}{
		{ToModel, "default", "", "I am here.", 1},
		{ToModel, "researcher", "", "I am here.", 1},
		{ToModel, "chat", "auth", "HTTP 401", 1},
		{ToModel, "writer", "timeout", "timeout", 1},
		{ToModel, "verifier", "quota", "quota", 1},
		{ToModel, "summarizer", "rate_limited", "HTTP 429", 1},
		{ToEngine, "fine", "", "3 results", 0},
		{ToEngine, "shut", "auth", "unauthorized (HTTP 401)", 0},
		{ToEngine, "brave", "not_configured", "it needs a key in BRAVE_API_KEY", 0},
	} {
		before := len(srv.Calls())
		f, err := e.TryConnection(t.Context(), c.kind, c.name)
		if err != nil || f.OK != (c.code == "") || f.Code != c.code || !strings.Contains(f.Detail, c.detail) || strings.Contains(f.Detail+f.Hint, secret) {
			t.Errorf("%s %s: %+v, %v", c.kind, c.name, f, err)
		}
		if c.kind == ToModel && c.code != "" && f.Hint == "" {
			t.Errorf("%s %s does not say what to do", c.kind, c.name)
		}
		if made := len(srv.Calls()) - before; made != c.calls {
			t.Errorf("%s %s: %d calls", c.kind, c.name, made)
		}
	}
	for _, c := range []struct{ kind, name, detail, hint string }{
		{ToModel, "chat", "ключ не принят (HTTP 401)", "не принимает ключ"},
		{ToModel, "writer", "не ответил вовремя", "попробуйте позже или возьмите другую модель"},
		{ToEngine, "fine", "результатов: 3", ""},
		{ToEngine, "shut", "ключ не принят (HTTP 401)", "проверьте ключ поисковой системы"},
		{ToEngine, "brave", "нужно a key in BRAVE_API_KEY", ""},
	} {
		f, err := e.TryConnection(t.Context(), c.kind, c.name)
		if f = f.In(lang.Russian); err != nil || !strings.Contains(f.Detail, c.detail) || !strings.Contains(f.Hint, c.hint) {
			t.Errorf("%s %s in Russian: %+v, %v", c.kind, c.name, f, err)
		}
	}
	var usage *UsageError
	if _, err := e.TryConnection(t.Context(), ToModel, "nobody"); !errors.As(err, &usage) {
		t.Errorf("what is not there: %v", err)
	}
}
